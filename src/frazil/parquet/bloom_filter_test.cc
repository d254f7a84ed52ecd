#include "frazil/parquet/bloom_filter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::StringFile;
using testing::ThriftWriter;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

ThriftWriter choice(int field) {
  return ThriftWriter().structure(field, ThriftWriter());
}

std::string header(int64_t size, int algorithm = 1, int hash = 1, int compression = 1) {
  return ThriftWriter()
      .i32(1, size)
      .structure(2, choice(algorithm))
      .structure(3, choice(hash))
      .structure(4, choice(compression))
      .finish();
}

// The reference: sets bits by the words of the specification, one after the other.
class Writer {
 public:
  explicit Writer(size_t blocks) : words_(blocks * 8) {}
  void insert(std::string_view value) {
    static constexpr uint32_t kSalt[] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                         0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    const uint64_t hash = bloom_hash(bytes(value));
    const uint64_t block = ((hash >> 32) * (words_.size() / 8)) >> 32;
    for (size_t i = 0; i < 8; ++i) {
      words_[block * 8 + i] |= 1U << ((static_cast<uint32_t>(hash) * kSalt[i]) >> 27);
    }
  }
  std::string blocks() const { return {reinterpret_cast<const char*>(words_.data()), words_.size() * 4}; }

 private:
  std::vector<uint32_t> words_;
};

ColumnChunk chunk_at(int64_t offset, int64_t length) {
  ColumnChunk chunk;
  chunk.bloom_filter = {offset, length};
  return chunk;
}

TEST(BloomFilter, HashesAsXxh64WithSeed0) {
  // The vectors of xxHash's own documentation.
  EXPECT_EQ(bloom_hash({}), 0xEF46DB3751D8E999ULL);
  EXPECT_EQ(bloom_hash(bytes("a")), 0xD24EC4F1A98C6E5BULL);
  EXPECT_EQ(bloom_hash(bytes("abc")), 0x44BC2CF5AD770999ULL);
}

TEST(BloomFilter, FindsWhatParquetCppPutIn) {
  // parquet-testing/data/bloom_filter.xxhash.bin: 1,024 bytes with the hashes of these four words.
  LocalFileSystem files;
  MemoryPool pool;
  const auto file =
      files.open_input(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/bloom_filter.xxhash.bin");
  std::string content(file->size(), '\0');
  file->read_at(0, std::as_writable_bytes(std::span(content)));
  const std::optional<BloomFilterHeader> parsed = parse_bloom_filter_header(bytes(content), 0);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->byte_size, 1024U);
  ASSERT_EQ(parsed->header_size + parsed->byte_size, content.size());
  const StringFile in_a_file("PAR1" + content);
  const std::optional<BloomFilter> filter =
      BloomFilter::open(in_a_file, chunk_at(4, static_cast<int64_t>(content.size())), pool);
  ASSERT_TRUE(filter);
  for (const char* word : {"hello", "parquet", "bloom", "filter"})
    EXPECT_TRUE(filter->may_contain(bytes(word))) << word;
  int found = 0;
  for (int i = 0; i < 1000; ++i) found += filter->may_contain(bytes("other " + std::to_string(i)));
  EXPECT_LT(found, 10) << "a filter of 8,192 bits with 4 values finds next to nothing else";
}

RC_GTEST_PROP(BloomFilter, HasNoFalseNegativesAndFewFalsePositives, (std::vector<std::string> values)) {
  MemoryPool pool;
  const auto block_count = *rc::gen::inRange<size_t>(1, 60);
  Writer writer(block_count);
  for (const std::string& value : values) writer.insert(value);
  const BloomFilter filter(Buffer::from_string(writer.blocks()));
  for (const std::string& value : values) RC_ASSERT(filter.may_contain(bytes(value)));
  if (values.empty()) {
    RC_ASSERT(!filter.may_contain(bytes("x")));
  }
}

