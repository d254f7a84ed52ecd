// What does an allocation cost, alone and when two threads share a pool? What does a fresh 1 MiB buffer cost that a
// reused one does not, and do batches of huge pages help? malloc stands beside them for comparison.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Allocates and releases one block at a time, which the pool has idle. One pool for all threads.
void allocate_reused(benchmark::State& state) {
  static MemoryPool pool({.budget_bytes = 256 * kMiB});
  auto size = static_cast<size_t>(state.range(0));
  MutableBuffer keep = pool.allocate(100);  // as in any real pool, a slab stays in use
  for (auto _ : state) {
    MutableBuffer block = pool.allocate(size);
    benchmark::DoNotOptimize(block.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(allocate_reused)->Arg(100)->Arg(8192)->Arg(65536)->Arg(1 << 20)->ThreadRange(1, 2)->UseRealTime();

// 64 blocks live at a time, as the columns of some batches.
void allocate_many(benchmark::State& state) {
  static MemoryPool pool({.budget_bytes = 256 * kMiB});
  auto size = static_cast<size_t>(state.range(0));
  std::vector<MutableBuffer> blocks(64);
  size_t index = 0;
  for (auto _ : state) {
    index = (index + 37) % blocks.size();
    blocks[index] = pool.allocate(size);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(allocate_many)->Arg(100)->Arg(8192)->Arg(65536)->Arg(1 << 20)->ThreadRange(1, 2)->UseRealTime();

void allocate_malloc(benchmark::State& state) {
  auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(allocate_malloc)->Arg(100)->Arg(8192)->Arg(65536)->Arg(1 << 20)->ThreadRange(1, 2)->UseRealTime();

enum Kind { kReused, kFreshBatches, kFreshSingle, kMalloc };

// Fills 64 buffers of range(1) bytes, as a decoder does, once a round. Bytes per second of processor time.
void fill(benchmark::State& state) {
  constexpr size_t kBuffers = 64;
  auto kind = static_cast<Kind>(state.range(0));
  auto size = static_cast<size_t>(state.range(1));
  // A budget that all but fills leaves no room for batches.
  size_t budget = kind == kFreshSingle ? kBuffers * MemoryPool::block_bytes(size) : 4096 * kMiB;
  MemoryPool pool({.budget_bytes = budget});
  std::vector<MutableBuffer> blocks(kBuffers);
  std::vector<void*> heap(kBuffers);
  if (kind == kReused) {
    for (auto& block : blocks) std::memset((block = pool.allocate(size)).data(), 1, size);
    for (auto& block : blocks) block = MutableBuffer();
  }
  for (auto _ : state) {
    for (size_t index = 0; index < kBuffers; ++index) {
      std::byte* data = nullptr;
      if (kind == kMalloc) {
        data = static_cast<std::byte*>(heap[index] = std::malloc(size));
      } else {
        blocks[index] = pool.allocate(size);
        data = blocks[index].data();
      }
      std::memset(data, 1, size);
      benchmark::ClobberMemory();
    }
    for (size_t index = 0; index < kBuffers; ++index) {
      std::free(std::exchange(heap[index], nullptr));
      blocks[index] = MutableBuffer();
    }
    if (kind != kReused) pool.trim();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBuffers * size));
  if (kind != kMalloc) state.counters["peak_MiB"] = static_cast<double>(pool.stats().held_peak_bytes) / kMiB;
}
BENCHMARK(fill)
    ->ArgsProduct({{kReused, kFreshBatches, kFreshSingle, kMalloc}, {128 << 10, 512 << 10, 1 << 20, 4 << 20}})
    ->ArgNames({"kind", "bytes"});

}  // namespace
}  // namespace frazil
