#include "frazil/parquet/file_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_index.h"
#include "frazil/parquet/random_columns_test.h"
#include "frazil/parquet/shred.h"
#include "frazil/parquet/statistics.h"
#include "frazil/predicate/value.h"
#include "frazil/testing/faulty_file_system.h"

namespace frazil::parquet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Rows = std::vector<std::string>;

void append_rows(const RecordBatch& batch, Rows& rows) {
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    std::string text;
    for (const ArrayPtr& column : batch.columns()) text += (text.empty() ? "" : ",") + value_to_json(*column, row);
    rows.push_back(std::move(text));
  }
}

struct Opened {
  std::shared_ptr<const InputFile> file;
  std::shared_ptr<const FileMetadata> metadata;
};

Opened open(FileSystem& files, MemoryPool& pool, const std::string& path = "/t/x.parquet") {
  Opened opened{files.open_input(path), nullptr};
  opened.metadata = read_metadata(*opened.file, pool);
  return opened;
}

std::vector<RecordBatch> read_batches(const Opened& opened, MemoryPool& pool, int row_group = -1) {
  BatchReader reader(opened.file, opened.metadata,
                     {.columns = request_columns(opened.metadata->schema()),
                      .first_row_group = std::max(row_group, 0),
                      .row_group_count = row_group < 0 ? -1 : 1,
                      .verify_checksums = ChecksumPolicy::kAlways,
                      .validate_utf8 = true},
                     pool);
  std::vector<RecordBatch> batches;
  while (auto batch = reader.next()) {
    validate_full(*batch);
    batches.push_back(*std::move(batch));
  }
  return batches;
}

Rows read_rows(const Opened& opened, MemoryPool& pool) {
  Rows rows;
  for (const RecordBatch& batch : read_batches(opened, pool)) append_rows(batch, rows);
  return rows;
}

Field id_field(std::string name, DataTypePtr type, int id, bool nullable = true) {
  return {.name = std::move(name),
          .type = std::move(type),
          .nullable = nullable,
          .metadata = {{"PARQUET:field_id", std::to_string(id)}}};
}

SchemaPtr two_columns() {
  return Schema::make(
      {id_field("id", primitive(TypeId::kInt64), 1, false), id_field("name", primitive(TypeId::kUtf8), 2)});
}

RecordBatch two_column_batch(int64_t first, int64_t rows) {
  std::vector<std::optional<int64_t>> ids;
  std::vector<std::optional<std::string>> names;
  for (int64_t i = first; i < first + rows; ++i) {
    ids.emplace_back(i);
    names.push_back(i % 10 == 3 ? std::nullopt : std::optional<std::string>("name-" + std::to_string(i % 1000)));
  }
  return {two_columns(), rows, {make_int64(ids), make_utf8(names)}};
}

FileSummary write_two_columns(FileSystem& files, WriterOptions options, int64_t rows, MemoryPool& pool,
                              int64_t batch_rows = 1000) {
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), std::move(options), pool);
  for (int64_t at = 0; at < rows; at += batch_rows) writer.write(two_column_batch(at, std::min(batch_rows, rows - at)));
  return writer.finish();
}

// ---- Round trips ----

WriterOptions random_options(testing::RandomColumns& random, const WriteSchema& schema) {
  static const CompressionCodec kCodecs[] = {CompressionCodec::kUncompressed, CompressionCodec::kSnappy,
                                             CompressionCodec::kGzip,         CompressionCodec::kBrotli,
                                             CompressionCodec::kZstd,         CompressionCodec::kLz4Raw};
  WriterOptions options;
  options.columns.codec = kCodecs[random.below(6)];
  options.columns.may_skip_compression = random.coin(2);
  options.columns.page_bytes = random.coin(2) ? size_t{1} << 20 : static_cast<size_t>(1 + random.below(3000));
  options.columns.page_rows = random.coin(2) ? 20'000 : static_cast<size_t>(1 + random.below(100));
  options.columns.page_v2 = random.coin(2);
  options.columns.profile = random.coin(4) ? EncodingProfile::kLegacy : EncodingProfile::kCompatible;
  options.columns.dictionary = !random.coin(3);
  options.columns.dictionary_bytes = random.coin(3) ? 100 : size_t{2} << 20;
  options.columns.statistics = !random.coin(5);
  options.columns.statistics_length = random.coin(3) ? 3 : 64;
  options.columns.column_index_length = random.coin(3) ? 2 : 64;
  options.columns.checksums = random.coin(2);
  options.row_group_rows = random.coin(2) ? 1 + random.below(1000) : 1'048'576;
  options.row_group_bytes = random.coin(4) ? 1 : uint64_t{128} << 20;
  options.page_index = !random.coin(4);
  for (const LeafDescription& leaf : schema.leaves()) {
    if (random.coin(4) && leaf.file_type.physical != PhysicalType::kBoolean) {
      options.overrides.push_back({.path = leaf.path, .bloom_filter = true});
    }
  }
  return options;
}

