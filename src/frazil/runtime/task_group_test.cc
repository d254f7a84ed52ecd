#include "frazil/runtime/task_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/runtime/stop.h"

namespace frazil {
namespace {

TEST(TaskGroup, WaitsForAllItsTasks) {
  ThreadPool pool(2);
  std::atomic<int> runs = 0;
  TaskGroup group(pool);
  group.wait();
  for (int index = 0; index < 1000; ++index) group.run([&] { ++runs; });
  group.wait();
  EXPECT_EQ(runs, 1000);
  group.run([&] { ++runs; });
  group.wait();
  EXPECT_EQ(runs, 1001);
}

TEST(TaskGroup, WaitsForTasksThatTasksAdd) {
  ThreadPool pool(2);
  std::atomic<int> runs = 0;
  TaskGroup group(pool);
  for (int index = 0; index < 10; ++index) {
    group.run([&] {
      for (int inner = 0; inner < 10; ++inner) {
        group.run([&] {
          group.run([&] { ++runs; });
          ++runs;
        });
      }
      ++runs;
    });
  }
  group.wait();
  EXPECT_EQ(runs, 210);
}

TEST(TaskGroup, NestsDeeperThanThereAreThreads) {
  for (size_t threads : {1, 2}) {
    ThreadPool pool(threads);
    std::atomic<int> leaves = 0;
    struct Tree {
      static void grow(ThreadPool& pool, std::atomic<int>& leaves, int depth) {
        if (depth == 0) {
          ++leaves;
          return;
        }
        TaskGroup group(pool);
        for (int child = 0; child < 3; ++child) group.run([&, depth] { grow(pool, leaves, depth - 1); });
        group.wait();
      }
    };
    Tree::grow(pool, leaves, 6);
    EXPECT_EQ(leaves, 729);
  }
}

TEST(TaskGroup, TheWaitingThreadRunsTasksOfItsGroupOnly) {
  std::latch busy(1);
  std::latch go_on(1);
  std::atomic<bool> foreign = false;
  ThreadPool pool(1);
  pool.submit([&] {
    busy.count_down();
    go_on.wait();
  });
  busy.wait();
  pool.submit([&] { foreign = true; });
  std::thread::id runner;
  TaskGroup group(pool);
  group.run([&] { runner = std::this_thread::get_id(); });
  group.wait();  // the only thread is busy
  EXPECT_EQ(runner, std::this_thread::get_id());
  EXPECT_FALSE(foreign);
  go_on.count_down();
}

TEST(TaskGroup, ThrowsTheFirstExceptionAndCancelsTheRest) {
  ThreadPool pool(2);
  std::atomic<int> late_runs = 0;
  std::latch started(1);
  std::latch failed(1);
  TaskGroup group(pool);
  group.run([&] {
    started.count_down();
    while (!group.stop_requested()) std::this_thread::yield();  // a running task sees the stop ...
    failed.count_down();
    throw std::runtime_error("second");
  });
  group.run([&] {
    started.wait();
    throw_error(ErrorKind::kNotFound, "first");
  });
  failed.wait();
  for (int index = 0; index < 100; ++index) group.run([&] { ++late_runs; });  // ... and later ones are dropped
  try {
    group.wait();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_EQ(error.message(), "first");
  }
  EXPECT_EQ(late_runs, 0);
}

TEST(TaskGroup, StopsWithItsParent) {
  ThreadPool pool(2);
  std::stop_source source;
  std::latch started(1);
  TaskGroup group(pool, source.get_token());
  group.run([&] {
    started.count_down();
    while (!group.stop_requested()) std::this_thread::yield();
    throw_if_stopped(group.stop_token());
  });
  started.wait();
  source.request_stop();
  EXPECT_THROW(group.wait(), CancelledError);
}

TEST(TaskGroup, DropsTasksOfAParentThatHasStopped) {
  ThreadPool pool(1);
  std::stop_source source;
  source.request_stop();
  TaskGroup group(pool, source.get_token());
  bool ran = false;
  group.run([&] { ran = true; });
  EXPECT_THROW(group.wait(), CancelledError);
  EXPECT_FALSE(ran);
}

TEST(TaskGroup, IsSilentWhenCancelledAfterAllWasDone) {
  ThreadPool pool(1);
  TaskGroup group(pool);
  group.run([] {});
  group.wait();
  group.cancel();
  EXPECT_NO_THROW(group.wait());
}

TEST(TaskGroup, CancelsAndWaitsWhenDestroyedAndDropsErrors) {
  ThreadPool pool(2);
  std::atomic<int> running = 0;
  for (int round = 0; round < 200; ++round) {
    {
      TaskGroup group(pool);
      for (int index = 0; index < 20; ++index) {
        group.run([&, index] {
          ++running;
          std::this_thread::yield();
          --running;
          if (index == 7) throw std::runtime_error("nobody waits for this");
        });
      }
    }
    ASSERT_EQ(running, 0);
  }
}

TEST(TaskGroup, ReleasesWhatTasksOwnBeforeWaitReturns) {
  std::atomic<bool> released = false;
  std::latch started(1);
  ThreadPool pool(1);
  TaskGroup group(pool);
  auto end = [&](int* value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    released = true;
    delete value;
  };
  group.run([&, owned = std::shared_ptr<int>(new int(1), end)] { started.count_down(); });
  started.wait();  // the pool's thread has it
  group.wait();
  EXPECT_TRUE(released);
}

RC_GTEST_PROP(TaskGroup, ThrowsIfAndOnlyIfATaskDoes, (const std::vector<bool>& fails)) {
  ThreadPool pool(2);
  TaskGroup group(pool);
  std::atomic<size_t> runs = 0;
  for (bool fail : fails) {
    group.run([&runs, fail] {
      ++runs;
      if (fail) throw std::runtime_error("failed");
    });
  }
  bool threw = false;
  try {
    group.wait();
  } catch (const std::runtime_error&) {
    threw = true;
  }
  RC_ASSERT(threw == (std::find(fails.begin(), fails.end(), true) != fails.end()));
  if (!threw) RC_ASSERT(runs == fails.size());
}

}  // namespace
}  // namespace frazil
