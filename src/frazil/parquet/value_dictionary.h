// The dictionary of a column chunk while it is built: numbers distinct values in the order in which they first come.
// Values of 4 and 8 bytes are compared by their bits, so that NaNs and zeros keep theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "frazil/columnar/bytes_memo.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

class ValueDictionary {
 public:
  // For any type but BOOLEAN. `pool` outlives it.
  ValueDictionary(const LeafType& type, MemoryPool& pool);

  uint32_t size() const { return size_; }
  // As the dictionary page has it.
  size_t plain_bytes() const { return memo_ ? memo_->data_bytes() + length_bytes_ * size_ : size_ * width_; }
  size_t memory_bytes() const;

  // Appends the number of each value to `numbers`, up to the first value that would be number `size_max`; returns how
  // many there were. Some 2 ns a value while the table fits the first cache levels; runs cost less.
  size_t number(const FixedValues& values, uint32_t size_max, EncodeBuffer& numbers);
  size_t number(const BytesValues& values, uint32_t size_max, EncodeBuffer& numbers);
  // Of one value, as PLAIN has it without length.
  uint32_t number_of(std::string_view plain);

  // Entry `number` the same way. Valid until the next value is numbered.
  std::string_view value(uint32_t number) const {
    return memo_ ? memo_->value(number)
                 : std::string_view(reinterpret_cast<const char*>(values_.data()) + number * width_, width_);
  }
  void append_plain(EncodeBuffer& out) const;
  // Appends the values of these numbers to `page`.
  void append_values(std::span<const uint32_t> numbers, PageValues& page) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  template <typename T>
  uint32_t number_word(T value);
  template <typename T>
  size_t number_words(const T* values, size_t count, uint32_t size_max, uint32_t* numbers);
  template <typename T>
  void grow();

  MemoryPool* pool_;
  size_t width_;         // of a value; BYTE_ARRAY: 0
  size_t length_bytes_;  // in front of a value on the page
  uint32_t size_ = 0;
  std::optional<BytesMemo> memo_;  // values that are neither 4 nor 8 bytes wide
  MutableBuffer slots_;            // uint32_t numbers, a power of two of them, at most half in use
  size_t mask_ = 0;
  EncodeBuffer values_;  // in the order of their numbers
};

}  // namespace frazil::parquet
