#include "ipc_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <unistd.h>

#include "file_arguments.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/file_systems.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

std::vector<size_t> column_indices(const Schema& schema, const std::vector<std::string>& names) {
  std::vector<size_t> indices;
  for (const std::string& name : names) {
    const std::optional<size_t> index = schema.index_of(name);
    if (!index) throw_error(ErrorKind::kNotFound, "there is no column '{}'", name);
    if (std::find(indices.begin(), indices.end(), *index) != indices.end()) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' is selected twice", name);
    }
    indices.push_back(*index);
  }
  return indices;
}

// Some columns of what can be read once only.
class SelectedColumns final : public BatchStream {
 public:
  SelectedColumns(std::unique_ptr<BatchStream> rows, std::vector<size_t> indices)
      : rows_(std::move(rows)), indices_(std::move(indices)) {
    std::vector<Field> fields;
    for (const size_t index : indices_) fields.push_back(rows_->schema()->field(index));
    schema_ = Schema::make(std::move(fields), rows_->schema()->metadata());
  }
  const SchemaPtr& schema() const override { return schema_; }
  std::optional<RecordBatch> next() override {
    const std::optional<RecordBatch> batch = rows_->next();
    if (!batch) return std::nullopt;
    std::vector<ArrayPtr> columns;
    for (const size_t index : indices_) columns.push_back(batch->column(index));
    return RecordBatch(schema_, batch->row_count(), std::move(columns));
  }
  void close() noexcept override { rows_->close(); }

 private:
  std::unique_ptr<BatchStream> rows_;
  std::vector<size_t> indices_;
  SchemaPtr schema_;
};

}  // namespace

void add_ipc_files(Command& command, std::vector<std::string>& files) {
  command.positionals("FILE", files, "Arrow files and streams, patterns (* ? [) in quotes; - is standard input");
}

std::unique_ptr<ipc::Reader> open_ipc(Session& session, const std::string& path, ipc::ReadOptions options) {
  MemoryPool& pool = session.context().memory_pool();
  options.validation = ipc::Validation::kFull;
  if (path == "-") return ipc::open(descriptor_source(STDIN_FILENO, "standard input"), pool, std::move(options));
  return ipc::open(session.files().open_input(path), pool, std::move(options));
}

std::unique_ptr<BatchStream> open_ipc_columns(Session& session, const std::string& path,
                                              const std::vector<std::string>& columns) {
  std::unique_ptr<ipc::Reader> reader = open_ipc(session, path);
  if (columns.empty()) return reader;
  std::vector<size_t> indices = column_indices(*reader->schema(), columns);
  if (path == "-") return std::make_unique<SelectedColumns>(std::move(reader), std::move(indices));
  return open_ipc(session, path, {.columns = std::move(indices)});
}

std::string_view ipc_format_name(ipc::Format format) {
  return format == ipc::Format::kFile ? "file" : "stream";
}

void for_each_ipc(Session& session, const std::vector<std::string>& arguments, const IpcVisitor& work) {
  const std::vector<std::string> paths = expand_patterns(arguments);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (session.stop().stop_requested()) throw CancelledError();
    try {
      work(paths[i], i, paths.size());
    } catch (Error& error) {
      add_file_context(error, paths[i] == "-" ? "standard input" : paths[i]);
      throw;
    }
  }
}

}  // namespace frazil::cli
