// Do the bitmap kernels run at the speed of words at any bit offset? (65,536 bits: the validity of one batch, in cache)
// Arguments: the bit offset. Each result is checked once against get_bit. items = bits.
#include <vector>

#include <benchmark/benchmark.h>

#include "frazil/base/bits.h"

namespace frazil {
namespace {

constexpr size_t kBits = 65'536;

std::vector<uint8_t> sample_bits() {
  std::vector<uint8_t> bytes(bytes_for_bits(kBits) + 16);
  uint32_t state = 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

void report(benchmark::State& state, bool is_right) {
  if (!is_right) state.SkipWithError("wrong result");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBits));
}

void count_bits(benchmark::State& state) {
  const auto bytes = sample_bits();
  const auto offset = static_cast<size_t>(state.range(0));
  size_t expected = 0;
  for (size_t i = 0; i < kBits; ++i) expected += get_bit(bytes.data(), offset + i);
  size_t count = 0;
  for (auto _ : state) benchmark::DoNotOptimize(count = count_set_bits(bytes.data(), offset, kBits));
  report(state, count == expected);
}
BENCHMARK(count_bits)->Arg(0)->Arg(3);

void copy(benchmark::State& state) {
  const auto bytes = sample_bits();
  const auto offset = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> target(bytes_for_bits(kBits));
  for (auto _ : state) {
    copy_bits(bytes.data(), offset, target.data(), 0, kBits);
    benchmark::ClobberMemory();
  }
  bool is_right = true;
  for (size_t i = 0; i < kBits; ++i)
    is_right = is_right && get_bit(target.data(), i) == get_bit(bytes.data(), offset + i);
  report(state, is_right);
}
BENCHMARK(copy)->Arg(0)->Arg(3);

void combine(benchmark::State& state) {
  const auto bytes = sample_bits();
  const auto offset = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> target(bytes_for_bits(kBits));
  for (auto _ : state) {
    and_bits(bytes.data(), offset, bytes.data(), offset + 1, target.data(), 0, kBits);
    benchmark::ClobberMemory();
  }
  bool is_right = true;
  for (size_t i = 0; i < kBits; ++i) {
    is_right = is_right && get_bit(target.data(), i) ==
                               (get_bit(bytes.data(), offset + i) && get_bit(bytes.data(), offset + i + 1));
  }
  report(state, is_right);
}
BENCHMARK(combine)->Arg(0)->Arg(3);

void pack(benchmark::State& state) {
  std::vector<uint8_t> bools(kBits);
  const auto bytes = sample_bits();
  unpack_bools(bytes.data(), 0, kBits, bools.data());
  const auto offset = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> target(bytes_for_bits(kBits + offset));
  for (auto _ : state) {
    pack_bools(bools.data(), kBits, target.data(), offset);
    benchmark::ClobberMemory();
  }
  report(state, equal_bits(bytes.data(), 0, target.data(), offset, kBits));
}
BENCHMARK(pack)->Arg(0)->Arg(3);

void unpack(benchmark::State& state) {
  const auto bytes = sample_bits();
  const auto offset = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> bools(kBits);
  for (auto _ : state) {
    unpack_bools(bytes.data(), offset, kBits, bools.data());
    benchmark::ClobberMemory();
  }
  bool is_right = true;
  for (size_t i = 0; i < kBits; ++i) is_right = is_right && bools[i] == get_bit(bytes.data(), offset + i);
  report(state, is_right);
}
BENCHMARK(unpack)->Arg(0)->Arg(3);

// All set: what a column without nulls costs.
void find_first_clear(benchmark::State& state) {
  const std::vector<uint8_t> bytes(bytes_for_bits(kBits) + 16, 0xff);
  const auto offset = static_cast<size_t>(state.range(0));
  size_t found = 0;
  for (auto _ : state) benchmark::DoNotOptimize(found = find_bit(bytes.data(), offset, offset + kBits, false));
  report(state, found == offset + kBits);
}
BENCHMARK(find_first_clear)->Arg(0)->Arg(3);

}  // namespace
}  // namespace frazil
