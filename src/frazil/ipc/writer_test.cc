// StreamWriter and FileWriter, by what the readers of this layer get back; tests/ipc has other readers.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/random_arrays_test.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/schema_message.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/ipc/stream_writer.h"

namespace frazil::ipc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Kind : uint8_t { kStream, kFile };

using Batches = std::vector<std::pair<RecordBatch, Metadata>>;

Buffer write(Kind kind, const SchemaPtr& schema, const Batches& batches, const WriteOptions& options, MemoryPool& pool,
             const Metadata& footer = {}) {
  MemorySink sink(pool);
  std::unique_ptr<BatchWriter> writer;
  if (kind == Kind::kStream) {
    writer = std::make_unique<StreamWriter>(sink, schema, pool, options);
  } else {
    auto file = std::make_unique<FileWriter>(sink, schema, pool, options);
    file->set_metadata(footer);
    writer = std::move(file);
  }
  for (const auto& [batch, metadata] : batches) writer->write(batch, metadata);
  writer->finish();
  return sink.take();
}

struct Read {
  SchemaPtr schema;
  Batches batches;
  Metadata footer;
};

Read read(Kind kind, const Buffer& bytes, MemoryPool& pool) {
  const ReadOptions options{.validation = Validation::kFull};
  Read result;
  if (kind == Kind::kStream) {
    StreamReader reader(bytes, pool, options);
    result.schema = reader.schema();
    while (auto batch = reader.next()) result.batches.emplace_back(*std::move(batch), reader.custom_metadata());
  } else {
    FileReader reader(bytes, pool, options);
    result.schema = reader.schema();
    result.footer = reader.metadata();
    for (size_t i = 0; i < reader.batch_count(); ++i) {
      result.batches.emplace_back(reader.batch(i), reader.batch_metadata(i));
    }
  }
  return result;
}

void expect_equal(const Batches& got, const Batches& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(difference(got[i].first, wanted[i].first, {.exact_floats = true}), "") << "batch " << i;
    EXPECT_EQ(got[i].second, wanted[i].second) << "batch " << i;
  }
}

RC_GTEST_PROP(Writers, KeepWhateverIsWritten, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  std::vector<Field> fields;
  for (int64_t i = random.below(4); i >= 0; --i) {
    fields.push_back({.name = random.text(),
                      .type = random.type(),
                      .metadata = random.coin(3) ? Metadata{{random.text(), random.text()}} : Metadata{}});
  }
  const SchemaPtr schema =
      Schema::make(fields, random.coin(2) ? Metadata{{"k", random.text()}, {"k", ""}} : Metadata{});
  Batches batches;
  for (int64_t i = random.below(4); i > 0; --i) {
    const int64_t rows = random.coin(5) ? 0 : random.below(40);
    std::vector<ArrayPtr> columns;
    for (const Field& field : fields) {
      ArrayPtr column = random.array(field.type, rows);
      if (random.coin(2)) column = random.with_offsets(*column);
      columns.push_back(std::move(column));
    }
    RecordBatch batch(schema, rows, std::move(columns));
    if (rows > 0 && random.coin(2)) {
      const int64_t from = random.below(rows);
      batch = batch.slice(from, random.below(rows - from + 1));
    }
    batches.emplace_back(std::move(batch), random.coin(2) ? Metadata{{"batch", random.text()}} : Metadata{});
  }
  WriteOptions options;
  options.alignment = random.coin(2) ? 8 : 64;
  options.codec = std::array{Codec::kNone, Codec::kLz4Frame, Codec::kZstd}[static_cast<size_t>(random.below(3))];
  options.metadata_v4 = options.codec == Codec::kNone && random.coin(4);
  if (random.coin(2)) options.dictionaries = random.coin(2) ? DictionaryChanges::kDelta : DictionaryChanges::kUnify;
  const Metadata footer = random.coin(2) ? Metadata{{"foot", random.text()}} : Metadata{};
  for (Kind kind : {Kind::kStream, Kind::kFile}) {
    const Read got = read(kind, write(kind, schema, batches, options, pool, footer), pool);
    RC_ASSERT(got.schema->equals(*schema, true));
    if (kind == Kind::kFile) RC_ASSERT(got.footer == footer);
    expect_equal(got.batches, batches);
    // And what was read is written again as it was, but for bits that nothing says anything about.
    const Read again = read(kind, write(kind, schema, got.batches, options, pool, footer), pool);
    expect_equal(again.batches, batches);
  }
}

