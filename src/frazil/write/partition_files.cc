#include "frazil/write/partition_files.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/write/metrics.h"

namespace frazil::write {

std::string FileFactory::new_path(std::span<const spec::Literal> partition) {
  return paths_.path(partition, ++file_count_);
}

void FileFactory::note_published(const std::string& path) {
  const MutexLock lock(mutex_);
  published_.push_back(path);
}

void FileFactory::remove_published() noexcept {
  const MutexLock lock(mutex_);
  for (const std::string& path : published_) {
    try {
      deferred_.files->remove(path);
    } catch (const std::exception&) {
      continue;
    }
  }
  published_.clear();
}

void PartitionFiles::begin() {
  if (writer_ != nullptr) return;
  auto file = std::make_unique<DeferredFile>(factory_.new_path(partition_), factory_.deferred_);
  file_ = file.get();
  writer_ = std::make_unique<parquet::FileWriter>(std::move(file), factory_.plan_, *factory_.deferred_.pool);
}

void PartitionFiles::append_row_group(int64_t rows, std::vector<parquet::EncodedChunk> chunks) {
  begin();
  writer_->append_row_group(rows, std::move(chunks));
  if (writer_->bytes_written() >= factory_.options_.target_file_bytes) finish();
}

void PartitionFiles::write(const RecordBatch& batch) {
  begin();
  writer_->write(batch);
}

void PartitionFiles::finish() {
  if (writer_ == nullptr) return;
  manifest::DataFile data_file;
  data_file.path = writer_->path();
  data_file.spec_id = factory_.options_.spec_id;
  data_file.sort_order_id = factory_.options_.sort_order_id;
  data_file.partition = partition_;
  factory_.note_published(data_file.path);
  try {
    const parquet::FileSummary summary = writer_->finish(factory_.options_.publish);
    add_metrics(data_file, summary, factory_.schema_, factory_.metrics_);
  } catch (Error& error) {
    error.add_context(message("writing {}", data_file.path));
    throw;
  }
  writer_ = nullptr;
  file_ = nullptr;
  finished_.push_back(std::move(data_file));
}

void PartitionFiles::abort() noexcept {
  if (writer_ != nullptr) writer_->abort();
  writer_ = nullptr;
  file_ = nullptr;
}

}  // namespace frazil::write
