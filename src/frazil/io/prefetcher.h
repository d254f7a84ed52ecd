// Prefetcher: reads a list of ranges of one file ahead of the consumer, on a thread pool, within a byte budget.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil {

// One consumer thread. The budget is reservation.available() at construction: blocks that are being read or wait to be
// taken never pass it, except that the range at the head of the line may be larger (its missing bytes are asked from
// the pool). A block that next() gave away is the consumer's; the prefetcher asks the pool for new bytes in its place
// and, when the pool has none, reads nothing ahead until it has: it slows down and never waits for memory.
//
// Never deadlocks for want of threads: what no thread has begun, next() reads itself.
class Prefetcher {
 public:
  // Reads `ranges` in this order. Throws CorruptError if one passes the end of the file. `pool` outlives it. At most
  // `max_reads_ahead` ranges are in work or waiting.
  Prefetcher(std::shared_ptr<const InputFile> file, std::vector<ByteRange> ranges, ThreadPool& threads,
             Reservation reservation, size_t max_reads_ahead = 16);
  // Drops what no thread has begun and waits for the reads that run.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The bytes of the next range; nothing after the last. Throws what reading it threw, or MemoryLimitError if the pool
  // cannot give even this one range; after either, next() goes on with the same range again.
  std::optional<Buffer> next();

 private:
  struct State;
  void read_ahead();

  std::shared_ptr<State> state_;
};

}  // namespace frazil
