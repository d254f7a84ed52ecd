#include "frazil/parquet/levels.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::data_page;
using testing::FileBuilder;
using testing::hybrid;
using testing::packed_run;
using testing::plain;
using testing::StringFile;
using testing::with_length;

// Bytes that may be read beyond their end, as pages may.
class Padded {
 public:
  explicit Padded(const std::string& bytes) : bytes_(bytes), size_(bytes.size()) {
    bytes_.resize(size_ + kBlockPadding);
  }
  HybridReader reader(int width) const { return HybridReader(std::as_bytes(std::span(bytes_)).first(size_), width); }

 private:
  std::string bytes_;
  size_t size_;
};

std::vector<uint32_t> any_levels(uint32_t max_level) {
  const int longest = *rc::gen::element(1, 3, 40);
  std::vector<uint32_t> levels;
  while (levels.size() < 200) {
    levels.insert(levels.end(), static_cast<size_t>(*rc::gen::inRange(1, longest + 1)),
                  *rc::gen::inRange<uint32_t>(0, max_level + 1));
  }
  return levels;
}

// Every width that levels have: schemas nest up to kMaxSchemaDepth.
RC_GTEST_PROP(Levels, AreReadInAnyPartsAsTheyWereWritten, ()) {
  const auto max_level = *rc::gen::inRange<uint32_t>(1, kMaxSchemaDepth + 1);
  const auto threshold = *rc::gen::inRange<uint32_t>(1, max_level + 1);
  const std::vector<uint32_t> levels = any_levels(max_level);
  const Padded bytes(hybrid(levels, bit_width_of(max_level)));
  HybridReader as_bytes = bytes.reader(bit_width_of(max_level));
  HybridReader as_bits = as_bytes;
  HybridReader passed = as_bytes;
  for (size_t done = 0; done < levels.size();) {
    const size_t part = std::min(levels.size() - done, *rc::gen::inRange<size_t>(1, 100));
    std::vector<uint8_t> got(part + 64);
    read_levels(as_bytes, max_level, part, got.data());
    std::vector<uint8_t> bits(part / 8 + 64);
    const size_t reached = read_validity(as_bits, max_level, threshold, part, bits.data(), 3);
    const size_t highest = skip_levels(passed, max_level, part);
    size_t reached_expected = 0;
    size_t highest_expected = 0;
    for (size_t i = 0; i < part; ++i) {
      const uint32_t level = levels[done + i];
      RC_ASSERT(got[i] == level);
      RC_ASSERT(get_bit(bits.data(), 3 + i) == (level >= threshold));
      reached_expected += level >= threshold ? 1 : 0;
      highest_expected += level == max_level ? 1 : 0;
    }
    RC_ASSERT(reached == reached_expected);
    RC_ASSERT(highest == highest_expected);
    done += part;
  }
}

TEST(Levels, AboveTheHighestAreRefused) {
  for (uint32_t max_level : {1U, 2U, 5U, 16U, 20U, 63U, 100U}) {
    const int width = bit_width_of(max_level);
    const uint32_t above = max_level + 1;
    if (bit_width_of(above) > width) continue;  // it cannot be written
    std::vector<uint32_t> levels(50, max_level);
    levels[37] = above;
    const Padded bytes(packed_run(levels, width));
    std::vector<uint8_t> target(200);
    HybridReader reader = bytes.reader(width);
    EXPECT_THROW(read_levels(reader, max_level, 50, target.data()), CorruptError) << max_level;
    reader = bytes.reader(width);
    EXPECT_THROW(read_validity(reader, max_level, 1, 50, target.data(), 0), CorruptError) << max_level;
    reader = bytes.reader(width);
    EXPECT_THROW(skip_levels(reader, max_level, 50), CorruptError) << max_level;
  }
}

// Definition levels of five bits and more, which deep schemas have, in packed runs.
TEST(Levels, OfDeepStructsSayWhereTheyAreNull) {
  for (uint32_t depth : {4U, 15U, 16U, 20U, 31U, 40U, 60U}) {
    std::vector<ColumnSpec> nodes;
    for (uint32_t i = 0; i + 1 < depth; ++i) {
      nodes.push_back({.name = "g", .repetition = Repetition::kOptional, .child_count = 1});
    }
    nodes.push_back({.name = "v", .repetition = Repetition::kOptional});
    std::vector<uint32_t> levels;
    std::vector<std::string> expected;
    std::vector<int32_t> values;
    for (uint32_t level = 0; level <= depth; ++level) {
      levels.push_back(level);
      std::string text = level == depth ? std::to_string(level) : "null";
      if (level == depth) values.push_back(static_cast<int32_t>(level));
      for (uint32_t around = std::min(level, depth - 1); around > 0; --around) {
        text = (around == depth - 1 ? R"({"v":)" : R"({"g":)") + text + "}";
      }
      expected.push_back(text);
    }
    FileBuilder builder(nodes);
    const std::string page = with_length(packed_run(levels, bit_width_of(depth))) + plain(values);
    builder.row_group(depth + 1, {{data_page(page, static_cast<int32_t>(depth) + 1)}});
    MemoryPool pool;
    const auto file = std::make_shared<StringFile>(builder.finish());
    const auto metadata = read_metadata(*file, pool);
    BatchReader reader(file, metadata, {.columns = request_columns(metadata->schema())}, pool);
    const auto batch = reader.next();
    validate_full(*batch);
    for (size_t row = 0; row < expected.size(); ++row) {
      EXPECT_EQ(value_to_json(*batch->column(0), static_cast<int64_t>(row)), expected[row]) << depth;
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
