// Bitmaps out of levels that are bytes, 64 at a time, and of the bits that they say. Of this layer's own loops.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace frazil::parquet {

// Bit i is 1 where levels[i] >= threshold, of 64 levels that are below 128.
inline uint64_t at_least(const uint8_t* levels, uint32_t threshold) noexcept {
  uint64_t mask = 0;
#if defined(__SSE2__)
  const __m128i below = _mm_set1_epi8(static_cast<char>(static_cast<int>(threshold) - 1));
  for (int i = 0; i < 4; ++i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + 16 * i));
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpgt_epi8(part, below)));
    mask |= static_cast<uint64_t>(bits) << (16 * i);
  }
#else
  const uint64_t less = 0x0101010101010101 * (128 - threshold);
  for (int i = 0; i < 8; ++i) {
    const uint64_t high = (load<uint64_t>(levels + 8 * i) + less) & 0x8080808080808080;
    mask |= (high >> 7) * 0x0102040810204080 >> 56 << (8 * i);
  }
#endif
  return mask;
}

// std::popcount is a call where the processor need not have the instruction, as in baseline builds.
inline unsigned count_ones(uint64_t word) noexcept {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return static_cast<unsigned>(word * 0x0101010101010101 >> 56);
}

// Appends bits behind bits: whole words are stored when they are full. Runs of levels are short where nulls are
// frequent, so that a call a run would cost more than the bits.
class BitAppender {
 public:
  BitAppender(uint8_t* bits, size_t bit_offset)
      : target_(bits + bit_offset / 8), used_(bit_offset % 8), word_(used_ == 0 ? 0 : *target_ & low_mask(used_)) {}

  // The low `count` bits of `value`, 1..64; the others are 0.
  void append(uint64_t value, unsigned count) {
    word_ |= value << used_;
    if (used_ + count < 64) {
      used_ += count;
      return;
    }
    store(target_, word_);
    target_ += 8;
    word_ = used_ == 0 ? 0 : value >> (64 - used_);
    used_ = used_ + count - 64;
  }

  // The bits of `value` under the 1s of `mask`, closed up.
  void append_under(uint64_t value, uint64_t mask) {
    // Lists without elements are rare or come in runs: runs of 1s are few.
    while (mask != 0) {
      const auto skip = static_cast<unsigned>(std::countr_zero(mask));
      mask >>= skip;
      value >>= skip;
      const auto run = static_cast<unsigned>(std::countr_one(mask));
      append(value & low_mask(run), run);
      if (run == 64) return;
      mask >>= run;
      value >>= run;
    }
  }

  void append_run(bool value, size_t count) {
    if (count >= 256) {
      flush();
      const size_t at = used_;
      fill_bits(target_, at, count, value);
      target_ += (at + count) / 8;
      used_ = (at + count) % 8;
      word_ = used_ == 0 ? 0 : *target_ & low_mask(used_);
      return;
    }
    for (; count > 64; count -= 64) append(value ? ~uint64_t{0} : 0, 64);
    append(value ? low_mask(static_cast<unsigned>(count)) : 0, static_cast<unsigned>(count));
  }

  // Stores what is pending; the rest of its last byte becomes 0. Less than a byte stays pending.
  void flush() {
    while (used_ >= 8) {
      *target_++ = static_cast<uint8_t>(word_);
      word_ >>= 8;
      used_ -= 8;
    }
    if (used_ > 0) *target_ = static_cast<uint8_t>(word_);
  }

 private:
  uint8_t* target_;
  unsigned used_;
  uint64_t word_;
};

}  // namespace frazil::parquet
