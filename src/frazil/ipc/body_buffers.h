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
#include "frazil/ipc/metadata_tables.h"
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
    Decompressor* decompressor;  // if there is a codec
    uint64_t max_decompressed_bytes;
    Codec codec = Codec::kNone;
    bool is_big_endian = false;
  };

  // `places`: BufferPlace, of a body of `body_bytes`. Borrows all of it.
  BodyBuffers(const FlatVector& places, uint64_t body_bytes, const Body& body, const Changes& changes)
      : next_(places.data()),
        left_(places.size()),
        count_(places.size()),
        body_bytes_(body_bytes),
        body_(body),
        changes_(changes),
        body_address_(reinterpret_cast<uintptr_t>(body.whole.data())),
        is_plain_(body.is_whole && changes.codec == Codec::kNone && !changes.is_big_endian),
        decompressed_left_(changes.max_decompressed_bytes),
        copied_left_(body_bytes) {}

  size_t remaining() const { return left_; }
  // The BufferPlace of the next buffer and of those behind it; nothing relies on its alignment.
  const std::byte* places() const { return next_; }
  // Whether all buffers are slices of a body in one piece, where they are aligned.
  bool is_plain() const { return is_plain_; }

  // Sets `out` to the next buffer, of which the values that are counted need `needed` bytes, aligned to `alignment`, a power of
  // two: bytes of the body that `arena` keeps, or a block of the pool. Throws CorruptError if it is shorter, not inside of the
  // body or not there, or its compressed bytes are damaged; MemoryLimitError.
  [[gnu::always_inline]] void next(ArrayArena& arena, uint64_t needed, size_t alignment, ByteOrder order, Buffer& out) {
    const Place place = next_place();
    const uintptr_t address = body_address_ + place.offset;
    // Most buffers are what they are; a few comparisons tell, and all else is a call.
    if (is_plain_ && place.length >= needed && place.length != 0 && (address & (alignment - 1)) == 0) [[likely]] {
      // Made in its place: an empty buffer has nothing to end.
      new (&out) Buffer(arena.slice(body_.whole.data() + place.offset, static_cast<size_t>(place.length)));
    } else {
      other(arena, place, needed, alignment, order, out);
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
  // Passes over buffers of columns that are not read, which have no pieces, or that were taken at places().
  void skip(uint64_t count) {
    if (count > remaining()) throw_too_few();
    left_ -= static_cast<size_t>(count);
    next_ += count * sizeof(BufferPlace);
  }

 private:
  struct Place {
    uint64_t offset;
    uint64_t length;
  };
  static constexpr uint64_t kCopiesMax = 8;  // of a body's bytes

  Place next_place() {
    if (left_ == 0) throw_too_few();
    // Negative ones are larger than every body.
    const Place place{load<uint64_t>(next_), load<uint64_t>(next_ + sizeof(uint64_t))};
    if (place.length > body_bytes_ || place.offset > body_bytes_ - place.length) throw_outside(place);
    --left_;
    next_ += sizeof(BufferPlace);
    return place;
  }

  // A buffer that is empty, too short or not aligned, or may be changed.
  void other(ArrayArena& arena, Place place, uint64_t needed, size_t alignment, ByteOrder order, Buffer& out);
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

  // The number of the next buffer.
  size_t index() const { return count_ - left_; }

  const std::byte* next_;  // its place
  size_t left_;
  size_t count_;
  size_t next_piece_ = 0;
  uint64_t body_bytes_;
  const Body& body_;
  const Changes& changes_;
  uintptr_t body_address_;  // of a whole one
  bool is_plain_;
  uint64_t decompressed_left_;
  uint64_t copied_left_;
};

}  // namespace frazil::ipc
