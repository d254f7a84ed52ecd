#include "frazil/write/data_writer.h"

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/manifest/data_file.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/table_properties.h"
#include "frazil/write/data_paths.h"
#include "frazil/write/deferred_file.h"
#include "frazil/write/encode_workers.h"
#include "frazil/write/file_layout.h"
#include "frazil/write/metrics_config.h"
#include "frazil/write/parallel.h"
#include "frazil/write/partition_files.h"
#include "frazil/write/partition_state.h"
#include "frazil/write/round_encoder.h"
#include "frazil/write/sort_rows.h"
#include "frazil/write/staged_batch.h"
#include "frazil/write/stager.h"

namespace frazil::write {

namespace {

constexpr size_t kBufferBytesMax = size_t{64} << 20;
// Rows of a partition are encoded when so many bytes of them wait; fewer wait on as they came, because an encoder for
// each column costs more than they do.
constexpr size_t kEncodeBytesMin = size_t{256} << 10;
// Blocks that were used and may be again. The columns of a table have many sizes; each would leave blocks of its own behind.
constexpr size_t kIdleBytesMax = size_t{24} << 20;
// What an encoded chunk of few rows takes of the pool, about.
constexpr size_t kSmallChunkBytes = size_t{2} << 10;
// Files begin with this much in memory.
constexpr size_t kFileMemoryMax = size_t{1} << 20;

uint64_t target_file_bytes(const spec::TableMetadata& metadata, const WriteOptions& options) {
  if (options.target_file_bytes) return std::max<uint64_t>(*options.target_file_bytes, 1);
  constexpr int64_t kStandard = int64_t{512} << 20;
  return static_cast<uint64_t>(spec::property_int(metadata.properties, "write.target-file-size-bytes", kStandard, 1));
}

}  // namespace

class DataWriter::Impl {
 public:
  Impl(Context& context, spec::TableMetadataPtr metadata, std::shared_ptr<FileSystem> files, WriteOptions options)
      : context_(context),
        pool_({.parent = &context.memory_pool(), .idle_bytes_max = kIdleBytesMax}),
        metadata_(std::move(metadata)),
        files_(std::move(files)),
        options_(std::move(options)),
        schema_(metadata_->current_schema()),
        stager_(context, *metadata_, {.fill_missing_columns = options_.fill_missing_columns}, pool_),
        paths_(*metadata_, options_.task_id, operation_id()),
        metrics_(MetricsConfig::from_properties(metadata_->properties, *schema_, metadata_->default_sort_order())),
        is_sorted_(options_.sort && !metadata_->default_sort_order().is_unsorted()),
        layout_(*metadata_, metrics_, is_sorted_),
        workers_(layout_.plan(), pool_),
        buffer_bytes_(options_.buffer_bytes != 0 ? options_.buffer_bytes
                                                 : std::min(kBufferBytesMax, pool_.available_bytes() / 4)) {
    if (is_sorted_) sorter_.emplace(metadata_->default_sort_order(), *schema_);
    deferred_.files = files_.get();
    deferred_.pool = &pool_;
    deferred_.open_max = std::max<size_t>(options_.open_files_max, 1);
    deferred_.file_bytes_max = kFileMemoryMax;
    factory_.emplace(deferred_, paths_, *schema_, metrics_, layout_.plan(),
                     FileFactory::Options{.target_file_bytes = target_file_bytes(*metadata_, options_),
                                          .publish = {.sync = options_.sync},
                                          .spec_id = metadata_->default_spec().spec_id,
                                          .sort_order_id = is_sorted_ ? metadata_->default_sort_order_id : 0});
  }

  ~Impl() { abort(); }

  void write(const RecordBatch& batch) {
    check_open();
    StagedBatch staged;
    try {
      staged = stager_.stage(batch);
      if (staged.row_count == 0) return;
    } catch (const Error& error) {
      // The batch is at fault, and nothing of it was taken.
      if (error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kUnsupported) throw;
      abort();
      throw;
    } catch (...) {
      abort();
      throw;
    }
    try {
      // Never two large batches in one round: each alone fits the 32-bit offsets of its columns, both may not.
      if (!staged_.empty() && staged_bytes_ + staged.bytes > buffer_bytes_ / 2) run_round(false);
      if (staged.bytes > buffer_bytes_ / 2 && has_many_chunks(stager_.partition_count())) {
        stage_parts(staged);
      } else {
        stage(std::move(staged));
        if (staged_bytes_ > buffer_bytes_ / 2) run_round(false);
      }
    } catch (...) {
      abort();
      throw;
    }
  }

  int64_t row_count() const { return row_count_; }

