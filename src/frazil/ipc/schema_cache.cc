#include "frazil/ipc/schema_cache.h"

#include <cstring>
#include <utility>

#include "frazil/ipc/read_schema.h"

namespace frazil::ipc {

std::shared_ptr<const ReadSchema> SchemaCache::find(std::span<const std::byte> bytes) {
  const MutexLock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.schema != nullptr && entry.bytes.size() == bytes.size() &&
        std::memcmp(entry.bytes.data(), bytes.data(), bytes.size()) == 0) {
      return entry.schema;
    }
  }
  return nullptr;
}

void SchemaCache::put(std::span<const std::byte> bytes, std::shared_ptr<const ReadSchema> schema) {
  if (bytes.size() > kMaxBytes) return;
  Entry entry{pool_->copy(bytes), std::move(schema)};
  const MutexLock lock(mutex_);
  // The one that goes is destroyed after the lock.
  std::swap(entries_[next_], entry);
  next_ = (next_ + 1) % kEntries;
}

}  // namespace frazil::ipc
