// Shredding: nested arrays become the levels and values of leaves (format/Nested.md; Dremel).
//
//   [ [1, 2], null, [], [null] ]     optional list of optional elements: definition 0..3, repetition 0..1
//
//   row   0   0   1   2   3
//   def   3   3   0   1   2          3: a value, 2: null element, 1: empty list, 0: null list
//   rep   0   1   0   0   0          1: goes on with the list of the entry before
//
// Columns without lists need no repetition levels, and where no struct around a leaf is null no levels at all: their
// pieces are slices of the arrays. Lists take one pass over their offsets. Values stay where they are: what is hidden
// under nulls (elements of a null list, list views that overlap or are not in order) is left out by copying the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/write_schema.h"

namespace frazil::parquet {

// Keeps its level buffers, at most some 100 KiB a level of nesting unless one row alone has more entries. One thread at
// a time; threads that shred different columns have a shredder each.
class Shredder {
 public:
  // Gets the pieces of a leaf (of WriteSchema::leaves()) in the order of the rows. What a piece points to is valid for
  // the call.
  using Sink = std::function<void(size_t leaf, const LeafPiece& piece)>;

  // Borrows both.
  Shredder(const WriteSchema& schema, MemoryPool& pool);
  ~Shredder();
  Shredder(Shredder&&) noexcept;
  Shredder& operator=(Shredder&&) noexcept;

  // All rows of `array`, which is column `column` of the Arrow schema: validated, of its type, but leaves may be
  // dictionaries or run-end encoded, lists of any kind, and names and nullability inside may differ. Pieces have as
  // many rows as make some ten thousand entries, at least one. `first_row` is added to rows in messages.
  //
  // Throws Error(kInvalidArgument) that names column and row for a null where a field must not have one, and for an
  // array of another shape; MemoryLimitError; whatever the sink throws.
  void shred(size_t column, const Array& array, const Sink& sink, int64_t first_row = 0);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::parquet
