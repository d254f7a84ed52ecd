#include "frazil/parquet/levels.h"

#include <algorithm>
#include <bit>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

constexpr size_t kScratch = 1024;

[[noreturn]] void throw_above(uint32_t level, uint32_t max_level) {
  throw_corrupt(CorruptError::kNoOffset, "definition level {} in a column whose highest is {}", level, max_level);
}

}  // namespace

bool all_at_max(HybridReader levels, uint32_t max_level, size_t count) {
  while (count > 0) {
    if (!levels.next_run() || !levels.is_repeated() || levels.repeated_value() != max_level) return false;
    const auto part = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
    levels.skip_in_run(part);
    count -= part;
  }
  return true;
}

namespace {

// Appends bits behind bits: whole words are stored when they are full. Runs of levels are short where nulls are frequent,
// so that a call a run would cost more than the bits.
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

// Levels of 0 and 1: packed ones are the bitmap.
size_t read_flags(HybridReader& levels, size_t count, uint8_t* bits, size_t bit_offset) {
  BitAppender out(bits, bit_offset);
  size_t valid = 0;
  while (count > 0) {
    if (!levels.next_run()) {
      throw_corrupt(CorruptError::kNoOffset, "the definition levels end where {} more are expected", count);
    }
    const auto run = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
    if (levels.is_repeated()) {
      const uint32_t level = levels.repeated_value();
      if (level > 1) throw_above(level, 1);
      out.append_run(level == 1, run);
      valid += level * run;
    } else {
      size_t from = 0;
      const uint8_t* packed = levels.packed_bits(from);
      for (size_t done = 0; done < run;) {
        // 57 bits are in the 8 bytes from any bit's byte on; the page is padded.
        const auto part = static_cast<unsigned>(std::min<size_t>(run - done, 57));
        const uint64_t word = load<uint64_t>(packed + (from + done) / 8) >> ((from + done) % 8) & low_mask(part);
        out.append(word, part);
        valid += static_cast<size_t>(std::popcount(word));
        done += part;
      }
    }
    levels.skip_in_run(run);
    count -= run;
  }
  out.flush();
  return valid;
}

}  // namespace

size_t read_validity(HybridReader& levels, const Kernels& kernels, uint32_t max_level, size_t count, uint8_t* bits,
                     size_t bit_offset) {
  if (max_level == 1) return read_flags(levels, count, bits, bit_offset);
  uint32_t scratch[kScratch + 32];
  size_t valid = 0;
  while (count > 0) {
    if (!levels.next_run()) {
      throw_corrupt(CorruptError::kNoOffset, "the definition levels end where {} more are expected", count);
    }
    auto part = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
    if (levels.is_repeated()) {
      const uint32_t level = levels.repeated_value();
      if (level > max_level) throw_above(level, max_level);
      fill_bits(bits, bit_offset, part, level == max_level);
      if (level == max_level) valid += part;
      levels.skip_in_run(part);
    } else {
      part = std::min(part, kScratch);
      levels.unpack(kernels, scratch, part);
      if (!kernels.all_below(scratch, part, max_level + 1)) {
        throw_above(*std::max_element(scratch, scratch + part), max_level);
      }
      for (size_t start = 0; start < part; start += 64) {
        const size_t word_bits = std::min<size_t>(64, part - start);
        uint64_t word = 0;
        for (size_t i = 0; i < word_bits; ++i) word |= uint64_t{scratch[start + i] == max_level} << i;
        store_bits(bits, bit_offset + start, word_bits, word);
        valid += static_cast<size_t>(std::popcount(word));
      }
    }
    bit_offset += part;
    count -= part;
  }
  return valid;
}

}  // namespace frazil::parquet
