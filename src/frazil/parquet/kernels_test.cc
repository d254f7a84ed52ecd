// Each kernel that this machine runs gives what the obvious loop gives, for every width and count, and touches nothing that
// is not its own.
#include "frazil/parquet/kernels.h"

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

template <typename T, typename Gather, typename Expand>
void check_moves(Gather gather, Expand expand) {
  std::mt19937_64 random(4);
  std::vector<T> dictionary(100);
  for (T& value : dictionary) value = static_cast<T>(random());
  for (size_t count : kCounts) {
    std::vector<uint32_t> indices(count);
    for (uint32_t& index : indices) index = random() % 100;
    std::vector<T> target(count + 1, T{5});
    gather(dictionary.data(), indices.data(), count, target.data());
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(target[i], dictionary[indices[i]]) << count << ": " << i;

    for (size_t offset : {0, 1, 7, 8, 13}) {
      for (uint64_t one_in : {1, 2, 9}) {
        std::vector<uint8_t> bits(bytes_for_bits(offset + count) + 8);
        std::vector<T> dense;
        std::vector<T> expected(count);
        for (size_t i = 0; i < count; ++i) {
          if (random() % one_in != 0) continue;
          set_bit(bits.data(), offset + i);
          dense.push_back(static_cast<T>(random()));
          expected[i] = dense.back();
        }
        dense.resize(count + 64 / sizeof(T));
        expand(bits.data(), offset, count, dense.data());
        dense.resize(count);
        ASSERT_EQ(dense, expected) << count << " from " << offset;
      }
    }
  }
}

TEST_P(KernelsTest, GatherAndExpand) {
  check_moves<uint32_t>(kernels_->gather4, kernels_->expand4);
  check_moves<uint64_t>(kernels_->gather8, kernels_->expand8);
}

INSTANTIATE_TEST_SUITE_P(Every, KernelsTest, ::testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace frazil::parquet
