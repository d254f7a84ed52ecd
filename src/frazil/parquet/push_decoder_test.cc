#include "frazil/parquet/push_decoder.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/indexed_file_test.h"

namespace frazil::parquet {
namespace {

using testing::IndexedFile;
using testing::StringFile;

std::vector<RecordBatch> pull(const std::string& bytes, const FileReaderOptions& options, MemoryPool& pool) {
  FileReader reader(std::make_shared<StringFile>(bytes), options, pool);
  std::vector<RecordBatch> batches;
  while (auto batch = reader.next()) batches.push_back(*std::move(batch));
  return batches;
}

RC_GTEST_PROP(PushDecoder, GivesTheBatchesOfAFileReader, (uint64_t seed)) {
  MemoryPool pool;
  IndexedFile file(seed, *rc::gen::inRange<int64_t>(1, 200), *rc::gen::inRange<size_t>(1, 4),
                   *rc::gen::inRange<size_t>(1, 3));
  const std::string bytes = file.finish();
  FileReaderOptions options;
  options.predicate = file.random().predicate(*file.rows().schema(), 2);
  options.late_materialization = !file.random().coin(3);
  options.batch_rows = 1 + file.random().below(100);
  const std::vector<RecordBatch> expected = pull(bytes, options, pool);

  PushDecoder decoder("memory:test", bytes.size(), options, pool);
  RC_ASSERT(decoder.schema() == nullptr);
  size_t done = 0;
  int rounds = 0;
  for (std::optional<RecordBatch> batch;;) {
    const PushDecoder::Step step = decoder.step(batch);
    if (step == PushDecoder::Step::kEnd) break;
    if (step == PushDecoder::Step::kBatch) {
      RC_ASSERT(done < expected.size());
      RC_ASSERT(difference(expected[done++], *batch, {.exact_floats = true}) == "");
      continue;
    }
    RC_ASSERT(++rounds < 1000);
    RC_ASSERT(!decoder.needed().empty());
    RC_ASSERT(!batch.has_value());
    const std::vector<ByteRange> needed(decoder.needed().begin(), decoder.needed().end());
    if (file.random().coin(4)) {  // asking again changes nothing
      RC_ASSERT(decoder.step(batch) == PushDecoder::Step::kNeedBytes);
    }
    for (const ByteRange& range : needed) {
      // In two parts, the second first, with what lies around them.
      const uint64_t middle =
          range.offset + static_cast<uint64_t>(file.random().below(static_cast<int64_t>(range.length)));
      const uint64_t begin =
          range.offset - std::min<uint64_t>(range.offset, static_cast<uint64_t>(file.random().below(3)));
      const uint64_t end = range.offset + range.length;
      decoder.supply(middle, Buffer::from_string(bytes.substr(middle, end - middle)));
      decoder.supply(begin, Buffer::from_string(bytes.substr(begin, middle - begin)));
    }
  }
  RC_ASSERT(done == expected.size());
  RC_ASSERT(decoder.schema() != nullptr);
}

TEST(PushDecoder, LetsGoOfBytesThatAreOver) {
  MemoryPool pool;
  IndexedFile file(5, 40'000, 2, 8);
  const std::string bytes = file.finish();
  PushDecoder decoder("memory:test", bytes.size(), {}, pool);
  uint64_t most = 0;
  uint64_t given = 0;
  for (std::optional<RecordBatch> batch;;) {
    const PushDecoder::Step step = decoder.step(batch);
    if (step == PushDecoder::Step::kEnd) break;
    if (step == PushDecoder::Step::kBatch) most = std::max(most, decoder.supplied_bytes());
    if (step != PushDecoder::Step::kNeedBytes) continue;
    for (const ByteRange& range : decoder.needed()) {
      given += range.length;
      decoder.supply(range.offset, Buffer::from_string(bytes.substr(range.offset, range.length)));
    }
  }
  ASSERT_GT(bytes.size(), size_t{128} << 10) << "more than the first read of the end";
  EXPECT_GT(given, 0U);
  EXPECT_LT(most, bytes.size() / 2) << "one row group of eight, and not the end of the file";
}

TEST(PushDecoder, NeedsNothingMoreWhereAllIsThere) {
  MemoryPool pool;
  IndexedFile file(6, 100, 2, 1);
  const std::string bytes = file.finish();
  PushDecoder decoder("memory:test", bytes.size(), {}, pool);
  decoder.supply(0, Buffer::from_string(bytes));
  std::optional<RecordBatch> batch;
  EXPECT_EQ(decoder.step(batch), PushDecoder::Step::kBatch);
  EXPECT_EQ(decoder.step(batch), PushDecoder::Step::kEnd);
  EXPECT_EQ(decoder.step(batch), PushDecoder::Step::kEnd);
}

TEST(PushDecoder, RefusesBytesBehindTheEndAndWrongFiles) {
  MemoryPool pool;
  PushDecoder decoder("memory:test", 100, {}, pool);
  EXPECT_THROW(decoder.supply(101, Buffer()), Error);
  EXPECT_THROW(decoder.supply(99, Buffer::from_string("ab")), Error);
  decoder.supply(0, Buffer::from_string(std::string(100, 'x')));
  std::optional<RecordBatch> batch;
  EXPECT_THROW(decoder.step(batch), CorruptError);
}

}  // namespace
}  // namespace frazil::parquet
