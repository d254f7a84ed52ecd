// What does an entry cost to plan, decompression aside? One manifest of 8 MiB as Iceberg Java writes them (121-byte paths, one
// partition field, 12 columns with six maps of metrics: some 630 bytes an entry), codec null, blocks of 64 KiB.
//   read             to columns, with and without the maps; `bytes_an_entry` is what stays in memory
//   walk             then path, partition and bounds of two columns of each entry
// And what does one cost to write? Entries of the same shape, by codec: none, deflate, zstd.
//   write_added      from values
//   write_existing   carried over from a manifest that was read
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/avro/test_container.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_writer.h"

namespace frazil::manifest {
namespace {

constexpr int kColumns = 12;
constexpr int64_t kEntries = 13000;

std::string field(const std::string& name, int id, const std::string& type) {
  return R"({"name":")" + name + R"(","field-id":)" + std::to_string(id) + R"(,"type":)" + type + "}";
}

std::string map_type(const std::string& name, int id, int key_id, const std::string& value) {
  return field(name, id,
               R"(["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k)" +
                   std::to_string(key_id) + R"(","fields":[)" + field("key", key_id, "\"int\"") + "," +
                   field("value", key_id + 1, value) + "]}}]");
}

std::string make_manifest() {
  const std::string data_file =
      R"({"type":"record","name":"r2","fields":[)" + field("content", 134, "\"int\"") + "," +
      field("file_path", 100, "\"string\"") + "," + field("file_format", 101, "\"string\"") + "," +
      field("partition", 102,
            R"({"type":"record","name":"r102","fields":[)" +
                field("d", 1000, R"(["null",{"type":"int","logicalType":"date"}])") + "]}") +
      "," + field("record_count", 103, "\"long\"") + "," + field("file_size_in_bytes", 104, "\"long\"") + "," +
      map_type("column_sizes", 108, 117, "\"long\"") + "," + map_type("value_counts", 109, 119, "\"long\"") + "," +
      map_type("null_value_counts", 110, 121, "\"long\"") + "," + map_type("nan_value_counts", 137, 138, "\"long\"") +
      "," + map_type("lower_bounds", 125, 126, "\"bytes\"") + "," + map_type("upper_bounds", 128, 129, "\"bytes\"") +
      "," + field("key_metadata", 131, R"(["null","bytes"])") + "," +
      field("split_offsets", 132, R"(["null",{"type":"array","items":"long"}])") + "," +
      field("sort_order_id", 140, R"(["null","int"])") + "]}";
  const std::string schema =
      R"({"type":"record","name":"manifest_entry","fields":[)" + field("status", 0, "\"int\"") + "," +
      field("snapshot_id", 1, R"(["null","long"])") + "," + field("sequence_number", 3, R"(["null","long"])") + "," +
      field("file_sequence_number", 4, R"(["null","long"])") + "," + field("data_file", 2, data_file) + "]}";
  std::vector<avro::TestBlock> blocks;
  avro::Encoder out;
  int64_t count = 0;
  for (int64_t i = 0; i < kEntries; ++i) {
    out.long_(1).long_(1).long_(5'000'000'000'000'000'000 + i).long_(0).long_(0).long_(0);
    std::string path = "s3://warehouse/events/data/ts_day=2026-01-01/00000-" + std::to_string(i) +
                       "-f79c3e09-677c-4bbd-a479-3f349cb785e7-00001.parquet";
    path.resize(121, '0');
    out.bytes(path).bytes("PARQUET").long_(1).long_(20000 + i % 365).long_(500'000 + i).long_(64'000'000 + i);
    for (int map = 0; map < 4; ++map) {
      out.long_(1).long_(kColumns);
      for (int c = 1; c <= kColumns; ++c) out.long_(c).long_(map == 0 ? 5'000'000 + i : map == 1 ? 500'000 + i : 0);
      out.long_(0);
    }
    for (int map = 0; map < 2; ++map) {
      out.long_(1).long_(kColumns);
      for (int c = 1; c <= kColumns; ++c)
        out.long_(c).bytes(std::string(c % 4 == 0 ? 16 : 8, static_cast<char>('a' + map)));
      out.long_(0);
    }
    out.long_(0).long_(1).long_(1).long_(4).long_(0).long_(1).long_(0);
    ++count;
    if (out.str().size() > (64 << 10) || i + 1 == kEntries) {
      blocks.push_back({count, out.str()});
      out = avro::Encoder();
      count = 0;
    }
  }
  return avro::make_container(schema, blocks, "null", {{"format-version", "2"}});
}

void read(benchmark::State& state) {
  const auto file = avro::memory_file(make_manifest());
  MemoryPool pool;
  ManifestSchemaCache cache;
  ManifestOptions options;
  options.with_metrics = state.range(0) != 0;
  options.cache = &cache;
  size_t kept = 0;
  for (auto _ : state) {
    const Manifest manifest = read_manifest(file, {}, pool, options);
    if (manifest.size() != static_cast<size_t>(kEntries)) state.SkipWithError("entries are missing");
    kept = pool.stats().held_bytes - pool.stats().idle_bytes;
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file->size()));
  state.counters["bytes_an_entry"] = static_cast<double>(kept) / kEntries;
  state.counters["us_an_entry"] = benchmark::Counter(static_cast<double>(state.iterations() * kEntries) / 1e6,
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(read)->ArgName("metrics")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void walk(benchmark::State& state) {
  const auto file = avro::memory_file(make_manifest());
  MemoryPool pool;
  ManifestOptions options;
  options.with_metrics = true;
  const Manifest manifest = read_manifest(file, {}, pool, options);
  for (auto _ : state) {
    int64_t sum = 0;
    for (size_t i = 0; i < manifest.size(); ++i) {
      const Entry entry = manifest[i];
      sum += static_cast<int64_t>(entry.file_path().size()) + entry.partition_value(0).as_integer();
      sum += entry.bound(BoundKind::kLower, 3)->front() + entry.bound(BoundKind::kUpper, 7)->front();
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
}
BENCHMARK(walk)->Unit(benchmark::kMillisecond);

ManifestWriterOptions writer_options(Codec codec) {
  ManifestWriterOptions options;
  std::vector<spec::NestedField> fields;
  for (int c = 1; c <= kColumns; ++c) {
    fields.emplace_back();
    fields.back().id = c;
    fields.back().name = "column_" + std::to_string(c);
    fields.back().type = spec::primitive(c == 1 ? spec::TypeKind::kTimestamp : spec::TypeKind::kLong);
  }
  options.schema = std::make_shared<const spec::Schema>(std::move(fields));
  spec::PartitionField field;
  field.source_ids = {1};
  field.field_id = 1000;
  field.name = "d";
  field.transform = spec::Transform::day();
  options.spec.fields.push_back(std::move(field));
  options.snapshot_id = 7;
  options.container.codec = codec;
  return options;
}

template <typename Write>
void run_writes(benchmark::State& state, Write write) {
  constexpr Codec kCodecs[] = {Codec::kNone, Codec::kDeflate, Codec::kZstd};
  MemoryPool pool;
  MemoryFileSystem files;
  int64_t bytes = 0;
  for (auto _ : state) {
    ManifestWriter writer(files.open_output("memory:/m.avro"), writer_options(kCodecs[state.range(0)]), pool);
    write(writer);
    if (writer.entry_count() != static_cast<uint64_t>(kEntries)) state.SkipWithError("entries are missing");
    bytes = writer.finish({.if_exists = OutputFile::IfExists::kReplace}).length;
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
  state.counters["bytes_an_entry"] = static_cast<double>(bytes) / kEntries;
}

void write_added(benchmark::State& state) {
  const auto file = avro::memory_file(make_manifest());
  MemoryPool pool;
  ManifestOptions options;
  options.with_metrics = true;
  const Manifest manifest = read_manifest(file, {}, pool, options);
  std::vector<DataFile> data_files;
  for (size_t i = 0; i < manifest.size(); ++i) data_files.push_back(data_file_of(manifest[i]));
  run_writes(state, [&](ManifestWriter& writer) {
    for (const DataFile& data_file : data_files) writer.add(data_file);
  });
}
BENCHMARK(write_added)->ArgName("codec")->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

void write_existing(benchmark::State& state) {
  const auto file = avro::memory_file(make_manifest());
  MemoryPool pool;
  ManifestOptions options;
  options.with_metrics = true;
  const Manifest manifest = read_manifest(file, {}, pool, options);
  run_writes(state, [&](ManifestWriter& writer) {
    for (size_t i = 0; i < manifest.size(); ++i) writer.existing(manifest[i]);
  });
}
BENCHMARK(write_existing)->ArgName("codec")->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace frazil::manifest
