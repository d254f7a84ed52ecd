#include "frazil/write/round_encoder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "frazil/runtime/context.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/parallel.h"
#include "frazil/write/scatter.h"

namespace frazil::write {

namespace {

// How much of a column one task encodes at least, where a partition is not more.
constexpr size_t kTaskBytes = size_t{2} << 20;
// What is distributed of a column at once, unless pieces of partitions had fewer rows than kPieceRows.
constexpr size_t kRowBlockBytes = size_t{1} << 20;
constexpr size_t kPieceRows = 2048;

// By column: the dictionary that all batches share, 0 if they do not.
std::vector<uint64_t> shared_dictionaries(std::span<const StagedBatch> batches) {
  std::vector<uint64_t> ids = batches.front().dictionary_ids;
  for (const StagedBatch& batch : batches) {
    for (size_t c = 0; c < ids.size(); ++c) {
      if (batch.dictionary_ids[c] != ids[c]) ids[c] = 0;
    }
  }
  return ids;
}

}  // namespace

// Some of a partition's rows of the round.
struct RoundEncoder::PartitionRows {
  int64_t start = 0;  // where they lie in an array
  int64_t begin = 0;  // among all of the partition
  int64_t count = 0;
};

struct RoundEncoder::SizedColumn {
  size_t place = 0;
  size_t bytes = 0;
};

RoundEncoder::RoundEncoder(const EncodeSetup& setup, Round round)
    : setup_(setup),
      round_(std::move(round)),
      wanted_(round_.order.first(round_.wanted_count)),
      waiting_(round_.order.subspan(round_.wanted_count)) {
  for (const StagedBatch& batch : round_.staged) row_count_ += batch.row_count;
  if (row_count_ >= kParallelRowsMin) threads_ = &setup.context.thread_pool();
}

std::vector<StagedBatch> RoundEncoder::encode() {
  if (setup_.sorter != nullptr) {
    encode_sorted();
  } else if (is_sliced()) {
    encode_slices();
  } else if (round_.has_many_chunks) {
    encode_by_partition();
  } else {
    encode_by_block();
  }
  return take_held();
}

bool RoundEncoder::is_sliced() const {
  return waiting_.empty() && std::all_of(round_.staged.begin(), round_.staged.end(),
                                         [](const StagedBatch& batch) { return batch.is_runs(); });
}

// ---- Distributing

// The largest first.
std::vector<RoundEncoder::SizedColumn> RoundEncoder::columns_by_size() const {
  std::vector<SizedColumn> columns(setup_.layout.column_count());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].place = i;
    for (const StagedBatch& batch : round_.staged) {
      columns[i].bytes += row_bytes(*batch.columns[setup_.layout.column(i)]);
    }
  }
  std::sort(columns.begin(), columns.end(), [](const SizedColumn& a, const SizedColumn& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
  });
  return columns;
}

void RoundEncoder::cut_blocks(size_t block_count) {
  BlockPlan plan{.order = round_.order,
                 .first_count = wanted_.size(),
                 .partition_count = round_.partitions.size(),
                 .block_count = block_count,
                 .has_positions = false};
  for (size_t place = 0; place < setup_.layout.column_count(); ++place) {
    const size_t column = setup_.layout.column(place);
    plan.has_positions = plan.has_positions || is_gathered(*round_.staged.front().columns[column]->type);
  }
  blocks_ = write::cut_blocks(round_.staged, plan, threads_, setup_.pool);
  for (const RowBlock& block : blocks_) {
    StagedBatch& held = held_.emplace_back();
    held.columns.resize(setup_.schema.fields().size());
    held.dictionary_ids = shared_dictionaries(block.batches);
    for (uint32_t p : waiting_) {
      if (block.counts[p] == 0) continue;
      held.runs.push_back({p, held.row_count, block.counts[p]});
      held.row_count += block.counts[p];
    }
  }
}

// Between blocks a page of each partition is open. Where partitions have fewer rows than that, or where chunks end
// now, distributing all rows at once takes less.
size_t RoundEncoder::block_count(size_t column_bytes) const {
  const size_t rows = static_cast<size_t>(row_count_) / wanted_.size();
  if (round_.is_last || rows < setup_.layout.plan()->options().columns.page_rows) return 1;
  return std::clamp<size_t>(column_bytes / kRowBlockBytes, 1, std::max<size_t>(rows / kPieceRows, 1));
}

// A column of a block: rows of wanted partitions, nullptr if there are none. What waits goes to `held_`.
ArrayPtr RoundEncoder::distribute_column(size_t block_index, size_t column) {
  const RowBlock& block = blocks_[block_index];
  std::array<ArrayPtr, 2> arrays =
      scatter(block.batches, column, block.placement,
              {block.positions.as<uint32_t>(), block.positions.size() / sizeof(uint32_t)}, setup_.pool);
  held_[block_index].columns[column] = std::move(arrays[1]);
  return std::move(arrays[0]);
}

