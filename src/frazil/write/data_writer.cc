#include "frazil/write/data_writer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/base/mutex.h"
#include "frazil/manifest/data_file.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/shred.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/table_properties.h"
#include "frazil/write/data_paths.h"
#include "frazil/write/deferred_file.h"
#include "frazil/write/file_layout.h"
#include "frazil/write/metrics_config.h"
#include "frazil/write/parallel.h"
#include "frazil/write/partition_files.h"
#include "frazil/write/row_blocks.h"
#include "frazil/write/scatter.h"
#include "frazil/write/sort_rows.h"
#include "frazil/write/staged_batch.h"
#include "frazil/write/stager.h"

namespace frazil::write {

namespace {

constexpr size_t kBufferBytesMax = size_t{64} << 20;
// Rows of a partition are encoded when so many bytes of them wait; fewer wait on as they came, because an encoder for
// each column costs more than they do.
constexpr size_t kEncodeBytesMin = size_t{256} << 10;
// How much of a column one task encodes at least, where a partition is not more.
constexpr size_t kTaskBytes = size_t{2} << 20;
// Blocks that were used and may be again. The columns of a table have many sizes; each would leave blocks of its own behind.
constexpr size_t kIdleBytesMax = size_t{24} << 20;
// What is distributed of a column at once, unless pieces of partitions had fewer rows than kPieceRows.
constexpr size_t kRowBlockBytes = size_t{1} << 20;
constexpr size_t kPieceRows = 2048;
// What an encoded chunk of few rows takes of the pool, about.
constexpr size_t kSmallChunkBytes = size_t{2} << 10;
// Files begin with this much in memory.
constexpr size_t kFileMemoryMax = size_t{1} << 20;

uint64_t target_file_bytes(const spec::TableMetadata& metadata, const WriteOptions& options) {
  if (options.target_file_bytes) return std::max<uint64_t>(*options.target_file_bytes, 1);
  constexpr int64_t kStandard = int64_t{512} << 20;
  return static_cast<uint64_t>(spec::property_int(metadata.properties, "write.target-file-size-bytes", kStandard, 1));
}

// What one thread needs while it encodes.
struct Worker {
  Worker(const parquet::WriteSchema& schema, MemoryPool& pool) : shredder(schema, pool), scratch(pool) {}
  parquet::Shredder shredder;
  parquet::EncoderScratch scratch;
};

// Rows that become a row group: an encoder a leaf, then its chunk.
struct RowGroup {
  explicit RowGroup(size_t leaf_count) : encoders(leaf_count), chunks(leaf_count) {}
  std::vector<std::optional<parquet::ChunkEncoder>> encoders;
  std::vector<parquet::EncodedChunk> chunks;
  int64_t row_count = 0;
};

// Rows of a partition in one round, for one row group.
struct Segment {
  RowGroup* group = nullptr;
  int64_t begin = 0;  // among the partition's rows of the round
  int64_t count = 0;
  bool ends_group = false;
};

struct Partition {
  Partition(FileFactory& factory, std::vector<spec::Literal> values) : files(factory, std::move(values)) {}

  PartitionFiles files;
  int64_t staged_rows = 0;
  std::vector<std::unique_ptr<RowGroup>> groups;  // in order; those of the round, and at its end the open one
  std::vector<Segment> segments;
  std::atomic<size_t> columns_left = 0;
};

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

