// The C data interface against itself: what pyarrow makes of it is tested in tests/c_data.
#include "frazil/columnar/c_data.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

// A foreign producer: an array and its structures on the heap, every release of it counted.
struct Producer {
  ArrowArray array{};
  ArrowArray exported{};  // whom the wrapper below releases
  int released = 0;

  explicit Producer(const ArrayPtr& source) {
    export_array(source, &exported);
    array = exported;
    array.private_data = this;
    array.release = [](ArrowArray* self) {
      auto* producer = static_cast<Producer*>(self->private_data);
      ++producer->released;
      // The children's structures belong to the inner export, so what was moved out of them is marked there too.
      producer->exported.release(&producer->exported);
      self->release = nullptr;
    };
  }
  ~Producer() {
    if (array.release != nullptr) array.release(&array);
  }
};

class CData : public testing::Test {
 protected:
  MemoryPool pool_;
  ImportOptions options_{.pool = &pool_, .validate_full = true};
};

Field item(DataTypePtr type) {
  return {.name = "item", .type = std::move(type)};
}

TEST_F(CData, ReleasesOnceWhenTheLastBufferGoes) {
  DataTypePtr type = list(item(primitive(TypeId::kUtf8)));
  Producer producer(make_list(type, {1, 1}, make_utf8({"x", "y"})));
  ArrayPtr imported = import_array(&producer.array, type, options_);
  EXPECT_EQ(producer.array.release, nullptr) << "the structure was moved out";
  EXPECT_EQ(producer.released, 0);
  Buffer last = imported->children[0]->buffers[2];
  ArrayPtr part = imported->slice(1, 1);
  imported = nullptr;
  EXPECT_EQ(producer.released, 0);
  part = nullptr;
  EXPECT_EQ(producer.released, 0) << "a buffer of the child is still in use";
  EXPECT_EQ(last.text(), "xy");
  last = Buffer();
  EXPECT_EQ(producer.released, 1);
}

TEST_F(CData, ReleasesWhenNothingIsKept) {
  Producer nulls(make_null_array(primitive(TypeId::kNull), 3, pool_));
  ArrayPtr array = import_array(&nulls.array, primitive(TypeId::kNull), options_);
  EXPECT_EQ(nulls.released, 1) << "no buffer, nothing to wait for";
  EXPECT_EQ(array->length, 3);

  Producer damaged(make_utf8({"a", "b"}));
  damaged.array.length = -1;
  EXPECT_THROW(import_array(&damaged.array, primitive(TypeId::kUtf8), options_), CorruptError);
  EXPECT_EQ(damaged.released, 1);
  EXPECT_EQ(damaged.array.release, nullptr);

  Producer wrong(make_utf8({"a", "b"}));
  EXPECT_THROW(import_array(&wrong.array, primitive(TypeId::kInt32), options_), CorruptError);
  EXPECT_EQ(wrong.released, 1);
}

TEST_F(CData, ColumnsOfABatchAreReleasedOneByOne) {
  RecordBatch batch = make_batch({{"a", make_int32({1, 2})}, {"b", make_utf8({"x", "y"})}});
  std::weak_ptr<const Array> first = batch.column(0);
  std::weak_ptr<const Array> second = batch.column(1);
  SchemaPtr schema = batch.schema();
  ArrowArray array;
  export_record_batch(batch, &array);
  batch = RecordBatch(Schema::make({}), 0, {});
  RecordBatch imported = import_record_batch(&array, schema, options_);
  ArrayPtr kept = imported.column(1);
  imported = batch;
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(second.expired());
  EXPECT_EQ(to_string(*kept), "[\"x\", \"y\"]");
  kept = nullptr;
  EXPECT_TRUE(second.expired());
}

