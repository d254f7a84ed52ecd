// ThreadPool: a fixed number of threads that run tasks in the order in which they came, higher priorities first.
//
// Most code does not submit tasks itself but runs a TaskGroup, which collects errors and can be waited for inside of a
// task. A task may block (a read, a full Channel) but then holds a thread: what it waits for must not sit behind it in
// the queue.
//
// After fork() the child has the pool but none of its threads. There submit() throws, and the destructor ends nothing
// and waits for nobody; Context makes a new pool in a child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <pthread.h>
#include <sys/types.h>

#include "frazil/base/mutex.h"
#include "frazil/runtime/task.h"

namespace frazil {

// Each is its own first-in-first-out queue; a queue is looked at when those above it are empty.
enum class TaskPriority : uint8_t { kHigh, kNormal, kLow };

class ThreadPool {
 public:
  // Starts the threads; they block all signals, which stay with the program's own threads. Throws
  // Error(kInvalidArgument) if `thread_count` is 0, Error(kIo) if the system gives no thread.
  explicit ThreadPool(size_t thread_count);
  // Runs every task that was submitted, also by those tasks, then ends the threads. Not from one of its own tasks.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The processors that this process may use, at least 1.
  static size_t default_thread_count() noexcept;

  size_t thread_count() const noexcept { return thread_count_; }

  // From any thread, also from a task. Each task is run exactly once. A task that throws ends the program: TaskGroup
  // catches. Throws Error(kInternal) in a forked child.
  void submit(Task task, TaskPriority priority = TaskPriority::kNormal);

  // Takes the first task of the queue and runs it on the calling thread; false if there is none.
  bool run_one();

  // Tasks that no thread has taken yet.
  size_t queued_count() const;

  // True in the child of a fork() that came after the constructor.
  bool forked() const noexcept;

 private:
  class Queue;

  static void* run_thread(void* queue) noexcept;
  void end_threads() noexcept;

  const size_t thread_count_;
  const pid_t process_;
  std::vector<pthread_t> threads_;  // written by the constructor and the destructor only
  std::unique_ptr<Queue> queue_;
};

}  // namespace frazil
