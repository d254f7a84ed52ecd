#include "frazil/parquet/levels.h"

#include <algorithm>

#include "frazil/base/bits.h"
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

size_t read_validity(HybridReader& levels, const Kernels& kernels, uint32_t max_level, size_t count, uint8_t* bits,
                     size_t bit_offset) {
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
    } else if (max_level == 1) {
      size_t from = 0;
      const uint8_t* packed = levels.packed_bits(from);
      copy_bits(packed, from, bits, bit_offset, part);
      valid += count_set_bits(packed, from, part);
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
