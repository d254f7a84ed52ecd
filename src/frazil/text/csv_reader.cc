#include <algorithm>
#include <atomic>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/json/value.h"
#include "frazil/text/inferred_type.h"
#include "frazil/text/text_reader.h"
#include "frazil/text/value_text.h"

namespace frazil::text {
namespace {

class CsvReader final : public BatchStream {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, TextOptions options, MemoryPool& pool)
      : pool_(pool),
        options_(std::move(options)),
        window_(std::move(source), pool),
        records_(window_, options_.csv),
        is_inferred_(options_.schema == nullptr) {
    with_source([&] {
      read_head();
      if (options_.schema == nullptr) infer_types();
      for (const Field& field : fields_) append_.push_back(append_text_for(field));
    });
    schema_ = Schema::make(fields_);
  }

  const SchemaPtr& schema() const override { return schema_; }
  void close() noexcept override { closed_ = true; }

  std::optional<RecordBatch> next() override {
    if (closed_) return std::nullopt;
    std::vector<std::unique_ptr<ArrayBuilder>> builders;
    for (const Field& field : fields_) builders.push_back(make_builder(field.type, pool_));
    int64_t rows = 0;
    with_source([&] {
      while (rows < options_.batch_rows && next_record()) {
        for (size_t i = 0; i < fields_.size(); ++i) append(*builders[i], i, records_.fields()[i]);
        ++rows;
      }
    });
    if (rows == 0) return std::nullopt;
    std::vector<ArrayPtr> columns;
    for (const auto& builder : builders) columns.push_back(builder->finish());
    return RecordBatch(schema_, rows, std::move(columns));
  }

 private:
  template <typename Read>
  void with_source(Read read) {
    try {
      read();
    } catch (Error& error) {
      error.add_context(message("reading {}", window_.source().name()));
      throw;
    }
  }

  std::string place() const { return message("row {}, line {}", records_.row(), records_.line()); }

  // Quoted or not, nothing at all is no value of a number; programs that quote every field mean null by it.
  bool is_null(const Field& column, const CsvField& field) const {
    if (field.text.empty()) return !field.quoted || !is_bytes(column.type->id());
    return !field.quoted &&
           std::find(options_.csv_nulls.begin(), options_.csv_nulls.end(), field.text) != options_.csv_nulls.end();
  }

  // An empty line is the null of a file of one column.
  bool next_record() {
    while (records_.next()) {
      if (records_.is_empty_line() && fields_.size() > 1) continue;
      if (records_.fields().size() != fields_.size()) {
        throw_error(ErrorKind::kInvalidArgument, "{}: {} fields instead of {}", place(), records_.fields().size(),
                    fields_.size());
      }
      return true;
    }
    return false;
  }

  void read_head() {
    std::vector<std::string> names;
    if (options_.csv_header) {
      if (!records_.next()) throw_error(ErrorKind::kInvalidArgument, "there is no header: the text is empty");
      for (const CsvField& field : records_.fields()) names.emplace_back(field.text);
    } else if (options_.schema != nullptr) {
      for (const Field& field : options_.schema->fields()) names.push_back(field.name);
    } else {
      records_.begin_sample();
      const size_t count = records_.next() ? records_.fields().size() : 0;
      records_.rewind();
      for (size_t i = 0; i < count; ++i) names.push_back(message("f{}", i));
    }
    for (std::string& name : names) {
      if (std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; })) {
        throw_error(ErrorKind::kInvalidArgument, "two columns have the name '{}'", name);
      }
      const auto index = options_.schema != nullptr ? options_.schema->index_of(name) : std::nullopt;
      fields_.push_back(index ? options_.schema->field(*index)
                              : Field{.name = std::move(name), .type = primitive(TypeId::kUtf8)});
    }
  }

  void infer_types() {
    std::vector<InferredType> types(fields_.size());
    records_.begin_sample();
    const uint64_t start = records_.end_offset();
    while (records_.end_offset() - start < options_.sample_bytes && next_record()) {
      for (size_t i = 0; i < types.size(); ++i) {
        const CsvField& field = records_.fields()[i];
        if (!field.text.empty() && !is_null(fields_[i], field)) types[i].add_text(field.text);
      }
    }
    records_.rewind();
    for (size_t i = 0; i < types.size(); ++i) fields_[i].type = types[i].type();
  }

  void append(ArrayBuilder& builder, size_t column, const CsvField& field) {
    const Field& target = fields_[column];
    try {
      if (is_null(target, field)) {
        if (!target.nullable) throw_error(ErrorKind::kInvalidArgument, "'{}' is required, found nothing", target.name);
        builder.append_null();
        return;
      }
      if (append_[column](builder, target, field.text)) return;
    } catch (Error& error) {
      error.add_context(message("at {}", place()));
      throw;
    }
    Error error(ErrorKind::kInvalidArgument, message("{}, column '{}': {} is {}", place(), target.name,
                                                     json::quote(field.text.substr(0, 100)), not_a(target)));
    error.set_hint(std::string("if the text stands for null, say so (--null)") +
                   (is_inferred_ ? "; the type came from a sample: if it is wrong, give the schema" : ""));
    throw error;
  }

  MemoryPool& pool_;
  TextOptions options_;
  InputWindow window_;
  CsvRecords records_;
  const bool is_inferred_;
  std::vector<Field> fields_;
  std::vector<AppendText> append_;
  SchemaPtr schema_;
  std::atomic<bool> closed_ = false;
};

}  // namespace

std::unique_ptr<BatchStream> read_csv(std::unique_ptr<ByteSource> source, TextOptions options, MemoryPool& pool) {
  return std::make_unique<CsvReader>(std::move(source), std::move(options), pool);
}

}  // namespace frazil::text
