// Which rows of a row group a predicate may want, by what the file says about its values: nothing of the columns is
// decoded.
//
//   statistics of the chunks -> bounds of the pages -> Bloom filters -> dictionary pages
//
// Each step is asked only about what the one before left, and each can be switched off: the rows that match are the
// same (a property that the tests hold it to). What is damaged, absent or not understood prunes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_index.h"
#include "frazil/parquet/row_selection.h"
#include "frazil/parquet/statistics.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/pruning.h"

namespace frazil {
class Decompressor;
}

namespace frazil::parquet {

struct PruningOptions {
  bool use_statistics = true;
  bool use_page_index = true;
  bool use_bloom_filters = true;
  bool use_dictionaries = true;
  // Larger dictionary pages, in the file or decompressed, are not read.
  size_t dictionary_bytes_max = size_t{1} << 20;
};

// What was pruned, and by what: each row group counts once.
struct PruningCounters {
  uint64_t row_groups = 0;  // asked about
  uint64_t row_groups_by_statistics = 0;
  uint64_t row_groups_by_page_index = 0;
  uint64_t row_groups_by_bloom_filter = 0;
  uint64_t row_groups_by_dictionary = 0;
  uint64_t row_groups_certain = 0;  // every row matches
  uint64_t rows = 0;
  uint64_t rows_pruned = 0;   // in any way
  uint64_t pages = 0;         // of columns with bounds, where rows were left to them
  uint64_t pages_pruned = 0;  // of them, by their bounds
  uint64_t bytes_read = 0;    // indexes, filters, dictionaries
  uint64_t defects = 0;       // indexes that were left aside
};

// Where the columns of a predicate are in the file. `schema` is arrow_schema(metadata.schema()), or one with the same
// fields in the same places: a column's path leads down the groups. A leaf below a list has none, a struct has none.
std::vector<std::optional<size_t>> predicate_leaves(const predicate::BoundPredicate& predicate,
                                                    const FileSchema& schema);

// One thread at a time.
class RowGroupPruner {
 public:
  // Borrows file, metadata, pool and decompressor (nullptr: dictionaries are not read). `leaves`: one a column of the
  // predicate; a column without one (a constant, a list) prunes nothing.
  RowGroupPruner(const InputFile& file, const FileMetadata& metadata, predicate::BoundPredicate predicate,
                 std::vector<std::optional<size_t>> leaves, const PruningOptions& options, Decompressor* decompressor,
                 MemoryPool& pool);
  ~RowGroupPruner();

  struct Verdict {
    RowSelection rows;                            // that may match; empty: none
    bool all_match = false;                       // those rows are certain: no need to evaluate
    std::shared_ptr<const PageIndex> page_index;  // of the predicate's columns, if it was read
  };
  // Throws IoError, MemoryLimitError, Error(kInvalidArgument) for a row group that does not exist. What failed may be
  // asked again.
  Verdict prune(size_t row_group) { return prune(row_group, pool_); }
  // With memory of another pool, of the same family.
  Verdict prune(size_t row_group, MemoryPool& pool);

  const PruningCounters& counters() const { return counters_; }

 private:
  class Source;
  class PageSource;
  Verdict prune_group(size_t row_group, MemoryPool& pool);
  RowSelection matching_rows(const predicate::BoundNode& node, const PageIndex& index, uint64_t row_count,
                             MemoryPool& pool);
  RowSelection matching_pages(const predicate::BoundTest& test, const PageIndex& index, uint64_t row_count,
                              MemoryPool& pool);

  const InputFile& file_;
  const FileMetadata& metadata_;
  predicate::BoundPredicate predicate_;
  std::vector<std::optional<size_t>> leaves_;
  std::vector<std::optional<StatisticsDecoder>> decoders_;  // one a column with a leaf
  std::vector<size_t> indexed_leaves_;
  std::vector<bool> asks_equality_;  // a column: = or IN
  PruningOptions options_;
  Decompressor* decompressor_;
  MemoryPool& pool_;
  PruningCounters counters_;
};

}  // namespace frazil::parquet
