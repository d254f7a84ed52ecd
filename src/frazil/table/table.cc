#include "frazil/table/table.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/path_table.h"
#include "frazil/predicate/parse.h"
#include "frazil/runtime/context.h"

namespace frazil {

namespace {

// The counters together with the file system that they count, so that one pointer keeps both.
struct CountedFiles {
  explicit CountedFiles(std::shared_ptr<FileSystem> files) : inner(std::move(files)), counting(*inner) {}
  std::shared_ptr<FileSystem> inner;
  CountingFileSystem counting;
};

std::shared_ptr<CountingFileSystem> count(std::shared_ptr<FileSystem> files) {
  auto counted = std::make_shared<CountedFiles>(std::move(files));
  return {counted, &counted->counting};
}

// A stream that keeps its table's file system alive.
class OwningStream final : public scan::Stream {
 public:
  OwningStream(std::shared_ptr<FileSystem> files, std::unique_ptr<scan::Stream> stream)
      : files_(std::move(files)), stream_(std::move(stream)) {}
  const SchemaPtr& schema() const override { return stream_->schema(); }
  std::optional<RecordBatch> next() override { return stream_->next(); }
  void close() noexcept override { stream_->close(); }
  scan::StreamStats stats() const override { return stream_->stats(); }

 private:
  std::shared_ptr<FileSystem> files_;
  std::unique_ptr<scan::Stream> stream_;
};

}  // namespace

ScanBuilder& ScanBuilder::select(std::vector<std::string> columns) {
  options_.select = std::move(columns);
  return *this;
}

ScanBuilder& ScanBuilder::where(std::string_view predicate) {
  return where(predicate::parse(predicate));
}

ScanBuilder& ScanBuilder::where(predicate::Predicate predicate) {
  options_.where = predicate::all_of({std::move(options_.where), std::move(predicate)});
  return *this;
}

ScanBuilder& ScanBuilder::limit(int64_t rows) {
  options_.limit = rows;
  return *this;
}

ScanBuilder& ScanBuilder::snapshot(int64_t snapshot_id) {
  options_.snapshot = spec::SnapshotById{snapshot_id};
  return *this;
}

ScanBuilder& ScanBuilder::as_of_ms(int64_t milliseconds_since_epoch) {
  options_.snapshot = spec::SnapshotAsOf{milliseconds_since_epoch};
  return *this;
}

ScanBuilder& ScanBuilder::ref(std::string name) {
  options_.snapshot = spec::SnapshotByRef{std::move(name)};
  return *this;
}

ScanBuilder& ScanBuilder::snapshot(spec::SnapshotSelection selection) {
  options_.snapshot = std::move(selection);
  return *this;
}

ScanBuilder& ScanBuilder::order(ScanOrder order) {
  options_.order = order;
  return *this;
}

ScanBuilder& ScanBuilder::batch_rows(int64_t rows) {
  options_.batch_rows = rows;
  return *this;
}

ScanBuilder& ScanBuilder::memory_budget_bytes(size_t bytes) {
  options_.memory_budget_bytes = bytes;
  return *this;
}

ScanBuilder& ScanBuilder::threads(size_t count) {
  options_.threads = count;
  return *this;
}

ScanBuilder& ScanBuilder::verify_checksums(bool verify) {
  options_.verify_checksums = verify;
  return *this;
}

ScanBuilder& ScanBuilder::validate_utf8(bool validate) {
  options_.validate_utf8 = validate;
  return *this;
}

std::unique_ptr<scan::Stream> ScanBuilder::execute() const {
  const scan::Source source{.metadata = metadata_, .files = files_.get()};
  return std::make_unique<OwningStream>(files_, scan::open(*context_, source, options_));
}

int64_t ScanBuilder::count() const {
  return scan::count_rows(*context_, {.metadata = metadata_, .files = files_.get()}, options_);
}

Table::Table(Context& context, catalog::LoadedTable loaded)
    : context_(&context), loaded_(std::move(loaded)), files_(count(loaded_.files)) {}

ScanBuilder Table::scan() const {
  return ScanBuilder(*context_, loaded_.metadata, files_);
}

Append Table::append(AppendOptions options) const {
  return Append(*context_, std::make_shared<const catalog::LoadedTable>(loaded_), files_, std::move(options));
}

CatalogHandle::CatalogHandle(Context& context, std::unique_ptr<catalog::Catalog> catalog)
    : context_(&context), catalog_(std::move(catalog)) {}

Table CatalogHandle::load_table(std::string_view identifier) const {
  return Table(*context_, catalog_->load_table(catalog::parse_identifier(identifier)));
}

CatalogHandle open_catalog(Context& context, const CatalogProperties& properties) {
  catalog::CatalogOptions options;
  for (const auto& [key, value] : properties.properties) options.overrides[key] = value;
  if (!properties.uri.empty()) options.overrides["uri"] = properties.uri;
  if (!properties.warehouse.empty()) options.overrides["warehouse"] = properties.warehouse;
  const FileSystems files;
  return {context,
          catalog::open_catalog(catalog::Configuration(), properties.name, files, context.memory_pool(), options)};
}

Table open_table(Context& context, std::string_view path, std::vector<std::string> location_rules) {
  const FileSystems files;
  return {context, catalog::open_table_by_path(path, files, context.memory_pool(),
                                               {.location_rules = std::move(location_rules)})};
}

}  // namespace frazil
