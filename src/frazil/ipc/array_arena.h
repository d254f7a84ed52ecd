// The arrays of a batch, made in one block and ended together.
#pragma once

#include <cstddef>
#include <new>

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
  // Sets `out` to bytes of the body, which the arena keeps.
  void slice(const std::byte* data, size_t size, Buffer& out) { out = Buffer::adopt(data, size, body_.owner()); }
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

}  // namespace frazil::ipc
