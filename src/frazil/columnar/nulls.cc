// All buffers of an array of nulls are zeros, so one zeroed block as large as the largest of them serves all.
#include <algorithm>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/layout.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

namespace {

size_t multiply(int64_t count, int64_t width) {
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(count), static_cast<size_t>(width), &bytes)) {
    throw MemoryLimitError(SIZE_MAX, message("array of {} nulls does not fit into memory", count));
  }
  return bytes;
}

int64_t child_length(const DataType& type, size_t child, int64_t length) {
  switch (layout_of(type.id())) {
    case Layout::kStruct:
    case Layout::kSparseUnion:
      return length;
    case Layout::kFixedSizeList:
      return static_cast<int64_t>(multiply(length, type.fixed_size()));
    case Layout::kDenseUnion:
      return child == 0 ? std::min<int64_t>(length, 1) : 0;
    case Layout::kRunEnd:
      return std::min<int64_t>(length, 1);
    default:
      return 0;
  }
}

size_t largest_buffer(const DataType& type, int64_t length) {
  if (length == 0) return 0;
  size_t bytes = bytes_for_bits(static_cast<size_t>(length));
  switch (layout_of(type.id())) {
    case Layout::kBytes:
    case Layout::kList:
    case Layout::kListView:
      bytes = multiply(length + 1, offset_width(type.id()));
      break;
    case Layout::kView:
      bytes = multiply(length, 16);
      break;
    case Layout::kDenseUnion:
      bytes = multiply(length, 4);
      break;
    case Layout::kSparseUnion:
      bytes = multiply(length, 1);
      break;
    default:
      bytes = std::max(bytes, multiply(length, type.byte_width()));
      break;
  }
  for (size_t c = 0; c < type.children().size(); ++c) {
    bytes = std::max(bytes, largest_buffer(*type.children()[c].type, child_length(type, c, length)));
  }
  return bytes;
}

ArrayPtr make(const DataTypePtr& type, int64_t length, const Buffer& zeros, MemoryPool& pool) {
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = length;
  array->null_count = has_validity_buffer(type->id()) || type->id() == TypeId::kNull ? length : 0;
  for (size_t c = 0; c < type->children().size(); ++c) {
    array->children.push_back(make(type->children()[c].type, child_length(*type, c, length), zeros, pool));
  }
  if (type->id() == TypeId::kDictionary) array->dictionary = make(type->value_type(), 0, zeros, pool);
  if (length == 0) return array;
  if (has_validity_buffer(type->id())) array->buffers[0] = zeros.slice(0, bytes_for_bits(static_cast<size_t>(length)));
  const auto count = static_cast<size_t>(length);
  switch (layout_of(type->id())) {
    case Layout::kBool:
      array->buffers[1] = array->buffers[0];
      break;
    case Layout::kFixedWidth:
    case Layout::kDictionary:
      array->buffers[1] = zeros.slice(0, count * static_cast<size_t>(type->byte_width()));
      break;
    case Layout::kBytes:
    case Layout::kList:
      array->buffers[1] = zeros.slice(0, (count + 1) * static_cast<size_t>(offset_width(type->id())));
      break;
    case Layout::kListView:
      array->buffers[1] = zeros.slice(0, count * static_cast<size_t>(offset_width(type->id())));
      array->buffers[2] = array->buffers[1];
      break;
    case Layout::kView:
      array->buffers[1] = zeros.slice(0, count * 16);
      break;
    case Layout::kDenseUnion:
      array->buffers[1] = zeros.slice(0, count * 4);
      [[fallthrough]];
    case Layout::kSparseUnion: {
      if (type->children().empty()) {
        throw_error(ErrorKind::kInvalidArgument, "a union without children has no values");
      }
      MutableBuffer ids = pool.allocate(count);
      std::fill_n(ids.as<int8_t>(), count, type->union_type_ids()[0]);
      array->buffers[0] = std::move(ids).freeze();
      break;
    }
    case Layout::kRunEnd: {
      auto ends = std::make_shared<Array>(*array->children[0]);
      const auto width = static_cast<size_t>(ends->type->byte_width());
      if (width < 8 && (length >> (8 * width - 1)) != 0) {
        throw_error(ErrorKind::kUnsupported, "{} values are more than {} can count", length, type->to_string());
      }
      ends->null_count = 0;
      ends->buffers[0] = Buffer();
      ends->buffers[1] = pool.copy({reinterpret_cast<const std::byte*>(&length), width});
      array->children[0] = std::move(ends);
      break;
    }
    default:
      break;
  }
  return array;
}

}  // namespace

ArrayPtr make_null_array(const DataTypePtr& type, int64_t length, MemoryPool& pool) {
  if (length < 0) throw_error(ErrorKind::kInvalidArgument, "length of an array is negative: {}", length);
  size_t bytes = largest_buffer(*type, length);
  return make(type, length, bytes == 0 ? Buffer() : pool.allocate_zeroed(bytes).freeze(), pool);
}

}  // namespace frazil
