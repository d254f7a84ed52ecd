#include <algorithm>
#include <memory>
#include <utility>

#include "row_writers.h"

#include "frazil/base/error.h"
#include "frazil/parquet/file_writer.h"

namespace frazil::cli {
namespace {

// Standard output as the file that a writer of files wants. What is written cannot be taken back.
class StreamFile final : public OutputFile {
 public:
  explicit StreamFile(OutputStream& out) : out_(out) {}
  const std::string& path() const override { return path_; }
  void write(std::span<const std::byte> bytes) override {
    out_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    bytes_written_ += bytes.size();
  }
  uint64_t bytes_written() const override { return bytes_written_; }
  void publish(PublishOptions) override {}
  void abort() noexcept override {}

 private:
  std::string path_ = "standard output";
  OutputStream& out_;
  uint64_t bytes_written_ = 0;
};

class ParquetRowWriter final : public RowWriter {
 public:
  ParquetRowWriter(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options)
      : limit_(options.limit.value_or(INT64_MAX)),
        writer_(std::make_unique<StreamFile>(out), std::move(schema), parquet::WriterOptions(), *options.pool) {}

  void write(const RecordBatch& batch) override {
    const int64_t rows = std::min(batch.row_count(), rows_wanted());
    if (rows > 0) writer_.write(rows == batch.row_count() ? batch : batch.slice(0, rows));
  }
  void finish(std::optional<int64_t>) override { writer_.finish(); }
  int64_t rows_wanted() const override { return std::max<int64_t>(0, limit_ - writer_.row_count()); }
  int64_t rows_written() const override { return writer_.row_count(); }

 private:
  int64_t limit_;
  parquet::FileWriter writer_;
};

}  // namespace

std::unique_ptr<RowWriter> make_parquet_row_writer(SchemaPtr schema, OutputStream& out,
                                                   const RowWriterOptions& options) {
  return std::make_unique<ParquetRowWriter>(std::move(schema), out, options);
}

}  // namespace frazil::cli
