// Parquet data files.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/projection.h"
#include "frazil/parquet/schema.h"
#include "frazil/scan/file_format.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

using parquet::ColumnRequest;

class ParquetReader final : public FormatReader {
 public:
  explicit ParquetReader(parquet::FileReader reader) : reader_(std::move(reader)) {}
  MemoryNeeds memory_needs(bool exact) const override { return reader_.memory_needs(exact); }
  size_t bytes_in_use() const override { return reader_.bytes_in_use(); }
  size_t spared_bytes() const override { return reader_.spared_bytes(); }
  size_t needed_bytes() const override { return reader_.needed_bytes(); }
  void use_lanes(const parquet::Lanes& lanes) override { reader_.use_lanes(lanes); }
  Step step(Reservation& reservation, std::optional<RecordBatch>& out) override {
    return reader_.step(reservation, out);
  }

 private:
  parquet::FileReader reader_;
};

// Their footer's read has all of them.
constexpr uint64_t kWholeFileBytesMax = uint64_t{64} << 10;

// What a reader of its own, about 20 us, is worth.
constexpr int64_t kPartBytesMin = int64_t{256} << 10;
constexpr int64_t kPartRowsMin = int64_t{1} << 19;

struct RowGroupRun {
  int first = 0;
  int count = 0;
};

// Runs of row groups with at least so many bytes of the columns that are read, or so many rows; the last may have less.
std::vector<RowGroupRun> split(const parquet::FileMetadata& footer, const parquet::FileReaderOptions& options) {
  const auto groups = footer.row_groups();
  if (groups.size() < 2) return {{.first = 0, .count = static_cast<int>(groups.size())}};
  std::vector<size_t> leaves = parquet::requested_leaves(footer.schema(), options.columns);
  if (options.bound_predicate) {
    for (size_t leaf : parquet::requested_leaves(footer.schema(), options.bound_predicate->requests)) {
      if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
    }
  }
  std::vector<RowGroupRun> runs;
  int64_t bytes = kPartBytesMin;
  int64_t rows = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (bytes >= kPartBytesMin || rows >= kPartRowsMin) {
      runs.push_back({.first = static_cast<int>(i), .count = 0});
      bytes = 0;
      rows = 0;
    }
    ++runs.back().count;
    rows += std::min(groups[i].row_count, kPartRowsMin);
    for (size_t leaf : leaves)
      bytes += std::clamp<int64_t>(groups[i].columns[leaf].total_compressed_size, 0, kPartBytesMin);
  }
  return runs;
}

class ParquetFile final : public FormatFile {
 public:
  ParquetFile(std::shared_ptr<const InputFile> file, parquet::FileReaderOptions options)
      : file_(std::move(file)), options_(std::move(options)), parts_(split(*options_.metadata, options_)) {}
  size_t part_count() const override { return parts_.size(); }
  std::unique_ptr<FormatReader> open_part(const Part& part, MemoryPool& pool) override {
    parquet::FileReaderOptions options = options_;
    options.first_row_group = parts_[part.index].first;
    options.row_group_count = parts_[part.index].count;
    options.decompressor = part.decompressor;
    options.first_batch_rows = part.first_batch_rows;
    return std::make_unique<ParquetReader>(parquet::FileReader(file_, std::move(options), pool));
  }

 private:
  const std::shared_ptr<const InputFile> file_;
  const parquet::FileReaderOptions options_;
  const std::vector<RowGroupRun> parts_;
};

// With the bytes of a small file, so that they are asked for once.
std::shared_ptr<const InputFile> open_file(FileSystem& files, const std::string& path, MemoryPool& pool) {
  auto file = files.open_input(path);
  if (file->size() > kWholeFileBytesMax) return file;
  MutableBuffer content = pool.allocate(file->size());
  content.set_size(file->size());
  file->read_at(0, content.span());
  return make_input_file(file->path(), std::move(content).freeze());
}

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

bool is_variant(const parquet::SchemaNode& node) {
  return node.logical.kind == parquet::LogicalType::Kind::kVariant;
}

// The columns of a file as requests for the whole of them, each made when it is wanted.
class WholeColumns {
 public:
  explicit WholeColumns(const parquet::FileSchema& schema) : schema_(schema) {
    for (uint32_t i = 0, node = 1; i < schema.root().child_count; ++i, node += schema.node(node).subtree_size) {
      nodes_.push_back(node);
    }
    requests_.resize(nodes_.size());
  }

  FileColumns describe() {
    FileColumns columns;
    for (const uint32_t node : nodes_) {
      columns.columns.push_back({.name = schema_.node(node).name, .field_id = schema_.node(node).field_id});
    }
    for (const auto& node : schema_.nodes()) {
      columns.has_ids = columns.has_ids || node.field_id.has_value();
    }
    columns.open = [this](size_t column) { return field_of(request(column)); };
    return columns;
  }

  const ColumnRequest& request(size_t column) {
    std::optional<ColumnRequest>& request = requests_[column];
    if (!request) request = parquet::request_column(schema_, nodes_[column]);
    return *request;
  }

