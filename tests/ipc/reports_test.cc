// What users of other readers and writers of Arrow IPC reported (tests/reports.json), where no gold file shows it: streams of
// ours, taken apart and put together in the ways that went wrong elsewhere.
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/flatbuffer_builder.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/schema_message.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/memory/poison.h"
#include "frazil/testing/ipc_contents.h"

namespace frazil::testing {
namespace {

using ::testing::HasSubstr;

// Each input decodes its schema.
constexpr ipc::ReadOptions kChecked = {.validation = ipc::Validation::kFull, .schema_cache = nullptr};

struct Part {
  ipc::MessageKind kind;
  std::string bytes;  // prefix, metadata and body
};

// The messages of a stream, without its end marker.
std::vector<Part> parts_of(std::string_view stream) {
  std::vector<Part> parts;
  while (true) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(stream));
    const ipc::MessagePrefix prefix = *ipc::MessagePrefix::read(bytes, 0);
    if (prefix.metadata_bytes == 0) return parts;
    const ipc::Message message(bytes.subspan(prefix.prefix_bytes, prefix.metadata_bytes));
    const size_t size = prefix.prefix_bytes + prefix.metadata_bytes + message.body_bytes();
    parts.push_back({message.kind(), std::string(stream.substr(0, size))});
    stream.remove_prefix(size);
  }
}

IpcContents contents(SchemaPtr schema, std::vector<std::vector<ArrayPtr>> batches) {
  IpcContents result;
  result.schema = std::move(schema);
  for (std::vector<ArrayPtr>& columns : batches) {
    const int64_t rows = columns.empty() ? 0 : columns[0]->length;
    result.batches.emplace_back(result.schema, rows, std::move(columns));
    result.batch_metadata.emplace_back();
  }
  return result;
}

IpcContents column(const ArrayPtr& array) {
  return contents(Schema::make({{.name = "a", .type = array->type}}), {{array}});
}

std::vector<Part> parts_of(const IpcContents& contents, const ipc::WriteOptions& options = {}) {
  MemoryPool pool;
  return parts_of(stream_of(contents, pool, options).text());
}

IpcContents read(std::string bytes, MemoryPool& pool, const ipc::ReadOptions& options = kChecked) {
  ipc::StreamReader reader(Buffer::from_string(std::move(bytes)), pool, options);
  return contents_of(reader);
}

std::string error_of(std::string bytes) {
  MemoryPool pool;
  try {
    read(std::move(bytes), pool);
  } catch (const CorruptError& error) {
    return error.what();
  }
  return "no error";
}

ArrayPtr numbers(int64_t count) {
  std::vector<std::optional<int64_t>> values;
  for (int64_t i = 0; i < count; ++i) values.emplace_back(i % 7);
  return make_int64(values);
}

ArrayPtr words(const std::vector<std::optional<int64_t>>& indices,
               const std::vector<std::optional<std::string>>& values) {
  return make_dictionary(dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)), indices, make_utf8(values));
}

TEST(IpcReports, I03RawAndCompressedBuffersStandInOneBatch) {
  // Random bytes do not shrink, their offsets and the numbers do.
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  std::vector<std::optional<std::string>> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = noise.substr(4 * i, 4);
  const SchemaPtr schema = Schema::make(
      {{.name = "noise", .type = primitive(TypeId::kBinary)}, {.name = "number", .type = primitive(TypeId::kInt64)}});
  const IpcContents written = contents(schema, {{make_binary(values), numbers(1000)}});
  for (const Codec codec : {Codec::kLz4Frame, Codec::kZstd}) {
    MemoryPool pool;
    const std::string bytes = parts_of(written, {.codec = codec})[1].bytes;
    EXPECT_THAT(bytes, HasSubstr(std::string(8, '\xFF') + noise.substr(0, 100))) << "-1, and the bytes as they are";
    EXPECT_LT(bytes.size(), noise.size() + 6000);
    EXPECT_EQ(difference_after_writing(written, pool, {.codec = codec}), "");
  }
}

