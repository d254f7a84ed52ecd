// PartitionFiles: the data files of one partition, one open at a time: row groups in, published files out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/base/mutex.h"
#include "frazil/manifest/data_file.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/spec/schema.h"
#include "frazil/write/data_paths.h"
#include "frazil/write/deferred_file.h"
#include "frazil/write/metrics_config.h"

namespace frazil::write {

// What all files of one writer have in common. Thread-safe.
class FileFactory {
 public:
  struct Options {
    uint64_t target_file_bytes = 0;
    OutputFile::PublishOptions publish = {};
    int32_t spec_id = 0;
    int32_t sort_order_id = 0;
  };
  // All outlive it.
  FileFactory(DeferredFiles& deferred, const DataPaths& paths, const spec::Schema& schema, const MetricsConfig& metrics,
              parquet::WritePlanPtr plan, Options options)
      : deferred_(deferred),
        paths_(paths),
        schema_(schema),
        metrics_(metrics),
        plan_(std::move(plan)),
        options_(options) {}

  const Options& options() const { return options_; }
  // Removes what was published. Errors are passed over: nothing more can be done.
  void remove_published() noexcept;

 private:
  friend class PartitionFiles;
  std::string new_path(std::span<const spec::Literal> partition);
  // Called before a file is published: a call that fails may have done its work.
  void note_published(const std::string& path);

  DeferredFiles& deferred_;
  const DataPaths& paths_;
  const spec::Schema& schema_;
  const MetricsConfig& metrics_;
  const parquet::WritePlanPtr plan_;
  const Options options_;
  std::atomic<uint64_t> file_count_ = 0;
  Mutex mutex_;
  std::vector<std::string> published_ GUARDED_BY(mutex_);
};

// One thread at a time.
class PartitionFiles {
 public:
  PartitionFiles(FileFactory& factory, std::vector<spec::Literal> partition)
      : factory_(factory), partition_(std::move(partition)) {}

  // Begins a file if none is open, and finishes it when it has reached the target size.
  void append_row_group(int64_t rows, std::vector<parquet::EncodedChunk> chunks);
  // Whole batches instead, in a file that the next finish() ends.
  void write(const RecordBatch& batch);
  // Publishes the open file, if any.
  void finish();
  void abort() noexcept;

  bool has_open_file() const { return writer_ != nullptr; }
  uint64_t file_bytes() const { return writer_ == nullptr ? 0 : writer_->bytes_written(); }
  // Of the open file, kept in memory because it is not opened yet.
  size_t memory_bytes() const { return writer_ == nullptr ? 0 : file_->memory_bytes(); }
  bool is_file_opened() const { return writer_ != nullptr && file_->is_open(); }
  void open_file() { file_->open(); }
  std::vector<manifest::DataFile>& finished() { return finished_; }

 private:
  void begin();

  FileFactory& factory_;
  std::vector<spec::Literal> partition_;
  DeferredFile* file_ = nullptr;  // the writer's
  std::unique_ptr<parquet::FileWriter> writer_;
  std::vector<manifest::DataFile> finished_;
};

}  // namespace frazil::write
