// How fast are pages turned into Arrow batches, by encoding and type, and how far is a whole file of job R from the
// decompression of its pages?
//
// FRAZIL_BENCH_FILES names a folder: each *.parquet file in it becomes a benchmark file/<name>, with its rows and peak pool
// bytes, and a benchmark pages/<name> that only reads and decompresses its pages: the floor; both for each column too.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/bits.h"
#include "frazil/codec/codec.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/encoders_test.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/kernels.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_walk.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;
using testing::ColumnSpec;
using testing::FileBuilder;
using testing::PageSpec;

constexpr size_t kRows = 500'000;
constexpr size_t kPageRows = 20'000;

constexpr int kAllColumns = -1;

ReadOptions choose_columns(const FileMetadata& metadata, int column) {
  ReadOptions options;
  for (size_t leaf = 0; leaf < metadata.schema().leaf_count(); ++leaf) {
    if (column != kAllColumns && static_cast<int>(leaf) != column) continue;
    const SchemaNode& node = metadata.schema().leaf(leaf);
    options.columns.push_back(
        {metadata.schema().leaf_node(leaf), {.name = std::string(node.name), .type = arrow_leaf_type(node)}});
  }
  options.batch_rows = 32'768;
  return options;
}

void read_file(benchmark::State& state, const std::shared_ptr<const InputFile>& file, int column) {
  int64_t rows = 0;
  int64_t bytes = 0;
  MemoryPool pool;
  for (auto _ : state) {
    auto metadata = read_metadata(*file, pool);
    BatchReader reader(file, metadata, choose_columns(*metadata, column), pool);
    while (auto batch = reader.next()) {
      rows += batch->row_count();
      bytes += static_cast<int64_t>(batch->buffer_bytes());
      benchmark::DoNotOptimize(batch->columns().data());
    }
  }
  state.SetItemsProcessed(rows);
  state.SetBytesProcessed(bytes);
  state.counters["peak_pool"] = static_cast<double>(pool.stats().held_peak_bytes);
}

void read_pages(benchmark::State& state, const std::shared_ptr<const InputFile>& file, int column) {
  MemoryPool pool;
  int64_t rows = 0;
  for (auto _ : state) {
    auto metadata = read_metadata(*file, pool);
    PageWalk walk(*file, *metadata, pool);
    for (size_t group = 0; group < metadata->row_groups().size(); ++group) {
      rows += metadata->row_groups()[group].row_count;
      for (size_t leaf = 0; leaf < metadata->schema().leaf_count(); ++leaf) {
        if (column == kAllColumns || static_cast<int>(leaf) == column) walk.walk(group, leaf);
      }
    }
  }
  state.SetItemsProcessed(rows);
}

// ---- One column of made-up pages ----

template <typename Encode>
std::shared_ptr<const InputFile> make_file(const ColumnSpec& column, std::vector<PageSpec> pages, Encode&& encode) {
  for (size_t row = 0; row < kRows; row += kPageRows) pages.push_back(encode(row));
  FileBuilder builder(std::vector<ColumnSpec>{column});
  builder.row_group(kRows, {pages});
  return std::make_shared<testing::StringFile>(builder.finish());
}

std::vector<uint32_t> indices(size_t row, uint32_t distinct, bool runs) {
  std::mt19937 random(static_cast<uint32_t>(row));
  std::vector<uint32_t> out(kPageRows);
  for (size_t i = 0; i < kPageRows; ++i) out[i] = runs && i % 64 != 0 ? out[i - 1] : random() % distinct;
  return out;
}

std::shared_ptr<const InputFile> plain_int64(int null_percent) {
  ColumnSpec column{.type = PhysicalType::kInt64};
  if (null_percent >= 0) column.repetition = Repetition::kOptional;
  return make_file(column, {}, [&](size_t row) {
    std::mt19937 random(static_cast<uint32_t>(row));
    std::vector<uint32_t> levels(kPageRows);
    std::vector<int64_t> values;
    for (uint32_t& level : levels) {
      level = static_cast<int>(random() % 100) < null_percent ? 0 : 1;
      if (level == 1) values.push_back(static_cast<int64_t>(random()));
    }
    return testing::data_page(
        (null_percent >= 0 ? testing::with_length(testing::hybrid(levels, 1)) : "") + testing::plain(values),
        kPageRows);
  });
}

std::shared_ptr<const InputFile> dictionary_int64(uint32_t distinct, bool runs) {
  std::vector<int64_t> values(distinct);
  for (uint32_t i = 0; i < distinct; ++i) values[i] = i * 977;
  const int width = bit_width_of(distinct - 1);
  return make_file({.type = PhysicalType::kInt64},
                   {testing::dictionary_page(testing::plain(values), static_cast<int32_t>(distinct))}, [&](size_t row) {
                     return testing::data_page(
                         static_cast<char>(width) + testing::hybrid(indices(row, distinct, runs), width), kPageRows,
                         Encoding::kRleDictionary);
                   });
}

