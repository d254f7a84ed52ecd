#include "frazil/ipc/file_reader.h"

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/messages_test.h"
#include "frazil/ipc/schema_cache.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::ipc {
namespace {

using ::testing::HasSubstr;
using testing::made;
using testing::MadeBatch;

const Schema kCodes({{.name = "a", .type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8))}});

// A file of messages, with a footer of its own making.
struct MadeFile {
  std::string bytes = std::string("ARROW1\0\0", 8);
  std::vector<Block> dictionaries;
  std::vector<Block> batches;

  MadeFile& add(const MadeBatch& batch) {
    const std::string text = made(batch);
    const auto body = static_cast<int64_t>((batch.body.size() + 7) / 8 * 8);
    (batch.is_dictionary ? dictionaries : batches)
        .push_back({static_cast<int64_t>(bytes.size()), static_cast<int32_t>(static_cast<int64_t>(text.size()) - body),
                    0, body});
    bytes += text;
    return *this;
  }

  std::string finish(const Schema& schema, int16_t version = kMetadataV5) const {
    MemoryPool pool;
    FlatBuilder builder(pool);
    builder.clear();
    FlatShape shape;
    shape.scalar<int16_t>(footer_field::kVersion, version)
        .offset(footer_field::kSchema)
        .offset(footer_field::kDictionaries)
        .offset(footer_field::kRecordBatches);
    const FlatPlace footer = builder.table(shape);
    builder.point_root(footer);
    builder.point(footer, footer_field::kDictionaries, builder.vector(std::span<const Block>(dictionaries)));
    builder.point(footer, footer_field::kRecordBatches, builder.vector(std::span<const Block>(batches)));
    builder.point(footer, footer_field::kSchema, add_schema(builder, schema));
    const std::span<const std::byte> flat = builder.bytes();
    std::string out = bytes;
    out.append(reinterpret_cast<const char*>(flat.data()), flat.size());
    const auto size = static_cast<int32_t>(flat.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof(size));
    return out + "ARROW1";
  }
};

MadeBatch codes(const std::vector<int8_t>& values) {
  MadeBatch batch{.length = static_cast<int64_t>(values.size())};
  return batch.node(batch.length).add("").add(values);
}

// One text.
MadeBatch text(const std::string& value, bool is_delta = false) {
  MadeBatch batch{.length = 1, .is_dictionary = true, .is_delta = is_delta};
  return batch.node(1).add("").add(std::vector<int32_t>{0, static_cast<int32_t>(value.size())}).add(value);
}