  std::vector<manifest::DataFile> finish() {
    check_open();
    std::vector<manifest::DataFile> all;
    try {
      run_round(true);
      for (auto& partition : partitions_) {
        if (partition == nullptr) continue;
        for (manifest::DataFile& file : partition->files.finished()) all.push_back(std::move(file));
      }
    } catch (...) {
      abort();
      throw;
    }
    state_ = State::kFinished;
    partitions_.clear();
    return all;
  }

  void abort() noexcept {
    if (state_ != State::kOpen) return;
    state_ = State::kAborted;
    staged_.clear();
    for (auto& partition : partitions_) {
      if (partition != nullptr) partition->files.abort();
    }
    partitions_.clear();
    factory_->remove_published();
  }

 private:
  enum class State : uint8_t { kOpen, kAborted, kFinished };

  // ---- Making

  void check_open() const {
    if (state_ == State::kOpen) return;
    throw_error(ErrorKind::kInvalidArgument, "the writer is {}", state_ == State::kAborted ? "aborted" : "finished");
  }

  std::string operation_id() {
    return options_.operation_id.empty() ? to_string(context_.random().uuid_v4()) : options_.operation_id;
  }

  // ---- Staging

  void stage(StagedBatch staged) {
    if (stager_.partition_count() > partitions_.size()) partitions_.resize(stager_.partition_count());
    std::vector<int64_t> counts(stager_.partition_count(), 0);
    count_rows(staged, counts);
    for (uint32_t p = 0; p < counts.size(); ++p) {
      if (counts[p] != 0) partition(p).staged_rows += counts[p];
    }
    row_count_ += staged.row_count;
    staged_rows_ += staged.row_count;
    staged_bytes_ += staged.bytes;
    staged_.push_back(std::move(staged));
  }

  // Whether chunks of so many partitions, all columns at once, would take too much of the buffer.
  bool has_many_chunks(size_t partition_count) const {
    return partition_count * layout_.plan()->leaves().size() > buffer_bytes_ / kSmallChunkBytes;
  }

  // A batch that is larger than the buffer and has many partitions, a part after the other: as many rows as may wait, so
  // that row groups are not even smaller.
  void stage_parts(const StagedBatch& whole) {
    const auto part_count = static_cast<int64_t>(whole.bytes / std::max<size_t>(buffer_bytes_ / 2, 1) + 1);
    const int64_t rows = whole.row_count / part_count + 1;
    for (int64_t begin = 0; begin < whole.row_count; begin += rows) {
      StagedBatch part = slice(whole, begin, std::min(rows, whole.row_count - begin));
      for (const ArrayPtr& column : part.columns) part.bytes += row_bytes(*column);
      stage(std::move(part));
      if (staged_bytes_ > buffer_bytes_ / 2) run_round(false);
    }
  }

  PartitionState& partition(uint32_t number) {
    auto& place = partitions_[number];
    if (place == nullptr) place = std::make_unique<PartitionState>(*factory_, stager_.partition_tuple(number));
    return *place;
  }

  // ---- Rounds: what is staged is encoded, but for rows of partitions that have too few.

  size_t bytes_of(int64_t rows) const {
    return staged_rows_ == 0 ? 0
                             : static_cast<size_t>(static_cast<double>(staged_bytes_) * static_cast<double>(rows) /
                                                   static_cast<double>(staged_rows_));
  }

  void run_round(bool is_last) {
    if (!staged_.empty()) {
      std::vector<uint32_t> order;
      const size_t wanted_count = choose(is_last, order);
      if (wanted_count != 0) {
        distribute(order, wanted_count, is_last);
        stager_.end_round(!staged_.empty());
      }
    }
    if (is_last) {
      finish_all();
    } else {
      relieve();
    }
  }

  // Every partition with staged rows, those to encode now in front. Gives how many these are.
  size_t choose(bool is_last, std::vector<uint32_t>& order) {
    for (uint32_t p = 0; p < partitions_.size(); ++p) {
      if (partitions_[p] != nullptr && partitions_[p]->staged_rows != 0) order.push_back(p);
    }
    if (is_last) return order.size();
    const auto rows_of = [&](uint32_t p) { return partitions_[p]->staged_rows; };
    const auto first_waiting = std::partition(order.begin(), order.end(), [&](uint32_t p) {
      return (!is_sorted_ && partitions_[p]->has_open_group()) || bytes_of(rows_of(p)) >= encode_bytes_min();
    });
    // What stays must leave room for what comes: else the largest of it goes too.
    std::sort(first_waiting, order.end(),
              [&](uint32_t a, uint32_t b) { return rows_of(a) != rows_of(b) ? rows_of(a) > rows_of(b) : a < b; });
    int64_t waiting = 0;
    for (auto p = first_waiting; p != order.end(); ++p) waiting += rows_of(*p);
    auto wanted_end = first_waiting;
    while (wanted_end != order.end() && bytes_of(waiting) > buffer_bytes_ / 4) waiting -= rows_of(*wanted_end++);
    std::sort(order.begin(), wanted_end);
    return static_cast<size_t>(wanted_end - order.begin());
  }

