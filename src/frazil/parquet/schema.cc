#include "frazil/parquet/schema.h"

#include <memory>
#include <vector>

#include "frazil/base/error.h"

namespace frazil::parquet {

std::string FileSchema::path(uint32_t node) const {
  std::string path;
  for (; node != 0; node = nodes_[node].parent) {
    std::string name(nodes_[node].name);
    path = path.empty() ? std::move(name) : std::move(name) + "." + path;
  }
  return path;
}

std::optional<size_t> FileSchema::find_leaf(std::string_view wanted) const {
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (path(leaves_[leaf]) == wanted) return leaf;
  }
  return std::nullopt;
}

namespace {

using Kind = LogicalType::Kind;

DataTypePtr integer(int bit_width, bool is_signed) {
  switch (bit_width) {
    case 8:
      return primitive(is_signed ? TypeId::kInt8 : TypeId::kUInt8);
    case 16:
      return primitive(is_signed ? TypeId::kInt16 : TypeId::kUInt16);
    case 32:
      return primitive(is_signed ? TypeId::kInt32 : TypeId::kUInt32);
    default:
      return primitive(is_signed ? TypeId::kInt64 : TypeId::kUInt64);
  }
}

DataTypePtr decimal_type(const SchemaNode& leaf) {
  const int32_t precision = leaf.logical.precision;
  if (precision < 1 || precision > 76 || leaf.logical.scale < 0 || leaf.logical.scale > precision) {
    throw_corrupt(CorruptError::kNoOffset, "schema: column '{}' is decimal({}, {})", leaf.name, precision,
                  leaf.logical.scale);
  }
  return decimal(precision, leaf.logical.scale, precision <= 38 ? TypeId::kDecimal128 : TypeId::kDecimal256);
}

DataTypePtr physical_type(const SchemaNode& leaf, const ArrowTypeOptions& options) {
  switch (leaf.type) {
    case PhysicalType::kBoolean:
      return primitive(TypeId::kBool);
    case PhysicalType::kInt32:
      return primitive(TypeId::kInt32);
    case PhysicalType::kInt64:
      return primitive(TypeId::kInt64);
    case PhysicalType::kInt96:
      return timestamp(options.int96_unit);
    case PhysicalType::kFloat:
      return primitive(TypeId::kFloat);
    case PhysicalType::kDouble:
      return primitive(TypeId::kDouble);
    case PhysicalType::kByteArray:
      return primitive(TypeId::kBinary);
    case PhysicalType::kFixedLenByteArray:
      return fixed_size_binary(leaf.type_length);
  }
  return nullptr;
}

}  // namespace

DataTypePtr arrow_leaf_type(const SchemaNode& leaf, const ArrowTypeOptions& options) {
  const LogicalType& logical = leaf.logical;
  switch (logical.kind) {
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kJson:
      return primitive(TypeId::kUtf8);
    case Kind::kDecimal:
      return decimal_type(leaf);
    case Kind::kDate:
      return primitive(TypeId::kDate32);
    case Kind::kTime:
      return logical.unit == TimeUnit::kMilli ? time32(TimeUnit::kMilli) : time64(logical.unit);
    case Kind::kTimestamp:
      return timestamp(logical.unit, logical.is_adjusted_to_utc ? "UTC" : "");
    case Kind::kInteger:
      return integer(logical.bit_width, logical.is_signed);
    case Kind::kUnknown:
      return primitive(TypeId::kNull);
    case Kind::kFloat16:
      return primitive(TypeId::kHalfFloat);
    case Kind::kInterval:
      return primitive(TypeId::kIntervalMonthDayNano);
    default:
      return physical_type(leaf, options);
  }
}

namespace {

// Makes Arrow fields of a subtree. Depth is bounded by kMaxSchemaDepth.
class ArrowMapper {
 public:
  ArrowMapper(const FileSchema& schema, const ArrowTypeOptions& options) : schema_(schema), options_(options) {}

  // The field of a node as it stands: a repeated one that is no part of a LIST or MAP is a list of required elements.
  Field field(uint32_t index) const {
    const SchemaNode& node = schema_.node(index);
    if (node.repetition != Repetition::kRepeated) return single(index, node.repetition == Repetition::kOptional);
    Field element = single(index, false);
    Field field;
    field.name = element.name;
    field.nullable = false;
    field.metadata = id_metadata(node);
    field.type = list(std::move(element));
    return field;
  }

