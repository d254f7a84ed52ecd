#include "frazil/scan/data_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/scan/file_format.h"

namespace frazil::scan {

namespace {

std::unique_ptr<FormatFile> open_file(const ReadSetup& setup, const Task& task, MemoryPool& pool,
                                      std::vector<ColumnSource>& sources) {
  const auto* spec = setup.metadata->find_spec(task.spec_id);
  if (spec == nullptr) {
    throw_corrupt(CorruptError::kNoOffset, "the file's partition spec {} is not in the table's metadata", task.spec_id);
  }
  const FileContext context{.table_schema = *setup.table_schema,
                            .spec = *spec,
                            .partition = task.partition,
                            .name_mapping = setup.name_mapping ? &*setup.name_mapping : nullptr};
  if (task.format == "parquet") return open_parquet(setup, task, context, pool, sources);
  if (task.format == "avro") return open_avro(setup, task, context, pool, sources);
  throw_error(ErrorKind::kUnsupported, "data files of format {} are not read yet", task.format);
}

template <typename Function>
auto with_context(const std::string& path, Function&& function) {
  try {
    return function();
  } catch (Error& error) {
    error.add_context("reading " + path);
    throw;
  }
}

}  // namespace

DataFile::DataFile(const ReadSetup& setup, const Task& task, MemoryPool& pool)
    : path_(task.path),
      constant_rows_(std::clamp<int64_t>(task.record_count, 1, setup.batch_rows)),
      schema_(setup.arrow_schema) {
  with_context(path_, [&] { file_ = open_file(setup, task, pool, sources_); });
}

DataFile::~DataFile() = default;

size_t DataFile::part_count() const {
  return file_->part_count();
}

DataFileReader::DataFileReader(std::shared_ptr<DataFile> file, const Part& part, MemoryPool& pool)
    : file_(std::move(file)),
      reader_(with_context(file_->path_, [&] { return file_->file_->open_part(part, pool); })),
      assembler_(file_->sources_, file_->schema_) {}

DataFileReader::~DataFileReader() = default;

parquet::BatchReader::MemoryNeeds DataFileReader::memory_needs(bool exact) const {
  auto needs = with_context(path(), [&] { return reader_->memory_needs(exact); });
  needs.working_bytes += assembler_.constant_bytes(file_->constant_rows_);
  return needs;
}

size_t DataFileReader::bytes_in_use() const {
  return reader_->bytes_in_use() + assembler_.bytes_in_use() + (decoded_ ? decoded_->buffer_bytes() : 0);
}

size_t DataFileReader::spared_bytes() const {
  return reader_->spared_bytes();
}

void DataFileReader::use_lanes(const parquet::Lanes& lanes) {
  reader_->use_lanes(lanes);
}

DataFileReader::Step DataFileReader::step(Reservation& reservation, std::optional<RecordBatch>& out) {
  return with_context(path(), [&] {
    // Ahead of the first batch: what can be promised then is not in the way of one that is decoded.
    if (!has_constants_) {
      const auto make = [&](MemoryPool& pool) { assembler_.make_constants(file_->constant_rows_, pool); };
      if (!draw(reservation, make)) return Step::kNeedMemory;
      has_constants_ = true;
    }
    if (!decoded_) {
      const Step result = reader_->step(reservation, decoded_);
      if (result == Step::kNeedMemory) needed_bytes_ = reader_->needed_bytes();
      if (result != Step::kBatch) return result;
    }
    const auto assemble = [&](MemoryPool& pool) { out.emplace(assembler_.assemble(*decoded_, pool)); };
    if (!draw(reservation, assemble)) return Step::kNeedMemory;
    decoded_.reset();
    return Step::kBatch;
  });
}

template <typename Work>
bool DataFileReader::draw(Reservation& reservation, Work&& work) {
  MemoryPool pool(reservation);
  try {
    work(pool);
    return true;
  } catch (const MemoryLimitError&) {
    needed_bytes_ = pool.asked_bytes();
    return false;
  }
}

}  // namespace frazil::scan
