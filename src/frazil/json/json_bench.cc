// How fast is table metadata with many snapshots parsed and written? bytes_per_second counts the text;
// `tree_ratio` is the heap of the tree over the text.
#include <string>

#include <benchmark/benchmark.h>

#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::json {
namespace {

// Like the snapshots that Iceberg Java writes.
std::string metadata(int64_t snapshots, int indent) {
  Array list;
  for (int64_t index = 0; index < snapshots; ++index) {
    Value summary{Object{}};
    for (const char* key : {"added-data-files", "added-records", "added-files-size", "total-records",
                            "total-files-size", "total-data-files"}) {
      summary.set(key, Value(std::to_string(index * 7919)));
    }
    Value snapshot{Object{}};
    snapshot.set("sequence-number", Value(index));
    snapshot.set("snapshot-id", Value(index * 4611686018427387 + 1));
    snapshot.set("timestamp-ms", Value(1764460800000 + index));
    snapshot.set("summary", std::move(summary));
    snapshot.set("manifest-list", Value("s3://warehouse/db/table/metadata/snap-" + std::to_string(index) +
                                        "-1-8f2b1f5e-7d43-4a6e-9c55-0123456789ab.avro"));
    snapshot.set("schema-id", Value(int64_t{0}));
    list.push_back(std::move(snapshot));
  }
  return write(Value(Object{{"format-version", Value(int64_t{2})}, {"snapshots", Value(std::move(list))}}), indent);
}

void parse_metadata(benchmark::State& state) {
  const std::string text = metadata(state.range(0), static_cast<int>(state.range(1)));
  MemoryPool pool;
  for (auto _ : state) {
    const Value value = parse(text, {.pool = &pool});
    benchmark::DoNotOptimize(&value);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["pool_peak_bytes"] = static_cast<double>(pool.stats().held_peak_bytes);
  state.counters["tree_ratio"] = static_cast<double>(estimate_bytes(parse(text))) / static_cast<double>(text.size());
}
BENCHMARK(parse_metadata)->ArgNames({"snapshots", "indent"})->ArgsProduct({{10, 10000}, {0, 2}});

void write_metadata(benchmark::State& state) {
  const Value value = parse(metadata(state.range(0), 0));
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = write(value);
    bytes += text.size();
    benchmark::DoNotOptimize(text.data());
  }
  if (!(parse(write(value)) == value)) state.SkipWithError("wrong result");
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(write_metadata)->ArgName("snapshots")->Arg(10)->Arg(10000);

}  // namespace
}  // namespace frazil::json
