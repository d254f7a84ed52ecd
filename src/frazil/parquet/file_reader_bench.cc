// Does the page index pay for itself on selective scans? 1 % of the rows, sorted and shuffled, index and late
// materialisation on and off, beside a full read of the same columns.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/error.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/predicate/parse.h"

namespace frazil::parquet {
namespace {

using testing::ThriftWriter;

constexpr int64_t kRows = 1'000'000;
constexpr int64_t kPageRows = 20'000;

// One row group of id INT64, value DOUBLE, label BYTE_ARRAY, PLAIN, with statistics and page index of id.
std::string make_file(bool sorted) {
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = i;
  std::mt19937_64 random(42);
  if (!sorted) std::shuffle(ids.begin(), ids.end(), random);
  std::string bytes = "PAR1";
  std::vector<ThriftWriter> columns;
  std::vector<ThriftWriter> schema = {ThriftWriter().binary(4, "schema").i32(5, 3)};
  const std::pair<const char*, PhysicalType> kinds[] = {
      {"id", PhysicalType::kInt64}, {"value", PhysicalType::kDouble}, {"label", PhysicalType::kByteArray}};
  for (const auto& [name, type] : kinds) {
    ThriftWriter element;
    element.i32(1, static_cast<int>(type)).i32(3, 0).binary(4, name);
    if (type == PhysicalType::kByteArray) element.i32(6, 0);
    schema.push_back(element);
    const auto start = static_cast<int64_t>(bytes.size());
    std::vector<ThriftWriter> locations;
    std::vector<std::string> min;
    std::vector<std::string> max;
    for (int64_t begin = 0; begin < kRows; begin += kPageRows) {
      const auto first = ids.begin() + begin;
      std::string payload;
      for (auto id = first; id != first + kPageRows; ++id) {
        if (type == PhysicalType::kInt64) testing::append(payload, *id);
        if (type == PhysicalType::kDouble) testing::append(payload, static_cast<double>(*id) * 0.1);
        if (type == PhysicalType::kByteArray) payload += testing::with_length("row_" + std::to_string(*id));
      }
      const auto offset = static_cast<int64_t>(bytes.size());
      bytes += testing::page_bytes(testing::data_page(payload, kPageRows));
      locations.push_back(
          ThriftWriter().i64(1, offset).i32(2, static_cast<int64_t>(bytes.size()) - offset).i64(3, begin));
      min.push_back(testing::plain(std::vector<int64_t>{*std::min_element(first, first + kPageRows)}));
      max.push_back(testing::plain(std::vector<int64_t>{*std::max_element(first, first + kPageRows)}));
    }
    const auto size = static_cast<int64_t>(bytes.size()) - start;
    ThriftWriter metadata;
    metadata.i32(1, static_cast<int>(type)).i32s(2, {0}).binaries(3, {name}).i32(4, 0).i64(5, kRows).i64(6, size);
    metadata.i64(7, size).i64(9, start);
    ThriftWriter chunk;
    chunk.i64(2, start).structure(3, metadata);
    const std::string offsets = ThriftWriter().structs(1, locations).finish();
    chunk.i64(4, static_cast<int64_t>(bytes.size())).i32(5, static_cast<int64_t>(offsets.size()));
    bytes += offsets;
    if (type == PhysicalType::kInt64) {
      const std::string bounds = ThriftWriter()
                                     .booleans(1, std::vector<bool>(min.size(), false))
                                     .binaries(2, min)
                                     .binaries(3, max)
                                     .i32(4, sorted ? 1 : 0)
                                     .finish();
      chunk.i64(6, static_cast<int64_t>(bytes.size())).i32(7, static_cast<int64_t>(bounds.size()));
      bytes += bounds;
    }
    columns.push_back(chunk);
  }
  const ThriftWriter type_order = ThriftWriter().structure(1, ThriftWriter());
  const std::string footer = ThriftWriter()
                                 .i32(1, 1)
                                 .structs(2, schema)
                                 .i64(3, kRows)
                                 .structs(4, {ThriftWriter().structs(1, columns).i64(2, 0).i64(3, kRows)})
                                 .structs(7, {type_order, type_order, type_order})
                                 .finish();
  return testing::FileBuilder::with_footer(std::move(bytes), footer);
}

std::shared_ptr<const InputFile> file_of(bool sorted) {
  static const auto kSorted = std::make_shared<testing::StringFile>(make_file(true));
  static const auto kShuffled = std::make_shared<testing::StringFile>(make_file(false));
  return sorted ? kSorted : kShuffled;
}

void read(benchmark::State& state, const std::shared_ptr<const InputFile>& file, const FileReaderOptions& options,
          int64_t expected) {
  MemoryPool pool;
  for (auto _ : state) {
    FileReader reader(file, options, pool);
    int64_t rows = 0;
    while (auto batch = reader.next()) rows += batch->row_count();
    if (rows != expected) state.SkipWithError("wrong number of rows");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.counters["pool_peak_bytes"] = static_cast<double>(pool.stats().held_peak_bytes);
}

void scan_all(benchmark::State& state) {
  read(state, file_of(state.range(0) == 1), {}, kRows);
}

void scan_selective(benchmark::State& state) {
  FileReaderOptions options;
  options.predicate = predicate::parse("id >= 500000 AND id < 510000");
  options.pruning.use_page_index = state.range(1) == 1;
  options.late_materialization = state.range(2) == 1;
  read(state, file_of(state.range(0) == 1), options, 10'000);
}

BENCHMARK(scan_all)->ArgName("sorted")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_selective)
    ->ArgNames({"sorted", "index", "late"})
    ->ArgsProduct({{0, 1}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace frazil::parquet