TEST(IpcReports, I05AWrongLengthBeforeACompressedBufferIsAnError) {
  for (const Codec codec : {Codec::kLz4Frame, Codec::kZstd}) {
    const std::vector<Part> parts = parts_of(column(numbers(1000)), {.codec = codec});
    const int64_t right = 8000;
    const std::string prefix(reinterpret_cast<const char*>(&right), sizeof(right));
    const size_t at = parts[1].bytes.find(prefix, parts[1].bytes.size() / 2 > 200 ? 100 : 0);
    ASSERT_NE(at, std::string::npos);
    const auto body_bytes = static_cast<int64_t>(parts[1].bytes.size() - at - 8);
    for (const int64_t wrong : {body_bytes, int64_t{0}, right - 1, right + 1, int64_t{-2}, int64_t{1} << 40,
                                std::numeric_limits<int64_t>::max()}) {
      std::string bytes = parts[1].bytes;
      std::memcpy(bytes.data() + at, &wrong, sizeof(wrong));
      EXPECT_NE(error_of(parts[0].bytes + bytes), "no error") << wrong;
    }
  }
}

TEST(IpcReports, I08AbsentValidityMeansThatAllIsValid) {
  MemoryPool pool;
  auto array = std::make_shared<Array>(*numbers(100));
  ASSERT_TRUE(array->buffers[0].empty());
  const IpcContents found = read(std::string(stream_of(column(array), pool).text()), pool);
  EXPECT_TRUE(found.batches.at(0).column(0)->buffers[0].empty());
  EXPECT_EQ(found.batches[0].column(0)->count_nulls(), 0);
  // Bits that say so are the same.
  GrowingBuffer bits(pool);
  for (int i = 0; i < 13; ++i) bits.append(uint8_t{0xFF});
  array->buffers[0] = bits.freeze();
  array->null_count = kUnknownNullCount;
  const IpcContents with_bits = read(std::string(stream_of(column(array), pool).text()), pool);
  EXPECT_EQ(difference(with_bits, found), "");
  EXPECT_TRUE(with_bits.batches.at(0).column(0)->is_valid(99));
}

TEST(IpcReports, I09FewerBuffersThanTheSchemaNeedsAreAnError) {
  const std::vector<Part> narrow = parts_of(column(numbers(10)));
  const SchemaPtr schema = Schema::make(
      {{.name = "a", .type = primitive(TypeId::kInt64)}, {.name = "b", .type = primitive(TypeId::kInt64)}});
  const std::vector<Part> wide = parts_of(contents(schema, {{numbers(10), numbers(10)}}));
  EXPECT_THAT(error_of(wide[0].bytes + narrow[1].bytes), HasSubstr("nodes"));
  // As many nodes, fewer buffers: text has three, numbers have two.
  const std::vector<Part> text = parts_of(column(make_utf8({"a", "b"})));
  EXPECT_NE(error_of(text[0].bytes + parts_of(column(numbers(2)))[1].bytes), "no error");
}

TEST(IpcReports, I11AFileIsAStreamBehindItsMagic) {
  MemoryPool pool;
  const IpcContents written =
      contents(Schema::make({{.name = "a", .type = primitive(TypeId::kInt64)}}), {{numbers(3)}, {numbers(5)}});
  const Buffer file = file_of(written, pool);
  EXPECT_EQ(difference(read(std::string(file.text()), pool), written), "");
}

TEST(IpcReports, I12WhatIsEmptyIsAnErrorOrATableWithoutRows) {
  MemoryPool pool;
  EXPECT_THAT(error_of(""), HasSubstr("no bytes"));
  EXPECT_NE(error_of(std::string(8, '\0')), "no error");
  const IpcContents nothing = contents(Schema::make({{.name = "a", .type = primitive(TypeId::kInt64)}}), {});
  const std::string schema_only = parts_of(nothing)[0].bytes;
  EXPECT_EQ(difference(read(schema_only, pool), nothing), "");
  EXPECT_EQ(difference_after_writing(nothing, pool), "");
  const IpcContents no_columns = contents(Schema::make({}, {{"k", "v"}}), {{}, {}});
  EXPECT_EQ(difference_after_writing(no_columns, pool), "");
}

