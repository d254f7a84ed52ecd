#include "frazil/parquet/batch_reader.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/parquet/column_tree.h"
#include "frazil/parquet/dictionary_columns.h"
#include "frazil/parquet/memory_plan.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/page_index.h"

namespace frazil::parquet {

namespace {

// Offsets of a batch are int32; padding and estimates stay clear of the end.
constexpr size_t kBatchBytesMax = std::numeric_limits<int32_t>::max() - (size_t{1} << 16);

}  // namespace

class BatchReader::Impl {
 public:
  Impl(std::shared_ptr<const InputFile> file, std::shared_ptr<const FileMetadata> metadata, ReadOptions options,
       MemoryPool& pool)
      : file_(std::move(file)), metadata_(std::move(metadata)), options_(std::move(options)), pool_(pool) {
    check_options();
    decompressor_ = options_.decompressor;
    if (decompressor_ == nullptr) {
      own_decompressor_ = std::make_unique<Decompressor>(pool);
      decompressor_ = own_decompressor_.get();
    }
    tree_ = std::make_unique<ColumnTree>(
        *file_, *metadata_, options_.columns, *decompressor_,
        ColumnTree::Options{
            .pages = {.pages = {.window_bytes = options_.window_bytes, .verify_checksums = options_.verify_checksums},
                      .validate_utf8 = options_.validate_utf8,
                      .fronts_first = options_.first_batch_rows > 0},
            .bytes_max = limits_.bytes_max});
    for (size_t i = 0; i < columns().size(); ++i) {
      (columns()[i].is_variable() ? variable_ : fixed_).push_back(i);
      row_bits_ += columns()[i].row_bits();
      leaves_.push_back(columns()[i].leaf());
    }
    for (const RepeatedColumn& column : repeated()) {
      for (const auto& leaf : column.leaves) repeated_leaves_.push_back(leaf.get());
    }
    for (const RepeatedReader* leaf : repeated_leaves_) leaves_.push_back(leaf->leaf());
    for (size_t i = 0; i < leaves_.size(); ++i) every_leaf_.push_back(i);
    for (size_t leaf : leaves_) check_leaf(leaf);
    for (const ColumnReader& column : columns()) check_dictionaries(column);
    for (const RepeatedColumn& column : repeated()) {
      for (const auto& leaf : column.leaves) check_dictionaries(*leaf);
    }
    limits_.rows_max = static_cast<size_t>(options_.batch_rows);
    first_batch_rows_ = static_cast<size_t>(std::max<int64_t>(options_.first_batch_rows, 0));
    if (row_bits_ > 0) {
      limits_.rows_max = std::min(limits_.rows_max, std::max<size_t>(1, limits_.bytes_max * 8 / row_bits_));
    }
    group_ = static_cast<size_t>(options_.first_row_group);
  }

  void use_lanes(const Lanes& lanes) {
    lanes_ = lanes;
    const size_t further = lanes_.several() ? lanes_.count - 1 : 0;
    if (lane_decompressors_.size() > further) {
      for (ColumnReader& column : columns()) column.use(*decompressor_);
      for (RepeatedReader* leaf : repeated_leaves_) leaf->use(*decompressor_);
      lane_decompressors_.resize(further);
    }
    while (lane_decompressors_.size() < further) lane_decompressors_.push_back(std::make_unique<Decompressor>(pool_));
  }

  const SchemaPtr& schema() const { return tree_->schema(); }
  size_t needed_bytes() const { return needed_bytes_; }
  size_t bytes_in_use() const {
    size_t bytes = own_decompressor_ ? own_decompressor_->charged_bytes() : 0;
    for (const auto& decompressor : lane_decompressors_) bytes += decompressor->charged_bytes();
    bytes += tree_->bytes_in_use();
    for (const Block& block : shared_blocks_) bytes += block.bytes_in_use();
    return bytes;
  }
  size_t spared_bytes() const {
    // Row groups to come have dictionaries of their own.
    for (size_t group = phase_ == Phase::kGroup ? group_ : group_ + 1; group < group_end_; ++group) {
      if (wanted_rows(group) > 0) return 0;
    }
    size_t bytes = 0;
    for (const ColumnReader& column : columns()) bytes += column.spared_bytes();
    for (const RepeatedColumn& column : repeated()) {
      for (const auto& leaf : column.leaves) bytes += leaf->spared_bytes();
    }
    return bytes;
  }
  MemoryPool& pool() const { return pool_; }

