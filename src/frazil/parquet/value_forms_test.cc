// Text and binary as views, and as dictionaries where the file has them so: the same rows as with offsets, of every file of
// the corpora that has some, in batches of any size, in lists too.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/dictionary_columns.h"

namespace frazil::parquet {
namespace {

// Returns how many leaves became views.
size_t ask_for_views(std::vector<ColumnRequest>& columns) {
  size_t changed = 0;
  for (ColumnRequest& column : columns) {
    changed += ask_for_views(column.children);
    if (column.kind != ColumnRequest::Kind::kLeaf) continue;
    const TypeId id = column.field.type->id();
    if (id != TypeId::kUtf8 && id != TypeId::kBinary) continue;
    column.field.type = primitive(id == TypeId::kUtf8 ? TypeId::kUtf8View : TypeId::kBinaryView);
    ++changed;
  }
  return changed;
}

struct Result {
  std::vector<std::string> rows;
  std::string error;
};

Result read_rows(const std::shared_ptr<const InputFile>& file, const std::shared_ptr<const FileMetadata>& metadata,
                 std::vector<ColumnRequest> columns, int64_t batch_rows, size_t batch_bytes) {
  Result result;
  MemoryPool pool({.budget_bytes = size_t{64} << 20});
  try {
    ReadOptions options;
    options.columns = std::move(columns);
    options.batch_rows = batch_rows;
    options.batch_bytes_max = batch_bytes;
    options.validate_utf8 = true;
    BatchReader reader(file, metadata, options, pool);
    reader.memory_needs(false);
    while (auto batch = reader.next()) {
      validate_full(*batch);
      for (int64_t row = 0; row < batch->row_count() && result.rows.size() < 3000; ++row) {
        std::string text;
        for (const ArrayPtr& column : batch->columns()) text += value_to_json(*column, row) + "|";
        result.rows.push_back(text);
      }
    }
  } catch (const Error& error) {
    result.error = to_string(error.kind());
  }
  EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes) << file->path();
  return result;
}

size_t count_dictionaries(const std::vector<ColumnRequest>& columns) {
  size_t count = 0;
  for (const ColumnRequest& column : columns) {
    count += column.kind == ColumnRequest::Kind::kLeaf && column.field.type->id() == TypeId::kDictionary ? 1 : 0;
    count += count_dictionaries(column.children);
  }
  return count;
}

// Reads every file of the corpora as it is and as `change` makes the requests, which says whether it did. Returns how many
// files there were to compare.
template <typename Change>
size_t compare_all(Change&& change) {
  LocalFileSystem files;
  MemoryPool pool;
  size_t compared = 0;
  for (const char* folder : {"parquet-testing/data", "parquet-extra"}) {
    const std::filesystem::path root = std::filesystem::path(FRAZIL_TEST_CORPORA) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".parquet") continue;
      std::shared_ptr<const InputFile> file = files.open_input(entry.path().string());
      std::shared_ptr<const FileMetadata> metadata;
      std::vector<ColumnRequest> offsets;
      try {
        metadata = read_metadata(*file, pool);
        offsets = request_columns(metadata->schema());
      } catch (const Error&) {
        continue;
      }
      std::vector<ColumnRequest> others = offsets;
      if (!change(others, *metadata)) continue;
      const Result expected = read_rows(file, metadata, offsets, 1000, size_t{1} << 20);
      for (auto [batch_rows, batch_bytes] : {std::pair{int64_t{1000}, size_t{1} << 20}, {7, 300}}) {
        const Result got = read_rows(file, metadata, others, batch_rows, batch_bytes);
        EXPECT_EQ(got.error, expected.error) << entry.path();
        if (got.error.empty()) {
          EXPECT_TRUE(got.rows == expected.rows) << entry.path();
        }
      }
      ++compared;
    }
  }
  return compared;
}

TEST(Views, HaveTheRowsOfOffsets) {
  EXPECT_GT(compare_all([](auto& columns, const FileMetadata&) { return ask_for_views(columns) > 0; }), 200U);
}

TEST(Dictionaries, HaveTheRowsOfOffsets) {
  size_t columns_compared = 0;
  const size_t files = compare_all([&](auto& columns, const FileMetadata& metadata) {
    request_dictionaries(columns, metadata, 0, metadata.row_groups().size());
    const size_t count = count_dictionaries(columns);
    columns_compared += count;
    return count > 0;
  });
  std::printf("%zu columns of %zu files\n", columns_compared, files);
  EXPECT_GT(files, 60U);
}

}  // namespace
}  // namespace frazil::parquet