SchemaPtr random_schema(testing::RandomColumns& random) {
  std::vector<Field> fields;
  for (int64_t i = 1 + random.below(4); i > 0; --i) {
    fields.push_back(random.field("c" + std::to_string(i), static_cast<int>(random.below(4))));
  }
  return Schema::make(std::move(fields));
}

// Bounds and counts of chunk and pages hold what the values are. `column`: an Arrow column that is a leaf.
void check_statistics(const Opened& opened, size_t row_group, size_t column, const ArrayPtr& values, MemoryPool& pool) {
  const size_t leaf = opened.metadata->schema().node(0).child_count == 0 ? 0 : column;
  const StatisticsDecoder decoder(*opened.metadata, leaf, values->type);
  const ColumnChunk& chunk = opened.metadata->row_groups()[row_group].columns[leaf];
  const auto check = [&](const predicate::ColumnStatistics& known, const Array& part) {
    int64_t nulls = 0;
    for (int64_t i = 0; i < part.length; ++i) {
      const std::optional<predicate::Value> value = predicate::value_at(part, i);
      nulls += !value;
      if (!value) continue;
      const auto* number = std::get_if<double>(&*value);
      if (number != nullptr && *number != *number) continue;  // NaN
      if (known.lower) RC_ASSERT((predicate::compare(*known.lower, *value) <= 0));
      if (known.upper) RC_ASSERT((predicate::compare(*value, *known.upper) <= 0));
    }
    RC_ASSERT(known.null_count == nulls);
  };
  check(decoder.decode(parse_statistics(chunk.statistics), values->length), *values);
  const size_t leaves[] = {leaf};
  const PageIndex index = PageIndex::read(*opened.file, *opened.metadata, row_group, leaves, leaves, pool);
  const PageIndex::Column* pages = index.find(leaf);
  RC_ASSERT(pages != nullptr);
  RC_ASSERT(pages->defect == "");
  if (!pages->offsets) return;
  RC_ASSERT(pages->offsets->pages.at(0).offset == static_cast<uint64_t>(chunk.data_page_offset));
  RC_ASSERT((chunk.dictionary_page_offset > 0) == (chunk.start_offset() < chunk.data_page_offset));
  if (!pages->bounds) return;
  for (size_t page = 0; page < pages->offsets->page_count(); ++page) {
    const RowRange rows = pages->offsets->rows(page);
    const ArrayPtr part = values->slice(static_cast<int64_t>(rows.begin), static_cast<int64_t>(rows.end - rows.begin));
    check(decoder.decode(*pages->bounds, *pages->offsets, page), *part);
    RC_ASSERT(pages->bounds->null_pages[page] == (part->count_nulls() == part->length));
  }
}

