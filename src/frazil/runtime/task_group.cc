#include "frazil/runtime/task_group.h"

#include <deque>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"

namespace frazil {

// Tasks wait in the group's own queue; the pool's queue has a ticket for each, which runs whatever task is first by
// then. So the waiting thread can take tasks of this group out of turn, and tickets that come too late do nothing.
struct TaskGroup::State {
  std::stop_source stop;

  Mutex mutex;
  CondVar changed;
  std::deque<Task> queued GUARDED_BY(mutex);
  size_t unfinished GUARDED_BY(mutex) = 0;  // queued or running
  bool skipped GUARDED_BY(mutex) = false;
  std::exception_ptr first_error GUARDED_BY(mutex);

  void add(Task task) EXCLUDES(mutex) {
    MutexLock lock(mutex);
    queued.push_back(std::move(task));
    ++unfinished;
    changed.notify_one();
  }

  void run_first() noexcept EXCLUDES(mutex) {
    Task task;
    {
      MutexLock lock(mutex);
      if (queued.empty()) return;
      task = std::move(queued.front());
      queued.pop_front();
    }
    std::exception_ptr error;
    bool skip = stop.stop_requested();
    if (!skip) {
      try {
        task();
      } catch (...) {
        error = std::current_exception();
      }
    }
    task = Task();  // before wait() returns, whose caller may own what it refers to
    finish(skip, std::move(error));
  }

  void finish(bool skip, std::exception_ptr error) noexcept EXCLUDES(mutex) {
    if (error != nullptr) {
      bool first = false;
      {
        MutexLock lock(mutex);
        first = first_error == nullptr;
        if (first) first_error = std::move(error);
      }
      error = nullptr;
      if (first) stop.request_stop();  // runs the callbacks of others, hence without the lock
    }
    MutexLock lock(mutex);
    skipped |= skip;
    if (--unfinished == 0) changed.notify_all();
  }

  void wait() noexcept EXCLUDES(mutex) {
    MutexLock lock(mutex);
    while (unfinished > 0) {
      if (queued.empty()) {
        changed.wait(mutex);
        continue;
      }
      lock.unlock();
      run_first();
      lock.lock();
    }
  }
};

void TaskGroup::RequestStop::operator()() const noexcept {
  state->stop.request_stop();
}

TaskGroup::TaskGroup(ThreadPool& pool, std::stop_token parent) : pool_(&pool), state_(std::make_shared<State>()) {
  if (parent.stop_possible()) parent_stop_.emplace(std::move(parent), RequestStop{state_.get()});
}

TaskGroup::~TaskGroup() {
  cancel();
  state_->wait();
}

void TaskGroup::run(Task task, TaskPriority priority) {
  state_->add(std::move(task));
  pool_->submit([state = state_] { state->run_first(); }, priority);
}

std::stop_token TaskGroup::stop_token() const noexcept {
  return state_->stop.get_token();
}
bool TaskGroup::stop_requested() const noexcept {
  return state_->stop.stop_requested();
}
void TaskGroup::cancel() noexcept {
  state_->stop.request_stop();
}

void TaskGroup::wait() {
  state_->wait();
  std::exception_ptr error;
  bool skipped = false;
  {
    MutexLock lock(state_->mutex);
    error = std::exchange(state_->first_error, nullptr);
    skipped = std::exchange(state_->skipped, false);
  }
  if (error != nullptr) std::rethrow_exception(std::move(error));
  if (skipped) throw CancelledError();
}

}  // namespace frazil
