// TaskGroup: tasks that succeed or fail together. The first exception wins, the other tasks are cancelled through the
// stop token, and wait() throws it on the thread that waits.
//
//   TaskGroup group(pool, stop);
//   for (auto& manifest : manifests) group.run([&] { read(manifest, group.stop_token()); });
//   group.wait();                      // runs tasks of this group itself while it waits
//
// wait() never deadlocks for want of threads, inside of tasks too: what no thread has started, the waiting thread runs.
// It runs tasks of its own group only, so nothing foreign holds it up.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>

#include "frazil/runtime/task.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil {

class TaskGroup {
 public:
  // `pool` outlives the group. A stop of `parent` stops the group.
  explicit TaskGroup(ThreadPool& pool, std::stop_token parent = {});
  // Cancels what has not started, waits for what runs, and drops errors that nobody waited for.
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // From any thread, also from a task of the group while the group lives. After a stop the task is dropped unrun.
  void run(Task task, TaskPriority priority = TaskPriority::kNormal);

  // Tasks look at it between steps of work and while they block.
  std::stop_token stop_token() const noexcept;
  bool stop_requested() const noexcept;
  // Requests the stop; does not wait.
  void cancel() noexcept;

  // Returns when every task has ended, among them those that tasks added meanwhile. Throws the first exception of a
  // task; without one, CancelledError if a stop left tasks unrun. More tasks may be run after it, unless it threw.
  // One thread at a time, and not from a task of the same group.
  void wait();

 private:
  struct State;
  struct RequestStop {
    State* state;
    void operator()() const noexcept;
  };

  ThreadPool* pool_;
  std::shared_ptr<State> state_;  // also held by what the pool has queued
  std::optional<std::stop_callback<RequestStop>> parent_stop_;
};

}  // namespace frazil