TEST_F(CData, ABatchMayHaveAnOffset) {
  RecordBatch batch = make_batch({{"a", make_int32({1, 2, 3, 4})}, {"b", make_utf8({"w", "x", "y", "z"})}});
  Producer producer(to_struct_array(batch));
  producer.array.offset = 1;
  producer.array.length = 2;
  RecordBatch imported = import_record_batch(&producer.array, batch.schema(), options_);
  EXPECT_EQ(difference(imported, batch.slice(1, 2)), "");

  Producer beyond(to_struct_array(batch));
  beyond.array.offset = 3;
  EXPECT_THROW(import_record_batch(&beyond.array, batch.schema(), options_), CorruptError);
  EXPECT_EQ(beyond.released, 1);
}

TEST_F(CData, NullRowsOfABatchAreRefused) {
  DataTypePtr type = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}});
  SchemaPtr schema = Schema::make(type->children());
  ArrayPtr array = make_struct(type, {make_int32({1, 2})}, {true, false});
  Producer producer(array);
  EXPECT_THROW(import_record_batch(&producer.array, schema, options_), Error);
  EXPECT_EQ(producer.released, 1);
  // Validity bits that are all set are no reason to refuse.
  auto valid = std::make_shared<Array>(*array->slice(0, 1));
  Producer fine(valid);
  EXPECT_EQ(import_record_batch(&fine.array, schema, options_).row_count(), 1);
}

TEST_F(CData, ChildrenMayBeMovedOutOfAnExport) {
  DataTypePtr type = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}});
  ArrayPtr source = make_struct(type, {make_int32({1, 2})});
  std::weak_ptr<const Array> child = source->children[0];
  ArrowArray exported;
  export_array(source, &exported);
  source = nullptr;
  ArrowArray moved = *exported.children[0];
  exported.children[0]->release = nullptr;
  exported.release(&exported);
  EXPECT_EQ(exported.release, nullptr);
  ASSERT_FALSE(child.expired());
  EXPECT_EQ(static_cast<const int32_t*>(moved.buffers[1])[1], 2);
  moved.release(&moved);
  EXPECT_TRUE(child.expired());
}

TEST_F(CData, RefusesWhatIsNullOrReleased) {
  ArrowArray released{};
  EXPECT_THROW(import_array(&released, primitive(TypeId::kInt32), options_), Error);
  EXPECT_THROW(import_array(nullptr, primitive(TypeId::kInt32), options_), Error);
  ArrowSchema released_schema{};
  EXPECT_THROW(import_field(&released_schema), Error);
  EXPECT_THROW(import_schema(nullptr), Error);
  ArrowArrayStream released_stream{};
  EXPECT_THROW(import_stream(&released_stream, options_), Error);
}

