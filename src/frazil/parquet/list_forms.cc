#include "frazil/parquet/list_forms.h"

#include <algorithm>
#include <span>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"

namespace frazil::parquet {

struct ListForms::Node {
  ColumnRequest::ListForm form = ColumnRequest::ListForm::kOffsets;
  DataTypePtr type;                             // that comes out
  std::vector<std::unique_ptr<Node>> children;  // of the request; nullptr: as it is
};

namespace {

using ListForm = ColumnRequest::ListForm;

// The structs between a list and the list around it, the outermost first: where one of them is null, so is the list.
using Structs = std::vector<const Array*>;

// Whether value `index` of an array below `structs` is a value of all of them, and none of those is null.
bool is_present(const Structs& structs, int64_t index) {
  for (auto array = structs.rbegin(); array != structs.rend(); ++array) {
    index -= (*array)->offset;
    if (index < 0 || index >= (*array)->length || (*array)->is_null(index)) return false;
  }
  return true;
}

std::shared_ptr<Array> with_children(const Array& stored, const DataTypePtr& type, std::vector<ArrayPtr> children) {
  auto array = std::make_shared<Array>(stored);
  array->type = type;
  array->children = std::move(children);
  return array;
}

template <typename T>
Buffer sizes_of(const Array& lists, MemoryPool& pool) {
  const auto count = static_cast<size_t>(lists.offset + lists.length);
  MutableBuffer sizes = pool.allocate(count * sizeof(T));
  sizes.set_size(count * sizeof(T));
  const T* offsets = lists.buffers[1].as<T>();
  auto* out = sizes.as<T>();
  std::fill_n(out, lists.offset, T{0});
  for (auto i = static_cast<size_t>(lists.offset); i < count; ++i) out[i] = offsets[i + 1] - offsets[i];
  return std::move(sizes).freeze();
}

ArrayPtr as_views(const Array& lists, const DataTypePtr& type, ArrayPtr elements, MemoryPool& pool) {
  auto array = with_children(lists, type, {std::move(elements)});
  if (lists.length == 0) {  // its offsets may be missing
    array->offset = 0;
    array->buffers = {};
    return array;
  }
  array->buffers[2] =
      type->id() == TypeId::kLargeListView ? sizes_of<int64_t>(lists, pool) : sizes_of<int32_t>(lists, pool);
  return array;
}

Buffer validity_of(const Array& array, MemoryPool& pool) {
  if (!array.has_validity()) return {};
  const auto count = static_cast<size_t>(array.length);
  MutableBuffer bits = pool.allocate_zeroed(bytes_for_bits(count));
  bits.set_size(bytes_for_bits(count));
  copy_bits(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset), bits.as<uint8_t>(), 0, count);
  return std::move(bits).freeze();
}

// `elements` with `size` nulls for each list that has none.
ArrayPtr with_null_elements(const Array& lists, int64_t size, const ArrayPtr& elements, MemoryPool& pool) {
  if (elements->length >= int64_t{UINT32_MAX} || lists.length > int64_t{UINT32_MAX} / size) {
    throw_error(ErrorKind::kUnsupported, "{} lists of {} elements, more than a batch can have", lists.length, size);
  }
  const auto count = static_cast<size_t>(lists.length * size);
  MutableBuffer positions = pool.allocate(count * sizeof(uint32_t));
  auto* position = positions.as<uint32_t>();
  for (int64_t i = 0; i < lists.length; ++i) {
    const auto [first, length] = lists.list_range(i);
    for (int64_t k = 0; k < size; ++k) {
      *position++ = static_cast<uint32_t>(length == 0 ? elements->length : first + k);
    }
  }
  const ArrayPtr parts[] = {elements, make_null_array(elements->type, 1, pool)};
  return take(*concatenate(parts, pool), {positions.as<uint32_t>(), count}, pool);
}

ArrayPtr as_fixed_size(const Array& lists, const DataTypePtr& type, const ArrayPtr& elements, const Structs& around,
                       MemoryPool& pool) {
  const int64_t size = type->fixed_size();
  bool is_whole = true;
  for (int64_t i = 0; i < lists.length; ++i) {
    const int64_t length = lists.list_range(i).second;
    if (length == size) continue;
    is_whole = false;
    if (length == 0 && (lists.is_null(i) || !is_present(around, i))) continue;
    CorruptError error(
        CorruptError::kNoOffset,
        message("a list has {} elements, and each has {} by the Arrow schema of the file", length, size));
    error.set_hint("use_embedded_schema = false reads lists of any size");
    throw error;
  }
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = lists.length;
  array->null_count = lists.null_count;
  array->buffers[0] = validity_of(lists, pool);
  if (!is_whole) {
    array->children = {with_null_elements(lists, size, elements, pool)};
  } else {
    const int64_t first = lists.length == 0 ? 0 : lists.list_range(0).first;
    array->children = {elements->slice(first, lists.length * size)};
  }
  return array;
}

uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t saturating_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// Of a null value, its elements if it is a fixed_size_list.
uint64_t null_bytes(const DataType& type) {
  uint64_t bytes = 0;
  switch (type.id()) {
    case TypeId::kFixedSizeList:
      return saturating_product(static_cast<uint64_t>(type.fixed_size()),
                                saturating_sum(null_bytes(*type.children()[0].type), 1));
    case TypeId::kStruct:
      for (const Field& field : type.children()) bytes = saturating_sum(bytes, null_bytes(*field.type));
      return bytes;
    default:
      return type.byte_width() > 0 ? static_cast<uint64_t>(type.byte_width()) : 16;  // a view, two offsets
  }
}

uint64_t fixed_size_bytes(const Field& field) {
  uint64_t bytes = 0;
  switch (field.type->id()) {
    case TypeId::kFixedSizeList:
      return null_bytes(*field.type);
    case TypeId::kStruct:
      for (const Field& child : field.type->children()) bytes = saturating_sum(bytes, fixed_size_bytes(child));
      return bytes;
    default:
      return 0;
  }
}

}  // namespace

