#include "frazil/parquet/encode_buffer.h"

#include <algorithm>
#include <utility>

namespace frazil::parquet {

void EncodeBuffer::grow(size_t count) {
  constexpr size_t kFirstBytes = 256;
  MutableBuffer larger = pool_->allocate(std::max({kFirstBytes, size_ + count, 2 * size_}));
  larger.set_size(larger.capacity());
  if (size_ != 0) std::memcpy(larger.data(), block_.data(), size_);
  block_ = std::move(larger);
}

}  // namespace frazil::parquet
