#include <algorithm>
#include <atomic>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/json/value.h"
#include "frazil/text/inferred_type.h"
#include "frazil/text/input_window.h"
#include "frazil/text/text_reader.h"
#include "frazil/text/value_text.h"

namespace frazil::text {
namespace {

class JsonLinesReader final : public BatchStream {
 public:
  JsonLinesReader(std::unique_ptr<ByteSource> source, const TextOptions& options, MemoryPool& pool)
      : pool_(pool),
        schema_(options.schema),
        is_inferred_(options.schema == nullptr),
        batch_rows_(options.batch_rows),
        complete_row_(options.complete_row),
        window_(std::move(source), pool) {
    if (schema_ == nullptr) schema_ = infer_schema(options.sample_bytes);
  }

  const SchemaPtr& schema() const override { return schema_; }
  void close() noexcept override { closed_ = true; }

  std::optional<RecordBatch> next() override {
    if (closed_) return std::nullopt;
    std::vector<std::unique_ptr<ArrayBuilder>> builders;
    for (const Field& field : schema_->fields()) builders.push_back(make_builder(field.type, pool_));
    int64_t rows = 0;
    while (rows < batch_rows_ && next_row([&](json::Value& row) { append(builders, row); })) ++rows;
    if (rows == 0) return std::nullopt;
    std::vector<ArrayPtr> columns;
    for (const auto& builder : builders) columns.push_back(builder->finish());
    return RecordBatch(schema_, rows, std::move(columns));
  }

 private:
  // Calls take(object) for the next line that is not empty; false at the end.
  template <typename Take>
  bool next_row(Take take) {
    try {
      while (const auto line = next_line()) {
        if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
        json::Value row = json::parse(*line, {.max_bytes = InputWindow::kRecordBytesMax, .pool = &pool_});
        if (!row.is_object()) throw_corrupt(window_.offset(), "expected an object, found {}", to_string(row.kind()));
        take(row);
        return true;
      }
    } catch (Error& error) {
      error.add_context(message("at line {}", line_));
      error.add_context(message("reading {}", window_.source().name()));
      throw;
    }
    return false;
  }

  std::optional<std::string_view> next_line() {
    window_.consume(line_bytes_);
    line_bytes_ = 0;
    ++line_;
    size_t searched = 0;
    while (true) {
      const std::string_view text = window_.text();
      const size_t end = text.find('\n', searched);
      if (end != std::string_view::npos) {
        line_bytes_ = end + 1;
        return text.substr(0, end);
      }
      searched = text.size();
      if (!window_.more()) break;
    }
    if (window_.text().empty()) return std::nullopt;
    line_bytes_ = window_.text().size();
    return window_.text();
  }

  SchemaPtr infer_schema(size_t sample_bytes) {
    InferredType type;
    window_.begin_sample();
    const uint64_t start = window_.offset();
    while (window_.offset() + line_bytes_ - start < sample_bytes &&
           next_row([&](const json::Value& row) { type.add_json(row); })) {
    }
    window_.rewind();
    line_bytes_ = 0;
    line_ = 0;
    return Schema::make(type.fields());
  }

  void append(std::vector<std::unique_ptr<ArrayBuilder>>& builders, json::Value& row) {
    if (complete_row_) complete_row_(row);
    size_t found = 0;
    for (size_t i = 0; i < builders.size(); ++i) {
      const Field& field = schema_->field(i);
      const json::Value* value = row.find(field.name);
      if (value != nullptr) ++found;
      append_json(*builders[i], field, value != nullptr ? *value : json::Value());
    }
    if (found == row.as_object().size()) return;
    for (const auto& [key, value] : row.as_object()) {
      if (schema_->index_of(key)) continue;
      Error error(ErrorKind::kInvalidArgument, message("there is no column '{}'", key));
      if (is_inferred_) error.set_hint("the columns came from a sample: give the schema");
      throw error;
    }
  }

  MemoryPool& pool_;
  SchemaPtr schema_;
  const bool is_inferred_;
  const int64_t batch_rows_;
  const std::function<void(json::Value& row)> complete_row_;
  InputWindow window_;
  size_t line_bytes_ = 0;  // of the line at hand, dropped by the next one
  uint64_t line_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace

std::unique_ptr<BatchStream> read_json_lines(std::unique_ptr<ByteSource> source, const TextOptions& options,
                                             MemoryPool& pool) {
  return std::make_unique<JsonLinesReader>(std::move(source), options, pool);
}

}  // namespace frazil::text
