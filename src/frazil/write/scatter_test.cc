#include "frazil/write/scatter.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"
#include "frazil/runtime/random.h"
#include "frazil/write/text_codes.h"

namespace frazil::write {
namespace {

// Numbers, text and nested values at random, some null.
class RandomColumns {
 public:
  explicit RandomColumns(uint64_t seed, MemoryPool& pool) : random_(seed), pool_(pool) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(limit))); }

  static const std::vector<DataTypePtr>& types() {
    static const Field item{.name = "element", .type = primitive(TypeId::kUtf8)};
    static const std::vector<DataTypePtr> all = {
        primitive(TypeId::kBool),
        primitive(TypeId::kInt32),
        primitive(TypeId::kInt64),
        primitive(TypeId::kDouble),
        decimal(20, 3),
        fixed_size_binary(16),
        fixed_size_binary(8),
        fixed_size_binary(5),
        primitive(TypeId::kUtf8),
        primitive(TypeId::kBinary),
        primitive(TypeId::kNull),
        list(item),
        struct_({{.name = "x", .type = primitive(TypeId::kInt32)}, {.name = "y", .type = list(item)}}),
        map({.name = "key", .type = primitive(TypeId::kUtf8)}, {.name = "value", .type = primitive(TypeId::kInt64)})};
    return all;
  }

  void append(ArrayBuilder& builder, int64_t null_one_in) {
    if (null_one_in != 0 && below(null_one_in) == 0) return builder.append_null();
    const DataType& type = *builder.type();
    switch (type.id()) {
      case TypeId::kNull:
        return builder.append_null();
      case TypeId::kBool:
        return builder.as<BoolBuilder>().append(below(2) == 0);
      case TypeId::kUtf8:
      case TypeId::kBinary:
        return builder.as<BytesBuilder>().append(
            std::string(static_cast<size_t>(below(9)), static_cast<char>('a' + below(3))));
      case TypeId::kList:
        builder.as<ListBuilder>().append();
        for (int64_t i = below(4); i > 0; --i) append(builder.as<ListBuilder>().values(), null_one_in);
        return;
      case TypeId::kMap:
        builder.as<ListBuilder>().append();
        for (int64_t i = below(3); i > 0; --i) {
          append(builder.as<ListBuilder>().keys(), 0);
          append(builder.as<ListBuilder>().items(), null_one_in);
          builder.as<ListBuilder>().end_entry();
        }
        return;
      case TypeId::kStruct:
        builder.as<StructBuilder>().append();
        for (size_t c = 0; c < type.children().size(); ++c) append(builder.as<StructBuilder>().child(c), null_one_in);
        return;
      default: {
        std::string bytes(static_cast<size_t>(type.byte_width()), '\0');
        for (char& c : bytes) c = static_cast<char>(below(256));
        if (type.id() == TypeId::kDecimal128) std::fill(bytes.begin() + 4, bytes.end(), '\0');
        return builder.as<FixedWidthBuilder>().append_bytes(bytes);
      }
    }
  }

  ArrayPtr array(const DataTypePtr& type, int64_t rows) {
    auto builder = make_builder(type, pool_);
    const int64_t null_one_in = below(3) == 0 ? 0 : 1 + below(6);
    const int64_t before = below(3);
    for (int64_t i = 0; i < before + rows; ++i) append(*builder, null_one_in);
    return builder->finish()->slice(before, rows);
  }

 private:
  SeededRandom random_;
  MemoryPool& pool_;
};

