// Validation in two passes, so that the second may trust what the first found: layout (buffer sizes, counts, ends of
// offsets) in constant time a node, then values.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

// A linked list on the stack: nothing is allocated unless something is wrong.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;

  std::string to_string() const {
    if (parent == nullptr) return std::string(name);
    std::string out = parent->to_string();
    if (!out.empty()) out += '.';
    out += name;
    return out;
  }
};

template <typename... Args>
[[noreturn]] void fail(const Path& path, const Array& array, std::string_view format, const Args&... args) {
  std::string where = path.to_string();
  throw_corrupt(
      CorruptError::kNoOffset, "{}{}: {}", where.empty() ? std::string("array") : message("column '{}'", where),
      array.type == nullptr ? std::string() : message(" ({})", to_string(array.type->id())), message(format, args...));
}

bool same_type(const DataTypePtr& left, const DataTypePtr& right) {
  return left == right || left->equals(*right);
}

// ---- Layout ----

class LayoutChecker {
 public:
  LayoutChecker(const Array& array, const Path& path) : array_(array), type_(*array.type), path_(path) {}

  void run() {
    check_numbers();
    check_children();
    check_validity();
    switch (layout_of(type_.id())) {
      case Layout::kNull:
        return;
      case Layout::kBool:
        return require_bytes(1, "values", bytes_for_bits(static_cast<size_t>(end_)));
      case Layout::kFixedWidth:
        return require_values("values", type_.byte_width());
      case Layout::kBytes:
        return check_offsets(static_cast<int64_t>(array_.buffers[2].size()), "data buffer");
      case Layout::kView:
        return require_values("views", 16);
      case Layout::kList:
        return check_offsets(array_.children[0]->length, "elements");
      case Layout::kListView:
        require_values("offsets", offset_width(type_.id()));
        return require_values("sizes", offset_width(type_.id()), 2);
      case Layout::kFixedSizeList:
        return check_fixed_size_list();
      case Layout::kStruct:
      case Layout::kSparseUnion:
        for (const ArrayPtr& child : array_.children) {
          if (child->length < end_) fail(path_, array_, "child is too short: {} < {}", child->length, end_);
        }
        if (type_.id() == TypeId::kSparseUnion) require_values("type ids", 1, 0);
        return;
      case Layout::kDenseUnion:
        require_values("type ids", 1, 0);
        return require_values("offsets", 4);
      case Layout::kDictionary:
        return require_values("indices", type_.byte_width());
      case Layout::kRunEnd:
        return check_runs();
    }
  }

 private:
  void check_numbers() {
    if (array_.length < 0 || array_.offset < 0) {
      fail(path_, array_, "length or offset is negative: {}, {}", array_.length, array_.offset);
    }
    // One below the maximum, so that an offsets buffer can be one longer.
    if (array_.length >= std::numeric_limits<int64_t>::max() - array_.offset) {
      fail(path_, array_, "offset and length overflow: {} + {}", array_.offset, array_.length);
    }
    end_ = array_.offset + array_.length;
    if (end_ > kMaxImplicitLength && has_implicit_values()) {
      fail(path_, array_, "length is more than {} without bytes behind it: {}", kMaxImplicitLength, end_);
    }
    if (array_.null_count < kUnknownNullCount || array_.null_count > array_.length) {
      fail(path_, array_, "null count is outside 0..{}: {}", array_.length, array_.null_count);
    }
  }

  bool has_implicit_values() const {
    switch (layout_of(type_.id())) {
      case Layout::kNull:
      case Layout::kRunEnd:
        return true;
      case Layout::kStruct:
        return type_.children().empty();
      case Layout::kFixedSizeList:
        return type_.fixed_size() == 0;
      case Layout::kFixedWidth:
        return type_.byte_width() == 0;
      default:
        return false;
    }
  }

  void check_children();
  void check_fixed_size_list();
  void check_offsets(int64_t limit, std::string_view target);
  void check_runs();

  void check_validity() {
    if (has_validity_buffer(type_.id())) {
      if (array_.has_validity()) {
        require_bytes(0, "validity", bytes_for_bits(static_cast<size_t>(end_)));
      } else if (array_.null_count > 0) {
        fail(path_, array_, "{} nulls without a validity buffer", array_.null_count);
      }
      return;
    }
    int64_t expected = type_.id() == TypeId::kNull ? array_.length : 0;
    if (array_.null_count != kUnknownNullCount && array_.null_count != expected) {
      fail(path_, array_, "null count is not {}: {}", expected, array_.null_count);
    }
  }

