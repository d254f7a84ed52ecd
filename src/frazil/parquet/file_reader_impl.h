// The working of FileReader, shared with PushDecoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frazil/codec/codec.h"
#include "frazil/io/file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/list_forms.h"
#include "frazil/parquet/projection.h"
#include "frazil/parquet/pruning.h"
#include "frazil/parquet/variant_shredding.h"
#include "frazil/predicate/evaluate.h"

namespace frazil::parquet {

// Arrays of one column that are given out in parts.
class ArrayQueue {
 public:
  void push(ArrayPtr array);
  // The next `count` values, which are there.
  ArrayPtr front(int64_t count, MemoryPool& pool) const;
  void drop(int64_t count);
  void clear() { arrays_.clear(); }

 private:
  std::deque<ArrayPtr> arrays_;
};

class FileReader::Impl {
 public:
  // Called with the byte ranges that the next phase reads, before it starts; may throw, and the phase then starts again
  // with the next call of next().
  using RangeHook = std::function<void(std::span<const ByteRange>)>;

  Impl(std::shared_ptr<const InputFile> file, FileReaderOptions options, MemoryPool& pool, RangeHook hook = nullptr);

  const SchemaPtr& schema() const { return schema_; }
  const std::shared_ptr<const FileMetadata>& metadata() const { return metadata_; }
  MemoryNeeds memory_needs(bool walk_page_headers) const;
  Step step(Reservation& reservation, std::optional<RecordBatch>& out);
  void use_lanes(const Lanes& lanes);
  size_t bytes_in_use() const;
  size_t spared_bytes() const { return phase_ == Phase::kPlain && reader_ ? reader_->spared_bytes() : 0; }
  size_t needed_bytes() const { return needed_bytes_; }
  std::optional<RecordBatch> next();
  FileReaderCounters counters() const;

 private:
  enum class Phase : uint8_t {
    kPlain,      // all rows of all row groups: one reader for all of them
    kPrune,      // the next row group: which rows may match
    kPredicate,  // decode and evaluate the predicate's columns
    kOpen,       // start reading the others
    kRest,       // decode them, and give out
    kTogether,   // both at once, without late materialization
    kEnd,
  };

  // Leaves a step that has too little memory. Whatever throws it can start again: its state changes behind the last
  // allocation.
  struct NeedsMemory {
    size_t bytes;
  };
  // What a batch is made into: the rows that matched, and the columns of them that are kept.
  struct Matched {
    predicate::Selection wanted;
    std::vector<ArrayPtr> kept;
  };

  void choose_columns();
  Metadata refine_columns();
  void choose_forms(Metadata schema_metadata);
  size_t form_bytes(size_t batch_bytes) const;
  void choose_predicate();
  void check_row_groups();
  ReadOptions read_options(std::vector<ColumnRequest> requests) const;
  BatchReader open_all(const std::vector<ColumnRequest>& requests) const;
  RowSelection asked_rows() const;
  // Runs `work` with a pool that draws on the step's reservation. All its memory is new.
  template <typename Work>
  auto draw(Work&& work);
  bool decode();
  BatchReader open_group(std::vector<ColumnRequest> requests, RowSelection rows,
                         std::shared_ptr<const PageIndex> pages);
  std::shared_ptr<const PageIndex> read_page_index(std::span<const ColumnRequest> requests, const RowSelection& rows,
                                                   MemoryPool& pool);
  void next_group();

  std::optional<RecordBatch> next_batch();
  std::optional<RecordBatch> produce();
  std::optional<RecordBatch> produce_stored();
  void prune();
  void evaluate_columns();
  void open_rest();
  std::optional<RecordBatch> read_rest();
  std::optional<RecordBatch> read_together();
  std::optional<RecordBatch> give_kept();
  Matched match(const RecordBatch& batch, MemoryPool& pool) const;
  void keep(std::vector<ArrayPtr> arrays);
  bool is_pending_full() const;
  std::optional<RecordBatch> flush();

  std::shared_ptr<const InputFile> file_;
  FileReaderOptions options_;
  MemoryPool& pool_;
  RangeHook hook_;
  std::shared_ptr<const FileMetadata> metadata_;
  std::unique_ptr<Decompressor> own_decompressor_;  // unless one was lent
  Decompressor* decompressor_ = nullptr;
  size_t group_end_ = 0;

  std::vector<ColumnRequest> projection_;
  SchemaPtr stored_schema_;                    // of projection_
  std::vector<VariantColumn> variants_;        // a column of projection_; empty: none has variants
  std::vector<ListForms> list_forms_;          // likewise
  SchemaPtr schema_;                           // stored_schema_ with variants put together, lists in their forms
  std::optional<PredicateColumns> predicate_;  // nothing: TRUE
  std::optional<RowGroupPruner> pruner_;
  bool is_filtering_ = false;                  // not every row is wanted
  std::vector<std::optional<size_t>> reused_;  // of projection_: the predicate's column that is the same
  std::vector<size_t> not_reused_;             // indices of the others
  bool any_reused_ = false;

  // Row group
  Phase phase_ = Phase::kPrune;
  size_t group_ = 0;
  uint64_t group_first_row_ = 0;  // in the file
  RowSelection rows_;             // that may match
  RowSelection matched_;          // positions among them
  RowSelection exact_;            // that match
  RowSelection picked_;           // positions of exact_ among the rows that reader_ reads; all if is_exact_
  bool is_exact_ = true;
  bool keeps_ = false;            // what matched of reused columns is in kept_
  std::vector<ArrayQueue> kept_;  // a column of projection_
  size_t kept_bytes_ = 0;
  std::optional<BatchReader> reader_;
  Lanes lanes_;                         // its, and those of readers to come
  std::optional<RecordBatch> decoded_;  // by it, and not done with
  std::optional<RecordBatch> stored_;   // wanted, and not made into what is given out
  uint64_t position_ = 0;               // among the rows that reader_ reads
  uint64_t left_ = 0;                   // rows to give out without reader_

  std::vector<RecordBatch> pending_;  // too small to be given out
  int64_t pending_rows_ = 0;
  size_t pending_bytes_ = 0;

  // Step
  Reservation* reservation_ = nullptr;
  size_t needed_bytes_ = 0;
  size_t left_to_pool_ = 0;  // of the reservation, for what charges the pool itself

  uint64_t index_bytes_read_ = 0;  // beside the pruner's
  uint64_t rows_evaluated_ = 0;
  uint64_t rows_matched_ = 0;
};

}  // namespace frazil::parquet
