#include "frazil/parquet/levels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/level_masks.h"

namespace frazil::parquet {

namespace {

constexpr size_t kScratch = 1024;

[[noreturn]] void throw_above(uint32_t level, uint32_t max_level) {
  throw_corrupt(CorruptError::kNoOffset, "level {} in a column whose highest is {}", level, max_level);
}

[[noreturn]] void throw_end(size_t count) {
  throw_corrupt(CorruptError::kNoOffset, "the levels end where {} more are expected", count);
}

// Eight packed values of at most 8 bits in the low bits of a word become the eight bytes of one: the upper four values move to
// the upper half, then the upper two of each four, then the upper one of each two. x + y * (2^s - 1) moves the part y of x up
// by s; a shift and an OR would leave it below too, which hurts where it is wider than s: values of more than 4 bits.
class Spreader {
 public:
  explicit Spreader(unsigned width)
      : all_(low_mask(8 * width)),
        fours_(low_mask(4 * width) << (4 * width)),
        twos_((low_mask(2 * width) << (2 * width)) * 0x0000000100000001),
        ones_((low_mask(width) << width) * 0x0001000100010001),
        by_four_((uint64_t{1} << (32 - 4 * width)) - 1),
        by_two_((uint64_t{1} << (16 - 2 * width)) - 1),
        by_one_((uint64_t{1} << (8 - width)) - 1) {}
  uint64_t spread(uint64_t packed) const {
    packed &= all_;
    packed += (packed & fours_) * by_four_;
    packed += (packed & twos_) * by_two_;
    return packed + (packed & ones_) * by_one_;
  }

 private:
  uint64_t all_;
  uint64_t fours_;
  uint64_t twos_;
  uint64_t ones_;
  uint64_t by_four_;
  uint64_t by_two_;
  uint64_t by_one_;
};

// `count` values of a packed run from value `from` on. Writes up to 7 behind them.
void spread_run(const uint8_t* packed, size_t from, unsigned width, size_t count, uint8_t* target) {
  const Spreader spreader(width);
  // From the middle of a group of 8: its rest first.
  if (from % 8 != 0 && count > 0) {
    const uint64_t group = spreader.spread(load<uint64_t>(packed + from / 8 * width)) >> (8 * (from % 8));
    const size_t rest = std::min<size_t>(count, 8 - from % 8);
    store(target, group);
    target += rest;
    from += rest;
    count -= rest;
  }
  const uint8_t* source = packed + from / 8 * width;
  for (size_t done = 0; done < count; done += 8) {
    store(target + done, spreader.spread(load<uint64_t>(source)));
    source += width;
  }
}

// Levels of 0 and 1: packed ones are the bitmap.
size_t read_flags(HybridReader& levels, size_t count, uint8_t* bits, size_t bit_offset) {
  BitAppender out(bits, bit_offset);
  size_t valid = 0;
  while (count > 0) {
    if (!levels.next_run()) throw_end(count);
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
        valid += count_ones(word);
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

bool all_at_max(HybridReader levels, uint32_t max_level, size_t count) {
  while (count > 0) {
    if (!levels.next_run() || !levels.is_repeated() || levels.repeated_value() != max_level) return false;
    const auto part = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
    levels.skip_in_run(part);
    count -= part;
  }
  return true;
}

void read_levels(HybridReader& levels, uint32_t max_level, size_t count, uint8_t* target) {
  const auto width = static_cast<unsigned>(bit_width_of(max_level));
  uint8_t* const begin = target;
  const size_t all = count;
  while (count > 0) {
    if (!levels.next_run()) throw_end(count);
    const auto run = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
    if (levels.is_repeated()) {
      if (levels.repeated_value() > max_level) throw_above(levels.repeated_value(), max_level);
      std::memset(target, static_cast<int>(levels.repeated_value()), run);
    } else {
      size_t from = 0;
      const uint8_t* packed = levels.packed_bits(from);
      spread_run(packed, from, width, run, target);
    }
    levels.skip_in_run(run);
    target += run;
    count -= run;
  }
  if ((max_level & (max_level + 1)) == 0) return;  // no packed level can be above it
  for (size_t start = 0; start < all; start += 64) {
    const uint64_t above =
        at_least(begin + start, max_level + 1) & low_mask(static_cast<unsigned>(std::min<size_t>(64, all - start)));
    if (above != 0) throw_above(begin[start + static_cast<size_t>(std::countr_zero(above))], max_level);
  }
}

size_t read_validity(HybridReader& levels, uint32_t max_level, uint32_t threshold, size_t count, uint8_t* bits,
                     size_t bit_offset) {
  if (max_level == 1) return read_flags(levels, count, bits, bit_offset);
  BitAppender out(bits, bit_offset);
  uint8_t scratch[kScratch + 64];
  size_t valid = 0;
  while (count > 0) {
    if (!levels.next_run()) throw_end(count);
    if (levels.is_repeated() && levels.run_left() >= 64) {
      const auto run = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
      const uint32_t level = levels.repeated_value();
      if (level > max_level) throw_above(level, max_level);
      out.append_run(level >= threshold, run);
      if (level >= threshold) valid += run;
      levels.skip_in_run(run);
      count -= run;
      continue;
    }
    const size_t part = std::min(count, kScratch);
    read_levels(levels, max_level, part, scratch);
    for (size_t start = 0; start < part; start += 64) {
      const auto word_bits = static_cast<unsigned>(std::min<size_t>(64, part - start));
      const uint64_t word = at_least(scratch + start, threshold) & low_mask(word_bits);
      out.append(word, word_bits);
      valid += count_ones(word);
    }
    count -= part;
  }
  out.flush();
  return valid;
}

size_t skip_levels(HybridReader& levels, uint32_t max_level, size_t count) {
  uint8_t scratch[kScratch + 64];
  size_t valid = 0;
  while (count > 0) {
    if (!levels.next_run()) throw_end(count);
    if (levels.is_repeated()) {
      const auto run = static_cast<size_t>(std::min<uint64_t>(levels.run_left(), count));
      if (levels.repeated_value() > max_level) throw_above(levels.repeated_value(), max_level);
      if (levels.repeated_value() == max_level) valid += run;
      levels.skip_in_run(run);
      count -= run;
      continue;
    }
    const auto part = static_cast<size_t>(std::min<uint64_t>({levels.run_left(), count, kScratch}));
    read_levels(levels, max_level, part, scratch);
    for (size_t start = 0; start < part; start += 64) {
      const auto word_bits = static_cast<unsigned>(std::min<size_t>(64, part - start));
      valid += count_ones(at_least(scratch + start, max_level) & low_mask(word_bits));
    }
    count -= part;
  }
  return valid;
}

}  // namespace frazil::parquet