  MemoryNeeds memory_needs(bool walk_page_headers) const {
    std::vector<size_t> groups;
    for (size_t group = static_cast<size_t>(options_.first_row_group); group < group_end_; ++group) {
      groups.push_back(group);
    }
    try {
      MemoryPlan plan = plan_memory(*file_, *metadata_, *tree_, groups, options_, limits_, walk_page_headers);
      size_t next = 0;
      for (ColumnReader& column : columns()) column.limit_data_bytes(plan.data_bytes[next++]);
      for (RepeatedColumn& column : repeated()) {
        for (auto& leaf : column.leaves) leaf->limit_data_bytes(plan.data_bytes[next++]);
      }
      return plan.needs;
    } catch (Error& error) {
      error.add_context(message("reading the pages of {}", file_->path()));
      throw;
    }
  }

  Step step(Reservation& reservation, std::optional<RecordBatch>& out) {
    MemorySource memory(reservation);
    out.reset();
    try {
      const Step result = run(memory, out);
      needed_bytes_ = result == Step::kNeedMemory ? memory.needed_bytes() : 0;
      return result;
    } catch (Error& error) {
      error.add_context(message("reading row group {} of {}", group_, file_->path()));
      throw;
    }
  }

 private:
  // Where a step goes on.
  enum class Phase : uint8_t {
    kGroup,     // find the next row group with rows, open its columns
    kLoad,      // load their dictionaries: what only that takes is free again before a batch takes its buffers
    kBegin,     // take the offsets of the variable columns
    kVariable,  // decode the variable columns side by side: they decide how many rows the batch has
    kFixed,     // decode the others, one after the other, as many rows
    kFinish,    // make the batch
    kEnd,
  };

  std::vector<ColumnReader>& columns() const { return tree_->columns(); }
  std::vector<RepeatedColumn>& repeated() const { return tree_->repeated(); }

  void check_options() {
    const auto group_count = static_cast<int64_t>(metadata_->row_groups().size());
    const int64_t first = options_.first_row_group;
    const int64_t count = options_.row_group_count < 0 ? group_count - first : options_.row_group_count;
    if (first < 0 || first > group_count || count > group_count - first) {
      throw_error(ErrorKind::kInvalidArgument, "row groups {} + {} of a file that has {}", first, count, group_count);
    }
    if (options_.batch_rows < 1) throw_error(ErrorKind::kInvalidArgument, "batches of {} rows", options_.batch_rows);
    group_end_ = static_cast<size_t>(first + count);
    limits_.bytes_max = std::min(options_.batch_bytes_max, kBatchBytesMax);
    options_.window_bytes = std::max<size_t>(options_.window_bytes, 4096);
    if (!options_.rows.empty() && options_.rows.size() != static_cast<size_t>(count)) {
      throw_error(ErrorKind::kInvalidArgument, "rows of {} row groups where {} are read", options_.rows.size(), count);
    }
    for (size_t i = 0; i < options_.rows.size(); ++i) {
      const auto rows = static_cast<uint64_t>(metadata_->row_groups()[static_cast<size_t>(first) + i].row_count);
      if (options_.rows[i].rows.end() > rows) {
        throw_error(ErrorKind::kInvalidArgument, "row {} of row group {}, which has {}",
                    options_.rows[i].rows.end() - 1, static_cast<size_t>(first) + i, rows);
      }
    }
  }

