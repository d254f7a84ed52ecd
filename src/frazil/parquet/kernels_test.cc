// Each kernel that this machine runs gives what the obvious loop gives, for every width and count, and touches nothing that
// is not its own.
#include "frazil/parquet/kernels.h"

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/parquet/encoders_test.h"

namespace frazil::parquet {
namespace {

class KernelsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    kernels_ = find_kernels(GetParam());
    if (kernels_ == nullptr) GTEST_SKIP() << "this machine does not run " << GetParam();
  }
  // The bytes with 64 more behind them, at the end of their block.
  static std::vector<std::byte> padded(const std::string& text) {
    std::vector<std::byte> bytes(text.size() + 64);
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
  }

  const Kernels* kernels_ = nullptr;
};

constexpr size_t kCounts[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000, 1023, 1024};

TEST_P(KernelsTest, UnpackEveryWidth) {
  std::mt19937_64 random(1);
  for (int width = 1; width <= 64; ++width) {
    for (size_t count : kCounts) {
      std::vector<uint64_t> values(count);
      for (uint64_t& value : values) value = random() & low_mask(static_cast<unsigned>(width));
      std::string packed;
      testing::append_packed(packed, values, width);
      const auto source = padded(packed);
      if (width <= 32) {
        std::vector<uint32_t> target(round_up(count, 32));
        kernels_->unpack(source.data(), width, target.data(), count);
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(target[i], values[i]) << width << ", " << count << ": " << i;
      } else {
        std::vector<uint64_t> target(round_up(count, 8));
        kernels_->unpack_wide(source.data(), width, target.data(), count);
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(target[i], values[i]) << width << ", " << count << ": " << i;
      }
    }
  }
}

