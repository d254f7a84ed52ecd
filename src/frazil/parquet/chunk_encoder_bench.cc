// How many values a second does a column chunk take, and how many bytes does a value become? The columns of jobs R and W
// (bench: 500,000 rows of a file of R; 83,334 rows of a partition of W) and the kinds of data that encodings are for,
// with the encoding chosen and zstd, as files are written by default. `bytes_a_value` counts the whole chunk.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/columnar/builders.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/delta_encoder.h"
#include "frazil/parquet/encode_kernels.h"
#include "frazil/parquet/hybrid_encoder.h"
#include "frazil/parquet/value_dictionary.h"

namespace frazil::parquet {
namespace {

constexpr int64_t kFileRows = 500'000;

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}

MemoryPool& bench_pool() {
  static MemoryPool pool;
  return pool;
}

template <typename T, typename Value>
ArrayPtr numbers(const DataTypePtr& type, int64_t rows, Value&& value) {
  FixedWidthBuilder builder(type, bench_pool());
  for (int64_t i = 0; i < rows; ++i) builder.append(static_cast<T>(value(i)));
  return builder.finish();
}

template <typename Value>
ArrayPtr texts(int64_t rows, Value&& value) {
  BytesBuilder builder(primitive(TypeId::kUtf8), bench_pool());
  for (int64_t i = 0; i < rows; ++i) builder.append(value(i));
  return builder.finish();
}

enum Data : int64_t {
  kRunningId,      // R, W: id
  kTenths,         // R foreign: value
  kRowLabels,      // R foreign: label
  kFlags,          // R: flag
  kConstant,       // R, W: ts
  kRandomDoubles,  // R random: value
  kLabels,         // R random: label
  kClock,          // R random: ts with jitter
  kCyclic,         // W: bytes_sent of a partition
  kFiveThousand,   // 5,000 distinct int64 at random
  kRandomInts,
  kHostCodes,  // W: host of a partition, as codes
  kDataCount
};
constexpr const char* kNames[kDataCount] = {"running id",   "i * 0.1",       "row_i",        "flags",
                                            "constant",     "random double", "labels",       "clock",
                                            "W bytes_sent", "5000 distinct", "random int64", "W host codes"};

ArrayPtr make_data(int64_t data) {
  uint64_t state = 1;
  const DataTypePtr int64 = primitive(TypeId::kInt64);
  const DataTypePtr real = primitive(TypeId::kDouble);
  switch (data) {
    case kRunningId:
      return numbers<int64_t>(int64, kFileRows, [](int64_t i) { return i; });
    case kTenths:
      return numbers<double>(real, kFileRows, [](int64_t i) { return static_cast<double>(i) * 0.1; });
    case kRowLabels:
      return texts(kFileRows, [](int64_t i) { return "row_" + std::to_string(i); });
    case kFlags: {
      BoolBuilder builder(primitive(TypeId::kBool), bench_pool());
      for (int64_t i = 0; i < kFileRows; ++i) builder.append(i % 2 == 0);
      return builder.finish();
    }
    case kConstant:
      return numbers<int64_t>(timestamp(TimeUnit::kMicro, "UTC"), kFileRows, [](int64_t) { return 1'700'000'000; });
    case kRandomDoubles:
      return numbers<double>(real, kFileRows, [&](int64_t) { return static_cast<double>(next_random(state)) / 4e9; });
    case kLabels:
      return texts(kFileRows, [&](int64_t) { return "label_" + std::to_string(next_random(state) % 1000); });
    case kClock:
      return numbers<int64_t>(timestamp(TimeUnit::kMicro, "UTC"), kFileRows, [&](int64_t i) {
        return 1'700'000'000'000'000 + i * 1'000'000 + static_cast<int64_t>(next_random(state) % 1000);
      });
    case kCyclic:
      return numbers<int64_t>(int64, 83'334, [](int64_t i) { return 1000 + (i * 30) % 5000; });
    case kFiveThousand:
      return numbers<int64_t>(int64, kFileRows, [&](int64_t) { return 1000 + next_random(state) % 5000; });
    case kHostCodes: {
      const DataTypePtr type = dictionary(primitive(TypeId::kInt32), primitive(TypeId::kUtf8));
      auto codes =
          std::make_shared<Array>(*numbers<int32_t>(primitive(TypeId::kInt32), 83'334, [](int64_t) { return 1; }));
      codes->type = type;
      codes->dictionary = texts(3, [](int64_t i) { return "host" + std::to_string(i) + ".example.com"; });
      return codes;
    }
    default:
      return numbers<int64_t>(int64, kFileRows, [&](int64_t) { return next_random(state) << 32 | next_random(state); });
  }
}

void encode_chunk(benchmark::State& state) {
  const ArrayPtr values = make_data(state.range(0));
  const auto codec = static_cast<CompressionCodec>(state.range(1));
  LeafDescription leaf;
  leaf.path = "a";
  leaf.type = values->type->id() == TypeId::kDictionary ? values->type->value_type() : values->type;
  leaf.file_type = leaf_type({.name = "a", .type = values->type});
  EncoderScratch scratch(bench_pool());
  size_t bytes = 0;
  std::string encoding;
  for (auto _ : state) {
    ChunkEncoder encoder(leaf, {.codec = codec}, bench_pool());
    encoder.write({.values = values.get()}, scratch);
    const EncodedChunk chunk = encoder.finish(scratch);
    bytes = chunk.byte_size;
    encoding = to_string(chunk.encoding_stats.back().encoding);
    if (chunk.codec != codec) encoding += ", not compressed";
  }
  state.SetItemsProcessed(state.iterations() * values->length);
  state.counters["bytes_a_value"] = static_cast<double>(bytes) / static_cast<double>(values->length);
  state.SetLabel(std::string(kNames[state.range(0)]) + ": " + encoding);
}
BENCHMARK(encode_chunk)
    ->ArgNames({"data", "codec"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, kDataCount - 1, 1),
                   {static_cast<int64_t>(CompressionCodec::kZstd), static_cast<int64_t>(CompressionCodec::kSnappy),
                    static_cast<int64_t>(CompressionCodec::kUncompressed)}});

// What does a chunk cost that has few rows, as those of many partitions have? items are chunks.
void encode_small_chunk(benchmark::State& state) {
  const ArrayPtr values = make_data(state.range(0))->slice(0, state.range(1));
  LeafDescription leaf;
  leaf.path = "a";
  leaf.type = values->type;
  leaf.file_type = leaf_type({.name = "a", .type = values->type});
  EncoderScratch scratch(bench_pool());
  size_t bytes = 0;
  for (auto _ : state) {
    ChunkEncoder encoder(leaf, {}, bench_pool());
    encoder.write({.values = values.get()}, scratch);
    bytes = encoder.finish(scratch).byte_size;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes"] = static_cast<double>(bytes);
  state.SetLabel(kNames[state.range(0)]);
}
BENCHMARK(encode_small_chunk)
    ->ArgNames({"data", "rows"})
    ->ArgsProduct({{kRunningId, kTenths, kRowLabels, kConstant, kLabels, kCyclic, kRandomInts}, {20, 500, 2500}});

// The loops alone, on 20,000 values: a page.
constexpr size_t kPageValues = 20'000;

void number_values(benchmark::State& state) {
  const auto distinct = static_cast<uint64_t>(state.range(0));
  uint64_t random = 1;
  std::vector<uint64_t> values(kPageValues);
  for (uint64_t& value : values) value = next_random(random) % distinct * 1'000'003;
  LeafType type;
  type.physical = PhysicalType::kInt64;
  ValueDictionary dictionary(type, bench_pool());
  EncodeBuffer out(bench_pool());
  const FixedValues fixed{reinterpret_cast<const std::byte*>(values.data()), 8, values.size()};
  for (auto _ : state) {
    out.clear();
    dictionary.number(fixed, UINT32_MAX - 2, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kPageValues));
}
BENCHMARK(number_values)->ArgName("distinct")->Arg(1)->Arg(5)->Arg(1000)->Arg(5000);

void hybrid(benchmark::State& state) {
  uint64_t random = 1;
  std::vector<uint32_t> values(kPageValues);
  const int width = static_cast<int>(state.range(0));
  for (uint32_t& value : values) value = static_cast<uint32_t>(next_random(random) & ((uint64_t{1} << width) - 1));
  EncodeBuffer out(bench_pool());
  for (auto _ : state) {
    out.clear();
    append_hybrid(values, width, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kPageValues));
}
BENCHMARK(hybrid)->ArgName("width")->Arg(1)->Arg(3)->Arg(10)->Arg(17);

void delta(benchmark::State& state) {
  uint64_t random = 1;
  std::vector<uint64_t> values(kPageValues);
  const auto width = static_cast<unsigned>(state.range(0));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 1'000'000 * i + (next_random(random) & ((uint64_t{1} << width) - 1));
  }
  EncodeBuffer out(bench_pool());
  for (auto _ : state) {
    out.clear();
    append_delta(std::span<const uint64_t>(values), out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kPageValues));
}
BENCHMARK(delta)->ArgName("jitter_bits")->Arg(0)->Arg(10)->Arg(31);

void split(benchmark::State& state) {
  std::vector<uint64_t> values(kPageValues, 7);
  EncodeBuffer out(bench_pool());
  for (auto _ : state) {
    encode_kernels().split(reinterpret_cast<const std::byte*>(values.data()), 8, values.size(),
                           out.reserve(values.size() * 8));
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kPageValues * 8));
}
BENCHMARK(split);

}  // namespace
}  // namespace frazil::parquet