  Partition& partition(uint32_t number) {
    auto& place = partitions_[number];
    if (place == nullptr) place = std::make_unique<Partition>(*factory_, stager_.partition_tuple(number));
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
      return (!is_sorted_ && has_open_group(*partitions_[p])) || bytes_of(rows_of(p)) >= encode_bytes_min();
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

  static bool has_open_group(const Partition& partition) { return !partition.groups.empty(); }

  // Cuts the staged rows of a partition into row groups. `keep_open`: the last one may go on in the next round.
  void cut(Partition& partition, bool keep_open) {
    const int64_t rows_max = rows_per_group();
    partition.segments.clear();
    bool is_open = has_open_group(partition);
    for (int64_t begin = 0; begin < partition.staged_rows;) {
      if (!is_open) partition.groups.push_back(std::make_unique<RowGroup>(layout_.plan()->leaves().size()));
      RowGroup& group = *partition.groups.back();
      // A group that is full by now (rows may be larger than they were) ends with one more row.
      const int64_t room = std::max<int64_t>(rows_max - group.row_count, 1);
      const int64_t count = std::min(partition.staged_rows - begin, room);
      group.row_count += count;
      const bool is_last = begin + count == partition.staged_rows;
      const bool ends = group.row_count >= rows_max || (is_last && !keep_open);
      partition.segments.push_back({&group, begin, count, ends});
      begin += count;
      is_open = !ends;
    }
  }

  // Row groups end by rows, and before one or its file could pass its target far; by bytes they end between rounds.
  int64_t rows_per_group() const {
    const size_t row_size = std::max<size_t>(bytes_of(staged_rows_) / static_cast<size_t>(staged_rows_), 1);
    const uint64_t target = factory_->options().target_file_bytes;
    const uint64_t group = layout_.plan()->options().row_group_bytes;
    // A plain byte becomes a quarter of one, if it comes to that; a half is what row groups are cut by.
    const uint64_t by_bytes = std::max<uint64_t>(std::min(target * 2, group) / row_size, 1) * 2;
    return static_cast<int64_t>(std::min(static_cast<uint64_t>(layout_.plan()->options().row_group_rows), by_bytes));
  }

  // The staged rows of partitions `wanted` are encoded, those of `waiting` stay.
  struct Round {
    std::span<const uint32_t> wanted;
    std::span<const uint32_t> waiting;
    std::span<const uint32_t> order;  // both
    bool is_last = false;
    bool is_parallel = false;
    std::vector<RowBlock> blocks;
    std::vector<StagedBatch> held;  // what stays of each block
  };

  void distribute(std::span<const uint32_t> order, size_t wanted_count, bool is_last) {
    Round round{.wanted = order.first(wanted_count),
                .waiting = order.subspan(wanted_count),
                .order = order,
                .is_last = is_last,
                .is_parallel = staged_rows_ >= kParallelRowsMin,
                .blocks = {},
                .held = {}};
    if (is_sorted_) {
      distribute_sorted(round);
    } else {
      cut_segments(round);
      const bool is_sliced = round.waiting.empty() && std::all_of(staged_.begin(), staged_.end(),
                                                                  [](const StagedBatch& b) { return b.is_runs(); });
      if (is_sliced) {
        encode_slices(round);
      } else if (has_many_chunks(wanted_count)) {
        encode_by_partition(round);
      } else {
        encode_scattered(round);
      }
    }
    for (uint32_t p : round.wanted) {
      partitions_[p]->staged_rows = 0;
      partitions_[p]->segments.clear();
    }
    keep(std::move(round.held));
  }

  void cut_segments(const Round& round) {
    // What open pages would take. Past half of the budget those with most end their row groups, until half of that is
    // free: relieve() would do it too, but later, when all of them are in memory.
    std::vector<std::pair<size_t, uint32_t>> open;
    size_t total = 0;
    for (uint32_t p : round.wanted) {
      // Of few rows an open row group would cost more than it holds.
      const Partition& partition = *partitions_[p];
      const bool keep_open =
          !round.is_last && (has_open_group(partition) || bytes_of(partition.staged_rows) >= kEncodeBytesMin);
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
      cut(*partitions_[p], bytes != 0);
      partitions_[p]->columns_left = layout_.column_count();
    }
  }

  // Of the rows behind the last full page, at least 1.
  size_t open_page_bytes(const Partition& partition) const {
    const int64_t before = has_open_group(partition) ? partition.groups.back()->row_count : 0;
    const int64_t page_rows = std::max<int64_t>(static_cast<int64_t>(layout_.plan()->options().columns.page_rows), 1);
    const int64_t rows = (before + partition.staged_rows) % page_rows;
    return std::max(bytes_of(rows), static_cast<size_t>(rows) * layout_.plan()->leaves().size() * sizeof(uint32_t)) + 1;
  }

  // What stays of a round is staged for the next one.
  void keep(std::vector<StagedBatch> held) {
    staged_.clear();
    staged_rows_ = 0;
    staged_bytes_ = 0;
    for (StagedBatch& batch : held) {
      if (batch.row_count == 0) continue;
      for (size_t c = 0; c < batch.columns.size(); ++c) {
        if (batch.columns[c] == nullptr) {  // not in files
          batch.columns[c] = make_null_array(spec::to_arrow_type(*schema_->fields()[c].type), batch.row_count, pool_);
        }
        batch.bytes += row_bytes(*batch.columns[c]);
      }
      staged_rows_ += batch.row_count;
      staged_bytes_ += batch.bytes;
      staged_.push_back(std::move(batch));
    }
  }

  // Tasks of one step, run at once or on the context's threads.
  class Tasks {
   public:
    Tasks(Context& context, bool is_parallel) {
      if (is_parallel) group_.emplace(context.thread_pool());
    }
    void run(Task task) {
      if (group_) {
        group_->run(std::move(task));
      } else {
        task();
      }
    }
    void wait() {
      if (group_) group_->wait();
    }

   private:
    std::optional<TaskGroup> group_;
  };

  struct SizedColumn {
    size_t place = 0;
    size_t bytes = 0;
  };

  // The largest first.
  std::vector<SizedColumn> columns_by_size() const {
    std::vector<SizedColumn> columns(layout_.column_count());
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i].place = i;
      for (const StagedBatch& batch : staged_) columns[i].bytes += row_bytes(*batch.columns[layout_.column(i)]);
    }
    std::sort(columns.begin(), columns.end(), [](const SizedColumn& a, const SizedColumn& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
    });
    return columns;
  }

