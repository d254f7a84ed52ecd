#include "frazil/runtime/channel.h"

#include "frazil/base/error.h"

namespace frazil {

// Called when a stop is requested, on the thread that requests it.
struct ChannelGate::Wake {
  ChannelGate* gate;
  void operator()() const noexcept {
    MutexLock lock(gate->mutex_);  // so that no waiter is between its look at the token and its sleep
    gate->room_.notify_all();
    gate->item_.notify_all();
  }
};

void ChannelGate::close(std::exception_ptr error) {
  MutexLock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  failed_ = error != nullptr;
  error_ = std::move(error);
  room_.notify_all();
  item_.notify_all();
}

bool ChannelGate::closed() const {
  MutexLock lock(mutex_);
  return closed_;
}

size_t ChannelGate::queued_bytes() const {
  MutexLock lock(mutex_);
  return queued_bytes_;
}

// The stop callback takes the mutex, at once if the stop has come, and its destructor waits for it: it is made and
// destroyed without the mutex, so the condition is looked at again after both.
bool ChannelGate::wait_for_room(size_t bytes, const std::stop_token& stop) {
  while (true) {
    if (stop.stop_requested()) throw CancelledError();
    if (closed_) return false;
    if (has_room(bytes)) return true;
    if (!stop.stop_possible()) {
      room_.wait(mutex_);
      continue;
    }
    mutex_.unlock();
    {
      std::stop_callback wake(stop, Wake{this});
      mutex_.lock();
      while (!closed_ && !has_room(bytes) && !stop.stop_requested()) room_.wait(mutex_);
      mutex_.unlock();
    }
    mutex_.lock();
  }
}

bool ChannelGate::wait_for_item(const std::stop_token& stop) {
  while (true) {
    if (stop.stop_requested()) {
      item_.notify_one();  // the item that woke this thread, if one did, is for another one now
      throw CancelledError();
    }
    if (item_count_ > 0) return true;
    if (closed_) {
      throw_error();
      return false;
    }
    if (!stop.stop_possible()) {
      item_.wait(mutex_);
      continue;
    }
    mutex_.unlock();
    {
      std::stop_callback wake(stop, Wake{this});
      mutex_.lock();
      while (!closed_ && item_count_ == 0 && !stop.stop_requested()) item_.wait(mutex_);
      mutex_.unlock();
    }
    mutex_.lock();
  }
}

void ChannelGate::count_in(size_t bytes) {
  ++item_count_;
  queued_bytes_ += bytes;
  item_.notify_one();
}

// All producers look: what left may be the room of several.
void ChannelGate::count_out(size_t bytes) {
  --item_count_;
  queued_bytes_ -= bytes;
  room_.notify_all();
}

void ChannelGate::count_all_out() {
  item_count_ = 0;
  queued_bytes_ = 0;
  room_.notify_all();
}

void ChannelGate::throw_error() {
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  if (failed_) throw CancelledError();
}

}  // namespace frazil
