#include "frazil/runtime/thread_pool.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <deque>
#include <utility>

#include <sched.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/memory/poison.h"

#ifdef FRAZIL_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace frazil {

// What the threads share.
class ThreadPool::Queue {
 public:
  void push(Task task, TaskPriority priority) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    tasks_.at(static_cast<size_t>(priority)).push_back(std::move(task));
    changed_.notify_one();
  }

  bool try_take(Task& task) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return take(task);
  }

  // Waits for a task; false at the end.
  bool wait_and_take(Task& task) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!take(task)) {
      if (ending_) return false;
      changed_.wait(mutex_);
    }
    return true;
  }

  void end() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }

  size_t count() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    size_t count = 0;
    for (const auto& tasks : tasks_) count += tasks.size();
    return count;
  }

 private:
  bool take(Task& task) REQUIRES(mutex_) {
    for (auto& tasks : tasks_) {
      if (tasks.empty()) continue;
      task = std::move(tasks.front());
      tasks.pop_front();
      return true;
    }
    return false;
  }

  Mutex mutex_;
  CondVar changed_;
  std::array<std::deque<Task>, 3> tasks_ GUARDED_BY(mutex_);  // by priority
  bool ending_ GUARDED_BY(mutex_) = false;
};

ThreadPool::ThreadPool(size_t thread_count)
    : thread_count_(thread_count), process_(::getpid()), queue_(std::make_unique<Queue>()) {
  if (thread_count == 0) throw_error(ErrorKind::kInvalidArgument, "a thread pool needs at least one thread");
  threads_.reserve(thread_count);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = 0;
  for (size_t index = 0; index < thread_count && failure == 0; ++index) {
    pthread_t thread;
    failure = ::pthread_create(&thread, nullptr, &run_thread, queue_.get());
    if (failure != 0) break;
    threads_.push_back(thread);
#ifdef __linux__
    std::array<char, 16> name{};
    std::snprintf(name.data(), name.size(), "frazil-%zu", index % 100'000);
    ::pthread_setname_np(thread, name.data());
#endif
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failure != 0) {
    size_t started = threads_.size();
    end_threads();
    throw IoError(failure, message("starting a thread failed: {} of {} were started", started, thread_count));
  }
}

ThreadPool::~ThreadPool() {
  if (!forked()) {
    end_threads();
    return;
  }
  // The threads are not in this process, but the mutex may be as one of them held it, and destroying a condition
  // variable waits for its waiters. So the queue stays as it is.
  [[maybe_unused]] Queue* left = queue_.release();
#ifdef FRAZIL_ADDRESS_SANITIZER
  __lsan_ignore_object(left);
#endif
}

void ThreadPool::end_threads() noexcept {
  queue_->end();
  for (pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  threads_.clear();
}

// noexcept: a task that throws ends the program, with the stack of the throw.
void* ThreadPool::run_thread(void* queue) noexcept {
  Task task;
  while (static_cast<Queue*>(queue)->wait_and_take(task)) {
    task();
    task = Task();  // what it owns goes now, not when the next one comes
  }
  return nullptr;
}

size_t ThreadPool::default_thread_count() noexcept {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0 && CPU_COUNT(&usable) > 0) {
    return static_cast<size_t>(CPU_COUNT(&usable));
  }
  long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // more processors than cpu_set_t has bits
  return online > 0 ? static_cast<size_t>(online) : 1;
}

void ThreadPool::submit(Task task, TaskPriority priority) {
  if (forked()) {
    throw Error(ErrorKind::kInternal, "the threads of this pool are in the process that forked this one")
        .set_hint("make a new context after fork, or start processes with 'spawn'");
  }
  queue_->push(std::move(task), priority);
}

bool ThreadPool::run_one() {
  Task task;
  if (forked() || !queue_->try_take(task)) return false;
  task();
  return true;
}

size_t ThreadPool::queued_count() const {
  return queue_->count();
}

bool ThreadPool::forked() const noexcept {
  return ::getpid() != process_;
}

}  // namespace frazil
