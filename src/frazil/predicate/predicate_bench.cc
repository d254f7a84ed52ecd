// How many rows a second does a predicate test, beside one pass over the same values? One core, batches of 65,536 rows
// that stay in the cache, half of the rows match unless the name says else.
#include <random>
#include <string>

#include <benchmark/benchmark.h>

#include "frazil/columnar/builders.h"
#include "frazil/predicate/evaluate.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/pruning.h"

namespace frazil::predicate {
namespace {

constexpr int64_t kRows = 65'536;

const RecordBatch& batch() {
  static const RecordBatch kBatch = [] {
    std::mt19937_64 random(1);
    std::vector<std::optional<int64_t>> integers;
    std::vector<std::optional<int64_t>> nullable;
    std::vector<std::optional<int32_t>> narrow;
    std::vector<std::optional<double>> doubles;
    std::vector<std::optional<std::string>> texts;
    std::vector<std::optional<int64_t>> indices;
    std::vector<std::optional<std::string>> dictionary_values;
    std::vector<std::optional<Int128>> decimals;
    for (int64_t i = 0; i < kRows; ++i) {
      const auto value = static_cast<int64_t>(random() % 1'000);
      integers.emplace_back(value);
      nullable.push_back(random() % 10 == 0 ? std::nullopt : std::optional(value));
      narrow.emplace_back(static_cast<int32_t>(value));
      doubles.emplace_back(static_cast<double>(value));
      decimals.emplace_back(value);
      texts.emplace_back("host-" + std::to_string(value) + ".example.com");
      indices.emplace_back(value);
    }
    for (int64_t i = 0; i < 1'000; ++i) dictionary_values.emplace_back("host-" + std::to_string(i) + ".example.com");
    return make_batch({{"i", make_int64(integers)},
                       {"n", make_int64(nullable)},
                       {"i32", make_int32(narrow)},
                       {"d", make_double(doubles)},
                       {"dec", make_fixed(decimal(18, 0), decimals)},
                       {"s", make_utf8(texts)},
                       {"v", make_bytes(primitive(TypeId::kUtf8View), texts)},
                       {"dict", make_dictionary(dictionary(primitive(TypeId::kInt32), primitive(TypeId::kUtf8)),
                                                indices, make_utf8(dictionary_values))}});
  }();
  return kBatch;
}

std::string integers_in(int64_t count, int64_t step) {
  std::string text = "i IN (0";
  for (int64_t i = 1; i < count; ++i) text += ", " + std::to_string(i * step);
  return text + ")";
}

void run(benchmark::State& state, const std::string& text, int64_t expected_min, int64_t expected_max) {
  MemoryPool pool;
  const BoundPredicate predicate = bind_predicate(parse(text), batch().schema());
  int64_t selected = 0;
  for (auto unused : state) selected = evaluate(predicate, batch(), pool).selected_count();
  if (selected < expected_min || selected > expected_max) state.SkipWithError("another number of rows");
  state.SetItemsProcessed(state.iterations() * kRows);
}

constexpr int64_t kHalfMin = kRows * 45 / 100;
constexpr int64_t kHalfMax = kRows * 55 / 100;

BENCHMARK_CAPTURE(run, int64_less, "i < 500", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, int64_equal, "i = 500", 1, 200);
BENCHMARK_CAPTURE(run, int64_nullable_less, "n < 500", kRows * 40 / 100, kHalfMax);
BENCHMARK_CAPTURE(run, int32_less, "i32 < 500", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, double_greater, "d > 500", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, decimal128_less, "dec < 500", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, between, "i BETWEEN 250 AND 749", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, and_of_three, "i < 500 AND d > 250 AND n IS NOT NULL", 1, kHalfMax);
BENCHMARK_CAPTURE(run, and_never, "i < 0 AND d > 250 AND s = 'x'", 0, 0);
BENCHMARK_CAPTURE(run, or_of_two, "i < 250 OR d > 750", kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, int64_in_bitmap, integers_in(500, 2), kHalfMin, kHalfMax);
BENCHMARK_CAPTURE(run, int64_in_hash, integers_in(1'000, 1'000'003), 1, 200);
BENCHMARK_CAPTURE(run, utf8_equal, "s = 'host-500.example.com'", 1, 200);
BENCHMARK_CAPTURE(run, view_equal, "v = 'host-500.example.com'", 1, 200);
BENCHMARK_CAPTURE(run, utf8_less, "s < 'host-5'", kRows * 30 / 100, kHalfMax);
BENCHMARK_CAPTURE(run, utf8_prefix, "s STARTS WITH 'host-5'", 1, kHalfMax);
BENCHMARK_CAPTURE(run, utf8_in, "s IN ('host-1.example.com', 'host-22.example.com', 'host-333.example.com')", 1, 400);
BENCHMARK_CAPTURE(run, dictionary_equal, "dict = 'host-500.example.com'", 1, 200);
BENCHMARK_CAPTURE(run, rare_then_text, "i = 500 AND s = 'host-500.example.com'", 1, 200);

// The floor: reads each 64-bit value once.
void sum_of_int64(benchmark::State& state) {
  const int64_t* values = batch().column(0)->values<int64_t>();
  for (auto unused : state) {
    int64_t sum = 0;
    for (int64_t i = 0; i < kRows; ++i) sum += values[i];
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(sum_of_int64);

// Does a long IN list of text cost more than reading it?
void parse_and_bind_in(benchmark::State& state) {
  const std::string text = integers_in(100'000, 1'000'003);
  for (auto unused : state) benchmark::DoNotOptimize(bind_predicate(parse(text), batch().schema()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(parse_and_bind_in)->Unit(benchmark::kMillisecond);

// What does planning pay for each row group or file?
void may_match_one(benchmark::State& state) {
  class Source final : public ColumnStatisticsSource {
    ColumnStatistics statistics(const BoundColumn&) override {
      return {.lower = Value(int64_t{0}), .upper = Value(int64_t{999}), .row_count = 100, .null_count = 0};
    }
  };
  MemoryPool pool;
  Source source;
  const BoundPredicate predicate = bind_predicate(parse("i >= 500 AND i < 600"), batch().schema());
  for (auto unused : state) benchmark::DoNotOptimize(may_match(predicate, source, pool));
}
BENCHMARK(may_match_one);

}  // namespace
}  // namespace frazil::predicate