  void cut_blocks(Round& round, size_t block_count) {
    BlockPlan plan{.order = round.order,
                   .first_count = round.wanted.size(),
                   .partition_count = partitions_.size(),
                   .block_count = block_count,
                   .has_positions = false};
    for (size_t place = 0; place < layout_.column_count(); ++place) {
      const size_t column = layout_.column(place);
      plan.has_positions = plan.has_positions || is_gathered(*staged_.front().columns[column]->type);
    }
    round.blocks = write::cut_blocks(staged_, plan, round.is_parallel ? &context_.thread_pool() : nullptr, pool_);
    for (const RowBlock& block : round.blocks) {
      StagedBatch& held = round.held.emplace_back();
      held.columns.resize(schema_->fields().size());
      held.dictionary_ids = shared_dictionaries(block.batches);
      for (uint32_t p : round.waiting) {
        if (block.counts[p] == 0) continue;
        held.runs.push_back({p, held.row_count, block.counts[p]});
        held.row_count += block.counts[p];
      }
    }
  }

  // By column: the dictionary that all batches share, 0 if they do not.
  static std::vector<uint64_t> shared_dictionaries(std::span<const StagedBatch> batches) {
    std::vector<uint64_t> ids = batches.front().dictionary_ids;
    for (const StagedBatch& batch : batches) {
      for (size_t c = 0; c < ids.size(); ++c) {
        if (batch.dictionary_ids[c] != ids[c]) ids[c] = 0;
      }
    }
    return ids;
  }

  // A column of a block: rows of wanted partitions, nullptr if there are none. What waits goes to `held`.
  ArrayPtr distribute_column(Round& round, size_t block_index, size_t column) {
    const RowBlock& block = round.blocks[block_index];
    std::array<ArrayPtr, 2> arrays =
        scatter(block.batches, column, block.placement,
                {block.positions.as<uint32_t>(), block.positions.size() / sizeof(uint32_t)}, pool_);
    round.held[block_index].columns[column] = std::move(arrays[1]);
    return std::move(arrays[0]);
  }

