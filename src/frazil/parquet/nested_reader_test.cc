// Columns with structs, lists and maps, and chosen rows, through BatchReader.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/columnar/pretty.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/dictionary_columns.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/nested_file_test.h"
#include "frazil/parquet/page_index.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::data_page;
using testing::FileBuilder;
using ::testing::HasSubstr;
using testing::NestedFile;
using testing::packed_run;
using testing::PageSpec;
using testing::plain;
using testing::repeated_run;
using testing::StringFile;
using testing::with_length;

using Rows = std::vector<std::string>;

struct Opened {
  std::shared_ptr<const StringFile> file;
  std::shared_ptr<const FileMetadata> metadata;
};

Opened open(const std::string& bytes, MemoryPool& pool) {
  auto file = std::make_shared<StringFile>(bytes);
  return {file, read_metadata(*file, pool)};
}

void append_rows(const RecordBatch& batch, Rows& rows) {
  validate_full(batch);
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    std::string text;
    for (const ArrayPtr& column : batch.columns()) text += (text.empty() ? "" : ",") + value_to_json(*column, row);
    rows.push_back(std::move(text));
  }
}

// How text is asked for, and fixed-size binary, and lists.
enum class Form : uint8_t { kOffsets, kLarge, kViews, kDictionaries };

void ask_for_large(std::vector<ColumnRequest>& requests) {
  for (ColumnRequest& request : requests) {
    const bool is_text = request.kind == ColumnRequest::Kind::kLeaf && request.field.type->id() == TypeId::kUtf8;
    if (is_text) request.field.type = primitive(TypeId::kLargeUtf8);
    request.is_large = request.kind == ColumnRequest::Kind::kList;
    ask_for_large(request.children);
  }
}

void ask_for_views(std::vector<ColumnRequest>& requests) {
  for (ColumnRequest& request : requests) {
    const bool is_text = request.kind == ColumnRequest::Kind::kLeaf && request.field.type->id() == TypeId::kUtf8;
    if (is_text) request.field.type = primitive(TypeId::kUtf8View);
    ask_for_views(request.children);
  }
}

std::vector<ColumnRequest> all_columns(const FileMetadata& metadata, Form form = Form::kOffsets) {
  std::vector<ColumnRequest> requests = request_columns(metadata.schema());
  if (form == Form::kLarge) ask_for_large(requests);
  if (form == Form::kViews) ask_for_views(requests);
  if (form == Form::kDictionaries) request_dictionaries(requests, metadata, 0, metadata.row_groups().size());
  return requests;
}

Rows read_rows(const std::string& bytes, ReadOptions options = {}, Form form = Form::kOffsets) {
  // Batches of up to 64 MiB, and what it takes to make them.
  MemoryPool pool({.budget_bytes = size_t{256} << 20});
  Rows rows;
  {
    Opened opened = open(bytes, pool);
    if (options.columns.empty()) options.columns = all_columns(*opened.metadata, form);
    options.validate_utf8 = true;
    BatchReader reader(opened.file, opened.metadata, options, pool);
    while (auto batch = reader.next()) {
      EXPECT_LE(batch->row_count(), options.batch_rows);
      append_rows(*batch, rows);
    }
  }
  const MemoryPoolStats stats = pool.stats();
  EXPECT_EQ(stats.held_bytes, stats.idle_bytes) << "memory was not returned";
  return rows;
}

