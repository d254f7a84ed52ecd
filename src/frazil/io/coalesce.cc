#include "frazil/io/coalesce.h"

#include <algorithm>
#include <numeric>

#include "frazil/base/error.h"

namespace frazil {

uint64_t ReadPlan::read_bytes() const {
  uint64_t bytes = 0;
  for (const ByteRange& read : reads) bytes += read.length;
  return bytes;
}

ReadPlan plan_ranges(std::span<const ByteRange> ranges, uint64_t file_size, const CoalesceOptions& options) {
  for (const ByteRange& range : ranges) {
    if (range.offset > file_size || range.length > file_size - range.offset) {
      throw_corrupt(range.offset, "{} bytes from {} on are needed of a file of {} bytes", range.length, range.offset,
                    file_size);
    }
  }
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Of ranges that start together the longest first, so that the others lie in its read.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (ranges[a].offset != ranges[b].offset) return ranges[a].offset < ranges[b].offset;
    return ranges[a].length > ranges[b].length;
  });

  ReadPlan plan;
  plan.slices.resize(ranges.size());
  for (size_t index : order) {
    const ByteRange& range = ranges[index];
    if (range.length == 0) continue;
    const uint64_t end = range.offset + range.length;
    bool joins = false;
    if (!plan.reads.empty()) {
      const ByteRange& last = plan.reads.back();
      const uint64_t last_end = last.offset + last.length;
      const bool inside = end <= last_end;
      const bool near = range.offset <= last_end || range.offset - last_end <= options.max_gap_bytes;
      joins = inside || (near && end - last.offset <= options.max_read_bytes);
    }
    if (!joins) plan.reads.push_back(range);
    ByteRange& read = plan.reads.back();
    read.length = std::max(read.length, end - read.offset);
    plan.slices[index] = {plan.reads.size() - 1, range.offset - read.offset, range.length};
  }
  return plan;
}

}  // namespace frazil