  void check_leaf(size_t leaf) const {
    for (size_t group = static_cast<size_t>(options_.first_row_group); group < group_end_; ++group) {
      const ColumnChunk& chunk = metadata_->row_groups()[group].columns[leaf];
      if (chunk.encrypted) {
        throw_error(ErrorKind::kUnsupported, "column '{}' is encrypted, which is not read yet", leaf_path(leaf));
      }
      if (chunk.in_other_file) {
        throw_error(ErrorKind::kUnsupported, "column '{}' lies in another file, which is not read", leaf_path(leaf));
      }
    }
  }

  // Indices are asked for: every page must have some.
  template <typename Reader>
  void check_dictionaries(const Reader& column) const {
    if (!column.conversion().to_indices) return;
    const auto first = static_cast<size_t>(options_.first_row_group);
    if (has_dictionaries(*metadata_, column.leaf(), first, group_end_)) return;
    throw_error(ErrorKind::kInvalidArgument,
                "column '{}' is not dictionary-encoded in all of its pages and cannot be read as {}", column.path(),
                column.type()->to_string());
  }

  std::string leaf_path(size_t leaf) const { return metadata_->schema().path(metadata_->schema().leaf_node(leaf)); }

  Step run(MemorySource& memory, std::optional<RecordBatch>& out) {
    for (;;) {
      switch (phase_) {
        case Phase::kGroup:
          while (group_ < group_end_ && wanted_rows(group_) == 0) ++group_;
          if (group_ == group_end_) {
            close();
            break;
          }
          if (!open_group(memory)) return Step::kNeedMemory;
          group_rows_left_ = static_cast<size_t>(wanted_rows(group_));
          phase_ = Phase::kLoad;
          break;
        case Phase::kLoad:
          if (!load_dictionaries(memory)) return Step::kNeedMemory;
          phase_ = Phase::kBegin;
          break;
        case Phase::kBegin:
          if (!begin_batch(memory)) return Step::kNeedMemory;
          phase_ = Phase::kVariable;
          break;
        case Phase::kVariable:
          if (!decode_variable(memory)) return Step::kNeedMemory;
          phase_ = Phase::kFixed;
          break;
        case Phase::kFixed:
          if (!decode_fixed(memory)) return Step::kNeedMemory;
          phase_ = Phase::kFinish;
          break;
        case Phase::kFinish:
          if (!tree_->keep_tails(rows_, memory)) return Step::kNeedMemory;
          finish_batch(memory, out);
          return Step::kBatch;
        case Phase::kEnd:
          return Step::kEnd;
      }
    }
  }

  // Adds where it happened to what goes wrong in a column.
  template <typename Reader, typename Work>
  auto in_column(const Reader& column, Work&& work) {
    try {
      return work();
    } catch (CorruptError& error) {
      if (error.offset() != CorruptError::kNoOffset) {
        error.add_context(message("column '{}'", column.path()));
        throw;
      }
      CorruptError with_offset(column.offset(), error.message());
      with_offset.add_context(message("column '{}'", column.path()));
      throw with_offset;
    } catch (Error& error) {
      error.add_context(message("column '{}'", column.path()));
      throw;
    }
  }

  // ---- Lanes ----