  // Sorted files end with the round that writes them: each partition waits as long as there is room.
  size_t encode_bytes_min() const { return is_sorted_ ? buffer_bytes_ : kEncodeBytesMin; }

  // Row groups end by rows, and before one or its file could pass its target far; by bytes they end between rounds.
  int64_t rows_per_group() const {
    const size_t row_size = std::max<size_t>(bytes_of(staged_rows_) / static_cast<size_t>(staged_rows_), 1);
    const uint64_t target = factory_->options().target_file_bytes;
    const uint64_t group = layout_.plan()->options().row_group_bytes;
    // A plain byte becomes a quarter of one, if it comes to that; a half is what row groups are cut by.
    const uint64_t by_bytes = std::max<uint64_t>(std::min(target * 2, group) / row_size, 1) * 2;
    return static_cast<int64_t>(std::min(static_cast<uint64_t>(layout_.plan()->options().row_group_rows), by_bytes));
  }

  // The first `wanted_count` of `order` are encoded, the rows of the others stay.
  void distribute(std::span<const uint32_t> order, size_t wanted_count, bool is_last) {
    const std::span<const uint32_t> wanted = order.first(wanted_count);
    Round round{.staged = {},
                .partitions = partitions_,
                .order = order,
                .wanted_count = wanted_count,
                .rows_per_group = rows_per_group(),
                .has_many_chunks = has_many_chunks(wanted_count),
                .is_last = is_last};
    if (!is_sorted_) cut_segments(wanted, round.rows_per_group, is_last);
    round.staged = std::exchange(staged_, {});
    const EncodeSetup setup{.context = context_,
                            .pool = pool_,
                            .schema = *schema_,
                            .layout = layout_,
                            .sorter = is_sorted_ ? &*sorter_ : nullptr,
                            .target_file_bytes = factory_->options().target_file_bytes,
                            .workers = workers_};
    staged_ = RoundEncoder(setup, std::move(round)).encode();
    for (uint32_t p : wanted) {
      partitions_[p]->staged_rows = 0;
      partitions_[p]->segments.clear();
    }
    staged_rows_ = 0;
    staged_bytes_ = 0;
    for (const StagedBatch& batch : staged_) {
      staged_rows_ += batch.row_count;
      staged_bytes_ += batch.bytes;
    }
  }

  void cut_segments(std::span<const uint32_t> wanted, int64_t rows_max, bool is_last) {
    // What open pages would take. Past half of the budget those with most end their row groups, until half of that is
    // free: relieve() would do it too, but later, when all of them are in memory.
    std::vector<std::pair<size_t, uint32_t>> open;
    size_t total = 0;
    for (uint32_t p : wanted) {
      // Of few rows an open row group would cost more than it holds.
      const PartitionState& partition = *partitions_[p];
      const bool keep_open =
          !is_last && (partition.has_open_group() || bytes_of(partition.staged_rows) >= kEncodeBytesMin);
      open.emplace_back(keep_open ? open_page_bytes(partition) : 0, p);
      total += open.back().first;
    }
    if (total > buffer_bytes_ / 2) {
      std::vector<std::pair<size_t, uint32_t>*> largest;
      for (auto& entry : open) largest.push_back(&entry);
      std::sort(largest.begin(), largest.end(), [](const auto* a, const auto* b) {
        return a->first != b->first ? a->first > b->first : a->second < b->second;
      });
      for (auto* entry : largest) {
        if (total <= buffer_bytes_ / 4) break;
        total -= std::exchange(entry->first, 0);
      }
    }
    for (const auto& [bytes, p] : open) {
      partitions_[p]->cut(rows_max, layout_.plan()->leaves().size(), layout_.column_count(), bytes != 0);
    }
  }

  // Of the rows behind the last full page, at least 1.
  size_t open_page_bytes(const PartitionState& partition) const {
    const int64_t before = partition.has_open_group() ? partition.groups.back()->row_count : 0;
    const int64_t page_rows = std::max<int64_t>(static_cast<int64_t>(layout_.plan()->options().columns.page_rows), 1);
    const int64_t rows = (before + partition.staged_rows) % page_rows;
    return std::max(bytes_of(rows), static_cast<size_t>(rows) * layout_.plan()->leaves().size() * sizeof(uint32_t)) + 1;
  }

  // ---- Between rounds, and at the end

