#include "frazil/parquet/encode_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/parquet/encoders_test.h"

namespace frazil::parquet {
namespace {

std::vector<const EncodeKernels*> all_kernels() {
  std::vector<const EncodeKernels*> all;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (const EncodeKernels* kernels = find_encode_kernels(name)) all.push_back(kernels);
  }
  return all;
}

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ state >> 29;
}

// Exactly as long as said, so that AddressSanitizer sees a read too far.
template <typename T>
std::vector<T> random_values(size_t count, unsigned bits, uint64_t seed) {
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(next_random(seed) & (bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1));
  }
  values.shrink_to_fit();
  return values;
}

TEST(EncodeKernels, PackEveryWidthAsTheBitsLie) {
  for (const EncodeKernels* kernels : all_kernels()) {
    for (int width = 1; width <= 64; ++width) {
      for (size_t count : {8, 16, 32, 128, 1000}) {
        SCOPED_TRACE(std::string(kernels->name) + " " + std::to_string(width) + " " + std::to_string(count));
        const auto wide = random_values<uint64_t>(count, static_cast<unsigned>(width), count + 1);
        std::string expected;
        testing::append_packed(expected, wide, width);
        std::vector<std::byte> packed(expected.size() + 64);
        kernels->pack_wide(wide.data(), count, width, packed.data());
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(packed.data()), expected.size()), expected);
        if (width > 32) continue;
        const std::vector<uint32_t> narrow(wide.begin(), wide.end());
        std::fill(packed.begin(), packed.end(), std::byte{0xAA});
        kernels->pack(narrow.data(), count, width, packed.data());
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(packed.data()), expected.size()), expected);
      }
    }
  }
}

TEST(EncodeKernels, FindTheEndOfEveryRun) {
  for (const EncodeKernels* kernels : all_kernels()) {
    for (size_t count = 1; count < 200; ++count) {
      for (size_t run : {size_t{1}, size_t{2}, count / 2, count - 1, count}) {
        if (run < 1 || run > count) continue;
        std::vector<uint64_t> eight(count, 5);
        std::fill(eight.begin() + static_cast<ptrdiff_t>(run), eight.end(), uint64_t{5} | uint64_t{1} << 63);
        const std::vector<uint32_t> four = [&] {
          std::vector<uint32_t> values(count, 5);
          std::fill(values.begin() + static_cast<ptrdiff_t>(run), values.end(), 6);
          return values;
        }();
        const std::vector<uint8_t> one(four.begin(), four.end());
        EXPECT_EQ(kernels->run8(eight.data(), count), run) << kernels->name << " " << count;
        EXPECT_EQ(kernels->run4(four.data(), count), run) << kernels->name << " " << count;
        EXPECT_EQ(kernels->run1(one.data(), count), run) << kernels->name << " " << count;
      }
    }
  }
}

TEST(EncodeKernels, FindTheBoundsOfIntegers) {
  for (const EncodeKernels* kernels : all_kernels()) {
    for (size_t count = 1; count < 150; ++count) {
      const auto eight = random_values<uint64_t>(count, 64, count);
      std::vector<int64_t> signed_eight(count);
      std::memcpy(signed_eight.data(), eight.data(), count * 8);
      const auto four = random_values<uint32_t>(count, 32, count);
      std::vector<int32_t> signed_four(count);
      std::memcpy(signed_four.data(), four.data(), count * 4);
      const auto check = [&](const auto& values, const auto& found) {
        EXPECT_EQ(found.min, *std::min_element(values.begin(), values.end())) << kernels->name << " " << count;
        EXPECT_EQ(found.max, *std::max_element(values.begin(), values.end())) << kernels->name << " " << count;
      };
      check(eight, kernels->min_max_u8(eight.data(), count));
      check(signed_eight, kernels->min_max_i8(signed_eight.data(), count));
      check(four, kernels->min_max_u4(four.data(), count));
      check(signed_four, kernels->min_max_i4(signed_four.data(), count));
      uint64_t bits8 = 0;
      uint32_t bits4 = 0;
      for (uint64_t value : eight) bits8 |= value;
      for (uint32_t value : four) bits4 |= value;
      EXPECT_EQ(kernels->or8(eight.data(), count), bits8);
      EXPECT_EQ(kernels->or4(four.data(), count), bits4);
    }
  }
}

template <typename T, typename MinMaxOf>
void check_floats(MinMaxOf&& min_max_of, std::string_view name) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  for (size_t count = 1; count < 100; ++count) {
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<T> values(count);
      uint64_t seed = count;
      size_t nans = 0;
      T low = infinity;
      T high = -infinity;
      for (T& value : values) {
        value = static_cast<T>(static_cast<int64_t>(next_random(seed) >> 40) - (1 << 23)) / 16;
        if (kind == 2 || (kind == 1 && next_random(seed) % 3 == 0)) value = nan;
        if (std::isnan(value)) {
          ++nans;
        } else {
          low = std::min(low, value);
          high = std::max(high, value);
        }
      }
      const FloatMinMax<T> found = min_max_of(values.data(), count);
      EXPECT_EQ(found.nan_count, nans) << name << " " << count;
      EXPECT_EQ(found.min, low) << name << " " << count;
      EXPECT_EQ(found.max, high) << name << " " << count;
    }
  }
}

TEST(EncodeKernels, PassOverNaNs) {
  for (const EncodeKernels* kernels : all_kernels()) {
    check_floats<float>(kernels->min_max_f4, kernels->name);
    check_floats<double>(kernels->min_max_f8, kernels->name);
  }
}

TEST(EncodeKernels, TakeDifferencesThatWrapAround) {
  for (const EncodeKernels* kernels : all_kernels()) {
    for (size_t count : {1, 2, 31, 32, 127, 128}) {
      const auto values = random_values<uint64_t>(count + 1, 64, count);
      std::vector<uint64_t> rests(count + 8);
      const int64_t least = kernels->deltas8(values.data() + 1, count, rests.data());
      int64_t expected = INT64_MAX;
      for (size_t i = 0; i < count; ++i) expected = std::min(expected, static_cast<int64_t>(values[i + 1] - values[i]));
      EXPECT_EQ(least, expected) << kernels->name;
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(rests[i], values[i + 1] - values[i] - static_cast<uint64_t>(expected)) << kernels->name << " " << i;
      }
    }
  }
}

TEST(EncodeKernels, SplitBytesOfEveryWidth) {
  for (const EncodeKernels* kernels : all_kernels()) {
    for (size_t width : {1, 2, 3, 4, 5, 8, 9, 16}) {
      for (size_t count : {1, 15, 16, 17, 100}) {
        const auto bytes = random_values<uint8_t>(width * count, 8, width + count);
        const std::string plain(bytes.begin(), bytes.end());
        std::vector<std::byte> split(width * count);
        kernels->split(reinterpret_cast<const std::byte*>(bytes.data()), width, count, split.data());
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(split.data()), split.size()),
                  testing::split_bytes(plain, width))
            << kernels->name << " " << width << " " << count;
      }
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
