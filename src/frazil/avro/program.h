// The compiled form of a Program: what compile.cc makes and decoder.cc runs. Only for these two.
//
// A column is one level of an output array. Columns belong to levels: level 0 holds what has one value a record, and
// each list opens a level for what has one value an element. Instructions never check capacity: entering a list block
// (or a block of the file) first reserves room for its count in every column of the level.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frazil/avro/decoder.h"
#include "frazil/columnar/type.h"

namespace frazil::avro {

enum class OpCode : uint8_t {
  // Read one value into `column`.
  kNull,  // null type: no bytes
  kBool,
  kInt32,
  kInt64,
  kInt64ToFloat,
  kInt64ToDouble,
  kFloat,
  kFloatToDouble,
  kDouble,
  kBytes,
  kView,
  kFixed,  // a: bytes
  kUuidText,
  kDecimalBytes,  // into the column's width
  kDecimalFixed,  // a: bytes
  kEnum,          // a: index into enum_maps
  kDuration,
  kStruct,      // a struct value starts: no bytes
  kValid,       // the value that follows is there
  kAppendNull,  // a null, or zero where a parent is null
  kNullable,    // reads the branch of a union of two; a: index of null, b: where to go on for null
  kListBegin,   // a: least bytes an element, b: behind the loop; the body follows
  kListNext,    // a: least bytes an element, b: the body
  // Skip.
  kSkipVarint,
  kSkipBytes,
  kSkipFixed,            // a: bytes
  kSkipListBegin,        // a: least bytes an element, b: behind the loop
  kSkipListNext,         // a: least bytes an element, b: the body
  kSkipEmptyList,        // elements without bytes
  kSkipVarintList,       // a: varints an element
  kSkipVarintBytesList,  // elements of a varint and bytes: Iceberg's bounds
  // Control.
  kBranch,  // a: index into branch_tables
  kJump,    // b
  kFail,    // a: index into failures
  kRawBegin,
  kRawEnd,         // the bytes since kRawBegin into `column`
  kConstantBegin,  // a: where in `constants`, b: bytes
  kConstantEnd,
  kEnd,
};

struct Op {
  OpCode code;
  uint32_t column = 0;
  uint32_t a = 0;
  uint32_t b = 0;
};

enum class Layout : uint8_t { kNull, kBits, kFixed, kBytes, kView, kList, kStruct };

struct ColumnSpec {
  Layout layout;
  bool nullable;
  bool text;       // kBytes that must be UTF-8
  uint32_t width;  // bytes a value in the values buffer
  uint32_t level;
  uint32_t element_level = 0;  // kList
};

// One output array: its column and those of its children.
struct OutputNode {
  DataTypePtr type;
  uint32_t column;
  std::vector<OutputNode> children;
  ArrayPtr dictionary;
  bool value_first = false;  // entries of a map: the reader's schema has the value before the key
};

struct Program::Code {
  NodePtr writer;
  NodePtr reader;
  std::vector<Op> ops;
  std::vector<ColumnSpec> columns;
  std::vector<std::vector<uint32_t>> levels;  // the columns of each
  uint64_t record_least_bytes = 0;
  std::vector<std::vector<uint32_t>> branch_tables;  // where each branch goes on
  std::vector<std::vector<int32_t>> enum_maps;       // writer's symbol -> reader's, -1: none
  std::vector<std::string> failures;
  Buffer constants;  // defaults, encoded
  std::vector<std::string> column_paths;
  std::vector<OutputNode> outputs;
  SchemaPtr schema;
  bool has_views = false;
  std::vector<std::pair<std::vector<size_t>, NodePtr>> raw_types;
};

// Numbers that no sane file reaches; a schema of references can describe a tree of 2^64 columns in a kilobyte.
inline constexpr size_t kMaxOps = 1 << 20;
inline constexpr size_t kMaxColumns = 1 << 17;
// What takes no bytes is bounded by nothing else: records and elements of this kind a block.
inline constexpr uint64_t kMaxZeroByteValues = 1 << 20;

// Which of the two fields of a logical map's entries is the key: the one of that name, else the first.
size_t map_key_index(const Node& node);

// Appends `value` as the reader's default for `type` in Avro binary. Throws CorruptError if it does not fit.
void encode_default(const Node& type, const json::Value& value, std::string& out);

// Arrow type of a value and field of a member; `path` for messages. Throws Error(kUnsupported).
frazil::Field arrow_field(const std::string& name, const Node& node, std::optional<int32_t> field_id, Output output,
                          const std::string& path);

}  // namespace frazil::avro
