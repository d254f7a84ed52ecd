#include "frazil/parquet/shred.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"
#include "frazil/parquet/random_columns_test.h"

namespace frazil::parquet {
namespace {

using ::testing::HasSubstr;

// One entry of a leaf: "repetition definition value".
using Entries = std::vector<std::string>;

std::string entry(int repetition, int definition, const std::string& value) {
  return std::to_string(repetition) + " " + std::to_string(definition) + " " + value;
}

// What pieces say, entry by entry.
class Collector {
 public:
  explicit Collector(const WriteSchema& schema) : schema_(schema), leaves_(schema.leaves().size()) {}

  void add(size_t leaf, const LeafPiece& piece) {
    const LeafDescription& description = schema_.leaves()[leaf];
    Entries& entries = leaves_[leaf];
    if (piece.definition_levels.empty()) {
      EXPECT_TRUE(piece.repetition_levels.empty());
      for (int64_t i = 0; i < piece.values->length; ++i) {
        const bool null = is_logical_null(*piece.values, i);
        entries.push_back(entry(0, description.max_definition - null, null ? "-" : value_to_json(*piece.values, i)));
      }
      return;
    }
    EXPECT_EQ(piece.repetition_levels.empty(), description.max_repetition == 0);
    EXPECT_TRUE(piece.repetition_levels.empty() || piece.repetition_levels.front() == 0) << "begins within a row";
    int64_t slot = 0;
    for (size_t i = 0; i < piece.definition_levels.size(); ++i) {
      const int definition = piece.definition_levels[i];
      const int repetition = piece.repetition_levels.empty() ? 0 : piece.repetition_levels[i];
      const bool is_value = definition == description.max_definition;
      if (is_value) {
        EXPECT_GE(definition, piece.slot_definition);
        EXPECT_FALSE(is_logical_null(*piece.values, slot));
      }
      entries.push_back(entry(repetition, definition, is_value ? value_to_json(*piece.values, slot) : "-"));
      slot += definition >= piece.slot_definition;
    }
    EXPECT_EQ(slot, piece.values->length);
  }

  const std::vector<Entries>& leaves() const { return leaves_; }

 private:
  const WriteSchema& schema_;
  std::vector<Entries> leaves_;
};

// Dremel by the book, value by value: what the shredder is held against.
class Reference {
 public:
  explicit Reference(const WriteSchema& schema) : schema_(schema), leaves_(schema.leaves().size()) {}

  void add(size_t column, const Array& array) {
    const auto node = static_cast<uint32_t>(&schema_.column_node(column) - schema_.file_schema().nodes().data());
    for (int64_t i = 0; i < array.length; ++i) value(node, &array, i, 0, 0);
  }

  const std::vector<Entries>& leaves() const { return leaves_; }

 private:
  // `array` is nullptr where something above is null; `definition` is that of what is above.
  void value(uint32_t index, const Array* array, int64_t i, int repetition, int definition) {
    const SchemaNode& node = schema_.file_schema().node(index);
    if (array != nullptr && array->type->id() == TypeId::kRunEndEncoded) {
      return value(index, array->children[1].get(), run_value_index(*array, i), repetition, definition);
    }
    if (array != nullptr && array->is_valid(i) && array->type->id() == TypeId::kDictionary) {
      return value(index, array->dictionary.get(), dictionary_index(*array, i), repetition, definition);
    }
    const bool is_there = array != nullptr && array->is_valid(i);
    if (is_there && node.repetition == Repetition::kOptional) ++definition;
    if (!node.is_group) {
      leaves_[node.first_leaf].push_back(entry(repetition, definition, is_there ? value_to_json(*array, i) : "-"));
      return;
    }
    if (node.logical.kind == LogicalType::Kind::kList || node.logical.kind == LogicalType::Kind::kMap) {
      const SchemaNode& repeated = schema_.file_schema().node(index + 1);
      const auto [first, count] = is_there ? array->list_range(i) : std::pair<int64_t, int64_t>(0, 0);
      if (count == 0) return nothing(repeated, repetition, definition);
      for (int64_t k = 0; k < count; ++k) {
        const int level = k == 0 ? repetition : repeated.max_repetition;
        const Array& elements = *array->children[0];
        if (node.logical.kind == LogicalType::Kind::kMap) {
          value(index + 2, elements.children[0].get(), elements.offset + first + k, level, definition + 1);
          value(index + 2 + schema_.file_schema().node(index + 2).subtree_size, elements.children[1].get(),
                elements.offset + first + k, level, definition + 1);
        } else {
          value(index + 2, &elements, first + k, level, definition + 1);
        }
      }
      return;
    }
    if (!is_there) return nothing(node, repetition, definition);
    uint32_t child = index + 1;
    for (const ArrayPtr& field : array->children) {
      value(child, field.get(), array->offset + i, repetition, definition);
      child += schema_.file_schema().node(child).subtree_size;
    }
  }