// Damages one place of an exported array's structures; the import must fail and release once. (The release of an export
// goes by its private data and not by the fields that are damaged here.)
TEST_F(CData, RefusesStructuresThatBreakTheRules) {
  DataTypePtr type = struct_({{.name = "s", .type = primitive(TypeId::kUtf8)},
                              {.name = "d", .type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8))}});
  ArrayPtr source = make_struct(
      type, {make_utf8({"a", std::nullopt}), make_dictionary(type->children()[1].type, {0, 1}, make_utf8({"x", "y"}))},
      {true, false});
  const int32_t negative_offsets[] = {0, 1, -1};
  const int32_t far_offsets[] = {5, 1, 1};
  const int8_t bad_indices[] = {0, 9};
  ArrowArray no_release{};
  const std::pair<const char*, std::function<void(ArrowArray&)>> cases[] = {
      {"negative length", [](ArrowArray& a) { a.length = -1; }},
      {"negative offset", [](ArrowArray& a) { a.offset = -1; }},
      {"overflow", [](ArrowArray& a) { a.offset = INT64_MAX; }},
      {"too long", [](ArrowArray& a) { a.length = 3; }},
      {"null count", [](ArrowArray& a) { a.null_count = 3; }},
      {"null count -2", [](ArrowArray& a) { a.null_count = -2; }},
      {"wrong null count", [](ArrowArray& a) { a.null_count = 2; }},
      {"no buffers", [](ArrowArray& a) { a.n_buffers = 0; }},
      {"negative buffers", [](ArrowArray& a) { a.n_buffers = -1; }},
      {"buffers null", [](ArrowArray& a) { a.buffers = nullptr; }},
      {"validity null", [](ArrowArray& a) { a.buffers[0] = nullptr; }},
      {"children null",
       [](ArrowArray& a) {
         a.children = nullptr;
         a.n_children = 2;
       }},
      {"too many children", [](ArrowArray& a) { a.n_children = 3; }},
      {"negative children", [](ArrowArray& a) { a.n_children = -2; }},
      {"a dictionary", [&](ArrowArray& a) { a.dictionary = &no_release; }},
      {"child null", [](ArrowArray& a) { a.children[0] = nullptr; }},
      {"child too short", [](ArrowArray& a) { a.children[0]->length = 1; }},
      {"child negative", [](ArrowArray& a) { a.children[0]->length = -1; }},
      {"offsets null", [](ArrowArray& a) { a.children[0]->buffers[1] = nullptr; }},
      {"data null", [](ArrowArray& a) { a.children[0]->buffers[2] = nullptr; }},
      {"last offset negative", [&](ArrowArray& a) { a.children[0]->buffers[1] = negative_offsets; }},
      {"offsets fall", [&](ArrowArray& a) { a.children[0]->buffers[1] = far_offsets; }},
      {"two buffers of three", [](ArrowArray& a) { a.children[0]->n_buffers = 2; }},
      {"no dictionary", [](ArrowArray& a) { a.children[1]->dictionary = nullptr; }},
      {"dictionary too short", [](ArrowArray& a) { a.children[1]->dictionary->length = 1; }},
      {"index outside", [&](ArrowArray& a) { a.children[1]->buffers[1] = bad_indices; }},
  };
  for (const auto& [what, damage] : cases) {
    Producer producer(source);
    damage(producer.array);
    EXPECT_THROW((void)import_array(&producer.array, type, options_), CorruptError) << what;
    EXPECT_EQ(producer.released, 1) << what;
  }
}

TEST_F(CData, AnEmptyArrayMayHaveNullPointers) {
  const void* buffers[3] = {};
  for (DataTypePtr type : {primitive(TypeId::kUtf8), primitive(TypeId::kInt64), primitive(TypeId::kLargeBinary)}) {
    ArrowArray array{};
    array.n_buffers = type->id() == TypeId::kInt64 ? 2 : 3;
    array.buffers = buffers;
    array.offset = 7;
    array.release = [](ArrowArray* self) { self->release = nullptr; };
    ArrayPtr imported = import_array(&array, type, options_);
    EXPECT_EQ(imported->length, 0);
    ArrowArray again;
    export_array(imported, &again);
    EXPECT_EQ(again.offset, 0);
    EXPECT_NE(again.buffers[1], nullptr) << "readers of the first offset find a zero";
    again.release(&again);
  }
}

TEST_F(CData, MisalignedBuffersAreCopied) {
  alignas(8) char bytes[24] = {};
  const int64_t value = 0x0102030405060708;
  std::memcpy(bytes + 4, &value, 8);
  const void* buffers[2] = {nullptr, bytes + 4};
  ArrowArray array{};
  array.length = 1;
  array.n_buffers = 2;
  array.buffers = buffers;
  array.release = [](ArrowArray* self) { self->release = nullptr; };
  ArrayPtr imported = import_array(&array, primitive(TypeId::kInt64), options_);
  EXPECT_EQ(imported->values<int64_t>()[0], value);
  EXPECT_NE(imported->buffers[1].data(), reinterpret_cast<std::byte*>(bytes + 4));
}

RC_GTEST_FIXTURE_PROP(CData, ArraysAndFieldsSurviveTheRoundTrip, (uint64_t seed)) {
  RandomArrays random(seed, pool_);
  DataTypePtr type = random.type();
  ArrayPtr array = random.array(type, random.below(30));
  if (random.coin(2)) array = random.with_offsets(*array);
  Field field{.name = "column \u20ac", .type = type, .nullable = random.coin(2), .metadata = {}};
  if (random.coin(2)) field.metadata = {{"key", std::string("a\0b", 3)}, {"", ""}, {"key", "again"}};
  ArrowSchema schema;
  ArrowArray exported;
  export_field(field, &schema);
  export_array(array, &exported);
  Field imported_field = import_field(&schema);
  RC_ASSERT(imported_field.equals(field, true));
  ArrayPtr imported = import_array(&exported, imported_field.type, options_);
  RC_ASSERT(difference(*array, *imported) == "");
}