  // Few partitions: a column after the other, block by block. As many lanes as threads take a column each; few columns
  // are in memory at once. Threads that have none help with the blocks of one that is begun.
  void encode_scattered(Round& round) {
    const std::vector<SizedColumn> columns = columns_by_size();
    cut_blocks(round, block_count(round, columns.front().bytes));
    const size_t lanes = round.is_parallel ? std::min(context_.thread_count(), columns.size()) : 1;
    std::atomic<size_t> columns_begun = 0;
    Tasks tasks(context_, round.is_parallel);
    for (size_t lane = 0; lane < lanes; ++lane) {
      tasks.run([&] {
        for (size_t next = columns_begun++; next < columns.size(); next = columns_begun++) {
          // The last columns, with which the files come, may find other lanes done.
          const bool is_helped =
              round.is_parallel && (lanes < context_.thread_count() || next + lanes >= columns.size());
          encode_column(round, columns[next].place, is_helped);
        }
      });
    }
    tasks.wait();
  }

  // Between blocks a page of each partition is open. Where partitions have fewer rows than that, or where chunks end
  // now, distributing all rows at once takes less.
  size_t block_count(const Round& round, size_t column_bytes) const {
    const size_t rows = static_cast<size_t>(staged_rows_) / round.wanted.size();
    if (round.is_last || rows < layout_.plan()->options().columns.page_rows) return 1;
    return std::clamp<size_t>(column_bytes / kRowBlockBytes, 1, std::max<size_t>(rows / kPieceRows, 1));
  }

  void encode_column(Round& round, size_t place, bool is_helped) {
    std::vector<int64_t> done(partitions_.size(), 0);  // rows of each partition
    for (size_t b = 0; b < round.blocks.size(); ++b) {
      const RowBlock& block = round.blocks[b];
      const ArrayPtr rows = distribute_column(round, b, layout_.column(place));
      if (rows == nullptr) continue;
      const std::vector<std::span<const uint32_t>> parts = parts_of(round, row_bytes(*rows), is_helped);
      for_each_index(is_helped ? &context_.thread_pool() : nullptr, parts.size(), [&](size_t part) {
        with_worker([&](Worker& worker) {
          for (uint32_t p : parts[part]) {
            const PartitionRows piece{.start = block.placement.start(p), .begin = done[p], .count = block.counts[p]};
            encode_rows(place, *rows, *partitions_[p], piece, worker);
            done[p] += piece.count;
            if (done[p] == partitions_[p]->staged_rows && piece.count != 0) {
              column_done(*partitions_[p], round.is_last);
            }
          }
        });
      });
    }
  }

  // All columns are distributed first, then one partition after the other is encoded and written: chunks of thousands of
  // partitions are never in memory together.
  void encode_by_partition(Round& round) {
    cut_blocks(round, 1);
    const RowBlock& block = round.blocks.front();
    std::vector<ArrayPtr> columns(layout_.column_count());
    Tasks tasks(context_, round.is_parallel);
    for (size_t i = 0; i < columns.size(); ++i) {
      tasks.run([&, i] { columns[i] = distribute_column(round, 0, layout_.column(i)); });
    }
    tasks.wait();
    staged_.clear();
    round.blocks.front().batches.clear();
    round.blocks.front().positions = Buffer();
    size_t bytes = 0;
    for (const ArrayPtr& column : columns) bytes += row_bytes(*column);
    for (const std::span<const uint32_t> part : parts_of(round, bytes, round.is_parallel)) {
      tasks.run([this, part, &round, &columns, &block] {
        with_worker([&](Worker& worker) {
          for (uint32_t p : part) {
            for (size_t i = 0; i < columns.size(); ++i) {
              encode_rows(i, *columns[i], *partitions_[p],
                          {.start = block.placement.start(p), .begin = 0, .count = block.counts[p]}, worker);
              column_done(*partitions_[p], round.is_last);
            }
          }
        });
      });
    }
    tasks.wait();
  }