  // One entry for each leaf below.
  void nothing(const SchemaNode& node, int repetition, int definition) {
    for (uint32_t leaf = 0; leaf < node.leaf_count; ++leaf) {
      leaves_[node.first_leaf + leaf].push_back(entry(repetition, definition, "-"));
    }
  }

  const WriteSchema& schema_;
  std::vector<Entries> leaves_;
};

std::vector<Entries> shred(const WriteSchema& schema, const Array& column, MemoryPool& pool) {
  Collector collector(schema);
  Shredder shredder(schema, pool);
  shredder.shred(0, column, [&](size_t leaf, const LeafPiece& piece) { collector.add(leaf, piece); });
  return collector.leaves();
}

Field int_list(bool nullable, bool element_nullable) {
  return {.name = "a",
          .type = list({.name = "item", .type = primitive(TypeId::kInt32), .nullable = element_nullable}),
          .nullable = nullable};
}

TEST(Shred, GivesTheLevelsOfAList) {
  MemoryPool pool;
  const WriteSchema schema(Schema::make({int_list(true, true)}));
  // [1, 2], null, [], [null]
  const ArrayPtr lists =
      make_list(schema.arrow_schema()->field(0).type, {2, std::nullopt, 0, 1}, make_int32({1, 2, std::nullopt}));
  EXPECT_EQ(shred(schema, *lists, pool), (std::vector<Entries>{{"0 3 1", "1 3 2", "0 0 -", "0 1 -", "0 2 -"}}));
}

TEST(Shred, PointsToTheArrayWhereNothingIsNull) {
  MemoryPool pool;
  const Field inner{.name = "x", .type = primitive(TypeId::kInt32)};
  const WriteSchema schema(Schema::make({{.name = "s", .type = struct_({inner})}}));
  const ArrayPtr values = make_int32({1, std::nullopt, 3});
  const ArrayPtr structs = make_struct(schema.arrow_schema()->field(0).type, {values});
  Shredder shredder(schema, pool);
  shredder.shred(0, *structs, [&](size_t leaf, const LeafPiece& piece) {
    EXPECT_EQ(leaf, 0U);
    EXPECT_EQ(piece.values->buffers[1].data(), values->buffers[1].data());
    EXPECT_TRUE(piece.definition_levels.empty());
  });
}

TEST(Shred, LeavesOutWhatIsHiddenUnderNulls) {
  MemoryPool pool;
  const WriteSchema schema(Schema::make({int_list(true, true)}));
  // A null list that has elements: offsets 0, 2, 5, 6.
  auto lists = std::make_shared<Array>(
      *make_list(schema.arrow_schema()->field(0).type, {2, 3, 1}, make_int32({1, 2, 3, 4, 5, 6})));
  BitBuilder bits(pool);
  for (const bool bit : {true, false, true}) bits.append(bit);
  lists->buffers[0] = bits.freeze();
  lists->null_count = 1;
  EXPECT_EQ(shred(schema, *lists, pool), (std::vector<Entries>{{"0 3 1", "1 3 2", "0 0 -", "0 3 6"}}));
}

TEST(Shred, NamesColumnAndRowOfANullWhereNoneMayBe) {
  MemoryPool pool;
  const auto failure = [&](const Field& field, const ArrayPtr& array) {
    const WriteSchema schema(Schema::make({field}));
    Shredder shredder(schema, pool);
    try {
      shredder.shred(0, *array, [](size_t, const LeafPiece&) {}, 100);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(
      failure({.name = "n", .type = primitive(TypeId::kInt32), .nullable = false}, make_int32({1, 2, std::nullopt})),
      HasSubstr("column 'n' is null in row 102"));
  EXPECT_THAT(failure(int_list(false, true), make_list(int_list(false, true).type, {1, std::nullopt}, make_int32({1}))),
              HasSubstr("column 'a' is null in row 101"));
  EXPECT_THAT(failure(int_list(true, false), make_list(int_list(true, true).type, {2, 0, std::nullopt, 2},
                                                       make_int32({1, 2, 3, std::nullopt}))),
              HasSubstr("column 'a.element' is null in row 103"));
  // Under a null struct a required field is not asked.
  const DataTypePtr with_required = struct_({{.name = "x", .type = primitive(TypeId::kInt32), .nullable = false}});
  EXPECT_EQ(failure({.name = "s", .type = with_required},
                    make_struct(with_required, {make_int32({1, std::nullopt})}, {true, false})),
            "no error");
  EXPECT_THAT(failure({.name = "s", .type = with_required},
                      make_struct(with_required, {make_int32({1, std::nullopt, std::nullopt})}, {true, false, true})),
              HasSubstr("column 's.x' is null in row 102"));
}

TEST(Shred, RefusesArraysOfAnotherShape) {
  MemoryPool pool;
  const WriteSchema schema(Schema::make({int_list(true, true)}));
  EXPECT_THROW(shred(schema, *make_int32({1}), pool), Error);
}

// Pieces are cut where lists are long, never within a row.
TEST(Shred, CutsLongColumnsIntoPieces) {
  MemoryPool pool;
  const WriteSchema schema(Schema::make({int_list(true, false)}));
  std::vector<std::optional<int64_t>> counts;
  std::vector<std::optional<int32_t>> values;
  for (int row = 0; row < 300; ++row) {
    counts.emplace_back(row * 7 % 1000);
    for (int64_t i = 0; i < counts.back(); ++i) values.emplace_back(static_cast<int32_t>(values.size()));
  }
  const ArrayPtr lists = make_list(schema.arrow_schema()->field(0).type, counts, make_int32(values));
  size_t pieces = 0;
  size_t entries = 0;
  Shredder shredder(schema, pool);
  shredder.shred(0, *lists, [&](size_t, const LeafPiece& piece) {
    ++pieces;
    entries += piece.definition_levels.size();
    EXPECT_EQ(piece.repetition_levels.front(), 0);
    EXPECT_LE(piece.definition_levels.size(), 40'000U);
  });
  EXPECT_GT(pieces, 2U);
  size_t wanted = 0;
  for (const auto& count : counts) wanted += static_cast<size_t>(std::max<int64_t>(*count, 1));
  EXPECT_EQ(entries, wanted);
}

RC_GTEST_PROP(Shred, IsDremelForAnyColumn, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  MemoryPool pool;
  testing::RandomColumns random(seed, pool);
  const WriteSchema schema(Schema::make({random.field("c", static_cast<int>(random.below(5)))}));
  const int64_t rows = random.coin(10) ? 0 : random.coin(4) ? random.below(2000) : random.below(40);
  const RecordBatch batch = random.batch(schema.arrow_schema(), rows);
  validate_full(batch);
  Reference reference(schema);
  reference.add(0, *batch.column(0));
  const std::vector<Entries> shredded = shred(schema, *batch.column(0), pool);
  if (shredded != reference.leaves()) {
    for (size_t leaf = 0; leaf < shredded.size(); ++leaf) {
      for (size_t i = 0; i < std::max(shredded[leaf].size(), reference.leaves()[leaf].size()); ++i) {
        const std::string mine = i < shredded[leaf].size() ? shredded[leaf][i] : "nothing";
        const std::string wanted = i < reference.leaves()[leaf].size() ? reference.leaves()[leaf][i] : "nothing";
        if (mine == wanted) continue;
        RC_FAIL("seed " + std::to_string(seed) + " " + batch.column(0)->type->to_string() + ", " +
                schema.leaves()[leaf].path + " entry " + std::to_string(i) + ": " + mine + ", expected " + wanted);
      }
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