// ---- Bytes ----

RecordBatch long_batch(MemoryPool& pool, int64_t rows = 10'000) {
  std::vector<std::pair<std::string, ArrayPtr>> columns;
  const auto build = [&](const std::string& name, const DataTypePtr& type, auto append) {
    const auto builder = make_builder(type, pool);
    for (int64_t i = 0; i < rows; ++i) append(*builder, i);
    columns.emplace_back(name, builder->finish());
  };
  const auto text = [](int64_t i) { return "text of more than twelve bytes, number " + std::to_string(i); };
  build("n", primitive(TypeId::kInt64), [](auto& b, int64_t i) { b.template as<FixedWidthBuilder>().append(i); });
  build("b", primitive(TypeId::kBool), [](auto& b, int64_t i) { b.template as<BoolBuilder>().append(i % 3 == 0); });
  build("t", primitive(TypeId::kUtf8), [&](auto& b, int64_t i) { b.template as<BytesBuilder>().append(text(i)); });
  build("v", primitive(TypeId::kUtf8View), [&](auto& b, int64_t i) { b.template as<BytesBuilder>().append(text(i)); });
  const Field item{.name = "item", .type = primitive(TypeId::kInt32)};
  for (const TypeId id : {TypeId::kList, TypeId::kListView, TypeId::kLargeListView}) {
    build("l" + std::to_string(static_cast<int>(id)), list(item, id), [](auto& b, int64_t i) {
      auto& lists = b.template as<ListBuilder>();
      lists.append();
      for (int k = 0; k < 3; ++k) lists.values().template as<FixedWidthBuilder>().append(static_cast<int32_t>(i + k));
    });
  }
  build("u", dense_union({item, {.name = "x", .type = primitive(TypeId::kDouble)}}, {3, 7}), [](auto& b, int64_t i) {
    auto& unions = b.template as<UnionBuilder>();
    unions.append(static_cast<size_t>(i % 2));
    if (i % 2 == 0) unions.child(0).template as<FixedWidthBuilder>().append(static_cast<int32_t>(i));
    if (i % 2 == 1) unions.child(1).template as<FixedWidthBuilder>().append(static_cast<double>(i));
  });
  build("r", run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt32), .nullable = false}, item),
        [](auto& b, int64_t i) {
          auto& runs = b.template as<RunEndBuilder>();
          runs.values().template as<FixedWidthBuilder>().append(static_cast<int32_t>(i));
          runs.append_run(1);
        });
  return make_batch(std::move(columns));
}

TEST(Writers, WriteOfASliceWhatItUses) {
  MemoryPool pool;
  const RecordBatch whole = long_batch(pool);
  const size_t whole_bytes = write(Kind::kStream, whole.schema(), {{whole, {}}}, {}, pool).size();
  EXPECT_GT(whole_bytes, 1'000'000U);
  const size_t empty_bytes = write(Kind::kStream, whole.schema(), {{whole.slice(5000, 0), {}}}, {}, pool).size();
  EXPECT_LT(empty_bytes, 4096U);
  for (int64_t from : {0, 1, 7, 8, 5003, 9989}) {
    const RecordBatch slice = whole.slice(from, 11);
    const Buffer bytes = write(Kind::kStream, whole.schema(), {{slice, {}}}, {}, pool);
    EXPECT_LT(bytes.size(), empty_bytes + 3500) << from;
    expect_equal(read(Kind::kStream, bytes, pool).batches, {{slice, {}}});
  }
}

