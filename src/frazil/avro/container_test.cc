#include "frazil/avro/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/test_support.h"
#include "frazil/base/error.h"

namespace frazil::avro {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The plain bytes of all blocks, and how many records they claim.
std::pair<std::string, uint64_t> read_all(const std::string& bytes, ContainerOptions options = {}) {
  MemoryPool pool;
  ContainerReader reader(memory_file(bytes), pool, options);
  BlockDecompressor decompressor(reader.header().codec(), pool, options.max_block_bytes);
  std::pair<std::string, uint64_t> all;
  while (auto raw = reader.next()) {
    const Block block = decompressor.decompress(std::move(*raw));
    all.first += block.data.text();
    all.second += block.record_count;
  }
  return all;
}

template <typename Run>
std::string failure(Run run) {
  try {
    run();
  } catch (const CorruptError& error) {
    return error.what();
  }
  return "no CorruptError";
}

TEST(AvroContainer, GivesMetadataAndBlocksInOrder) {
  const std::string bytes = make_container("\"int\"", {{2, std::string("\x02\x04")}, {0, ""}, {1, std::string("\x06")}},
                                           "null", {{"k", std::string("\0\xff", 2)}});
  MemoryPool pool;
  ContainerReader reader(memory_file(bytes), pool);
  EXPECT_EQ(reader.header().schema_text(), "\"int\"");
  EXPECT_EQ(reader.header().codec(), "null");
  EXPECT_EQ(reader.header().find("k"), std::string_view("\0\xff", 2)) << "values are bytes";
  EXPECT_EQ(reader.header().find("no"), std::nullopt);
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->file_offset, reader.header().size);
  EXPECT_EQ(first->record_count, 2u);
  EXPECT_EQ(first->data.text(), "\x02\x04");
  EXPECT_EQ(reader.next()->record_count, 0u);
  EXPECT_EQ(reader.next()->data.text(), "\x06");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(AvroContainer, ReadsMetadataInBlocksWithByteSizes) {
  // -1, byte size, one entry; then the end. Java writes it so when told to.
  Encoder entry;
  entry.bytes("avro.schema").bytes("\"null\"");
  Encoder file;
  file.raw(std::string_view("Obj\x01", 4)).long_(-1).bytes(entry.str()).long_(0).raw(kTestSync);
  EXPECT_EQ(parse_header(bytes_of(file.str()), true)->schema_text(), "\"null\"");
}

TEST(AvroContainer, ReadsLargeFilesBlockByBlockWithTheSameResult) {
  std::vector<TestBlock> blocks;
  for (int i = 0; i < 40; ++i)
    blocks.push_back({i, std::string(static_cast<size_t>(i) * 997, static_cast<char>('a' + i % 26))});
  // A header longer than the first read.
  const std::string bytes = make_container("\"null\"", blocks, "null", {{"long", std::string(300'000, 'x')}});
  const auto whole = read_all(bytes, {.whole_file_bytes = bytes.size()});
  EXPECT_EQ(read_all(bytes, {.whole_file_bytes = 0}), whole);
  EXPECT_EQ(whole.second, 780u);
}

// A header is complete exactly when its last byte is there, however it is cut.
TEST(AvroContainer, AsksForMoreUntilTheHeaderIsThere) {
  const std::string bytes = make_container("\"null\"", {}, "null", {{"key", std::string(500, 'v')}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_header(bytes_of(bytes).first(size), false)) << size;
    EXPECT_THROW(parse_header(bytes_of(bytes).first(size), true), CorruptError) << size;
  }
  EXPECT_EQ(parse_header(bytes_of(bytes), true)->size, bytes.size());
  // The end of the metadata and the marker need no bytes behind them; only a count is not trusted at the edge.
  EXPECT_TRUE(parse_header(bytes_of(bytes + std::string(4, 'b')), false));
}

TEST(AvroContainer, RefusesWhatIsNoContainer) {
  for (const std::string& bytes :
       {std::string(), std::string("O"), std::string("Obj"), std::string("PAR1...."), std::string("Obj\x02\0\0\0", 7),
        std::string("Obj\x01", 4), read_corpus("avro/apache-avro/test.avro12")}) {
    EXPECT_THROW(read_all(bytes), CorruptError) << bytes.substr(0, 10);
  }
  Encoder file;
  file.raw(std::string_view("Obj\x01", 4)).long_(0).raw(kTestSync);
  MemoryPool pool;
  ContainerReader reader(memory_file(file.str()), pool);
  EXPECT_THAT(failure([&] { (void)reader.header().schema_text(); }), HasSubstr("'avro.schema'"));
  EXPECT_EQ(reader.header().codec(), "null");
}

// M11: each codec that Iceberg writers use is read, others are named.
TEST(AvroContainer, M11ReadsEachCodecAndNamesTheOthers) {
  const std::string plain = read_all(read_corpus("avro/apache-avro/weather.avro")).first;
  EXPECT_FALSE(plain.empty());
  for (const char* name : {"deflate", "snappy", "zstd"}) {
    EXPECT_EQ(read_all(read_corpus("avro/apache-avro/weather-" + std::string(name) + ".avro")).first, plain) << name;
  }
  for (const char* name : {"bzip2", "xz", "lz5"}) {
    try {
      read_all(make_container("\"null\"", {{1, ""}}, name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.message(), HasSubstr("'" + std::string(name) + "'"));
    }
  }
}

TEST(AvroContainer, ChecksTheSnappyChecksum) {
  const std::string bytes = read_corpus("avro/apache-avro/weather-snappy.avro");
  const std::string sync = bytes.substr(bytes.size() - 16);
  std::string damaged = bytes;
  damaged[bytes.size() - 17] = static_cast<char>(damaged[bytes.size() - 17] ^ 1);
  EXPECT_THAT(failure([&] { read_all(damaged); }), HasSubstr("checksum"));
  EXPECT_THAT(failure([&] { read_all(make_container("\"int\"", {{1, "abc"}}, "snappy")); }), HasSubstr("no checksum"));
}

TEST(AvroContainer, BoundsBlocksBeforeReadingThem) {
  const auto with_prefix = [](int64_t count, int64_t size, const std::string& rest) {
    return make_container("\"int\"", {}) + Encoder().long_(count).long_(size).raw(rest).str();
  };
  const std::string sync(kTestSync);
  EXPECT_THAT(failure([&] { read_all(with_prefix(-1, 1, "x" + sync)); }), HasSubstr("block record count is negative"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, -1, sync)); }), HasSubstr("block size is negative"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, INT64_MAX, sync)); }), HasSubstr("exceed the file"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, 2, "x" + sync)); }), HasSubstr("exceed the file"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, 1, "x" + sync.substr(1))); }), HasSubstr("exceed the file"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, 1, "x0123456789abcdeF")); }),
              HasSubstr("sync marker does not match"));
  EXPECT_THAT(failure([&] { read_all(make_container("\"int\"", {}) + std::string(11, '\xff')); }),
              HasSubstr("64 bits"));
  EXPECT_THAT(failure([&] { read_all(with_prefix(1, 9, "012345678" + sync), {.max_block_bytes = 8}); }),
              HasSubstr("over the limit"));
  EXPECT_NO_THROW(read_all(with_prefix(1, 9, "012345678" + sync), {.max_block_bytes = 9}));
}