TEST_F(CData, FormatsAreThoseOfTheSpecification) {
  Field field = item(primitive(TypeId::kInt32));
  DataTypePtr entries = map(item(primitive(TypeId::kUtf8)), field);
  const std::pair<DataTypePtr, std::string_view> cases[] = {
      {primitive(TypeId::kNull), "n"},
      {primitive(TypeId::kBool), "b"},
      {primitive(TypeId::kInt8), "c"},
      {primitive(TypeId::kUInt8), "C"},
      {primitive(TypeId::kInt16), "s"},
      {primitive(TypeId::kUInt16), "S"},
      {primitive(TypeId::kInt32), "i"},
      {primitive(TypeId::kUInt32), "I"},
      {primitive(TypeId::kInt64), "l"},
      {primitive(TypeId::kUInt64), "L"},
      {primitive(TypeId::kHalfFloat), "e"},
      {primitive(TypeId::kFloat), "f"},
      {primitive(TypeId::kDouble), "g"},
      {primitive(TypeId::kBinary), "z"},
      {primitive(TypeId::kLargeBinary), "Z"},
      {primitive(TypeId::kBinaryView), "vz"},
      {primitive(TypeId::kUtf8), "u"},
      {primitive(TypeId::kLargeUtf8), "U"},
      {primitive(TypeId::kUtf8View), "vu"},
      {decimal(19, 10), "d:19,10"},
      {decimal(19, -10, TypeId::kDecimal256), "d:19,-10,256"},
      {decimal(9, 1, TypeId::kDecimal32), "d:9,1,32"},
      {fixed_size_binary(42), "w:42"},
      {primitive(TypeId::kDate32), "tdD"},
      {primitive(TypeId::kDate64), "tdm"},
      {time32(TimeUnit::kSecond), "tts"},
      {time32(TimeUnit::kMilli), "ttm"},
      {time64(TimeUnit::kMicro), "ttu"},
      {time64(TimeUnit::kNano), "ttn"},
      {timestamp(TimeUnit::kSecond), "tss:"},
      {timestamp(TimeUnit::kMicro, "Europe/Paris"), "tsu:Europe/Paris"},
      {duration(TimeUnit::kNano), "tDn"},
      {primitive(TypeId::kIntervalMonths), "tiM"},
      {primitive(TypeId::kIntervalDayTime), "tiD"},
      {primitive(TypeId::kIntervalMonthDayNano), "tin"},
      {list(field), "+l"},
      {list(field, TypeId::kLargeList), "+L"},
      {list(field, TypeId::kListView), "+vl"},
      {list(field, TypeId::kLargeListView), "+vL"},
      {fixed_size_list(field, 123), "+w:123"},
      {struct_({}), "+s"},
      {entries, "+m"},
      {dense_union({field, field}, {4, 127}), "+ud:4,127"},
      {sparse_union({}, {}), "+us:"},
      {run_end_encoded(field, field), "+r"},
      {dictionary(primitive(TypeId::kUInt16), primitive(TypeId::kUtf8)), "S"},
  };
  for (const auto& [type, format] : cases) {
    ArrowSchema schema;
    export_field({.name = "f", .type = type}, &schema);
    EXPECT_EQ(schema.format, format);
    EXPECT_EQ(schema.flags, ARROW_FLAG_NULLABLE);
    EXPECT_TRUE(import_field(&schema).type->equals(*type, true)) << format;
  }
}

// A schema without private data, as a hostile producer would make it.
ArrowSchema schema_of(const char* format) {
  ArrowSchema schema{};
  schema.format = format;
  schema.name = "f";
  schema.release = [](ArrowSchema* self) { self->release = nullptr; };
  return schema;
}

