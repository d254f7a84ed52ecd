#include "parquet_text.h"

#include <algorithm>
#include <cctype>

#include "output.h"

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"

namespace frazil::cli {

namespace {

std::string_view unit_text(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond:
      return "SECONDS";
    case TimeUnit::kMilli:
      return "MILLIS";
    case TimeUnit::kMicro:
      return "MICROS";
    case TimeUnit::kNano:
      return "NANOS";
  }
  return "?";
}

std::string_view edges_text(int8_t algorithm) {
  static constexpr std::string_view kNames[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
  return algorithm >= 0 && algorithm < 5 ? kNames[algorithm] : "?";
}

void append_node(std::string& text, const parquet::FileSchema& schema, uint32_t index, size_t depth) {
  const parquet::SchemaNode& node = schema.node(index);
  text.append(depth * 2, ' ');
  text += repetition_text(node.repetition);
  text += node.is_group ? " group " : " " + physical_text(node) + " ";
  text += printable(node.name);
  if (const std::string logical = logical_text(node.logical); !logical.empty()) text += " (" + logical + ")";
  if (node.field_id) text += " = " + std::to_string(*node.field_id);
  if (!node.is_group) {
    text += ";\n";
    return;
  }
  text += " {\n";
  for (uint32_t child = index + 1; child < index + node.subtree_size; child += schema.node(child).subtree_size) {
    append_node(text, schema, child, depth + 1);
  }
  text.append(depth * 2, ' ');
  text += "}\n";
}

}  // namespace

std::string physical_text(const parquet::SchemaNode& leaf) {
  if (leaf.type == parquet::PhysicalType::kByteArray) return "binary";
  std::string text(to_string(leaf.type));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (leaf.type == parquet::PhysicalType::kFixedLenByteArray) text += "(" + std::to_string(leaf.type_length) + ")";
  return text;
}

std::string logical_text(const parquet::LogicalType& type) {
  using Kind = parquet::LogicalType::Kind;
  switch (type.kind) {
    case Kind::kNone:
      return {};
    case Kind::kDecimal:
      return message("DECIMAL({},{})", type.precision, type.scale);
    case Kind::kTime:
    case Kind::kTimestamp:
      return message("{}({},{})", to_string(type.kind), unit_text(type.unit),
                     type.is_adjusted_to_utc ? "true" : "false");
    case Kind::kInteger:
      return message("INTEGER({},{})", int32_t{type.bit_width}, type.is_signed ? "true" : "false");
    case Kind::kGeometry:
      return type.crs.empty() ? "GEOMETRY" : "GEOMETRY(" + printable(type.crs) + ")";
    case Kind::kGeography:
      return message("GEOGRAPHY({},{})", type.crs.empty() ? "OGC:CRS84" : printable(type.crs),
                     edges_text(type.edge_algorithm));
    case Kind::kUnrecognized:
      return "an annotation that is not known";
    case Kind::kMisplaced:
      return std::string(type.misplaced) + ", which this type cannot have";
    default:
      return std::string(to_string(type.kind));
  }
}

std::string_view repetition_text(parquet::Repetition repetition) {
  switch (repetition) {
    case parquet::Repetition::kRequired:
      return "required";
    case parquet::Repetition::kOptional:
      return "optional";
    case parquet::Repetition::kRepeated:
      return "repeated";
  }
  return "?";
}

std::string message_text(const parquet::FileSchema& schema) {
  std::string text = "message " + printable(schema.root().name) + " {\n";
  for (uint32_t node = 1; node < schema.nodes().size(); node += schema.node(node).subtree_size) {
    append_node(text, schema, node, 1);
  }
  return text + "}\n";
}

namespace {

// `width` bytes of a number, as it lies in an array.
template <typename T>
std::string low_bytes(const T& value, int32_t width) {
  const std::string bytes(reinterpret_cast<const char*>(&value), sizeof(T));
  return bytes.substr(0, static_cast<size_t>(width));
}

}  // namespace

std::string value_text(const Field& field, const predicate::Value& value, MemoryPool& pool) {
  Field shown = field;
  // A half float is printed as the float that it equals.
  if (field.type->id() == TypeId::kHalfFloat) shown.type = primitive(TypeId::kFloat);
  const auto builder = make_builder(shown.type, pool);
  if (const bool* flag = std::get_if<bool>(&value)) {
    builder->as<BoolBuilder>().append(*flag);
  } else if (const auto* bytes = std::get_if<std::string>(&value)) {
    if (shown.type->id() == TypeId::kFixedSizeBinary) {
      builder->as<FixedWidthBuilder>().append_bytes(*bytes);
    } else {
      builder->as<BytesBuilder>().append(*bytes);
    }
  } else {
    auto& fixed = builder->as<FixedWidthBuilder>();
    const int32_t width = shown.type->byte_width();
    if (const auto* number = std::get_if<int64_t>(&value)) fixed.append_bytes(low_bytes(*number, width));
    if (const auto* number = std::get_if<uint64_t>(&value)) fixed.append_bytes(low_bytes(*number, width));
    if (const auto* number = std::get_if<Int128>(&value)) fixed.append_bytes(low_bytes(*number, width));
    if (const auto* number = std::get_if<predicate::Int256>(&value))
      fixed.append_bytes(low_bytes(number->words, width));
    if (const auto* number = std::get_if<double>(&value)) {
      if (width == sizeof(float)) {
        fixed.append(static_cast<float>(*number));
      } else {
        fixed.append(*number);
      }
    }
  }
  std::string text;
  append_value_text(text, shown, *builder->finish(), 0);
  return text;
}

}  // namespace frazil::cli
