#include "frazil/parquet/delta.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

constexpr uint64_t kNoOffset = CorruptError::kNoOffset;  // the caller knows the page's offset and adds it
constexpr size_t kScratch = 1024;
constexpr uint64_t kBlockValuesMax = uint64_t{1} << 31;

// Values that an unpack kernel may write behind what was asked for.
constexpr size_t kUnpackSlack = 32;

void unpack_whole(const Kernels& kernels, const std::byte* source, int width, uint32_t* target, size_t count) {
  kernels.unpack(source, width, target, count);
}

void unpack_whole(const Kernels& kernels, const std::byte* source, int width, uint64_t* target, size_t count) {
  if (width > 32) {
    kernels.unpack_wide(source, width, target, count);
    return;
  }
  uint32_t narrow[kScratch + kUnpackSlack];
  kernels.unpack(source, width, narrow, count);
  std::copy_n(narrow, count, target);
}

// `count` <= kScratch values from value `position` on. Groups of 8 values start on a byte: values in front of the next
// group come out of one that is unpacked whole.
template <typename T>
void unpack_from(const Kernels& kernels, const std::byte* packed, int width, size_t position, T* target, size_t count) {
  if (width == 0) {
    std::fill_n(target, count, T{0});
    return;
  }
  const std::byte* source = packed + position / 8 * static_cast<size_t>(width);
  const size_t in_group = position % 8;
  if (in_group != 0) {
    T group[8 + kUnpackSlack];
    unpack_whole(kernels, source, width, group, 8);
    const size_t head = std::min(count, 8 - in_group);
    std::copy_n(group + in_group, head, target);
    target += head;
    count -= head;
    source += width;
  }
  if (count > 0) unpack_whole(kernels, source, width, target, count);
}

}  // namespace

DeltaReader::DeltaReader(std::span<const std::byte> bytes) : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {
  if (bytes.empty()) return;
  const uint64_t block_values = read_varint();
  const uint64_t miniblocks = read_varint();
  left_ = read_varint();
  const uint64_t first = read_varint();
  last_ = first >> 1 ^ (0 - (first & 1));
  is_at_first_ = left_ > 0;
  // The specification wants blocks of 128 and miniblocks of 32 values or multiples; a miniblock has to end on a byte.
  if (block_values == 0 || block_values > kBlockValuesMax || miniblocks == 0 || block_values % miniblocks != 0 ||
      block_values / miniblocks % 8 != 0) {
    throw_corrupt(kNoOffset, "delta-packed values in blocks of {} and {} miniblocks", block_values, miniblocks);
  }
  block_values_ = static_cast<size_t>(block_values);
  miniblock_count_ = static_cast<size_t>(miniblocks);
  miniblock_values_ = block_values_ / miniblock_count_;
}

uint64_t DeltaReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (cursor_ == end_) break;
    const auto byte = std::to_integer<uint64_t>(*cursor_++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw_corrupt(kNoOffset, "a delta-packed header is damaged or cut");
}

size_t DeltaReader::miniblock_bytes(size_t index) const {
  return miniblock_values_ / 8 * std::to_integer<size_t>(widths_[index]);
}

void DeltaReader::open_block() {
  const uint64_t delta = read_varint();
  min_delta_ = delta >> 1 ^ (0 - (delta & 1));
  if (miniblock_count_ > static_cast<size_t>(end_ - cursor_)) {
    throw_corrupt(kNoOffset, "delta-packed values end in the header of a block");
  }
  widths_ = cursor_;
  cursor_ += miniblock_count_;
  block_left_ = static_cast<size_t>(std::min<uint64_t>(block_values_, left_));
  miniblock_ = 0;
  miniblock_position_ = 0;
  is_wide_ = false;
  size_t bytes = 0;
  size_t values = block_left_;
  for (size_t i = 0; values > 0; ++i) {
    const auto width = std::to_integer<size_t>(widths_[i]);
    if (width > 64) throw_corrupt(kNoOffset, "delta-packed values of {} bits", width);
    is_wide_ |= width > 32;
    if (values > miniblock_values_) {
      bytes += miniblock_bytes(i);
      values -= miniblock_values_;
    } else {
      bytes += (values * width + 7) / 8;  // cut, perhaps
      values = 0;
    }
  }
  if (bytes > static_cast<size_t>(end_ - cursor_)) {
    throw_corrupt(kNoOffset, "a block of delta-packed values has {} bytes where {} are left", bytes, end_ - cursor_);
  }
}