std::string error_of(const std::string& file, ReadOptions options = {.validation = Validation::kFull}) {
  MemoryPool pool;
  try {
    FileReader reader(Buffer::from_string(file), pool, std::move(options));
    for (size_t i = 0; i < reader.batch_count(); ++i) reader.batch(i);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Columns of int32, each batch of `rows` rows, named by their numbers.
RecordBatch numbers(size_t columns, int64_t rows, MemoryPool& pool) {
  std::vector<Field> fields;
  std::vector<ArrayPtr> arrays;
  for (size_t c = 0; c < columns; ++c) {
    fields.push_back({.name = std::to_string(c), .type = primitive(TypeId::kInt32)});
    auto builder = make_builder(primitive(TypeId::kInt32), pool);
    for (int64_t i = 0; i < rows; ++i) {
      const auto value = static_cast<int32_t>(static_cast<int64_t>(c) * 1000000 + i);
      builder->as<FixedWidthBuilder>().append_bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
    }
    arrays.push_back(builder->finish());
  }
  return {Schema::make(std::move(fields)), rows, std::move(arrays)};
}

std::string written(const std::vector<RecordBatch>& batches, const Metadata& footer = {}) {
  MemoryPool pool;
  MemorySink sink(pool);
  FileWriter writer(sink, batches[0].schema(), pool);
  for (size_t i = 0; i < batches.size(); ++i) writer.write(batches[i], {{"number", std::to_string(i)}});
  writer.set_metadata(footer);
  writer.finish();
  return std::string(sink.take().text());
}

TEST(FileReader, GivesAnyBatchAndAllMetadata) {
  MemoryPool pool;
  const std::string file = written({numbers(2, 3, pool), numbers(2, 1, pool), numbers(2, 0, pool)}, {{"k", "v"}});
  FileReader reader(Buffer::from_string(file), pool);
  EXPECT_EQ(reader.batch_count(), 3U);
  EXPECT_EQ(reader.row_count(), 4);
  EXPECT_EQ(reader.metadata(), (Metadata{{"k", "v"}}));
  EXPECT_EQ(reader.batch_metadata(1), (Metadata{{"number", "1"}}));
  EXPECT_EQ(value_to_text(*reader.batch(1).column(1), 0), "1000000");
  EXPECT_EQ(value_to_text(*reader.batch(0).column(0), 2), "2");
  EXPECT_EQ(reader.batch(2).row_count(), 0);
  EXPECT_EQ(reader.bytes_read(), 0U);
}

TEST(FileReader, ReadsOfAFileWhatIsWanted) {
  MemoryPool pool;
  MemoryFileSystem files;
  const std::string bytes = written({numbers(100, 10000, pool), numbers(100, 10000, pool)});
  files.put("big", bytes);
  FileReader all(files.open_input("big"), pool);
  EXPECT_EQ(all.bytes_read(), FileReader::kTailBytes);
  const RecordBatch second = all.batch(1);
  EXPECT_LT(all.bytes_read(), FileReader::kTailBytes + bytes.size() / 2 + 100);
  const std::vector<size_t> chosen{70, 3, 4};
  FileReader part(files.open_input("big"), pool, {.columns = chosen});
  const RecordBatch columns = part.batch(1);
  // Three of a hundred columns, and the metadata of the batch and of the file.
  EXPECT_LT(part.bytes_read(), 3 * 40000 + FileReader::kTailBytes + 20000);
  for (size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_EQ(difference(*columns.column(i), *second.column(chosen[i])), "");
    EXPECT_EQ(columns.schema()->field(i).name, std::to_string(chosen[i]));
  }
  // A small file takes one read.
  files.put("small", written({numbers(3, 5, pool)}));
  FileReader small(files.open_input("small"), pool);
  small.batch(0);
  EXPECT_EQ(small.bytes_read(), files.open_input("small")->size());
}

TEST(FileReader, SharesTheBodiesOfAMappedFileAndReadsItsMetadata) {
  MemoryPool pool;
  MemoryFileSystem files;
  const std::string bytes = written({numbers(100, 10000, pool), numbers(100, 10000, pool)});
  files.put("big", bytes);
  FileReader mapped(files.open_input("big"), pool, {.map_files = true});
  FileReader whole(Buffer::from_string(bytes), pool);
  const std::optional<Buffer> mapping = files.open_input("big")->map();
  ASSERT_TRUE(mapping);
  for (size_t i = 0; i < 2; ++i) {
    const RecordBatch batch = mapped.batch(i);
    EXPECT_EQ(difference(batch, whole.batch(i)), "");
    const std::byte* values = batch.column(99)->buffers[1].data();
    EXPECT_TRUE(values >= mapping->data() && values < mapping->data() + mapping->size());
  }
  EXPECT_LT(mapped.bytes_read(), bytes.size() / 50);
  FileReader part(files.open_input("big"), pool, {.columns = std::vector<size_t>{70}, .map_files = true});
  EXPECT_EQ(difference(*part.batch(1).column(0), *whole.batch(1).column(70)), "");
  EXPECT_LT(part.bytes_read(), bytes.size() / 50);
}

TEST(FileReader, NamesTheFileAndWhatIsAskedInVain) {
  MemoryPool pool;
  MemoryFileSystem files;
  files.put("cut", "ARROW1");
  try {
    FileReader(files.open_input("cut"), pool);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("reading cut"));
  }
  const std::string file = written({numbers(2, 1, pool)});
  EXPECT_THAT(error_of(file, {.columns = std::vector<size_t>{2}}), HasSubstr("column 2 of 2 was asked for"));
  EXPECT_THAT(error_of(file, {.columns = std::vector<size_t>{1, 0, 1}}), HasSubstr("column 1 was asked for twice"));
  EXPECT_THAT(error_of(file, {.columns = std::vector<size_t>{}}), "no error");
  EXPECT_THAT(error_of(file, {.max_metadata_bytes = 64}), HasSubstr("more than 64"));
  EXPECT_THAT(error_of(file, {.max_body_bytes = 8}), HasSubstr("more than"));
}

TEST(FileReader, RefusesWhatIsNoFile) {
  EXPECT_THAT(error_of(""), HasSubstr("an Arrow file of 0 bytes"));
  EXPECT_THAT(error_of("ARROW1"), HasSubstr("an Arrow file of 6 bytes"));
  EXPECT_THAT(error_of("FEA1" + std::string(100, '\0') + "FEA1"), HasSubstr("Feather V1 is not read"));
  EXPECT_THAT(error_of("PAR1" + std::string(100, '\0') + "PAR1"), HasSubstr("does not end in ARROW1"));
  EXPECT_THAT(error_of(std::string("\xFF\xFF\xFF\xFF", 4) + "ARROW1"), HasSubstr("a footer of -1 bytes"));
  EXPECT_THAT(error_of(std::string("\1\0\0\0", 4) + "ARROW1"), HasSubstr("a footer of 1 bytes"));
  EXPECT_THAT(error_of(MadeFile().finish(kCodes, 5)), HasSubstr("files of metadata version 6"));
}

TEST(FileReader, ChecksTheBlocksOfTheFooter) {
  MadeFile file;
  file.add(text("x")).add(codes({0}));
  ASSERT_EQ(error_of(file.finish(kCodes)), "no error");
  const auto with = [&](const std::function<void(MadeFile&)>& change) {
    MadeFile other = file;
    change(other);
    return error_of(other.finish(kCodes));
  };
  const std::string outside = "not inside of the file";
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].offset = -8; }), HasSubstr(outside));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].offset = INT64_MAX; }), HasSubstr(outside));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].metadata_length = -1; }), HasSubstr(outside));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].body_length = INT64_MAX; }), HasSubstr(outside));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].body_length = -1; }), HasSubstr(outside));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].body_length = 0; }), HasSubstr("no batch of 0 bytes"));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].metadata_length = 4; }), HasSubstr("metadata of 0 bytes in 4"));
  EXPECT_THAT(with([](MadeFile& f) { f.batches[0].metadata_length = 16; }), HasSubstr("in 16"));
  EXPECT_THAT(with([](MadeFile& f) { f.batches = f.dictionaries; }), HasSubstr("no batch of"));
  EXPECT_THAT(with([](MadeFile& f) { f.dictionaries = f.batches; }), HasSubstr("no dictionary of"));
}

