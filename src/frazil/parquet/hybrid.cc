#include "frazil/parquet/hybrid.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::parquet {

HybridReader::HybridReader(std::span<const std::byte> bytes, int width)
    : cursor_(bytes.data()), end_(bytes.data() + bytes.size()), width_(static_cast<uint8_t>(width)) {
  if (width < 0 || width > 32) throw_corrupt(CorruptError::kNoOffset, "bit width {} of levels or indices", width);
  if (width == 0) {
    is_repeated_ = true;
    run_left_ = UINT64_MAX;
  }
}

HybridReader HybridReader::bit_packed(std::span<const std::byte> bytes, int width, size_t count) {
  HybridReader reader(bytes, width);
  if (width == 0) {
    reader.run_left_ = count;
    reader.cursor_ = reader.end_;
    return reader;
  }
  reader.is_bit_packed_ = true;
  reader.packed_ = bytes.data();
  reader.packed_count_ = std::min<uint64_t>(count, uint64_t{bytes.size()} * 8 / static_cast<unsigned>(width));
  return reader;
}

bool HybridReader::next_bit_packed_run() {
  const auto value_at = [this](uint64_t position) {
    uint32_t value = 0;
    for (uint64_t bit = position * width_; bit < (position + 1) * width_; ++bit) {
      value = value << 1 | (std::to_integer<uint32_t>(packed_[bit / 8]) >> (7 - bit % 8) & 1);
    }
    return value;
  };
  if (packed_position_ == packed_count_) return false;
  is_repeated_ = true;
  value_ = value_at(packed_position_);
  run_left_ = 1;
  while (packed_position_ + run_left_ < packed_count_ && value_at(packed_position_ + run_left_) == value_) ++run_left_;
  return true;
}

bool HybridReader::next_run() {
  if (is_bit_packed_) return run_left_ > 0 || next_bit_packed_run();
  while (run_left_ == 0) {
    uint64_t header = 0;
    int shift = 0;
    for (;;) {
      if (cursor_ == end_) {
        if (shift == 0) return false;
        throw_corrupt(CorruptError::kNoOffset, "a run of levels or indices is cut");
      }
      const auto byte = std::to_integer<uint64_t>(*cursor_++);
      header |= (byte & 0x7F) << shift;
      if (byte < 0x80) break;
      shift += 7;
      if (shift > 56) throw_corrupt(CorruptError::kNoOffset, "a run of levels or indices has a damaged length");
    }
    const uint64_t count = header >> 1;
    const auto left = static_cast<size_t>(end_ - cursor_);
    is_repeated_ = (header & 1) == 0;
    if (is_repeated_) {
      const size_t value_bytes = (width_ + 7U) / 8;
      if (left < value_bytes) throw_corrupt(CorruptError::kNoOffset, "a run of levels or indices is cut");
      value_ = 0;
      std::memcpy(&value_, cursor_, value_bytes);
      cursor_ += value_bytes;
      run_left_ = count;
    } else {
      packed_ = cursor_;
      packed_position_ = 0;
      if (count <= left / width_) {
        cursor_ += static_cast<size_t>(count) * width_;
        run_left_ = count * 8;
      } else {
        // Cut: what is whole counts. Nothing can follow it.
        cursor_ = end_;
        run_left_ = left * 8 / width_;
        if (run_left_ == 0 && count > 0) return false;
      }
    }
  }
  return true;
}

void HybridReader::unpack(const Kernels& kernels, uint32_t* target, size_t count) {
  run_left_ -= count;
  // Groups of 8 start on a byte: the values in front of the next group come out of one that is unpacked again.
  const auto in_group = static_cast<size_t>(packed_position_ & 7);
  const std::byte* source = packed_ + (packed_position_ >> 3) * width_;
  packed_position_ += count;
  if (in_group != 0) {
    uint32_t group[8 + 32];
    kernels.unpack(source, width_, group, 8);
    const size_t head = std::min<size_t>(count, 8 - in_group);
    std::memcpy(target, group + in_group, head * sizeof(uint32_t));
    target += head;
    count -= head;
    source += width_;
  }
  if (count > 0) kernels.unpack(source, width_, target, count);
}

size_t HybridReader::read(const Kernels& kernels, uint32_t* target, size_t count) {
  size_t done = 0;
  while (done < count && next_run()) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(run_left_, count - done));
    if (is_repeated_) {
      std::fill_n(target + done, part, value_);
      skip_in_run(part);
    } else {
      unpack(kernels, target + done, part);
    }
    done += part;
  }
  return done;
}

size_t HybridReader::skip(size_t count) {
  size_t done = 0;
  while (done < count && next_run()) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(run_left_, count - done));
    skip_in_run(part);
    done += part;
  }
  return done;
}

}  // namespace frazil::parquet
