#include "frazil/ipc/flatbuffer_builder.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/ipc/flatbuffer.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {
namespace {

TEST(FlatBuilder, WritesWhatTheCursorReads) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  for (int again = 0; again < 2; ++again) {
    builder.clear();
    FlatShape shape;
    shape.scalar<int16_t>(0, -2).scalar<int64_t>(1, INT64_MIN).offset(3).boolean(4, true).offset(5).offset(7);
    const FlatPlace root = builder.table(shape);
    builder.point_root(root);
    builder.point(root, 3, builder.text("frazil"));
    const std::vector<BufferPlace> places = {{.offset = 1, .length = 2}, {.offset = 3, .length = 4}};
    builder.point(root, 5, builder.vector(std::span(places)));
    const FlatBuilder::Position children = builder.offsets(3);
    builder.point(root, 7, children);
    for (size_t i = 0; i < 3; ++i) {
      builder.element(children, i, FlatShape().scalar<uint32_t>(1, static_cast<uint32_t>(i)));
    }
    builder.set<int64_t>(root, 1, 77);

    const FlatTable table = FlatTable::root(builder.bytes());
    EXPECT_EQ(table.scalar<int16_t>(0, 0), -2);
    EXPECT_EQ(table.scalar<int64_t>(1, 0), 77);
    EXPECT_EQ(table.scalar<int32_t>(2, 99), 99) << "absent";
    EXPECT_EQ(table.text(3), "frazil");
    EXPECT_TRUE(table.boolean(4, false));
    const FlatVector vector = table.vector(5, sizeof(BufferPlace));
    ASSERT_EQ(vector.size(), 2U);
    const FlatVector tables = table.vector(7, kOffsetBytes);
    ASSERT_EQ(tables.size(), 3U);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(tables.table(i).scalar<uint32_t>(1, 9), i);
  }
}

TEST(FlatBuilder, GivesElementsOfOneShapeOneVtable) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  builder.clear();
  const FlatBuilder::Position offsets = builder.offsets(1);
  const auto bytes_of_one = [&](const FlatShape& shape) {
    const size_t before = builder.bytes().size();
    builder.element(offsets, 0, shape);
    return builder.bytes().size() - before;
  };
  const FlatShape shape = FlatShape().offset(0).offset(1);
  EXPECT_EQ(bytes_of_one(shape), 8U + 12U);
  EXPECT_EQ(bytes_of_one(shape), 12U);
  // One that begins as the other does is another one.
  EXPECT_EQ(bytes_of_one(FlatShape().offset(0).offset(1).offset(2)), 12U + 16U);
  for (int i = 0; i < 20; ++i) bytes_of_one(FlatShape().scalar<int8_t>(static_cast<unsigned>(i % 8), 1));
  EXPECT_EQ(bytes_of_one(FlatShape().scalar<int8_t>(3, 5)), 8U);
}

// Polars reads metadata by planus, which cuts off what is before the vector or table that leads to a table.
TEST(FlatBuilder, PutsNoVtableBeforeWhatLeadsToItsTable) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  builder.clear();
  const FlatShape shape = FlatShape().offset(0);
  const auto vtable_of = [&](const FlatPlace& table) {
    return static_cast<int64_t>(table.position) - load<int32_t>(builder.bytes().data() + table.position);
  };
  FlatPlace parent = builder.table(shape);
  for (int level = 0; level < 5; ++level) {
    const FlatPlace child = builder.table(shape);
    EXPECT_GT(vtable_of(child), parent.position);
    const FlatBuilder::Position offsets = builder.offsets(2);
    const FlatPlace first = builder.element(offsets, 0, shape);
    EXPECT_GT(vtable_of(first), offsets);
    EXPECT_GT(vtable_of(builder.table(shape)), first.position);
    EXPECT_GT(vtable_of(builder.element(offsets, 1, shape)), offsets);
    parent = first;
  }
}

TEST(FlatBuilder, PutsNumbersAtMultiplesOfTheirSize) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    builder.clear();
    struct Made {
      FlatPlace place;
      unsigned sizes[FlatShape::kFieldsMax] = {};
      uint64_t values[FlatShape::kFieldsMax] = {};
    };
    std::vector<Made> all;
    FlatBuilder::Position offsets = 0;
    FlatPlace root = builder.table(FlatShape().offset(0));
    builder.point_root(root);
    const size_t count = random() % 20;
    offsets = builder.offsets(count);
    builder.point(root, 0, offsets);
    for (size_t i = 0; i < count; ++i) {
      Made made;
      FlatShape shape;
      for (unsigned field = 0; field < FlatShape::kFieldsMax; ++field) {
        made.values[field] = random();
        switch (random() % 5) {
          case 0:
            shape.scalar<uint8_t>(field, static_cast<uint8_t>(made.values[field]));
            made.sizes[field] = 1;
            break;
          case 1:
            shape.scalar<uint16_t>(field, static_cast<uint16_t>(made.values[field]));
            made.sizes[field] = 2;
            break;
          case 2:
            shape.scalar<uint32_t>(field, static_cast<uint32_t>(made.values[field]));
            made.sizes[field] = 4;
            break;
          case 3:
            shape.scalar<uint64_t>(field, made.values[field]);
            made.sizes[field] = 8;
            break;
          default:
            break;
        }
      }
      made.place = builder.element(offsets, i, shape);
      all.push_back(made);
      builder.text(std::string(random() % 7, 'x'));
      const std::vector<int64_t> numbers(random() % 3, 5);
      EXPECT_EQ((builder.vector(std::span(numbers)) + 4) % 8, 0U);
    }
    const FlatVector tables = FlatTable::root(builder.bytes()).vector(0, kOffsetBytes);
    for (size_t i = 0; i < count; ++i) {
      const FlatTable table = tables.table(i);
      EXPECT_EQ(table.offset() % 4, 0U);
      for (unsigned field = 0; field < FlatShape::kFieldsMax; ++field) {
        const unsigned size = all[i].sizes[field];
        const uint64_t value =
            size == 8 ? all[i].values[field] : all[i].values[field] & ((uint64_t{1} << 8 * size) - 1);
        switch (size) {
          case 0:
            EXPECT_EQ(table.scalar<uint8_t>(field, 3), 3);
            break;
          case 1:
            EXPECT_EQ(table.scalar<uint8_t>(field, 0), value);
            break;
          case 2:
            EXPECT_EQ(table.scalar<uint16_t>(field, 0), value);
            break;
          case 4:
            EXPECT_EQ(table.scalar<uint32_t>(field, 0), value);
            break;
          default:
            EXPECT_EQ(table.scalar<uint64_t>(field, 0), value);
            break;
        }
        EXPECT_TRUE(size == 0 || (all[i].place.position + all[i].place.slots[field]) % size == 0) << size;
      }
    }
  }
}

TEST(FlatBuilder, RefusesMoreThanAMessageCanHave) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  builder.clear();
  // Not a byte of it is looked at.
  const std::string_view huge("", FlatBuilder::kBytesMax);
  EXPECT_THROW(builder.text(huge), Error);
  EXPECT_THROW(builder.offsets(FlatBuilder::kBytesMax / 4), Error);
}

}  // namespace
}  // namespace frazil::ipc
