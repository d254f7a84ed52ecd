// Avro schemas (Avro 1.12 specification, "Schema Declaration", "Logical Types"), read from JSON into a tree that is
// immutable and shared. The attributes that Iceberg adds (specification, Appendix A "Avro") are kept: field-id,
// element-id, key-id, value-id, adjust-to-utc, and arrays of key-value records with logicalType "map".
//
//   schema  := primitive | name | [branch, ...] | {"type": schema-or-kind, ...}
//
// A name is resolved when it is met, so that every use of a record shares one node. A record that contains itself has
// no Arrow form and is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"

namespace frazil::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};

// A logical type that does not fit what it annotates is ignored, as the specification demands.
enum class Logical : uint8_t {
  kNone,
  kDecimal,  // bytes, fixed
  kUuid,     // string, fixed(16)
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,
  kTimestampMicros,
  kTimestampNanos,
  kLocalTimestampMillis,
  kLocalTimestampMicros,
  kLocalTimestampNanos,
  kDuration,  // fixed(12)
  kMap,       // Iceberg: an array of records with two fields
};

std::string_view to_string(Kind kind);
std::string_view to_string(Logical logical);  // "timestamp-micros", "map"; empty for kNone

struct Node;
using NodePtr = std::shared_ptr<const Node>;

// How a field of a reader schema comes out of the decoder.
enum class Output : uint8_t {
  kValue,  // as the Arrow array of its type, copied
  kView,   // string, bytes: as utf8_view or binary_view into the decompressed block, which the batch then keeps alive
  kRaw,    // any type: the value's encoded bytes as binary_view, found by skipping over it; its type only
           // has to be there, and is ignored
};

struct Field {
  std::string name;
  std::vector<std::string> aliases;
  std::optional<int32_t> field_id;
  NodePtr type;
  std::optional<json::Value> default_value;
  Output output = Output::kValue;  // reader schemas only
  std::string original_name = {};  // "iceberg-field-name": where the name had to be changed to fit Avro's rules
};

struct Node {
  Kind kind = Kind::kNull;
  Logical logical = Logical::kNone;
  std::string name;                  // record, enum, fixed: the full name
  std::vector<std::string> aliases;  // full names
  std::vector<Field> fields;         // record
  std::vector<std::string> symbols;  // enum
  std::optional<std::string> default_symbol;
  std::vector<NodePtr> branches;  // union
  NodePtr element;                // array: the element; map: the value
  int32_t fixed_size = 0;         // fixed
  int32_t precision = 0;          // decimal
  int32_t scale = 0;
  bool adjust_to_utc = true;  // timestamp-*: false where Iceberg says so
  std::optional<int32_t> element_id;
  std::optional<int32_t> key_id;  // map; the logical map has them on its two fields
  std::optional<int32_t> value_id;
  int32_t depth = 1;  // levels from here down

  // The branch beside null of a union of null and one other; this node itself if it is no union; else nullptr.
  const Node* non_null() const;
  // A union with a null branch, or null itself.
  bool nullable() const;
};

inline constexpr int32_t kMaxSchemaDepth = 64;
inline constexpr size_t kMaxSchemaBytes = 64 << 20;

// Throws CorruptError for what is no schema, Error(kUnsupported) naming a record that contains itself or a depth over
// kMaxSchemaDepth. `pool`, if given, is charged for the JSON tree while parsing.
NodePtr parse_schema(std::string_view json_text, MemoryPool* pool = nullptr);
NodePtr schema_from_json(const json::Value& value);
// The JSON of a schema, a writer's: attributes as Iceberg Java writes them, a named type in full at its first use and by
// name later. Throws Error(kInvalidArgument) if two enums or fixed of one name differ; two records of one name are taken
// for one.
json::Value schema_to_json(const Node& node);

// Makers for reader schemas that are built in code.
NodePtr primitive(Kind kind, Logical logical = Logical::kNone);
NodePtr optional_of(NodePtr type);  // union of null and type
NodePtr record(std::string name, std::vector<Field> fields);
NodePtr array_of(NodePtr element, std::optional<int32_t> element_id = std::nullopt);

// "long", "timestamp-micros", "record 'r102'", "union of null, string": for messages.
std::string describe(const Node& node);

}  // namespace frazil::avro