// Where the bodies and their buffers begin.
TEST(Writers, AlignMessagesAndBuffers) {
  MemoryPool pool;
  const RecordBatch batch = long_batch(pool, 100);
  for (uint32_t alignment : {8U, 64U}) {
    for (Kind kind : {Kind::kStream, Kind::kFile}) {
      const WriteOptions options{.alignment = alignment};
      const Buffer bytes = write(kind, batch.schema(), {{batch, {}}, {batch.slice(3, 9), {}}}, options, pool);
      size_t at = kind == Kind::kFile ? 8 : 0;
      std::vector<MessageKind> kinds;
      for (;;) {
        const MessagePrefix prefix = MessagePrefix::read(bytes.span().subspan(at), at).value();
        if (prefix.metadata_bytes == 0) break;
        EXPECT_TRUE(kinds.empty() || at % alignment == 0) << at;
        const size_t metadata = at + prefix.prefix_bytes;
        const Message message(bytes.span().subspan(metadata, prefix.metadata_bytes), metadata);
        kinds.push_back(message.kind());
        at = metadata + prefix.metadata_bytes;
        EXPECT_EQ(at % alignment, 0U);
        EXPECT_EQ(message.body_bytes() % alignment, 0U);
        if (message.kind() == MessageKind::kRecordBatch) {
          const FlatVector buffers = message.header().vector(record_batch_field::kBuffers, sizeof(BufferPlace));
          for (size_t i = 0; i < buffers.size(); ++i) EXPECT_EQ(buffers.scalar<int64_t>(2 * i) % alignment, 0U) << i;
        }
        at += message.body_bytes();
      }
      EXPECT_THAT(kinds, ElementsAre(MessageKind::kSchema, MessageKind::kRecordBatch, MessageKind::kRecordBatch));
    }
  }
}

