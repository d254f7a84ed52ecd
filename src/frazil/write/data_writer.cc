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
// What an encoder holds while its row group is open, about: the values of a page and what counts them.
constexpr size_t kOpenEncoderBytes = size_t{256} << 10;
// Rows of a partition in one round that make a fair row group, where keeping all groups open would take too much.
constexpr size_t kGroupBytesEnough = size_t{4} << 20;
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
        layout_(*metadata_, metrics_),
        is_sorted_(options_.sort && !metadata_->default_sort_order().is_unsorted()),
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
      if (staged.bytes > buffer_bytes_ / 2 && is_better_in_parts(staged)) {
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
    if (staged.is_runs()) {
      for (const RowRun& run : staged.runs) partition(run.partition).staged_rows += run.count;
    } else {
      std::vector<int64_t> counts(stager_.partition_count(), 0);
      visit_codes(staged.partitions, [&](const auto* partitions) {
        for (int64_t i = 0; i < staged.row_count; ++i) ++counts[partitions[i]];
      });
      for (uint32_t p = 0; p < counts.size(); ++p) {
        if (counts[p] != 0) partition(p).staged_rows += counts[p];
      }
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

  // Of a batch in parts the distributed columns are small, and their memory is used again. But each partition should
  // have rows enough in each part. Runs are not distributed.
  bool is_better_in_parts(const StagedBatch& staged) const {
    const size_t partition_count = stager_.partition_count();
    return has_many_chunks(partition_count) ||
           (!staged.is_runs() && partition_count * kEncodeBytesMin <= buffer_bytes_ / 2);
  }

  // A batch that is larger than the buffer, a part after the other.
  void stage_parts(const StagedBatch& whole) {
    const auto part_count = static_cast<int64_t>(whole.bytes / std::max<size_t>(buffer_bytes_ / 2, 1) + 1);
    const int64_t rows = whole.row_count / part_count + 1;
    for (int64_t begin = 0; begin < whole.row_count; begin += rows) {
      StagedBatch part;
      part.row_count = std::min(rows, whole.row_count - begin);
      part.dictionary_ids = whole.dictionary_ids;
      for (const ArrayPtr& column : whole.columns) {
        part.columns.push_back(column->slice(begin, part.row_count));
        part.bytes += row_bytes(*part.columns.back());
      }
      for (const RowRun& run : whole.runs) {
        const int64_t from = std::max(run.begin, begin);
        const int64_t to = std::min(run.begin + run.count, begin + part.row_count);
        if (from < to) part.runs.push_back({run.partition, from - begin, to - from});
      }
      if (part.runs.empty()) {
        const auto width = static_cast<size_t>(whole.partitions.width);
        part.partitions = {whole.partitions.bytes.slice(static_cast<size_t>(begin) * width,
                                                        static_cast<size_t>(part.row_count) * width),
                           whole.partitions.width, part.row_count};
      }
      stage(std::move(part));
      // Of many partitions as many rows as may wait, so that their row groups are not even smaller.
      if (!has_many_chunks(partitions_.size()) || staged_bytes_ > buffer_bytes_ / 2) run_round(false);
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

  void distribute(std::vector<uint32_t>& order, size_t wanted_count, bool is_last) {
    const std::span<const uint32_t> wanted(order.data(), wanted_count);
    const std::span<const uint32_t> waiting(order.data() + wanted_count, order.size() - wanted_count);
    StagedBatch held;
    held.columns.resize(schema_->fields().size());
    held.dictionary_ids = shared_dictionaries();
    for (uint32_t p : waiting) {
      held.runs.push_back({p, held.row_count, partitions_[p]->staged_rows});
      held.row_count += partitions_[p]->staged_rows;
    }
    const bool is_parallel = staged_rows_ >= kParallelRowsMin;
    if (is_sorted_) {
      distribute_sorted(order, wanted, held, is_parallel);
    } else {
      const bool is_tight = wanted_count * layout_.plan()->leaves().size() * kOpenEncoderBytes > buffer_bytes_ / 2;
      for (uint32_t p : wanted) {
        Partition& partition = *partitions_[p];
        // Of few rows an open row group would cost more than it holds.
        const size_t bytes = bytes_of(partition.staged_rows);
        const bool keep_open = !is_last && (has_open_group(partition) || bytes >= kEncodeBytesMin) &&
                               !(is_tight && bytes >= kGroupBytesEnough);
        cut(partition, keep_open);
        partition.columns_left = layout_.column_count();
      }
      const bool is_sliced = held.row_count == 0 && std::all_of(staged_.begin(), staged_.end(),
                                                                [](const StagedBatch& b) { return b.is_runs(); });
      if (is_sliced) {
        encode_slices(wanted, is_last, is_parallel);
      } else if (has_many_chunks(wanted_count)) {
        encode_by_partition(order, wanted, is_last, held, is_parallel);
      } else {
        encode_scattered(order, wanted, is_last, held, is_parallel);
      }
    }
    for (uint32_t p : wanted) {
      partitions_[p]->staged_rows = 0;
      partitions_[p]->segments.clear();
    }
    staged_.clear();
    staged_rows_ = held.row_count;
    staged_bytes_ = 0;
    if (held.row_count != 0) {
      for (size_t c = 0; c < held.columns.size(); ++c) {
        if (held.columns[c] == nullptr) {  // not in files
          held.columns[c] = make_null_array(spec::to_arrow_type(*schema_->fields()[c].type), held.row_count, pool_);
        }
        held.bytes += row_bytes(*held.columns[c]);
      }
      staged_bytes_ = held.bytes;
      staged_.push_back(std::move(held));
    }
  }

  // By column: the dictionary that all staged batches share, 0 if they do not.
  std::vector<uint64_t> shared_dictionaries() const {
    std::vector<uint64_t> ids = staged_.front().dictionary_ids;
    for (const StagedBatch& batch : staged_) {
      for (size_t c = 0; c < ids.size(); ++c) {
        if (batch.dictionary_ids[c] != ids[c]) ids[c] = 0;
      }
    }
    return ids;
  }

  // Tasks of one step, run at once or on the context's threads.
  class Tasks {
   public:
    Tasks(Context& context, bool is_parallel) {
      if (is_parallel) group_.emplace(context.thread_pool());
    }
    void run(Task task, TaskPriority priority = TaskPriority::kNormal) {
      if (group_) {
        group_->run(std::move(task), priority);
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

  std::vector<size_t> columns_by_size() const {
    std::vector<size_t> sizes(layout_.column_count(), 0);
    std::vector<size_t> places(layout_.column_count());
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = i;
      for (const StagedBatch& batch : staged_) sizes[i] += row_bytes(*batch.columns[layout_.column(i)]);
    }
    std::sort(places.begin(), places.end(),
              [&](size_t a, size_t b) { return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b; });
    return places;
  }

  // The positions that nested columns are gathered by; empty if there are none.
  Buffer positions_if_nested(const Placement& placement) {
    for (size_t place = 0; place < layout_.column_count(); ++place) {
      const size_t column = layout_.column(place);
      if (is_gathered(*staged_.front().columns[column]->type)) return gather_positions(staged_, placement, pool_);
    }
    return {};
  }

  Placement place(const std::vector<uint32_t>& order, size_t wanted_count) const {
    std::vector<int64_t> counts(partitions_.size(), 0);
    for (uint32_t p : order) counts[p] = partitions_[p]->staged_rows;
    return Placement(order, wanted_count, counts);
  }

  // A column that is distributed, and the parts of it that threads encode.
  struct ColumnWork {
    size_t place = 0;
    ArrayPtr rows;
    std::vector<std::span<const uint32_t>> parts;  // of the partitions
    std::atomic<size_t> parts_begun = 0;
    std::atomic<size_t> parts_done = 0;
  };

  void encode_scattered(const std::vector<uint32_t>& order, std::span<const uint32_t> wanted, bool is_last,
                        StagedBatch& held, bool is_parallel) {
    const Placement placement = place(order, wanted.size());
    const Buffer positions = positions_if_nested(placement);
    const std::vector<size_t> places = columns_by_size();
    // As many lanes as threads take a column each. Threads that have none help with one that is begun, and so does its
    // lane, which takes the next one only then: few columns are in memory at once.
    const size_t lanes = is_parallel ? std::min(context_.thread_count(), places.size()) : 1;
    std::atomic<size_t> columns_begun = 0;
    Tasks tasks(context_, is_parallel);
    for (size_t lane = 0; lane < lanes; ++lane) {
      tasks.run([&] {
        for (size_t next = columns_begun++; next < places.size(); next = columns_begun++) {
          auto work = std::make_shared<ColumnWork>();
          work->place = places[next];
          const size_t column = layout_.column(work->place);
          std::array<ArrayPtr, 2> arrays = scatter(
              staged_, column, placement, {positions.as<uint32_t>(), positions.size() / sizeof(uint32_t)}, pool_);
          work->rows = std::move(arrays[0]);
          held.columns[column] = std::move(arrays[1]);
          work->parts = parts_of(wanted, placement, row_bytes(*work->rows), is_last);
          const size_t helpers = is_parallel ? std::min(work->parts.size() - 1, context_.thread_count()) : 0;
          for (size_t i = 0; i < helpers; ++i) {
            tasks.run([this, work, &placement, is_last] { encode_parts(*work, placement, is_last); },
                      TaskPriority::kHigh);
          }
          encode_parts(*work, placement, is_last);
        }
      });
    }
    tasks.wait();
  }

  // All columns are distributed first, then one partition after the other is encoded and written: chunks of thousands of
  // partitions are never in memory together.
  void encode_by_partition(const std::vector<uint32_t>& order, std::span<const uint32_t> wanted, bool is_last,
                           StagedBatch& held, bool is_parallel) {
    const Placement placement = place(order, wanted.size());
    std::vector<ArrayPtr> columns(layout_.column_count());
    size_t bytes = 0;
    {
      const Buffer positions = positions_if_nested(placement);
      Tasks tasks(context_, is_parallel);
      for (size_t i = 0; i < layout_.column_count(); ++i) {
        tasks.run([&, i] {
          std::array<ArrayPtr, 2> arrays =
              scatter(staged_, layout_.column(i), placement,
                      {positions.as<uint32_t>(), positions.size() / sizeof(uint32_t)}, pool_);
          columns[i] = std::move(arrays[0]);
          held.columns[layout_.column(i)] = std::move(arrays[1]);
        });
      }
      tasks.wait();
    }
    staged_.clear();
    for (const ArrayPtr& column : columns) bytes += row_bytes(*column);
    Tasks tasks(context_, is_parallel);
    for (const std::span<const uint32_t> part : parts_of(wanted, placement, bytes, is_last)) {
      tasks.run([this, part, is_last, &columns, &placement] {
        with_worker([&](Worker& worker) {
          for (uint32_t p : part) {
            for (size_t i = 0; i < columns.size(); ++i) encode_rows(i, *columns[i], p, placement, is_last, worker);
          }
        });
      });
    }
    tasks.wait();
  }

  // Neighbouring partitions together, so that a part is about kTaskBytes of the column. A round that ends files has some
  // for each thread: with the last column come the files, each some system calls.
  std::vector<std::span<const uint32_t>> parts_of(std::span<const uint32_t> wanted, const Placement& placement,
                                                  size_t column_bytes, bool is_last) const {
    const size_t least = is_last ? 4 * context_.thread_count() : 1;
    const size_t part_count = std::max(least, column_bytes / kTaskBytes);
    const int64_t rows_a_part = placement.first_rows() / static_cast<int64_t>(part_count) + 1;
    std::vector<std::span<const uint32_t>> parts;
    for (size_t begin = 0; begin < wanted.size();) {
      size_t end = begin;
      for (int64_t rows = 0; end < wanted.size() && rows < rows_a_part;)
        rows += partitions_[wanted[end++]]->staged_rows;
      parts.push_back(wanted.subspan(begin, end - begin));
      begin = end;
    }
    return parts;
  }

  void encode_parts(ColumnWork& work, const Placement& placement, bool is_last) {
    for (size_t next = work.parts_begun++; next < work.parts.size(); next = work.parts_begun++) {
      with_worker([&](Worker& worker) {
        for (uint32_t p : work.parts[next]) encode_rows(work.place, *work.rows, p, placement, is_last, worker);
      });
      // Helpers that come late still hold `work`, but not its memory.
      if (++work.parts_done == work.parts.size()) work.rows = nullptr;
    }
  }

  // The rows of partition `p` of a distributed column.
  void encode_rows(size_t place, const Array& rows, uint32_t p, const Placement& placement, bool is_last,
                   Worker& worker) {
    Array piece = rows;
    if (piece.null_count != 0) piece.null_count = kUnknownNullCount;
    for (const Segment& segment : partitions_[p]->segments) {
      piece.offset = placement.start(p) + segment.begin;
      piece.length = segment.count;
      encode_piece(place, piece, segment, worker);
      end_segment(place, segment, worker);
    }
    column_done(*partitions_[p], is_last);
  }

  // Every batch is runs and nothing waits: pieces are slices of what came.
  void encode_slices(std::span<const uint32_t> wanted, bool is_last, bool is_parallel) {
    std::vector<std::vector<std::pair<const StagedBatch*, RowRun>>> runs(partitions_.size());
    for (const StagedBatch& batch : staged_) {
      for (const RowRun& run : batch.runs) runs[run.partition].emplace_back(&batch, run);
    }
    Tasks tasks(context_, is_parallel);
    for (size_t place : columns_by_size()) {
      for (uint32_t p : wanted) {
        tasks.run([this, &runs, place, p, is_last] {
          with_worker([&](Worker& worker) {
            auto run = runs[p].begin();
            int64_t taken = 0;  // of *run
            for (const Segment& segment : partitions_[p]->segments) {
              for (int64_t left = segment.count; left > 0;) {
                const int64_t count = std::min(left, run->second.count - taken);
                Array piece = *run->first->columns[layout_.column(place)];
                if (piece.null_count != 0) piece.null_count = kUnknownNullCount;
                piece.offset += run->second.begin + taken;
                piece.length = count;
                encode_piece(place, piece, segment, worker);
                left -= count;
                taken += count;
                if (taken == run->second.count) {
                  ++run;
                  taken = 0;
                }
              }
              end_segment(place, segment, worker);
            }
            column_done(*partitions_[p], is_last);
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

  void distribute_sorted(const std::vector<uint32_t>& order, std::span<const uint32_t> wanted, StagedBatch& held,
                         bool is_parallel) {
    const Placement placement = place(order, wanted.size());
    const Buffer positions = positions_if_nested(placement);
    std::vector<ArrayPtr> columns(schema_->fields().size());
    Tasks tasks(context_, is_parallel);
    for (size_t column = 0; column < columns.size(); ++column) {
      tasks.run([&, column] {
        std::array<ArrayPtr, 2> arrays =
            scatter(staged_, column, placement, {positions.as<uint32_t>(), positions.size() / sizeof(uint32_t)}, pool_);
        columns[column] = std::move(arrays[0]);
        held.columns[column] = std::move(arrays[1]);
      });
    }
    tasks.wait();
    for (uint32_t p : wanted) {
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
  const FileLayout layout_;
  const bool is_sorted_;
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
