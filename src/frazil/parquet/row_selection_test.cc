#include "frazil/parquet/row_selection.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"

namespace frazil::parquet {
namespace {

// The reference: one bool a row.
using Rows = std::vector<bool>;

RowSelection select(const Rows& rows) {
  std::vector<uint8_t> bits(rows.size() / 8 + 2, 0xFF);  // bits around the range must not matter
  for (size_t i = 0; i < rows.size(); ++i) assign_bit(bits.data(), i + 3, rows[i]);
  return RowSelection::from_bitmap(bits.data(), 3, rows.size());
}

Rows rows_of(const RowSelection& selection, size_t count) {
  Rows rows(count, false);
  uint64_t last = 0;
  for (const RowRange& range : selection.ranges()) {
    EXPECT_LT(range.begin, range.end);
    EXPECT_TRUE(last < range.begin || (last == 0 && range.begin == 0)) << "ranges ascend and do not touch";
    last = range.end;
    for (uint64_t row = range.begin; row < range.end; ++row) rows.at(row) = true;
  }
  EXPECT_EQ(static_cast<uint64_t>(std::count(rows.begin(), rows.end(), true)), selection.row_count());
  return rows;
}

Rows random_rows(size_t count) {
  // Runs, as pages make them, and single rows.
  Rows rows;
  while (rows.size() < count) rows.insert(rows.end(), *rc::gen::inRange<size_t>(1, 12), *rc::gen::arbitrary<bool>());
  rows.resize(count);
  return rows;
}

TEST(RowSelection, HasNoRowsByDefault) {
  const RowSelection none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.row_count(), 0U);
  EXPECT_EQ(none.end(), 0U);
  EXPECT_EQ(RowSelection::all(0), none);
  EXPECT_FALSE(none.contains(0));
  EXPECT_EQ(none.invert(5), RowSelection::all(5));
}

TEST(RowSelection, JoinsRangesThatTouchAndDropsEmptyOnes) {
  const RowSelection rows = RowSelection::of({{0, 0}, {2, 4}, {4, 7}, {7, 7}, {9, 10}});
  EXPECT_EQ(rows, RowSelection::of({{2, 7}, {9, 10}}));
  EXPECT_EQ(rows.row_count(), 6U);
  EXPECT_EQ(rows.end(), 10U);
}

TEST(RowSelection, RefusesRangesOutOfOrder) {
  EXPECT_THROW(RowSelection::of({{5, 6}, {2, 3}}), Error);
  EXPECT_THROW(RowSelection::of({{5, 8}, {7, 9}}), Error);
  EXPECT_THROW(RowSelection::of({{5, 4}}), Error);
  EXPECT_THROW(static_cast<void>(RowSelection::all(6).invert(5)), Error);
  EXPECT_THROW(static_cast<void>(RowSelection::all(6).pick(RowSelection::all(7))), Error);
}

TEST(RowSelection, HoldsRowsNearTheEndOfTheRange) {
  // A forged row count: nothing may grow with it.
  const RowSelection rows = RowSelection::of({{5, 6}, {UINT64_MAX - 1, UINT64_MAX}});
  EXPECT_EQ(rows.row_count(), 2U);
  EXPECT_EQ(rows.invert(UINT64_MAX).row_count(), UINT64_MAX - 2);
  EXPECT_EQ(rows.invert(UINT64_MAX).invert(UINT64_MAX), rows);
  EXPECT_EQ(rows.close_gaps(UINT64_MAX), RowSelection::of({{5, UINT64_MAX}}));
}

RC_GTEST_PROP(RowSelection, IsTheSetThatItsBitmapIs, ()) {
  const size_t count = *rc::gen::inRange<size_t>(0, 300);
  const Rows a = random_rows(count);
  const Rows b = random_rows(count);
  const RowSelection left = select(a);
  const RowSelection right = select(b);
  RC_ASSERT(rows_of(left, count) == a);
  Rows both(count);
  Rows either(count);
  Rows other(count);
  for (size_t i = 0; i < count; ++i) {
    both[i] = a[i] && b[i];
    either[i] = a[i] || b[i];
    other[i] = !a[i];
    RC_ASSERT(left.contains(i) == a[i]);
  }
  RC_ASSERT(rows_of(left.intersect(right), count) == both);
  RC_ASSERT(rows_of(left.unite(right), count) == either);
  RC_ASSERT(rows_of(left.invert(count), count) == other);
  RC_ASSERT(left == select(a));
  RC_ASSERT((left == right) == (a == b));
}

RC_GTEST_PROP(RowSelection, ClipsAndFindsOverlapsAndSetsBits, ()) {
  const size_t count = *rc::gen::inRange<size_t>(1, 200);
  const Rows rows = random_rows(count);
  const RowSelection selection = select(rows);
  const size_t begin = *rc::gen::inRange<size_t>(0, count + 1);
  const size_t end = *rc::gen::inRange<size_t>(begin, count + 1);
  Rows clipped(count, false);
  for (size_t i = begin; i < end; ++i) clipped[i] = rows[i];
  RC_ASSERT(rows_of(selection.clip({begin, end}), count) == clipped);
  RC_ASSERT(selection.overlaps({begin, end}) == !selection.clip({begin, end}).empty());
  std::vector<uint8_t> bits(bytes_for_bits(count + 5), 0);
  selection.set_bits(begin, end - begin, bits.data(), 5);
  for (size_t i = begin; i < end; ++i) RC_ASSERT(get_bit(bits.data(), i - begin + 5) == rows[i]);
  RC_ASSERT(count_set_bits(bits.data(), 0, count + 5) == selection.clip({begin, end}).row_count());
}

RC_GTEST_PROP(RowSelection, PicksRowsAmongItsOwn, ()) {
  const size_t count = *rc::gen::inRange<size_t>(0, 200);
  const Rows outer = random_rows(count);
  const RowSelection selection = select(outer);
  const Rows inner = random_rows(selection.row_count());
  Rows expected(count, false);
  for (size_t row = 0, position = 0; row < count; ++row) {
    if (outer[row]) expected[row] = inner[position++];
  }
  const RowSelection picked = selection.pick(select(inner));
  RC_ASSERT(rows_of(picked, count) == expected);
  RC_ASSERT(selection.positions_of(picked) == select(inner));
  // Rows that are not selected have no position.
  const Rows any = random_rows(count);
  RC_ASSERT(selection.pick(selection.positions_of(select(any))) == selection.intersect(select(any)));
}

RC_GTEST_PROP(RowSelection, ClosesGapsBelowALimitAlone, ()) {
  const size_t count = *rc::gen::inRange<size_t>(0, 200);
  const RowSelection selection = select(random_rows(count));
  const uint64_t limit = *rc::gen::inRange<uint64_t>(0, 12);
  const RowSelection closed = selection.close_gaps(limit);
  RC_ASSERT(closed.intersect(selection) == selection);
  RC_ASSERT(closed.end() == selection.end());
  for (size_t i = 1; i < closed.ranges().size(); ++i) {
    RC_ASSERT(closed.ranges()[i].begin - closed.ranges()[i - 1].end >= limit);
  }
  const RowSelection gaps = selection.invert(count).intersect(closed);
  for (const RowRange& gap : gaps.ranges()) RC_ASSERT(gap.row_count() < limit);
}

}  // namespace
}  // namespace frazil::parquet
