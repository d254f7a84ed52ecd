// Page indexes: the structures alone, and whole files whose indexes a predicate goes by. Consistent or refused, rows or
// an error of bad input, within a small budget.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/page_index.h"
#include "frazil/predicate/predicate.h"
#include "frazil/predicate/value.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

void check(bool holds) {
  if (!holds) std::abort();
}

void parse_alone(std::span<const std::byte> bytes) {
  const ChunkRange chunk{100, 100 + 5000};
  constexpr uint64_t kRows = 1000;
  const size_t half = bytes.size() / 2;
  try {
    const OffsetIndex offsets = parse_offset_index(bytes.first(half), 0, chunk, kRows);
    check(offsets.page_count() > 0 && offsets.pages.front().first_row == 0);
    uint64_t end = chunk.begin;
    uint64_t row = 0;
    for (size_t page = 0; page < offsets.page_count(); ++page) {
      const PageLocation& location = offsets.pages[page];
      check(location.offset >= end && location.compressed_size > 0);
      end = location.offset + location.compressed_size;
      check(end <= chunk.end);
      check(offsets.rows(page).begin == row && offsets.rows(page).end >= row);
      row = offsets.rows(page).end;
      if (offsets.rows(page).row_count() > 0) check(offsets.page_of(row - 1) == page);
    }
    check(row == kRows);
    unencoded_bytes_max(offsets, 17);
    const ColumnIndex bounds = parse_column_index(bytes.subspan(half), 0, offsets.page_count());
    for (size_t page = 0; page < bounds.page_count(); ++page) bounds.statistics(page);
  } catch (const CorruptError&) {
  }
}

void read_file(std::string bytes, MemoryPool& pool) {
  const auto file = std::make_shared<testing::StringFile>(std::move(bytes));
  const auto metadata = read_metadata(*file, pool);
  const SchemaPtr schema = arrow_schema(metadata->schema());
  std::vector<predicate::Predicate> tests;
  FileReaderOptions options;
  options.metadata = metadata;
  options.projection.emplace();
  for (size_t i = 0; i < std::min<size_t>(schema->field_count(), 8); ++i) {
    const Field& field = schema->field(i);
    options.projection->emplace_back(field.name);
    switch (predicate::value_kind(*field.type)) {
      case predicate::ValueKind::kSigned:
      case predicate::ValueKind::kUnsigned:
      case predicate::ValueKind::kFloating:
      case predicate::ValueKind::kDecimal:
        if (is_integer(field.type->id()) || is_floating(field.type->id()) || is_decimal(field.type->id())) {
          tests.push_back(predicate::compare(field.name, predicate::Comparator::kGreater, predicate::integer(3)));
        }
        break;
      default:
        tests.push_back(predicate::is_null(field.name));
    }
  }
  options.predicate = predicate::any_of(std::move(tests));
  options.batch_rows = 100;
  FileReader reader(file, options, pool);
  int64_t rows = 0;
  while (auto batch = reader.next()) {
    validate_full(*batch);
    rows += batch->row_count();
    if (rows > 100'000) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parse_alone(std::as_bytes(std::span(data, size)));
  MemoryPool pool({.budget_bytes = size_t{32} << 20});
  try {
    read_file(std::string(reinterpret_cast<const char*>(data), size), pool);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) std::abort();
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