TEST(DictionariesOfFiles, AreTheSameForEveryBatch) {
  // Its dictionary stands behind the batches, in two parts.
  MadeFile file;
  file.add(codes({0})).add(codes({1, 0})).add(text("x")).add(text("y", true));
  MemoryPool pool;
  FileReader reader(Buffer::from_string(file.finish(kCodes)), pool, {.validation = Validation::kFull});
  const RecordBatch second = reader.batch(1);
  const RecordBatch first = reader.batch(0);
  EXPECT_EQ(value_to_text(*second.column(0), 0) + value_to_text(*second.column(0), 1), "yx");
  EXPECT_EQ(first.column(0)->dictionary->length, 2);
  EXPECT_EQ(first.column(0)->dictionary, second.column(0)->dictionary);
  EXPECT_THAT(error_of(MadeFile().add(text("x")).add(text("y")).add(codes({0})).finish(kCodes)),
              HasSubstr("dictionary 0 is replaced in a file"));
  EXPECT_THAT(error_of(MadeFile().add(text("x", true)).add(codes({0})).finish(kCodes)),
              HasSubstr("a delta of dictionary 0"));
  EXPECT_THAT(error_of(MadeFile().add(codes({0})).finish(kCodes)), HasSubstr("dictionary 0 is used and not there"));
}

