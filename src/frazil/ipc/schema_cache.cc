#include "frazil/ipc/schema_cache.h"

#include <cstring>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/read_schema.h"
#include "frazil/ipc/schema_message.h"

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

std::shared_ptr<const ReadSchema> read_schema_of(const FlatTable& schema, SchemaCache* cache) {
  if (cache == nullptr) return ReadSchema::make(SchemaMessage(schema, schema.bytes().size()));
  // A footer's other tables differ from file to file.
  const FlatTable alone = schema.alone();
  std::shared_ptr<const ReadSchema> result = cache->find(alone.bytes());
  if (result != nullptr) return result;
  try {
    result = ReadSchema::make(SchemaMessage(alone, alone.bytes().size()));
  } catch (const Error&) {
    // Either it is broken, or reaches for bytes before itself, which the cache would not compare.
    return ReadSchema::make(SchemaMessage(schema, schema.bytes().size()));
  }
  cache->put(alone.bytes(), result);
  return result;
}

}  // namespace frazil::ipc