  // Neighbouring partitions together, so that a part is about kTaskBytes of the column, and for threads that help some for
  // each of them. A round that ends files has more: with the last column come the files, each some system calls.
  std::vector<std::span<const uint32_t>> parts_of(const Round& round, size_t column_bytes, bool is_helped) const {
    const size_t least = !is_helped ? 1 : context_.thread_count() * (round.is_last ? 4 : 2);
    const size_t part_count = std::max(least, column_bytes / kTaskBytes);
    int64_t row_count = 0;
    for (uint32_t p : round.wanted) row_count += partitions_[p]->staged_rows;
    const int64_t rows_a_part = row_count / static_cast<int64_t>(part_count) + 1;
    std::vector<std::span<const uint32_t>> parts;
    for (size_t begin = 0; begin < round.wanted.size();) {
      size_t end = begin;
      for (int64_t rows = 0; end < round.wanted.size() && rows < rows_a_part;)
        rows += partitions_[round.wanted[end++]]->staged_rows;
      parts.push_back(round.wanted.subspan(begin, end - begin));
      begin = end;
    }
    return parts;
  }

  // Some of a partition's rows of the round.
  struct PartitionRows {
    int64_t start = 0;  // where they lie in an array
    int64_t begin = 0;  // among all of the partition
    int64_t count = 0;
  };

  // A piece of a distributed column.
  void encode_rows(size_t place, const Array& rows, Partition& partition, const PartitionRows& piece, Worker& worker) {
    Array values = rows;
    if (values.null_count != 0) values.null_count = kUnknownNullCount;
    for (const Segment& segment : partition.segments) {
      const int64_t from = std::max(segment.begin, piece.begin);
      const int64_t to = std::min(segment.begin + segment.count, piece.begin + piece.count);
      if (from >= to) continue;
      values.offset = piece.start + from - piece.begin;
      values.length = to - from;
      encode_piece(place, values, segment, worker);
      if (to == segment.begin + segment.count) end_segment(place, segment, worker);
    }
  }

  // Every batch is runs and nothing waits: pieces are slices of what came.
  void encode_slices(const Round& round) {
    std::vector<std::vector<std::pair<const StagedBatch*, RowRun>>> runs(partitions_.size());
    for (const StagedBatch& batch : staged_) {
      for (const RowRun& run : batch.runs) runs[run.partition].emplace_back(&batch, run);
    }
    Tasks tasks(context_, round.is_parallel);
    for (const SizedColumn& column : columns_by_size()) {
      for (uint32_t p : round.wanted) {
        tasks.run([this, &runs, &round, place = column.place, p] {
          with_worker([&](Worker& worker) {
            int64_t begin = 0;
            for (const auto& [batch, run] : runs[p]) {
              encode_rows(place, *batch->columns[layout_.column(place)], *partitions_[p],
                          {.start = batch->columns[layout_.column(place)]->offset + run.begin,
                           .begin = begin,
                           .count = run.count},
                          worker);
              begin += run.count;
            }
            column_done(*partitions_[p], round.is_last);
          });
        });
      }
    }
    tasks.wait();
  }

  void encode_piece(size_t place, const Array& piece, const Segment& segment, Worker& worker) {
    const ArrayPtr cut = layout_.cut(place, piece);
    worker.shredder.shred(place, cut == nullptr ? piece : *cut, [&](size_t leaf, const parquet::LeafPiece& values) {
      std::optional<parquet::ChunkEncoder>& encoder = segment.group->encoders[leaf];
      if (!encoder) encoder.emplace(layout_.plan()->leaves()[leaf], layout_.plan()->chunk_options()[leaf], pool_);
      encoder->write(values, worker.scratch);
    });
  }