std::shared_ptr<const InputFile> dictionary_text(uint32_t distinct) {
  std::vector<std::string> values;
  for (uint32_t i = 0; i < distinct; ++i) values.push_back("label_" + std::to_string(i));
  const int width = bit_width_of(distinct - 1);
  return make_file({.type = PhysicalType::kByteArray, .converted = 0},
                   {testing::dictionary_page(testing::plain(values), static_cast<int32_t>(distinct))}, [&](size_t row) {
                     return testing::data_page(
                         static_cast<char>(width) + testing::hybrid(indices(row, distinct, false), width), kPageRows,
                         Encoding::kRleDictionary);
                   });
}

std::shared_ptr<const InputFile> plain_text(size_t length) {
  return make_file({.type = PhysicalType::kByteArray, .converted = 0}, {}, [&](size_t row) {
    std::vector<std::string> values;
    for (size_t i = 0; i < kPageRows; ++i) {
      std::string value = "row_" + std::to_string(row + i);
      value.resize(std::max(length, value.size()), 'x');
      values.push_back(value);
    }
    return testing::data_page(testing::plain(values), kPageRows);
  });
}

std::shared_ptr<const InputFile> plain_bool() {
  return make_file({.type = PhysicalType::kBoolean}, {},
                   [&](size_t) { return testing::data_page(std::string(kPageRows / 8, '\x5a'), kPageRows); });
}

// One page in any encoding, as often as it takes.
void add_pages(const std::string& name, const ColumnSpec& column, const std::string& payload, Encoding encoding,
               const std::string& dictionary = "", int32_t dictionary_count = 0);

template <typename T, typename Next>
std::vector<T> page_values(Next&& next) {
  std::mt19937_64 random(7);
  std::vector<T> values(kPageRows);
  for (size_t i = 0; i < kPageRows; ++i) values[i] = static_cast<T>(next(i, random));
  return values;
}

