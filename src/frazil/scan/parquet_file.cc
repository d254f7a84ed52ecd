// Parquet data files.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
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

std::unique_ptr<FormatReader> open_parquet(const ReadSetup& setup, const Task& task, const FileContext& context,
                                           MemoryPool& pool, std::vector<ColumnSource>& sources) {
  // The size in the manifest is not passed on: local files know their own for free, and tables that were rewritten by
  // other tools have wrong ones.
  auto file = setup.files->open_input(task.path);
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
  return std::make_unique<ParquetReader>(parquet::FileReader(std::move(file), std::move(options), pool));
}

}  // namespace frazil::scan