TEST(BloomFilter, IsReadByOneReadOrByHeaderAndBlocks) {
  MemoryPool pool;
  Writer writer(64);
  writer.insert("yes");
  const std::string content = header(2048) + writer.blocks();
  for (const int64_t length : {static_cast<int64_t>(content.size()), int64_t{0}}) {
    const StringFile file("PAR1" + content + "something behind");
    const std::optional<BloomFilter> filter = BloomFilter::open(file, chunk_at(4, length), pool);
    ASSERT_TRUE(filter) << length;
    EXPECT_TRUE(filter->may_contain(bytes("yes")));
    EXPECT_FALSE(filter->may_contain(bytes("no")));
    EXPECT_EQ(file.read_count, length > 0 ? 1U : 2U);
    EXPECT_EQ(filter->bytes_read(), file.read_bytes);
  }
}

TEST(BloomFilter, IsProbedInTheFileWhenItIsLarge) {
  MemoryPool pool({.budget_bytes = size_t{64} << 10});
  Writer writer(kBloomFilterWholeBytesMax / kBloomBlockBytes + 1);
  for (int i = 0; i < 1000; ++i) writer.insert(std::to_string(i));
  const StringFile file("PAR1" + header(static_cast<int64_t>(kBloomFilterWholeBytesMax) + 32) + writer.blocks());
  const std::optional<BloomFilter> filter = BloomFilter::open(file, chunk_at(4, 0), pool);
  ASSERT_TRUE(filter);
  const uint64_t before = file.read_bytes;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(filter->may_contain(bytes(std::to_string(i))));
  EXPECT_FALSE(filter->may_contain(bytes("other")));
  EXPECT_EQ(file.read_bytes - before, 1001 * kBloomBlockBytes);
}

TEST(BloomFilter, IsAbsentWhereItIsDamagedOrNotKnown) {
  MemoryPool pool;
  const std::string blocks(64, '\0');
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"no whole block", header(33) + blocks},
      {"empty", header(0) + blocks},
      {"negative", header(-32) + blocks},
      {"larger than 128 MiB", header((int64_t{128} << 20) + 32) + blocks},
      {"past the end", header(96) + blocks},
      {"another algorithm", header(64, 2) + blocks},
      {"another hash", header(64, 1, 2) + blocks},
      {"compressed", header(64, 1, 1, 2) + blocks},
      {"no thrift", "\xFF\xFF\xFF"},
      {"header cut", header(64).substr(0, 6)},
  };
  for (const auto& [what, content] : cases) {
    const StringFile file("PAR1" + content);
    EXPECT_FALSE(BloomFilter::open(file, chunk_at(4, 0), pool)) << what;
    EXPECT_FALSE(BloomFilter::open(file, chunk_at(4, static_cast<int64_t>(content.size())), pool)) << what;
  }
  const StringFile file("PAR1" + header(64) + blocks);
  EXPECT_TRUE(BloomFilter::open(file, chunk_at(4, 0), pool));
  EXPECT_FALSE(BloomFilter::open(file, chunk_at(4, 3), pool)) << "a length that is too small";
  EXPECT_FALSE(BloomFilter::open(file, chunk_at(4, int64_t{1} << 60), pool)) << "one that is too large";
  EXPECT_FALSE(BloomFilter::open(file, chunk_at(1000, 0), pool)) << "behind the end";
  EXPECT_FALSE(BloomFilter::open(file, chunk_at(0, 0), pool)) << "none";
  ColumnChunk encrypted = chunk_at(4, 0);
  encrypted.encrypted = true;
  EXPECT_FALSE(BloomFilter::open(file, encrypted, pool));
  EXPECT_THROW(BloomFilter(Buffer::from_string(std::string(31, 'x'))), Error);
  EXPECT_THROW(BloomFilter{Buffer()}, Error);
}

}  // namespace
}  // namespace frazil::parquet