// Every encoding x type that the format has: values/s and bytes/s of the batches.
void add_encodings() {
  using enum Encoding;
  const auto jitter = [](size_t i, auto& random) { return 1'700'000'000'000'000 + i * 1000 + random() % 900; };
  const auto any = [](size_t, auto& random) { return random(); };
  const auto small_step = [](size_t i, auto& random) { return i * 3 + random() % 50; };
  const ColumnSpec int32{.type = PhysicalType::kInt32};
  const ColumnSpec int64{.type = PhysicalType::kInt64};
  const ColumnSpec binary{.type = PhysicalType::kByteArray};
  const ColumnSpec uuid{.type = PhysicalType::kFixedLenByteArray, .type_length = 16};
  const ColumnSpec half{.type = PhysicalType::kFixedLenByteArray, .type_length = 2};
  const ColumnSpec odd{.type = PhysicalType::kFixedLenByteArray, .type_length = 11};
  const auto decimal = [](PhysicalType type, int32_t length, int32_t precision) {
    return ColumnSpec{.type = type, .type_length = length, .converted = 5, .scale = 2, .precision = precision};
  };
  const ColumnSpec decimal13 = decimal(PhysicalType::kFixedLenByteArray, 13, 30);

  add_pages("delta/int32/steps", int32, testing::delta_packed(page_values<int32_t>(small_step)), kDeltaBinaryPacked);
  add_pages("delta/int32/any", int32, testing::delta_packed(page_values<int32_t>(any)), kDeltaBinaryPacked);
  add_pages("delta/int64/steps", int64, testing::delta_packed(page_values<int64_t>(small_step)), kDeltaBinaryPacked);
  add_pages("delta/int64/times", int64, testing::delta_packed(page_values<int64_t>(jitter)), kDeltaBinaryPacked);
  add_pages("delta/int64/any", int64, testing::delta_packed(page_values<int64_t>(any)), kDeltaBinaryPacked);
  add_pages("delta/int64/any/blocks_1024", int64,
            testing::delta_packed(page_values<int64_t>(any), {.block_values = 1024, .miniblocks = 4}),
            kDeltaBinaryPacked);

  std::vector<std::string> rows;
  std::vector<std::string> urls;
  std::string urls_plain;
  for (size_t i = 0; i < kPageRows; ++i) {
    rows.push_back("row_" + std::to_string(100'000 + i));
    urls.push_back("https://example.org/articles/2026/11/" + std::to_string(i / 7) + "/comment-" + std::to_string(i));
  }
  for (const auto& [name, values] : {std::pair{"rows", rows}, {"urls", urls}}) {
    add_pages(std::string("plain/bytes/") + name, binary, testing::plain(values), kPlain);
    add_pages(std::string("delta_length/bytes/") + name, binary, testing::delta_length(values), kDeltaLengthByteArray);
    add_pages(std::string("delta_prefix/bytes/") + name, binary, testing::delta_prefix(values), kDeltaByteArray);
  }

  const std::string bytes = testing::plain(page_values<uint64_t>(any)) + testing::plain(page_values<uint64_t>(any));
  const auto first = [&](size_t width) { return bytes.substr(0, kPageRows * width); };
  const std::vector<std::pair<std::string, ColumnSpec>> fixed = {{"int32", int32},
                                                                 {"int64", int64},
                                                                 {"float", {.type = PhysicalType::kFloat}},
                                                                 {"double", {.type = PhysicalType::kDouble}},
                                                                 {"flba16", uuid},
                                                                 {"flba2", half},
                                                                 {"flba11", odd},
                                                                 {"decimal13", decimal13}};
  for (const auto& [name, column] : fixed) {
    const bool is_4 = column.type == PhysicalType::kInt32 || column.type == PhysicalType::kFloat;
    const size_t width = column.type_length > 0 ? static_cast<size_t>(column.type_length) : is_4 ? 4 : 8;
    add_pages("plain/" + name, column, first(width), kPlain);
    add_pages("split/" + name, column, testing::split_bytes(first(width), width), kByteStreamSplit);
    add_pages("dictionary/" + name + "/1000", column, "\x0a" + testing::hybrid(indices(0, 1000, false), 10),
              kRleDictionary, bytes.substr(0, 1000 * width), 1000);
  }
  add_pages(
      "plain/int96", {.type = PhysicalType::kInt96},
      [] {
        std::string values;
        for (int64_t i = 0; i < static_cast<int64_t>(kPageRows); ++i) {
          testing::append(values, i * 1'000'003);
          testing::append(values, static_cast<int32_t>(2'440'588 + i % 30'000));
        }
        return values;
      }(),
      kPlain);
  add_pages("plain/decimal_int32", decimal(PhysicalType::kInt32, 0, 9), first(4), kPlain);
  add_pages("plain/decimal_int64", decimal(PhysicalType::kInt64, 0, 18), first(8), kPlain);
  const std::vector<uint32_t> bools = indices(0, 2, false);
  add_pages("rle/bool", {.type = PhysicalType::kBoolean}, testing::with_length(testing::hybrid(bools, 1)), kRle);
  add_pages("rle/bool/runs", {.type = PhysicalType::kBoolean},
            testing::with_length(testing::hybrid(indices(0, 2, true), 1)), kRle);
}

void unpack(benchmark::State& state, const Kernels& kernels, int width) {
  std::vector<std::byte> source(4096 * 4 + 64);
  std::vector<uint32_t> target(1024 + 32);
  for (auto _ : state) {
    kernels.unpack(source.data(), width, target.data(), 1024);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 1024);
}

void add(const std::string& name, std::shared_ptr<const InputFile> file) {
  benchmark::RegisterBenchmark(name.c_str(), [file](benchmark::State& state) { read_file(state, file, kAllColumns); });
}

void add_pages(const std::string& name, const ColumnSpec& column, const std::string& payload, Encoding encoding,
               const std::string& dictionary, int32_t dictionary_count) {
  std::vector<PageSpec> first;
  if (dictionary_count > 0) first.push_back(testing::dictionary_page(dictionary, dictionary_count));
  add(name, make_file(column, first, [&](size_t) { return testing::data_page(payload, kPageRows, encoding); }));
}

void add_all() {
  add_encodings();
  add("plain/int64", plain_int64(-1));
  add("plain/int64/all_valid", plain_int64(0));
  add("plain/int64/nulls_10", plain_int64(10));
  add("dictionary/int64/10", dictionary_int64(10, false));
  add("dictionary/int64/1000", dictionary_int64(1000, false));
  add("dictionary/int64/1000/runs", dictionary_int64(1000, true));
  add("dictionary/text/1000", dictionary_text(1000));
  add("plain/text/10", plain_text(10));
  add("plain/text/40", plain_text(40));
  add("plain/bool", plain_bool());
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Kernels* kernels = find_kernels(name);
    if (kernels == nullptr) continue;
    for (int width : {1, 7, 10, 17}) {
      benchmark::RegisterBenchmark((std::string("unpack/") + name + "/" + std::to_string(width)).c_str(),
                                   [=](benchmark::State& state) { unpack(state, *kernels, width); });
    }
  }
  const char* folder = std::getenv("FRAZIL_BENCH_FILES");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) return;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".parquet") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  static LocalFileSystem files;
  for (const std::string& path : paths) {
    const std::string name = std::filesystem::path(path).stem().string();
    std::shared_ptr<const InputFile> file = files.open_input(path);
    add("file/" + name, file);
    benchmark::RegisterBenchmark(("pages/" + name).c_str(),
                                 [file](benchmark::State& state) { read_pages(state, file, kAllColumns); });
    MemoryPool pool;
    const auto metadata = read_metadata(*file, pool);
    for (int column = 0; column < static_cast<int>(metadata->schema().leaf_count()); ++column) {
      const std::string label = name + "/" + std::string(metadata->schema().leaf(static_cast<size_t>(column)).name);
      benchmark::RegisterBenchmark(("file/" + label).c_str(),
                                   [=](benchmark::State& state) { read_file(state, file, column); });
      benchmark::RegisterBenchmark(("pages/" + label).c_str(),
                                   [=](benchmark::State& state) { read_pages(state, file, column); });
    }
  }
}

[[maybe_unused]] const bool kAdded = (add_all(), true);

}  // namespace
