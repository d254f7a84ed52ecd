#include "frazil/ipc/piece_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/memory/poison.h"

namespace frazil::ipc {

void PieceQueue::append(Buffer bytes) {
  if (bytes.empty()) return;
  flush_tail();
  queued_ += bytes.size();
  queue_.push_back(std::move(bytes));
}

void PieceQueue::append(std::span<const std::byte> bytes, size_t missing) {
  if (bytes.empty()) return;
  // A piece that began is ended where it will be taken from; the rest needs no such care.
  const size_t first = size() > 0 ? std::min(missing, bytes.size()) : 0;
  if (first > 0) {
    gather(missing);
    const size_t begin = tail_.size();
    if (tail_.capacity() - begin < first)
      reserve_tail(begin + std::max(first, std::min(missing, std::max(begin, kFirstBlockBytes))));
    tail_.set_size(begin + first);
    std::memcpy(tail_.data() + begin, bytes.data(), first);
    bytes = bytes.subspan(first);
    if (bytes.empty()) return;
  }
  const size_t begin = tail_.size();
  if (first > 0 || (begin == 0 && bytes.size() >= missing)) {
    flush_tail();
    append(pool_->copy(bytes));
    return;
  }
  if (tail_.capacity() - begin < bytes.size()) {
    reserve_tail(begin + std::max(bytes.size(), std::max(begin, std::min(missing, kFirstBlockBytes))));
  }
  tail_.set_size(begin + bytes.size());
  std::memcpy(tail_.data() + begin, bytes.data(), bytes.size());
}

std::span<std::byte> PieceQueue::room(size_t missing, size_t read_ahead) {
  gather(missing);
  const size_t begin = tail_.size();
  const size_t wanted = missing >= read_ahead ? std::min(missing, std::max(begin, kFirstBlockBytes)) : read_ahead;
  if (tail_.capacity() == begin || (missing < read_ahead && tail_.capacity() - begin < missing)) {
    reserve_tail(begin + wanted);
  }
  const std::span<std::byte> room(tail_.data() + begin,
                                  std::min(tail_.capacity() - begin, std::max(missing, read_ahead)));
  unpoison(room.data(), room.size());  // which lies beyond what is there until filled()
  return room;
}

void PieceQueue::filled(size_t bytes) {
  tail_.set_size(tail_.size() + bytes);
}

size_t PieceQueue::peek(std::span<std::byte> out) const {
  size_t done = 0;
  for (size_t i = head_; i < queue_.size() && done < out.size(); ++i) {
    const size_t count = std::min(out.size() - done, queue_[i].size());
    std::memcpy(out.data() + done, queue_[i].data(), count);
    done += count;
  }
  const size_t count = std::min(out.size() - done, tail_.size());
  if (count > 0) std::memcpy(out.data() + done, tail_.data(), count);
  return done + count;
}

Buffer PieceQueue::take(size_t bytes) {
  if (bytes == 0) return {};
  if (bytes > queued_) flush_tail();
  queued_ -= bytes;
  Buffer& front = queue_[head_];
  if (front.size() > bytes) {
    Buffer piece = front.slice(0, bytes);
    front = front.slice(bytes);
    return piece;
  }
  if (front.size() == bytes) {
    Buffer piece = std::move(front);
    ++head_;
    return piece;
  }
  MutableBuffer whole = pool_->allocate(bytes);
  for (size_t done = 0; done < bytes;) {
    Buffer& next = queue_[head_];
    const size_t count = std::min(bytes - done, next.size());
    std::memcpy(whole.data() + done, next.data(), count);
    done += count;
    next = next.slice(count);
    if (next.empty()) {
      next = Buffer();
      ++head_;
    }
  }
  return std::move(whole).freeze();
}

void PieceQueue::drop(size_t bytes) {
  if (bytes > queued_) flush_tail();
  queued_ -= bytes;
  while (bytes > 0) {
    Buffer& next = queue_[head_];
    const size_t count = std::min(bytes, next.size());
    bytes -= count;
    next = next.slice(count);
    if (next.empty()) {
      next = Buffer();
      ++head_;
    }
  }
}

void PieceQueue::reserve_tail(size_t capacity) {
  MutableBuffer larger = pool_->allocate(capacity);
  const size_t size = tail_.size();
  larger.set_size(size);
  if (size > 0) std::memcpy(larger.data(), tail_.data(), size);
  tail_ = std::move(larger);
}

void PieceQueue::gather(size_t missing) {
  if (queued_ == 0 || missing == 0) return;
  const size_t size = queued_ + tail_.size();
  MutableBuffer joined = pool_->allocate(size + std::min(missing, std::max(size, kFirstBlockBytes)));
  joined.set_size(size);
  peek(joined.span());
  queue_.clear();
  head_ = 0;
  queued_ = 0;
  tail_ = std::move(joined);
}

void PieceQueue::flush_tail() {
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  }
  if (tail_.size() == 0) return;
  queued_ += tail_.size();
  // A block that is half empty would be kept by all that is cut from it.
  if (tail_.size() < tail_.capacity() / 2) {
    queue_.push_back(pool_->copy(tail_.span()));
    tail_.set_size(0);
  } else {
    queue_.push_back(std::move(tail_).freeze());
  }
}

}  // namespace frazil::ipc
