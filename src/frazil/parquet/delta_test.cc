#include "frazil/parquet/delta.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/encoders_test.h"

namespace frazil::parquet {
namespace {

using testing::delta_packed;
using testing::DeltaShape;

struct Padded {
  explicit Padded(const std::string& text) : bytes(text.size() + 64), size(text.size()) {
    std::memcpy(bytes.data(), text.data(), text.size());
  }
  std::span<const std::byte> span() const { return {bytes.data(), size}; }
  std::vector<std::byte> bytes;
  size_t size;
};

template <typename T>
std::vector<T> read_all(DeltaReader reader, const Kernels& kernels, size_t step = 1 << 20) {
  using Unsigned = std::make_unsigned_t<T>;
  std::vector<T> out(static_cast<size_t>(reader.left()) + 16);
  size_t done = 0;
  while (reader.left() > 0) {
    const size_t part = std::min<size_t>(step, static_cast<size_t>(reader.left()));
    reader.read(kernels, reinterpret_cast<Unsigned*>(out.data() + done), part);
    done += part;
  }
  out.resize(done);
  return out;
}

template <typename T>
void check_round_trip() {
  // Values of any size, and runs of small steps between them.
  std::vector<T> values;
  const auto parts = *rc::gen::container<std::vector<std::tuple<T, int, int>>>(
      rc::gen::tuple(rc::gen::arbitrary<T>(), rc::gen::inRange(0, 80), rc::gen::inRange(-3, 9)));
  for (auto [first, count, step] : parts) {
    for (int i = 0; i < count; ++i) {
      values.push_back(static_cast<T>(static_cast<std::make_unsigned_t<T>>(first) +
                                      static_cast<std::make_unsigned_t<T>>(i * step + i % 3)));
    }
  }
  DeltaShape shape;
  shape.miniblocks = *rc::gen::element<size_t>(1, 2, 4, 8);
  shape.block_values = shape.miniblocks * *rc::gen::element<size_t>(8, 32, 64, 256);
  shape.extra_width = *rc::gen::element(0, 0, 1, 40);
  shape.absent_width = *rc::gen::element('\0', '\x07', '\xff');
  const bool followed = *rc::gen::arbitrary<bool>();
  shape.cut_last = !followed && *rc::gen::arbitrary<bool>();
  const std::string stream = delta_packed(values, shape);
  const Padded bytes(stream + (followed ? "more" : ""));
  const auto step = static_cast<size_t>(*rc::gen::inRange(1, 200));
  const auto skip = static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(values.size()) + 1));
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Kernels* kernels = find_kernels(name);
    if (kernels == nullptr) continue;
    DeltaReader reader(bytes.span());
    RC_ASSERT(reader.left() == values.size());
    RC_ASSERT(read_all<T>(reader, *kernels) == values);
    RC_ASSERT(read_all<T>(reader, *kernels, step) == values);
    if (!shape.cut_last) RC_ASSERT(reader.find_end() == bytes.bytes.data() + stream.size());
    reader.skip(*kernels, skip);
    RC_ASSERT(read_all<T>(reader, *kernels) == std::vector<T>(values.begin() + static_cast<long>(skip), values.end()));
  }
}

RC_GTEST_PROP(Delta, RoundTripsInt32InAnyShapeAndSteps, ()) {
  check_round_trip<int32_t>();
}
RC_GTEST_PROP(Delta, RoundTripsInt64InAnyShapeAndSteps, ()) {
  check_round_trip<int64_t>();
}

// reports.md Q13: what overflows wraps around, whatever the width of the writer's arithmetic.
TEST(Delta, WrapsAround) {
  constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
  const std::vector<int32_t> narrow = {kMin32, kMax32, kMin32, -1, kMax32, 0, kMin32};
  const std::vector<int64_t> wide = {kMin64, kMax64, kMin64, -1, kMax64, 0, kMin64};
  EXPECT_EQ(read_all<int32_t>(DeltaReader(Padded(delta_packed(narrow)).span()), kernels()), narrow);
  EXPECT_EQ(read_all<int64_t>(DeltaReader(Padded(delta_packed(wide)).span()), kernels()), wide);
  // Differences of int32 values as 64-bit arithmetic has them: 33 bits.
  const std::vector<int64_t> extremes = {kMin32, kMax32, kMin32, kMax32};
  EXPECT_EQ(read_all<int32_t>(DeltaReader(Padded(delta_packed(extremes)).span()), kernels()),
            (std::vector<int32_t>{kMin32, kMax32, kMin32, kMax32}));
}

// reports.md Q14: 129 values in blocks of 128 leave the last miniblocks without bytes, their widths arbitrary.
TEST(Delta, TakesBlocksThatEndAtTheirFirstValue) {
  for (size_t count : {0, 1, 2, 33, 128, 129, 130, 161, 257}) {
    std::vector<int64_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<int64_t>(i * i);
    const Padded bytes(delta_packed(values, {.absent_width = '\xff'}));
    const DeltaReader reader(bytes.span());
    EXPECT_EQ(read_all<int64_t>(reader, kernels()), values) << count;
    EXPECT_EQ(reader.find_end(), bytes.bytes.data() + bytes.size) << count;
  }
  EXPECT_EQ(DeltaReader(std::span<const std::byte>()).left(), 0U);
}

std::string error_of(const std::string& stream) {
  const Padded bytes(stream);
  try {
    DeltaReader reader(bytes.span());
    reader.find_end();
    if (reader.left() > 100'000) reader.skip(kernels(), reader.left() - 1);
    read_all<int64_t>(reader, kernels());
  } catch (const CorruptError& error) {
    return error.message();
  }
  return "no error";
}

TEST(Delta, RefusesShapesThatCannotBe) {
  const auto header = [](uint64_t block, uint64_t miniblocks, uint64_t count) {
    std::string out;
    testing::append_varint(out, block);
    testing::append_varint(out, miniblocks);
    testing::append_varint(out, count);
    testing::append_zigzag(out, 5);
    return out;
  };
  for (auto [block, miniblocks] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 1}, {128, 0}, {128, 3}, {128, 32}, {uint64_t{1} << 32, 1}, {UINT64_MAX, 1}}) {
    EXPECT_NE(error_of(header(block, miniblocks, 10)), "no error") << block << "/" << miniblocks;
  }
  EXPECT_EQ(error_of(header(128, 4, 1)), "no error");
  EXPECT_NE(error_of(header(128, 4, 2)), "no error");  // no block
  EXPECT_NE(error_of(header(128, 4, UINT64_MAX)), "no error");
  EXPECT_NE(error_of(header(128, 4, 2) + std::string("\0\x41\0\0\0", 5) + std::string(1000, 'x')), "no error");  // 65
  EXPECT_NE(error_of(header(uint64_t{1} << 31, uint64_t{1} << 20, 10) + std::string(100, '\0')), "no error");
  EXPECT_NE(error_of(header(uint64_t{1} << 31, 1, 10) + std::string("\0\x40", 2) + std::string(100, '\0')), "no error");
  // Zeros of width 0 take no bytes: two thousand million of them are passed over in no time, if they are claimed.
  EXPECT_EQ(error_of(header(uint64_t{1} << 31, 1, 100'000) + std::string("\0\0", 2)), "no error");
}

TEST(Delta, EveryCutIsAnErrorAndEveryChangeIsSurvived) {
  std::vector<int64_t> values(300);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 977 % 1013) << (i % 50);
  const std::string whole = delta_packed(values);
  for (size_t size = 1; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      error_of(changed);
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
