// Buffer: an immutable slice of memory that keeps its owner alive. Whatever the owner is (pool memory, a mapped file,
// an array of another library, a std::string), everything above sees one type. Below it, code borrows std::span.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace frazil {

// What a Buffer keeps alive; counted by an intrusive reference count. Thread-safe.
class BufferOwner {
 public:
  BufferOwner() = default;
  BufferOwner(const BufferOwner&) = delete;
  BufferOwner& operator=(const BufferOwner&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  bool unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~BufferOwner() = default;
  // Called once, when the last reference goes, on whichever thread that is.
  virtual void destroy() noexcept { delete this; }

 private:
  std::atomic<uint32_t> references_{1};
};

// What an empty buffer points to.
alignas(64) inline constexpr std::byte kEmptyBytes[64] = {};

// Reading up to 64 bytes beyond the end is allowed where the memory is a pool's, not where it is foreign.
class Buffer {
 public:
  // An empty buffer: no owner, size 0. data() is a valid non-null pointer to 64 readable zero bytes.
  Buffer() noexcept : data_(kEmptyBytes) {}
  Buffer(const Buffer& other) noexcept : data_(other.data_), size_(other.size_), owner_(other.owner_) {
    if (owner_ != nullptr) owner_->retain();
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, kEmptyBytes)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (owner_ != nullptr) owner_->release();
  }

  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
  }

  // Takes over one reference to `owner` (nullptr: static memory that outlives everything). No `data` is an empty
  // buffer.
  static Buffer adopt(const std::byte* data, size_t size, BufferOwner* owner) noexcept {
    Buffer buffer;
    if (data != nullptr) buffer.data_ = data;
    buffer.size_ = data == nullptr ? 0 : size;
    buffer.owner_ = owner;
    return buffer;
  }
  static Buffer from_string(std::string text);
  // Calls `release` once, when the last slice is gone; it must not throw.
  static Buffer foreign(const void* data, size_t size, std::function<void()> release);
  // Memory of the caller, who keeps it alive longer than every slice. For tests and static tables.
  static Buffer borrow(std::span<const std::byte> data) noexcept;

  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::span<const std::byte> span() const noexcept { return {data_, size_}; }
  std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }
  template <typename T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_);
  }
  const BufferOwner* owner() const noexcept { return owner_; }
  BufferOwner* owner() noexcept { return owner_; }
  // Gives its reference up without releasing it: it was none of its own, but one that many buffers of an owner share,
  // because whoever keeps them holds it for all of them.
  void abandon() noexcept { owner_ = nullptr; }

  // Shares the owner, so that a small slice keeps all of its memory. Throws Error(kInvalidArgument) if the range is
  // outside.
  Buffer slice(size_t offset, size_t length) const;
  Buffer slice(size_t offset) const;

 private:
  const std::byte* data_;
  size_t size_ = 0;
  BufferOwner* owner_ = nullptr;
};

}  // namespace frazil