TEST_F(CData, RefusesFormatsThatAreWrongOrUnknown) {
  for (const char* format : {"",
                             "x",
                             "ii",
                             "v",
                             "d:",
                             "d:9",
                             "d:9,",
                             "d:9,x",
                             "d:0,0",
                             "d:39,0",
                             "d:9,1,",
                             "d:9,1,100",
                             "d:99999999999,1",
                             "w:",
                             "w:-1",
                             "w:4x",
                             "td",
                             "tdX",
                             "tt",
                             "ttx",
                             "ts",
                             "tsu",
                             "tsx:",
                             "tD",
                             "tiX",
                             "+",
                             "+l",
                             "+w:3",
                             "+m",
                             "+r",
                             "+x",
                             "+s1",
                             "+ud:1,1",
                             "+ud:1",
                             "+us:-1",
                             "+us:128",
                             "+us:1,",
                             "+us:1;2"}) {
    ArrowSchema schema = schema_of(format);
    try {
      import_field(&schema);
      ADD_FAILURE() << format << " was accepted";
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) << error.what();
    }
    EXPECT_EQ(schema.release, nullptr) << format;
  }
  ArrowSchema none = schema_of(nullptr);
  EXPECT_THROW(import_field(&none), CorruptError);
  for (int64_t count : {int64_t{-1}, int64_t{1}, INT64_MAX}) {
    ArrowSchema schema = schema_of("+s");
    schema.n_children = count;
    EXPECT_THROW(import_field(&schema), CorruptError) << count;
  }
}

TEST_F(CData, RefusesGraphsOfSchemas) {
  // Each field is its own child: depth bounds the walk.
  ArrowSchema loop = schema_of("+l");
  ArrowSchema* loop_children[] = {&loop};
  loop.children = loop_children;
  loop.n_children = 1;
  ArrowSchema loop_copy = loop;
  EXPECT_THROW(import_field(&loop_copy), CorruptError);
  // Each level has the same child twice: 2^40 fields in 40 structures.
  std::vector<ArrowSchema> levels(40, schema_of("+s"));
  std::vector<std::array<ArrowSchema*, 2>> children(40);
  levels[0].format = "i";
  for (size_t i = 1; i < levels.size(); ++i) {
    children[i] = {&levels[i - 1], &levels[i - 1]};
    levels[i].children = children[i].data();
    levels[i].n_children = 2;
  }
  ArrowSchema top = levels.back();
  EXPECT_THROW(import_field(&top), CorruptError);
  // A dictionary of itself.
  ArrowSchema words = schema_of("i");
  words.dictionary = &words;
  ArrowSchema words_copy = words;
  EXPECT_THROW(import_field(&words_copy), CorruptError);
}

TEST_F(CData, RefusesMetadataWithNegativeNumbers) {
  for (std::vector<int32_t> numbers : {std::vector<int32_t>{-1}, {1, -1}, {1, 0, -5}, {INT32_MAX}}) {
    ArrowSchema schema = schema_of("i");
    schema.metadata = reinterpret_cast<const char*>(numbers.data());
    EXPECT_THROW(import_field(&schema), CorruptError);
  }
}

// ---- Streams ----

class TestStream final : public BatchStream {
 public:
  TestStream(std::vector<RecordBatch> batches, std::atomic<int>* closed)
      : batches_(std::move(batches)), schema_(batches_.at(0).schema()), closed_(closed) {}
  ~TestStream() override { TestStream::close(); }
  const SchemaPtr& schema() const override { return schema_; }
  std::optional<RecordBatch> next() override {
    if (position_ == batches_.size()) {
      if (error) error();
      return std::nullopt;
    }
    return batches_[position_++];
  }
  void close() noexcept override {
    if (!done_) ++*closed_;
    done_ = true;
    position_ = batches_.size();
  }
  std::function<void()> error;

 private:
  std::vector<RecordBatch> batches_;
  SchemaPtr schema_;
  std::atomic<int>* closed_;
  size_t position_ = 0;
  bool done_ = false;
};

