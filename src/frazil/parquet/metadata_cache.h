// Footers of files that were read before, by path, size and version. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "frazil/base/mutex.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

class MetadataCache {
 public:
  // Keeps at most `bytes_max` of footers, the least recently used go first; one that is larger is not kept. Their
  // memory is the pool's, which outlives the cache and all that it gave out.
  MetadataCache(MemoryPool& pool, size_t bytes_max) : pool_(pool), bytes_max_(bytes_max) {}

  // The footer of `file`, read if it is not there. `version` is the ETag or modification time that the caller knows: a
  // file that was replaced by one of the same size is another one only by it. Throws as read_metadata.
  std::shared_ptr<const FileMetadata> read(const InputFile& file, std::string_view version);

  size_t held_bytes() const EXCLUDES(mutex_);
  uint64_t hits() const EXCLUDES(mutex_);
  void clear() EXCLUDES(mutex_);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const FileMetadata> metadata;
  };

  void evict() REQUIRES(mutex_);

  MemoryPool& pool_;
  const size_t bytes_max_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ GUARDED_BY(mutex_);  // the most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places_ GUARDED_BY(mutex_);  // keys are the entries'
  size_t held_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t hits_ GUARDED_BY(mutex_) = 0;
};

}  // namespace frazil::parquet
