#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "frazil/base/message.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"

namespace frazil {

namespace {

bool equal_ranges(const Array& left, int64_t left_from, const Array& right, int64_t right_from, int64_t count,
                  const EqualOptions& options);

// Half floats as bits: NaN has all exponent bits and a mantissa, and the zeros differ in the sign alone.
bool equal_half(uint16_t left, uint16_t right) {
  if (left == right) return true;
  auto is_nan = [](uint16_t bits) { return (bits & 0x7FFF) > 0x7C00; };
  return (is_nan(left) && is_nan(right)) || ((left | right) & 0x7FFF) == 0;
}

template <typename T>
bool equal_float(T left, T right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

// Compares value by value where left and right are valid, with `equal(i)`; the validity itself must be equal.
template <typename Equal>
bool equal_where_valid(const Array& left, int64_t left_from, const Array& right, int64_t right_from, int64_t count,
                       Equal equal) {
  for (int64_t i = 0; i < count; ++i) {
    bool valid = left.is_valid(left_from + i);
    if (valid != right.is_valid(right_from + i)) return false;
    if (valid && !equal(i)) return false;
  }
  return true;
}

bool equal_fixed(const Array& left, int64_t left_from, const Array& right, int64_t right_from, int64_t count,
                 const EqualOptions& options) {
  const auto width = static_cast<size_t>(left.type->byte_width());
  const std::byte* a = left.buffers[1].data() + static_cast<size_t>(left.offset + left_from) * width;
  const std::byte* b = right.buffers[1].data() + static_cast<size_t>(right.offset + right_from) * width;
  const TypeId id = left.type->id();
  if (is_floating(id) && !options.exact_floats) {
    return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) {
      const std::byte* x = a + static_cast<size_t>(i) * width;
      const std::byte* y = b + static_cast<size_t>(i) * width;
      if (id == TypeId::kDouble) return equal_float(load<double>(x), load<double>(y));
      if (id == TypeId::kFloat) return equal_float(load<float>(x), load<float>(y));
      return equal_half(load<uint16_t>(x), load<uint16_t>(y));
    });
  }
  if (!left.has_validity() && !right.has_validity()) return std::memcmp(a, b, static_cast<size_t>(count) * width) == 0;
  return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) {
    return std::memcmp(a + static_cast<size_t>(i) * width, b + static_cast<size_t>(i) * width, width) == 0;
  });
}

bool equal_struct(const Array& left, int64_t left_from, const Array& right, int64_t right_from, int64_t count,
                  const EqualOptions& options) {
  auto equal_children = [&](int64_t i, int64_t n) {
    for (size_t c = 0; c < left.children.size(); ++c) {
      if (!equal_ranges(*left.children[c], left.offset + left_from + i, *right.children[c],
                        right.offset + right_from + i, n, options)) {
        return false;
      }
    }
    return true;
  };
  if (!left.has_validity() && !right.has_validity()) return equal_children(0, count);
  return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) { return equal_children(i, 1); });
}

// One value whose nullness is not in the validity bits of its own level alone.
bool equal_indirect(const Array& left, int64_t left_index, const Array& right, int64_t right_index,
                    const EqualOptions& options) {
  switch (left.type->id()) {
    case TypeId::kDictionary: {
      bool null = is_logical_null(left, left_index);
      if (null != is_logical_null(right, right_index)) return false;
      return null || equal_ranges(*left.dictionary, dictionary_index(left, left_index), *right.dictionary,
                                  dictionary_index(right, right_index), 1, options);
    }
    case TypeId::kRunEndEncoded:
      return equal_ranges(*left.children[1], run_value_index(left, left_index), *right.children[1],
                          run_value_index(right, right_index), 1, options);
    default: {
      int64_t child = union_child(left, left_index);
      if (child != union_child(right, right_index)) return false;
      auto c = static_cast<size_t>(child);
      return equal_ranges(*left.children[c], union_child_index(left, left_index), *right.children[c],
                          union_child_index(right, right_index), 1, options);
    }
  }
}