  // Does work(i) for each of `tasks`, indices of leaves_, on as many lanes as there are; the longest chunks first, so that
  // no lane is left with one of them in the end. `bytes`: what they work on, about. False if one of them lacked memory.
  template <typename Work>
  bool for_each(std::span<const size_t> tasks, double bytes, Work&& work) {
    if (!lanes_.several() || tasks.size() < 2 || bytes < static_cast<double>(lanes_.bytes_min)) {
      return std::all_of(tasks.begin(), tasks.end(), work);
    }
    std::vector<size_t> order(tasks.begin(), tasks.end());
    const RowGroup& group = metadata_->row_groups()[group_];
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const int64_t bytes_a = group.columns[leaves_[a]].total_compressed_size;
      const int64_t bytes_b = group.columns[leaves_[b]].total_compressed_size;
      return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
    });
    std::vector<std::exception_ptr> errors(leaves_.size());
    std::atomic<size_t> next = 0;
    std::atomic<bool> complete = true;
    lanes_.runner->run(std::min(lanes_.count, order.size()), [&](size_t lane) {
      Decompressor& decompressor = lane == 0 ? *decompressor_ : *lane_decompressors_[lane - 1];
      for (size_t i = next++; i < order.size(); i = next++) {
        const size_t task = order[i];
        try {
          if (task < columns().size()) {
            columns()[task].use(decompressor);
          } else {
            repeated_leaves_[task - columns().size()]->use(decompressor);
          }
          if (!work(task)) complete = false;
        } catch (...) {
          errors[task] = std::current_exception();
        }
      }
    });
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return complete;
  }

  // Bytes of values of these columns in so many rows, as the footer tells; only lanes want to know.
  double value_bytes(std::span<const size_t> tasks, size_t rows) const {
    if (!lanes_.several()) return 0;
    const RowGroup& group = metadata_->row_groups()[group_];
    double bytes = 0;
    for (size_t task : tasks) bytes += static_cast<double>(group.columns[leaves_[task]].total_uncompressed_size);
    return bytes * static_cast<double>(rows) / static_cast<double>(std::max<int64_t>(group.row_count, 1));
  }

  // Of variable columns the first page too, which the batch starts with.
  bool load_dictionaries(MemorySource& memory) {
    const auto load = [&](size_t task) {
      if (task >= columns().size()) {
        RepeatedReader& leaf = *repeated_leaves_[task - columns().size()];
        return in_column(leaf, [&] { return leaf.load_dictionary(memory); });
      }
      ColumnReader& column = columns()[task];
      return in_column(column, [&] {
        return lanes_.several() && column.is_variable() ? column.load_page(memory) : column.load_dictionary(memory);
      });
    };
    double bytes = 0;  // compressed ones: what a dictionary becomes is not told
    for (size_t leaf : leaves_) {
      const ColumnChunk& chunk = metadata_->row_groups()[group_].columns[leaf];
      if (chunk.dictionary_page_offset <= 0) continue;
      bytes += std::max(static_cast<double>(chunk.data_page_offset) - static_cast<double>(chunk.dictionary_page_offset),
                        0.0);
    }
    return for_each(every_leaf_, bytes, load);
  }

  const GroupRows* group_rows(size_t group) const {
    return options_.rows.empty() ? nullptr : &options_.rows[group - static_cast<size_t>(options_.first_row_group)];
  }

  uint64_t wanted_rows(size_t group) const {
    const GroupRows* rows = group_rows(group);
    return rows != nullptr ? rows->rows.row_count() : static_cast<uint64_t>(metadata_->row_groups()[group].row_count);
  }

  ChunkRange range_of(size_t leaf) const {
    try {
      return chunk_range(metadata_->row_groups()[group_].columns[leaf], *metadata_, file_->size());
    } catch (Error& error) {
      error.add_context(message("column '{}'", leaf_path(leaf)));
      throw;
    }
  }

  bool open_group(MemorySource& memory) {
    if (next_shared_ == 0) {
      std::vector<ChunkRange> ranges;
      for (size_t leaf : leaves_) ranges.push_back(range_of(leaf));
      shared_ = plan_shared_reads(ranges, options_.window_bytes);
      for (Block& block : shared_blocks_) memory.free(block);
      if (shared_blocks_.size() < shared_.size()) shared_blocks_.resize(shared_.size());
    }
    for (; next_shared_ < shared_.size(); ++next_shared_) {
      const ChunkRange range = shared_[next_shared_].range;
      const auto size = static_cast<size_t>(range.end - range.begin);
      Block& block = shared_blocks_[next_shared_];
      if (block.capacity() < size && !memory.allocate(block, size)) return false;
      file_->read_at(range.begin, {block.data(), size});
    }
    next_shared_ = 0;
    std::vector<const std::byte*> whole(leaves_.size(), nullptr);
    for (size_t i = 0; i < shared_.size(); ++i) {
      for (size_t column : shared_[i].columns) {
        whole[column] = shared_blocks_[i].data() + (range_of(leaves_[column]).begin - shared_[i].range.begin);
      }
    }
    const auto row_count = static_cast<uint64_t>(metadata_->row_groups()[group_].row_count);
    const GroupRows* rows = group_rows(group_);
    all_rows_ = {0, row_count};
    data_bytes_max_ = batch_data_bytes_max(*tree_, metadata_->row_groups()[group_], limits_);
    const GroupView view{.row_group = group_,
                         .row_count = static_cast<size_t>(row_count),
                         .rows = rows != nullptr ? rows->rows.ranges() : std::span<const RowRange>(&all_rows_, 1)};
    const auto open = [&](auto& reader, const std::byte* bytes) {
      const OffsetIndex* index =
          rows != nullptr && rows->pages != nullptr ? rows->pages->offsets(reader.leaf()) : nullptr;
      in_column(reader, [&] { reader.open(view, bytes, index); });
    };
    size_t next = 0;
    for (ColumnReader& column : columns()) open(column, whole[next++]);
    for (RepeatedColumn& column : repeated()) {
      for (auto& leaf : column.leaves) open(*leaf, whole[next++]);
    }
    return true;
  }

  bool begin_batch(MemorySource& memory) {
    rows_target_ = std::min(limits_.rows_max, group_rows_left_);
    if (first_batch_rows_ > 0) rows_target_ = std::min(rows_target_, first_batch_rows_);
    for (size_t i : variable_) {
      if (!columns()[i].begin_batch(rows_target_, memory)) return false;
    }
    rows_ = 0;
    stride_end_ = 0;
    return true;
  }

  // The variable columns advance page border by page border, so that before each stride it is known, or can be found
  // out, how many rows still fit. Columns with lists are ahead of them: what their rows take is known when they are decoded.
  bool decode_variable(MemorySource& memory) {
    if (variable_.empty() && repeated().empty()) {
      rows_ = rows_target_;
      return true;
    }
    while (rows_ < rows_target_) {
      if (stride_end_ == rows_) {
        for (RepeatedColumn& column : repeated()) {
          // A piece that wanted memory goes on first: the batch does not depend on when the memory came. Its page may have
          // completed the row before it already.
          while (column.in_piece() || column.complete_rows() <= rows_) {
            if (!column.in_piece() && (column.behind().is_full() || (rows_ > 0 && next_row_passes(column))))
              return true;
            if (!in_column(column.behind(), [&] { return column.advance(rows_target_, memory); })) return false;
          }
        }
        const auto load = [&](size_t i) {
          return in_column(columns()[i], [&] { return columns()[i].load_page(memory); });
        };
        if (!std::all_of(variable_.begin(), variable_.end(), load)) return false;
        stride_end_ = rows_ + plan_stride();
        if (stride_end_ == rows_) return true;
      }
      if (!decode_stride(memory)) return false;
      rows_ = stride_end_;
    }
    return true;
  }

  // Decodes the variable columns up to stride_end_. With several lanes the others keep up with them, and who comes to the
  // end of a page loads the next one.
  bool decode_stride(MemorySource& memory) {
    const bool all = lanes_.several();
    const std::span<const size_t> tasks = all ? std::span(every_leaf_).first(columns().size()) : std::span(variable_);
    return for_each(tasks, value_bytes(tasks, stride_end_ - rows_), [&](size_t i) {
      ColumnReader& column = columns()[i];
      if (all && !column.begin_batch(rows_target_, memory)) return false;
      return in_column(column, [&] {
        if (!column.decode_to(stride_end_, memory)) return false;
        return !all || !column.is_variable() || stride_end_ == rows_target_ || column.load_page(memory);
      });
    });
  }

  // Bits that the batch's first rows_ rows have.
  uint64_t batch_bits() {
    uint64_t bits = rows_ * row_bits_;
    for (size_t i : variable_) bits += columns()[i].data_bytes() * 8;
    for (const RepeatedColumn& column : repeated()) bits += column.bits_of(rows_);
    return bits;
  }

  // What the column has of the next row is too much already.
  bool next_row_passes(const RepeatedColumn& column) {
    return batch_bits() - column.bits_of(rows_) + column.bits_with_next(rows_) > uint64_t{limits_.bytes_max} * 8;
  }

  // Rows of the current pages that still fit in the batch: at least one if it is empty.
  size_t plan_stride() {
    size_t rows = rows_target_ - rows_;
    for (size_t i : variable_) rows = std::min(rows, columns()[i].page_rows_left());
    for (const RepeatedColumn& column : repeated()) rows = std::min(rows, column.complete_rows() - rows_);
    const uint64_t bits_max = uint64_t{limits_.bytes_max} * 8;
    const uint64_t bits = batch_bits();
    uint64_t data = 0;
    for (size_t i : variable_) data += columns()[i].data_bytes();
    uint64_t data_bound = 0;
    for (size_t i : variable_) data_bound += std::min<uint64_t>(columns()[i].value_bytes_bound(rows), bits_max / 8 + 1);
    uint64_t bound = rows * row_bits_ + data_bound * 8;
    for (const RepeatedColumn& column : repeated()) bound += column.bits_of(rows_ + rows) - column.bits_of(rows_);
    if (bits + bound <= bits_max && data + data_bound <= data_bytes_max_) return rows;
    const size_t fitting = count_fitting_rows(rows, bits > bits_max ? 0 : bits_max - bits,
                                              data > data_bytes_max_ ? 0 : data_bytes_max_ - data);
    return fitting == 0 && rows_ == 0 ? 1 : fitting;
  }

  // How many of the next `rows` rows have together at most `bits`, and `data_bytes` of variable values.
  size_t count_fitting_rows(size_t rows, uint64_t bits, uint64_t data_bytes) {
    std::vector<ColumnReader::LookAhead> ahead;
    for (size_t i : variable_) ahead.push_back(columns()[i].look_ahead());
    uint64_t before = 0;
    for (const RepeatedColumn& column : repeated()) before += column.bits_of(rows_);
    uint64_t totals[ValueDecoder::kScratch];
    for (size_t done = 0; done < rows;) {
      const size_t part = std::min(rows - done, ValueDecoder::kScratch);
      std::fill_n(totals, part, 0);
      for (size_t i = 0; i < variable_.size(); ++i) {
        const ColumnReader& column = columns()[variable_[i]];
        in_column(column, [&] { column.add_value_bytes(ahead[i], part, totals); });
      }
      for (size_t row = 0; row < part; ++row) {
        uint64_t behind = 0;
        for (const RepeatedColumn& column : repeated()) behind += column.bits_of(rows_ + done + row + 1);
        const uint64_t row_bits = totals[row] * 8 + row_bits_ + (behind - before);
        before = behind;
        if (row_bits > bits || totals[row] > data_bytes) return done + row;
        bits -= row_bits;
        data_bytes -= totals[row];
      }
      done += part;
    }
    return rows;
  }

  bool decode_fixed(MemorySource& memory) {
    size_t decoded = rows_;
    for (size_t i : fixed_) decoded = std::min(decoded, columns()[i].row_count());
    return for_each(fixed_, value_bytes(fixed_, rows_ - decoded), [&](size_t i) {
      ColumnReader& column = columns()[i];
      if (!column.begin_batch(rows_, memory)) return false;
      return in_column(column, [&] { return column.decode_to(rows_, memory); });
    });
  }

  void finish_batch(MemorySource& memory, std::optional<RecordBatch>& out) {
    group_rows_left_ -= rows_;
    first_batch_rows_ = 0;
    out.emplace(tree_->schema(), static_cast<int64_t>(rows_), tree_->finish_batch(rows_, memory));
    phase_ = Phase::kBegin;
    if (group_rows_left_ == 0) {
      ++group_;
      phase_ = Phase::kGroup;
    }
  }

  void close() {
    for (ColumnReader& column : columns()) column.close();
    for (RepeatedColumn& column : repeated()) {
      for (auto& leaf : column.leaves) leaf->close();
    }
    shared_blocks_.clear();
    phase_ = Phase::kEnd;
  }

  std::shared_ptr<const InputFile> file_;
  std::shared_ptr<const FileMetadata> metadata_;
  ReadOptions options_;
  MemoryPool& pool_;
  std::unique_ptr<Decompressor> own_decompressor_;
  Decompressor* decompressor_ = nullptr;
  // memory_needs tells the columns what it found out: how large their estimates may get. It changes no result.
  std::unique_ptr<ColumnTree> tree_;
  std::vector<RepeatedReader*> repeated_leaves_;
  std::vector<size_t> leaves_;      // that are read: of columns(), then of repeated()
  std::vector<size_t> every_leaf_;  // indices of leaves_
  std::vector<size_t> variable_;    // indices of columns()
  std::vector<size_t> fixed_;
  size_t row_bits_ = 0;
  BatchLimits limits_;
  size_t group_end_ = 0;

  Phase phase_ = Phase::kGroup;
  size_t group_ = 0;
  size_t group_rows_left_ = 0;
  size_t first_batch_rows_ = 0;  // 0 behind the first batch
  RowRange all_rows_;
  size_t data_bytes_max_ = 0;  // of a batch of this row group: batch_data_bytes_max()
  std::vector<SharedRead> shared_;
  std::vector<Block> shared_blocks_;
  size_t next_shared_ = 0;
  size_t rows_target_ = 0;
  size_t rows_ = 0;        // of the batch, decided so far
  size_t stride_end_ = 0;  // rows that the variable columns are on the way to
  size_t needed_bytes_ = 0;
  Lanes lanes_;
  std::vector<std::unique_ptr<Decompressor>> lane_decompressors_;  // of all but the first lane
};

