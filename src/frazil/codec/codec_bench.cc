// How fast does each codec decode a page of 1 MiB? bytes_per_second counts decompressed bytes; `ratio` is the page over
// its compressed size. Three kinds of pages: text that repeats, int64 that grow slowly, and bytes without structure.
// The unsized calls show what not knowing the size costs.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/codec/codec.h"
#include "frazil/codec/compressors.h"

namespace frazil {
namespace {

constexpr size_t kPageBytes = 1 << 20;
enum Content : int64_t { kText, kNumbers, kNoise };

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}

std::string make_page(int64_t content) {
  std::string page;
  uint64_t state = 1;
  uint64_t number = 0;
  while (page.size() < kPageBytes) {
    if (content == kText) {
      page += "carefully " + std::to_string(next_random(state) % 500) + " final deposits " +
              std::to_string(next_random(state) % 50) + " sleep; ";
    } else {
      number += next_random(state) % 1000;
      const uint64_t value = content == kNumbers ? number : next_random(state) << 32 | next_random(state);
      page.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  }
  page.resize(kPageBytes);
  return page;
}

void decode_page(benchmark::State& state, Codec codec, bool sized) {
  const std::string page = make_page(state.range(0));
  const std::string compressed = compressors::compress(codec, page);
  MemoryPool pool;
  Decompressor decompressor(pool);
  std::vector<std::byte> output(kPageBytes);
  for (auto _ : state) {
    if (sized) {
      decompressor.decompress(codec, compressors::bytes_of(compressed), output);
      benchmark::DoNotOptimize(output.data());
    } else {
      MutableBuffer buffer = decompressor.decompress_unsized(codec, compressors::bytes_of(compressed), 1 << 30);
      benchmark::DoNotOptimize(buffer.data());
    }
  }
  decompressor.decompress(codec, compressors::bytes_of(compressed), output);
  if (std::memcmp(output.data(), page.data(), page.size()) != 0) state.SkipWithError("wrong result");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * page.size()));
  state.counters["ratio"] = static_cast<double>(page.size()) / static_cast<double>(compressed.size());
  state.counters["pool_peak_bytes"] = static_cast<double>(pool.stats().held_peak_bytes);
}

void contents(benchmark::internal::Benchmark* bench) {
  bench->ArgName("content")->DenseRange(kText, kNoise);
}

BENCHMARK_CAPTURE(decode_page, none, Codec::kNone, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, snappy, Codec::kSnappy, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, lz4_raw, Codec::kLz4Raw, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, lz4_frame, Codec::kLz4Frame, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, lz4_hadoop, Codec::kLz4Hadoop, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, zstd, Codec::kZstd, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, gzip, Codec::kGzip, true)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, deflate_unsized, Codec::kDeflate, false)->Apply(contents);
BENCHMARK_CAPTURE(decode_page, zstd_unsized, Codec::kZstd, false)->Apply(contents);

}  // namespace
}  // namespace frazil