template <typename Delta, typename Sum, typename Kernel>
void check_sums(Kernel kernel) {
  std::mt19937_64 random(2);
  for (size_t count : kCounts) {
    std::vector<Delta> deltas(count);
    for (Delta& delta : deltas) delta = static_cast<Delta>(random());
    const auto last = static_cast<Sum>(random());
    const auto step = static_cast<Sum>(random());
    std::vector<Sum> target(count + 1, Sum{77});
    const Sum end = kernel(deltas.data(), count, last, step, target.data());
    Sum expected = last;
    for (size_t i = 0; i < count; ++i) {
      expected += deltas[i] + step;
      ASSERT_EQ(target[i], expected) << count << ": " << i;
    }
    EXPECT_EQ(end, expected) << count;
    EXPECT_EQ(target[count], Sum{77}) << "written behind " << count;
    if constexpr (sizeof(Delta) == sizeof(Sum)) {
      kernel(deltas.data(), count, last, step, deltas.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(deltas[i], target[i]) << "in place, " << count << ": " << i;
    }
  }
}

TEST_P(KernelsTest, SumsWrapAround) {
  check_sums<uint32_t, uint32_t>(kernels_->sum4);
  check_sums<uint32_t, uint64_t>(kernels_->sum4_to_8);
  check_sums<uint64_t, uint64_t>(kernels_->sum8);
}

TEST_P(KernelsTest, UnsplitEveryWidth) {
  std::mt19937 random(3);
  for (size_t width = 1; width <= 20; ++width) {
    for (size_t count : kCounts) {
      // The values asked for are some of those that the streams have.
      const size_t stride = count + random() % 3;
      std::string values(stride * width, '\0');
      for (char& byte : values) byte = static_cast<char>(random());
      const std::string split = testing::split_bytes(values, width);
      std::vector<std::byte> source(split.size());
      if (!split.empty()) std::memcpy(source.data(), split.data(), split.size());
      std::string target(count * width + 1, '\x55');
      kernels_->unsplit(source.data(), stride, width, count, reinterpret_cast<std::byte*>(target.data()));
      ASSERT_EQ(target, values.substr(0, count * width) + '\x55') << width << ", " << count;
    }
  }
}

TEST_P(KernelsTest, AllBelowFindsOneIndexTooMany) {
  for (size_t count : kCounts) {
    std::vector<uint32_t> indices(count, 9);
    EXPECT_TRUE(kernels_->all_below(indices.data(), count, 10)) << count;
    EXPECT_EQ(kernels_->all_below(indices.data(), count, 0), count == 0) << count;
    for (size_t at = 0; at < count; ++at) {
      for (uint32_t wrong : {10U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
        indices[at] = wrong;
        ASSERT_FALSE(kernels_->all_below(indices.data(), count, 10)) << count << ": " << at;
      }
      indices[at] = 9;
    }
  }
}

template <typename T, typename Kernel>
void check_gather(Kernel gather) {
  std::mt19937_64 random(4);
  std::vector<T> dictionary(100);
  for (T& value : dictionary) value = static_cast<T>(random());
  for (size_t count : kCounts) {
    std::vector<uint32_t> indices(count);
    for (uint32_t& index : indices) index = random() % 100;
    std::vector<T> target(count + 1, T{5});
    gather(dictionary.data(), indices.data(), count, target.data());
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(target[i], dictionary[indices[i]]) << count << ": " << i;
  }
}

TEST_P(KernelsTest, Gather) {
  check_gather<uint32_t>(kernels_->gather4);
  check_gather<uint64_t>(kernels_->gather8);
}

// Calls check(bits, offset, count) with bitmaps of all ones, few and many; the bits around the range are random.
template <typename Check>
void with_bitmaps(Check check) {
  std::mt19937_64 random(5);
  for (size_t count : kCounts) {
    for (size_t offset : {0, 1, 7, 8, 13, 64, 100}) {
      for (uint64_t zeros_of_16 : {0, 1, 8, 15, 16}) {
        std::vector<uint8_t> bits(bytes_for_bits(offset + count) + 64);
        for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
        for (size_t i = 0; i < count; ++i) assign_bit(bits.data(), offset + i, random() % 16 >= zeros_of_16);
        SCOPED_TRACE(std::to_string(count) + " from " + std::to_string(offset));
        check(bits.data(), offset, count);
      }
    }
  }
}

template <size_t kWidth, typename Kernel>
void check_expand(Kernel expand) {
  using Value = std::array<uint8_t, kWidth>;
  std::mt19937_64 random(6);
  with_bitmaps([&](const uint8_t* bits, size_t offset, size_t count) {
    std::vector<Value> values;
    std::vector<Value> expected(count);
    for (size_t i = 0; i < count; ++i) {
      if (!get_bit(bits, offset + i)) continue;
      for (uint8_t& byte : expected[i]) byte = static_cast<uint8_t>(random());
      values.push_back(expected[i]);
    }
    values.resize(count + 64 / kWidth);
    expand(bits, offset, count, values.data());
    values.resize(count);
    ASSERT_EQ(values, expected);
  });
}

TEST_P(KernelsTest, ExpandValuesOfEveryWidth) {
  check_expand<1>(kernels_->expand1);
  check_expand<2>(kernels_->expand2);
  check_expand<4>(kernels_->expand4);
  check_expand<8>(kernels_->expand8);
  check_expand<16>(kernels_->expand16);
}

TEST_P(KernelsTest, ExpandBitsAmongOthers) {
  std::mt19937_64 random(7);
  with_bitmaps([&](const uint8_t* bits, size_t offset, size_t count) {
    std::vector<uint8_t> values(bytes_for_bits(offset + count) + 64);
    for (uint8_t& byte : values) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> expected = values;
    size_t dense = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool is_valid = get_bit(bits, offset + i);
      assign_bit(expected.data(), offset + i, is_valid && get_bit(values.data(), offset + dense));
      dense += is_valid ? 1 : 0;
    }
    kernels_->expand_bits(bits, offset, count, values.data());
    ASSERT_EQ(values, expected);
  });
}

template <typename T, typename Kernel>
void check_ends(Kernel expand) {
  std::mt19937_64 random(8);
  with_bitmaps([&](const uint8_t* bits, size_t offset, size_t count) {
    T end = 3;
    std::vector<T> ends = {end};
    std::vector<T> expected = ends;
    for (size_t i = 0; i < count; ++i) {
      if (get_bit(bits, offset + i)) ends.push_back(end += static_cast<T>(random() % 10));
      expected.push_back(end);
    }
    ends.resize(count + 1 + 64 / sizeof(T));
    expand(bits, offset, count, ends.data() + 1);
    ends.resize(count + 1);
    ASSERT_EQ(ends, expected);
  });
}

TEST_P(KernelsTest, ExpandEnds) {
  check_ends<uint32_t>(kernels_->expand_ends4);
  check_ends<uint64_t>(kernels_->expand_ends8);
}

INSTANTIATE_TEST_SUITE_P(Every, KernelsTest, ::testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace frazil::parquet
