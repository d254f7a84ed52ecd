#include "frazil/base/bits.h"

#include "frazil/base/byte_reader.h"
#include "frazil/base/cpu.h"

namespace frazil {

namespace {

constexpr size_t kWordBits = 64;

// 64 bits from any place. Touches the 8 or 9 bytes that hold them.
inline uint64_t load_word(const uint8_t* bits, size_t offset) noexcept {
  const uint8_t* bytes = bits + (offset >> 3);
  const auto shift = static_cast<unsigned>(offset & 7);
  auto word = load<uint64_t>(bytes);
  return shift == 0 ? word : (word >> shift) | (static_cast<uint64_t>(bytes[8]) << (64 - shift));
}

inline uint64_t load_short(const uint8_t* bytes, size_t byte_count) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < byte_count; ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

inline void store_short(uint8_t* bytes, size_t byte_count, uint64_t word) noexcept {
  for (size_t i = 0; i < byte_count; ++i) bytes[i] = static_cast<uint8_t>(word >> (8 * i));
}

// Whole words: words of popcount are what the loop below costs.
inline size_t popcount_words_generic(const uint8_t* bytes, size_t word_count) noexcept {
  size_t total = 0;
  for (size_t i = 0; i < word_count; ++i) total += static_cast<size_t>(std::popcount(load<uint64_t>(bytes + 8 * i)));
  return total;
}

#if defined(__x86_64__)
// Without the instruction, which x86-64-v1 lacks, each popcount is a call and a table; with it, a cycle.
__attribute__((target("popcnt"))) size_t popcount_words_popcnt(const uint8_t* bytes, size_t word_count) noexcept {
  size_t totals[4] = {0, 0, 0, 0};  // four chains: the additions would otherwise wait for each other
  size_t i = 0;
  for (; i + 4 <= word_count; i += 4) {
    for (size_t k = 0; k < 4; ++k) {
      totals[k] += static_cast<size_t>(__builtin_popcountll(load<uint64_t>(bytes + 8 * (i + k))));
    }
  }
  for (; i < word_count; ++i) totals[0] += static_cast<size_t>(__builtin_popcountll(load<uint64_t>(bytes + 8 * i)));
  return totals[0] + totals[1] + totals[2] + totals[3];
}
#endif

size_t popcount_words(const uint8_t* bytes, size_t word_count) noexcept {
#if defined(__x86_64__)
  if (instruction_set() >= InstructionSet::kAvx2) return popcount_words_popcnt(bytes, word_count);
#endif
  return popcount_words_generic(bytes, word_count);
}

// Applies word = op(words of the sources at the same place) over a range of the target: a head up to the target's next
// byte boundary, whole words, a tail. Sources may lie at any offset.
template <typename Load>
inline void fill_words(uint8_t* target, size_t target_offset, size_t count, Load load_at) noexcept {
  size_t done = 0;
  if ((target_offset & 7) != 0) {
    size_t head = 8 - (target_offset & 7);
    if (head > count) head = count;
    store_bits(target, target_offset, head, load_at(size_t{0}, head));
    done = head;
  }
  uint8_t* bytes = target + ((target_offset + done) >> 3);
  for (; count - done >= kWordBits; done += kWordBits, bytes += 8) store(bytes, load_at(done, kWordBits));
  if (done < count) store_bits(target, target_offset + done, count - done, load_at(done, count - done));
}

inline uint64_t load_at_most_word(const uint8_t* bits, size_t offset, size_t count) noexcept {
  return count == kWordBits ? load_word(bits, offset) : load_bits(bits, offset, count);
}

}  // namespace

void store_bits(uint8_t* bits, size_t offset, size_t count, uint64_t word) noexcept {
  if (count == 0) return;
  uint8_t* bytes = bits + (offset >> 3);
  const auto shift = static_cast<unsigned>(offset & 7);
  const uint64_t mask = low_mask(static_cast<unsigned>(count));
  word &= mask;
  const size_t byte_count = (shift + count + 7) >> 3;  // 1..9
  if (byte_count >= 8) {
    store(bytes, (load<uint64_t>(bytes) & ~(mask << shift)) | (word << shift));
  } else {
    store_short(bytes, byte_count, (load_short(bytes, byte_count) & ~(mask << shift)) | (word << shift));
  }
  if (byte_count == 9) {  // then shift > 0
    const auto high_mask = static_cast<uint8_t>(mask >> (64 - shift));
    bytes[8] = static_cast<uint8_t>((bytes[8] & ~high_mask) | static_cast<uint8_t>(word >> (64 - shift)));
  }
}

size_t count_set_bits(const uint8_t* bits, size_t offset, size_t count) noexcept {
  size_t total = 0;
  if ((offset & 7) != 0) {
    size_t head = 8 - (offset & 7);
    if (head > count) head = count;
    total += static_cast<size_t>(std::popcount(load_bits(bits, offset, head)));
    offset += head;
    count -= head;
  }
  const size_t word_count = count / kWordBits;
  if (word_count != 0) total += popcount_words(bits + (offset >> 3), word_count);
  const size_t done = word_count * kWordBits;
  return total + static_cast<size_t>(std::popcount(load_bits(bits, offset + done, count - done)));
}

size_t find_bit(const uint8_t* bits, size_t from, size_t end, bool value) noexcept {
  const uint64_t flip = value ? 0 : ~uint64_t{0};
  while (from < end) {
    const size_t count = end - from < kWordBits ? end - from : kWordBits;
    // In a short word the flip sets bits from `count` on; the first of them says `end`, which is right.
    const uint64_t word = load_at_most_word(bits, from, count) ^ flip;
    if (word != 0) return from + static_cast<size_t>(std::countr_zero(word));
    from += count;
  }
  return end;
}

bool all_bits_set(const uint8_t* bits, size_t offset, size_t count) noexcept {
  return find_bit(bits, offset, offset + count, false) == offset + count;
}

bool any_bit_set(const uint8_t* bits, size_t offset, size_t count) noexcept {
  return find_bit(bits, offset, offset + count, true) != offset + count;
}

void fill_bits(uint8_t* bits, size_t offset, size_t count, bool value) noexcept {
  const uint64_t word = value ? ~uint64_t{0} : 0;
  size_t head = (offset & 7) == 0 ? 0 : 8 - (offset & 7);
  if (head > count) head = count;
  store_bits(bits, offset, head, word);
  offset += head;
  count -= head;
  if (count >= 8) std::memset(bits + (offset >> 3), value ? 0xff : 0, count >> 3);
  store_bits(bits, offset + (count & ~size_t{7}), count & 7, word);
}

void copy_bits(const uint8_t* source, size_t source_offset, uint8_t* target, size_t target_offset,
               size_t count) noexcept {
  if ((source_offset & 7) == (target_offset & 7)) {  // whole bytes lie alike: copy them
    size_t head = (target_offset & 7) == 0 ? 0 : 8 - (target_offset & 7);
    if (head > count) head = count;
    store_bits(target, target_offset, head, load_bits(source, source_offset, head));
    source_offset += head;
    target_offset += head;
    count -= head;
    if (count >= 8) std::memcpy(target + (target_offset >> 3), source + (source_offset >> 3), count >> 3);
    const size_t done = count & ~size_t{7};
    store_bits(target, target_offset + done, count & 7, load_bits(source, source_offset + done, count & 7));
    return;
  }
  fill_words(target, target_offset, count,
             [=](size_t done, size_t n) noexcept { return load_at_most_word(source, source_offset + done, n); });
}

void copy_inverted_bits(const uint8_t* source, size_t source_offset, uint8_t* target, size_t target_offset,
                        size_t count) noexcept {
  fill_words(target, target_offset, count,
             [=](size_t done, size_t n) noexcept { return ~load_at_most_word(source, source_offset + done, n); });
}

bool equal_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset,
                size_t count) noexcept {
  size_t done = 0;
  for (; count - done >= kWordBits; done += kWordBits) {
    if (load_word(left, left_offset + done) != load_word(right, right_offset + done)) return false;
  }
  return load_bits(left, left_offset + done, count - done) == load_bits(right, right_offset + done, count - done);
}

