// The buffers of one message's body, in the order of its metadata: checked, decompressed, turned round, aligned.
//
//   buffer     := byte*                       where the message names no codec
//               | size:i64 compressed         of `size` bytes; always lowest byte first
//               | -1:i64 byte*                not compressed
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/codec/codec.h"
#include "frazil/ipc/array_arena.h"
#include "frazil/ipc/flatbuffer.h"
#include "frazil/ipc/read_schema.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// Where the bytes of a body are: in one piece, or read buffer by buffer.
struct Body {
  Buffer whole;
  // Those of BatchDecoder::wanted_ranges(), which are moved away.
  std::span<Buffer> pieces;
  bool is_whole = true;
  uint64_t offset = 0;  // in the file, for errors
};

class BodyBuffers {
 public:
  // What it takes to change the bytes of a buffer.
  struct Changes {
    MemoryPool& pool;
    Decompressor& decompressor;
    uint64_t max_decompressed_bytes;
    Codec codec = Codec::kNone;
    bool is_big_endian = false;
  };

  // `places`: BufferPlace, of a body of `body_bytes`. Borrows all of it.
  BodyBuffers(const FlatVector& places, uint64_t body_bytes, const Body& body, const Changes& changes)
      : places_(places.data()),
        count_(places.size()),
        body_bytes_(body_bytes),
        body_(body),
        changes_(changes),
        is_plain_(body.is_whole && changes.codec == Codec::kNone && !changes.is_big_endian),
        decompressed_left_(changes.max_decompressed_bytes),
        copied_left_(body_bytes) {}

  size_t remaining() const { return count_ - next_; }

  // Sets `out` to the next buffer, of which the values that are counted need `needed` bytes, aligned to `alignment`, a power of
  // two: bytes of the body that `arena` keeps, or a block of the pool. Throws CorruptError if it is shorter, not inside of the
  // body or not there, or its compressed bytes are damaged; MemoryLimitError.
  void next(ArrayArena& arena, uint64_t needed, size_t alignment, ByteOrder order, Buffer& out) {
    const Place place = next_place();
    if (!is_plain_) {
      changed(arena, place, needed, alignment, order, out);
      return;
    }
    if (place.length < needed) throw_short(place, place.length, needed);
    if (place.length == 0) return;
    const std::byte* data = body_.whole.data() + place.offset;
    if ((reinterpret_cast<uintptr_t>(data) & (alignment - 1)) != 0) {
      arena.keep_others();
      take_copied(place);
      out = changes_.pool.copy({data, static_cast<size_t>(place.length)});
    } else {
      arena.slice(data, static_cast<size_t>(place.length), out);
    }
  }
  // Passes over the next buffer, which is wanted by nobody; only its place is checked.
  void pass() {
    next_place();
    if (!body_.is_whole) ++next_piece_;
  }
  // Its length in the body.
  uint64_t pass_and_measure() {
    const uint64_t length = next_place().length;
    if (!body_.is_whole) ++next_piece_;
    return length;
  }
  // Passes over buffers of columns that are not read, which have no pieces.
  void skip(uint64_t count) {
    if (count > remaining()) throw_too_few();
    next_ += static_cast<size_t>(count);
  }

 private:
  struct Place {
    uint64_t offset;
    uint64_t length;
  };
  static constexpr uint64_t kCopiesMax = 8;  // of a body's bytes

  Place next_place() {
    if (next_ == count_) throw_too_few();
    const std::byte* at = places_ + next_ * 2 * sizeof(uint64_t);
    // Negative ones are larger than every body.
    const Place place{load<uint64_t>(at), load<uint64_t>(at + sizeof(uint64_t))};
    if (place.length > body_bytes_ || place.offset > body_bytes_ - place.length) throw_outside(place);
    ++next_;
    return place;
  }

  void changed(ArrayArena& arena, const Place& place, uint64_t needed, size_t alignment, ByteOrder order, Buffer& out);
  // Counts a buffer that is copied as it is. Those of an honest message lie side by side, or a few are one; where all are the
  // whole body, copies would be more than its bytes justify. Throws CorruptError.
  void take_copied(const Place& place) {
    if (place.length / kCopiesMax > copied_left_) throw_copied(place);
    copied_left_ -= place.length / kCopiesMax;
  }
  MutableBuffer decompress(const Place& place, uint64_t size, std::span<const std::byte> bytes);
  [[noreturn]] void throw_too_few() const;
  [[noreturn]] void throw_copied(const Place& place) const;
  [[noreturn]] void throw_outside(const Place& place) const;
  [[noreturn]] void throw_short(const Place& place, uint64_t length, uint64_t needed) const;

  const std::byte* places_;
  size_t count_;
  size_t next_ = 0;
  size_t next_piece_ = 0;
  uint64_t body_bytes_;
  const Body& body_;
  const Changes& changes_;
  bool is_plain_;
  uint64_t decompressed_left_;
  uint64_t copied_left_;
};

}  // namespace frazil::ipc
