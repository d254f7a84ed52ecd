// CSV and JSON lines as record batches.
//
// Columns are found by their names in `schema`; without one, types come from a sample at the start (inferred_type.h). A column of
// CSV that `schema` does not have is read as utf8, for whoever takes the batches to refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/byte_source.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/text/csv_records.h"

namespace frazil::json {
class Value;
}

namespace frazil::text {

struct TextOptions {
  SchemaPtr schema = nullptr;
  int64_t batch_rows = 65536;
  size_t sample_bytes = size_t{4} << 20;  // what types are inferred from, at least one record
  // CSV only.
  CsvDialect csv = {};
  // The first record holds the names of columns; otherwise they are those of `schema` in its order, or f0, f1, ...
  bool csv_header = true;
  // Texts that mean null where they stand without quotes, beside the empty one.
  std::vector<std::string> csv_nulls = {};
  // JSON lines only: gets each row, an object, before its members are taken, and may add what it does not have.
  std::function<void(json::Value& row)> complete_row = {};
};

// Batches come from `pool`, which outlives the stream, and so does the text at hand: 0.5 MiB, more for long records. Errors name
// the source, row, line and column: CorruptError for text that breaks the format, Error(kInvalidArgument) for values that are
// not of their column's type, for repeated and missing names, for rows with too few or too many fields, for nulls in columns that
// `schema` has as not nullable.
std::unique_ptr<BatchStream> read_csv(std::unique_ptr<ByteSource> source, TextOptions options, MemoryPool& pool);

// One object a line (JSON lines, NDJSON); empty lines are passed over. A row without a member has a null there; a member that no
// column has is an error.
std::unique_ptr<BatchStream> read_json_lines(std::unique_ptr<ByteSource> source, const TextOptions& options,
                                             MemoryPool& pool);

}  // namespace frazil::text
