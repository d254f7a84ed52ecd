// EncodeWorkers: what a thread needs while it encodes columns, handed from task to task.
#pragma once

#include <memory>
#include <vector>

#include "frazil/base/mutex.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/shred.h"
#include "frazil/parquet/writer_options.h"

namespace frazil::write {

struct EncodeWorker {
  EncodeWorker(const parquet::WriteSchema& schema, MemoryPool& pool) : shredder(schema, pool), scratch(pool) {}
  parquet::Shredder shredder;
  parquet::EncoderScratch scratch;
};

// Thread-safe. As many workers are made as are used at once.
class EncodeWorkers {
 public:
  // The pool outlives it.
  EncodeWorkers(parquet::WritePlanPtr plan, MemoryPool& pool) : plan_(std::move(plan)), pool_(pool) {}

  // Calls work(worker) with one that nobody else has meanwhile.
  template <typename Work>
  void with_worker(const Work& work) EXCLUDES(mutex_) {
    std::unique_ptr<EncodeWorker> worker;
    {
      const MutexLock lock(mutex_);
      if (!idle_.empty()) {
        worker = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (worker == nullptr) worker = std::make_unique<EncodeWorker>(plan_->schema(), pool_);
    work(*worker);  // after an exception nobody needs the worker
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  const parquet::WritePlanPtr plan_;
  MemoryPool& pool_;
  Mutex mutex_;
  std::vector<std::unique_ptr<EncodeWorker>> idle_ GUARDED_BY(mutex_);
};

}  // namespace frazil::write