RC_GTEST_PROP(FileWriter, WritesWhatTheReaderReads, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RC_LOG() << "seed " << seed << "\n";
  MemoryPool pool;
  testing::RandomColumns random(seed, pool);
  const SchemaPtr schema = random_schema(random);
  const WriteSchema write_schema(schema);
  const WriterOptions options = random_options(random, write_schema);
  RC_LOG() << schema->to_string() << "\n";
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), schema, options, pool);
  Rows expected;
  for (int64_t batches = random.below(4); batches > 0; --batches) {
    const RecordBatch batch = random.batch(schema, random.coin(3) ? random.below(3000) : random.below(60));
    append_rows(batch, expected);
    writer.write(batch);
    if (random.coin(5)) writer.end_row_group();
  }
  RC_ASSERT(writer.row_count() == static_cast<int64_t>(expected.size()));
  const FileSummary summary = writer.finish();

  const Opened opened = open(files, pool);
  RC_ASSERT(opened.file->size() == summary.file_bytes);
  RC_ASSERT(opened.metadata->row_count() == static_cast<int64_t>(expected.size()));
  RC_ASSERT(summary.row_count == opened.metadata->row_count());
  RC_ASSERT(read_rows(opened, pool) == expected);
  // The reader's fields are those that were asked for.
  const SchemaPtr read = arrow_schema(opened.metadata->schema());
  for (size_t i = 0; i < schema->field_count(); ++i) {
    RC_ASSERT(read->field(i).name == schema->field(i).name);
    RC_ASSERT(read->field(i).nullable == schema->field(i).nullable);
    RC_ASSERT(find_metadata(read->field(i).metadata, "PARQUET:field_id") ==
              find_metadata(schema->field(i).metadata, "PARQUET:field_id"));
  }
  RC_ASSERT(summary.row_group_offsets.size() == opened.metadata->row_groups().size());
  for (size_t g = 0; g < opened.metadata->row_groups().size(); ++g) {
    const RowGroup& group = opened.metadata->row_groups()[g];
    RC_ASSERT(group.row_count <= options.row_group_rows);
    RC_ASSERT(group.columns[0].start_offset() == summary.row_group_offsets[g]);
    const std::vector<RecordBatch> batches = read_batches(opened, pool, static_cast<int>(g));
    size_t leaf = 0;
    for (size_t i = 0; i < schema->field_count(); ++i) {
      const SchemaNode& node = write_schema.column_node(i);
      std::vector<ArrayPtr> parts;
      for (const RecordBatch& batch : batches) parts.push_back(batch.column(i));
      // INTERVAL has no order, and its values none to compare with.
      if (!node.is_group && !parts.empty() && parts[0]->type->id() != TypeId::kNull &&
          parts[0]->type->id() != TypeId::kIntervalMonthDayNano) {
        check_statistics(opened, g, leaf, concatenate(parts, pool), pool);
      }
      leaf += node.leaf_count;
    }
  }
}

