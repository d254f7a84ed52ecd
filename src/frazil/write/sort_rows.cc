#include "frazil/write/sort_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/int128.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::write {

namespace {

using spec::TransformKind;
using spec::TypeKind;

// The total order of floats as that of integers: negative ones are mirrored.
int64_t ordered_bits(double value) noexcept {
  const auto bits = std::bit_cast<int64_t>(value);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

}  // namespace

struct RowSorter::FieldPlan {
  spec::Transform transform;
  spec::TypePtr source;
  std::vector<size_t> path;  // the column, then the field in each struct
  bool is_descending = false;
  bool is_nulls_first = true;
};

namespace {

// The keys of one field: decimals, integers and floats as numbers, everything else as bytes.
struct Keys {
  std::vector<char> is_null;
  std::vector<Int128> numbers;
  std::vector<std::string_view> texts;
  std::vector<ArrayPtr> owners;
};

// Row `row` of the leaf that `path` leads to; nullptr if it or a struct around it is null.
const Array* leaf_at(const ArrayPtr& column, std::span<const size_t> path, int64_t& row) {
  const Array* array = column.get();
  for (size_t depth = 1;; ++depth) {
    if (array->is_null(row)) return nullptr;
    if (depth >= path.size()) return array;
    row += array->offset;
    array = array->children[path[depth]].get();
  }
}

Int128 number_of(const Array& leaf, TypeKind kind, int64_t row) {
  switch (kind) {
    case TypeKind::kBoolean:
      return leaf.bool_value(row) ? 1 : 0;
    case TypeKind::kInt:
    case TypeKind::kDate:
      return leaf.values<int32_t>()[row];
    case TypeKind::kFloat:
      return ordered_bits(double{leaf.values<float>()[row]});
    case TypeKind::kDouble:
      return ordered_bits(leaf.values<double>()[row]);
    case TypeKind::kDecimal:
      return load<Int128>(leaf.buffers[1].data() + static_cast<size_t>(leaf.offset + row) * sizeof(Int128));
    default:
      return leaf.values<int64_t>()[row];
  }
}

bool is_text(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kBinary || kind == TypeKind::kFixed || kind == TypeKind::kUuid;
}

}  // namespace

RowSorter::RowSorter(const spec::SortOrder& order, const spec::Schema& schema) {
  for (const spec::SortField& field : order.fields) {
    if (field.source_ids.size() != 1 || field.transform.is_unknown()) {
      throw_error(ErrorKind::kUnsupported, "cannot sort by {}", order.to_string(schema));
    }
    const spec::NestedField* source = schema.find(field.source_id());
    if (source == nullptr || !field.transform.can_transform(*source->type)) {
      throw_error(ErrorKind::kInvalidArgument, "sort order {}: no column of id {} that {} takes", order.order_id,
                  field.source_id(), field.transform.to_string());
    }
    FieldPlan plan;
    plan.transform = field.transform;
    plan.source = source->type;
    plan.is_descending = field.direction == spec::SortDirection::kDescending;
    plan.is_nulls_first = field.null_order == spec::NullOrder::kNullsFirst;
    std::span<const spec::NestedField> level = schema.fields();
    for (int32_t id : schema.path(field.source_id())) {
      auto place = std::find_if(level.begin(), level.end(), [&](const auto& child) { return child.id == id; });
      plan.path.push_back(static_cast<size_t>(place - level.begin()));
      if (id == field.source_id()) break;
      if (!place->type->is_struct()) {
        throw_error(ErrorKind::kInvalidArgument, "sort order {}: its source '{}' is not a field of structs alone",
                    order.order_id, schema.full_name(field.source_id()));
      }
      level = place->type->fields();
    }
    if (!plan.transform.is_void() && plan.source->kind() != TypeKind::kUnknown) fields_.push_back(std::move(plan));
  }
}

RowSorter::~RowSorter() = default;

namespace {

spec::Literal literal_of(const Array& leaf, const spec::TypePtr& type, int64_t row) {
  switch (type->kind()) {
    case TypeKind::kInt:
    case TypeKind::kDate:
      return spec::Literal(type, leaf.values<int32_t>()[row]);
    case TypeKind::kDecimal:
      return spec::Literal(type, number_of(leaf, TypeKind::kDecimal, row));
    default:
      return spec::Literal(type, leaf.values<int64_t>()[row]);
  }
}

}  // namespace

std::vector<ArrayPtr> RowSorter::sort(std::span<const ArrayPtr> columns, MemoryPool& pool) const {
  const auto rows = static_cast<size_t>(columns.front()->length);
  std::vector<Keys> keys(fields_.size());
  for (size_t f = 0; f < fields_.size(); ++f) {
    const FieldPlan& plan = fields_[f];
    Keys& own = keys[f];
    own.is_null.resize(rows, 0);
    const TypeKind kind = plan.source->kind();
    const bool gives_text = is_text(kind) && plan.transform.kind() != TransformKind::kBucket;
    if (gives_text) {
      own.texts.resize(rows);
    } else {
      own.numbers.resize(rows);
    }
    for (size_t r = 0; r < rows; ++r) {
      auto row = static_cast<int64_t>(r);
      const Array* leaf = leaf_at(columns[plan.path[0]], plan.path, row);
      if (leaf != nullptr && leaf->type->id() == TypeId::kDictionary) {
        row = dictionary_index(*leaf, row);
        leaf = leaf->dictionary.get();
        if (leaf->is_null(row)) leaf = nullptr;
      }
      if (leaf == nullptr) {
        own.is_null[r] = 1;
      } else if (is_text(kind)) {
        std::string_view text = leaf->bytes_value(row);
        if (plan.transform.kind() == TransformKind::kTruncate) {
          text = kind == TypeKind::kString ? spec::kernel::truncate_text(text, plan.transform.parameter())
                                           : text.substr(0, static_cast<size_t>(plan.transform.parameter()));
        }
        if (gives_text) {
          own.texts[r] = text;
        } else {
          own.numbers[r] = spec::kernel::bucket_of(
              spec::kernel::hash_bytes(std::as_bytes(std::span(text.data(), text.size()))), plan.transform.parameter());
        }
      } else if (plan.transform.kind() == TransformKind::kIdentity) {
        own.numbers[r] = number_of(*leaf, kind, row);
      } else {
        const spec::Literal value = plan.transform.apply(literal_of(*leaf, plan.source, row));
        own.numbers[r] =
            std::holds_alternative<Int128>(value.value()) ? value.as<Int128>() : Int128{value.as_integer()};
      }
    }
  }
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    for (size_t f = 0; f < fields_.size(); ++f) {
      const Keys& own = keys[f];
      if (own.is_null[a] != own.is_null[b]) return (own.is_null[a] != 0) == fields_[f].is_nulls_first;
      if (own.is_null[a] != 0) continue;
      const bool is_number = own.texts.empty();
      const bool less = is_number ? own.numbers[a] < own.numbers[b] : own.texts[a] < own.texts[b];
      const bool more = is_number ? own.numbers[b] < own.numbers[a] : own.texts[b] < own.texts[a];
      if (less || more) return less != fields_[f].is_descending;
    }
    return a < b;
  });
  std::vector<ArrayPtr> sorted;
  sorted.reserve(columns.size());
  for (const ArrayPtr& column : columns) sorted.push_back(take(*column, order, pool));
  return sorted;
}

}  // namespace frazil::write