TEST(Writers, CompressBuffersThatItPaysFor) {
  MemoryPool pool;
  RandomArrays random(7, pool);
  std::string noise;
  for (int i = 0; i < 10'000; ++i) noise += static_cast<char>(random.below(256));
  const RecordBatch batch =
      make_batch({{"same", make_binary({std::string(10'000, 'x')})}, {"noise", make_binary({noise})}});
  for (Codec codec : {Codec::kLz4Frame, Codec::kZstd}) {
    const Buffer bytes = write(Kind::kFile, batch.schema(), {{batch, {}}}, {.codec = codec}, pool);
    EXPECT_GT(bytes.size(), 10'000U);
    EXPECT_LT(bytes.size(), 11'500U);
    expect_equal(read(Kind::kFile, bytes, pool).batches, {{batch, {}}});
    const WriteOptions never{.codec = codec, .min_space_savings = 1};
    const Buffer raw = write(Kind::kFile, batch.schema(), {{batch, {}}}, never, pool);
    EXPECT_GT(raw.size(), 20'000U);
    expect_equal(read(Kind::kFile, raw, pool).batches, {{batch, {}}});
  }
}

TEST(Writers, GiveTheSameBytesForTheSameBatches) {
  MemoryPool pool;
  const RecordBatch batch = long_batch(pool, 500);
  const Batches batches = {{batch, {}}, {batch.slice(100, 77), {}}, {batch, {}}};
  for (Codec codec : {Codec::kNone, Codec::kLz4Frame, Codec::kZstd}) {
    const Buffer first = write(Kind::kFile, batch.schema(), batches, {.codec = codec}, pool);
    EXPECT_EQ(first.text(), write(Kind::kFile, batch.schema(), batches, {.codec = codec}, pool).text());
  }
}

// ---- Dictionaries ----

ArrayPtr words(const std::vector<std::optional<std::string>>& words) {
  return make_utf8(words);
}

RecordBatch coded(const std::vector<std::optional<int64_t>>& indices, ArrayPtr values, TypeId index = TypeId::kInt8) {
  const DataTypePtr type = dictionary(primitive(index), values->type);
  return make_batch({{"d", make_dictionary(type, indices, std::move(values))}});
}

// The dictionary batches of what was written, as "0", or "0+" for a delta, each with its number of values.
std::vector<std::string> dictionaries_in(Kind kind, const Buffer& bytes) {
  std::vector<std::string> result;
  for (size_t at = kind == Kind::kFile ? 8 : 0;;) {
    const MessagePrefix prefix = MessagePrefix::read(bytes.span().subspan(at), at).value();
    if (prefix.metadata_bytes == 0) return result;
    at += prefix.prefix_bytes;
    const Message message(bytes.span().subspan(at, prefix.metadata_bytes), at);
    at += prefix.metadata_bytes + message.body_bytes();
    if (message.kind() != MessageKind::kDictionaryBatch) continue;
    const FlatTable& header = message.header();
    const FlatTable data = header.table(dictionary_batch_field::kData).value();
    result.push_back(std::to_string(header.scalar<int64_t>(dictionary_batch_field::kId, 0)) +
                     (header.boolean(dictionary_batch_field::kIsDelta, false) ? "+" : ":") +
                     std::to_string(data.scalar<int64_t>(record_batch_field::kLength, 0)));
  }
}

std::vector<std::string> dictionaries_of(Kind kind, DictionaryChanges changes, const Batches& batches) {
  MemoryPool pool;
  const Buffer bytes = write(kind, batches.front().first.schema(), batches, {.dictionaries = changes}, pool);
  expect_equal(read(kind, bytes, pool).batches, batches);
  return dictionaries_in(kind, bytes);
}

TEST(Dictionaries, ThatAreEqualAreWrittenOnce) {
  const Batches batches = {{coded({0, 1, {}}, words({"a", "b"})), {}},
                           {coded({1, 1, 0}, words({"a", "b"})), {}},
                           {coded({}, words({"a", "b"})), {}}};
  for (DictionaryChanges changes :
       {DictionaryChanges::kReplace, DictionaryChanges::kDelta, DictionaryChanges::kUnify}) {
    EXPECT_THAT(dictionaries_of(Kind::kStream, changes, batches), ElementsAre("0:2"));
    if (changes == DictionaryChanges::kReplace) continue;
    EXPECT_THAT(dictionaries_of(Kind::kFile, changes, batches), ElementsAre("0:2"));
  }
}

TEST(Dictionaries, ThatChangeAreWrittenAsTheOptionSays) {
  // Longer, other, and one that the second already has.
  const Batches batches = {{coded({0, 1}, words({"a", "b"})), {}},
                           {coded({2, {}, 0}, words({"a", "b", "c"})), {}},
                           {coded({0, 1, 2}, words({"x", "c", {}})), {}},
                           {coded({1, 0}, words({"a", "b"})), {}}};
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kReplace, batches),
              ElementsAre("0:2", "0:3", "0:3", "0:2"));
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kDelta, batches),
              ElementsAre("0:2", "0+1", "0:3", "0:2"));
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kUnify, batches), ElementsAre("0:2", "0+1", "0+2"));
  EXPECT_THAT(dictionaries_of(Kind::kFile, DictionaryChanges::kDelta, batches), ElementsAre("0:2", "0+1", "0+2"));
  // The last one is what the footer names.
  EXPECT_THAT(dictionaries_of(Kind::kFile, DictionaryChanges::kUnify, batches), ElementsAre("0:2", "0:5"));
  // Each way of growing alone.
  EXPECT_THAT(dictionaries_of(Kind::kFile, DictionaryChanges::kUnify, {batches[0], batches[1]}),
              ElementsAre("0:2", "0:3"));
  EXPECT_THAT(dictionaries_of(Kind::kFile, DictionaryChanges::kUnify, {batches[0], batches[2]}),
              ElementsAre("0:2", "0:5"));
}

TEST(Dictionaries, OfEveryTypeAreUnified) {
  MemoryPool pool;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomArrays random(seed, pool);
    const DataTypePtr type = random.type(2);
    // Dictionaries of dictionary-encoded values cannot be written.
    if (type->to_string().starts_with("dictionary")) continue;
    Batches batches;
    for (int i = 0; i < 3; ++i) {
      const ArrayPtr values = random.array(type, 1 + random.below(20));
      std::vector<std::optional<int64_t>> indices = {std::nullopt};
      for (int k = 0; k < 10; ++k) indices.emplace_back(random.below(values->length));
      RecordBatch batch = coded(indices, random.coin(2) ? random.with_offsets(*values) : values, TypeId::kUInt16);
      batches.emplace_back(batch.slice(random.below(3), 8), Metadata{});
    }
    SCOPED_TRACE(type->to_string() + ", seed " + std::to_string(seed));
    for (DictionaryChanges changes : {DictionaryChanges::kUnify, DictionaryChanges::kDelta}) {
      dictionaries_of(Kind::kStream, changes, batches);
      dictionaries_of(Kind::kFile, changes, batches);
    }
    dictionaries_of(Kind::kStream, DictionaryChanges::kReplace, batches);
  }
}

// d: dictionary<list<dictionary<utf8>>>, whose inner dictionary is another one each time.
RecordBatch nested(const std::vector<std::optional<int64_t>>& indices,
                   const std::vector<std::optional<int64_t>>& counts, const std::vector<std::optional<int64_t>>& inner,
                   ArrayPtr values) {
  const DataTypePtr element = dictionary(primitive(TypeId::kInt16), primitive(TypeId::kUtf8));
  const DataTypePtr lists = list({.name = "item", .type = element});
  return coded(indices, make_list(lists, counts, make_dictionary(element, inner, std::move(values))));
}

TEST(Dictionaries, InsideOfOthersComeFirstAndReplaceThem) {
  const Batches batches = {
      // The inner values come first in another order than they have: an index that was made anew would show.
      {nested({0, 1, 1}, {2, 1}, {1, 0, 0}, words({"a", "b"})), {}},
      // Equal values through another inner dictionary.
      {nested({1, 0}, {2, 1}, {0, 1, 1}, words({"b", "a"})), {}},
      // The inner one grows, the outer one too.
      {nested({2, 1}, {2, 1, 1}, {0, 1, 1, 2}, words({"b", "a", "c"})), {}},
      // All is new.
      {nested({0, {}}, {3}, {0, 1, 0}, words({"y", "a"})), {}},
  };
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kReplace, batches),
              ElementsAre("1:2", "0:2", "1:2", "0:2", "1:3", "0:3", "1:2", "0:1"));
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kDelta, batches),
              ElementsAre("1:2", "0:2", "1:2", "0:2", "1+1", "0+1", "1:2", "0:1"));
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kUnify, batches),
              ElementsAre("1:2", "0:2", "1+1", "0+1", "1+1", "0+1"));
  EXPECT_THAT(dictionaries_of(Kind::kFile, DictionaryChanges::kUnify, batches),
              ElementsAre("1:2", "0:2", "1:4", "0:4"));
}

