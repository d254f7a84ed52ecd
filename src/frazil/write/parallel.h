// Work shared by the threads of a pool: tasks, and the same work for each of some indices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "frazil/runtime/task_group.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil::write {

// What is less work than this is done by the calling thread: waking others costs more.
inline constexpr int64_t kParallelRowsMin = 16'384;

// Calls work(0) .. work(count - 1), each once; without threads one after the other. Throws what the smallest index threw,
// so that errors do not depend on threads; what the others threw is dropped.
template <typename Work>
void for_each_index(ThreadPool* threads, size_t count, const Work& work) {
  if (threads == nullptr || threads->thread_count() < 2 || count < 2) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  TaskGroup group(*threads);
  for (size_t t = 1; t < std::min(count, threads->thread_count()); ++t) group.run(run, TaskPriority::kHigh);
  run();
  group.wait();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// Tasks of one step, run by the threads, or without them each at once.
class Tasks {
 public:
  explicit Tasks(ThreadPool* threads) {
    if (threads != nullptr) group_.emplace(*threads);
  }
  void run(Task task) {
    if (group_) {
      group_->run(std::move(task));
    } else {
      task();
    }
  }
  // Throws what the first of them threw that failed.
  void wait() {
    if (group_) group_->wait();
  }

 private:
  std::optional<TaskGroup> group_;
};

}  // namespace frazil::write
