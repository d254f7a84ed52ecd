// How fast are Avro records turned into Arrow columns, and what does it save to want few of them? Records as in rows of
// a table: long, nullable long, string, nullable double, a list of ints; blocks of 64 KiB, codec null, the file in
// memory. items = records, bytes = the container.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/avro/decoder.h"
#include "frazil/avro/test_container.h"

namespace frazil::avro {
namespace {

constexpr int64_t kRecords = 100'000;
constexpr const char* kSchema =
    R"({"type":"record","name":"row","fields":[{"name":"id","type":"long"},{"name":"parent","type":["null","long"]},
    {"name":"label","type":"string"},{"name":"value","type":["null","double"]},
    {"name":"tags","type":{"type":"array","items":"int"}}]})";
constexpr const char* kNarrow = R"({"type":"record","name":"row","fields":[{"name":"id","type":"long"}]})";

std::string make_rows() {
  std::vector<TestBlock> blocks;
  Encoder out;
  int64_t count = 0;
  for (int64_t i = 0; i < kRecords; ++i) {
    out.long_(i);
    if (i % 10 == 0) {
      out.long_(0);
    } else {
      out.long_(1).long_(i / 10);
    }
    out.bytes("row_" + std::to_string(i)).long_(1).double_(static_cast<double>(i) * 0.1);
    out.long_(3).long_(i % 7).long_(i % 11).long_(i).long_(0);
    ++count;
    if (out.str().size() > (64 << 10) || i + 1 == kRecords) {
      blocks.push_back({count, out.str()});
      out = Encoder();
      count = 0;
    }
  }
  return make_container(kSchema, blocks);
}

void decode(benchmark::State& state, const char* reader) {
  const auto file = memory_file(make_rows());
  MemoryPool pool;
  for (auto _ : state) {
    StreamOptions options;
    if (reader != nullptr) options.reader_schema = parse_schema(reader);
    const auto stream = open_stream(file, pool, options);
    int64_t rows = 0;
    int64_t last = 0;
    while (const auto batch = stream->next()) {
      rows += batch->row_count();
      last = batch->column(0)->values<int64_t>()[batch->row_count() - 1];
    }
    if (rows != kRecords || last != kRecords - 1) state.SkipWithError("wrong result");
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file->size()));
  state.counters["pool_peak_bytes"] = static_cast<double>(pool.stats().held_peak_bytes);
}
BENCHMARK_CAPTURE(decode, all_columns, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, one_of_five, kNarrow)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace frazil::avro
