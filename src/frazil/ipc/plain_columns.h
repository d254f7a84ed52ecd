// The columns of a batch that take no more than to point at their buffers: of fixed-width values or of bytes, in a body that is
// used as it lies there. Most columns of most batches are, so they have a loop of their own with all its state in registers, twice
// as fast as the general way. It decides nothing that the general way would not: what is not plain is left to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/ipc/array_arena.h"
#include "frazil/ipc/read_schema.h"

namespace frazil::ipc {

// Where the next column of a record batch message begins. Nothing relies on the alignment of what it points to.
struct ColumnCursor {
  const PlannedNode* plan;
  const std::byte* node;   // a FieldNode
  const std::byte* place;  // a BufferPlace
  size_t nodes_left;
  size_t places_left;
};

// Appends the columns from `cursor` on to `columns`, which has room, until one is not plain, and moves the cursor behind them.
// Plain ones have `row_count` values and each buffer inside of `body`, which the arena keeps, aligned and long enough for them.
// Requires `column_count` planned columns and as much room in the arena.
void append_plain_columns(ColumnCursor& cursor, size_t column_count, int64_t row_count, std::span<const std::byte> body,
                          const ArenaOwners& owners, std::vector<ArrayPtr>& columns);

}  // namespace frazil::ipc
