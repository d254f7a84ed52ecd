// What a partitioned write costs, step by step: partition numbers of a batch, distribution of a column, all of it. Rows
// are those of iceberg-go's BenchmarkPartitionedWriteThroughput: 10 days and 3 hosts in turn, 30 partitions.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/columnar/builders.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/manifest/data_file.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/new_table.h"
#include "frazil/write/data_writer.h"
#include "frazil/write/partition_keys.h"
#include "frazil/write/scatter.h"

namespace frazil::write {
namespace {

using spec::TypeKind;

constexpr int64_t kRows = 500'000;

spec::NestedField field(int32_t id, std::string name, TypeKind kind) {
  spec::NestedField result;
  result.id = id;
  result.name = std::move(name);
  result.type = spec::primitive(kind);
  result.required = true;
  return result;
}

spec::TableMetadataPtr make_table(const std::vector<std::pair<int32_t, spec::Transform>>& partitioning) {
  spec::NewTable table;
  table.schema = std::make_shared<const spec::Schema>(std::vector<spec::NestedField>{
      field(1, "id", TypeKind::kLong), field(2, "ts", TypeKind::kTimestampTz), field(3, "host", TypeKind::kString),
      field(4, "status_code", TypeKind::kInt), field(5, "bytes_sent", TypeKind::kLong),
      field(6, "user_agent", TypeKind::kString)});
  for (const auto& [source, transform] : partitioning) {
    spec::PartitionField partition;
    partition.source_ids = {source};
    partition.name = "p" + std::to_string(table.spec.fields.size());
    partition.transform = transform;
    table.spec.fields.push_back(partition);
  }
  table.location = "/t";
  return std::make_shared<const spec::TableMetadata>(spec::new_table_metadata(table, Uuid{}, 0));
}

RecordBatch make_rows(const spec::TableMetadata& table, int64_t count) {
  static MemoryPool pool;
  const SchemaPtr schema = spec::to_arrow_schema(*table.current_schema());
  std::vector<std::unique_ptr<ArrayBuilder>> columns;
  for (const Field& f : schema->fields()) columns.push_back(make_builder(f.type, pool));
  const char* const hosts[] = {"example.com", "foo.test.org", "demo.net"};
  const char* const agents[] = {"Mozilla/5.0", "curl/7.68.0", "python-requests/2.25.1"};
  for (int64_t i = 0; i < count; ++i) {
    columns[0]->as<FixedWidthBuilder>().append<int64_t>(i);
    columns[1]->as<FixedWidthBuilder>().append<int64_t>(1'704'067'200'000'000 + i % 10 * 86'400'000'000);
    columns[2]->as<BytesBuilder>().append(hosts[i % 3]);
    columns[3]->as<FixedWidthBuilder>().append<int32_t>(static_cast<int32_t>(200 + i % 5));
    columns[4]->as<FixedWidthBuilder>().append<int64_t>(1'000 + i % 5'000);
    columns[5]->as<BytesBuilder>().append(agents[i % 3]);
  }
  std::vector<ArrayPtr> arrays;
  for (auto& column : columns) arrays.push_back(column->finish());
  return RecordBatch(schema, count, std::move(arrays));
}

void rows_per_second(benchmark::State& state, int64_t rows) {
  state.SetItemsProcessed(state.iterations() * rows);
}

// Partition numbers of a batch, by transform.
void number_rows(benchmark::State& state, std::vector<std::pair<int32_t, spec::Transform>> partitioning) {
  MemoryPool pool;
  const spec::TableMetadataPtr table = make_table(partitioning);
  const RecordBatch batch = make_rows(*table, kRows);
  PartitionKeys keys(table->default_spec(), *table->current_schema(), pool);
  for (auto _ : state) benchmark::DoNotOptimize(keys.number_rows(batch.columns(), kRows).count);
  state.counters["partitions"] = keys.count();
  rows_per_second(state, kRows);
}
BENCHMARK_CAPTURE(number_rows, day_and_host, {{2, spec::Transform::day()}, {3, spec::Transform::identity()}});
BENCHMARK_CAPTURE(number_rows, day, {{2, spec::Transform::day()}});
BENCHMARK_CAPTURE(number_rows, month, {{2, spec::Transform::month()}});
BENCHMARK_CAPTURE(number_rows, identity_of_5000, {{5, spec::Transform::identity()}});
BENCHMARK_CAPTURE(number_rows, truncate, {{5, spec::Transform::truncate(100)}});
BENCHMARK_CAPTURE(number_rows, bucket_of_long, {{1, spec::Transform::bucket(16)}});
BENCHMARK_CAPTURE(number_rows, bucket_of_text, {{3, spec::Transform::bucket(16)}});

// A column into the order of its partitions, by their number; argument: how many. Column 0: 8 bytes a row.
void scatter_column(benchmark::State& state, size_t column) {
  MemoryPool pool;
  const spec::TableMetadataPtr table = make_table({});
  const RecordBatch batch = make_rows(*table, kRows);
  StagedBatch staged;
  staged.row_count = kRows;
  staged.columns = batch.columns();
  staged.dictionary_ids.assign(staged.columns.size(), 0);
  std::vector<uint32_t> partitions(kRows);
  std::vector<int64_t> counts(static_cast<size_t>(state.range(0)), 0);
  SeededRandom random(1);
  for (uint32_t& partition : partitions) {
    partition = static_cast<uint32_t>(random.below(static_cast<uint64_t>(state.range(0))));
    ++counts[partition];
  }
  RowCodesBuilder codes(kRows, pool);
  codes.append(partitions);
  staged.partitions = codes.finish();
  std::vector<uint32_t> order;
  for (uint32_t p = 0; p < counts.size(); ++p) order.push_back(p);
  const Placement placement(order, order.size(), counts);
  for (auto _ : state) {
    benchmark::DoNotOptimize(scatter(std::span(&staged, 1), column, placement, {}, pool)[0]->length);
  }
  rows_per_second(state, kRows);
}
BENCHMARK_CAPTURE(scatter_column, long, 0)->Arg(30)->Arg(250)->Arg(1'000)->Arg(5'000);
BENCHMARK_CAPTURE(scatter_column, int, 3)->Arg(30)->Arg(1'000);
BENCHMARK_CAPTURE(scatter_column, text, 2)->Arg(30)->Arg(1'000);

// All of it, without a commit, into memory. Argument: rows of the one batch.
void write_partitioned(benchmark::State& state) {
  Context context({.memory_budget_bytes = size_t{1} << 30, .threads = 2});
  const spec::TableMetadataPtr table = make_table({{2, spec::Transform::day()}, {3, spec::Transform::identity()}});
  const RecordBatch batch = make_rows(*table, state.range(0));
  int64_t bytes = 0;
  for (auto _ : state) {
    DataWriter writer(context, table, std::make_shared<MemoryFileSystem>());
    writer.write(batch);
    int64_t rows = 0;
    bytes = 0;
    for (const manifest::DataFile& file : writer.finish()) {
      rows += file.record_count;
      bytes += file.file_size_bytes;
    }
    if (rows != state.range(0)) state.SkipWithError("rows are lost");
  }
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["pool_peak"] = static_cast<double>(context.memory_pool().stats().held_peak_bytes);
  rows_per_second(state, state.range(0));
}
BENCHMARK(write_partitioned)->Arg(1'000)->Arg(100'000)->Arg(2'500'000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace frazil::write
