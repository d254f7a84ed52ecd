// A schema as the decoder of batches wants it: nodes and buffers of a batch lie one after the other, in the order of its types,
// and how many each type has is known beforehand (Columnar format, "RecordBatch message").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "frazil/columnar/layout.h"
#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer.h"
#include "frazil/ipc/schema_message.h"

namespace frazil::ipc {

class SchemaCache;

// How the bytes of a buffer are turned round if they were written highest byte first.
enum class ByteOrder : uint8_t { kNone, k2, k4, k8, k16, k32, kMonthDayNano, kView };

// One array of a batch.
struct PlannedNode {
  const DataTypePtr* type = nullptr;  // in the schema
  uint32_t width = 0;                 // bytes of a value or an offset
  uint32_t child_count = 0;           // they and what is below them follow
  uint32_t dictionary = 0;            // number of its dictionary; of encoded ones
  Layout layout = Layout::kNull;
  uint8_t level = 0;      // 0: a column
  uint8_t alignment = 1;  // of buffers[1]
  ByteOrder order = ByteOrder::kNone;
};

// What a column takes of a batch, nodes below it included.
struct PlannedColumn {
  uint32_t node_count = 0;
  uint32_t buffer_count = 0;    // with metadata of version 5, without the data of views
  uint32_t version4_count = 0;  // buffers more in version 4: validity of unions and run ends
  uint32_t view_count = 0;      // each takes one of the variadic counts
};

struct BatchPlan {
  std::vector<PlannedNode> nodes;
  std::vector<PlannedColumn> columns;
  std::vector<uint32_t> level_sizes;  // nodes of each level
};

// Immutable, shared by readers and threads.
struct ReadSchema {
  struct Dictionary {
    int64_t id = 0;
    const DataTypePtr* value_type = nullptr;
    BatchPlan plan;  // of the one column that a dictionary batch is
  };

  // Throws as SchemaMessage; CorruptError if two types share a dictionary's id.
  static std::shared_ptr<const ReadSchema> make(const SchemaMessage& message);

  SchemaPtr schema;
  bool is_big_endian = false;
  BatchPlan plan;
  std::vector<Dictionary> dictionaries;
  std::unordered_map<int64_t, uint32_t> dictionary_numbers;  // by id
};

// About what it takes, with all types below it.
size_t byte_size_of(const ReadSchema& schema);

// Of the Schema table of a message or a footer, out of `cache` if there is one and it is there. Throws as make().
std::shared_ptr<const ReadSchema> read_schema_of(const FlatTable& schema, SchemaCache* cache);

// The columns that are read.
struct Projection {
  struct Column {
    uint32_t source;  // its number in the file
    uint32_t target;  // in the batches that come of it
    uint32_t first_node;
  };

  // Throws Error(kInvalidArgument) for columns that are not there, or twice.
  Projection(const ReadSchema& whole, const std::optional<std::vector<size_t>>& chosen);

  SchemaPtr schema;
  bool is_all = true;
  std::vector<Column> columns;        // by source; empty if all
  std::vector<uint32_t> level_sizes;  // nodes of each level; of all: empty, the plan has them
  std::vector<bool> dictionaries;     // whether each is wanted; of all: empty
};

}  // namespace frazil::ipc
