// What does a value's text cost? Dates, timestamps, decimals and doubles both ways, UTF-8 validation, CRC-32: the inner
// loops of CSV and JSON output and of string columns. items = values, bytes = text.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/civil_time.h"
#include "frazil/base/crc32.h"
#include "frazil/base/decimal.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"

namespace frazil {
namespace {

constexpr size_t kValues = 1024;

std::vector<int64_t> sample_timestamps() {
  std::vector<int64_t> values(kValues);
  uint64_t state = 1;
  for (int64_t& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<int64_t>(state >> 13) % 2'000'000'000'000'000;
  }
  return values;
}

void report(benchmark::State& state, bool is_right = true) {
  if (!is_right) state.SkipWithError("wrong result");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kValues));
}

void print_timestamp(benchmark::State& state) {
  const auto values = sample_timestamps();
  std::string text;
  for (auto _ : state) {
    text.clear();
    for (int64_t value : values) append_timestamp(text, value, TimeUnit::kMicro);
    benchmark::DoNotOptimize(text.data());
  }
  report(state);
}
BENCHMARK(print_timestamp);

void parse_timestamps(benchmark::State& state) {
  const auto values = sample_timestamps();
  std::vector<std::string> texts;
  for (int64_t value : values) texts.push_back(timestamp_to_string(value, TimeUnit::kMicro));
  std::vector<int64_t> parsed(kValues);
  for (auto _ : state) {
    for (size_t i = 0; i < kValues; ++i) {
      parsed[i] = try_parse_timestamp(texts[i], TimeUnit::kMicro, ZoneRule::kForbidden).value_or(0);
    }
    benchmark::DoNotOptimize(parsed.data());
  }
  report(state, parsed == values);
}
BENCHMARK(parse_timestamps);

void print_decimal(benchmark::State& state) {
  const auto values = sample_timestamps();
  std::string text;
  for (auto _ : state) {
    text.clear();
    for (int64_t value : values) append_decimal(text, value, 2);
    benchmark::DoNotOptimize(text.data());
  }
  report(state);
}
BENCHMARK(print_decimal);

void parse_decimals(benchmark::State& state) {
  const auto values = sample_timestamps();
  std::vector<std::string> texts;
  for (int64_t value : values) texts.push_back(decimal_to_string(value, 2));
  std::vector<int64_t> parsed(kValues);
  for (auto _ : state) {
    for (size_t i = 0; i < kValues; ++i) {
      parsed[i] = static_cast<int64_t>(try_parse_decimal128(texts[i], 18, 2).value_or(0));
    }
    benchmark::DoNotOptimize(parsed.data());
  }
  report(state, parsed == values);
}
BENCHMARK(parse_decimals);

void print_double(benchmark::State& state) {
  const auto values = sample_timestamps();
  std::string text;
  for (auto _ : state) {
    text.clear();
    for (int64_t value : values) append_number(text, static_cast<double>(value) / 1e6);
    benchmark::DoNotOptimize(text.data());
  }
  report(state);
}
BENCHMARK(print_double);

// Argument: one character in how many is not ASCII; 0: none.
void validate_utf8(benchmark::State& state) {
  std::string text;
  while (text.size() < 65'536) {
    text.append(static_cast<size_t>(state.range(0) == 0 ? 64 : state.range(0) - 1), 'x');
    if (state.range(0) != 0) append_code_point(text, 0xfc);
  }
  bool is_right = true;
  for (auto _ : state) benchmark::DoNotOptimize(is_right = is_right && is_valid_utf8(text));
  if (!is_right) state.SkipWithError("wrong result");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(validate_utf8)->Arg(0)->Arg(100)->Arg(10)->Arg(1);

void checksum(benchmark::State& state) {
  const std::string text(65'536, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(crc32(std::as_bytes(std::span(text))));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(checksum);

}  // namespace
}  // namespace frazil