  // What the sources take from the file, as the types of `wanted`.
  std::vector<ColumnRequest> project(const std::vector<ColumnSource>& sources, const Schema& wanted) {
    std::vector<ColumnRequest> requests;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].is_constant()) continue;
      requests.push_back(project(request(sources[i].file_index), sources[i], wanted.field(i)));
    }
    return requests;
  }

 private:
  FileField field_of(const ColumnRequest& request) const {
    const parquet::SchemaNode& node = schema_.node(request.node);
    FileField field;
    field.name = node.name;
    field.field_id = node.field_id;
    field.type_text = parquet::arrow_field(request).type->to_string();
    for (const ColumnRequest& child : request.children) field.children.push_back(field_of(child));
    switch (request.kind) {
      case ColumnRequest::Kind::kLeaf:
        field.can_read_as = [&node](const spec::Type& type) {
          return parquet::can_read_as(node, *spec::to_arrow_type(type));
        };
        break;
      case ColumnRequest::Kind::kStruct:
        field.kind = is_variant(node) ? FileField::Kind::kVariant : FileField::Kind::kStruct;
        break;
      case ColumnRequest::Kind::kList:
        field.kind = FileField::Kind::kList;
        break;
      case ColumnRequest::Kind::kMap:
        field.kind = FileField::Kind::kMap;
        break;
    }
    return field;
  }

  ColumnRequest project(const ColumnRequest& whole, const ColumnSource& source, const Field& wanted) const {
    if (source.kind == ColumnSource::Kind::kWhole && whole.kind != ColumnRequest::Kind::kLeaf) {
      ColumnRequest variant = whole;  // as it is stored; it is put together behind the decoding
      variant.field.name = wanted.name;
      variant.field.nullable = wanted.nullable;
      if (!is_variant(schema_.node(whole.node))) {
        variant.children.clear();
        for (const Field& part : wanted.type->children()) {
          const auto stored = std::find_if(whole.children.begin(), whole.children.end(),
                                           [&](const ColumnRequest& child) { return child.field.name == part.name; });
          variant.children.push_back({.node = stored->node, .field = part});
        }
      }
      return variant;
    }
    ColumnRequest request{.node = whole.node, .field = wanted, .kind = whole.kind};
    const bool is_map = whole.kind == ColumnRequest::Kind::kMap;
    const std::vector<Field>& fields = is_map ? wanted.type->children()[0].type->children() : wanted.type->children();
    for (size_t i = 0; i < source.children.size(); ++i) {
      const ColumnSource& child = source.children[i];
      if (!child.is_constant()) {
        request.children.push_back(project(whole.children[child.file_index], child, fields[i]));
      } else if (whole.kind != ColumnRequest::Kind::kStruct) {
        request.children.push_back(parquet::request_nulls(whole.children[i]));  // lists have an element
      }
    }
    // Some leaf must tell where the struct is null.
    if (request.children.empty() && whole.kind == ColumnRequest::Kind::kStruct) {
      request.children = parquet::request_nulls(whole).children;
    }
    return request;
  }

  const parquet::FileSchema& schema_;
  std::vector<uint32_t> nodes_;
  std::vector<std::optional<ColumnRequest>> requests_;
};

// The filter on what the file has, nothing if all rows are wanted.
std::optional<parquet::PredicateColumns> request_filter(const Filter& filter, const std::vector<ColumnSource>& sources,
                                                        const std::vector<ColumnRequest>& requests, MemoryPool& pool) {
  std::vector<Field> fields;
  for (const ColumnRequest& request : requests) fields.push_back(parquet::arrow_field(request));
  const auto bound = bind_to_file(filter, sources, Schema::make(std::move(fields)), pool);
  if (bound.always_true()) return std::nullopt;
  return parquet::request_predicate(requests, bound);
}

}  // namespace

std::unique_ptr<FormatFile> open_parquet(const ReadSetup& setup, const Task& task, const FileContext& context,
                                         MemoryPool& pool, std::vector<ColumnSource>& sources) {
  // The size in the manifest is not passed on: local files know their own for free, and tables that were rewritten by
  // other tools have wrong ones.
  auto file = open_file(*setup.files, task.path, pool);
  auto footer = read_footer(*file, task, pool);
  WholeColumns whole(footer->schema());
  parquet::FileReaderOptions options;
  if (setup.filter) {
    const Filter& filter = *setup.filter;
    const auto all = resolve_columns(whole.describe(), *filter.columns, context);
    options.bound_predicate = request_filter(filter, all, whole.project(all, *filter.predicate.schema()), pool);
    sources = restrict_sources(all, *filter.columns, *setup.columns);
    number_places(sources);
  } else {
    sources = resolve_columns(whole.describe(), *setup.columns, context);
  }
  options.columns = whole.project(sources, *setup.arrow_schema);
  if (options.columns.empty()) options.projection.emplace();  // none, not all
  options.batch_rows = setup.batch_rows;
  options.batch_bytes_max = setup.batch_bytes_max;
  options.kept_bytes_max = setup.batch_bytes_max / 2;
  options.window_bytes = setup.window_bytes;
  if (setup.verify_checksums) options.verify_checksums = parquet::ChecksumPolicy::kAlways;
  options.validate_utf8 = setup.validate_utf8;
  options.late_materialization = setup.skips;
  if (!setup.skips) {
    options.pruning = {
        .use_statistics = false, .use_page_index = false, .use_bloom_filters = false, .use_dictionaries = false};
  }
  options.metadata = std::move(footer);
  return std::make_unique<ParquetFile>(std::move(file), std::move(options));
}

}  // namespace frazil::scan
