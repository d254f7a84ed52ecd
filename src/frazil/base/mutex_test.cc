#include "frazil/base/mutex.h"

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace frazil {
namespace {

class Mailbox {
 public:
  void put(int value) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    values_.push_back(value);
    changed_.notify_one();
  }

  int take() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (values_.empty()) changed_.wait(mutex_);
    const int value = values_.front();
    values_.pop_front();
    return value;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<int> values_ GUARDED_BY(mutex_);
};

TEST(Mutex, HandsEachValueToOneTaker) {
  constexpr int kValues = 2000;
  constexpr int kThreads = 4;
  Mailbox mailbox;
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kValues; ++i) mailbox.put(i);
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kValues; ++i) sum += mailbox.take();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, int64_t{kThreads} * kValues * (kValues - 1) / 2);
}

TEST(MutexLock, CanBeGivenUpAndTakenAgain) {
  Mutex mutex;
  const auto is_free = [&mutex]()
                           NO_THREAD_SAFETY_ANALYSIS {  // asks from another thread, which the analysis cannot see
                             bool free = false;
                             std::thread([&]() NO_THREAD_SAFETY_ANALYSIS {
                               free = mutex.try_lock();
                               if (free) mutex.unlock();
                             }).join();
                             return free;
                           };
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(is_free());
    lock.unlock();
    EXPECT_TRUE(is_free());
    lock.lock();
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
  {
    MutexLock lock(mutex);
    lock.unlock();  // and stays free: the destructor must not unlock again
  }
  EXPECT_TRUE(is_free());
}

TEST(CondVar, WaitsUntilADeadlineAndHoldsTheMutexAfterwards) {
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = start + std::chrono::milliseconds(5);
  while (never.wait_until(mutex, deadline)) {  // wakes without a notification are allowed
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  while (never.wait_for(mutex, std::chrono::milliseconds(1))) {
  }
  bool free = true;
  std::thread([&]() NO_THREAD_SAFETY_ANALYSIS {
    free = mutex.try_lock();
    if (free) mutex.unlock();
  }).join();
  EXPECT_FALSE(free);
}

TEST(CondVar, NotifyAllWakesEverybody) {
  Mutex mutex;
  CondVar changed;
  bool open = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      MutexLock lock(mutex);
      while (!open) changed.wait(mutex);
    });
  }
  {
    MutexLock lock(mutex);
    open = true;
    changed.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace frazil