// Each type whose form in the file is another one: what comes back is the reader's type of the same values.
TEST(FileWriter, BringsTypesIntoTheFormsOfTheFormat) {
  MemoryPool pool;
  const auto round_trip = [&](const ArrayPtr& array) {
    MemoryFileSystem files;
    const SchemaPtr schema = Schema::make({{.name = "c", .type = array->type}});
    FileWriter writer(files.open_output("/t/x.parquet"), schema, {}, pool);
    writer.write({schema, array->length, {array}});
    writer.finish();
    return read_batches(open(files, pool), pool).at(0).column(0);
  };
  const auto days = make_fixed<int64_t>(primitive(TypeId::kDate64), {0, -86'400'000, std::nullopt});
  EXPECT_EQ(difference(*round_trip(days), *make_fixed<int32_t>(primitive(TypeId::kDate32), {0, -1, std::nullopt})), "");
  const auto seconds = make_fixed<int32_t>(time32(TimeUnit::kSecond), {1, 86'399});
  EXPECT_EQ(difference(*round_trip(seconds), *make_fixed<int32_t>(time32(TimeUnit::kMilli), {1000, 86'399'000})), "");
  const auto instants = make_fixed<int64_t>(timestamp(TimeUnit::kSecond, "Europe/Berlin"), {-1, 5});
  EXPECT_EQ(difference(*round_trip(instants), *make_fixed<int64_t>(timestamp(TimeUnit::kMilli, "UTC"), {-1000, 5000})),
            "");
}

// Of what other programs make of the annotations, tests/parquet/written.py and DuckDB know.
TEST(FileWriter, KeepsExtensionsAsAnnotations) {
  MemoryPool pool;
  MemoryFileSystem files;
  const auto extension = [](std::string name, DataTypePtr type, std::string extension_name, std::string text) {
    Field field{.name = std::move(name), .type = std::move(type)};
    field.metadata.emplace_back("ARROW:extension:name", std::move(extension_name));
    if (!text.empty()) field.metadata.emplace_back("ARROW:extension:metadata", std::move(text));
    return field;
  };
  const SchemaPtr schema = Schema::make(
      {extension("u", fixed_size_binary(16), "arrow.uuid", ""),
       extension("j", primitive(TypeId::kUtf8), "arrow.json", ""),
       extension("g", primitive(TypeId::kBinary), "geoarrow.wkb", R"({"crs":"OGC:CRS84","crs_type":"authority_code"})"),
       extension("e", primitive(TypeId::kBinary), "geoarrow.wkb",
                 R"({"crs":"4326","crs_type":"srid","edges":"karney"})")});
  FileWriter writer(files.open_output("/t/x.parquet"), schema, {}, pool);
  writer.finish();
  const Opened opened = open(files, pool);
  const FileSchema& made = opened.metadata->schema();
  EXPECT_EQ(made.leaf(0).logical.kind, LogicalType::Kind::kUuid);
  EXPECT_EQ(made.leaf(1).logical.kind, LogicalType::Kind::kJson);
  EXPECT_EQ(made.leaf(2).logical.kind, LogicalType::Kind::kGeometry);
  EXPECT_EQ(made.leaf(2).logical.crs, "");
  EXPECT_EQ(made.leaf(3).logical.kind, LogicalType::Kind::kGeography);
  EXPECT_EQ(made.leaf(3).logical.crs, "srid:4326");
  const SchemaPtr read = arrow_schema(made);
  EXPECT_TRUE(read->equals(*schema, true)) << read->to_string();
}

class Batches final : public BatchStream {
 public:
  Batches(std::vector<RecordBatch> batches, bool fails) : batches_(std::move(batches)), fails_(fails) {}
  const SchemaPtr& schema() const override { return batches_.front().schema(); }
  std::optional<RecordBatch> next() override {
    if (at_ < batches_.size()) return batches_[at_++];
    if (fails_) throw_error(ErrorKind::kIo, "the source is gone");
    return std::nullopt;
  }
  void close() noexcept override { closed = true; }
  bool closed = false;

 private:
  std::vector<RecordBatch> batches_;
  size_t at_ = 0;
  bool fails_;
};

TEST(WriteStream, WritesAllBatchesOrNothing) {
  MemoryPool pool;
  MemoryFileSystem files;
  Batches whole({two_column_batch(0, 10), two_column_batch(10, 5)}, false);
  EXPECT_EQ(write_stream(whole, files.open_output("/t/x.parquet"), {}, pool, {}).row_count, 15);
  EXPECT_EQ(open(files, pool).metadata->row_count(), 15);
  Batches cut({two_column_batch(0, 10)}, true);
  EXPECT_THROW(write_stream(cut, files.open_output("/t/y.parquet"), {}, pool, {}), Error);
  EXPECT_TRUE(cut.closed);
  EXPECT_EQ(files.file_count(), 1U);
}

TEST(FileWriter, WritesAFileWithoutRows) {
  MemoryPool pool;
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {}, pool);
  writer.write(two_column_batch(0, 0));
  writer.end_row_group();
  const FileSummary summary = writer.finish();
  EXPECT_EQ(summary.row_count, 0);
  EXPECT_TRUE(summary.row_group_offsets.empty());
  const Opened opened = open(files, pool);
  EXPECT_TRUE(opened.metadata->row_groups().empty());
  EXPECT_TRUE(read_rows(opened, pool).empty());
  EXPECT_EQ(arrow_schema(opened.metadata->schema())->field(0).name, "id");
}

// ---- Row groups ----

TEST(FileWriter, EndsRowGroupsByRows) {
  MemoryPool pool;
  MemoryFileSystem files;
  const FileSummary summary = write_two_columns(files, {.row_group_rows = 700}, 2500, pool);
  const Opened opened = open(files, pool);
  std::vector<int64_t> rows;
  for (const RowGroup& group : opened.metadata->row_groups()) rows.push_back(group.row_count);
  EXPECT_THAT(rows, ElementsAre(700, 700, 700, 400));
  EXPECT_EQ(summary.row_group_offsets.front(), 4);
  EXPECT_TRUE(std::is_sorted(summary.row_group_offsets.begin(), summary.row_group_offsets.end()));
}

TEST(FileWriter, EndsRowGroupsByEncodedBytes) {
  MemoryPool pool;
  MemoryFileSystem files;
  WriterOptions options;
  options.columns.codec = CompressionCodec::kUncompressed;
  options.columns.encoding = std::nullopt;
  options.columns.dictionary = false;
  options.columns.profile = EncodingProfile::kLegacy;  // PLAIN: sizes are known
  options.columns.page_bytes = 10'000;
  options.row_group_bytes = 200'000;
  write_two_columns(files, options, 100'000, pool);
  const Opened opened = open(files, pool);
  ASSERT_GT(opened.metadata->row_groups().size(), 5U);
  for (size_t g = 0; g + 1 < opened.metadata->row_groups().size(); ++g) {
    const RowGroup& group = opened.metadata->row_groups()[g];
    EXPECT_GE(group.total_byte_size, 190'000);
    EXPECT_LE(group.total_byte_size, 260'000);
  }
}

// Polars 2.1 panics on other encodings of a required leaf below what may be null.
TEST(FileWriter, KeepsToPlainForRequiredLeavesBelowNullableStructs) {
  MemoryPool pool;
  for (const bool required : {true, false}) {
    std::vector<int64_t> numbers;
    std::vector<bool> valid;
    for (int64_t i = 0; i < 30'000; ++i) {
      numbers.push_back(i * 30);
      valid.push_back(i % 10'000 >= 100);
    }
    const DataTypePtr type = struct_({{.name = "x", .type = primitive(TypeId::kInt64), .nullable = !required}});
    const ArrayPtr values = make_int64({numbers.begin(), numbers.end()});
    const RecordBatch batch = make_batch({{"s", make_struct(type, {values}, valid)}});
    MemoryFileSystem files;
    FileWriter writer(files.open_output("/t/x.parquet"), batch.schema(), {}, pool);
    writer.write(batch);
    writer.finish();
    const Opened opened = open(files, pool);
    EXPECT_EQ(opened.metadata->row_groups()[0].columns[0].declares(Encoding::kDeltaBinaryPacked), !required);
  }
}

// What a writer holds does not grow with the file.
TEST(FileWriter, HoldsOneRowGroup) {
  MemoryPool pool;
  MemoryFileSystem files;
  WriterOptions options;
  options.row_group_rows = 5000;
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), options, pool);
  const RecordBatch batch = two_column_batch(0, 5000);
  size_t peak_of_ten = 0;
  for (int group = 0; group < 200; ++group) {
    writer.write(batch);
    if (group == 9) peak_of_ten = pool.stats().held_peak_bytes;
  }
  // Footer and page index, two chunks of one page a row group: below 1 KiB, kept twice while its buffers grow.
  EXPECT_LT(pool.stats().held_peak_bytes, peak_of_ten + 190 * 2048);
  EXPECT_EQ(writer.row_count(), 1'000'000);
  writer.finish();
  EXPECT_EQ(open(files, pool).metadata->row_count(), 1'000'000);
}

// A plan is shared, leaves are encoded on threads of their own: the same bytes.
TEST(FileWriter, TakesRowGroupsThatOthersEncoded) {
  MemoryPool pool;
  const auto plan = std::make_shared<const WritePlan>(two_columns(), WriterOptions{.row_group_rows = 5000});
  MemoryFileSystem files;
  FileWriter alone(files.open_output("/t/alone.parquet"), plan, pool);
  FileWriter together(files.open_output("/t/together.parquet"), plan, pool);
  for (int64_t at = 0; at < 10'000; at += 5000) {
    const RecordBatch batch = two_column_batch(at, 5000);
    alone.write(batch);
    std::vector<EncodedChunk> chunks(plan->leaves().size());
    std::vector<std::thread> threads;
    for (size_t column = 0; column < 2; ++column) {
      threads.emplace_back([&, column] {
        Shredder shredder(plan->schema(), pool);
        EncoderScratch scratch(pool);
        ChunkEncoder encoder(plan->leaves()[column], plan->chunk_options()[column], pool);
        shredder.shred(column, *batch.column(column),
                       [&](size_t, const LeafPiece& piece) { encoder.write(piece, scratch); });
        chunks[column] = encoder.finish(scratch);
      });
    }
    for (std::thread& thread : threads) thread.join();
    together.append_row_group(5000, std::move(chunks));
  }
  const FileSummary left = alone.finish();
  const FileSummary right = together.finish();
  EXPECT_EQ(left.row_group_offsets, right.row_group_offsets);
  EXPECT_EQ(files.get("/t/alone.parquet").text(), files.get("/t/together.parquet").text());
}

TEST(FileWriter, RefusesRowGroupsThatAreNotWhole) {
  MemoryPool pool;
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {}, pool);
  EXPECT_THROW(writer.append_row_group(1, {}), Error);
  EXPECT_THROW(writer.append_row_group(1, std::vector<EncodedChunk>(2)), Error);
  writer.finish();
}

// ---- The footer ----

TEST(FileWriter, RecordsWhatItWasTold) {
  MemoryPool pool;
  MemoryFileSystem files;
  WriterOptions options;
  options.key_values = {{"iceberg.schema", "{}"}, {"empty", ""}};
  options.created_by = "somebody version 1.2.3";
  write_two_columns(files, options, 10, pool);
  const Opened opened = open(files, pool);
  EXPECT_EQ(opened.metadata->created_by(), "somebody version 1.2.3");
  EXPECT_EQ(opened.metadata->find_key_value("iceberg.schema"), "{}");
  EXPECT_EQ(opened.metadata->find_key_value("empty"), "");
  EXPECT_EQ(opened.metadata->schema().leaf(0).field_id, 1);
  EXPECT_EQ(opened.metadata->schema().leaf(1).field_id, 2);
  EXPECT_THAT(opened.metadata->column_orders(), ElementsAre(ColumnOrder::kTypeOrder, ColumnOrder::kTypeOrder));
}

TEST(FileWriter, WritesThePageIndex) {
  MemoryPool pool;
  MemoryFileSystem files;
  const SchemaPtr schema =
      Schema::make({{.name = "x", .type = primitive(TypeId::kInt32)}, {.name = "s", .type = primitive(TypeId::kUtf8)}});
  WriterOptions options;
  options.columns.page_rows = 2;
  FileWriter writer(files.open_output("/t/x.parquet"), schema, options, pool);
  writer.write({schema,
                6,
                {make_int32({1, 2, std::nullopt, std::nullopt, 2, 5}),
                 make_utf8({"b", "a", "", std::nullopt, std::nullopt, std::nullopt})}});
  writer.finish();
  const Opened opened = open(files, pool);
  const size_t leaves[] = {0, 1};
  const PageIndex index = PageIndex::read(*opened.file, *opened.metadata, 0, leaves, leaves, pool);
  const PageIndex::Column& x = *index.find(0);
  ASSERT_TRUE(x.offsets && x.bounds) << x.defect;
  EXPECT_THAT(x.bounds->null_pages, ElementsAre(false, true, false));
  EXPECT_THAT(x.bounds->null_counts, ElementsAre(0, 2, 0));
  EXPECT_EQ(x.bounds->order, BoundaryOrder::kAscending);
  EXPECT_EQ(x.bounds->min_values[1].size(), 0U);
  EXPECT_EQ(load<int32_t>(x.bounds->max_values[2].data()), 5);
  EXPECT_EQ(x.offsets->pages[2].first_row, 4U);
  EXPECT_TRUE(x.offsets->unencoded_bytes.empty());
  EXPECT_TRUE(x.bounds->nan_counts.empty());
  const PageIndex::Column& s = *index.find(1);
  ASSERT_TRUE(s.offsets && s.bounds) << s.defect;
  EXPECT_THAT(s.bounds->null_pages, ElementsAre(false, false, true));
  EXPECT_EQ(s.bounds->order, BoundaryOrder::kDescending);
  EXPECT_THAT(s.offsets->unencoded_bytes, ElementsAre(2, 0, 0));
  const SizeStatistics sizes = parse_size_statistics(opened.metadata->row_groups()[0].columns[1].size_statistics,
                                                     opened.metadata->schema().leaf(1));
  EXPECT_EQ(sizes.unencoded_byte_array_bytes, 2);
}

TEST(FileWriter, SumsUpLeavesOverAllRowGroups) {
  MemoryPool pool;
  MemoryFileSystem files;
  const SchemaPtr schema =
      Schema::make({id_field("x", primitive(TypeId::kDouble), 5), id_field("s", primitive(TypeId::kUtf8), 7),
                    id_field("l", list(id_field("element", primitive(TypeId::kInt32), 9)), 8)});
  FileWriter writer(files.open_output("/t/x.parquet"), schema, {}, pool);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DataTypePtr lists = schema->field(2).type;
  writer.write({schema,
                3,
                {make_double({1.5, nan, std::nullopt}), make_utf8({"b", "a", std::nullopt}),
                 make_list(lists, {2, 0, std::nullopt}, make_int32({-5, std::nullopt}))}});
  writer.end_row_group();
  writer.write({schema, 1, {make_double({nan}), make_utf8({"c"}), make_list(lists, {1}, make_int32({7}))}});
  writer.end_row_group();
  writer.write({schema, 1, {make_double({-0.0}), make_utf8({std::nullopt}), make_list(lists, {0}, make_int32({}))}});
  const FileSummary summary = writer.finish();
  ASSERT_EQ(summary.leaves.size(), 3U);
  const auto as_double = [](const std::string& bytes) {
    return load<double>(reinterpret_cast<const std::byte*>(bytes.data()));
  };
  const auto as_int = [](const std::string& bytes) {
    return load<int32_t>(reinterpret_cast<const std::byte*>(bytes.data()));
  };
  const LeafSummary& x = summary.leaves[0];
  EXPECT_EQ(x.field_id, 5);
  EXPECT_EQ(x.value_count, 5);
  EXPECT_EQ(x.null_count, 1);
  EXPECT_EQ(x.nan_count, 2);
  ASSERT_TRUE(x.bounds);
  EXPECT_EQ(as_double(x.bounds->min), 0.0);
  EXPECT_TRUE(std::signbit(as_double(x.bounds->min)));
  EXPECT_EQ(as_double(x.bounds->max), 1.5);
  const LeafSummary& s = summary.leaves[1];
  EXPECT_EQ(s.nan_count, std::nullopt);
  ASSERT_TRUE(s.bounds);
  EXPECT_EQ(s.bounds->min, "a");
  EXPECT_EQ(s.bounds->max, "c");
  const LeafSummary& l = summary.leaves[2];
  EXPECT_EQ(l.path, "l.list.element");
  EXPECT_EQ(l.field_id, 9);
  EXPECT_EQ(l.value_count, 6);
  EXPECT_EQ(l.null_count, 4);
  ASSERT_TRUE(l.bounds);
  EXPECT_EQ(as_int(l.bounds->min), -5);
  EXPECT_EQ(as_int(l.bounds->max), 7);
}

// Iceberg Java takes no row of the second row group to be 0x20.., nor any other UUID, if it believes unsigned bounds.
TEST(FileWriter, BoundsUuidsForReadersOfBothOrders) {
  MemoryPool pool;
  MemoryFileSystem files;
  Field field{.name = "u", .type = fixed_size_binary(16)};
  field.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
  const SchemaPtr schema = Schema::make({field});
  FileWriter writer(files.open_output("/t/x.parquet"), schema, {}, pool);
  const auto write = [&](std::initializer_list<char> heads) {
    FixedWidthBuilder uuids(fixed_size_binary(16), pool);
    for (char head : heads) uuids.append_bytes(head + std::string(15, '\x01'));
    writer.write({schema, static_cast<int64_t>(heads.size()), {uuids.finish()}});
    writer.end_row_group();
  };
  write({'\x10', '\x20'});
  write({'\x10', '\x20', '\x90'});
  const FileSummary summary = writer.finish();
  EXPECT_EQ(summary.leaves[0].bounds->max, '\x90' + std::string(15, '\x01')) << "the file's own are the values";
  const Opened opened = open(files, pool);
  const auto bounds = [&](size_t group) {
    return parse_statistics(opened.metadata->row_groups()[group].columns[0].statistics);
  };
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  ASSERT_TRUE(bounds(0).min_value && bounds(0).max_value);
  // A value with the lower one's upper half and a negative lower half would be below it for Java.
  EXPECT_EQ(text(*bounds(0).min_value), "\x10\x01\x01\x01\x01\x01\x01" + std::string(9, '\0'));
  EXPECT_FALSE(bounds(0).is_min_value_exact);
  EXPECT_EQ(text(*bounds(0).max_value), '\x20' + std::string(15, '\x01'));
  EXPECT_TRUE(bounds(0).is_max_value_exact);
  EXPECT_FALSE(bounds(1).min_value || bounds(1).max_value);
}

TEST(FileWriter, WritesBloomFiltersThatItsReaderFinds) {
  MemoryPool pool;
  MemoryFileSystem files;
  WriterOptions options;
  options.overrides = {{.path = "name", .bloom_filter = true}};
  write_two_columns(files, options, 500, pool);
  const Opened opened = open(files, pool);
  const std::span<const ColumnChunk> chunks = opened.metadata->row_groups()[0].columns;
  EXPECT_FALSE(BloomFilter::open(*opened.file, chunks[0], pool));
  const std::optional<BloomFilter> filter = BloomFilter::open(*opened.file, chunks[1], pool);
  ASSERT_TRUE(filter);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "name-" + std::to_string(i);
    const bool may = filter->may_contain(std::as_bytes(std::span(name)));
    EXPECT_TRUE(may || i >= 500 || i % 10 == 3) << name;
    wrong += i >= 500 && may;
  }
  EXPECT_LT(wrong, 25);  // 1 % are expected
}

// ---- Failures ----

TEST(FileWriter, NamesColumnAndRowOfANullThatMustNotBe) {
  MemoryPool pool;
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {}, pool);
  writer.write(two_column_batch(0, 100));
  const RecordBatch wrong = make_batch({{"id", make_int64({1, std::nullopt})}, {"name", make_utf8({"a", "b"})}});
  try {
    writer.write(wrong);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("column 'id' is null in row 101"));
    EXPECT_THAT(error.what(), HasSubstr("/t/x.parquet"));
  }
  EXPECT_THROW(writer.write(two_column_batch(0, 1)), Error);
  EXPECT_THROW(writer.finish(), Error);
  EXPECT_EQ(files.file_count(), 0U);
}