// Neighbouring partitions together, so that a part is about kTaskBytes of the column, and for threads that help some for
// each of them. A round that ends files has more: with the last column come the files, each some system calls.
std::vector<std::span<const uint32_t>> RoundEncoder::parts_of(size_t column_bytes, bool is_helped) const {
  const size_t least = !is_helped ? 1 : setup_.context.thread_count() * (round_.is_last ? 4 : 2);
  const size_t part_count = std::max(least, column_bytes / kTaskBytes);
  int64_t row_count = 0;
  for (uint32_t p : wanted_) row_count += round_.partitions[p]->staged_rows;
  const int64_t rows_a_part = row_count / static_cast<int64_t>(part_count) + 1;
  std::vector<std::span<const uint32_t>> parts;
  for (size_t begin = 0; begin < wanted_.size();) {
    size_t end = begin;
    for (int64_t rows = 0; end < wanted_.size() && rows < rows_a_part;) {
      rows += round_.partitions[wanted_[end++]]->staged_rows;
    }
    parts.push_back(wanted_.subspan(begin, end - begin));
    begin = end;
  }
  return parts;
}

// Bytes of what waits are counted anew, and columns that files do not have stand in as nulls.
std::vector<StagedBatch> RoundEncoder::take_held() {
  std::vector<StagedBatch> held;
  for (StagedBatch& batch : held_) {
    if (batch.row_count == 0) continue;
    for (size_t c = 0; c < batch.columns.size(); ++c) {
      if (batch.columns[c] == nullptr) {
        batch.columns[c] =
            make_null_array(spec::to_arrow_type(*setup_.schema.fields()[c].type), batch.row_count, setup_.pool);
      }
      batch.bytes += row_bytes(*batch.columns[c]);
    }
    held.push_back(std::move(batch));
  }
  return held;
}

// ---- Ways of encoding

// Every batch is runs and nothing waits: pieces are slices of what came.
void RoundEncoder::encode_slices() {
  std::vector<std::vector<std::pair<const StagedBatch*, RowRun>>> runs(round_.partitions.size());
  for (const StagedBatch& batch : round_.staged) {
    for (const RowRun& run : batch.runs) runs[run.partition].emplace_back(&batch, run);
  }
  Tasks tasks(threads_);
  for (const SizedColumn& column : columns_by_size()) {
    for (uint32_t p : wanted_) {
      tasks.run([this, &runs, place = column.place, p] {
        setup_.workers.with_worker([&](EncodeWorker& worker) {
          PartitionState& partition = *round_.partitions[p];
          int64_t begin = 0;
          for (const auto& [batch, run] : runs[p]) {
            const Array& rows = *batch->columns[setup_.layout.column(place)];
            encode_rows(place, rows, partition, {.start = rows.offset + run.begin, .begin = begin, .count = run.count},
                        worker);
            begin += run.count;
          }
          partition.column_done(round_.is_last);
        });
      });
    }
  }
  tasks.wait();
}

// Few partitions: a column after the other, block by block. As many lanes as threads take a column each; few columns
// are in memory at once. Threads that have none help with the blocks of one that is begun.
void RoundEncoder::encode_by_block() {
  const std::vector<SizedColumn> columns = columns_by_size();
  cut_blocks(block_count(columns.front().bytes));
  const size_t thread_count = setup_.context.thread_count();
  const size_t lanes = threads_ != nullptr ? std::min(thread_count, columns.size()) : 1;
  std::atomic<size_t> columns_begun = 0;
  Tasks tasks(threads_);
  for (size_t lane = 0; lane < lanes; ++lane) {
    tasks.run([&] {
      for (size_t next = columns_begun++; next < columns.size(); next = columns_begun++) {
        // The last columns, with which the files come, may find other lanes done.
        const bool is_helped = threads_ != nullptr && (lanes < thread_count || next + lanes >= columns.size());
        encode_column(columns[next].place, is_helped);
      }
    });
  }
  tasks.wait();
}

void RoundEncoder::encode_column(size_t place, bool is_helped) {
  std::vector<int64_t> done(round_.partitions.size(), 0);  // rows of each partition
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const RowBlock& block = blocks_[b];
    const ArrayPtr rows = distribute_column(b, setup_.layout.column(place));
    if (rows == nullptr) continue;
    const std::vector<std::span<const uint32_t>> parts = parts_of(row_bytes(*rows), is_helped);
    for_each_index(is_helped ? threads_ : nullptr, parts.size(), [&](size_t part) {
      setup_.workers.with_worker([&](EncodeWorker& worker) {
        for (uint32_t p : parts[part]) {
          PartitionState& partition = *round_.partitions[p];
          const PartitionRows piece{.start = block.placement.start(p), .begin = done[p], .count = block.counts[p]};
          encode_rows(place, *rows, partition, piece, worker);
          done[p] += piece.count;
          if (done[p] == partition.staged_rows && piece.count != 0) partition.column_done(round_.is_last);
        }
      });
    });
  }
}

