// All columns that a BatchReader reads: the requests compiled to readers of leaves, and their arrays put together again.
//
//   request              reader                                  buffers
//   leaf                 ColumnReader                            its own
//   struct outside of    none: a leaf below tells where it is    Structure, if it may be null
//     lists                null, one without repetition if any
//   list, map            RepeatedColumn: a RepeatedReader for    Structure of each list and struct, told by the first
//                          each leaf below                         leaf below it; the others must agree
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/parquet/column_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/repeated_reader.h"
#include "frazil/parquet/structure.h"

namespace frazil::parquet {

// An outermost list or map: its leaves, which advance side by side.
class RepeatedColumn {
 public:
  std::vector<std::unique_ptr<RepeatedReader>> leaves;  // the first tells most

  // Whether a leaf's piece waits for memory.
  bool in_piece() const;
  // The leaf that advance() moves: one that is in a piece, else the one that is behind the others.
  RepeatedReader& behind();
  // Decodes the next piece of it, but no row beyond the batch's first `rows_max`. False for want of memory.
  [[nodiscard]] bool advance(size_t rows_max, MemorySource& memory);
  size_t complete_rows() const;
  uint64_t bits_of(size_t rows) const;
  // What the first `rows` rows and the next one have at least, as far as that is decoded.
  uint64_t bits_with_next(size_t rows) const;
};

class ColumnTree {
 public:
  struct Options {
    LeafPages::Options pages;
    size_t bytes_max = 0;  // of a batch
  };
  // Borrows file, metadata and decompressor. Throws Error(kInvalidArgument) for requests that the schema does not have,
  // Error(kUnsupported) for groups without leaves.
  ColumnTree(const InputFile& file, const FileMetadata& metadata, std::span<const ColumnRequest> requests,
             Decompressor& decompressor, const Options& options);

  const SchemaPtr& schema() const { return schema_; }
  std::vector<ColumnReader>& columns() { return columns_; }
  const std::vector<ColumnReader>& columns() const { return columns_; }
  std::vector<RepeatedColumn>& repeated() { return repeated_; }
  const std::vector<RepeatedColumn>& repeated() const { return repeated_; }
  size_t bytes_in_use() const;

  // Takes the memory for what the columns have beyond `rows` rows. False for want of it.
  [[nodiscard]] bool keep_tails(size_t rows, MemorySource& memory);
  // One a request. Throws CorruptError for nulls where a field has none.
  std::vector<ArrayPtr> finish_batch(size_t rows, MemorySource& memory);

 private:
  struct Node {
    ColumnRequest::Kind kind = ColumnRequest::Kind::kLeaf;
    Field field;
    size_t column = SIZE_MAX;            // a leaf outside of lists: its reader
    RepeatedReader* repeated = nullptr;  // a leaf inside of them
    Structure* structure = nullptr;      // nullptr: a struct that is null only where what is around it is
    bool nullable = false;               // a list that may be null by itself
    std::vector<Node> children;
  };
  struct Context;
  struct Finished {
    std::shared_ptr<Array> array;
    int64_t valid = 0;
  };

  Node compile(const ColumnRequest& request, Context& context, uint32_t around);
  Node compile_leaf(const ColumnRequest& request, Context& context);
  Node compile_struct(const ColumnRequest& request, Context& context, uint32_t around);
  Node compile_list(const ColumnRequest& request, Context& context, uint32_t around);
  const Node* find_leaf(const Node& node, bool without_repetition) const;
  void tell_struct(const Node& node, uint32_t definition, size_t depth);
  Finished finish(const Node& node, size_t rows, size_t slots, int64_t around_valid, MemorySource& memory);

  const InputFile& file_;
  const FileMetadata& metadata_;
  Decompressor& decompressor_;
  Options options_;
  SchemaPtr schema_;
  std::deque<Structure> structures_;  // readers point to them
  std::vector<ColumnReader> columns_;
  std::vector<RepeatedColumn> repeated_;
  std::vector<Node> roots_;
};

}  // namespace frazil::parquet