TEST(FileWriter, GoesOnAfterABatchOfOtherColumns) {
  MemoryPool pool;
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {}, pool);
  EXPECT_THROW(writer.write(make_batch({{"id", make_int64({1})}})), Error);
  EXPECT_THROW(writer.write(make_batch({{"id", make_utf8({"1"})}, {"name", make_utf8({"a"})}})), Error);
  writer.write(two_column_batch(0, 10));
  writer.finish();
  EXPECT_EQ(open(files, pool).metadata->row_count(), 10);
}

TEST(FileWriter, LeavesNothingBehindWhenItIsGivenUp) {
  MemoryPool pool;
  MemoryFileSystem files;
  {
    FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {.row_group_rows = 10}, pool);
    writer.write(two_column_batch(0, 100));
  }
  EXPECT_EQ(files.file_count(), 0U);
  FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), {.row_group_rows = 10}, pool);
  writer.write(two_column_batch(0, 100));
  writer.abort();
  writer.abort();
  EXPECT_THROW(writer.finish(), Error);
  EXPECT_EQ(files.file_count(), 0U);
}

// A disk that is full at any write, a server that fails at any call: an error, and the folder is as before.
TEST(FileWriter, SurvivesEveryFailingCall) {
  for (const FaultKind kind : {FaultKind::kError, FaultKind::kShort}) {
    for (const bool lasting : {false, true}) {
      const uint64_t tried = for_each_failing_call({
          .run =
              [](FaultyFileSystem& files) {
                MemoryPool pool;
                WriterOptions options{.row_group_rows = 2000};
                options.columns.codec = CompressionCodec::kUncompressed;
                options.columns.dictionary = false;
                options.columns.profile = EncodingProfile::kLegacy;
                write_two_columns(files, options, 30'000, pool);
              },
          .check =
              [](FileSystem& files, bool failed) {
                MemoryPool pool;
                if (failed) {
                  EXPECT_EQ(dynamic_cast<MemoryFileSystem&>(files).file_count(), 0U);
                } else {
                  EXPECT_EQ(open(files, pool).metadata->row_count(), 30'000);
                }
              },
          .kind = kind,
          .error_number = ENOSPC,
          .lasting = lasting,
      });
      EXPECT_GT(tried, 5U);
    }
  }
}

TEST(FileWriter, SaysWhenMemoryIsShortAndLeavesNothingBehind) {
  MemoryPool pool({.budget_bytes = size_t{1} << 20});
  MemoryFileSystem files;
  WriterOptions options;
  options.columns.codec = CompressionCodec::kUncompressed;
  options.columns.dictionary = false;
  EXPECT_THROW(
      {
        FileWriter writer(files.open_output("/t/x.parquet"), two_columns(), options, pool);
        for (int i = 0; i < 100; ++i) writer.write(two_column_batch(i * 10'000, 10'000));
        writer.finish();
      },
      MemoryLimitError);
  EXPECT_EQ(files.file_count(), 0U);
  EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes) << "memory was not returned";
}

}  // namespace
}  // namespace frazil::parquet