  // The column's part of the segment is encoded: the row group ends with it, or waits for more.
  void end_segment(size_t place, const Segment& segment, Worker& worker) {
    const parquet::SchemaNode& node = layout_.plan()->schema().column_node(place);
    for (size_t leaf = node.first_leaf; leaf < node.first_leaf + node.leaf_count; ++leaf) {
      if (segment.ends_group) {
        end_leaf(*segment.group, leaf, worker);
      } else if (std::optional<parquet::ChunkEncoder>& encoder = segment.group->encoders[leaf]) {
        encoder->shrink();
      }
    }
  }

  static void end_leaf(RowGroup& group, size_t leaf, Worker& worker) {
    group.chunks[leaf] = group.encoders[leaf]->finish(worker.scratch);
    group.encoders[leaf].reset();
  }

  // The thread that did the last column of a partition writes what ended.
  void column_done(Partition& partition, bool is_last) {
    if (--partition.columns_left != 0) return;
    write_ended_groups(partition);
    if (is_last) partition.files.finish();
  }

  static bool is_ended(const RowGroup& group) { return !group.encoders.empty() && !group.encoders.front(); }

  static void write_ended_groups(Partition& partition) {
    size_t ended = 0;
    while (ended < partition.groups.size() && is_ended(*partition.groups[ended])) {
      RowGroup& group = *partition.groups[ended++];
      partition.files.append_row_group(group.row_count, std::move(group.chunks));
    }
    partition.groups.erase(partition.groups.begin(), partition.groups.begin() + static_cast<std::ptrdiff_t>(ended));
  }

  // ---- Sorted files: each partition's rows of the round become files of their own.

  void distribute_sorted(Round& round) {
    cut_blocks(round, 1);
    const Placement& placement = round.blocks.front().placement;
    std::vector<ArrayPtr> columns(schema_->fields().size());
    Tasks tasks(context_, round.is_parallel);
    for (size_t column = 0; column < columns.size(); ++column) {
      tasks.run([&, column] { columns[column] = distribute_column(round, 0, column); });
    }
    tasks.wait();
    for (uint32_t p : round.wanted) {
      tasks.run([&, p] {
        std::vector<ArrayPtr> rows;
        for (const ArrayPtr& column : columns) {
          rows.push_back(column->slice(placement.start(p), partitions_[p]->staged_rows));
        }
        rows = sorter_->sort(rows, pool_);
        std::vector<ArrayPtr> columns_of_file;
        std::vector<Field> fields;
        for (size_t i = 0; i < layout_.column_count(); ++i) {
          const ArrayPtr& column = rows[layout_.column(i)];
          const ArrayPtr cut = layout_.cut(i, *column);
          columns_of_file.push_back(cut == nullptr ? column : cut);
          fields.push_back(layout_.plan()->schema().arrow_schema()->field(i));
          fields.back().type = columns_of_file.back()->type;
        }
        write_sorted(*partitions_[p], RecordBatch(frazil::Schema::make(std::move(fields)), partitions_[p]->staged_rows,
                                                  std::move(columns_of_file)));
      });
    }
    tasks.wait();
  }

  void write_sorted(Partition& partition, const RecordBatch& batch) {
    const int64_t rows_max = rows_per_group();
    for (int64_t begin = 0; begin < batch.row_count(); begin += rows_max) {
      partition.files.write(batch.slice(begin, std::min(rows_max, batch.row_count() - begin)));
      if (partition.files.file_bytes() >= factory_->options().target_file_bytes) partition.files.finish();
    }
    partition.files.finish();
  }

  // ---- Between rounds, and at the end

  size_t estimate(const RowGroup& group) const {
    size_t bytes = 0;
    for (const auto& encoder : group.encoders) bytes += encoder ? encoder->encoded_bytes_estimate() : 0;
    return bytes;
  }
  static size_t memory(const RowGroup& group) {
    size_t bytes = 0;
    for (const auto& encoder : group.encoders) bytes += encoder ? encoder->buffered_bytes() : 0;
    return bytes;
  }