// All columns are distributed first, then one partition after the other is encoded and written: chunks of thousands of
// partitions are never in memory together.
void RoundEncoder::encode_by_partition() {
  cut_blocks(1);
  const RowBlock& block = blocks_.front();
  std::vector<ArrayPtr> columns(setup_.layout.column_count());
  Tasks tasks(threads_);
  for (size_t i = 0; i < columns.size(); ++i) {
    tasks.run([&, i] { columns[i] = distribute_column(0, setup_.layout.column(i)); });
  }
  tasks.wait();
  round_.staged.clear();
  blocks_.front().batches.clear();
  blocks_.front().positions = Buffer();
  size_t bytes = 0;
  for (const ArrayPtr& column : columns) bytes += row_bytes(*column);
  for (const std::span<const uint32_t> part : parts_of(bytes, threads_ != nullptr)) {
    tasks.run([this, part, &columns, &block] {
      setup_.workers.with_worker([&](EncodeWorker& worker) {
        for (uint32_t p : part) {
          PartitionState& partition = *round_.partitions[p];
          for (size_t i = 0; i < columns.size(); ++i) {
            encode_rows(i, *columns[i], partition,
                        {.start = block.placement.start(p), .begin = 0, .count = block.counts[p]}, worker);
            partition.column_done(round_.is_last);
          }
        }
      });
    });
  }
  tasks.wait();
}

// Each partition's rows of the round become files of their own.
void RoundEncoder::encode_sorted() {
  cut_blocks(1);
  const Placement& placement = blocks_.front().placement;
  std::vector<ArrayPtr> columns(setup_.schema.fields().size());
  Tasks tasks(threads_);
  for (size_t column = 0; column < columns.size(); ++column) {
    tasks.run([&, column] { columns[column] = distribute_column(0, column); });
  }
  tasks.wait();
  const FileLayout& layout = setup_.layout;
  for (uint32_t p : wanted_) {
    tasks.run([&, p] {
      const int64_t row_count = round_.partitions[p]->staged_rows;
      std::vector<ArrayPtr> rows;
      for (const ArrayPtr& column : columns) rows.push_back(column->slice(placement.start(p), row_count));
      rows = setup_.sorter->sort(rows, setup_.pool);
      std::vector<ArrayPtr> columns_of_file;
      std::vector<Field> fields;
      for (size_t i = 0; i < layout.column_count(); ++i) {
        const ArrayPtr& column = rows[layout.column(i)];
        const ArrayPtr cut = layout.cut(i, *column);
        columns_of_file.push_back(cut == nullptr ? column : cut);
        fields.push_back(layout.plan()->schema().arrow_schema()->field(i));
        fields.back().type = columns_of_file.back()->type;
      }
      write_sorted(*round_.partitions[p],
                   RecordBatch(frazil::Schema::make(std::move(fields)), row_count, std::move(columns_of_file)));
    });
  }
  tasks.wait();
}

void RoundEncoder::write_sorted(PartitionState& partition, const RecordBatch& batch) {
  for (int64_t begin = 0; begin < batch.row_count(); begin += round_.rows_per_group) {
    partition.files.write(batch.slice(begin, std::min(round_.rows_per_group, batch.row_count() - begin)));
    if (partition.files.file_bytes() >= setup_.target_file_bytes) partition.files.finish();
  }
  partition.files.finish();
}

// ---- Pieces

// A piece of a distributed column.
void RoundEncoder::encode_rows(size_t place, const Array& rows, PartitionState& partition, const PartitionRows& piece,
                               EncodeWorker& worker) {
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

void RoundEncoder::encode_piece(size_t place, const Array& piece, const Segment& segment, EncodeWorker& worker) {
  const ArrayPtr cut = setup_.layout.cut(place, piece);
  const parquet::WritePlan& plan = *setup_.layout.plan();
  worker.shredder.shred(place, cut == nullptr ? piece : *cut, [&](size_t leaf, const parquet::LeafPiece& values) {
    std::optional<parquet::ChunkEncoder>& encoder = segment.group->encoders[leaf];
    if (!encoder) encoder.emplace(plan.leaves()[leaf], plan.chunk_options()[leaf], setup_.pool);
    encoder->write(values, worker.scratch);
  });
}

// The column's part of the segment is encoded: the row group ends with it, or waits for more.
void RoundEncoder::end_segment(size_t place, const Segment& segment, EncodeWorker& worker) {
  const parquet::SchemaNode& node = setup_.layout.plan()->schema().column_node(place);
  for (size_t leaf = node.first_leaf; leaf < node.first_leaf + node.leaf_count; ++leaf) {
    if (segment.ends_group) {
      segment.group->end_leaf(leaf, worker.scratch);
    } else if (std::optional<parquet::ChunkEncoder>& encoder = segment.group->encoders[leaf]) {
      encoder->shrink();
    }
  }
}

}  // namespace frazil::write