BatchReader::BatchReader(std::shared_ptr<const InputFile> file, std::shared_ptr<const FileMetadata> metadata,
                         ReadOptions options, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(std::move(file), std::move(metadata), std::move(options), pool)) {}
BatchReader::~BatchReader() = default;
BatchReader::BatchReader(BatchReader&&) noexcept = default;
BatchReader& BatchReader::operator=(BatchReader&&) noexcept = default;

const SchemaPtr& BatchReader::schema() const {
  return impl_->schema();
}

BatchReader::MemoryNeeds BatchReader::memory_needs(bool walk_page_headers) const {
  return impl_->memory_needs(walk_page_headers);
}

BatchReader::Step BatchReader::step(Reservation& reservation, std::optional<RecordBatch>& out) {
  return impl_->step(reservation, out);
}

void BatchReader::use_lanes(const Lanes& lanes) {
  impl_->use_lanes(lanes);
}

size_t BatchReader::bytes_in_use() const {
  return impl_->bytes_in_use();
}

size_t BatchReader::spared_bytes() const {
  return impl_->spared_bytes();
}

size_t BatchReader::needed_bytes() const {
  return impl_->needed_bytes();
}

std::optional<RecordBatch> BatchReader::next() {
  Reservation reservation = impl_->pool().reserve(0);
  std::optional<RecordBatch> batch;
  if (step(reservation, batch) == Step::kNeedMemory) {
    const size_t missing = impl_->needed_bytes();
    throw MemoryLimitError(impl_->pool().stats().held_bytes + missing,
                           message("reading a Parquet file needs {} more bytes than the budget has", missing));
  }
  return batch;
}

}  // namespace frazil::parquet
