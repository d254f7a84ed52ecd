// The arrays of a batch, made in one block and ended together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// Arrays are handed out as ArrayPtr that share the arena. Their slices of the body have no reference of their own: the arena
// holds one for all of them, since counting hundreds up and down would cost more than the rest of a batch. Whoever copies a
// buffer counts as always. An array's children are in another arena than itself, or none would ever end.
class ArrayArena {
 public:
  // Of `capacity` arrays.
  ArrayArena(MemoryPool& pool, size_t capacity, Buffer body)
      : memory_(pool.allocate(capacity * sizeof(Array))), body_(std::move(body)) {}
  ArrayArena(const ArrayArena&) = delete;
  ArrayArena& operator=(const ArrayArena&) = delete;
  ~ArrayArena() {
    // Then no destructor has anything to do.
    if (is_plain_) return;
    for (size_t i = 0; i < size_; ++i) {
      Array& array = arrays()[i];
      for (Buffer& buffer : array.buffers) end_slice(buffer);
      for (Buffer& buffer : array.variadic_buffers) end_slice(buffer);
      array.~Array();
    }
  }

  // The next array, with nothing but its type in it. Requires that there is room. What is put into it is only to be seen by
  // others when nothing is changed anymore.
  Array& add(const DataTypePtr& type) {
    // Without (): its bytes are not zeroed before they are initialised.
    Array& array = *new (arrays() + size_++) Array;
    array.type = type;
    if (type.use_count() != 0) is_plain_ = false;
    return array;
  }
  // Where the next array goes. Who makes some there himself, one behind the other, tells how many, and if none of their types is
  // counted.
  Array* room() { return arrays() + size_; }
  void added(size_t count, bool is_plain) {
    size_ += count;
    is_plain_ = is_plain_ && is_plain;
  }
  // Bytes of the body, which the arena keeps: for a buffer of one of its arrays.
  Buffer slice(const std::byte* data, size_t size) { return Buffer::adopt(data, size, body_.owner()); }
  // Something is put into an array that has an owner of its own: children, a dictionary, a buffer that is no slice.
  void keep_others() { is_plain_ = false; }

 private:
  Array* arrays() { return memory_.as<Array>(); }
  void end_slice(Buffer& buffer) {
    if (buffer.owner() == body_.owner()) buffer.abandon();
  }

  MutableBuffer memory_;
  size_t size_ = 0;
  bool is_plain_ = true;  // types that are not counted and slices of the body are all there is in the arrays
  Buffer body_;
};

// Owners of one arena, each with a count of its own. Releasing a shared_ptr reads both of its counts at once right after the
// release before it wrote one of them, which processors do not forward: a batch whose arrays have all the same owner takes 4 ns
// an array to end, one whose arrays have these in turn 1 ns.
class ArenaOwners {
 public:
  ArenaOwners() = default;
  ArenaOwners(const std::shared_ptr<ArrayArena>& arena, size_t array_count) {
    owners_.fill(arena);
    // An owner costs as much as it saves a few arrays.
    if (array_count < kManyArrays) return;
    for (size_t i = 1; i < owners_.size(); ++i) {
      owners_[i] = {std::make_shared<std::shared_ptr<ArrayArena>>(arena), arena.get()};
    }
  }

  ArrayArena& arena() const { return *owners_[0]; }
  const std::shared_ptr<ArrayArena>& of(size_t index) const { return owners_[index % owners_.size()]; }

 private:
  static constexpr size_t kManyArrays = 32;

  std::array<std::shared_ptr<ArrayArena>, 4> owners_;
};

}  // namespace frazil::ipc
