#include "frazil/io/coalesce.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

std::vector<std::pair<uint64_t, uint64_t>> reads_of(const ReadPlan& plan) {
  std::vector<std::pair<uint64_t, uint64_t>> reads;
  for (const ByteRange& read : plan.reads) reads.emplace_back(read.offset, read.length);
  return reads;
}

using Reads = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(Coalesce, MergesAcrossGapsUpToTheMaximum) {
  const CoalesceOptions options{.max_gap_bytes = 10, .max_read_bytes = 100};
  const auto plan = [&](std::vector<ByteRange> ranges) { return reads_of(plan_ranges(ranges, 1000, options)); };
  EXPECT_EQ(plan({}), Reads{});
  EXPECT_EQ(plan({{5, 5}}), (Reads{{5, 5}}));
  EXPECT_EQ(plan({{0, 10}, {20, 10}}), (Reads{{0, 30}}));                // a gap of 10
  EXPECT_EQ(plan({{0, 10}, {21, 10}}), (Reads{{0, 10}, {21, 10}}));      // of 11
  EXPECT_EQ(plan({{20, 10}, {0, 10}}), (Reads{{0, 30}}));                // in any order
  EXPECT_EQ(plan({{0, 60}, {60, 40}}), (Reads{{0, 100}}));               // exactly the largest read
  EXPECT_EQ(plan({{0, 60}, {60, 41}}), (Reads{{0, 60}, {60, 41}}));      // one more
  EXPECT_EQ(plan({{0, 500}, {500, 10}}), (Reads{{0, 500}, {500, 10}}));  // a long one stays alone
  EXPECT_EQ(plan({{0, 500}, {100, 50}}), (Reads{{0, 500}}));             // but holds what is inside
  EXPECT_EQ(plan({{7, 3}, {7, 30}, {7, 3}}), (Reads{{7, 30}}));
  EXPECT_EQ(plan({{0, 0}, {1000, 0}}), Reads{});  // empty ranges need no read
}

TEST(Coalesce, SaysWhereEachRangeIsFound) {
  const std::vector<ByteRange> ranges = {{50, 10}, {0, 0}, {0, 10}, {15, 5}};
  const ReadPlan plan = plan_ranges(ranges, 60, {.max_gap_bytes = 5, .max_read_bytes = 100});
  EXPECT_EQ(reads_of(plan), (Reads{{0, 20}, {50, 10}}));
  EXPECT_EQ(plan.slices[0].read_index, 1u);
  EXPECT_EQ(plan.slices[1].read_index, ReadPlan::kNoRead);
  EXPECT_EQ(plan.slices[3].read_index, 0u);
  EXPECT_EQ(plan.slices[3].offset, 15u);
  EXPECT_EQ(plan.read_bytes(), 30u);
}

TEST(Coalesce, RefusesRangesPastTheEnd) {
  for (const ByteRange range : {ByteRange{0, 11}, ByteRange{11, 0}, ByteRange{10, 1}, ByteRange{UINT64_MAX, 1},
                                ByteRange{5, UINT64_MAX}, ByteRange{UINT64_MAX, UINT64_MAX}}) {
    EXPECT_THROW(plan_ranges(std::vector<ByteRange>{range}, 10), CorruptError) << range.offset << " " << range.length;
  }
}

RC_GTEST_PROP(Coalesce, CoversEveryRangeWithinTheLimits, ()) {
  constexpr uint64_t kFileSize = 300;
  const auto gen_range = rc::gen::map(
      rc::gen::pair(rc::gen::inRange<uint64_t>(0, kFileSize + 1), rc::gen::inRange<uint64_t>(0, kFileSize + 1)),
      [](std::pair<uint64_t, uint64_t> ends) {
        return ByteRange{std::min(ends.first, ends.second),
                         std::min<uint64_t>(std::max(ends.first, ends.second) - std::min(ends.first, ends.second), 40)};
      });
  const auto ranges = *rc::gen::container<std::vector<ByteRange>>(gen_range);
  const CoalesceOptions options{.max_gap_bytes = *rc::gen::inRange<uint64_t>(0, 20),
                                .max_read_bytes = *rc::gen::inRange<uint64_t>(1, 100)};
  const ReadPlan plan = plan_ranges(ranges, kFileSize, options);
  RC_ASSERT(plan.slices.size() == ranges.size());
  std::vector<bool> wanted(kFileSize, false);
  uint64_t longest = 0;
  for (size_t index = 0; index < ranges.size(); ++index) {
    const auto& slice = plan.slices[index];
    longest = std::max(longest, ranges[index].length);
    RC_ASSERT(slice.length == ranges[index].length);
    if (slice.length == 0) continue;
    const ByteRange& read = plan.reads.at(slice.read_index);
    RC_ASSERT(read.offset + slice.offset == ranges[index].offset);
    RC_ASSERT(slice.offset + slice.length <= read.length);
    for (uint64_t at = 0; at < slice.length; ++at) wanted[ranges[index].offset + at] = true;
  }
  for (size_t index = 0; index < plan.reads.size(); ++index) {
    const ByteRange& read = plan.reads[index];
    RC_ASSERT(read.length <= std::max(options.max_read_bytes, longest));
    // Not in one assertion: RC_ASSERT takes || apart and evaluates both sides.
    if (index > 0) {
      RC_ASSERT(plan.reads[index - 1].offset <= read.offset);
    }
    uint64_t gap = 0;
    for (uint64_t at = read.offset; at < read.offset + read.length; ++at) {
      gap = wanted[at] ? 0 : gap + 1;
      RC_ASSERT(gap <= options.max_gap_bytes);
    }
  }
}

}  // namespace
}  // namespace frazil
