#include "frazil/runtime/thread_pool.h"

#include <atomic>
#include <csignal>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

TEST(Task, OwnsWhatItIsGivenAndRunsIt) {
  auto value = std::make_unique<int>(41);
  int result = 0;
  Task task([value = std::move(value), &result]() mutable { result = ++*value; });
  EXPECT_TRUE(task);
  Task moved = std::move(task);
  EXPECT_FALSE(task);  // NOLINT(bugprone-use-after-move): empty afterwards
  moved();
  EXPECT_EQ(result, 42);
  EXPECT_FALSE(Task());
}

TEST(ThreadPool, RunsEveryTaskOnceBeforeItEnds) {
  for (size_t threads : {1, 2, 8}) {
    std::vector<std::atomic<int>> runs(10'000);
    {
      ThreadPool pool(threads);
      EXPECT_EQ(pool.thread_count(), threads);
      for (auto& count : runs) pool.submit([&count] { ++count; });
    }
    for (auto& count : runs) ASSERT_EQ(count, 1);
  }
}

TEST(ThreadPool, RunsTasksThatTasksSubmitEvenWhileItEnds) {
  std::atomic<int> runs = 0;
  {
    ThreadPool pool(2);
    struct Tree {
      static void grow(ThreadPool& pool, std::atomic<int>& runs, int depth) {
        ++runs;
        if (depth == 0) return;
        for (int child = 0; child < 2; ++child) pool.submit([&, depth] { grow(pool, runs, depth - 1); });
      }
    };
    pool.submit([&] { Tree::grow(pool, runs, 10); });
  }
  EXPECT_EQ(runs, 2047);
}

TEST(ThreadPool, TakesTasksInOrderHigherPrioritiesFirst) {
  std::string order;
  {
    std::latch queued(1);
    ThreadPool pool(1);
    pool.submit([&] { queued.wait(); });
    pool.submit([&] { order += 'e'; }, TaskPriority::kLow);
    pool.submit([&] { order += 'c'; });
    pool.submit([&] { order += 'a'; }, TaskPriority::kHigh);
    pool.submit([&] { order += 'd'; });
    pool.submit([&] { order += 'b'; }, TaskPriority::kHigh);
    queued.count_down();
  }
  EXPECT_EQ(order, "abcde");
}

TEST(ThreadPool, LetsOthersRunQueuedTasks) {
  std::latch started(1);
  std::latch go_on(1);
  ThreadPool pool(1);
  pool.submit([&] {
    started.count_down();
    go_on.wait();
  });
  started.wait();
  std::thread::id runner;
  pool.submit([&] { runner = std::this_thread::get_id(); });
  EXPECT_EQ(pool.queued_count(), 1u);
  EXPECT_TRUE(pool.run_one());
  EXPECT_EQ(runner, std::this_thread::get_id());
  EXPECT_FALSE(pool.run_one());
  go_on.count_down();
}

TEST(ThreadPool, ReleasesWhatATaskOwnsWhenItHasRun) {
  std::promise<bool> gone;
  auto owned = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owned;
  ThreadPool pool(1);
  pool.submit([owned = std::move(owned)] {});
  pool.submit([&] { gone.set_value(watch.expired()); });
  EXPECT_TRUE(gone.get_future().get());
}

TEST(ThreadPool, LeavesSignalsToOtherThreads) {
  std::promise<bool> blocked;
  ThreadPool pool(1);
  pool.submit([&] {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    blocked.set_value(sigismember(&set, SIGINT) == 1);
  });
  EXPECT_TRUE(blocked.get_future().get());
  sigset_t set;
  pthread_sigmask(SIG_SETMASK, nullptr, &set);
  EXPECT_EQ(sigismember(&set, SIGINT), 0);
}

TEST(ThreadPool, RefusesToBeEmpty) {
  EXPECT_THROW(ThreadPool(0), Error);
}

TEST(ThreadPool, HasAtLeastOneThreadByDefault) {
  EXPECT_GE(ThreadPool::default_thread_count(), 1u);
}

}  // namespace
}  // namespace frazil
