#include "frazil/columnar/bytes_memo.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <xxhash.h>

#include "frazil/base/error.h"

namespace frazil {

namespace {

constexpr size_t kFirstSlots = 64;

// A larger block with the first `used` bytes of `block`.
MutableBuffer enlarged(const MutableBuffer& block, size_t used, size_t size, MemoryPool& pool) {
  MutableBuffer larger = pool.allocate(size);
  larger.set_size(larger.capacity());
  if (used != 0) std::memcpy(larger.data(), block.data(), used);
  return larger;
}

}  // namespace

BytesMemo::BytesMemo(MemoryPool& pool, uint64_t seed) : pool_(&pool), seed_(seed) {
  grow_slots();
}

void BytesMemo::hash_long(std::string_view value, Key& key) {
  const XXH128_hash_t hash = XXH3_128bits(value.data(), value.size());
  key.first = hash.low64;
  key.last = hash.high64;
}

void BytesMemo::grow_slots() {
  const size_t count = slots_.size() == 0 ? kFirstSlots : 2 * (mask_ + 1);
  MutableBuffer larger = pool_->allocate(count * sizeof(Slot));
  larger.set_size(count * sizeof(Slot));
  std::memset(larger.data(), 0xFF, larger.size());  // number: kNone
  auto* target = larger.as<Slot>();
  const size_t old_count = slots_.size() / sizeof(Slot);
  mask_ = count - 1;
  for (size_t i = 0; i < old_count; ++i) {
    const Slot& slot = slots()[i];
    if (slot.number == kNone) continue;
    size_t place = home(slot.key);
    while (target[place].number != kNone) place = (place + 1) & mask_;
    target[place] = slot;
  }
  slots_ = std::move(larger);
}

uint32_t BytesMemo::add(std::string_view value, const Key& key, size_t slot) {
  if (size_ >= INT32_MAX || value.size() > INT32_MAX - data_size_) {
    throw_error(ErrorKind::kUnsupported, "more than 2^31 - 1 distinct values, or bytes of them");
  }
  if (offsets_.size() < (size_ + size_t{2}) * sizeof(int32_t)) {
    offsets_ = enlarged(offsets_, size_ == 0 ? 0 : (size_ + size_t{1}) * sizeof(int32_t),
                        std::max(size_t{256}, (size_ + size_t{2}) * 2 * sizeof(int32_t)), *pool_);
    offsets_.as<int32_t>()[0] = 0;
  }
  if (data_.size() < data_size_ + value.size()) {
    data_ = enlarged(data_, data_size_, std::max(size_t{512}, 2 * (data_size_ + value.size())), *pool_);
  }
  const bool is_crowded = 2 * (size_ + size_t{1}) > mask_ + 1;
  if (is_crowded) {
    grow_slots();
    slot = home(key);
    while (slots()[slot].number != kNone) slot = (slot + 1) & mask_;
  }
  if (!value.empty()) std::memcpy(data_.data() + data_size_, value.data(), value.size());
  data_size_ += value.size();
  slots_.as<Slot>()[slot] = {key, size_};
  offsets_.as<int32_t>()[size_ + 1] = static_cast<int32_t>(data_size_);
  return size_++;
}

ArrayPtr BytesMemo::values(const DataTypePtr& type) const {
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = size_;
  array->null_count = 0;
  if (size_ != 0) array->buffers[1] = pool_->copy({offsets_.data(), (size_ + size_t{1}) * sizeof(int32_t)});
  if (data_size_ != 0) array->buffers[2] = pool_->copy({data_.data(), data_size_});
  return array;
}

void BytesMemo::clear() {
  std::memset(slots_.data(), 0xFF, slots_.size());
  size_ = 0;
  data_size_ = 0;
}

}  // namespace frazil
