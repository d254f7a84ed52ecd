#include "frazil/parquet/file_reader.h"

#include <algorithm>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/filter.h"
#include "frazil/parquet/file_reader_impl.h"
#include "frazil/predicate/evaluate.h"

namespace frazil::parquet {

namespace {

// Gaps of fewer rows are read and filtered: skipping costs about what decoding them does.
constexpr uint64_t kGapRowsMin = 32;
// Batches of fewer than 1 / kSmall of batch_rows wait for others.
constexpr int64_t kSmall = 4;

size_t bytes_of(const ArrayPtr& array) {
  return RecordBatch(Schema::make({{.name = {}, .type = array->type}}), array->length, {array}).buffer_bytes();
}

RecordBatch join(const std::vector<RecordBatch>& batches, MemoryPool& pool) {
  if (batches.size() == 1) return batches.front();
  int64_t row_count = 0;
  for (const RecordBatch& batch : batches) row_count += batch.row_count();
  std::vector<ArrayPtr> columns;
  for (size_t i = 0; i < batches.front().columns().size(); ++i) {
    std::vector<ArrayPtr> parts;
    parts.reserve(batches.size());
    for (const RecordBatch& batch : batches) parts.push_back(batch.column(i));
    columns.push_back(concatenate(parts, pool));
  }
  return {batches.front().schema(), row_count, std::move(columns)};
}

}  // namespace

void ArrayQueue::push(ArrayPtr array) {
  if (array->length > 0) arrays_.push_back(std::move(array));
}

ArrayPtr ArrayQueue::take(int64_t count, MemoryPool& pool) {
  std::vector<ArrayPtr> parts;
  while (count > 0) {
    ArrayPtr& front = arrays_.front();
    const int64_t part = std::min(count, front->length);
    parts.push_back(part == front->length ? front : front->slice(0, part));
    if (part == front->length) {
      arrays_.pop_front();
    } else {
      front = front->slice(part, front->length - part);
    }
    count -= part;
  }
  return parts.size() == 1 ? parts.front() : concatenate(parts, pool);
}

FileReader::Impl::Impl(std::shared_ptr<const InputFile> file, FileReaderOptions options, MemoryPool& pool,
                       RangeHook hook)
    : file_(std::move(file)), options_(std::move(options)), pool_(pool), hook_(std::move(hook)) {
  metadata_ = options_.metadata;
  if (metadata_ == nullptr) {
    metadata_ =
        options_.cache != nullptr ? options_.cache->read(*file_, options_.file_version) : read_metadata(*file_, pool_);
  }
  decompressor_ = std::make_unique<Decompressor>(pool_);
  check_row_groups();
  choose_columns();
}

void FileReader::Impl::check_row_groups() {
  const auto count = static_cast<int64_t>(metadata_->row_groups().size());
  const int64_t first = options_.first_row_group;
  const int64_t wanted = options_.row_group_count < 0 ? count - first : options_.row_group_count;
  if (first < 0 || first > count || wanted > count - first) {
    throw_error(ErrorKind::kInvalidArgument, "row groups {} + {} of a file that has {}", first, wanted, count);
  }
  if (options_.batch_rows < 1) throw_error(ErrorKind::kInvalidArgument, "batches of {} rows", options_.batch_rows);
  group_ = static_cast<size_t>(first);
  group_end_ = static_cast<size_t>(first + wanted);
  for (size_t i = 0; i < group_; ++i) group_first_row_ += static_cast<uint64_t>(metadata_->row_groups()[i].row_count);
}

void FileReader::Impl::choose_columns() {
  const FileSchema& schema = metadata_->schema();
  if (!options_.columns.empty()) {
    projection_ = options_.columns;
  } else if (options_.projection) {
    projection_ = request_named(schema, *options_.projection, options_.case_sensitive, options_.types);
  } else {
    projection_ = request_columns(schema, options_.types);
  }
  std::vector<Field> stored;
  std::vector<Field> fields;
  bool any_variants = false;
  for (const ColumnRequest& request : projection_) {
    stored.push_back(arrow_field(request));
    const VariantColumn& column = variants_.emplace_back(schema, request);
    fields.push_back(column.field());
    any_variants = any_variants || column.has_variants();
  }
  if (!any_variants) variants_.clear();
  stored_schema_ = Schema::make(std::move(stored));
  schema_ = any_variants ? Schema::make(std::move(fields)) : stored_schema_;
  is_filtering_ = options_.rows.has_value();
  reused_.resize(projection_.size());
  kept_.resize(projection_.size());
  if (options_.predicate == predicate::Predicate()) return;

  predicate::BoundPredicate on_file = predicate::bind_predicate(
      options_.predicate, arrow_schema(schema, options_.types), {.case_sensitive = options_.case_sensitive});
  if (on_file.always_true()) return;
  is_filtering_ = true;
  predicate_ = request_predicate(schema, on_file, options_.types);
  std::vector<std::optional<size_t>> leaves = predicate_leaves(on_file, schema);
  pruner_.emplace(*file_, *metadata_, std::move(on_file), std::move(leaves), options_.pruning, decompressor_.get(),
                  pool_);
  for (size_t i = 0; i < projection_.size(); ++i) {
    const ColumnRequest& wanted = projection_[i];
    for (size_t j = 0; j < predicate_->requests.size() && wanted.kind == ColumnRequest::Kind::kLeaf; ++j) {
      const ColumnRequest& read = predicate_->requests[j];
      if (read.kind == wanted.kind && read.node == wanted.node && read.field.nullable == wanted.field.nullable &&
          read.field.type->equals(*wanted.field.type)) {
        reused_[i] = j;
        any_reused_ = true;
      }
    }
    if (!reused_[i]) not_reused_.push_back(i);
  }
}

FileReaderCounters FileReader::Impl::counters() const {
  FileReaderCounters counters;
  if (pruner_) counters.pruning = pruner_->counters();
  counters.pruning.bytes_read += index_bytes_read_;
  counters.rows_evaluated = rows_evaluated_;
  counters.rows_matched = rows_matched_;
  return counters;
}

RowSelection FileReader::Impl::asked_rows() const {
  const auto row_count = static_cast<uint64_t>(metadata_->row_groups()[group_].row_count);
  const RowSelection all = RowSelection::all(row_count);
  if (!options_.rows) return all;
  if (group_first_row_ > UINT64_MAX - row_count) return {};  // a forged count: no row of the caller's is there
  // Cut first, so that many row groups do not each walk all of the caller's ranges.
  const RowRange group{group_first_row_, group_first_row_ + row_count};
  return RowSelection::of({group}).positions_of(options_.rows->clip(group));
}

// Where the pages of the requests are, so that those without a wanted row are not even passed over. nullptr if every
// row is wanted, or the index is not to be used.
std::shared_ptr<const PageIndex> FileReader::Impl::read_page_index(std::span<const ColumnRequest> requests,
                                                                   const RowSelection& rows) {
  const bool is_all = rows.is_all(static_cast<uint64_t>(metadata_->row_groups()[group_].row_count));
  if (is_all || !options_.pruning.use_page_index) return nullptr;
  const std::vector<size_t> leaves = requested_leaves(metadata_->schema(), requests);
  auto index = std::make_shared<const PageIndex>(PageIndex::read(*file_, *metadata_, group_, leaves, {}, pool_));
  index_bytes_read_ += index->bytes_read();
  return index;
}

BatchReader FileReader::Impl::open_group(std::vector<ColumnRequest> requests, RowSelection rows,
                                         std::shared_ptr<const PageIndex> pages) {
  if (hook_) {
    std::vector<ByteRange> ranges;
    for (size_t leaf : requested_leaves(metadata_->schema(), requests)) {
      const ColumnChunk& chunk = metadata_->row_groups()[group_].columns[leaf];
      if (chunk.encrypted || chunk.in_other_file) continue;  // an error of the reader's
      const ChunkRange range = chunk_range(chunk, *metadata_, file_->size());
      ranges.push_back({range.begin, range.end - range.begin});
    }
    hook_(ranges);
  }
  ReadOptions read;
  read.columns = std::move(requests);
  read.first_row_group = static_cast<int>(group_);
  read.row_group_count = 1;
  read.batch_rows = options_.batch_rows;
  read.batch_bytes_max = options_.batch_bytes_max;
  read.verify_checksums = options_.verify_checksums;
  read.validate_utf8 = options_.validate_utf8;
  read.window_bytes = options_.window_bytes;
  read.decompressor = decompressor_.get();
  if (!rows.is_all(static_cast<uint64_t>(metadata_->row_groups()[group_].row_count))) {
    read.rows = {{.rows = std::move(rows), .pages = std::move(pages)}};
  }
  return {file_, metadata_, std::move(read), pool_};
}

void FileReader::Impl::next_group() {
  group_first_row_ += static_cast<uint64_t>(metadata_->row_groups()[group_].row_count);
  ++group_;
  reader_.reset();
  for (ArrayQueue& queue : kept_) queue.clear();
  phase_ = Phase::kPrune;
}

// Rows are only given out once they are known to be wanted, in the file's order; small batches are joined, so that a
// selective predicate does not make thousands of them.
std::optional<RecordBatch> FileReader::Impl::next() {
  if (!is_filtering_) return produce();
  for (;;) {
    std::optional<RecordBatch> batch = produce();
    if (!batch) return flush();
    rows_matched_ += static_cast<uint64_t>(batch->row_count());
    const bool is_small = batch->row_count() * kSmall < options_.batch_rows;
    if (pending_.empty() && !is_small) return batch;
    pending_rows_ += batch->row_count();
    pending_bytes_ += batch->buffer_bytes();
    pending_.push_back(*std::move(batch));
    if (pending_rows_ * kSmall >= options_.batch_rows || pending_bytes_ * kSmall >= options_.batch_bytes_max) {
      return flush();
    }
  }
}

std::optional<RecordBatch> FileReader::Impl::flush() {
  if (pending_.empty()) return std::nullopt;
  RecordBatch batch = join(pending_, pool_);
  pending_.clear();
  pending_rows_ = 0;
  pending_bytes_ = 0;
  if (batch.row_count() <= options_.batch_rows) return batch;
  // The last one took it past the limit: the rest waits.
  pending_.push_back(batch.slice(options_.batch_rows, batch.row_count() - options_.batch_rows));
  pending_rows_ = pending_.front().row_count();
  pending_bytes_ = pending_.front().buffer_bytes();
  return batch.slice(0, options_.batch_rows);
}

// Before batches are joined, so that each row is put together once.
std::optional<RecordBatch> FileReader::Impl::produce() {
  std::optional<RecordBatch> batch = produce_stored();
  if (!batch || variants_.empty()) return batch;
  std::vector<ArrayPtr> columns;
  for (size_t i = 0; i < variants_.size(); ++i) columns.push_back(variants_[i].assemble(batch->column(i), pool_));
  return RecordBatch(schema_, batch->row_count(), std::move(columns));
}

std::optional<RecordBatch> FileReader::Impl::produce_stored() {
  for (;;) {
    std::optional<RecordBatch> batch;
    switch (phase_) {
      case Phase::kPrune:
        prune();
        break;
      case Phase::kPredicate:
        evaluate_columns();
        break;
      case Phase::kOpen:
        open_rest();
        break;
      case Phase::kRest:
        batch = read_rest();
        break;
      case Phase::kTogether:
        batch = read_together();
        break;
      case Phase::kEnd:
        return std::nullopt;
    }
    if (batch) return batch;
  }
}

void FileReader::Impl::prune() {
  if (group_ == group_end_) {
    phase_ = Phase::kEnd;
    return;
  }
  RowSelection rows = asked_rows();
  bool is_certain = !predicate_;
  std::shared_ptr<const PageIndex> pages;  // of the predicate's columns
  if (!rows.empty() && !is_certain) {
    const RowGroupPruner::Verdict verdict = pruner_->prune(group_);
    rows = rows.intersect(verdict.rows);
    is_certain = verdict.all_match;
    pages = verdict.page_index;
  }
  if (rows.empty()) return next_group();
  position_ = 0;
  if (is_certain) {
    exact_ = std::move(rows);
    keeps_ = false;
    phase_ = Phase::kOpen;
    return;
  }
  if (options_.late_materialization) {
    reader_.emplace(open_group(predicate_->requests, rows, std::move(pages)));
    phase_ = Phase::kPredicate;
  } else {
    std::vector<ColumnRequest> requests = predicate_->requests;
    for (size_t i : not_reused_) requests.push_back(projection_[i]);
    pages = read_page_index(requests, rows);
    reader_.emplace(open_group(std::move(requests), rows, std::move(pages)));
    phase_ = Phase::kTogether;
  }
  rows_ = std::move(rows);
  matched_ = {};
  keeps_ = any_reused_;
  kept_bytes_ = 0;
}

void FileReader::Impl::keep(const RecordBatch& batch, const predicate::Selection& wanted) {
  for (size_t i = 0; i < projection_.size(); ++i) {
    if (!reused_[i]) continue;
    ArrayPtr array = filter(batch.column(*reused_[i]), wanted.bits(), 0, pool_);
    kept_bytes_ += bytes_of(array);
    kept_[i].push(std::move(array));
  }
  if (kept_bytes_ <= options_.kept_bytes_max) return;
  // Reading them again costs less memory.
  keeps_ = false;
  for (ArrayQueue& queue : kept_) queue.clear();
}

void FileReader::Impl::evaluate_columns() {
  while (auto batch = reader_->next()) {
    const predicate::Selection wanted = predicate::evaluate(predicate_->predicate, *batch, pool_);
    const auto count = static_cast<size_t>(batch->row_count());
    if (wanted.selected_count() > 0) {
      for_each_set_run(wanted.bits(), 0, count, [&](size_t start, size_t length) {
        matched_.add({position_ + start, position_ + start + length});
      });
      if (keeps_) keep(*batch, wanted);
    }
    position_ += count;
    rows_evaluated_ += count;
  }
  reader_.reset();
  if (matched_.empty()) return next_group();
  exact_ = rows_.pick(matched_);
  phase_ = Phase::kOpen;
}

void FileReader::Impl::open_rest() {
  std::vector<ColumnRequest> requests;
  for (size_t i = 0; i < projection_.size(); ++i) {
    if (!keeps_ || !reused_[i]) requests.push_back(projection_[i]);
  }
  left_ = exact_.row_count();
  if (!requests.empty()) {
    RowSelection read = exact_.close_gaps(kGapRowsMin);
    std::shared_ptr<const PageIndex> pages = read_page_index(requests, read);
    reader_.emplace(open_group(std::move(requests), read, std::move(pages)));
    is_exact_ = read == exact_;
    if (!is_exact_) picked_ = read.positions_of(exact_);
  }
  position_ = 0;
  phase_ = Phase::kRest;
}

// Rows whose columns are all kept already, or of which only the number is wanted.
std::optional<RecordBatch> FileReader::Impl::give_kept() {
  if (left_ == 0) {
    next_group();
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(std::min<uint64_t>(left_, static_cast<uint64_t>(options_.batch_rows)));
  left_ -= static_cast<uint64_t>(count);
  std::vector<ArrayPtr> columns;
  for (ArrayQueue& queue : kept_) columns.push_back(queue.take(count, pool_));
  return RecordBatch(stored_schema_, count, std::move(columns));
}

std::optional<RecordBatch> FileReader::Impl::read_rest() {
  if (!reader_) return give_kept();
  for (;;) {
    std::optional<RecordBatch> batch = reader_->next();
    if (!batch) {
      next_group();
      return std::nullopt;
    }
    const auto count = static_cast<size_t>(batch->row_count());
    const uint64_t first = position_;
    position_ += count;
    if (!is_exact_) {
      if (!picked_.overlaps({first, first + count})) continue;
      MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(count));
      picked_.set_bits(first, count, bits.as<uint8_t>(), 0);
      batch = filter(*batch, bits.as<uint8_t>(), 0, pool_);
    }
    if (!keeps_) return RecordBatch(stored_schema_, batch->row_count(), batch->columns());
    std::vector<ArrayPtr> columns;
    for (size_t i = 0, read = 0; i < projection_.size(); ++i) {
      columns.push_back(reused_[i] ? kept_[i].take(batch->row_count(), pool_) : batch->column(read++));
    }
    return RecordBatch(stored_schema_, batch->row_count(), std::move(columns));
  }
}

std::optional<RecordBatch> FileReader::Impl::read_together() {
  const size_t predicate_count = predicate_->requests.size();
  for (;;) {
    const std::optional<RecordBatch> batch = reader_->next();
    if (!batch) {
      next_group();
      return std::nullopt;
    }
    const auto& columns = batch->columns();
    const RecordBatch tested(predicate_->predicate.schema(), batch->row_count(),
                             {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(predicate_count)});
    const predicate::Selection wanted = predicate::evaluate(predicate_->predicate, tested, pool_);
    rows_evaluated_ += static_cast<uint64_t>(batch->row_count());
    if (wanted.selected_count() == 0) continue;
    std::vector<ArrayPtr> chosen;
    for (size_t i = 0, read = predicate_count; i < projection_.size(); ++i) {
      chosen.push_back(columns[reused_[i] ? *reused_[i] : read++]);
    }
    return filter(RecordBatch(stored_schema_, batch->row_count(), std::move(chosen)), wanted.bits(), 0, pool_);
  }
}

FileReader::FileReader(std::shared_ptr<const InputFile> file, FileReaderOptions options, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(std::move(file), std::move(options), pool)) {}
FileReader::~FileReader() = default;
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;

const SchemaPtr& FileReader::schema() const {
  return impl_->schema();
}

const std::shared_ptr<const FileMetadata>& FileReader::metadata() const {
  return impl_->metadata();
}

std::optional<RecordBatch> FileReader::next() {
  return impl_->next();
}

FileReaderCounters FileReader::counters() const {
  return impl_->counters();
}

}  // namespace frazil::parquet
