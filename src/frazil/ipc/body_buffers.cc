#include "frazil/ipc/body_buffers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::ipc {
namespace {

constexpr int64_t kNotCompressed = -1;

// More than this no byte becomes: a byte of an LZ4 length is 255 of a match, and Zstandard's shortest block, 4 bytes, 128 KiB.
uint64_t most_bytes(Codec codec, uint64_t compressed) {
  return compressed * (codec == Codec::kLz4Frame ? 256 : (uint64_t{128} << 10) / 4);
}

template <typename T>
T reversed(T value) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

template <typename T>
void reverse_in_place(std::byte* value) {
  store(value, reversed(load<T>(value)));
}

template <typename T>
void reverse_each(std::span<std::byte> bytes) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) reverse_in_place<T>(bytes.data() + i);
}

void reverse_groups(std::span<std::byte> bytes, size_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width) std::reverse(bytes.data() + i, bytes.data() + i + width);
}

void reverse(std::span<std::byte> bytes, ByteOrder order) {
  switch (order) {
    case ByteOrder::kNone:
      return;
    case ByteOrder::k2:
      return reverse_each<uint16_t>(bytes);
    case ByteOrder::k4:
      return reverse_each<uint32_t>(bytes);
    case ByteOrder::k8:
      return reverse_each<uint64_t>(bytes);
    case ByteOrder::k16:
      return reverse_groups(bytes, 16);
    case ByteOrder::k32:
      return reverse_groups(bytes, 32);
    case ByteOrder::kMonthDayNano:
      for (size_t i = 0; i + 16 <= bytes.size(); i += 16) {
        reverse_in_place<uint32_t>(bytes.data() + i);
        reverse_in_place<uint32_t>(bytes.data() + i + 4);
        reverse_in_place<uint64_t>(bytes.data() + i + 8);
      }
      return;
    case ByteOrder::kView:
      for (size_t i = 0; i + sizeof(BinaryView) <= bytes.size(); i += sizeof(BinaryView)) {
        std::byte* view = bytes.data() + i;
        reverse_in_place<uint32_t>(view);
        if (load<int32_t>(view) <= BinaryView::kInlineMax) continue;
        reverse_in_place<uint32_t>(view + 8);
        reverse_in_place<uint32_t>(view + 12);
      }
      return;
  }
}

}  // namespace

MutableBuffer BodyBuffers::decompress(const Place& place, uint64_t size, std::span<const std::byte> bytes) {
  const uint64_t at = body_.offset + place.offset;
  if (size > decompressed_left_) {
    throw_corrupt(at, "the buffers of a message become more than {} bytes", changes_.max_decompressed_bytes);
  }
  if (size > most_bytes(changes_.codec, bytes.size())) {
    throw_corrupt(at, "{} bytes cannot become {} with {}", bytes.size(), size, to_string(changes_.codec));
  }
  decompressed_left_ -= size;
  MutableBuffer result = changes_.pool.allocate(static_cast<size_t>(size));
  try {
    changes_.decompressor->decompress(changes_.codec, bytes, result.span());
  } catch (const CorruptError& error) {
    throw_corrupt(at, "buffer {} of a message: {}", index() - 1, error.message());
  }
  return result;
}

void BodyBuffers::other(ArrayArena& arena, Place place, uint64_t needed, size_t alignment, ByteOrder order,
                        Buffer& out) {
  if (!is_plain_) return changed(arena, place, needed, alignment, order, out);
  if (place.length < needed) throw_short(place, place.length, needed);
  if (place.length == 0) return;
  // Not aligned.
  arena.keep_others();
  take_copied(place);
  out = changes_.pool.copy({body_.whole.data() + place.offset, static_cast<size_t>(place.length)});
}

void BodyBuffers::changed(ArrayArena& arena, const Place& place, uint64_t needed, size_t alignment, ByteOrder order,
                          Buffer& out) {
  arena.keep_others();
  Buffer stored;
  if (body_.is_whole) {
    stored = body_.whole.slice(static_cast<size_t>(place.offset), static_cast<size_t>(place.length));
  } else {
    stored = std::move(body_.pieces[next_piece_++]);
  }
  MutableBuffer own;
  const auto stored_bytes = [&] { return own.size() > 0 ? std::span<const std::byte>(own.span()) : stored.span(); };
  if (changes_.codec != Codec::kNone && stored.size() > 0) {
    if (stored.size() < sizeof(int64_t)) {
      throw_corrupt(body_.offset + place.offset, "a compressed buffer of {} bytes", stored.size());
    }
    const auto size = load<int64_t>(stored.data());
    stored = stored.slice(sizeof(int64_t));
    if (size >= 0) {
      if (size > 0) own = decompress(place, static_cast<uint64_t>(size), stored.span());
      stored = Buffer();
    } else if (size != kNotCompressed) {
      throw_corrupt(body_.offset + place.offset, "a buffer that was {} bytes before it was compressed", size);
    }
  }
  if (stored_bytes().size() < needed) throw_short(place, stored_bytes().size(), needed);
  if (stored_bytes().empty()) return;
  const bool is_turned = changes_.is_big_endian && order != ByteOrder::kNone;
  const bool is_aligned = (reinterpret_cast<uintptr_t>(stored_bytes().data()) & (alignment - 1)) == 0;
  if (own.size() == 0 && (is_turned || !is_aligned)) {
    take_copied(place);
    own = changes_.pool.allocate(stored.size());
    std::memcpy(own.data(), stored.data(), stored.size());
  }
  if (own.size() == 0) {
    if (body_.is_whole) {
      out = arena.slice(stored.data(), stored.size());
    } else {
      out = std::move(stored);
    }
    return;
  }
  if (is_turned) reverse(own.span(), order);
  out = std::move(own).freeze();
}

void BodyBuffers::throw_too_few() const {
  throw_corrupt(body_.offset, "a message with {} buffers has more in its schema", count_);
}

void BodyBuffers::throw_copied(const Place& place) const {
  throw_corrupt(body_.offset + place.offset, "the buffers of a message share the {} bytes of its body", body_bytes_);
}

void BodyBuffers::throw_outside(const Place& place) const {
  throw_corrupt(body_.offset, "buffer {} is not inside of its body of {} bytes: {} bytes at {}", index(), body_bytes_,
                static_cast<int64_t>(place.length), static_cast<int64_t>(place.offset));
}

void BodyBuffers::throw_short(const Place& place, uint64_t length, uint64_t needed) const {
  throw_corrupt(body_.offset + place.offset, "buffer {} is too short: {} < {} bytes", index() - 1, length, needed);
}

}  // namespace frazil::ipc
