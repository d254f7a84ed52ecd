// Arrays: immutable views on buffers (Columnar format, "Physical Memory Layout"), and record batches.
//
//   layout                  buffers[0]  buffers[1]           buffers[2]   children
//   null                    -           -                    -            -
//   bool                    validity    bits                 -            -
//   fixed width             validity    values               -            -
//   utf8, binary (large)    validity    int32/int64 offsets  bytes        -
//   utf8/binary view        validity    16-byte views        -            - (variadic buffers)
//   list, map (large)       validity    int32/int64 offsets  -            element | entries
//   list view (large)       validity    offsets              sizes        element
//   fixed-size list         validity    -                    -            element
//   struct                  validity    -                    -            one a field
//   sparse union            type ids    -                    -            one a field
//   dense union             type ids    offsets              -            one a field
//   dictionary              validity    indices              -            - (dictionary)
//   run-end encoded         -           -                    -            run ends, values
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/memory/buffer.h"

namespace frazil {

class Array;
using ArrayPtr = std::shared_ptr<const Array>;

inline constexpr int64_t kUnknownNullCount = -1;

// A plain value: whoever makes one fills it, then treats it as immutable. Making one checks nothing; validate() does.
class Array {
 public:
  DataTypePtr type;
  int64_t length = 0;
  int64_t offset = 0;                      // in values; applies to every buffer of this level
  int64_t null_count = kUnknownNullCount;  // of [offset, offset + length)
  std::array<Buffer, 3> buffers;           // see the table; an absent validity buffer is empty: all valid
  std::vector<Buffer> variadic_buffers;    // data of view types
  std::vector<ArrayPtr> children;
  ArrayPtr dictionary;

  // Whether this level has validity bits; buffers[0] of a union holds its type ids.
  bool has_validity() const { return !buffers[0].empty() && !is_union(type->id()); }
  // Of value `index` in 0..length-1, by the validity buffer of this level (unions and run-ends have none: true; null
  // type: false). Requires a validated array.
  bool is_valid(int64_t index) const {
    if (type->id() == TypeId::kNull) return false;
    if (!has_validity()) return true;
    uint64_t bit = static_cast<uint64_t>(offset + index);
    return (buffers[0].as<uint8_t>()[bit >> 3] >> (bit & 7)) & 1;
  }
  bool is_null(int64_t index) const { return !is_valid(index); }
  // Counts the validity bits when null_count is unknown: O(length / 64).
  int64_t count_nulls() const;

  // Values of a fixed-width type from `offset` on. Requires T to be as wide as the type. validate() holds buffers to
  // the alignment of their values, but to 8 bytes at most: read 16- and 32-byte values with load<T>() of byte_reader.h.
  template <typename T>
  const T* values() const {
    return buffers[1].as<T>() + offset;
  }
  bool bool_value(int64_t index) const {
    uint64_t bit = static_cast<uint64_t>(offset + index);
    return (buffers[1].as<uint8_t>()[bit >> 3] >> (bit & 7)) & 1;
  }
  // Bytes of value `index` of utf8, binary, their large and view forms, and fixed-size binary.
  std::string_view bytes_value(int64_t index) const;
  // The child's range of value `index` of a list, map, list view or fixed-size list, in the child's own indices
  // (before the child's offset): {first, count}.
  std::pair<int64_t, int64_t> list_range(int64_t index) const;

  // Shares all memory. O(1). Throws Error(kInvalidArgument) if the range is outside.
  ArrayPtr slice(int64_t from, int64_t count) const;
};

// The longest array whose values take no bytes of their own (null, run-end encoded, a struct without fields, width or
// list size 0): nothing else bounds a forged length, and loops over values must end. 2^31 - 1 is also the longest array
// that the Arrow specification recommends.
inline constexpr int64_t kMaxImplicitLength = INT32_MAX;

// Types nest at most kMaxTypeDepth deep, so these recurse no deeper. Arrays of length 0 may have empty buffers; an
// absent data buffer (size 0) is right where nothing refers to it. One level of checks, O(1) in the length
// (O(columns)): buffer sizes, counts, offsets at both ends, child lengths, dictionary present. Throws CorruptError
// naming the column path.
void validate(const Array& array);
// All of validate(), and O(length): offsets rise, indices and type ids in range, UTF-8, null counts true, run ends
// rise.
void validate_full(const Array& array);

// Equality by value of the same type: null = null, NaN = NaN, -0.0 = 0.0 unless exact_floats (then by bits). Offsets,
// padding, values under nulls, the order of a dictionary and the cut of runs do not matter. Requires validated arrays.
struct EqualOptions {
  bool exact_floats = false;
  bool compare_metadata = false;
};
bool equals(const Array& left, const Array& right, EqualOptions options = {});
// Where they first differ, for tests: "[3].name: "a" != null". Empty if equal.
std::string difference(const Array& left, const Array& right, EqualOptions options = {});

// An array of `length` nulls of any type.
ArrayPtr make_null_array(const DataTypePtr& type, int64_t length, class MemoryPool& pool);
// All parts, which are validated arrays of the same type, as one (dictionaries are unified). A single part is returned
// as it is. Throws Error(kUnsupported) past 2^31 - 1 bytes of utf8 or binary, or when another offset or index type is
// full.
ArrayPtr concatenate(std::span<const ArrayPtr> parts, class MemoryPool& pool);

class RecordBatch {
 public:
  // Throws Error(kInvalidArgument) unless every column has `row_count` values and the schema's type.
  RecordBatch(SchemaPtr schema, int64_t row_count, std::vector<ArrayPtr> columns);
  // Of what its maker knows to be so: nothing is looked at, which a batch of thousands of small columns would feel.
  static RecordBatch trusted(SchemaPtr schema, int64_t row_count, std::vector<ArrayPtr> columns) noexcept {
    return {Trusted(), std::move(schema), row_count, std::move(columns)};
  }

  const SchemaPtr& schema() const { return schema_; }
  int64_t row_count() const { return row_count_; }
  const std::vector<ArrayPtr>& columns() const { return columns_; }
  const ArrayPtr& column(size_t index) const { return columns_.at(index); }
  RecordBatch slice(int64_t from, int64_t count) const;
  // Bytes of the buffers that the batch refers to, sharing not considered.
  size_t buffer_bytes() const;

 private:
  struct Trusted {};
  RecordBatch(Trusted, SchemaPtr schema, int64_t row_count, std::vector<ArrayPtr> columns) noexcept
      : schema_(std::move(schema)), row_count_(row_count), columns_(std::move(columns)) {}

  SchemaPtr schema_;
  int64_t row_count_;
  std::vector<ArrayPtr> columns_;
};

bool equals(const RecordBatch& left, const RecordBatch& right, EqualOptions options = {});
std::string difference(const RecordBatch& left, const RecordBatch& right, EqualOptions options = {});
void validate(const RecordBatch& batch);
void validate_full(const RecordBatch& batch);
// The same, where the values of dictionaries passed it before: many batches share them.
void validate_full_but_dictionaries(const RecordBatch& batch);

// A source of batches that is pulled. next() blocks until a batch is there, throws what went wrong, and gives nothing
// at the end and ever after. Not thread-safe; close() may be called from any thread.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual const SchemaPtr& schema() const = 0;
  virtual std::optional<RecordBatch> next() = 0;
  // Stops all work; next() then gives nothing. Idempotent; the destructor does it too.
  virtual void close() noexcept = 0;
};

}  // namespace frazil
