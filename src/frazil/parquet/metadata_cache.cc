#include "frazil/parquet/metadata_cache.h"

#include <utility>

#include "frazil/base/message.h"

namespace frazil::parquet {

std::shared_ptr<const FileMetadata> MetadataCache::read(const InputFile& file, std::string_view version) {
  // Lengths in front keep "a" + "bc" and "ab" + "c" apart.
  std::string key = message("{}:{}:{}:{}", file.size(), version.size(), version, file.path());
  {
    MutexLock lock(mutex_);
    if (auto found = places_.find(key); found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      ++hits_;
      return found->second->metadata;
    }
  }
  // Read without the lock: two threads may read the same footer, and the second one's is dropped.
  std::shared_ptr<const FileMetadata> metadata = read_metadata(file, pool_);
  if (metadata->memory_bytes() > bytes_max_) return metadata;
  MutexLock lock(mutex_);
  if (auto found = places_.find(key); found != places_.end()) return found->second->metadata;
  entries_.push_front({std::move(key), metadata});
  places_.emplace(entries_.front().key, entries_.begin());
  held_bytes_ += metadata->memory_bytes();
  evict();
  return metadata;
}

void MetadataCache::evict() {
  while (held_bytes_ > bytes_max_) {
    Entry& last = entries_.back();
    held_bytes_ -= last.metadata->memory_bytes();
    places_.erase(last.key);
    entries_.pop_back();
  }
}

size_t MetadataCache::held_bytes() const {
  MutexLock lock(mutex_);
  return held_bytes_;
}

uint64_t MetadataCache::hits() const {
  MutexLock lock(mutex_);
  return hits_;
}

void MetadataCache::clear() {
  MutexLock lock(mutex_);
  places_.clear();
  entries_.clear();
  held_bytes_ = 0;
}

}  // namespace frazil::parquet