template <typename T>
void DeltaReader::unpack(const Kernels& kernels, T* deltas, size_t count) {
  while (count > 0) {
    const auto width = std::to_integer<int>(widths_[miniblock_]);
    const size_t part = std::min(count, miniblock_values_ - miniblock_position_);
    unpack_from(kernels, cursor_, width, miniblock_position_, deltas, part);
    deltas += part;
    count -= part;
    miniblock_position_ += part;
    if (miniblock_position_ == miniblock_values_) {
      cursor_ += miniblock_bytes(miniblock_);
      ++miniblock_;
      miniblock_position_ = 0;
    }
  }
}

template <typename T>
void DeltaReader::read_any(const Kernels& kernels, T* target, size_t count) {
  if (count > left_) throw_corrupt(kNoOffset, "{} delta-packed values where {} more are expected", left_, count);
  if (count == 0) return;
  if (is_at_first_) {
    *target++ = static_cast<T>(last_);
    is_at_first_ = false;
    --left_;
    --count;
  }
  while (count > 0) {
    if (block_left_ == 0) open_block();
    const size_t part = std::min({count, block_left_, kScratch});
    if (!is_wide_) {
      uint32_t deltas[kScratch + kUnpackSlack];
      unpack(kernels, deltas, part);
      if constexpr (sizeof(T) == 4) {
        last_ = kernels.sum4(deltas, part, static_cast<uint32_t>(last_), static_cast<uint32_t>(min_delta_), target);
      } else {
        last_ = kernels.sum4_to_8(deltas, part, last_, min_delta_, target);
      }
    } else {
      uint64_t deltas[kScratch + kUnpackSlack];
      unpack(kernels, deltas, part);
      if constexpr (sizeof(T) == 8) {
        last_ = kernels.sum8(deltas, part, last_, min_delta_, target);
      } else {
        for (size_t i = 0; i < part; ++i) {
          last_ += deltas[i] + min_delta_;
          target[i] = static_cast<T>(last_);
        }
      }
    }
    target += part;
    count -= part;
    left_ -= part;
    block_left_ -= part;
  }
}

template void DeltaReader::read_any(const Kernels& kernels, uint32_t* target, size_t count);
template void DeltaReader::read_any(const Kernels& kernels, uint64_t* target, size_t count);

void DeltaReader::skip(const Kernels& kernels, uint64_t count) {
  if (count > left_) throw_corrupt(kNoOffset, "{} delta-packed values where {} more are expected", left_, count);
  if (count == left_) {
    left_ = 0;
    return;
  }
  uint64_t values[kScratch + kUnpackSlack];
  while (count > 0) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(count, kScratch));
    read_any(kernels, values, part);
    count -= part;
  }
}

const std::byte* DeltaReader::find_end() const {
  DeltaReader at = *this;
  if (at.left_ == 0) return at.cursor_;
  --at.left_;  // the first value is in the header
  while (at.left_ > 0) {
    at.open_block();
    size_t values = at.block_left_;
    for (size_t i = 0; values > 0; ++i) {
      const size_t bytes = at.miniblock_bytes(i);
      if (bytes > static_cast<size_t>(at.end_ - at.cursor_)) {
        throw_corrupt(kNoOffset, "delta-packed values end in a miniblock of {} bytes", bytes);
      }
      at.cursor_ += bytes;
      values -= std::min(values, at.miniblock_values_);
    }
    at.left_ -= at.block_left_;
  }
  return at.cursor_;
}

}  // namespace frazil::parquet