TEST(FileReader, SurvivesEveryTruncationAndEveryChangedByte) {
  MadeFile made_file;
  made_file.add(text("x")).add(codes({0, 0}));
  const std::string file = made_file.finish(kCodes);
  for (size_t size = 0; size < file.size(); ++size) EXPECT_NE(error_of(file.substr(0, size)), "no error") << size;
  MemoryFileSystem files;
  MemoryPool pool;
  size_t read = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      files.put("changed", changed);
      try {
        FileReader reader(files.open_input("changed"), pool, {.validation = Validation::kFull});
        reader.metadata();
        reader.row_count();
        for (size_t i = 0; i < reader.batch_count(); ++i) {
          validate_full(reader.batch(i));
          ++read;
        }
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) << error.what();
      }
    }
  }
  EXPECT_GT(read, 100U);
}

// Of a mapped file only the metadata are touched: here whoever touches a body is killed.
TEST(BasicValidation, LeavesTheBodyAlone) {
  MemoryPool pool;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const RecordBatch batch = numbers(3, static_cast<int64_t>(page), pool);
  const std::string file = written({batch});
  void* memory = mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memcpy(memory, file.data(), file.size());
  // The first and the last pages have the metadata.
  ASSERT_EQ(mprotect(static_cast<std::byte*>(memory) + page, 11 * page, PROT_NONE), 0);
  {
    FileReader reader(Buffer::borrow({static_cast<const std::byte*>(memory), file.size()}), pool);
    const RecordBatch read = reader.batch(0);
    EXPECT_EQ(read.row_count(), batch.row_count());
    EXPECT_EQ(read.column(2)->buffers[1].size(), 4 * page);
  }
  munmap(memory, file.size());
}

TEST(SchemaCache, IsFoundByTheBytesOfASchema) {
  MemoryPool pool;
  SchemaCache cache;
  const ReadOptions options{.validation = Validation::kFull, .schema_cache = &cache};
  const std::string one = written({numbers(3, 2, pool)});
  const std::string longer = written({numbers(3, 2, pool), numbers(3, 7, pool)});
  const std::string other = written({numbers(4, 2, pool)});
  FileReader first(Buffer::from_string(one), pool, options);
  FileReader second(Buffer::from_string(longer), pool, options);
  FileReader third(Buffer::from_string(other), pool, options);
  EXPECT_EQ(first.schema(), second.schema());
  EXPECT_NE(first.schema(), third.schema());
  EXPECT_EQ(third.schema()->field_count(), 4U);
  EXPECT_EQ(difference(first.batch(0), second.batch(0)), "");
  // As long, but for the names.
  const RecordBatch batch = numbers(1, 2, pool);
  const SchemaPtr renamed = Schema::make({{.name = "x", .type = primitive(TypeId::kInt32)}});
  FileReader named(Buffer::from_string(written({batch})), pool, options);
  FileReader other_name(Buffer::from_string(written({{renamed, 2, batch.columns()}})), pool, options);
  EXPECT_EQ(named.schema()->field(0).name, "0");
  EXPECT_EQ(other_name.schema()->field(0).name, "x");
  // More schemas than it has room for.
  for (size_t columns = 1; columns < 2 * SchemaCache::kEntriesMax; ++columns) {
    FileReader reader(Buffer::from_string(written({numbers(columns, 1, pool)})), pool, options);
    EXPECT_EQ(reader.schema()->field_count(), columns);
    EXPECT_EQ(reader.batch(0).columns().size(), columns);
  }
}

}  // namespace
}  // namespace frazil::ipc
