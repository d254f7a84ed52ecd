#include "frazil/write/deferred_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace frazil::write {

DeferredFile::~DeferredFile() {
  abort();
}

void DeferredFile::write(std::span<const std::byte> bytes) {
  bytes_written_ += bytes.size();
  if (file_ == nullptr && memory_bytes_ + bytes.size() > shared_.file_bytes_max && shared_.open < shared_.open_max) {
    open();
  }
  if (file_ != nullptr) {
    file_->write(bytes);
  } else {
    keep(bytes);
  }
}

// Blocks double up to 1 MiB, so that a small file takes little and a large one few blocks. What counts is what they take.
void DeferredFile::keep(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
      const size_t size = std::clamp<size_t>(std::max(bytes.size(), memory_bytes_), 448, size_t{1} << 20);
      blocks_.push_back(shared_.pool->allocate(size));
      blocks_.back().set_size(0);
      memory_bytes_ += MemoryPool::block_bytes(size);
      shared_.bytes += MemoryPool::block_bytes(size);
    }
    MutableBuffer& block = blocks_.back();
    const size_t size = block.size();
    const size_t part = std::min(bytes.size(), block.capacity() - size);
    block.set_size(size + part);
    std::memcpy(block.data() + size, bytes.data(), part);
    bytes = bytes.subspan(part);
  }
}

void DeferredFile::open() {
  if (file_ != nullptr) return;
  file_ = shared_.files->open_output(path_);
  ++shared_.open;
  for (MutableBuffer& block : blocks_) file_->write(block.span());
  drop_memory();
}

void DeferredFile::publish(PublishOptions options) {
  open();
  file_->publish(options);
  drop_file();
}

void DeferredFile::abort() noexcept {
  drop_memory();
  if (file_ != nullptr) {
    file_->abort();
    drop_file();
  }
}

void DeferredFile::drop_memory() noexcept {
  shared_.bytes -= memory_bytes_;
  memory_bytes_ = 0;
  blocks_.clear();
}

void DeferredFile::drop_file() noexcept {
  if (file_ == nullptr) return;
  file_ = nullptr;
  --shared_.open;
}

}  // namespace frazil::write