TEST(IpcReports, I13SizesBeyondTheBytesAreAnErrorBeforeAnythingIsAllocated) {
  const std::vector<Part> parts = parts_of(column(numbers(100)));
  for (const uint32_t size : {0x7FFFFFFFU, 0x80000000U, 0x10000000U, 4096U}) {
    MemoryPool pool({.budget_bytes = 8 << 20});
    std::string bytes = parts[0].bytes + parts[1].bytes;
    std::memcpy(bytes.data() + parts[0].bytes.size() + 4, &size, sizeof(size));
    ipc::PushDecoder decoder(pool);
    EXPECT_THROW(
        {
          decoder.push(std::as_bytes(std::span(bytes)));
          decoder.next();
          decoder.finish();
        },
        CorruptError)
        << size;
  }
}

TEST(IpcReports, I14EachDictionaryFieldIsWrittenUnderItsOwnId) {
  const DataTypePtr type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  const Field nested = {.name = "n", .type = list({.name = "item", .type = type})};
  const SchemaPtr schema = Schema::make({{.name = "a", .type = type}, nested, {.name = "b", .type = type}});
  const std::string bytes = parts_of(contents(schema, {}))[0].bytes;
  const ipc::SchemaMessage message(std::as_bytes(std::span(bytes)));
  std::set<int64_t> ids;
  for (size_t i = 0; i < 3; ++i) {
    for (const int64_t id : message.dictionary_ids(i)) ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 3u);
}

TEST(IpcReports, I18DictionariesMayComeLateOrNever) {
  MemoryPool pool;
  const ArrayPtr nulls = words({{}, {}, {}}, {"never used"});
  const ArrayPtr some = words({1, 0, {}}, {"x", "y"});
  const IpcContents written = contents(Schema::make({{.name = "a", .type = nulls->type}}), {{nulls}, {some}});
  const std::vector<Part> parts = parts_of(written);
  ASSERT_EQ(parts.size(), 5u) << "schema, and twice a dictionary and a batch";
  ASSERT_EQ(parts[1].kind, ipc::MessageKind::kDictionaryBatch);
  // No rows, and no dictionary.
  EXPECT_EQ(read(parts[0].bytes, pool).batches.size(), 0u);
  // Rows that need none.
  const IpcContents late = read(parts[0].bytes + parts[2].bytes + parts[3].bytes + parts[4].bytes, pool);
  EXPECT_EQ(difference(late, written), "");
  EXPECT_EQ(difference_after_writing(late, pool), "");
  // Rows that do.
  EXPECT_THAT(error_of(parts[0].bytes + parts[4].bytes), HasSubstr("dictionary"));
}

TEST(IpcReports, I18DeltasLeaveEarlierBatchesAsTheyWere) {
  MemoryPool pool;
  const ArrayPtr first = words({1, 0}, {"x", "y"});
  const ArrayPtr second = words({2, 0}, {"x", "y", "z"});
  const IpcContents written = contents(Schema::make({{.name = "a", .type = first->type}}), {{first}, {second}});
  const Buffer stream = stream_of(written, pool, {.dictionaries = ipc::DictionaryChanges::kDelta});
  ipc::StreamReader reader(stream, pool, kChecked);
  const RecordBatch before = *reader.next();
  EXPECT_EQ(before.column(0)->dictionary->length, 2);
  const RecordBatch after = *reader.next();
  EXPECT_EQ(before.column(0)->dictionary->length, 2);
  EXPECT_EQ(after.column(0)->dictionary->length, 3);
  EXPECT_EQ(difference(before, written.batches[0]), "");
  EXPECT_EQ(difference(after, written.batches[1]), "");
}

