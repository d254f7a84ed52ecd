#include <algorithm>
#include <memory>
#include <utility>

#include "output_sink.h"
#include "row_writers.h"

#include "frazil/ipc/stream_writer.h"

namespace frazil::cli {
namespace {

class ArrowRowWriter final : public RowWriter {
 public:
  ArrowRowWriter(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options)
      : limit_(options.limit.value_or(INT64_MAX)),
        writer_(std::make_unique<OutputSink>(out), std::move(schema), *options.pool) {}

  void write(const RecordBatch& batch) override {
    const int64_t rows = std::min(batch.row_count(), rows_wanted());
    if (rows <= 0) return;
    writer_.write(rows == batch.row_count() ? batch : batch.slice(0, rows));
    rows_ += rows;
  }
  void finish(std::optional<int64_t>) override { writer_.finish(); }
  int64_t rows_wanted() const override { return std::max<int64_t>(0, limit_ - rows_); }
  int64_t rows_written() const override { return rows_; }

 private:
  int64_t limit_;
  int64_t rows_ = 0;
  ipc::StreamWriter writer_;
};

}  // namespace

std::unique_ptr<RowWriter> make_arrow_row_writer(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options) {
  return std::make_unique<ArrowRowWriter>(std::move(schema), out, options);
}

}  // namespace frazil::cli
