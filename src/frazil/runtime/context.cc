#include "frazil/runtime/context.h"

namespace frazil {

Context::Context(ContextOptions options)
    : thread_count_(options.threads != 0 ? options.threads : ThreadPool::default_thread_count()),
      clock_(options.clock != nullptr ? options.clock : &system_clock_),
      random_(options.random != nullptr ? options.random : &system_random_),
      memory_pool_({.budget_bytes = options.memory_budget_bytes}) {}

Context::~Context() = default;

ThreadPool& Context::thread_pool() {
  MutexLock lock(mutex_);
  if (thread_pool_ == nullptr || thread_pool_->forked()) thread_pool_ = std::make_unique<ThreadPool>(thread_count_);
  return *thread_pool_;
}

}  // namespace frazil
