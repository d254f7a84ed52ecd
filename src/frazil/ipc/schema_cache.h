// Schemas decoded before, found by their bytes: services open thousands of streams and files a second that differ in their rows
// alone, and reading names and types of hundreds of columns takes longer than the batch behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frazil/base/mutex.h"

namespace frazil::ipc {

struct ReadSchema;

// Thread-safe; the lock is held for a few comparisons of numbers. Keeps the kEntriesMax schemas that were used last, as long as
// they and their metadata take no more than kBytesMax in all, which no pool counts. Everything of a schema is in its bytes (names,
// types, custom metadata, ids of dictionaries), and a hit is decided by comparing all of them (0.2 us for 100 columns): what
// somebody else put there can make others miss and nothing else. Of a miss it costs a copy of the bytes.
class SchemaCache {
 public:
  static constexpr size_t kEntriesMax = 16;
  static constexpr size_t kBytesMax = size_t{4} << 20;

  SchemaCache() = default;

  // What was put for the same bytes; nullptr if there is none, or another thread was just moving it.
  std::shared_ptr<const ReadSchema> find(std::span<const std::byte> bytes);
  // Keeps what was decoded of `bytes`, unless it is kept already or larger than half of kBytesMax.
  void put(std::span<const std::byte> bytes, std::shared_ptr<const ReadSchema> schema);

  // Of what is kept.
  size_t entry_count() const;
  size_t byte_size() const;

 private:
  struct Kept {
    std::vector<std::byte> bytes;
    std::shared_ptr<const ReadSchema> schema;
  };
  struct Entry {
    uint64_t mark;     // of the bytes: equal ones have equal marks
    uint64_t used;     // time of the last use
    size_t byte_size;  // of all that it keeps
    std::shared_ptr<const Kept> kept;
  };

  // The first entry from `index` on with that mark, which `index` then is; nullptr if there is none.
  std::shared_ptr<const Kept> candidate(uint64_t mark, size_t& index);

  mutable Mutex mutex_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  size_t byte_size_ GUARDED_BY(mutex_) = 0;
  uint64_t time_ GUARDED_BY(mutex_) = 0;
};

}  // namespace frazil::ipc