  // Ends the open row groups of `chosen`, and with `finish_files` their files.
  void end_groups(std::span<const uint32_t> chosen, bool finish_files) {
    int64_t rows = 0;
    for (uint32_t p : chosen) {
      if (partitions_[p]->has_open_group()) rows += partitions_[p]->groups.back()->row_count;
    }
    Tasks tasks(rows >= kParallelRowsMin || chosen.size() > 8 ? &context_.thread_pool() : nullptr);
    for (uint32_t p : chosen) {
      tasks.run([this, p, finish_files] {
        PartitionState& partition = *partitions_[p];
        if (partition.has_open_group()) {
          workers_.with_worker([&](EncodeWorker& worker) { partition.end_open_group(worker.scratch); });
        }
        if (finish_files) partition.files.finish();
      });
    }
    tasks.wait();
  }

  void finish_all() {
    std::vector<uint32_t> open;
    for (uint32_t p = 0; p < partitions_.size(); ++p) {
      if (partitions_[p] == nullptr) continue;
      if (partitions_[p]->has_open_group() || partitions_[p]->files.has_open_file()) open.push_back(p);
    }
    end_groups(open, true);
  }

  void relieve() {
    // Row groups that are full, or whose file is.
    std::vector<std::pair<size_t, uint32_t>> open;  // memory, partition
    std::vector<uint32_t> full;
    size_t total = 0;
    for (uint32_t p = 0; p < partitions_.size(); ++p) {
      if (partitions_[p] == nullptr || !partitions_[p]->has_open_group()) continue;
      const RowGroup& group = *partitions_[p]->groups.back();
      const size_t bytes = group.encoded_bytes_estimate();
      if (bytes >= layout_.plan()->options().row_group_bytes ||
          partitions_[p]->files.file_bytes() + bytes >= factory_->options().target_file_bytes) {
        full.push_back(p);
      } else {
        open.emplace_back(group.memory_bytes(), p);
        total += open.back().first;
      }
    }
    // Past the budget the largest go, until half of it is free.
    if (total > buffer_bytes_ / 2) {
      std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      for (auto [bytes, p] : open) {
        if (total <= buffer_bytes_ / 4) break;
        full.push_back(p);
        total -= bytes;
      }
    }
    if (!full.empty()) end_groups(full, false);
    spill_files();
  }

  // Files in memory past the budget are opened, the largest first; when that would be too many, the largest open one is
  // finished for it.
  void spill_files() {
    if (deferred_.bytes <= buffer_bytes_ / 4) return;
    std::vector<PartitionState*> in_memory;
    for (auto& partition : partitions_) {
      if (partition != nullptr && partition->files.memory_bytes() != 0) in_memory.push_back(partition.get());
    }
    std::sort(in_memory.begin(), in_memory.end(), [](const PartitionState* a, const PartitionState* b) {
      return a->files.memory_bytes() > b->files.memory_bytes();
    });
    for (PartitionState* partition : in_memory) {
      if (deferred_.bytes <= buffer_bytes_ / 8) return;
      if (deferred_.open >= deferred_.open_max) finish_largest_open_file();
      partition->files.open_file();
    }
  }

  void finish_largest_open_file() {
    PartitionState* largest = nullptr;
    for (auto& partition : partitions_) {
      if (partition == nullptr || !partition->files.is_file_opened()) continue;
      if (largest == nullptr || partition->files.file_bytes() > largest->files.file_bytes()) largest = partition.get();
    }
    if (largest != nullptr) largest->files.finish();
  }

  Context& context_;
  MemoryPool pool_;
  const spec::TableMetadataPtr metadata_;
  const std::shared_ptr<FileSystem> files_;
  const WriteOptions options_;
  const spec::SchemaPtr schema_;
  Stager stager_;
  DataPaths paths_;
  MetricsConfig metrics_;
  const bool is_sorted_;
  const FileLayout layout_;
  EncodeWorkers workers_;
  const size_t buffer_bytes_;
  std::optional<RowSorter> sorter_;
  DeferredFiles deferred_;
  std::optional<FileFactory> factory_;

  State state_ = State::kOpen;
  int64_t row_count_ = 0;
  std::vector<StagedBatch> staged_;
  int64_t staged_rows_ = 0;
  size_t staged_bytes_ = 0;
  std::vector<std::unique_ptr<PartitionState>> partitions_;  // by number; nullptr: no rows yet
};

DataWriter::DataWriter(Context& context, spec::TableMetadataPtr metadata, std::shared_ptr<FileSystem> files,
                       WriteOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(metadata), std::move(files), std::move(options))) {}
DataWriter::~DataWriter() = default;

void DataWriter::write(const RecordBatch& batch) {
  impl_->write(batch);
}
int64_t DataWriter::row_count() const {
  return impl_->row_count();
}
std::vector<manifest::DataFile> DataWriter::finish() {
  return impl_->finish();
}
void DataWriter::abort() noexcept {
  impl_->abort();
}

}  // namespace frazil::write