 private:
  static Metadata id_metadata(const SchemaNode& node) {
    if (!node.field_id) return {};
    return {{"PARQUET:field_id", std::to_string(*node.field_id)}};
  }

  // The node without its own repetition.
  Field single(uint32_t index, bool nullable) const {
    const SchemaNode& node = schema_.node(index);
    Field field;
    field.name = std::string(node.name);
    field.nullable = nullable;
    field.metadata = id_metadata(node);
    if (!node.is_group) {
      field.type = arrow_leaf_type(node, options_);
      add_extension(node, field);
      if (node.logical.kind == Kind::kUnknown) field.nullable = true;
      return field;
    }
    switch (node.logical.kind) {
      case Kind::kList:
        field.type = list_type(index);
        return field;
      case Kind::kMap:
      case Kind::kMapKeyValue:
        field.type = map_type(index);
        return field;
      default:
        field.type = struct_type(index);
        return field;
    }
  }

  static void add_extension(const SchemaNode& node, Field& field) {
    std::string_view name;
    if (node.logical.kind == Kind::kUuid) name = "arrow.uuid";
    if (node.logical.kind == Kind::kJson) name = "arrow.json";
    if (node.logical.kind == Kind::kGeometry || node.logical.kind == Kind::kGeography) name = "geoarrow.wkb";
    if (!name.empty()) field.metadata.emplace_back("ARROW:extension:name", std::string(name));
  }

  DataTypePtr struct_type(uint32_t index) const {
    std::vector<Field> fields;
    const SchemaNode& node = schema_.node(index);
    uint32_t child = index + 1;
    for (uint32_t i = 0; i < node.child_count; ++i, child += schema_.node(child).subtree_size) {
      fields.push_back(field(child));
    }
    return struct_(std::move(fields));
  }

  // LogicalTypes.md, "Lists" with its rules for old files: the repeated child is the element itself if it is no group,
  // has several fields, has one that is repeated, or is named "array" or "<list>_tuple"; else it only wraps the
  // element.
  DataTypePtr list_type(uint32_t index) const {
    const SchemaNode& node = schema_.node(index);
    if (node.child_count != 1 || schema_.node(index + 1).repetition != Repetition::kRepeated) {
      throw_corrupt(CorruptError::kNoOffset, "schema: '{}' is a LIST without one repeated child", schema_.path(index));
    }
    const uint32_t repeated = index + 1;
    const SchemaNode& child = schema_.node(repeated);
    const bool is_element = !child.is_group || child.child_count != 1 || child.logical.kind == Kind::kList ||
                            child.logical.kind == Kind::kMap ||
                            schema_.node(repeated + 1).repetition == Repetition::kRepeated || child.name == "array" ||
                            child.name == std::string(node.name) + "_tuple";
    return list(is_element ? single(repeated, false) : field(repeated + 1));
  }

  // A map without values is a list of its keys' entries: Arrow's map needs both.
  DataTypePtr map_type(uint32_t index) const {
    const SchemaNode& node = schema_.node(index);
    const uint32_t entries = index + 1;
    if (node.child_count != 1 || schema_.node(entries).repetition != Repetition::kRepeated ||
        !schema_.node(entries).is_group || schema_.node(entries).child_count < 1 ||
        schema_.node(entries).child_count > 2) {
      throw_corrupt(CorruptError::kNoOffset, "schema: '{}' is a MAP without repeated entries", schema_.path(index));
    }
    const uint32_t key = entries + 1;
    if (schema_.node(entries).child_count == 1) return list(single(entries, false));
    Field key_field = field(key);
    key_field.nullable = false;  // some writers say optional; a null key is damage
    return map(std::move(key_field), field(key + schema_.node(key).subtree_size));
  }

  const FileSchema& schema_;
  const ArrowTypeOptions& options_;
};

}  // namespace

Field arrow_field(const FileSchema& schema, uint32_t node, const ArrowTypeOptions& options) {
  return ArrowMapper(schema, options).field(node);
}

SchemaPtr arrow_schema(const FileSchema& schema, const ArrowTypeOptions& options) {
  std::vector<Field> fields;
  ArrowMapper mapper(schema, options);
  uint32_t child = 1;
  for (uint32_t i = 0; i < schema.root().child_count; ++i, child += schema.node(child).subtree_size) {
    fields.push_back(mapper.field(child));
  }
  return std::make_shared<const Schema>(std::move(fields));
}

}  // namespace frazil::parquet