TEST(IpcReports, I20AChosenColumnHasItsOwnDictionary) {
  MemoryPool pool;
  const ArrayPtr first = words({0, 1}, {"first", "of a"});
  const ArrayPtr second = words({1, 0}, {"second", "of b"});
  const Metadata extension = {{"ARROW:extension:name", "an extension"}, {"ARROW:extension:metadata", "of it"}};
  const SchemaPtr schema = Schema::make({{.name = "a", .type = first->type, .metadata = extension},
                                         {.name = "n", .type = primitive(TypeId::kInt64)},
                                         {.name = "b", .type = second->type, .metadata = extension}});
  const IpcContents written = contents(schema, {{first, numbers(2), second}});
  MemoryFileSystem files;
  write_file(files, "/file", file_of(written, pool).span(), {});
  for (const auto& [columns, wanted] : {std::pair{std::vector<size_t>{2}, std::vector{second}},
                                        std::pair{std::vector<size_t>{2, 0}, std::vector{second, first}}}) {
    ipc::ReadOptions options = kChecked;
    options.columns = columns;
    ipc::FileReader from_file(files.open_input("/file"), pool, options);
    const IpcContents of_file = contents_of(from_file);
    const IpcContents of_stream = read(std::string(stream_of(written, pool).text()), pool, options);
    for (const IpcContents* found : {&of_file, &of_stream}) {
      ASSERT_EQ(found->batches.at(0).columns().size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(difference(*found->batches[0].column(i), *wanted[i]), "");
      EXPECT_EQ(found->schema->field(0).extension_name(), "an extension");
    }
  }
}

// AddressSanitizer takes minutes for as many as were reported.
#ifdef FRAZIL_ADDRESS_SANITIZER
constexpr size_t kManyColumns = 20'001;
#else
constexpr size_t kManyColumns = 500'001;
#endif

TEST(IpcReports, I24HalfAMillionColumnsAreReadAndWritten) {
  MemoryPool pool;
  const DataTypePtr type = primitive(TypeId::kInt8);
  const ArrayPtr values = make_fixed<int8_t>(type, {1, 2});
  std::vector<Field> fields(kManyColumns, Field{.name = "c", .type = type});
  std::vector<ArrayPtr> columns(fields.size(), values);
  const Buffer stream = stream_of(contents(Schema::make(std::move(fields)), {std::move(columns)}), pool);
  ipc::StreamReader reader(stream, pool, kChecked);
  const RecordBatch batch = *reader.next();
  ASSERT_EQ(batch.columns().size(), kManyColumns);
  EXPECT_EQ(difference(*batch.column(kManyColumns - 1), *values), "");
}

// A schema message of one list in another, `levels` deep; our own writer makes none that are deeper than types may be.
std::string deep_schema(int levels) {
  namespace message = ipc::message_field;
  namespace schema = ipc::schema_field;
  namespace field = ipc::field_field;
  MemoryPool pool;
  ipc::FlatBuilder builder(pool);
  builder.clear();
  const auto schema_tag = static_cast<uint8_t>(ipc::HeaderTag::kSchema);
  const ipc::FlatPlace root = builder.table(ipc::FlatShape()
                                                .scalar<int16_t>(message::kVersion, ipc::kMetadataV5)
                                                .scalar<uint8_t>(message::kHeaderTag, schema_tag)
                                                .offset(message::kHeader));
  builder.point_root(root);
  const ipc::FlatPlace header = builder.table(ipc::FlatShape().offset(schema::kFields));
  builder.point(root, message::kHeader, header);
  ipc::FlatPlace parent = header;
  for (int level = 1; level <= levels; ++level) {
    const ipc::FlatBuilder::Position children = builder.offsets(1);
    builder.point(parent, level == 1 ? unsigned{schema::kFields} : unsigned{field::kChildren}, children);
    const bool is_last = level == levels;
    ipc::FlatShape shape;
    shape.scalar(field::kTypeTag, static_cast<uint8_t>(is_last ? ipc::TypeTag::kUtf8 : ipc::TypeTag::kList));
    shape.offset(field::kType);
    if (!is_last) shape.offset(field::kChildren);
    parent = builder.element(children, 0, shape);
    builder.point(parent, field::kType, builder.table(ipc::FlatShape()));
  }
  std::string bytes(reinterpret_cast<const char*>(builder.bytes().data()), builder.bytes().size());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const uint32_t prefix[] = {ipc::kContinuation, static_cast<uint32_t>(bytes.size())};
  return std::string(reinterpret_cast<const char*>(prefix), sizeof(prefix)) + bytes;
}

TEST(IpcReports, I24ASchemaTenThousandLevelsDeepIsRefused) {
  MemoryPool pool;
  EXPECT_EQ(read(deep_schema(kMaxTypeDepth), pool).schema->field(0).type->depth(), kMaxTypeDepth);
  for (const int levels : {kMaxTypeDepth + 1, 10'000}) {
    try {
      read(deep_schema(levels), pool);
      FAIL() << levels;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.what(), HasSubstr("levels"));
    }
  }
}

TEST(IpcReports, I29FeatherV1IsNamed) {
  MemoryPool pool;
  try {
    ipc::open(Buffer::from_string("FEA1" + std::string(60, '\0')), pool);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("Feather"));
  }
}

}  // namespace
}  // namespace frazil::testing
