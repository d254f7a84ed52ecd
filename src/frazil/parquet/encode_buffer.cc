#include "frazil/parquet/encode_buffer.h"

#include <algorithm>
#include <utility>

namespace frazil::parquet {

void EncodeBuffer::grow(size_t count) {
  constexpr size_t kFirstBytes = 256;
  size_t size = std::max({kFirstBytes, size_ + count, 2 * size_});
  if (size_ + count <= expected_ && size > expected_ / 4) size = expected_;
  MutableBuffer larger = pool_->allocate(size);
  larger.set_size(larger.capacity());
  if (size_ != 0) std::memcpy(larger.data(), block_.data(), size_);
  block_ = std::move(larger);
}

void EncodeBuffer::shrink() {
  constexpr size_t kLargeBytes = size_t{16} << 10;
  if (block_.size() <= kLargeBytes || size_ > block_.size() / 4 * 3) return;
  if (size_ == 0) return release();
  MutableBuffer smaller = pool_->allocate(size_);
  smaller.set_size(smaller.capacity());
  std::memcpy(smaller.data(), block_.data(), size_);
  block_ = std::move(smaller);
}

}  // namespace frazil::parquet
