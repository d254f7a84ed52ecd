#include "frazil/parquet/encoding_choice.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace frazil::parquet {
namespace {

template <typename T>
bool is_mostly_distinct_of(const std::vector<T>& values, MemoryPool& pool) {
  EncodeBuffer marks(pool);
  return is_mostly_distinct({reinterpret_cast<const std::byte*>(values.data()), sizeof(T), values.size()}, marks);
}

// `distinct` values of `count`, in an order that only a look at all of them tells.
template <typename T>
std::vector<T> cycle(size_t count, size_t distinct, T stride) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<T>(i % distinct) * stride + 7));
  return values;
}

// Above 60 % yes, up to half no, whatever the values look like. A dictionary of half of the values is still tried.
TEST(EncodingChoice, TellsDistinctValuesFromThoseThatComeAgain) {
  MemoryPool pool;
  for (const size_t count : {size_t{2}, size_t{10}, size_t{500}, size_t{2'500}, size_t{20'000}, size_t{70'001}}) {
    for (const uint64_t stride : {uint64_t{1}, uint64_t{1'000}, uint64_t{1} << 32, uint64_t{0x9E3779B97F4A7C15U}}) {
      const auto narrow = static_cast<uint32_t>(stride | 1);
      EXPECT_TRUE(is_mostly_distinct_of(cycle<uint64_t>(count, count, stride), pool)) << count << " " << stride;
      EXPECT_TRUE(is_mostly_distinct_of(cycle<uint32_t>(count, count, narrow), pool)) << count << " " << narrow;
      if (count < 500) continue;
      EXPECT_TRUE(is_mostly_distinct_of(cycle<uint64_t>(count, count * 3 / 5 + 1, stride), pool)) << count;
      EXPECT_FALSE(is_mostly_distinct_of(cycle<uint64_t>(count, count / 2, stride), pool)) << count << " " << stride;
      EXPECT_FALSE(is_mostly_distinct_of(cycle<uint32_t>(count, count / 2, narrow), pool)) << count << " " << narrow;
      EXPECT_FALSE(is_mostly_distinct_of(cycle<uint64_t>(count, 1, stride), pool)) << count;
    }
  }
  std::mt19937_64 random(5);
  std::vector<uint64_t> many;
  std::vector<uint64_t> few;
  for (int i = 0; i < 20'000; ++i) {
    many.push_back(random());
    few.push_back(random() % 5'000);
  }
  EXPECT_TRUE(is_mostly_distinct_of(many, pool));
  EXPECT_FALSE(is_mostly_distinct_of(few, pool));
  EXPECT_FALSE(is_mostly_distinct_of(std::vector<uint64_t>{}, pool));
  EXPECT_FALSE(is_mostly_distinct_of(std::vector<uint16_t>{1, 2, 3}, pool));
}

// Dictionaries that are taken unweighed are never more than a little dearer than the best of the others.
TEST(EncodingChoice, LosesLittleWithSmallDictionaries) {
  MemoryPool pool;
  Compressor compressor(pool);
  EncodeBuffer encoded(pool);
  EncodeBuffer lengths(pool);
  EncodeBuffer compressed(pool);
  EncodeBuffer numbers(pool);
  const ChoiceScratch scratch{compressor, encoded, lengths, compressed};
  std::mt19937_64 random(9);
  LeafType type;
  type.physical = PhysicalType::kInt64;
  for (const CompressionCodec codec :
       {CompressionCodec::kZstd, CompressionCodec::kSnappy, CompressionCodec::kUncompressed}) {
    for (const size_t count : {size_t{512}, size_t{20'000}}) {
      for (size_t distinct = 2; distinct <= 16; ++distinct) {
        if (!is_small_dictionary(distinct, count)) continue;
        for (const char* order : {"cycle", "sorted", "random"}) {
          std::vector<int64_t> values;
          for (size_t i = 0; i < count; ++i) {
            const size_t place = order[0] == 'c'   ? i % distinct
                                 : order[0] == 's' ? i * distinct / count
                                                   : random() % distinct;
            values.push_back(static_cast<int64_t>(place * place) * 1'000);
          }
          const FixedValues fixed{reinterpret_cast<const std::byte*>(values.data()), 8, count};
          const ChunkOptions options{.codec = codec};
          ValueDictionary dictionary(type, pool);
          numbers.clear();
          dictionary.number(fixed.slice(0, count - count / 4), UINT32_MAX - 1, numbers);
          const size_t before = dictionary.size();
          dictionary.number(fixed.slice(count - count / 4, count / 4), UINT32_MAX - 1, numbers);
          const Choice direct = choose_direct(PhysicalType::kInt64, options, false, {fixed, {}, false}, scratch);
          const double cost = dictionary_cost(options, numbers.items<uint32_t>(), before, dictionary, false, scratch);
          EXPECT_LT(cost, direct.cost + 0.6) << order << ", " << distinct << " of " << count << " bytes a value";
        }
      }
    }
  }
  EXPECT_FALSE(is_small_dictionary(17, 1'000'000));
  EXPECT_FALSE(is_small_dictionary(10, 300));
  EXPECT_TRUE(is_small_dictionary(1, 1));
}

}  // namespace
}  // namespace frazil::parquet
