// The schema tree of a Parquet file and what it means in Arrow (format/LogicalTypes.md).
//
// Nodes stand in the order of the footer, depth first: the children of node i start at i + 1, and the next sibling of
// node i is i + subtree_size. Node 0 is the root. Converted types (the old annotations) are folded into the logical
// types when the footer is parsed, so that nobody above sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/columnar/type.h"
#include "frazil/parquet/format.h"

namespace frazil::parquet {

// Deeper schemas are refused; levels then fit a byte.
inline constexpr int kMaxSchemaDepth = 100;

struct LogicalType {
  enum class Kind : uint8_t {
    kNone,
    kString,
    kMap,
    kMapKeyValue,  // the old annotation, found on the outer or the inner group
    kList,
    kEnum,
    kDecimal,
    kDate,
    kTime,
    kTimestamp,
    kInterval,
    kInteger,
    kUnknown,  // always null
    kJson,
    kBson,
    kUuid,
    kFloat16,
    kVariant,
    kGeometry,
    kGeography,
    kUnrecognized,  // newer than this list: read as the physical type, its statistics ignored
    kMisplaced,     // on a physical type that cannot have it (UINT_8 on INT64): its values mean nothing that is known
  };
  Kind kind = Kind::kNone;
  TimeUnit unit = TimeUnit::kMicro;  // kTime, kTimestamp
  bool is_adjusted_to_utc = false;   // kTime, kTimestamp
  bool is_signed = true;             // kInteger
  int8_t bit_width = 0;              // kInteger
  int32_t precision = 0;             // kDecimal
  int32_t scale = 0;
  std::string_view crs;        // kGeometry, kGeography; empty: the default, OGC:CRS84
  int8_t edge_algorithm = 0;   // kGeography: spherical, vincenty, thomas, andoyer, karney
  std::string_view misplaced;  // kMisplaced: the annotation, "INTEGER", "TIMESTAMP" ...
};

// "DECIMAL", "MAP_KEY_VALUE": as the specification spells it; "none" for what it does not have.
std::string_view to_string(LogicalType::Kind kind);

struct SchemaNode {
  std::string_view name;  // a slice of the footer
  std::optional<int32_t> field_id;
  LogicalType logical;
  Repetition repetition = Repetition::kRequired;
  bool is_group = false;
  PhysicalType type = PhysicalType::kBoolean;  // leaves only
  uint8_t max_definition = 0;                  // of values at this node: optional and repeated nodes on the way
  uint8_t max_repetition = 0;                  // repeated nodes on the way
  int32_t type_length = 0;                     // FIXED_LEN_BYTE_ARRAY: bytes a value, at least 1
  uint32_t parent = 0;                         // the root is its own
  uint32_t child_count = 0;
  uint32_t subtree_size = 1;  // this node and all below it
  uint32_t first_leaf = 0;    // its leaves are [first_leaf, first_leaf + leaf_count)
  uint32_t leaf_count = 0;    // a leaf: 1
};

// Views on memory of the FileMetadata that it is part of.
class FileSchema {
 public:
  FileSchema() = default;
  // `nodes` have at least the root; `leaves` are the indices of the leaf nodes in their order.
  FileSchema(std::span<const SchemaNode> nodes, std::span<const uint32_t> leaves) : nodes_(nodes), leaves_(leaves) {}

  std::span<const SchemaNode> nodes() const { return nodes_; }
  const SchemaNode& node(uint32_t index) const { return nodes_[index]; }
  const SchemaNode& root() const { return nodes_.front(); }
  size_t leaf_count() const { return leaves_.size(); }
  uint32_t leaf_node(size_t leaf) const { return leaves_[leaf]; }
  const SchemaNode& leaf(size_t leaf) const { return nodes_[leaves_[leaf]]; }
  // "a.list.element": the names below the root.
  std::string path(uint32_t node) const;
  // The first leaf whose path is that. Linear.
  std::optional<size_t> find_leaf(std::string_view path) const;

 private:
  std::span<const SchemaNode> nodes_;
  std::span<const uint32_t> leaves_;
};

struct ArrowTypeOptions {
  // INT96 holds nanoseconds of the years -4713 to 5.8 million; an int64 of microseconds holds what people write,
  // one of nanoseconds only 1677 to 2262.
  TimeUnit int96_unit = TimeUnit::kMicro;
};

// The Arrow type of a leaf's values, lists and nulls around it not considered:
//   INTEGER, of any width and sign      int8 .. uint64
//   DECIMAL on any physical type        decimal128, decimal256 past 38 digits, the physical type past 76
//   DATE, TIME                          date32, time32[ms], time64[us, ns]
//   TIMESTAMP                           timestamp[unit], with zone "UTC" if adjusted to it
//   INT96                               timestamp[int96_unit]
//   STRING, ENUM, JSON                  utf8
//   BSON, GEOMETRY, GEOGRAPHY, none     binary
//   UUID, FLOAT16, INTERVAL             fixed_size_binary[16], halffloat, month_day_nano_interval
//   UNKNOWN                             null
//   annotations that are not recognized the physical type
// Throws CorruptError that names column and annotation where the physical type cannot have it: what its values are is
// anybody's guess (of three other readers, one reads such columns, as something else each time).
DataTypePtr arrow_leaf_type(const SchemaNode& leaf, const ArrowTypeOptions& options = {});

// Appends the extension that makes more of the leaf's type: "arrow.uuid", "arrow.json", "geoarrow.wkb" with its
// coordinate reference system and edges as GeoArrow's JSON ("Extension metadata"; the CRS as a string, whatever it holds).
void add_extension(const SchemaNode& leaf, Metadata& metadata);

// Whether values of `leaf` can be decoded as `type`: its own type, and what loses nothing:
//   INT32, INT64 of any annotation -> integers that are as wide or wider; annotated narrow ones -> their width and up
//   INT64 that is signed           -> duration of any unit, which is how Arrow's writers store it
//   FLOAT                          -> double
//   decimal(p, s)                  -> decimal128(P >= p, s), decimal256(P >= p, s)
//   date                           -> timestamp[s, ms, us, ns] without zone
//   time, timestamp, INT96         -> any unit (coarser ones round down), with or without zone
//   BYTE_ARRAY                     -> utf8, binary, their large forms and views
//   FIXED_LEN_BYTE_ARRAY           -> also binary, its large form and views
//   text, binary, fixed-size binary -> dictionary<int32, any of them>, from chunks without a page in another encoding
bool can_read_as(const SchemaNode& leaf, const DataType& type);

}  // namespace frazil::parquet