  void require_bytes(size_t index, std::string_view name, size_t bytes) {
    if (array_.length == 0) return;
    if (array_.buffers[index].size() < bytes) {
      fail(path_, array_, "{} buffer is too short: {} < {} bytes", name, array_.buffers[index].size(), bytes);
    }
  }

  // buffers[index] must hold `end_` values, and be aligned for them.
  void require_values(std::string_view name, int width, size_t index = 1) {
    if (array_.length == 0) return;
    size_t bytes;
    if (__builtin_mul_overflow(static_cast<size_t>(end_), static_cast<size_t>(width), &bytes)) {
      fail(path_, array_, "size of the {} buffer overflows: {} * {}", name, end_, width);
    }
    require_bytes(index, name, bytes);
    if (index != 0) require_alignment(name, index);
  }

  void require_alignment(std::string_view name, size_t index) {
    auto address = reinterpret_cast<uintptr_t>(array_.buffers[index].data());
    size_t alignment = values_alignment(type_);
    if (address % alignment != 0) fail(path_, array_, "{} buffer is not aligned to {} bytes", name, alignment);
  }

  const Array& array_;
  const DataType& type_;
  const Path& path_;
  int64_t end_ = 0;
};

void check_layout(const Array& array, const Path& path) {
  if (array.type == nullptr) fail(path, array, "type is missing");
  LayoutChecker(array, path).run();
}

void LayoutChecker::check_children() {
  const auto& fields = type_.children();
  if (array_.children.size() != fields.size()) {
    fail(path_, array_, "{} children instead of {}", array_.children.size(), fields.size());
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const Path child_path{&path_, fields[i].name};
    const ArrayPtr& child = array_.children[i];
    if (child == nullptr) fail(child_path, array_, "child is missing");
    if (child->type == nullptr || !same_type(child->type, fields[i].type)) {
      fail(child_path, *child, "child is not {}", fields[i].type->to_string());
    }
    check_layout(*child, child_path);
  }
  if ((type_.id() == TypeId::kDictionary) != (array_.dictionary != nullptr)) {
    fail(path_, array_, array_.dictionary == nullptr ? "dictionary is missing" : "dictionary is not expected");
  }
  if (array_.dictionary != nullptr) {
    const Path dictionary_path{&path_, "dictionary"};
    const Array& dictionary = *array_.dictionary;
    if (dictionary.type == nullptr || !same_type(dictionary.type, type_.value_type())) {
      fail(dictionary_path, dictionary, "dictionary is not {}", type_.value_type()->to_string());
    }
    check_layout(dictionary, dictionary_path);
  }
}

void LayoutChecker::check_fixed_size_list() {
  int64_t needed;
  if (__builtin_mul_overflow(end_, static_cast<int64_t>(type_.fixed_size()), &needed)) {
    fail(path_, array_, "number of elements overflows: {} * {}", end_, type_.fixed_size());
  }
  if (array_.children[0]->length < needed) {
    fail(path_, array_, "too few elements: {} < {}", array_.children[0]->length, needed);
  }
}

void LayoutChecker::check_offsets(int64_t limit, std::string_view target) {
  if (array_.length == 0) return;  // also an offsets buffer of 0 bytes
  const int width = offset_width(type_.id());
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(end_) + 1, static_cast<size_t>(width), &bytes)) {
    fail(path_, array_, "size of the offsets buffer overflows: {} * {}", end_, width);
  }
  require_bytes(1, "offsets", bytes);
  require_alignment("offsets", 1);
  int64_t first = offset_at(array_.buffers[1], width, array_.offset);
  int64_t last = offset_at(array_.buffers[1], width, end_);
  if (first < 0 || last < first || last > limit) {
    fail(path_, array_, "offsets {}..{} are outside the {} of {}", first, last, target, limit);
  }
}