TEST(Dictionaries, ThatOutgrowTheirIndicesAreRefused) {
  MemoryPool pool;
  std::vector<std::optional<std::string>> first(100);
  std::vector<std::optional<std::string>> second(100);
  for (int i = 0; i < 100; ++i) first[static_cast<size_t>(i)] = std::to_string(i);
  for (int i = 0; i < 100; ++i) second[static_cast<size_t>(i)] = std::to_string(1000 + i);
  const Batches batches = {{coded({0}, words(first)), {}}, {coded({0, 99}, words(second)), {}}};
  EXPECT_THAT(dictionaries_of(Kind::kStream, DictionaryChanges::kReplace, batches), ElementsAre("0:100", "0:100"));
  try {
    write(Kind::kFile, batches.front().first.schema(), batches, {}, pool);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("int8"));
  }
}

// ---- What is refused ----

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

TEST(Writers, RefuseWhatCannotBe) {
  MemoryPool pool;
  MemorySink sink(pool);
  const RecordBatch batch = make_batch({{"a", make_int32({1})}});
  const auto stream_with = [&](const WriteOptions& options) {
    return error_of([&] { StreamWriter(sink, batch.schema(), pool, options); });
  };
  EXPECT_EQ(stream_with({}), "no error");
  EXPECT_THAT(stream_with({.alignment = 16}), HasSubstr("8 or 64"));
  EXPECT_THAT(stream_with({.codec = Codec::kSnappy}), HasSubstr("snappy"));
  EXPECT_THAT(stream_with({.codec = Codec::kZstd, .level = 23}), HasSubstr("zstd"));
  EXPECT_THAT(stream_with({.min_space_savings = 1.5}), HasSubstr("1.5"));
  EXPECT_THAT(stream_with({.codec = Codec::kZstd, .metadata_v4 = true}), HasSubstr("V4"));
  EXPECT_THAT(error_of([&] { FileWriter(sink, batch.schema(), pool, {.dictionaries = DictionaryChanges::kReplace}); }),
              HasSubstr("replace"));
  const DataTypePtr words_type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  const SchemaPtr twice = Schema::make({{.name = "d", .type = dictionary(primitive(TypeId::kInt8), words_type)}});
  EXPECT_THAT(error_of([&] { StreamWriter(sink, twice, pool); }), HasSubstr("unsupported"));
  StreamWriter writer(sink, batch.schema(), pool);
  EXPECT_THAT(error_of([&] { writer.write(make_batch({{"b", make_int32({1})}})); }), HasSubstr("invalid_argument"));
  writer.write(batch);
  writer.finish();
  EXPECT_THAT(error_of([&] { writer.finish(); }), HasSubstr("finished"));
  EXPECT_THAT(error_of([&] { writer.write(batch); }), HasSubstr("memory"));
}

