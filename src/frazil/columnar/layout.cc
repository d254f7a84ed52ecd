#include "frazil/columnar/layout.h"

#include <algorithm>

namespace frazil {

Layout layout_of(TypeId id) noexcept {
  switch (id) {
    case TypeId::kNull:
      return Layout::kNull;
    case TypeId::kBool:
      return Layout::kBool;
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
      return Layout::kBytes;
    case TypeId::kUtf8View:
    case TypeId::kBinaryView:
      return Layout::kView;
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kMap:
      return Layout::kList;
    case TypeId::kListView:
    case TypeId::kLargeListView:
      return Layout::kListView;
    case TypeId::kFixedSizeList:
      return Layout::kFixedSizeList;
    case TypeId::kStruct:
      return Layout::kStruct;
    case TypeId::kSparseUnion:
      return Layout::kSparseUnion;
    case TypeId::kDenseUnion:
      return Layout::kDenseUnion;
    case TypeId::kDictionary:
      return Layout::kDictionary;
    case TypeId::kRunEndEncoded:
      return Layout::kRunEnd;
    default:
      return Layout::kFixedWidth;
  }
}

int offset_width(TypeId id) noexcept {
  switch (id) {
    case TypeId::kLargeUtf8:
    case TypeId::kLargeBinary:
    case TypeId::kLargeList:
    case TypeId::kLargeListView:
      return 8;
    default:
      return 4;
  }
}

size_t values_alignment(const DataType& type) noexcept {
  switch (layout_of(type.id())) {
    case Layout::kFixedWidth:
    case Layout::kDictionary:
      if (type.id() == TypeId::kFixedSizeBinary) return 1;
      if (type.id() == TypeId::kIntervalDayTime) return 4;
      return static_cast<size_t>(std::min(type.byte_width(), 8));
    case Layout::kBytes:
    case Layout::kList:
    case Layout::kListView:
      return static_cast<size_t>(offset_width(type.id()));
    case Layout::kView:
    case Layout::kDenseUnion:
      return 4;
    default:
      return 1;
  }
}

int64_t dictionary_index(const Array& array, int64_t index) noexcept {
  switch (array.type->index_type()->id()) {
    case TypeId::kInt8:
      return array.values<int8_t>()[index];
    case TypeId::kUInt8:
      return array.values<uint8_t>()[index];
    case TypeId::kInt16:
      return array.values<int16_t>()[index];
    case TypeId::kUInt16:
      return array.values<uint16_t>()[index];
    case TypeId::kInt32:
      return array.values<int32_t>()[index];
    case TypeId::kUInt32:
      return array.values<uint32_t>()[index];
    case TypeId::kInt64:
      return array.values<int64_t>()[index];
    default:
      return static_cast<int64_t>(array.values<uint64_t>()[index]);
  }
}

int64_t union_child(const Array& array, int64_t index) noexcept {
  int8_t type_id = array.buffers[0].as<int8_t>()[array.offset + index];
  const auto& ids = array.type->union_type_ids();
  auto found = std::find(ids.begin(), ids.end(), type_id);
  return found == ids.end() ? -1 : found - ids.begin();
}

int64_t union_child_index(const Array& array, int64_t index) noexcept {
  if (array.type->id() == TypeId::kSparseUnion) return array.offset + index;
  return array.buffers[1].as<int32_t>()[array.offset + index];
}

int64_t run_end(const Array& array, int64_t run) noexcept {
  const Array& ends = *array.children[0];
  switch (ends.type->id()) {
    case TypeId::kInt16:
      return ends.values<int16_t>()[run];
    case TypeId::kInt32:
      return ends.values<int32_t>()[run];
    default:
      return ends.values<int64_t>()[run];
  }
}

int64_t run_value_index(const Array& array, int64_t index) noexcept {
  int64_t position = array.offset + index;
  int64_t low = 0;
  int64_t high = array.children[0]->length;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (run_end(array, middle) > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

bool is_logical_null(const Array& array, int64_t index) noexcept {
  switch (array.type->id()) {
    case TypeId::kDictionary:
      return array.is_null(index) || is_logical_null(*array.dictionary, dictionary_index(array, index));
    case TypeId::kRunEndEncoded:
      return is_logical_null(*array.children[1], run_value_index(array, index));
    case TypeId::kSparseUnion:
    case TypeId::kDenseUnion:
      return is_logical_null(*array.children[static_cast<size_t>(union_child(array, index))],
                             union_child_index(array, index));
    default:
      return array.is_null(index);
  }
}

}  // namespace frazil