void LayoutChecker::check_runs() {
  const Array& ends = *array_.children[0];
  if (ends.has_validity() && ends.null_count != 0) fail(path_, array_, "run ends have a validity buffer");
  if (ends.length > array_.children[1]->length) {
    fail(path_, array_, "more run ends than values: {} > {}", ends.length, array_.children[1]->length);
  }
  if (array_.length == 0) return;
  int64_t last = ends.length == 0 ? 0 : run_end(array_, ends.length - 1);
  if (last < end_) fail(path_, array_, "runs end too early: {} < {}", last, end_);
}

// ---- Values ----

enum class Dictionaries : bool { kTrusted, kChecked };

template <typename Offset>
void check_rising(const Array& array, const Path& path) {
  const Offset* offsets = array.values<Offset>();
  // A branch-free pass first: offsets rise nearly always.
  bool rising = true;
  for (int64_t i = 0; i < array.length; ++i) rising &= offsets[i] <= offsets[i + 1];
  if (rising) return;
  for (int64_t i = 0; i < array.length; ++i) {
    if (offsets[i] > offsets[i + 1]) {
      fail(path, array, "offsets fall at value {}: {} > {}", i, offsets[i], offsets[i + 1]);
    }
  }
}

void check_offset_values(const Array& array, const Path& path) {
  if (array.length == 0) return;
  if (offset_width(array.type->id()) == 4) {
    check_rising<int32_t>(array, path);
  } else {
    check_rising<int64_t>(array, path);
  }
}

// Requires values whose bytes can be read.
void check_utf8(const Array& array, const Path& path) {
  for (int64_t i = 0; i < array.length; ++i) {
    if (array.is_null(i)) continue;
    std::string_view value = array.bytes_value(i);
    size_t prefix = valid_utf8_prefix(value);
    if (prefix != value.size()) fail(path, array, "value {} is not UTF-8 at byte {}", i, prefix);
  }
}

void check_bytes(const Array& array, const Path& path) {
  check_offset_values(array, path);
  if (array.length == 0 || (array.type->id() != TypeId::kUtf8 && array.type->id() != TypeId::kLargeUtf8)) return;
  // All ASCII: no code point can be cut, so the values need not be looked at one by one.
  const int width = offset_width(array.type->id());
  auto first = static_cast<size_t>(offset_at(array.buffers[1], width, array.offset));
  auto last = static_cast<size_t>(offset_at(array.buffers[1], width, array.offset + array.length));
  if (is_ascii(array.buffers[2].text().substr(first, last - first))) return;
  check_utf8(array, path);
}

void check_views(const Array& array, const Path& path) {
  for (int64_t i = 0; i < array.length; ++i) {
    if (array.is_null(i)) continue;
    BinaryView view = view_at(array, array.offset + i);
    if (view.size < 0) fail(path, array, "view {} has a negative size: {}", i, view.size);
    if (view.size <= BinaryView::kInlineMax) continue;
    const auto& reference = view.reference;
    if (reference.buffer_index < 0 || static_cast<size_t>(reference.buffer_index) >= array.variadic_buffers.size()) {
      fail(path, array, "view {} is in buffer {} of {}", i, reference.buffer_index, array.variadic_buffers.size());
    }
    const Buffer& buffer = array.variadic_buffers[static_cast<size_t>(reference.buffer_index)];
    if (reference.offset < 0 ||
        static_cast<size_t>(reference.offset) + static_cast<size_t>(view.size) > buffer.size()) {
      fail(path, array, "view {} exceeds its buffer: {} + {} > {}", i, reference.offset, view.size, buffer.size());
    }
    if (std::memcmp(reference.prefix, buffer.data() + reference.offset, 4) != 0) {
      fail(path, array, "prefix of view {} differs from its value", i);
    }
  }
  if (array.type->id() == TypeId::kUtf8View) check_utf8(array, path);
}

void check_list_views(const Array& array, const Path& path) {
  const int64_t limit = array.children[0]->length;
  for (int64_t i = 0; i < array.length; ++i) {
    auto [first, count] = array.list_range(i);
    if (first < 0 || count < 0 || first > limit || count > limit - first) {
      fail(path, array, "list view {} is outside its {} elements: {} + {}", i, limit, first, count);
    }
  }
}