class FailingSink final : public ByteSink {
 public:
  const std::string& name() const override { return name_; }
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>>) override {
    if (--writes_left < 0) throw IoError(28, "no space left");
  }
  void finish() override { finished = true; }
  int writes_left = 0;
  bool finished = false;

 private:
  std::string name_ = "a full disk";
};

TEST(Writers, AreOfNoUseAfterAFailure) {
  MemoryPool pool;
  const RecordBatch batch = make_batch({{"a", make_int32({1})}});
  for (int writes = 0; writes < 3; ++writes) {
    FailingSink sink;
    sink.writes_left = writes;
    FileWriter writer(sink, batch.schema(), pool);
    const auto work = [&] {
      writer.write(batch);
      writer.write(batch);
      writer.finish();
    };
    EXPECT_THAT(error_of(work), HasSubstr("no space left"));
    sink.writes_left = 10;
    EXPECT_THAT(error_of([&] { writer.finish(); }), HasSubstr("a full disk"));
    EXPECT_FALSE(sink.finished);
  }
}

// Values of unchecked arrays that must be followed where a slice is written.
TEST(Writers, DoNotFollowValuesOutOfTheirArrays) {
  MemoryPool pool;
  const RecordBatch whole = long_batch(pool, 20);
  const auto damaged = [&](std::string_view column, size_t buffer, size_t at, const auto& value) {
    const size_t index = whole.schema()->index_of(column).value();
    auto array = std::make_shared<Array>(*whole.column(index));
    MutableBuffer copy = pool.allocate(array->buffers[buffer].size());
    std::memcpy(copy.data(), array->buffers[buffer].data(), copy.size());
    std::memcpy(copy.data() + at, &value, sizeof(value));
    array->buffers[buffer] = std::move(copy).freeze();
    std::vector<ArrayPtr> columns = whole.columns();
    columns[index] = array;
    const RecordBatch batch = RecordBatch(whole.schema(), 20, std::move(columns)).slice(2, 10);
    return error_of([&] { write(Kind::kStream, batch.schema(), {{batch, {}}}, {}, pool); });
  };
  const auto list_view = "l" + std::to_string(static_cast<int>(TypeId::kListView));
  EXPECT_EQ(damaged("v", 1, 0, int32_t{-1}), "no error") << "outside of the slice";
  EXPECT_THAT(damaged("v", 1, 5 * 16 + 8, int32_t{1}), HasSubstr("corrupt: view 5"));
  EXPECT_THAT(damaged("v", 1, 5 * 16 + 12, int32_t{1 << 20}), HasSubstr("corrupt: view 5"));
  EXPECT_THAT(damaged("v", 1, 5 * 16 + 12, int32_t{-4}), HasSubstr("corrupt: view 5"));
  EXPECT_THAT(damaged(list_view, 1, 5 * 4, int32_t{59}), HasSubstr("corrupt: list view"));
  EXPECT_THAT(damaged(list_view, 2, 5 * 4, int32_t{-1}), HasSubstr("corrupt: list view"));
  EXPECT_THAT(damaged("u", 0, 5, int8_t{4}), HasSubstr("corrupt: value"));
  EXPECT_THAT(damaged("u", 0, 5, int8_t{-1}), HasSubstr("corrupt: value"));
  EXPECT_THAT(damaged("u", 1, 5 * 4, int32_t{10}), HasSubstr("corrupt: value"));
}

// ---- Schemas ----

TEST(SchemaWriter, IsReadBackByTheCursor) {
  MemoryPool pool;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomArrays random(seed, pool);
    std::vector<Field> fields;
    for (int64_t i = random.below(30); i > 0; --i) {
      fields.push_back({.name = random.text(), .type = random.type(), .nullable = random.coin(2), .metadata = {}});
      if (random.coin(3)) fields.back().metadata = {{random.text(), random.text()}, {"", random.text()}};
    }
    const SchemaPtr schema = Schema::make(std::move(fields), {{"k", "v"}});
    const Buffer bytes = schema_message(*schema, pool);
    EXPECT_EQ(bytes.size() % 8, 0U);
    EXPECT_TRUE(SchemaMessage(bytes.span()).schema()->equals(*schema, true)) << schema->to_string();
  }
}

}  // namespace
}  // namespace frazil::ipc