  // Ends the open row groups of `chosen`, and with `finish_files` their files.
  void end_groups(std::span<const uint32_t> chosen, bool finish_files) {
    int64_t rows = 0;
    for (uint32_t p : chosen) {
      if (has_open_group(*partitions_[p])) rows += partitions_[p]->groups.back()->row_count;
    }
    Tasks tasks(context_, rows >= kParallelRowsMin || chosen.size() > 8);
    for (uint32_t p : chosen) {
      tasks.run([this, p, finish_files] {
        Partition& partition = *partitions_[p];
        if (has_open_group(partition)) {
          with_worker([&](Worker& worker) {
            RowGroup& group = *partition.groups.back();
            for (size_t leaf = 0; leaf < group.encoders.size(); ++leaf) end_leaf(group, leaf, worker);
          });
          write_ended_groups(partition);
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
      if (has_open_group(*partitions_[p]) || partitions_[p]->files.has_open_file()) open.push_back(p);
    }
    end_groups(open, true);
  }

  void relieve() {
    // Row groups that are full, or whose file is.
    std::vector<std::pair<size_t, uint32_t>> open;  // memory, partition
    std::vector<uint32_t> full;
    size_t total = 0;
    for (uint32_t p = 0; p < partitions_.size(); ++p) {
      if (partitions_[p] == nullptr || !has_open_group(*partitions_[p])) continue;
      const RowGroup& group = *partitions_[p]->groups.back();
      const size_t bytes = estimate(group);
      if (bytes >= layout_.plan()->options().row_group_bytes ||
          partitions_[p]->files.file_bytes() + bytes >= factory_->options().target_file_bytes) {
        full.push_back(p);
      } else {
        open.emplace_back(memory(group), p);
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
    std::vector<Partition*> in_memory;
    for (auto& partition : partitions_) {
      if (partition != nullptr && partition->files.memory_bytes() != 0) in_memory.push_back(partition.get());
    }
    std::sort(in_memory.begin(), in_memory.end(),
              [](const Partition* a, const Partition* b) { return a->files.memory_bytes() > b->files.memory_bytes(); });
    for (Partition* partition : in_memory) {
      if (deferred_.bytes <= buffer_bytes_ / 8) return;
      if (deferred_.open >= deferred_.open_max) finish_largest_open_file();
      partition->files.open_file();
    }
  }

  void finish_largest_open_file() {
    Partition* largest = nullptr;
    for (auto& partition : partitions_) {
      if (partition == nullptr || !partition->files.is_file_opened()) continue;
      if (largest == nullptr || partition->files.file_bytes() > largest->files.file_bytes()) largest = partition.get();
    }
    if (largest != nullptr) largest->files.finish();
  }

  // ---- Workers

  template <typename Work>
  void with_worker(const Work& work) {
    std::unique_ptr<Worker> worker;
    {
      const MutexLock lock(mutex_);
      if (!workers_.empty()) {
        worker = std::move(workers_.back());
        workers_.pop_back();
      }
    }
    if (worker == nullptr) worker = std::make_unique<Worker>(layout_.plan()->schema(), pool_);
    work(*worker);  // after an exception nobody needs the worker
    const MutexLock lock(mutex_);
    workers_.push_back(std::move(worker));
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
  const size_t buffer_bytes_;
  std::optional<RowSorter> sorter_;
  DeferredFiles deferred_;
  std::optional<FileFactory> factory_;

  State state_ = State::kOpen;
  int64_t row_count_ = 0;
  std::vector<StagedBatch> staged_;
  int64_t staged_rows_ = 0;
  size_t staged_bytes_ = 0;
  std::vector<std::unique_ptr<Partition>> partitions_;  // by number; nullptr: no rows yet

  Mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_ GUARDED_BY(mutex_);
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
