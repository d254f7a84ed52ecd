// How fast does Arrow C++ read and write its own format? Out of the pyarrow wheel; words and figures: ipc_runner.h.
#include <memory>
#include <optional>

#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>

#include "ipc_runner.h"

namespace {

using ipc_bench::Request;
using ipc_bench::Totals;

template <typename T>
T value(arrow::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return std::move(result).ValueUnsafe();
}

void check(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// A pipe as Arrow's streams take it: reads of what is there, until all that was asked for has come.
class PipeInput final : public arrow::io::InputStream {
 public:
  explicit PipeInput(int descriptor) : descriptor_(descriptor) {}
  ~PipeInput() override { ::close(descriptor_); }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    int64_t done = 0;
    while (done < size) {
      const ssize_t count = ::read(descriptor_, static_cast<char*>(out) + done, static_cast<size_t>(size - done));
      if (count < 0) return arrow::Status::IOError("read");
      if (count == 0) break;
      done += count;
    }
    position_ += done;
    return done;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size));
    ARROW_ASSIGN_OR_RAISE(const int64_t count, Read(size, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(count, false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

 private:
  int descriptor_;
  int64_t position_ = 0;
};

void take(const arrow::ArrayData& data, bool touch, Totals& totals) {
  for (const auto& buffer : data.buffers)
    if (buffer) ipc_bench::take(buffer->data(), buffer->size(), touch, totals);
  for (const auto& child : data.child_data) take(*child, touch, totals);
  if (data.dictionary) take(*data.dictionary, touch, totals);
}

class Reader {
 public:
  explicit Reader(const Request& request) : request_(request), options_(arrow::ipc::IpcReadOptions::Defaults()) {
    options_.use_threads = request.threads > 1;
    if (request.column >= 0) options_.included_fields = {request.column};
    for (const std::string& path : ipc_bench::files_of(request.path)) {
      const bool in_memory = request.input == "memory" || request.input == "pipe";
      sources_.push_back({path, in_memory ? ipc_bench::contents(path) : std::string(), nullptr});
    }
    for (Source& source : sources_) source.buffer = std::make_shared<arrow::Buffer>(source.bytes);
  }

  Totals all() const {
    Totals totals;
    for (const Source& source : sources_) {
      ++totals.files;
      read(source, [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
        if (request_.validate_full) check(batch->ValidateFull());
        ++totals.batches;
        totals.rows += batch->num_rows();
        for (int c = 0; c < batch->num_columns(); ++c) take(*batch->column_data(c), request_.touch, totals);
      });
    }
    return totals;
  }

  std::vector<std::shared_ptr<arrow::RecordBatch>> batches() const {
    std::vector<std::shared_ptr<arrow::RecordBatch>> found;
    for (const Source& source : sources_)
      read(source, [&](const std::shared_ptr<arrow::RecordBatch>& batch) { found.push_back(batch); });
    return found;
  }

 private:
  struct Source {
    std::string path, bytes;
    std::shared_ptr<arrow::Buffer> buffer;
  };

  std::shared_ptr<arrow::io::RandomAccessFile> open(const Source& source) const {
    if (request_.input == "mmap")
      return value(arrow::io::MemoryMappedFile::Open(source.path, arrow::io::FileMode::READ));
    if (request_.input == "file") return value(arrow::io::ReadableFile::Open(source.path));
    return std::make_shared<arrow::io::BufferReader>(source.buffer);
  }

  template <typename Take>
  void read(const Source& source, Take&& take_batch) const {
    if (request_.format == "file") {
      const auto reader = value(arrow::ipc::RecordBatchFileReader::Open(open(source), options_));
      const int count = request_.first_batch ? 1 : reader->num_record_batches();
      for (int b = 0; b < count; ++b) take_batch(value(reader->ReadRecordBatch(b)));
      return;
    }
    std::optional<ipc_bench::PipeProducer> producer;
    std::shared_ptr<arrow::io::InputStream> input;
    if (request_.input == "pipe") {
      producer.emplace(source.bytes);
      input = std::make_shared<PipeInput>(producer->read_end());
    } else {
      input = open(source);
    }
    const auto reader = value(arrow::ipc::RecordBatchStreamReader::Open(std::move(input), options_));
    std::shared_ptr<arrow::RecordBatch> batch;
    while (true) {
      check(reader->ReadNext(&batch));
      if (!batch) return;
      take_batch(batch);
      batch.reset();
      if (request_.first_batch) return;
    }
  }

  const Request request_;
  arrow::ipc::IpcReadOptions options_;
  std::vector<Source> sources_;
};

Totals write(const Request& request, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = request.threads > 1;
  options.unify_dictionaries = true;
  if (!request.codec.empty())
    options.codec = value(
        arrow::util::Codec::Create(request.codec == "zstd" ? arrow::Compression::ZSTD : arrow::Compression::LZ4_FRAME));
  std::shared_ptr<arrow::io::OutputStream> sink;
  if (request.to == "memory")
    sink = value(arrow::io::BufferOutputStream::Create());
  else
    sink = value(arrow::io::FileOutputStream::Open(request.to));
  const auto& schema = batches.at(0)->schema();
  const auto writer = value(request.format == "file" ? arrow::ipc::MakeFileWriter(sink, schema, options)
                                                     : arrow::ipc::MakeStreamWriter(sink, schema, options));
  Totals totals;
  for (const auto& batch : batches) {
    check(writer->WriteRecordBatch(*batch));
    totals.rows += batch->num_rows();
    ++totals.batches;
  }
  check(writer->Close());
  totals.files = 1;
  totals.bytes_written = value(sink->Tell());
  check(sink->Close());
  return totals;
}

void run(const Request& request) {
  check(arrow::SetCpuThreadPoolCapacity(request.threads));
  Request reading = request;
  if (request.operation == "write") reading.format = "stream";
  const Reader reader(reading);
  const auto allocations = [] {
    return ipc_bench::new_calls.load() + static_cast<uint64_t>(arrow::default_memory_pool()->num_allocations());
  };
  if (request.operation == "write") {
    const auto batches = reader.batches();
    ipc_bench::measure(request, [&] { return write(request, batches); }, allocations);
  } else if (request.hash) {
    ArrowArrayStream stream;
    check(arrow::ExportRecordBatchReader(value(arrow::RecordBatchReader::Make(reader.batches())), &stream));
    ipc_bench::print_content_hash(request, &stream);
  } else {
    ipc_bench::measure(request, [&] { return reader.all(); }, allocations);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return ipc_bench::main_of(argc, argv, run);
}
