#include "frazil/memory/memory_pool.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/error.h"
#include "frazil/memory/pool_family.h"
#include "frazil/memory/size_class.h"

namespace frazil {

MutableBuffer& MutableBuffer::operator=(MutableBuffer&& other) noexcept {
  if (this == &other) return *this;
  if (owner_ != nullptr) owner_->release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  owner_ = std::exchange(other.owner_, nullptr);
  return *this;
}

Buffer MutableBuffer::freeze() && {
  if (owner_ == nullptr) return {};
  size_t end = (size_ + kBlockPadding - 1) / kBlockPadding * kBlockPadding;
  std::memset(data_ + size_, 0, end - size_);
  capacity_ = 0;
  return Buffer::adopt(std::exchange(data_, nullptr), std::exchange(size_, 0), std::exchange(owner_, nullptr));
}

MemoryPool::MemoryPool(Options options)
    : state_(PoolFamily::open(options, options.parent == nullptr ? nullptr : options.parent->state_)) {}

MemoryPool::MemoryPool(Reservation& reservation) : state_(reservation.pool().state_), reservation_(&reservation) {}

MemoryPool::~MemoryPool() {
  if (reservation_ == nullptr) state_->family->close(*state_);
}

size_t* MemoryPool::promise_for(size_t bytes) noexcept {
  if (reservation_ == nullptr) return nullptr;
  asked_bytes_ += std::min(bytes, SIZE_MAX - asked_bytes_);
  return &reservation_->available_;
}

size_t MemoryPool::block_bytes(size_t size) noexcept {
  return size > kClassBytesMax ? SIZE_MAX : class_block_bytes(size_class_of(size));
}

MutableBuffer MemoryPool::allocate(size_t size) {
  return PoolState::wrap(state_->family->allocate(*state_, size, promise_for(block_bytes(size))), size);
}

MutableBuffer MemoryPool::allocate_zeroed(size_t size) {
  Block& block = state_->family->allocate(*state_, size, promise_for(block_bytes(size)));
  MutableBuffer buffer = PoolState::wrap(block, size);
  if (!block.is_zero) std::memset(buffer.data(), 0, size);
  return buffer;
}

Buffer MemoryPool::copy(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  MutableBuffer buffer = allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return std::move(buffer).freeze();
}

std::optional<Reservation> MemoryPool::try_reserve(size_t bytes) {
  if (!state_->family->try_promise(*state_, bytes)) return std::nullopt;
  return Reservation(owner(), bytes);
}

Reservation MemoryPool::reserve(size_t bytes) {
  state_->family->promise(*state_, bytes);
  return Reservation(owner(), bytes);
}

void MemoryPool::charge(size_t bytes) {
  state_->family->charge(*state_, bytes, promise_for(bytes));
}
void MemoryPool::discharge(size_t bytes) noexcept {
  state_->family->discharge(*state_, bytes, reservation_ == nullptr ? nullptr : &reservation_->available_);
}
void MemoryPool::trim() noexcept {
  state_->family->trim(*state_);
}
size_t MemoryPool::budget_bytes() const noexcept {
  return state_->budget;
}
size_t MemoryPool::available_bytes() const noexcept {
  return state_->family->available(*state_);
}
MemoryPoolStats MemoryPool::stats() const noexcept {
  return state_->family->stats(*state_);
}

void MemoryPool::on_release(std::function<void()> callback) {
  state_->family->set_on_release(*state_, std::move(callback));
}

Reservation::Reservation(Reservation&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), available_(std::exchange(other.available_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  shrink(0);
  pool_ = std::exchange(other.pool_, nullptr);
  available_ = std::exchange(other.available_, 0);
  return *this;
}

Reservation::~Reservation() {
  shrink(0);
}

MutableBuffer Reservation::allocate(size_t size) {
  if (pool_ == nullptr) throw_error(ErrorKind::kInternal, "allocation of {} bytes from a reservation of no pool", size);
  return PoolState::wrap(pool_->state_->family->allocate(*pool_->state_, size, &available_), size);
}

bool Reservation::try_grow(size_t bytes) {
  if (pool_ == nullptr || !pool_->state_->family->try_promise(*pool_->state_, bytes)) return false;
  available_ += bytes;
  return true;
}

void Reservation::shrink(size_t bytes) noexcept {
  if (available_ <= bytes) return;
  pool_->state_->family->give_back_promise(*pool_->state_, available_ - bytes);
  available_ = bytes;
}

}  // namespace frazil
