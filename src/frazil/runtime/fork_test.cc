// What happens to threads when the process forks. ThreadSanitizer does not support threads in a forked child.
#if !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FRAZIL_THREAD_SANITIZER 1
#endif
#endif
#else
#define FRAZIL_THREAD_SANITIZER 1
#endif

#ifndef FRAZIL_THREAD_SANITIZER
#include <future>
#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil {
namespace {

// A child has the pool but not its threads: it must say so, and its destructor must not wait for them.
TEST(ThreadPool, SaysSoInAForkedChildAndDoesNotHang) {
  std::promise<void> ran;
  auto pool = std::make_unique<ThreadPool>(2);
  pool->submit([&] { ran.set_value(); });
  ran.get_future().get();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a hang ends the child with a signal
    int result = pool->forked() ? 0 : 1;
    try {
      pool->submit([] {});
      result = 2;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInternal || error.hint().empty()) result = 3;
    }
    if (pool->run_one()) result = 4;
    pool.reset();
    std::promise<int> answer;
    ThreadPool own(1);
    own.submit([&] { answer.set_value(result); });
    _exit(answer.get_future().get());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(pool->forked());
}

TEST(Context, WorksInAForkedChild) {
  std::promise<void> ran;
  Context context({.threads = 2});
  context.thread_pool().submit([&] { ran.set_value(); });
  ran.get_future().get();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    std::promise<int> answer;
    context.thread_pool().submit(
        [&] { answer.set_value(context.memory_pool().allocate(1 << 20).size() == 1 << 20 ? 0 : 1); });
    _exit(answer.get_future().get());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace frazil
#endif
