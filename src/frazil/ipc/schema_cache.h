// Schemas decoded before, found by their bytes: services open thousands of streams and files a second that differ in their rows
// alone, and reading names and types of hundreds of columns takes longer than the batch behind them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "frazil/base/mutex.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

struct ReadSchema;

// A property of whoever opens many inputs, given to readers in their options. Thread-safe. Keeps the last kEntries schemas and
// their metadata, of kMaxBytes at most each.
class SchemaCache {
 public:
  static constexpr size_t kEntries = 16;
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // `pool` outlives it.
  explicit SchemaCache(MemoryPool& pool) : pool_(&pool) {}

  // What was put for the same bytes, all of which are compared; nullptr if there is none.
  std::shared_ptr<const ReadSchema> find(std::span<const std::byte> bytes);
  void put(std::span<const std::byte> bytes, std::shared_ptr<const ReadSchema> schema);

 private:
  struct Entry {
    Buffer bytes;
    std::shared_ptr<const ReadSchema> schema;
  };

  MemoryPool* const pool_;
  Mutex mutex_;
  std::array<Entry, kEntries> entries_ GUARDED_BY(mutex_);
  size_t next_ GUARDED_BY(mutex_) = 0;
};

}  // namespace frazil::ipc
