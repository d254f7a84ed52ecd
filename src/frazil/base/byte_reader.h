// A cursor over bytes from outside. Every read checks what remains, so that a forged length gives CorruptError with
// the offset and never a read past the end. Little-endian, as Parquet, Arrow and Iceberg are.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "frazil/base/error.h"

namespace frazil {

static_assert(std::endian::native == std::endian::little, "Frazil runs on little-endian machines");

// Reads T from unaligned memory that the caller knows to be long enough.
template <typename T>
  requires std::is_trivially_copyable_v<T>
inline T load(const void* source) noexcept {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

template <typename T>
  requires std::is_trivially_copyable_v<T>
inline void store(void* destination, T value) noexcept {
  std::memcpy(destination, &value, sizeof(T));
}

class ByteReader {
 public:
  // Borrows `data`. `base_offset` is the place of data[0] in its file: offsets in errors count from the file's start.
  explicit ByteReader(std::span<const std::byte> data, uint64_t base_offset = 0) noexcept
      : begin_(data.data()), cursor_(data.data()), end_(data.data() + data.size()), base_offset_(base_offset) {}

  size_t remaining() const noexcept { return static_cast<size_t>(end_ - cursor_); }
  bool at_end() const noexcept { return cursor_ == end_; }
  size_t position() const noexcept { return static_cast<size_t>(cursor_ - begin_); }
  uint64_t offset() const noexcept { return base_offset_ + position(); }
  const std::byte* cursor() const noexcept { return cursor_; }

  // Throws CorruptError naming `what` unless `count` more bytes are there.
  void require(uint64_t count, std::string_view what) const {
    if (count > remaining()) throw_short(count, what);
  }

  template <typename T>
    requires(std::integral<T> || std::floating_point<T>)
  T read(std::string_view what = "value") {
    require(sizeof(T), what);
    T value = load<T>(cursor_);
    cursor_ += sizeof(T);
    return value;
  }

  // LEB128, at most 10 bytes and 64 bits.
  uint64_t read_varint(std::string_view what = "varint") {
    if (cursor_ != end_ && std::to_integer<uint8_t>(*cursor_) < 0x80) return std::to_integer<uint8_t>(*cursor_++);
    return read_long_varint(what);
  }

  int64_t read_zigzag(std::string_view what = "varint") {
    uint64_t raw = read_varint(what);
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }

  std::span<const std::byte> read_bytes(uint64_t count, std::string_view what = "bytes") {
    require(count, what);
    std::span<const std::byte> bytes(cursor_, static_cast<size_t>(count));
    cursor_ += count;
    return bytes;
  }

  std::string_view read_text(uint64_t count, std::string_view what = "text") {
    auto bytes = read_bytes(count, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void skip(uint64_t count, std::string_view what = "bytes") {
    require(count, what);
    cursor_ += count;
  }

  std::span<const std::byte> rest() const noexcept { return {cursor_, remaining()}; }

 private:
  [[noreturn]] void throw_short(uint64_t count, std::string_view what) const;
  uint64_t read_long_varint(std::string_view what);

  const std::byte* begin_;
  const std::byte* cursor_;
  const std::byte* end_;
  uint64_t base_offset_;
};

}  // namespace frazil
