// The values of an Arrow array as a file's physical type has them: what leaf_type() promises, value by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frazil/columnar/array.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

// 1 of a bitmap: the slot has a value. No bits: all have.
struct ValidBits {
  const uint8_t* bits = nullptr;
  size_t offset = 0;

  ValidBits from(size_t slot) const { return {bits, offset + slot}; }
};

// Values that a page collects: of fixed width, or offsets (the first one 0) and bytes.
struct PageValues {
  explicit PageValues(MemoryPool& pool) : fixed(pool), offsets(pool), bytes(pool) {}

  EncodeBuffer fixed;
  EncodeBuffer offsets;
  EncodeBuffer bytes;
  size_t count = 0;

  BytesValues as_bytes() const { return {offsets.as<int32_t>(), bytes.data(), count}; }
  void clear();
  // Both are empty then.
  void swap_memory(PageValues& other);
  void append(std::string_view value);  // to bytes
  size_t capacity() const { return fixed.capacity() + offsets.capacity() + bytes.capacity(); }
  void shrink() {
    fixed.shrink();
    offsets.shrink();
    bytes.shrink();
  }
};

// Bytes of a value; BOOLEAN: 1, as FixedValues has it; BYTE_ARRAY: 0.
size_t physical_width(const LeafType& type);

// Borrows the array, which is validated. Slots count from the array's start, its offset considered. Throws
// Error(kInvalidArgument) where a value cannot be in the file.
class LeafSource {
 public:
  LeafSource() = default;
  // Of an array of `leaf.type`, not of a dictionary array. Throws Error(kInvalidArgument) for another type.
  LeafSource(const LeafDescription& leaf, const Array& array);

  bool is_bytes() const { return kind_ != Kind::kFixed; }
  // Where slot `slot` lies if the array has its values as FixedValues has them; else nullptr.
  const std::byte* fixed_values(size_t slot) const { return is_copy_ ? values_ + slot * width_ : nullptr; }
  // The same of BytesValues.
  std::optional<BytesValues> bytes_values(size_t slot, size_t count) const {
    if (kind_ != Kind::kOffsets4) return std::nullopt;
    return BytesValues{reinterpret_cast<const int32_t*>(values_) + slot, data_, count};
  }
  // The valid ones of slots [from, from + count) behind what `page` has; how many they are. Bytes must stay below 2^31.
  size_t append(size_t from, size_t count, ValidBits valid, PageValues& page) const;
  // How many of `count` slots from `from` on have at most `bytes_max` bytes together, as PLAIN has them, null or not; and
  // how many bytes they have.
  void fit(size_t from, size_t count, size_t bytes_max, size_t& fitting, size_t& bytes) const;
  // One value, as PLAIN has it without length. Valid until the next call.
  std::string_view value(size_t slot);
  // Bytes of a BYTE_ARRAY value.
  std::string_view bytes_at(size_t slot) const;

 private:
  enum class Kind : uint8_t { kFixed, kOffsets4, kOffsets8, kView };
  // `count` values of slots from `from` on.
  using Convert = void (*)(const LeafSource& source, size_t from, size_t count, std::byte* target);

  struct Conversions;  // by type

  const Array* array_ = nullptr;
  const std::byte* values_ = nullptr;  // of the first slot: values, offsets or views
  const std::byte* data_ = nullptr;
  Convert convert_ = nullptr;
  size_t width_ = 0;         // of a value in the file
  size_t source_width_ = 0;  // decimals
  Kind kind_ = Kind::kFixed;
  bool is_copy_ = false;
  std::byte one_[40] = {};
};

}  // namespace frazil::parquet
