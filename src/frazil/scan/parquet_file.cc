// Parquet data files.
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/schema.h"
#include "frazil/scan/file_format.h"

namespace frazil::scan {

namespace {

class ParquetReader final : public FormatReader {
 public:
  explicit ParquetReader(parquet::BatchReader reader) : reader_(std::move(reader)) {}
  MemoryNeeds memory_needs(bool exact) const override { return reader_.memory_needs(exact); }
  size_t bytes_in_use() const override { return reader_.bytes_in_use(); }
  size_t needed_bytes() const override { return reader_.needed_bytes(); }
  Step step(Reservation& reservation, std::optional<RecordBatch>& out) override {
    return reader_.step(reservation, out);
  }

 private:
  parquet::BatchReader reader_;
};

std::shared_ptr<const parquet::FileMetadata> read_footer(const InputFile& file, const Task& task, MemoryPool& pool) {
  try {
    return parquet::read_metadata(file, pool);
  } catch (Error& error) {
    if (task.has_key_metadata && error.kind() == ErrorKind::kCorrupt) {
      throw_error(ErrorKind::kUnsupported, "the file is encrypted (its manifest entry has key metadata)");
    }
    throw;
  }
}

// The children of the root; those of leaves alone can be read.
std::vector<FileColumn> file_columns(const parquet::FileSchema& schema) {
  std::vector<FileColumn> columns;
  uint32_t index = 1;
  for (uint32_t child = 0; child < schema.root().child_count; ++child) {
    const auto& node = schema.node(index);
    FileColumn column;
    column.name = node.name;
    column.field_id = node.field_id;
    column.is_nested = node.is_group || node.max_repetition > 0;
    if (!column.is_nested) {
      column.type_text = parquet::arrow_leaf_type(node)->to_string();
      column.can_read_as = [&node](const DataType& type) { return parquet::can_read_as(node, type); };
    }
    columns.push_back(std::move(column));
    index += node.subtree_size;
  }
  return columns;
}

}  // namespace

std::unique_ptr<FormatReader> open_parquet(const ReadSetup& setup, const Task& task, const FileContext& context,
                                           MemoryPool& pool, std::vector<ColumnSource>& sources) {
  // The size in the manifest is not passed on: local files know their own for free, and tables that were rewritten by
  // other tools have wrong ones.
  auto file = setup.files->open_input(task.path);
  auto footer = read_footer(*file, task, pool);
  const auto& schema = footer->schema();
  bool has_ids = false;
  for (const auto& node : schema.nodes()) has_ids = has_ids || node.field_id.has_value();
  sources = resolve_columns(file_columns(schema), has_ids, *setup.columns, context);

  std::vector<uint32_t> nodes;  // of each column of the file
  uint32_t index = 1;
  for (uint32_t child = 0; child < schema.root().child_count; ++child) {
    nodes.push_back(index);
    index += schema.node(index).subtree_size;
  }
  parquet::ReadOptions options;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].column) continue;
    options.columns.push_back({.node = nodes[*sources[i].column], .field = setup.arrow_schema->field(i)});
  }
  options.batch_rows = setup.batch_rows;
  options.batch_bytes_max = setup.batch_bytes_max;
  options.window_bytes = setup.window_bytes;
  if (setup.verify_checksums) options.verify_checksums = parquet::ChecksumPolicy::kAlways;
  options.validate_utf8 = setup.validate_utf8;
  return std::make_unique<ParquetReader>(
      parquet::BatchReader(std::move(file), std::move(footer), std::move(options), pool));
}

}  // namespace frazil::scan
