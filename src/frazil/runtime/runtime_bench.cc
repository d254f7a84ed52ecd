// What does it cost to hand work to another thread? That is the least that a piece of work must take to be worth a task.
// A group of empty tasks on pools of several sizes, and items through a channel to a thread that takes them.
// items = tasks or channel items.
#include <atomic>
#include <cstdint>
#include <thread>

#include <benchmark/benchmark.h>

#include "frazil/runtime/channel.h"
#include "frazil/runtime/task_group.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil {
namespace {

constexpr int64_t kItems = 1000;

void run_tasks(benchmark::State& state) {
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    std::atomic<int64_t> done = 0;
    TaskGroup group(pool);
    for (int64_t task = 0; task < kItems; ++task) {
      group.run([&done] { done.fetch_add(1, std::memory_order_relaxed); });
    }
    group.wait();
    if (done != kItems) state.SkipWithError("tasks were lost");
  }
  state.SetItemsProcessed(state.iterations() * kItems);
}
BENCHMARK(run_tasks)->ArgName("threads")->Arg(1)->Arg(2)->Arg(4)->UseRealTime();

// `room`: items that fit into the channel before its pusher waits.
void pass_through_channel(benchmark::State& state) {
  for (auto _ : state) {
    Channel<int64_t> channel(static_cast<size_t>(state.range(0)));
    std::jthread pusher([&] {
      for (int64_t item = 0; item < kItems; ++item) static_cast<void>(channel.push(item, 1));
      channel.close();
    });
    int64_t sum = 0;
    while (const auto item = channel.pop()) sum += *item;
    if (sum != kItems * (kItems - 1) / 2) state.SkipWithError("items were lost");
  }
  state.SetItemsProcessed(state.iterations() * kItems);
}
BENCHMARK(pass_through_channel)->ArgName("room")->Arg(1)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace frazil