TEST(AvroContainer, BoundsWhatABlockBecomes) {
  MemoryPool pool({.budget_bytes = 1 << 20});
  const std::string stored = read_corpus("avro/apache-avro/weather-deflate.avro");
  ContainerReader reader(memory_file(stored), pool);
  BlockDecompressor decompressor("deflate", pool, 8);
  EXPECT_THROW(decompressor.decompress(*reader.next()), CorruptError);
}

TEST(AvroContainer, TruncatedAnywhereIsAnErrorThatNamesTheFile) {
  const std::string bytes = make_container("\"int\"", {{2, std::string("\x02\x04")}, {1, std::string("\x06")}});
  MemoryPool pool;
  const uint64_t header = ContainerReader(memory_file(bytes), pool).header().size;
  const uint64_t second = header + 2 + 2 + 16;
  for (size_t size = 0; size < bytes.size(); ++size) {
    if (size == header || size == second) continue;  // between blocks a file may end
    for (const size_t whole : {size_t{0}, size_t{1} << 20}) {
      const std::string text = failure([&] { read_all(bytes.substr(0, size), {.whole_file_bytes = whole}); });
      EXPECT_THAT(text, HasSubstr("memory.avro")) << size;
    }
  }
}

}  // namespace
}  // namespace frazil::avro
