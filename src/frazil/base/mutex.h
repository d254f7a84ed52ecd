// Mutex, MutexLock and CondVar over the standard ones, annotated for clang's thread-safety analysis: data that is
// declared GUARDED_BY(mutex_) can then only be touched where the compiler sees the lock held (-Wthread-safety, an
// error with -Werror). Other compilers see plain classes. There is nothing to link.
//
//   class Queue {
//     void push(Task task) EXCLUDES(mutex_) {
//       MutexLock lock(mutex_);
//       ready_.push_back(std::move(task));
//       changed_.notify_one();
//     }
//     Task pop() EXCLUDES(mutex_) {
//       MutexLock lock(mutex_);
//       while (ready_.empty()) changed_.wait(mutex_);   // a loop: the analysis does not look into lambdas
//       ...
//     }
//     Mutex mutex_;
//     CondVar changed_;
//     std::deque<Task> ready_ GUARDED_BY(mutex_);
//   };
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define FRAZIL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define FRAZIL_THREAD_ANNOTATION(x)
#endif

// Guarded, in case that another library in the same translation unit (abseil, a test framework) has them too: their
// meaning is the same everywhere.
#ifndef CAPABILITY
#define CAPABILITY(name) FRAZIL_THREAD_ANNOTATION(capability(name))
#endif
#ifndef SCOPED_CAPABILITY
#define SCOPED_CAPABILITY FRAZIL_THREAD_ANNOTATION(scoped_lockable)
#endif
// On data: readable and writable only with the mutex held; PT_: what the pointer points to.
#ifndef GUARDED_BY
#define GUARDED_BY(mutex) FRAZIL_THREAD_ANNOTATION(guarded_by(mutex))
#endif
#ifndef PT_GUARDED_BY
#define PT_GUARDED_BY(mutex) FRAZIL_THREAD_ANNOTATION(pt_guarded_by(mutex))
#endif
// On functions: the caller holds the mutex; the caller does not hold it.
#ifndef REQUIRES
#define REQUIRES(...) FRAZIL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#endif
#ifndef EXCLUDES
#define EXCLUDES(...) FRAZIL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#endif
// On functions that lock and unlock.
#ifndef ACQUIRE
#define ACQUIRE(...) FRAZIL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#endif
#ifndef TRY_ACQUIRE
#define TRY_ACQUIRE(...) FRAZIL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#endif
#ifndef RELEASE
#define RELEASE(...) FRAZIL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#endif
// On a mutex: the order of locking.
#ifndef ACQUIRED_BEFORE
#define ACQUIRED_BEFORE(...) FRAZIL_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#endif
#ifndef ACQUIRED_AFTER
#define ACQUIRED_AFTER(...) FRAZIL_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#endif
#ifndef RETURN_CAPABILITY
#define RETURN_CAPABILITY(mutex) FRAZIL_THREAD_ANNOTATION(lock_returned(mutex))
#endif
// Switches the analysis off in one function, which says why.
#ifndef NO_THREAD_SAFETY_ANALYSIS
#define NO_THREAD_SAFETY_ANALYSIS FRAZIL_THREAD_ANNOTATION(no_thread_safety_analysis)
#endif

namespace frazil {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  [[nodiscard]] bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds the mutex until the end of its scope. unlock() gives it up early and lock() takes it again, for work that
// must happen outside of the lock in the middle of a scope.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex), held_(true) { mutex_.lock(); }
  ~MutexLock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() RELEASE() {
    mutex_.unlock();
    held_ = false;
  }
  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_;
};

// A condition that threads wait for. Waits may end without a notification: always wait in a loop on the condition.
// The mutex is released during a wait and held again when the wait returns.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    Adopted adopted(mutex);
    condition_.wait(adopted.lock);
  }

  // False when `deadline` has passed. (The condition may have become true at the same time: look at it once more.)
  template <typename Clock, typename Duration>
  bool wait_until(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& deadline) REQUIRES(mutex) {
    Adopted adopted(mutex);
    return condition_.wait_until(adopted.lock, deadline) == std::cv_status::no_timeout;
  }

  template <typename Rep, typename Period>
  bool wait_for(Mutex& mutex, const std::chrono::duration<Rep, Period>& timeout) REQUIRES(mutex) {
    return wait_until(mutex, std::chrono::steady_clock::now() + timeout);
  }

 private:
  // std::condition_variable wants a unique_lock; the mutex stays with its MutexLock, so the unique_lock borrows it.
  // Releases in its destructor, so that an exception of the clock does not leave the mutex unlocked twice.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable condition_;
};

}  // namespace frazil
