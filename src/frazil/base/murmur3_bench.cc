// What does the bucket transform pay for hashing? An int64 (the usual key), and text by its length. items = values,
// bytes = what is hashed. Results are checked against Appendix B of the Iceberg specification and the other form.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/murmur3.h"

namespace frazil {
namespace {

constexpr int64_t kValues = 4096;

void murmur3_int64(benchmark::State& state) {
  if (murmur3_x86_32_of_int64(34) != 2017239379) state.SkipWithError("wrong result");
  for (auto _ : state) {
    int32_t sum = 0;
    for (int64_t value = 0; value < kValues; ++value) sum ^= murmur3_x86_32_of_int64(value * 7919);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kValues);
  state.SetBytesProcessed(state.iterations() * kValues * 8);
}
BENCHMARK(murmur3_int64);

void murmur3_text(benchmark::State& state) {
  if (murmur3_x86_32(std::string_view("iceberg")) != 1210000089) state.SkipWithError("wrong result");
  const auto length = static_cast<size_t>(state.range(0));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < kValues; ++i) {
    texts.push_back(std::to_string(i));
    texts.back().resize(length, 'x');
  }
  for (auto _ : state) {
    int32_t sum = 0;
    for (const std::string& text : texts) sum ^= murmur3_x86_32(std::string_view(text));
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kValues);
  state.SetBytesProcessed(state.iterations() * kValues * state.range(0));
}
BENCHMARK(murmur3_text)->ArgName("bytes")->Arg(5)->Arg(16)->Arg(50)->Arg(500);

}  // namespace
}  // namespace frazil
