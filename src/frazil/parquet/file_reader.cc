#include "frazil/parquet/file_reader.h"

#include <algorithm>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/filter.h"
#include "frazil/parquet/dictionary_columns.h"
#include "frazil/parquet/embedded_schema.h"
#include "frazil/parquet/file_reader_impl.h"
#include "frazil/predicate/evaluate.h"

namespace frazil::parquet {

namespace {

// Gaps of fewer rows are read and filtered: skipping costs about what decoding them does.
constexpr uint64_t kGapRowsMin = 32;
// Batches of fewer than 1 / kSmall of batch_rows wait for others.
constexpr int kSmall = 4;
// Of a reservation, left to its pool for codecs and lists that charge it: the first try and the last.
constexpr size_t kLeftToPoolFirst = size_t{256} << 10;
constexpr size_t kLeftToPoolMax = size_t{64} << 20;

template <typename T>
T small_part(T whole) {
  return whole / kSmall + (whole % kSmall != 0 ? 1 : 0);
}

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

ArrayPtr ArrayQueue::front(int64_t count, MemoryPool& pool) const {
  std::vector<ArrayPtr> parts;
  for (auto array = arrays_.begin(); count > 0; ++array) {
    const int64_t part = std::min(count, (*array)->length);
    parts.push_back(part == (*array)->length ? *array : (*array)->slice(0, part));
    count -= part;
  }
  return parts.size() == 1 ? parts.front() : concatenate(parts, pool);
}

void ArrayQueue::drop(int64_t count) {
  while (count > 0) {
    ArrayPtr& front = arrays_.front();
    const int64_t part = std::min(count, front->length);
    count -= part;
    if (part == front->length) {
      arrays_.pop_front();
    } else {
      front = front->slice(part, front->length - part);
    }
  }
}

FileReader::Impl::Impl(std::shared_ptr<const InputFile> file, FileReaderOptions options, MemoryPool& pool,
                       RangeHook hook)
    : file_(std::move(file)), options_(std::move(options)), pool_(pool), hook_(std::move(hook)) {
  metadata_ = options_.metadata;
  if (metadata_ == nullptr) {
    metadata_ =
        options_.cache != nullptr ? options_.cache->read(*file_, options_.file_version) : read_metadata(*file_, pool_);
  }
  decompressor_ = options_.decompressor;
  if (decompressor_ == nullptr) {
    own_decompressor_ = std::make_unique<Decompressor>(pool_);
    decompressor_ = own_decompressor_.get();
  }
  check_row_groups();
  choose_columns();
  choose_predicate();
  if (is_filtering_ || hook_) return;
  reader_.emplace(open_all(projection_));
  phase_ = Phase::kPlain;
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
  Metadata schema_metadata;
  if (options_.columns.empty()) schema_metadata = refine_columns();
  choose_forms(std::move(schema_metadata));
  is_filtering_ = options_.rows.has_value();
  reused_.resize(projection_.size());
  kept_.resize(projection_.size());
}

void FileReader::Impl::choose_forms(Metadata schema_metadata) {
  std::vector<Field> stored;
  std::vector<Field> fields;
  bool any_variants = false;
  bool any_forms = false;
  uint64_t null_row_bytes = 0;
  for (const ColumnRequest& request : projection_) {
    stored.push_back(arrow_field(request));
    const VariantColumn& variants = variants_.emplace_back(metadata_->schema(), request);
    const ListForms& forms = list_forms_.emplace_back(request, variants.field());
    fields.push_back(forms.field());
    any_variants = any_variants || variants.has_variants();
    any_forms = any_forms || forms.has_forms();
    if (__builtin_add_overflow(null_row_bytes, forms.null_row_bytes(), &null_row_bytes)) null_row_bytes = UINT64_MAX;
  }
  if (!any_variants) variants_.clear();
  if (!any_forms) list_forms_.clear();
  if (null_row_bytes > 0) {  // they take nothing in the file
    const uint64_t rows = std::max<uint64_t>(options_.batch_bytes_max / null_row_bytes, 1);
    if (rows < static_cast<uint64_t>(options_.batch_rows)) options_.batch_rows = static_cast<int64_t>(rows);
  }
  stored_schema_ = Schema::make(std::move(stored), schema_metadata);
  schema_ = any_variants || any_forms ? Schema::make(std::move(fields), std::move(schema_metadata)) : stored_schema_;
}

// What of the projection is known better than from the Parquet schema. Returns the schema's metadata.
Metadata FileReader::Impl::refine_columns() {
  Metadata schema_metadata;
  if (options_.use_embedded_schema) {
    if (const std::optional<EmbeddedSchema> embedded = EmbeddedSchema::of(*metadata_)) {
      std::optional<EmbeddedSchema::DictionaryGroups> groups;
      if (options_.dictionaries != Dictionaries::kNever) groups = {group_, group_end_};
      embedded->refine(projection_, *metadata_, groups);
      schema_metadata = embedded->metadata();
    }
  }
  if (options_.dictionaries == Dictionaries::kAlways) {
    request_dictionaries(projection_, *metadata_, group_, group_end_);
  }
  return schema_metadata;
}

void FileReader::Impl::choose_predicate() {
  if (options_.bound_predicate) {
    predicate_ = std::move(options_.bound_predicate);
  } else {
    if (options_.predicate == predicate::Predicate()) return;
    const std::vector<ColumnRequest> columns = request_columns(metadata_->schema(), options_.types);
    std::vector<Field> fields;
    for (const ColumnRequest& column : columns) fields.push_back(arrow_field(column));
    const predicate::BoundPredicate bound = predicate::bind_predicate(
        options_.predicate, Schema::make(std::move(fields)), {.case_sensitive = options_.case_sensitive});
    predicate_ = request_predicate(columns, bound);
  }
  if (predicate_->predicate.always_true()) {
    predicate_.reset();
    return;
  }
  is_filtering_ = true;
  pruner_.emplace(*file_, *metadata_, predicate_->predicate,
                  requested_predicate_leaves(metadata_->schema(), *predicate_), options_.pruning, decompressor_, pool_);
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
                                                                   const RowSelection& rows, MemoryPool& pool) {
  const bool is_all = rows.is_all(static_cast<uint64_t>(metadata_->row_groups()[group_].row_count));
  if (is_all || !options_.pruning.use_page_index) return nullptr;
  const std::vector<size_t> leaves = requested_leaves(metadata_->schema(), requests);
  auto index = std::make_shared<const PageIndex>(PageIndex::read(*file_, *metadata_, group_, leaves, {}, pool));
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
  ReadOptions read = read_options(std::move(requests));
  read.first_row_group = static_cast<int>(group_);
  read.row_group_count = 1;
  if (!rows.is_all(static_cast<uint64_t>(metadata_->row_groups()[group_].row_count))) {
    read.rows = {{.rows = std::move(rows), .pages = std::move(pages)}};
  }
  BatchReader reader(file_, metadata_, std::move(read), pool_);
  static_cast<void>(reader.memory_needs(false));  // bounds its estimates
  reader.use_lanes(lanes_);
  return reader;
}

ReadOptions FileReader::Impl::read_options(std::vector<ColumnRequest> requests) const {
  ReadOptions read;
  read.columns = std::move(requests);
  read.batch_rows = options_.batch_rows;
  read.batch_bytes_max = options_.batch_bytes_max;
  read.verify_checksums = options_.verify_checksums;
  read.validate_utf8 = options_.validate_utf8;
  read.window_bytes = options_.window_bytes;
  read.decompressor = decompressor_;
  return read;
}

// All rows of all row groups.
BatchReader FileReader::Impl::open_all(const std::vector<ColumnRequest>& requests) const {
  ReadOptions read = read_options(requests);
  read.first_row_group = options_.first_row_group;
  read.row_group_count = options_.row_group_count;
  read.first_batch_rows = options_.first_batch_rows;
  return {file_, metadata_, std::move(read), pool_};
}

void FileReader::Impl::next_group() {
  group_first_row_ += static_cast<uint64_t>(metadata_->row_groups()[group_].row_count);
  ++group_;
  reader_.reset();
  decoded_.reset();
  for (ArrayQueue& queue : kept_) queue.clear();
  kept_bytes_ = 0;
  phase_ = Phase::kPrune;
}

// ---- Memory ----

// For making what is given out of stored batches of so many bytes, which are there meanwhile.
size_t FileReader::Impl::form_bytes(size_t batch_bytes) const {
  size_t bytes = variants_.empty() ? 0 : 2 * batch_bytes;
  // The elements twice, and their positions; nulls among them were not in the batch.
  if (!list_forms_.empty()) bytes += 3 * std::max(batch_bytes, options_.batch_bytes_max);
  return bytes;
}

FileReader::MemoryNeeds FileReader::Impl::memory_needs(bool walk_page_headers) const {
  if (phase_ == Phase::kPlain) {
    MemoryNeeds needs = reader_->memory_needs(walk_page_headers);
    needs.working_bytes += form_bytes(needs.batch_bytes);
    if (!variants_.empty() || !list_forms_.empty()) needs.row_bytes *= 3;
    return needs;
  }
  if (group_ == group_end_ || (predicate_ && predicate_->predicate.always_false())) return {};
  const MemoryNeeds rest = open_all(projection_).memory_needs(walk_page_headers);
  MemoryNeeds tests;
  if (predicate_) tests = open_all(predicate_->requests).memory_needs(walk_page_headers);
  // Bitmaps of a few tests, and the positions of what is filtered.
  const auto rows = static_cast<size_t>(options_.batch_rows);
  const size_t scratch = 8 * MemoryPool::block_bytes(rows / 8) + MemoryPool::block_bytes(rows * sizeof(uint32_t));
  // What is kept may be slices of at least half of their arrays.
  const size_t kept = any_reused_ ? 2 * options_.kept_bytes_max + tests.batch_bytes : 0;
  const size_t pending = small_part(rest.batch_bytes) + rest.batch_bytes;
  size_t total = std::max(tests.working_bytes + tests.batch_bytes, rest.working_bytes + 2 * pending);
  if (!options_.late_materialization) total += tests.total();
  total += form_bytes(rest.batch_bytes);
  total += scratch + kept;
  return {.working_bytes = total - rest.batch_bytes,
          .batch_bytes = rest.batch_bytes,
          .row_bytes = 2 * std::max(rest.row_bytes, tests.row_bytes),  // and of what is filtered or joined
          .lane_bytes = std::max(rest.lane_bytes, tests.lane_bytes)};
}

void FileReader::Impl::use_lanes(const Lanes& lanes) {
  lanes_ = lanes;
  if (reader_) reader_->use_lanes(lanes);
}

size_t FileReader::Impl::bytes_in_use() const {
  size_t bytes = decompressor_->charged_bytes() + kept_bytes_ + pending_bytes_;
  if (reader_) bytes += reader_->bytes_in_use();
  if (decoded_) bytes += decoded_->buffer_bytes();
  if (stored_) bytes += stored_->buffer_bytes();
  return bytes;
}

FileReader::Step FileReader::Impl::step(Reservation& reservation, std::optional<RecordBatch>& out) {
  out.reset();
  if (left_to_pool_ > 0) {
    const size_t offered = reservation.available();
    reservation.shrink(offered - std::min(offered, left_to_pool_));
  }
  reservation_ = &reservation;
  try {
    out = next_batch();
    left_to_pool_ = 0;
    return out ? Step::kBatch : Step::kEnd;
  } catch (const NeedsMemory& needs) {
    needed_bytes_ = needs.bytes;
    return Step::kNeedMemory;
  }
}

template <typename Work>
auto FileReader::Impl::draw(Work&& work) {
  const size_t offered = reservation_->available();
  MemoryPool pool(*reservation_);
  try {
    return work(pool);
  } catch (const MemoryLimitError&) {
    if (pool.asked_bytes() > offered) throw NeedsMemory{pool.asked_bytes()};
    // It was charged to the pool, which keeps for the reservation what it was promised.
    if (left_to_pool_ >= kLeftToPoolMax) throw;
    left_to_pool_ = std::max(left_to_pool_ * 4, kLeftToPoolFirst);
    throw NeedsMemory{pool.asked_bytes() + left_to_pool_};
  }
}

std::optional<RecordBatch> FileReader::Impl::next() {
  Reservation reservation = pool_.reserve(0);
  std::optional<RecordBatch> batch;
  if (step(reservation, batch) == Step::kNeedMemory) {
    throw MemoryLimitError(pool_.stats().held_bytes + needed_bytes_,
                           message("reading {} needs {} more bytes than the budget has", file_->path(), needed_bytes_));
  }
  return batch;
}

// ---- Batches ----

// The next batch of reader_ into decoded_, if nothing is there; false at its end.
bool FileReader::Impl::decode() {
  if (decoded_) return true;
  switch (reader_->step(*reservation_, decoded_)) {
    case Step::kBatch:
      return true;
    case Step::kEnd:
      return false;
    case Step::kNeedMemory:
      break;
  }
  throw NeedsMemory{reader_->needed_bytes()};
}

// Rows are only given out once they are known to be wanted, in the file's order; small batches are joined, so that a
// selective predicate does not make thousands of them.
std::optional<RecordBatch> FileReader::Impl::next_batch() {
  if (!is_filtering_) return produce();
  for (;;) {
    if (is_pending_full()) return flush();
    std::optional<RecordBatch> batch = produce();
    if (!batch) return flush();
    rows_matched_ += static_cast<uint64_t>(batch->row_count());
    const bool is_small = batch->row_count() < small_part(options_.batch_rows);
    if (pending_.empty() && !is_small) return batch;
    pending_rows_ += batch->row_count();
    pending_bytes_ += batch->buffer_bytes();
    pending_.push_back(*std::move(batch));
  }
}

bool FileReader::Impl::is_pending_full() const {
  return !pending_.empty() &&
         (pending_rows_ >= small_part(options_.batch_rows) || pending_bytes_ >= small_part(options_.batch_bytes_max));
}

std::optional<RecordBatch> FileReader::Impl::flush() {
  if (pending_.empty()) return std::nullopt;
  RecordBatch batch = draw([&](MemoryPool& pool) { return join(pending_, pool); });
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
  if (!stored_) stored_ = produce_stored();
  if (!stored_ || (variants_.empty() && list_forms_.empty())) return std::exchange(stored_, std::nullopt);
  std::vector<ArrayPtr> columns = draw([&](MemoryPool& pool) {
    std::vector<ArrayPtr> made = stored_->columns();
    for (size_t i = 0; i < variants_.size(); ++i) made[i] = variants_[i].assemble(made[i], pool);
    for (size_t i = 0; i < list_forms_.size(); ++i) made[i] = list_forms_[i].convert(made[i], pool);
    return made;
  });
  const int64_t row_count = stored_->row_count();
  stored_.reset();
  return RecordBatch(schema_, row_count, std::move(columns));
}

std::optional<RecordBatch> FileReader::Impl::produce_stored() {
  for (;;) {
    std::optional<RecordBatch> batch;
    switch (phase_) {
      case Phase::kPlain:
        if (!decode()) {
          phase_ = Phase::kEnd;
          break;
        }
        batch.emplace(stored_schema_, decoded_->row_count(), decoded_->columns());
        decoded_.reset();
        break;
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
    const RowGroupPruner::Verdict verdict = draw([&](MemoryPool& pool) { return pruner_->prune(group_, pool); });
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
    pages = draw([&](MemoryPool& pool) { return read_page_index(requests, rows, pool); });
    reader_.emplace(open_group(std::move(requests), rows, std::move(pages)));
    phase_ = Phase::kTogether;
  }
  rows_ = std::move(rows);
  matched_ = {};
  keeps_ = any_reused_;
  kept_bytes_ = 0;
}

FileReader::Impl::Matched FileReader::Impl::match(const RecordBatch& batch, MemoryPool& pool) const {
  Matched matched{.wanted = predicate::evaluate(predicate_->predicate, batch, pool), .kept = {}};
  for (size_t i = 0; i < projection_.size() && keeps_ && matched.wanted.selected_count() > 0; ++i) {
    if (reused_[i]) matched.kept.push_back(filter(batch.column(*reused_[i]), matched.wanted.bits(), 0, pool));
  }
  return matched;
}

// Arrays of the reused columns.
void FileReader::Impl::keep(std::vector<ArrayPtr> arrays) {
  for (size_t i = 0, next = 0; i < projection_.size() && next < arrays.size(); ++i) {
    if (!reused_[i]) continue;
    kept_bytes_ += bytes_of(arrays[next]);
    kept_[i].push(std::move(arrays[next++]));
  }
  if (kept_bytes_ <= options_.kept_bytes_max) return;
  // Reading them again costs less memory.
  keeps_ = false;
  kept_bytes_ = 0;
  for (ArrayQueue& queue : kept_) queue.clear();
}

void FileReader::Impl::evaluate_columns() {
  while (decode()) {
    Matched matched = draw([&](MemoryPool& pool) { return match(*decoded_, pool); });
    const auto count = static_cast<size_t>(decoded_->row_count());
    if (matched.wanted.selected_count() > 0) {
      for_each_set_run(matched.wanted.bits(), 0, count, [&](size_t start, size_t length) {
        matched_.add({position_ + start, position_ + start + length});
      });
      keep(std::move(matched.kept));
    }
    position_ += count;
    rows_evaluated_ += count;
    decoded_.reset();
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
    std::shared_ptr<const PageIndex> pages =
        draw([&](MemoryPool& pool) { return read_page_index(requests, read, pool); });
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
  std::vector<ArrayPtr> columns = draw([&](MemoryPool& pool) {
    std::vector<ArrayPtr> parts;
    for (const ArrayQueue& queue : kept_) parts.push_back(queue.front(count, pool));
    return parts;
  });
  for (ArrayQueue& queue : kept_) queue.drop(count);
  left_ -= static_cast<uint64_t>(count);
  return RecordBatch(stored_schema_, count, std::move(columns));
}

std::optional<RecordBatch> FileReader::Impl::read_rest() {
  if (!reader_) return give_kept();
  while (decode()) {
    const auto count = static_cast<size_t>(decoded_->row_count());
    const uint64_t first = position_;
    if (!is_exact_ && !picked_.overlaps({first, first + count})) {
      position_ += count;
      decoded_.reset();
      continue;
    }
    RecordBatch batch = draw([&](MemoryPool& pool) {
      RecordBatch part = *decoded_;
      if (!is_exact_) {
        MutableBuffer bits = pool.allocate_zeroed(bytes_for_bits(count));
        picked_.set_bits(first, count, bits.as<uint8_t>(), 0);
        part = filter(part, bits.as<uint8_t>(), 0, pool);
      }
      std::vector<ArrayPtr> columns;
      for (size_t i = 0, read = 0; i < projection_.size(); ++i) {
        columns.push_back(keeps_ && reused_[i] ? kept_[i].front(part.row_count(), pool) : part.column(read++));
      }
      return RecordBatch(stored_schema_, part.row_count(), std::move(columns));
    });
    if (keeps_) {
      for (size_t i = 0; i < projection_.size(); ++i) {
        if (reused_[i]) kept_[i].drop(batch.row_count());
      }
    }
    position_ += count;
    decoded_.reset();
    return batch;
  }
  next_group();
  return std::nullopt;
}

std::optional<RecordBatch> FileReader::Impl::read_together() {
  const size_t predicate_count = predicate_->requests.size();
  while (decode()) {
    const auto& columns = decoded_->columns();
    const RecordBatch tested(predicate_->predicate.schema(), decoded_->row_count(),
                             {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(predicate_count)});
    std::vector<ArrayPtr> chosen;
    for (size_t i = 0, read = predicate_count; i < projection_.size(); ++i) {
      chosen.push_back(columns[reused_[i] ? *reused_[i] : read++]);
    }
    const RecordBatch all(stored_schema_, decoded_->row_count(), std::move(chosen));
    RecordBatch batch = draw([&](MemoryPool& pool) {
      const predicate::Selection wanted = predicate::evaluate(predicate_->predicate, tested, pool);
      return filter(all, wanted.bits(), 0, pool);
    });
    rows_evaluated_ += static_cast<uint64_t>(decoded_->row_count());
    decoded_.reset();
    if (batch.row_count() > 0) return batch;
  }
  next_group();
  return std::nullopt;
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

FileReader::MemoryNeeds FileReader::memory_needs(bool walk_page_headers) const {
  return impl_->memory_needs(walk_page_headers);
}

FileReader::Step FileReader::step(Reservation& reservation, std::optional<RecordBatch>& out) {
  return impl_->step(reservation, out);
}

void FileReader::use_lanes(const Lanes& lanes) {
  impl_->use_lanes(lanes);
}

size_t FileReader::spared_bytes() const {
  return impl_->spared_bytes();
}

size_t FileReader::bytes_in_use() const {
  return impl_->bytes_in_use();
}

size_t FileReader::needed_bytes() const {
  return impl_->needed_bytes();
}

std::optional<RecordBatch> FileReader::next() {
  return impl_->next();
}

FileReaderCounters FileReader::counters() const {
  return impl_->counters();
}

}  // namespace frazil::parquet
