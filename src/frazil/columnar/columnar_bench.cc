// What do the passes over whole batches cost that are not decoding: full validation, the content hash, choosing rows,
// putting batches together, and lending one through the C data interface? Batches of 65,536 rows as job R has them
// (int64, double, text, bool, int64); items = rows, bytes = the batch's buffers. Each result is checked once.
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/bits.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/content_hash.h"
#include "frazil/columnar/filter.h"

namespace frazil {
namespace {

constexpr int64_t kRows = 65'536;

RecordBatch make_rows() {
  std::vector<std::optional<int64_t>> ids;
  std::vector<std::optional<double>> values;
  std::vector<std::optional<std::string>> labels;
  std::vector<std::optional<bool>> flags;
  for (int64_t i = 0; i < kRows; ++i) {
    ids.emplace_back(i);
    values.emplace_back(static_cast<double>(i) * 0.1);
    labels.emplace_back("row_" + std::to_string(i));
    flags.emplace_back(i % 2 == 0);
  }
  return make_batch({{"id", make_int64(ids)},
                     {"value", make_double(values)},
                     {"label", make_utf8(labels)},
                     {"flag", make_bool(flags)},
                     {"ts", make_int64(ids)}});
}

void count(benchmark::State& state, const RecordBatch& batch, int64_t batches = 1) {
  state.SetItemsProcessed(state.iterations() * kRows * batches);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(batch.buffer_bytes()) * batches);
}

void validate_batch(benchmark::State& state) {
  const RecordBatch batch = make_rows();
  for (auto _ : state) validate_full(batch);
  count(state, batch);
}
BENCHMARK(validate_batch)->Unit(benchmark::kMicrosecond);

void hash_rows(benchmark::State& state) {
  const RecordBatch batch = make_rows();
  ContentHash once;
  once.add(batch);
  ContentHash halves;
  halves.add(batch.slice(kRows / 2, kRows / 2));
  halves.add(batch.slice(0, kRows / 2));
  if (halves.sum() != once.sum()) state.SkipWithError("wrong result");
  for (auto _ : state) {
    ContentHash hash;
    hash.add(batch);
    benchmark::DoNotOptimize(hash.sum());
  }
  count(state, batch);
}
BENCHMARK(hash_rows)->Unit(benchmark::kMicrosecond);

// One row of `every` is wanted, spread evenly.
void filter_rows(benchmark::State& state) {
  const RecordBatch batch = make_rows();
  const int64_t every = state.range(0);
  std::vector<uint8_t> bits(kRows / 8);
  for (int64_t row = 0; row < kRows; row += every) bits[static_cast<size_t>(row / 8)] |= 1 << (row % 8);
  MemoryPool pool;
  const RecordBatch wanted = filter(batch, bits.data(), 0, pool);
  if (wanted.row_count() != (kRows + every - 1) / every || wanted.column(0)->values<int64_t>()[1] != every) {
    state.SkipWithError("wrong result");
  }
  for (auto _ : state) {
    const RecordBatch rows = filter(batch, bits.data(), 0, pool);
    benchmark::DoNotOptimize(rows.columns().data());
  }
  count(state, batch);
}
BENCHMARK(filter_rows)->ArgName("every")->Arg(2)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

void take_runs(benchmark::State& state) {
  const RecordBatch batch = make_rows();
  const int64_t length = state.range(0);
  std::vector<IndexRange> ranges;
  for (int64_t row = 0; row + length <= kRows; row += 2 * length) ranges.push_back({row, row + length});
  MemoryPool pool;
  if (take_ranges(batch, ranges, pool).row_count() != kRows / 2) state.SkipWithError("wrong result");
  for (auto _ : state) {
    const RecordBatch rows = take_ranges(batch, ranges, pool);
    benchmark::DoNotOptimize(rows.columns().data());
  }
  count(state, batch);
}
BENCHMARK(take_runs)->ArgName("length")->Arg(16)->Arg(1024)->Unit(benchmark::kMicrosecond);

void concatenate_batches(benchmark::State& state) {
  constexpr int64_t kParts = 8;
  const RecordBatch batch = make_rows();
  MemoryPool pool;
  for (auto _ : state) {
    for (const ArrayPtr& column : batch.columns()) {
      const std::vector<ArrayPtr> parts(kParts, column);
      const ArrayPtr whole = concatenate(parts, pool);
      if (whole->length != kParts * kRows) state.SkipWithError("wrong result");
    }
  }
  count(state, batch, kParts);
}
BENCHMARK(concatenate_batches)->Unit(benchmark::kMillisecond);

// Nothing is copied, so that this is the price of a batch, whatever its size: items = batches.
void lend_batch(benchmark::State& state) {
  const RecordBatch batch = make_rows();
  MemoryPool pool;
  for (auto _ : state) {
    ArrowArray array{};
    export_record_batch(batch, &array);
    const RecordBatch back = import_record_batch(&array, batch.schema(), {.pool = &pool});
    if (back.column(0)->buffers[1].data() != batch.column(0)->buffers[1].data()) state.SkipWithError("copied");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(lend_batch);

}  // namespace
}  // namespace frazil