void and_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
              size_t target_offset, size_t count) noexcept {
  fill_words(target, target_offset, count, [=](size_t done, size_t n) noexcept {
    return load_at_most_word(left, left_offset + done, n) & load_at_most_word(right, right_offset + done, n);
  });
}

void or_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
             size_t target_offset, size_t count) noexcept {
  fill_words(target, target_offset, count, [=](size_t done, size_t n) noexcept {
    return load_at_most_word(left, left_offset + done, n) | load_at_most_word(right, right_offset + done, n);
  });
}

void and_not_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
                  size_t target_offset, size_t count) noexcept {
  fill_words(target, target_offset, count, [=](size_t done, size_t n) noexcept {
    return load_at_most_word(left, left_offset + done, n) & ~load_at_most_word(right, right_offset + done, n);
  });
}

void pack_bools(const uint8_t* bools, size_t count, uint8_t* target, size_t target_offset) noexcept {
  constexpr uint64_t kSeven = 0x7f7f7f7f7f7f7f7f;
  // Eight bools to eight bits: the carry into bit 7 marks bytes that are not 0; the multiplication moves the mark of
  // byte i to bit 56 + i.
  const auto pack8 = [](uint64_t bytes) noexcept {
    const uint64_t marks = ((((bytes & kSeven) + kSeven) | bytes) & ~kSeven) >> 7;
    return (marks * 0x0102040810204080) >> 56;
  };
  fill_words(target, target_offset, count, [=](size_t done, size_t n) noexcept {
    uint64_t word = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) word |= pack8(load<uint64_t>(bools + done + i)) << i;
    for (; i < n; ++i) word |= static_cast<uint64_t>(bools[done + i] != 0) << i;
    return word;
  });
}

void unpack_bools(const uint8_t* bits, size_t offset, size_t count, uint8_t* bools) noexcept {
  // Byte i of the product holds all eight bits; keep the one that belongs there and bring it down to bit 0.
  const auto unpack8 = [](uint64_t byte) noexcept {
    const uint64_t spread = (byte * 0x0101010101010101) & 0x8040201008040201;
    return ((spread + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101;
  };
  size_t done = 0;
  for (; count - done >= kWordBits; done += kWordBits) {
    const uint64_t word = load_word(bits, offset + done);
    for (size_t i = 0; i < 8; ++i) store(bools + done + 8 * i, unpack8((word >> (8 * i)) & 0xff));
  }
  for (; done < count; ++done) bools[done] = get_bit(bits, offset + done);
}

}  // namespace frazil