bool equal_ranges(const Array& left, int64_t left_from, const Array& right, int64_t right_from, int64_t count,
                  const EqualOptions& options) {
  if (count == 0 || (&left == &right && left_from == right_from)) return true;
  switch (layout_of(left.type->id())) {
    case Layout::kNull:
      return true;
    case Layout::kBool:
      return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) {
        return left.bool_value(left_from + i) == right.bool_value(right_from + i);
      });
    case Layout::kFixedWidth:
      return equal_fixed(left, left_from, right, right_from, count, options);
    case Layout::kBytes:
    case Layout::kView:
      return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) {
        return left.bytes_value(left_from + i) == right.bytes_value(right_from + i);
      });
    case Layout::kList:
    case Layout::kListView:
    case Layout::kFixedSizeList:
      return equal_where_valid(left, left_from, right, right_from, count, [&](int64_t i) {
        auto [left_first, left_count] = left.list_range(left_from + i);
        auto [right_first, right_count] = right.list_range(right_from + i);
        return left_count == right_count &&
               equal_ranges(*left.children[0], left_first, *right.children[0], right_first, left_count, options);
      });
    case Layout::kStruct:
      return equal_struct(left, left_from, right, right_from, count, options);
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
    case Layout::kDictionary:
    case Layout::kRunEnd:
      for (int64_t i = 0; i < count; ++i) {
        if (!equal_indirect(left, left_from + i, right, right_from + i, options)) return false;
      }
      return true;
  }
  return false;
}

std::string shown(const Array& array, int64_t index) {
  constexpr size_t kShownMax = 200;
  std::string text = value_to_json(array, index);
  if (text.size() > kShownMax) text = text.substr(0, kShownMax) + "...";
  return text;
}

// Requires values that differ. Follows lists and structs down to the value that makes the difference.
std::string describe(const Array& left, int64_t i, const Array& right, int64_t j, const std::string& path,
                     const EqualOptions& options) {
  if (left.is_valid(i) && right.is_valid(j)) {
    if (is_list(left.type->id())) {
      auto [left_first, left_count] = left.list_range(i);
      auto [right_first, right_count] = right.list_range(j);
      for (int64_t k = 0; k < left_count && k < right_count; ++k) {
        if (!equal_ranges(*left.children[0], left_first + k, *right.children[0], right_first + k, 1, options)) {
          return describe(*left.children[0], left_first + k, *right.children[0], right_first + k,
                          message("{}[{}]", path, k), options);
        }
      }
      return message("{}: {} elements != {}: {} != {}", path, left_count, right_count, shown(left, i), shown(right, j));
    }
    if (left.type->id() == TypeId::kStruct) {
      for (size_t c = 0; c < left.children.size(); ++c) {
        const Array& a = *left.children[c];
        const Array& b = *right.children[c];
        if (!equal_ranges(a, left.offset + i, b, right.offset + j, 1, options)) {
          return describe(a, left.offset + i, b, right.offset + j,
                          message("{}.{}", path, left.type->children()[c].name), options);
        }
      }
    }
  }
  return message("{}: {} != {}", path, shown(left, i), shown(right, j));
}

}  // namespace

bool equals(const Array& left, const Array& right, EqualOptions options) {
  return left.length == right.length && left.type->equals(*right.type, options.compare_metadata) &&
         equal_ranges(left, 0, right, 0, left.length, options);
}

std::string difference(const Array& left, const Array& right, EqualOptions options) {
  if (!left.type->equals(*right.type, options.compare_metadata)) {
    std::string left_type = left.type->to_string();
    std::string right_type = right.type->to_string();
    if (left_type == right_type) return message("types differ in nested metadata: {}", left_type);
    return message("types differ: {} != {}", left_type, right_type);
  }
  const int64_t count = std::min(left.length, right.length);
  for (int64_t i = 0; i < count; ++i) {
    if (!equal_ranges(left, i, right, i, 1, options)) {
      return describe(left, i, right, i, message("[{}]", i), options);
    }
  }
  if (left.length != right.length) return message("lengths differ: {} != {}", left.length, right.length);
  return {};
}

bool equals(const RecordBatch& left, const RecordBatch& right, EqualOptions options) {
  if (left.row_count() != right.row_count() || !left.schema()->equals(*right.schema(), options.compare_metadata)) {
    return false;
  }
  for (size_t i = 0; i < left.columns().size(); ++i) {
    if (!equals(*left.column(i), *right.column(i), options)) return false;
  }
  return true;
}

std::string difference(const RecordBatch& left, const RecordBatch& right, EqualOptions options) {
  if (!left.schema()->equals(*right.schema(), options.compare_metadata)) {
    std::string left_schema = left.schema()->to_string();
    std::string right_schema = right.schema()->to_string();
    if (left_schema == right_schema) return "schemas differ in metadata";
    return message("schemas differ:\n{}!=\n{}", left_schema, right_schema);
  }
  for (size_t i = 0; i < left.columns().size(); ++i) {
    std::string text = difference(*left.column(i), *right.column(i), options);
    if (!text.empty()) return message("column '{}' {}", left.schema()->field(i).name, text);
  }
  if (left.row_count() != right.row_count()) {
    return message("row counts differ: {} != {}", left.row_count(), right.row_count());
  }
  return {};
}

}  // namespace frazil
