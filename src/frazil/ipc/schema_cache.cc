#include "frazil/ipc/schema_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/ipc/read_options.h"
#include "frazil/ipc/read_schema.h"

namespace frazil::ipc {
namespace {

// Of the size and a few words: it spares most comparisons with bytes that are not the same, and decides nothing.
uint64_t mark_of(std::span<const std::byte> bytes) {
  constexpr size_t kWords = 8;
  constexpr uint64_t kOddFactor = 0x9E3779B97F4A7C15;
  uint64_t mark = bytes.size() * kOddFactor;
  if (bytes.size() < sizeof(uint64_t)) return mark;
  const size_t last = bytes.size() - sizeof(uint64_t);
  for (size_t i = 0; i < kWords; ++i) {
    mark = (mark ^ load<uint64_t>(bytes.data() + last * i / (kWords - 1))) * kOddFactor;
    mark ^= mark >> 32;
  }
  return mark;
}

bool same(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace

SchemaCache& shared_schema_cache() {
  // Lives for ever: what opens inputs while the program ends may use it.
  static SchemaCache& cache = *new SchemaCache;
  return cache;
}

std::shared_ptr<const SchemaCache::Kept> SchemaCache::candidate(uint64_t mark, size_t& index) {
  const MutexLock lock(mutex_);
  for (; index < entries_.size(); ++index) {
    Entry& entry = entries_[index];
    if (entry.mark != mark) continue;
    entry.used = ++time_;
    return entry.kept;
  }
  return nullptr;
}

std::shared_ptr<const ReadSchema> SchemaCache::find(std::span<const std::byte> bytes) {
  const uint64_t mark = mark_of(bytes);
  // Compared without the lock, for all threads would wait for it.
  for (size_t index = 0;; ++index) {
    const std::shared_ptr<const Kept> kept = candidate(mark, index);
    if (kept == nullptr) return nullptr;
    if (same(kept->bytes, bytes)) return kept->schema;
  }
}

void SchemaCache::put(std::span<const std::byte> bytes, std::shared_ptr<const ReadSchema> schema) {
  const size_t byte_size = bytes.size() + byte_size_of(*schema);
  if (byte_size > kBytesMax / 2) return;
  const uint64_t mark = mark_of(bytes);
  auto kept = std::make_shared<const Kept>(std::vector(bytes.begin(), bytes.end()), std::move(schema));
  // Those that go are destroyed after the lock.
  std::vector<Entry> gone;
  gone.reserve(kEntriesMax);
  const MutexLock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.mark == mark && same(entry.kept->bytes, bytes)) return;  // two threads missed it at a time
  }
  while (entries_.size() == kEntriesMax || byte_size_ > kBytesMax - byte_size) {
    const auto oldest = std::ranges::min_element(entries_, {}, &Entry::used);
    byte_size_ -= oldest->byte_size;
    gone.push_back(std::move(*oldest));
    *oldest = std::move(entries_.back());
    entries_.pop_back();
  }
  entries_.push_back({mark, ++time_, byte_size, std::move(kept)});
  byte_size_ += byte_size;
}

size_t SchemaCache::entry_count() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

size_t SchemaCache::byte_size() const {
  const MutexLock lock(mutex_);
  return byte_size_;
}

}  // namespace frazil::ipc