void check_union_values(const Array& array, const Path& path) {
  const bool dense = array.type->id() == TypeId::kDenseUnion;
  for (int64_t i = 0; i < array.length; ++i) {
    int64_t child = union_child(array, i);
    if (child < 0) {
      fail(path, array, "type id {} of value {} is not one of the union's",
           array.buffers[0].as<int8_t>()[array.offset + i], i);
    }
    if (!dense) continue;
    int64_t position = union_child_index(array, i);
    int64_t limit = array.children[static_cast<size_t>(child)]->length;
    if (position < 0 || position >= limit) {
      fail(path, array, "offset of value {} is outside its child of {}: {}", i, limit, position);
    }
  }
}

void check_indices(const Array& array, const Path& path) {
  const int64_t limit = array.dictionary->length;
  for (int64_t i = 0; i < array.length; ++i) {
    int64_t index = dictionary_index(array, i);
    if ((index < 0 || index >= limit) && array.is_valid(i)) {
      fail(path, array, "index of value {} is outside the dictionary of {}: {}", i, limit, index);
    }
  }
}

void check_run_values(const Array& array, const Path& path) {
  if (array.children[0]->count_nulls() != 0) fail(path, array, "run ends have nulls");
  int64_t previous = 0;
  for (int64_t run = 0; run < array.children[0]->length; ++run) {
    int64_t end = run_end(array, run);
    if (end <= previous) fail(path, array, "run ends do not rise at run {}: {} after {}", run, end, previous);
    previous = end;
  }
}

void check_map(const Array& array, const Path& path) {
  const Array& entries = *array.children[0];
  if (entries.count_nulls() != 0) fail(path, array, "entries have nulls");
  if (entries.children[0]->slice(entries.offset, entries.length)->count_nulls() != 0) {
    fail(path, array, "keys have nulls");
  }
}

void check_null_count(const Array& array, const Path& path) {
  if (!array.has_validity() || array.null_count == kUnknownNullCount) return;
  auto valid = static_cast<int64_t>(count_set_bits(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset),
                                                   static_cast<size_t>(array.length)));
  if (array.null_count != array.length - valid) {
    fail(path, array, "null count is {}, the validity buffer has {} nulls", array.null_count, array.length - valid);
  }
}

void check_values(const Array& array, const Path& path, Dictionaries dictionaries) {
  check_null_count(array, path);
  const auto& fields = array.type->children();
  for (size_t i = 0; i < fields.size(); ++i)
    check_values(*array.children[i], Path{&path, fields[i].name}, dictionaries);
  if (array.dictionary != nullptr && dictionaries == Dictionaries::kChecked) {
    check_values(*array.dictionary, Path{&path, "dictionary"}, dictionaries);
  }
  switch (layout_of(array.type->id())) {
    case Layout::kBytes:
      return check_bytes(array, path);
    case Layout::kView:
      return check_views(array, path);
    case Layout::kList:
      check_offset_values(array, path);
      if (array.type->id() == TypeId::kMap) check_map(array, path);
      return;
    case Layout::kListView:
      return check_list_views(array, path);
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      return check_union_values(array, path);
    case Layout::kDictionary:
      return check_indices(array, path);
    case Layout::kRunEnd:
      return check_run_values(array, path);
    case Layout::kNull:
    case Layout::kBool:
    case Layout::kFixedWidth:
    case Layout::kFixedSizeList:
    case Layout::kStruct:
      return;
  }
}

}  // namespace

void validate(const Array& array) {
  check_layout(array, Path{});
}

void validate_full(const Array& array) {
  const Path path;
  check_layout(array, path);
  check_values(array, path, Dictionaries::kChecked);
}

void validate(const RecordBatch& batch) {
  for (size_t i = 0; i < batch.columns().size(); ++i) {
    check_layout(*batch.column(i), Path{nullptr, batch.schema()->field(i).name});
  }
}

namespace {

void validate_full(const RecordBatch& batch, Dictionaries dictionaries) {
  for (size_t i = 0; i < batch.columns().size(); ++i) {
    const Path path{nullptr, batch.schema()->field(i).name};
    check_layout(*batch.column(i), path);
    check_values(*batch.column(i), path, dictionaries);
  }
}

}  // namespace

void validate_full(const RecordBatch& batch) {
  validate_full(batch, Dictionaries::kChecked);
}

void validate_full_but_dictionaries(const RecordBatch& batch) {
  validate_full(batch, Dictionaries::kTrusted);
}

}  // namespace frazil
