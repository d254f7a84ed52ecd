// How each type lies in its buffers: the table of array.h as a closed set, for code that handles all types alike.
#pragma once

#include <cstdint>
#include <string_view>

#include "frazil/base/byte_reader.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"

namespace frazil {

enum class Layout : uint8_t {
  kNull,
  kBool,
  kFixedWidth,
  kBytes,  // utf8, binary and their large forms: offsets and data
  kView,
  kList,  // list, map and the large list: offsets
  kListView,
  kFixedSizeList,
  kStruct,
  kSparseUnion,
  kDenseUnion,
  kDictionary,
  kRunEnd,
};

Layout layout_of(TypeId id) noexcept;

// Bytes of one offset: 4, or 8 for the large forms. Requires kBytes, kList or kListView.
int offset_width(TypeId id) noexcept;

// The alignment that buffers[1] must have: that of its values, but at most 8 bytes. 1 where there is no such buffer.
size_t values_alignment(const DataType& type) noexcept;

// Offset `index` (absolute: Array::offset is not added) of buffers[1].
inline int64_t offset_at(const Buffer& buffer, int width, int64_t index) noexcept {
  return width == 4 ? buffer.as<int32_t>()[index] : buffer.as<int64_t>()[index];
}

// The index of value `index` of a dictionary array. Unsigned 64-bit indices beyond int64 come out negative.
int64_t dictionary_index(const Array& array, int64_t index) noexcept;

// The child number of value `index` of a union, by its type id; -1 if no child has it.
int64_t union_child(const Array& array, int64_t index) noexcept;
// Its place in that child.
int64_t union_child_index(const Array& array, int64_t index) noexcept;

// The place in the values child of value `index` of a run-end encoded array: binary search in the run ends.
int64_t run_value_index(const Array& array, int64_t index) noexcept;
// Run end `run` (before the run-ends child's offset). Counts from the unsliced array's start.
int64_t run_end(const Array& array, int64_t run) noexcept;

// Whether value `index` is null by what it stands for: a dictionary's and run's value and a union's child count too.
bool is_logical_null(const Array& array, int64_t index) noexcept;

// A value of a view type (Columnar format, "Variable-size Binary View Layout").
//   view := size:int32 inlined:byte[12]                                    // size <= 12
//         | size:int32 prefix:byte[4] buffer_index:int32 offset:int32
struct BinaryView {
  static constexpr int32_t kInlineMax = 12;
  struct Reference {
    char prefix[4];
    int32_t buffer_index;
    int32_t offset;
  };
  int32_t size = 0;
  union {
    char inlined[kInlineMax] = {};
    Reference reference;
  };
};
static_assert(sizeof(BinaryView) == 16);

// View `index` (absolute) of buffers[1].
inline BinaryView view_at(const Array& array, int64_t index) noexcept {
  return load<BinaryView>(array.buffers[1].data() + index * 16);
}

}  // namespace frazil