std::string error_of(const std::string& bytes, ErrorKind kind = ErrorKind::kCorrupt) {
  try {
    read_rows(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

Rows rows_of(const NestedFile& file) {
  Rows rows;
  for (size_t row = 0; row < file.rows.size(); ++row) rows.push_back(file.json(row));
  return rows;
}

ReadOptions any_options() {
  ReadOptions options;
  options.batch_rows = *rc::gen::element<int64_t>(1, 7, 64, 100'000);
  options.batch_bytes_max =
      *rc::gen::oneOf(rc::gen::inRange<size_t>(1, 400), rc::gen::element<size_t>(1, 5000, size_t{64} << 20));
  options.window_bytes = *rc::gen::element<size_t>(4096, size_t{1} << 20);
  return options;
}

// ---- Any values, any cut ----

// Q08, Q11: any schema up to six deep, and below structs, rows over page ends, nulls and empty lists at every level.
RC_GTEST_PROP(NestedReader, GivesBackWhatWasShredded, (uint32_t seed)) {
  const NestedFile file(seed, {.depth = *rc::gen::oneOf(rc::gen::inRange(1, 7), rc::gen::inRange(12, 31))});
  const Rows expected = rows_of(file);
  for (Form form : {Form::kOffsets, Form::kLarge, Form::kViews, Form::kDictionaries}) {
    RC_ASSERT(read_rows(file.bytes, any_options(), form) == expected);
  }
}

// Lists longer than a piece, rows over many pages, and batches that hold some thousand of them.
TEST(NestedReader, GivesBackLongFiles) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const NestedFile file(seed, {.depth = 3, .columns = 2, .rows = 3000});
    for (size_t limit : {size_t{3000}, size_t{64} << 20}) {
      ReadOptions options;
      options.batch_bytes_max = limit;
      EXPECT_TRUE(read_rows(file.bytes, options) == rows_of(file)) << "seed " << seed << ", limit " << limit;
    }
  }
}

// The rows of a batch fit, and the next row would not have; nor, where its texts are long, their share of the batch, which
// is at least a quarter (batch_data_bytes_max).
RC_GTEST_PROP(NestedReader, CutsBatchesAtTheirBytes, (uint32_t seed)) {
  const NestedFile file(seed, {.depth = *rc::gen::inRange(1, 6)});
  const size_t limit = *rc::gen::inRange<size_t>(1, 3000);
  MemoryPool pool;
  Opened opened = open(file.bytes, pool);
  ReadOptions options;
  options.columns = request_columns(opened.metadata->schema());
  options.batch_bytes_max = limit;
  BatchReader reader(opened.file, opened.metadata, options, pool);
  size_t row = 0;
  size_t group = 0;
  size_t group_end = 0;
  while (auto batch = reader.next()) {
    while (row == group_end) group_end += file.group_rows[group++];
    uint64_t bits = 0;
    uint64_t text_bytes = 0;
    for (int64_t i = 0; i < batch->row_count(); ++i) {
      text_bytes += file.text_bytes(row);
      bits += file.bits(row++);
    }
    RC_ASSERT(batch->row_count() == 1 || bits <= limit * 8);
    if (row < group_end) {
      RC_ASSERT(bits + file.bits(row) > limit * 8 || text_bytes + file.text_bytes(row) > limit / 4);
    }
  }
  RC_ASSERT(row == file.rows.size());
}

// needs.total() is enough from the first byte to the last, and a reader that gets its memory in crumbs gives the same.
RC_GTEST_PROP(NestedReader, KeepsWithinItsNeedsAndGoesOnAfterWant, (uint32_t seed)) {
  const NestedFile file(seed,
                        {.depth = *rc::gen::inRange(1, 6), .columns = 3, .rows = *rc::gen::element<size_t>(50, 600)});
  const Rows expected = rows_of(file);
  const bool walk = *rc::gen::arbitrary<bool>();
  MemoryPool metadata_pool;
  Opened opened = open(file.bytes, metadata_pool);
  ReadOptions options = any_options();
  options.columns = all_columns(*opened.metadata, *rc::gen::element(Form::kOffsets, Form::kLarge, Form::kDictionaries));
  uint64_t largest = 0;
  for (size_t row = 0; row < file.rows.size(); ++row) largest = std::max(largest, file.bits(row));
  {
    // A row that is larger than the limit may ask for more.
    ReadOptions bounded_options = options;
    bounded_options.batch_bytes_max = std::max<size_t>(options.batch_bytes_max, largest / 8 + 1);
    MemoryPool pool;
    BatchReader planner(opened.file, opened.metadata, bounded_options, pool);
    const BatchReader::MemoryNeeds needs = planner.memory_needs(walk);
    MemoryPool tight({.budget_bytes = needs.total()});
    BatchReader reader(opened.file, opened.metadata, bounded_options, tight);
    reader.memory_needs(walk);
    Rows rows;
    std::optional<RecordBatch> batch;
    {
      Reservation reservation = tight.reserve(needs.total());
      for (;;) {
        const auto step = reader.step(reservation, batch);
        RC_ASSERT(step != BatchReader::Step::kNeedMemory);
        if (step == BatchReader::Step::kEnd) break;
        append_rows(*batch, rows);
        batch.reset();
        reservation.try_grow(tight.available_bytes());
      }
    }
    RC_ASSERT(rows == expected);
    RC_ASSERT(tight.stats().held_bytes == tight.stats().idle_bytes);
  }
  // Every allocation fails once before it succeeds.
  MemoryPool pool;
  BatchReader reader(opened.file, opened.metadata, options, pool);
  Rows rows;
  std::optional<RecordBatch> batch;
  for (bool done = false; !done;) {
    MemoryPool full({.budget_bytes = 0});
    Reservation empty = full.reserve(0);
    auto step = reader.step(empty, batch);
    while (step == BatchReader::Step::kNeedMemory) {
      MemoryPool exact({.budget_bytes = reader.needed_bytes()});
      Reservation reservation = exact.reserve(reader.needed_bytes());
      step = reader.step(reservation, batch);
    }
    if (batch) append_rows(*batch, rows);
    batch.reset();
    done = step == BatchReader::Step::kEnd;
  }
  RC_ASSERT(rows == expected);
}

// ---- Chosen rows ----

RowSelection any_selection(uint64_t rows) {
  RowSelection selection;
  const int longest = *rc::gen::element(1, 3, 40, 300);
  for (uint64_t at = 0; at < rows;) {
    const auto skipped = static_cast<uint64_t>(*rc::gen::inRange(0, longest + 1));
    const auto taken = static_cast<uint64_t>(*rc::gen::inRange(0, longest + 1));
    const uint64_t begin = std::min(rows, at + skipped);
    selection.add({begin, std::min(rows, begin + taken)});
    at = begin + taken + 1;
  }
  return selection;
}

RC_GTEST_PROP(RowSelections, ReadTheChosenRowsAlone, (uint32_t seed)) {
  const NestedFile file(seed, {.depth = *rc::gen::inRange(1, 5), .columns = 3, .rows = 500});
  ReadOptions options = any_options();
  Rows expected;
  size_t first = 0;
  for (size_t rows : file.group_rows) {
    options.rows.push_back({any_selection(rows)});
    for (const RowRange& range : options.rows.back().rows.ranges()) {
      for (uint64_t row = range.begin; row < range.end; ++row) expected.push_back(file.json(first + row));
    }
    first += rows;
  }
  for (Form form : {Form::kOffsets, Form::kLarge, Form::kDictionaries})
    RC_ASSERT(read_rows(file.bytes, options, form) == expected);
}

TEST(RowSelections, PassOverPagesByTheirHeaders) {
  // The values of pages without a chosen row are damaged: nobody may look at them.
  std::vector<PageSpec> flat;
  std::vector<PageSpec> lists;
  for (int32_t page = 0; page < 10; ++page) {
    const bool chosen = page == 4;
    flat.push_back(data_page(chosen ? plain<int32_t>({page, page}) : "", 2));
    PageSpec list = data_page(chosen ? plain<int32_t>({page, page, page}) : "", 3);
    list.type = PageType::kDataV2;
    list.row_count = 2;
    list.repetition_levels = packed_run({0, 1, 0}, 1);
    list.definition_levels = repeated_run(3, 1, 1);
    lists.push_back(list);
  }
  FileBuilder builder({{.name = "a"}, {.name = "b", .repetition = Repetition::kRepeated}});
  builder.row_group(20, {flat, lists});
  ReadOptions options;
  options.rows.push_back({RowSelection::of({{8, 10}})});
  EXPECT_EQ(read_rows(builder.finish(), options), (Rows{"4,[4,4]", "4,[4]"}));
  options.rows.clear();
  EXPECT_THROW(read_rows(builder.finish(), options), CorruptError);
}

TEST(RowSelections, AreHeldAgainstTheFile) {
  FileBuilder builder(std::vector<ColumnSpec>{{}});
  builder.row_group(2, {{data_page(plain<int32_t>({1, 2}), 2)}});
  builder.row_group(2, {{data_page(plain<int32_t>({3, 4}), 2)}});
  ReadOptions options;
  options.rows = {{RowSelection::all(2)}};
  EXPECT_THROW(read_rows(builder.finish(), options), Error);  // of one row group of two
  options.rows = {{RowSelection::all(2)}, {RowSelection::all(3)}};
  EXPECT_THROW(read_rows(builder.finish(), options), Error);
  options.rows = {{RowSelection()}, {RowSelection::of({{1, 2}})}};
  EXPECT_EQ(read_rows(builder.finish(), options), (Rows{"4"}));
}

// ---- Projections ----

// optional group points (LIST) { repeated group list { optional group element { required a; optional group b { c } } } }
std::string points_file() {
  FileBuilder builder({
      {.name = "points", .repetition = Repetition::kOptional, .converted = 3, .child_count = 1},
      {.name = "list", .repetition = Repetition::kRepeated, .child_count = 1},
      {.name = "element", .repetition = Repetition::kOptional, .child_count = 2},
      {.name = "a"},
      {.name = "b", .repetition = Repetition::kOptional, .child_count = 1},
      {.name = "c"},
  });
  // [{a 1, b {c 5}}, null, {a 2, b null}], null, [], [{a 3, b {c 6}}]
  const std::string repetition = with_length(packed_run({0, 1, 1, 0, 0, 0}, 1));
  const std::string a = repetition + with_length(packed_run({3, 2, 3, 0, 1, 3}, 2)) + plain<int32_t>({1, 2, 3});
  const std::string c = repetition + with_length(packed_run({4, 2, 3, 0, 1, 4}, 3)) + plain<int32_t>({5, 6});
  builder.row_group(4, {{data_page(a, 6)}, {data_page(c, 6)}});
  return builder.finish();
}

Rows read_points(ColumnRequest request) {
  ReadOptions options;
  options.columns.push_back(std::move(request));
  return read_rows(points_file(), options);
}

TEST(Projection, TakesPartsOfNestedColumns) {
  MemoryPool pool;
  const auto metadata = open(points_file(), pool).metadata;
  const ColumnRequest whole = request_column(metadata->schema(), 1);
  EXPECT_EQ(arrow_field(whole).type->to_string(),
            "list<element: struct<a: int32 not null, b: struct<c: int32 not null>>>");
  EXPECT_EQ(read_points(whole),
            (Rows{R"([{"a":1,"b":{"c":5}},null,{"a":2,"b":null}])", "null", "[]", R"([{"a":3,"b":{"c":6}}])"}));
  ColumnRequest reversed = whole;
  std::swap(reversed.children[0].children[0], reversed.children[0].children[1]);
  EXPECT_EQ(read_points(reversed)[3], R"([{"b":{"c":6},"a":3}])");
  ColumnRequest only_c = whole;
  only_c.children[0].children.erase(only_c.children[0].children.begin());
  EXPECT_EQ(read_points(only_c), (Rows{R"([{"b":{"c":5}},null,{"b":null}])", "null", "[]", R"([{"b":{"c":6}}])"}));
  // Groups on the way may be left out: null where one of them is.
  ColumnRequest leaves = whole;
  leaves.children[0] = whole.children[0].children[1].children[0];
  leaves.children[0].field.nullable = true;
  EXPECT_EQ(read_points(leaves), (Rows{"[5,null,null]", "null", "[]", "[6]"}));
  ColumnRequest twice = whole;
  twice.children[0].children[1] = twice.children[0].children[0];
  EXPECT_EQ(read_points(twice)[3], R"([{"a":3,"a":3}])");
  ColumnRequest wider = whole;
  wider.children[0].children[0].field.type = primitive(TypeId::kInt64);
  EXPECT_EQ(read_points(wider), read_points(whole));
}

TEST(Projection, RefusesTreesThatTheSchemaIsNot) {
  MemoryPool pool;
  const auto metadata = open(points_file(), pool).metadata;
  const ColumnRequest whole = request_column(metadata->schema(), 1);
  const auto kind_of = [](const ColumnRequest& request) {
    try {
      read_points(request);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kInternal;
  };
  EXPECT_EQ(kind_of(whole.children[0]), ErrorKind::kInvalidArgument);              // a list's element without the list
  EXPECT_EQ(kind_of(whole.children[0].children[0]), ErrorKind::kInvalidArgument);  // a leaf without it
  ColumnRequest no_list = whole;
  no_list.kind = ColumnRequest::Kind::kStruct;
  EXPECT_EQ(kind_of(no_list), ErrorKind::kInvalidArgument);
  ColumnRequest two_lists = whole;
  two_lists.children[0] = whole;
  EXPECT_EQ(kind_of(two_lists), ErrorKind::kInvalidArgument);
  ColumnRequest empty = whole;
  empty.children[0].children.clear();
  EXPECT_EQ(kind_of(empty), ErrorKind::kUnsupported);
  ColumnRequest group_as_leaf = whole;
  group_as_leaf.children[0].kind = ColumnRequest::Kind::kLeaf;
  EXPECT_EQ(kind_of(group_as_leaf), ErrorKind::kInvalidArgument);
  ColumnRequest elsewhere = whole;
  elsewhere.node = 3;
  EXPECT_EQ(kind_of(elsewhere), ErrorKind::kInvalidArgument);
  ColumnRequest outside = whole;
  outside.children[0].node = 100;
  EXPECT_EQ(kind_of(outside), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of({.node = 100, .field = {}}), ErrorKind::kInvalidArgument);
}

TEST(Projection, RefusesNullsWhereAFieldHasNone) {
  MemoryPool pool;
  const auto metadata = open(points_file(), pool).metadata;
  const ColumnRequest whole = request_column(metadata->schema(), 1);
  for (int level = 0; level < 3; ++level) {
    ColumnRequest request = whole;
    ColumnRequest* strict = &request;
    if (level > 0) strict = &strict->children[0];
    if (level > 1) strict = &strict->children[1];
    strict->field.nullable = false;
    EXPECT_THROW(read_points(request), CorruptError) << level;
  }
}

// ---- What is refused ----

// repeated int32 a
std::string repeated_column(const std::string& repetition, const std::string& definition, int32_t levels, int64_t rows,
                            size_t values) {
  FileBuilder builder({{.name = "a", .repetition = Repetition::kRepeated}});
  builder.row_group(
      rows, {{data_page(with_length(repetition) + with_length(definition) + plain(std::vector<int32_t>(values, 7)),
                        levels)}});
  return builder.finish();
}

TEST(NestedReader, RefusesLevelsThatLie) {
  const auto ones = repeated_run(3, 1, 1);
  EXPECT_EQ(read_rows(repeated_column(packed_run({0, 1, 0}, 1), ones, 3, 2, 3)), (Rows{"[7,7]", "[7]"}));
  EXPECT_THAT(error_of(repeated_column(packed_run({1, 1, 0}, 1), ones, 3, 2, 3)),
              HasSubstr("starts with repetition level 1"));
  EXPECT_THAT(error_of(repeated_column(repeated_run(3, 0, 1), ones, 3, 2, 3)),
              HasSubstr("more than the row group's 2"));
  EXPECT_THAT(error_of(repeated_column(packed_run({0, 1, 1}, 1), ones, 3, 2, 3)), HasSubstr("ends after 1 of 2 rows"));
  EXPECT_THAT(error_of(repeated_column(repeated_run(2, 0, 1), ones, 3, 3, 3)), HasSubstr("levels end"));
  EXPECT_THAT(error_of(repeated_column(packed_run({0, 1, 0}, 1), repeated_run(2, 1, 1), 3, 2, 3)),
              HasSubstr("levels end"));
  EXPECT_THAT(error_of(repeated_column(packed_run({0, 1, 0}, 1), repeated_run(3, 2, 1), 3, 2, 3)),
              HasSubstr("level 2"));
  EXPECT_THAT(error_of(repeated_column(packed_run({0, 1, 0}, 1), ones, 3, 2, 2)), HasSubstr("page ends"));
  EXPECT_THAT(error_of(repeated_column("", ones, 3, 2, 3)), HasSubstr("levels end"));
  EXPECT_THAT(error_of(repeated_column(packed_run({0, 1, 0}, 1), ones, 3, 0, 3)), HasSubstr("no error"));  // no rows
}

TEST(NestedReader, NamesColumnsWhoseListsDiffer) {
  const auto file = [](const std::vector<uint32_t>& x, const std::vector<uint32_t>& y) {
    FileBuilder builder({{.name = "l", .repetition = Repetition::kOptional, .converted = 3, .child_count = 1},
                         {.name = "list", .repetition = Repetition::kRepeated, .child_count = 1},
                         {.name = "element", .child_count = 2},
                         {.name = "x"},
                         {.name = "y"}});
    const auto page = [](const std::vector<uint32_t>& repetition) {
      return data_page(with_length(packed_run(repetition, 1)) + with_length(repeated_run(repetition.size(), 2, 2)) +
                           plain(std::vector<int32_t>(repetition.size(), 1)),
                       static_cast<int32_t>(repetition.size()));
    };
    builder.row_group(2, {{page(x)}, {page(y)}});
    return builder.finish();
  };
  EXPECT_EQ(error_of(file({0, 1, 0, 1}, {0, 1, 0, 1})), "no error");
  for (const auto& other : std::vector<std::vector<uint32_t>>{{0, 1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0, 1, 1}}) {
    EXPECT_THAT(error_of(file({0, 1, 0, 1}, other)),
                HasSubstr("columns 'l.list.element.x' and 'l.list.element.y' have lists of different lengths"));
  }
}

TEST(NestedReader, SurvivesEveryTruncationAndEveryChangedByte) {
  std::vector<std::string> files = {points_file()};
  for (uint32_t seed : {1U, 5U, 9U}) files.push_back(NestedFile(seed, {.depth = 3, .columns = 2, .rows = 12}).bytes);
  for (const std::string& whole : files) {
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
    for (size_t i = 0; i < whole.size(); ++i) {
      for (int change : {0x01, 0x10, 0xFF}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ change);
        try {
          read_rows(changed);
        } catch (const Error& error) {
          EXPECT_NE(error.kind(), ErrorKind::kInternal) << i;
          EXPECT_NE(error.kind(), ErrorKind::kInvalidArgument) << i << ": " << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
