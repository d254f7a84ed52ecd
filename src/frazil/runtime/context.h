// Context: what an engine works with. It is passed by reference instead of anything global, so that several can live in
// one process. File systems are io's and come separately.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "frazil/base/mutex.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/runtime/clock.h"
#include "frazil/runtime/random.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil {

struct ContextOptions {
  // Caps everything that runs in the context.
  size_t memory_budget_bytes = size_t{256} << 20;
  // 0: as many as the process may use processors.
  size_t threads = 0;
  // Borrowed, and outlive the context; null: the system's.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// Thread-safe. Outlives all that was made with it, except Buffers: blocks of its pool stay valid.
class Context {
 public:
  using Options = ContextOptions;

  explicit Context(ContextOptions options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  MemoryPool& memory_pool() noexcept { return memory_pool_; }
  // Starts the threads at the first call: reading metadata alone starts none. In a forked child it starts new ones.
  ThreadPool& thread_pool() EXCLUDES(mutex_);
  // How many threads thread_pool() has or will have.
  size_t thread_count() const noexcept { return thread_count_; }
  Clock& clock() noexcept { return *clock_; }
  Random& random() noexcept { return *random_; }

 private:
  const size_t thread_count_;
  SystemClock system_clock_;
  SystemRandom system_random_;
  Clock* const clock_;
  Random* const random_;
  MemoryPool memory_pool_;

  Mutex mutex_;
  std::unique_ptr<ThreadPool> thread_pool_ GUARDED_BY(mutex_);  // last: its tasks use all of the above
};

}  // namespace frazil