std::unique_ptr<TestStream> three_batches(std::atomic<int>* closed) {
  RecordBatch batch = make_batch({{"a", make_int32({1, 2, 3})}});
  return std::make_unique<TestStream>(std::vector{batch.slice(0, 1), batch.slice(1, 0), batch.slice(1, 2)}, closed);
}

TEST_F(CData, StreamsSurviveTheRoundTrip) {
  std::atomic<int> closed = 0;
  ArrowArrayStream exported;
  export_stream(three_batches(&closed), &exported);
  auto stream = import_stream(&exported, options_);
  EXPECT_EQ(exported.release, nullptr);
  EXPECT_EQ(stream->schema()->to_string(), "a: int32\n");
  std::vector<int64_t> row_counts;
  while (auto batch = stream->next()) row_counts.push_back(batch->row_count());
  EXPECT_EQ(row_counts, (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(stream->next(), std::nullopt);
  EXPECT_EQ(closed, 1) << "the end releases the producer";
}

TEST_F(CData, ClosingAStreamReleasesItsProducer) {
  std::atomic<int> closed = 0;
  ArrowArrayStream exported;
  export_stream(three_batches(&closed), &exported);
  auto stream = import_stream(&exported, options_);
  auto batch = stream->next();
  stream->close();
  stream->close();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(stream->next(), std::nullopt);
  EXPECT_EQ(to_string(*batch->column(0)), "[1]") << "batches outlive their stream";
}

TEST_F(CData, AStreamMayBeClosedWhileAnotherThreadReads) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> closed = 0;
    ArrowArrayStream exported;
    export_stream(three_batches(&closed), &exported);
    auto stream = import_stream(&exported, options_);
    std::thread reader([&] {
      while (stream->next()) {
      }
    });
    stream->close();
    reader.join();
    EXPECT_EQ(stream->next(), std::nullopt);
    stream = nullptr;
    EXPECT_EQ(closed, 1);
  }
}

TEST_F(CData, ErrorsOfAStreamKeepTheirTextAndKind) {
  const std::tuple<std::function<void()>, int, ErrorKind> cases[] = {
      {[] { throw_corrupt(5, "bad page"); }, EINVAL, ErrorKind::kInvalidArgument},
      {[] { throw_error(ErrorKind::kUnsupported, "bad page"); }, ENOSYS, ErrorKind::kUnsupported},
      {[] { throw MemoryLimitError(1, "bad page"); }, ENOMEM, ErrorKind::kMemoryLimit},
      {[] { throw Error(ErrorKind::kCancelled, "bad page"); }, ECANCELED, ErrorKind::kCancelled},
      {[] { throw std::runtime_error("bad page"); }, EIO, ErrorKind::kIo},
  };
  for (const auto& [error, code, kind] : cases) {
    for (bool import : {false, true}) {
      std::atomic<int> closed = 0;
      auto source = three_batches(&closed);
      source->error = error;
      ArrowArrayStream exported;
      export_stream(std::move(source), &exported);
      if (import) {
        auto stream = import_stream(&exported, options_);
        try {
          while (stream->next()) {
          }
          ADD_FAILURE() << "no error";
        } catch (const Error& caught) {
          EXPECT_EQ(caught.kind(), kind);
          EXPECT_NE(std::string(caught.what()).find("bad page"), std::string::npos) << caught.what();
        }
        EXPECT_EQ(stream->next(), std::nullopt) << "nothing after an error";
        continue;
      }
      ArrowArray array;
      int result = 0;
      while ((result = exported.get_next(&exported, &array)) == 0 && array.release != nullptr) array.release(&array);
      EXPECT_EQ(result, code);
      EXPECT_EQ(array.release, nullptr);
      EXPECT_NE(std::string(exported.get_last_error(&exported)).find("bad page"), std::string::npos);
      exported.release(&exported);
      EXPECT_EQ(closed, 1);
    }
  }
}

}  // namespace
}  // namespace frazil
