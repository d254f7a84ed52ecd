// What do lists and structs cost? Values of leaves a second, of made-up pages, and of all columns of the files in the folder
// that FRAZIL_BENCH_NESTED_FILES names, so that other readers can be measured on the same ones.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/bits.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_builder_test.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;
using testing::ColumnSpec;
using testing::FileBuilder;
using testing::PageSpec;

constexpr size_t kRows = 200'000;
constexpr size_t kPageRows = 5'000;

void read_file(benchmark::State& state, const std::shared_ptr<const InputFile>& file) {
  int64_t values = 0;
  MemoryPool pool;
  for (auto _ : state) {
    auto metadata = read_metadata(*file, pool);
    ReadOptions options;
    options.columns = request_columns(metadata->schema());
    options.batch_rows = 32'768;
    BatchReader reader(file, metadata, options, pool);
    while (auto batch = reader.next()) benchmark::DoNotOptimize(batch->columns().data());
    for (const RowGroup& group : metadata->row_groups()) {
      for (const ColumnChunk& chunk : group.columns) values += chunk.value_count;
    }
  }
  state.SetItemsProcessed(values);
  state.counters["peak_pool"] = static_cast<double>(pool.stats().held_peak_bytes);
}

// Levels of optional lists of optional elements, and values of the elements.
PageSpec list_page(std::mt19937& random, int null_percent, uint32_t levels_below) {
  const uint32_t max_definition = 2 + levels_below;
  std::vector<uint32_t> repetition;
  std::vector<uint32_t> definition;
  std::vector<int64_t> values;
  for (size_t row = 0; row < kPageRows; ++row) {
    if (static_cast<int>(random() % 100) < null_percent) {
      repetition.push_back(0);
      definition.push_back(random() % 2);
      continue;
    }
    const size_t length = 1 + random() % 9;
    for (size_t i = 0; i < length; ++i) {
      repetition.push_back(i == 0 ? 0 : 1);
      const bool is_null = static_cast<int>(random() % 100) < null_percent;
      definition.push_back(is_null ? max_definition - 1 : max_definition);
      if (!is_null) values.push_back(static_cast<int64_t>(random()));
    }
  }
  return testing::data_page(testing::with_length(testing::hybrid(repetition, 1)) +
                                testing::with_length(testing::hybrid(definition, bit_width_of(max_definition))) +
                                testing::plain(values),
                            static_cast<int32_t>(definition.size()));
}

std::shared_ptr<const InputFile> list_file(int null_percent, int fields) {
  std::vector<ColumnSpec> nodes = {
      {.name = "l", .repetition = Repetition::kOptional, .converted = 3, .child_count = 1},
      {.name = "list", .repetition = Repetition::kRepeated, .child_count = 1},
  };
  const ColumnSpec number{.name = "element", .type = PhysicalType::kInt64, .repetition = Repetition::kOptional};
  if (fields == 0) {
    nodes.push_back(number);
  } else {
    nodes.push_back({.name = "element", .child_count = fields});
    for (int i = 0; i < fields; ++i) {
      nodes.push_back(number);
      nodes.back().name = std::string(1, static_cast<char>('a' + i));
    }
  }
  std::vector<std::vector<PageSpec>> chunks;
  for (int i = 0; i < std::max(fields, 1); ++i) {
    std::mt19937 random(7);  // the lists of all fields have the same lengths
    std::vector<PageSpec> pages;
    for (size_t row = 0; row < kRows; row += kPageRows) pages.push_back(list_page(random, null_percent, 1));
    chunks.push_back(std::move(pages));
  }
  FileBuilder builder(nodes);
  builder.row_group(kRows, chunks);
  return std::make_shared<testing::StringFile>(builder.finish());
}

std::shared_ptr<const InputFile> struct_file(int null_percent) {
  std::vector<ColumnSpec> nodes = {{.name = "s", .repetition = Repetition::kOptional, .child_count = 3}};
  std::vector<std::vector<PageSpec>> chunks;
  for (const char* name : {"a", "b", "c"}) {
    nodes.push_back({.name = name, .type = PhysicalType::kInt64, .repetition = Repetition::kOptional});
    std::vector<PageSpec> pages;
    std::mt19937 random(7);
    for (size_t row = 0; row < kRows; row += kPageRows) {
      std::vector<uint32_t> definition(kPageRows, 2);
      std::vector<int64_t> values;
      for (uint32_t& level : definition) {
        if (static_cast<int>(random() % 100) < null_percent) level = random() % 2;
        if (level == 2) values.push_back(static_cast<int64_t>(random()));
      }
      pages.push_back(
          testing::data_page(testing::with_length(testing::hybrid(definition, 2)) + testing::plain(values), kPageRows));
    }
    chunks.push_back(std::move(pages));
  }
  FileBuilder builder(nodes);
  builder.row_group(kRows, chunks);
  return std::make_shared<testing::StringFile>(builder.finish());
}

void add(const std::string& name, std::shared_ptr<const InputFile> file) {
  benchmark::RegisterBenchmark(name.c_str(), [file](benchmark::State& state) { read_file(state, file); });
}

void add_all() {
  add("nested/list_int64", list_file(0, 0));
  add("nested/list_int64/nulls_10", list_file(10, 0));
  add("nested/list_struct_2", list_file(0, 2));
  add("nested/list_struct_2/nulls_10", list_file(10, 2));
  add("nested/struct_3", struct_file(0));
  add("nested/struct_3/nulls_10", struct_file(10));
  const char* folder = std::getenv("FRAZIL_BENCH_NESTED_FILES");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) return;
  static LocalFileSystem files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".parquet") continue;
    add("nested/file/" + entry.path().stem().string(), files.open_input(entry.path().string()));
  }
}

[[maybe_unused]] const bool kAdded = (add_all(), true);

}  // namespace
