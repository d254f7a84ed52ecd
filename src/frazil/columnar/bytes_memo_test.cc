#include "frazil/columnar/bytes_memo.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace frazil {
namespace {

TEST(BytesMemo, NumbersDistinctValuesInOrderOfAppearance) {
  MemoryPool pool;
  BytesMemo memo(pool);
  EXPECT_EQ(memo.number_of("b"), 0);
  EXPECT_EQ(memo.number_of(""), 1);
  EXPECT_EQ(memo.number_of("b"), 0);
  EXPECT_EQ(memo.number_of(std::string_view("\0", 1)), 2);
  EXPECT_EQ(memo.number_of(std::string_view("\0\0", 2)), 3);
  EXPECT_EQ(memo.number_of(""), 1);
  EXPECT_EQ(memo.value(2), std::string_view("\0", 1));
  EXPECT_EQ(memo.size(), 4);
}

// Every length around the limits of a word, two words and the hash, with values that share ends or the middle.
TEST(BytesMemo, AgreesWithAMapForAnyValues) {
  for (uint64_t seed : {0, 1, 77}) {
    MemoryPool pool;
    BytesMemo memo(pool, seed * 0x123456789ABCDEFU);
    std::map<std::string, uint32_t> expected;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 15'000; ++i) {
      std::string value(random() % 40, 'a');
      for (char& c : value) {
        if (random() % 3 == 0) c = static_cast<char>(random() % 3);
      }
      auto [place, is_new] = expected.try_emplace(value, static_cast<uint32_t>(expected.size()));
      ASSERT_EQ(memo.find(value), is_new ? BytesMemo::kNone : place->second) << "seed " << seed << ", value " << i;
      ASSERT_EQ(memo.number_of(value), place->second) << "seed " << seed << ", value " << i;
    }
    ASSERT_EQ(memo.size(), expected.size());
    ArrayPtr values = memo.values(primitive(TypeId::kBinary));
    validate_full(*values);
    for (const auto& [value, number] : expected) {
      ASSERT_EQ(memo.value(number), value);
      ASSERT_EQ(values->bytes_value(number), value);
    }
    memo.clear();
    EXPECT_EQ(memo.size(), 0);
    EXPECT_EQ(memo.number_of("new"), 0);
    EXPECT_EQ(memo.value(0), "new");
  }
}

}  // namespace
}  // namespace frazil
