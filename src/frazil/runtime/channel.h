// Channel: a queue between threads that is bounded by bytes. Any number of threads push and pop.
//
//   push blocks while  queued bytes + its bytes > limit  and something is queued;
//   so an item larger than the limit passes alone: a limit slows, it never blocks for ever.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include "frazil/base/mutex.h"

namespace frazil {

// The part of Channel that does not depend on the type: byte count, waiting, the end.
class ChannelGate {
 public:
  ChannelGate(const ChannelGate&) = delete;
  ChannelGate& operator=(const ChannelGate&) = delete;

  // No item enters any more; those inside can still be popped. The first close counts, later ones do nothing.
  void close() EXCLUDES(mutex_) { close(nullptr); }
  // The same, and after the last item one pop throws `error`, every later one CancelledError: an exception object is
  // never given to two threads.
  void close(std::exception_ptr error) EXCLUDES(mutex_);
  bool closed() const EXCLUDES(mutex_);

  size_t byte_limit() const noexcept { return byte_limit_; }
  size_t queued_bytes() const EXCLUDES(mutex_);

 protected:
  explicit ChannelGate(size_t byte_limit) noexcept : byte_limit_(byte_limit) {}
  ~ChannelGate() = default;

  bool has_room(size_t bytes) const REQUIRES(mutex_) {
    return item_count_ == 0 || (queued_bytes_ <= byte_limit_ && bytes <= byte_limit_ - queued_bytes_);
  }
  // Both may release the mutex meanwhile and hold it when they return or throw. Throw CancelledError on a stop.
  bool wait_for_room(size_t bytes, const std::stop_token& stop) REQUIRES(mutex_);  // false: closed
  bool wait_for_item(const std::stop_token& stop) REQUIRES(mutex_);  // false: closed and empty; throws its error
  void count_in(size_t bytes) REQUIRES(mutex_);
  void count_out(size_t bytes) REQUIRES(mutex_);
  void count_all_out() REQUIRES(mutex_);
  // At the end of a closed and empty channel: throws the error of close(), if there is one.
  void throw_error() REQUIRES(mutex_);

  mutable Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  size_t item_count_ GUARDED_BY(mutex_) = 0;

 private:
  struct Wake;

  const size_t byte_limit_;
  CondVar room_;
  CondVar item_;
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool failed_ GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ GUARDED_BY(mutex_);
};

// T is movable. Nobody may be blocked in a channel that is destroyed.
template <typename T>
class Channel : public ChannelGate {
 public:
  explicit Channel(size_t byte_limit) noexcept : ChannelGate(byte_limit) {}

  // Waits for room. False if the channel is closed; the item is dropped. Throws CancelledError on a stop.
  [[nodiscard]] bool push(T item, size_t bytes, const std::stop_token& stop = {}) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!wait_for_room(bytes, stop)) return false;
    items_.push_back(Item{std::move(item), bytes});
    count_in(bytes);
    return true;
  }

  // Does not wait. False if there is no room or the channel is closed; `item` is then untouched.
  [[nodiscard]] bool try_push(T& item, size_t bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (closed_ || !has_room(bytes)) return false;
    items_.push_back(Item{std::move(item), bytes});
    count_in(bytes);
    return true;
  }

  // Waits for an item, in the order of the pushes. Nothing at the end of a closed channel; throws the error that it was
  // closed with, CancelledError on a stop.
  std::optional<T> pop(const std::stop_token& stop = {}) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!wait_for_item(stop)) return std::nullopt;
    return take();
  }

  // Does not wait. Nothing if no item is there now; throws as pop() does at the end.
  std::optional<T> try_pop() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (item_count_ != 0) return take();
    if (closed_) throw_error();
    return std::nullopt;
  }

  // close(), and drops what is queued.
  void abort() EXCLUDES(mutex_) {
    close();
    std::deque<Item> dropped;  // destroyed without the lock: an item may be the last owner of anything
    MutexLock lock(mutex_);
    dropped.swap(items_);
    count_all_out();
    lock.unlock();
  }

 private:
  struct Item {
    T value;
    size_t bytes;
  };

  std::optional<T> take() REQUIRES(mutex_) {
    std::optional<T> value(std::move(items_.front().value));
    size_t bytes = items_.front().bytes;
    items_.pop_front();
    count_out(bytes);
    return value;
  }

  std::deque<Item> items_ GUARDED_BY(mutex_);
};

}  // namespace frazil