// Each partition gets its rows in the order in which they came: whatever the type, the nulls, the number of partitions,
// runs or not, coded text or not, and which of the two arrays it goes to.
RC_GTEST_PROP(Scatter, EqualsBruteForce, (uint64_t seed)) {
  MemoryPool pool;
  RandomColumns random(seed, pool);
  const int64_t partition_count = random.below(2) == 0 ? 1 + random.below(6) : 1 + random.below(700);
  const std::vector<DataTypePtr>& types = RandomColumns::types();
  std::vector<std::unique_ptr<TextCodes>> codes(types.size());
  for (size_t c = 0; c < types.size(); ++c) {
    if (is_bytes(types[c]->id()) && random.below(2) == 0) codes[c] = std::make_unique<TextCodes>(pool, seed);
  }
  std::vector<StagedBatch> batches(static_cast<size_t>(1 + random.below(4)));
  std::vector<std::vector<ArrayPtr>> plain(types.size());
  std::vector<int64_t> counts(static_cast<size_t>(partition_count), 0);
  std::vector<uint32_t> partition_of;
  for (StagedBatch& batch : batches) {
    batch.row_count = random.below(400);
    for (size_t c = 0; c < types.size(); ++c) {
      plain[c].push_back(random.array(types[c], batch.row_count));
      // Now and then one batch of several is not coded.
      const bool is_coded = codes[c] != nullptr && random.below(6) != 0;
      batch.columns.push_back(is_coded ? codes[c]->encode(plain[c].back()) : plain[c].back());
      batch.dictionary_ids.push_back(is_coded && codes[c]->is_encoded() ? codes[c]->dictionary_id() : 0);
    }
    std::vector<uint32_t> partitions;
    const bool is_runs = random.below(3) == 0 && batch.row_count != 0;
    for (int64_t i = 0; i < batch.row_count; ++i) {
      const bool stays = is_runs && i != 0 && random.below(9) != 0;
      partitions.push_back(stays ? partitions.back() : static_cast<uint32_t>(random.below(partition_count)));
    }
    for (uint32_t p : partitions) ++counts[p];
    partition_of.insert(partition_of.end(), partitions.begin(), partitions.end());
    if (is_runs) {
      for (int64_t i = 0; i < batch.row_count; ++i) {
        const uint32_t p = partitions[static_cast<size_t>(i)];
        if (batch.runs.empty() || batch.runs.back().partition != p) batch.runs.push_back({p, i, 0});
        ++batch.runs.back().count;
      }
    } else {
      RowCodesBuilder builder(batch.row_count, pool);
      builder.append(partitions);
      batch.partitions = builder.finish();
    }
  }
  std::vector<uint32_t> order;
  for (uint32_t p = 0; p < counts.size(); ++p) {
    if (counts[p] != 0) order.push_back(p);
  }
  std::rotate(order.begin(), order.begin() + random.below(static_cast<int64_t>(order.size()) + 1), order.end());
  const auto first_count = static_cast<size_t>(random.below(static_cast<int64_t>(order.size()) + 1));
  const Placement placement(order, first_count, counts);
  RC_ASSERT(placement.rows() == static_cast<int64_t>(partition_of.size()));
  const Buffer positions = gather_positions(batches, placement, pool);
  const std::span<const uint32_t> gathered(positions.as<uint32_t>(), positions.size() / sizeof(uint32_t));

  std::vector<uint32_t> expected;  // rows in the order of the partitions
  for (uint32_t p : order) {
    for (uint32_t r = 0; r < partition_of.size(); ++r) {
      if (partition_of[r] == p) expected.push_back(r);
    }
  }
  RC_ASSERT(std::equal(gathered.begin(), gathered.end(), expected.begin(), expected.end()));
  for (size_t c = 0; c < types.size(); ++c) {
    const ArrayPtr all = take(*concatenate(plain[c], pool), expected, pool);
    const std::array<ArrayPtr, 2> arrays = scatter(batches, c, placement, gathered, pool);
    int64_t done = 0;
    for (const ArrayPtr& side : arrays) {
      if (side == nullptr) continue;
      validate_full(*side);
      ArrayPtr got = side;
      if (side->type->id() == TypeId::kDictionary) {
        auto builder = make_builder(types[c], pool);
        for (int64_t i = 0; i < side->length; ++i) {
          if (side->is_null(i)) {
            builder->append_null();
          } else {
            builder->as<BytesBuilder>().append(side->dictionary->bytes_value(dictionary_index(*side, i)));
          }
        }
        got = builder->finish();
      }
      RC_LOG() << types[c]->to_string();
      RC_ASSERT(difference(*got, *all->slice(done, got->length), {.exact_floats = true}) == "");
      done += got->length;
    }
    RC_ASSERT(done == all->length);
  }
}

TEST(FindRuns, GivesUpWhenRunsAreShort) {
  MemoryPool pool;
  const auto runs_of = [&](const std::vector<uint32_t>& partitions) {
    RowCodesBuilder builder(static_cast<int64_t>(partitions.size()), pool);
    builder.append(partitions);
    return find_runs(builder.finish()).size();
  };
  EXPECT_EQ(runs_of({}), 0);
  EXPECT_EQ(runs_of({7}), 1);
  EXPECT_EQ(runs_of({7, 7, 8}), 0);
  std::vector<uint32_t> clustered(10'000, 3);
  std::fill(clustered.begin() + 4'000, clustered.begin() + 7'000, 70'000U);
  EXPECT_EQ(runs_of(clustered), 3);
  for (size_t i = 0; i < clustered.size(); ++i) clustered[i] = static_cast<uint32_t>(i % 3);
  EXPECT_EQ(runs_of(clustered), 0);
}

// Values that share their ends and length, or lie in one place of what came lately, are told apart.
TEST(TextCodes, KeepsApartWhatLooksAlike) {
  MemoryPool pool;
  SeededRandom random(1);
  TextCodes codes(pool, 1);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::optional<std::string>> values;
    for (int i = 0; i < 20'000; ++i) {
      std::string value(random.below(40), 'a');
      if (!value.empty()) value[random.below(value.size())] = static_cast<char>('a' + random.below(3));
      values.emplace_back(std::move(value));
    }
    const ArrayPtr coded = codes.encode(make_utf8(values));
    ASSERT_TRUE(codes.is_encoded());
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t entry = dictionary_index(*coded, static_cast<int64_t>(i));
      ASSERT_EQ(coded->dictionary->bytes_value(entry), *values[i]);
    }
    codes.end_round(round == 0);
  }
}

TEST(TextCodes, StopsWhereValuesDoNotRepeat) {
  MemoryPool pool;
  TextCodes codes(pool, 1);
  std::vector<std::optional<std::string>> distinct;
  for (int i = 0; i < 10'000; ++i) distinct.push_back(std::to_string(i));
  const ArrayPtr array = make_utf8(distinct);
  EXPECT_EQ(codes.encode(array), array);
  EXPECT_FALSE(codes.is_encoded());
  const uint64_t id = codes.dictionary_id();
  codes.end_round(true);
  EXPECT_NE(codes.dictionary_id(), id);
  const ArrayPtr coded = codes.encode(make_utf8({"b", std::nullopt, "a", "b"}));
  validate_full(*coded);
  EXPECT_TRUE(codes.is_encoded());
  EXPECT_EQ(coded->dictionary->length, 2);
  EXPECT_EQ(dictionary_index(*coded, 3), 0);
  EXPECT_TRUE(coded->is_null(1));
}

}  // namespace
}  // namespace frazil::write
