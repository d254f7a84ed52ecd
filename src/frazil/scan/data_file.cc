#include "frazil/scan/data_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "frazil/base/error.h"
#include "frazil/scan/file_format.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

std::unique_ptr<FormatReader> open_reader(const ReadSetup& setup, const Task& task, MemoryPool& pool,
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
auto with_context(const Task& task, Function&& function) {
  try {
    return function();
  } catch (Error& error) {
    error.add_context("reading " + task.path);
    throw;
  }
}

// An upper bound of the pool's bytes for `rows` times the value.
size_t constant_bytes(const spec::Literal& value, const DataType& type, int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  size_t bytes = MemoryPool::block_bytes(count / 8 + 1);
  if (const auto* text = std::get_if<std::string>(&value.value())) {
    return bytes + MemoryPool::block_bytes(count * 4 + 4) + MemoryPool::block_bytes(count * text->size());
  }
  return bytes + MemoryPool::block_bytes(count * std::max<size_t>(static_cast<size_t>(type.byte_width()), 4) + 4);
}

}  // namespace

DataFileReader::DataFileReader(const ReadSetup& setup, const Task& task, MemoryPool& pool)
    : setup_(&setup),
      task_(&task),
      pool_(&pool),
      reader_(with_context(task, [&] { return open_reader(setup, task, pool, sources_); })),
      constant_rows_(std::clamp<int64_t>(task.record_count, 1, setup.batch_rows)) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].column) continue;
    constant_bytes_ += constant_bytes(sources_[i].constant, *setup.arrow_schema->field(i).type, constant_rows_);
  }
}

DataFileReader::~DataFileReader() = default;

parquet::BatchReader::MemoryNeeds DataFileReader::memory_needs(bool exact) const {
  auto needs = with_context(*task_, [&] { return reader_->memory_needs(exact); });
  needs.working_bytes += constant_bytes_;
  return needs;
}

size_t DataFileReader::bytes_in_use() const {
  return reader_->bytes_in_use() + (constants_.empty() ? 0 : constant_bytes_);
}

DataFileReader::Step DataFileReader::step(Reservation& reservation, std::optional<RecordBatch>& out) {
  return with_context(*task_, [&] {
    if (constants_.empty() && !make_constants(reservation)) return Step::kNeedMemory;
    std::optional<RecordBatch> decoded;
    const Step result = reader_->step(reservation, decoded);
    if (result == Step::kNeedMemory) needed_bytes_ = reader_->needed_bytes();
    if (result != Step::kBatch) return result;
    const int64_t row_count = decoded->row_count();
    std::vector<ArrayPtr> columns;
    columns.reserve(sources_.size());
    size_t next = 0;  // of the decoded columns
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i].column) {
        columns.push_back(decoded->column(next++));
        continue;
      }
      if (constants_[i]->length < row_count) {
        // The manifest's record count is too low; the footer's counts.
        constants_[i] = spec::make_constant_array(sources_[i].constant, setup_->batch_rows, *pool_);
      }
      columns.push_back(constants_[i]->length == row_count ? constants_[i] : constants_[i]->slice(0, row_count));
    }
    out.emplace(setup_->arrow_schema, row_count, std::move(columns));
    return result;
  });
}

bool DataFileReader::make_constants(Reservation& reservation) {
  std::vector<ArrayPtr> constants(sources_.size());
  if (constant_bytes_ > 0) {
    if (reservation.available() < constant_bytes_ && !reservation.try_grow(constant_bytes_ - reservation.available())) {
      needed_bytes_ = constant_bytes_;
      return false;
    }
    // Constants are made in the pool at large: give it the room.
    reservation.shrink(reservation.available() - constant_bytes_);
    try {
      for (size_t i = 0; i < sources_.size(); ++i) {
        if (!sources_[i].column) constants[i] = spec::make_constant_array(sources_[i].constant, constant_rows_, *pool_);
      }
    } catch (const MemoryLimitError&) {
      needed_bytes_ = constant_bytes_;
      return false;
    }
  }
  constants_ = std::move(constants);
  return true;
}

}  // namespace frazil::scan