// `field`: of `request` as it is stored; becomes what comes out.
std::unique_ptr<ListForms::Node> ListForms::compile(const ColumnRequest& request, Field& field) {
  if (request.kind == ColumnRequest::Kind::kLeaf || field.extension_name() == "arrow.parquet.variant") return nullptr;
  const bool is_map = request.kind == ColumnRequest::Kind::kMap;
  const bool is_list = request.kind == ColumnRequest::Kind::kList;
  auto node = std::make_unique<Node>();
  if (is_list) node->form = request.list_form;
  std::vector<Field> fields = is_map ? field.type->children()[0].type->children() : field.type->children();
  bool any = node->form != ListForm::kOffsets;
  for (size_t i = 0; i < fields.size(); ++i) {
    node->children.push_back(compile(request.children[i], fields[i]));
    any = any || node->children.back() != nullptr;
  }
  if (!any) return nullptr;
  if (is_map) {
    field.type = map(std::move(fields[0]), std::move(fields[1]));
  } else if (!is_list) {
    field.type = struct_(std::move(fields));
  } else if (node->form == ListForm::kFixedSize) {
    field.type = fixed_size_list(std::move(fields[0]), request.list_size);
  } else if (node->form == ListForm::kView) {
    field.type = list(std::move(fields[0]), request.is_large ? TypeId::kLargeListView : TypeId::kListView);
  } else {
    field.type = list(std::move(fields[0]), field.type->id());
  }
  node->type = field.type;
  return node;
}

ListForms::ListForms(const ColumnRequest& request, Field stored) : field_(std::move(stored)) {
  root_ = compile(request, field_);
  if (root_) null_row_bytes_ = fixed_size_bytes(field_);
}

ListForms::~ListForms() = default;
ListForms::ListForms(ListForms&&) noexcept = default;
ListForms& ListForms::operator=(ListForms&&) noexcept = default;

ArrayPtr ListForms::convert(const ArrayPtr& stored, MemoryPool& pool) const {
  struct Converter {
    MemoryPool& pool;

    ArrayPtr convert(const Node* node, const ArrayPtr& array, Structs& around) const {
      if (node == nullptr) return array;
      if (array->type->id() == TypeId::kStruct) {
        around.push_back(array.get());
        std::vector<ArrayPtr> fields = children(*node, *array, around);
        around.pop_back();
        return with_children(*array, node->type, std::move(fields));
      }
      Structs inside;  // elements are there or not, whatever is around the list
      if (array->type->id() == TypeId::kMap) {
        const Array& entries = *array->children[0];
        const DataTypePtr& type = node->type->children()[0].type;
        return with_children(*array, node->type, {with_children(entries, type, children(*node, entries, inside))});
      }
      ArrayPtr elements = convert(node->children[0].get(), array->children[0], inside);
      if (node->form == ListForm::kFixedSize) return as_fixed_size(*array, node->type, elements, around, pool);
      if (node->form == ListForm::kView) return as_views(*array, node->type, std::move(elements), pool);
      return with_children(*array, node->type, {std::move(elements)});
    }
    std::vector<ArrayPtr> children(const Node& node, const Array& parent, Structs& around) const {
      std::vector<ArrayPtr> made;
      for (size_t i = 0; i < parent.children.size(); ++i) {
        made.push_back(convert(node.children[i].get(), parent.children[i], around));
      }
      return made;
    }
  };
  Structs around;
  try {
    return Converter{pool}.convert(root_.get(), stored, around);
  } catch (Error& error) {
    error.add_context(message("column '{}'", field_.name));
    throw;
  }
}

}  // namespace frazil::parquet
