#include "frazil/parquet/chunk_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace frazil::parquet {

namespace {

constexpr size_t kFirstBytes = 1 << 10;
constexpr size_t kMostBytes = 1 << 20;

}  // namespace

void ChunkBytes::freeze_block() {
  if (used_ == 0) return;
  block_.set_size(used_);
  full_.push_back(std::move(block_).freeze());
  block_ = {};
  used_ = 0;
}

void ChunkBytes::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (used_ == block_.size()) {
      freeze_block();
      const size_t size = std::max(std::clamp(size_, kFirstBytes, kMostBytes), std::min(bytes.size(), kMostBytes));
      block_ = pool_->allocate(size);
      block_.set_size(block_.capacity());
      memory_bytes_ += block_.capacity();
    }
    const size_t count = std::min(bytes.size(), block_.size() - used_);
    std::memcpy(block_.data() + used_, bytes.data(), count);
    used_ += count;
    size_ += count;
    bytes = bytes.subspan(count);
  }
}

void ChunkBytes::finish(std::vector<Buffer>& out) {
  freeze_block();
  out.insert(out.end(), std::make_move_iterator(full_.begin()), std::make_move_iterator(full_.end()));
  full_.clear();
  size_ = 0;
  memory_bytes_ = 0;
}

}  // namespace frazil::parquet
