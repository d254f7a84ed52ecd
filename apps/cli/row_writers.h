// Rows on standard output (cli.md, "Rows on standard output").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "output.h"

#include "frazil/columnar/array.h"

namespace frazil {
class MemoryPool;
}

namespace frazil::cli {

enum class RowFormat : uint8_t { kTable, kCsv, kJson, kArrow, kParquet, kNone };

// "table", "csv", "json", "arrow", "parquet", "none"; nothing given: JSON if --output asks for it, else a table on a terminal, else
// CSV. Throws Error(kInvalidArgument), also for Arrow and Parquet on a terminal.
RowFormat parse_row_format(const std::optional<std::string>& text, const OutputStream& out,
                           OutputFormat output = OutputFormat::kText);

// Prints batches of one schema. Requires validated arrays.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void write(const RecordBatch& batch) = 0;
  // The end of the output. Without it, what was written may be incomplete. `total_rows`: of the whole result, if known
  // and more than was written.
  virtual void finish(std::optional<int64_t> total_rows = std::nullopt) = 0;
  // How many rows are still of use: a table ends at its limit.
  virtual int64_t rows_wanted() const { return INT64_MAX; }
  virtual int64_t rows_written() const = 0;
};

struct RowWriterOptions {
  RowFormat format = RowFormat::kCsv;
  // What the user said (--limit). A table without a limit ends after kTableRows rows.
  std::optional<int64_t> limit = std::nullopt;
  bool color = false;
  MemoryPool* pool = nullptr;  // kArrow, kParquet: encode in its memory; outlives the writer
};
inline constexpr int64_t kTableRows = 100;
// Rows that the widths of a table come from.
inline constexpr int64_t kTableWidthRows = 1000;

// A file of Parquet. Nothing of it is of use before finish().
std::unique_ptr<RowWriter> make_parquet_row_writer(SchemaPtr schema, OutputStream& out,
                                                   const RowWriterOptions& options);

// An Arrow stream.
std::unique_ptr<RowWriter> make_arrow_row_writer(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options);

std::unique_ptr<RowWriter> make_row_writer(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options);

// Throws Error(kInvalidArgument) if rows of `schema` cannot follow rows of `first` in one output.
void check_same_columns(const Schema& first, const std::string& first_path, const Schema& schema,
                        const std::string& path);

}  // namespace frazil::cli
