// The Arrow form of Avro types, and defaults in Avro binary.
#include <algorithm>

#include "frazil/avro/program.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"

namespace frazil::avro {

namespace {

DataTypePtr arrow_type(const Node& node, Output output, const std::string& path) {
  if (output == Output::kRaw) return frazil::primitive(TypeId::kBinaryView);
  const std::string zone = node.adjust_to_utc ? "UTC" : "";
  switch (node.logical) {
    case Logical::kDecimal:
      return decimal(node.precision, node.scale, node.precision > 38 ? TypeId::kDecimal256 : TypeId::kDecimal128);
    case Logical::kDate:
      return frazil::primitive(TypeId::kDate32);
    case Logical::kTimeMillis:
      return time32(TimeUnit::kMilli);
    case Logical::kTimeMicros:
      return time64(TimeUnit::kMicro);
    case Logical::kTimestampMillis:
      return timestamp(TimeUnit::kMilli, zone);
    case Logical::kTimestampMicros:
      return timestamp(TimeUnit::kMicro, zone);
    case Logical::kTimestampNanos:
      return timestamp(TimeUnit::kNano, zone);
    case Logical::kLocalTimestampMillis:
      return timestamp(TimeUnit::kMilli);
    case Logical::kLocalTimestampMicros:
      return timestamp(TimeUnit::kMicro);
    case Logical::kLocalTimestampNanos:
      return timestamp(TimeUnit::kNano);
    case Logical::kDuration:
      return frazil::primitive(TypeId::kIntervalMonthDayNano);
    default:
      break;
  }
  switch (node.kind) {
    case Kind::kNull:
      return frazil::primitive(TypeId::kNull);
    case Kind::kBoolean:
      return frazil::primitive(TypeId::kBool);
    case Kind::kInt:
      return frazil::primitive(TypeId::kInt32);
    case Kind::kLong:
      return frazil::primitive(TypeId::kInt64);
    case Kind::kFloat:
      return frazil::primitive(TypeId::kFloat);
    case Kind::kDouble:
      return frazil::primitive(TypeId::kDouble);
    case Kind::kBytes:
      return frazil::primitive(output == Output::kView ? TypeId::kBinaryView : TypeId::kBinary);
    case Kind::kString:
      return frazil::primitive(output == Output::kView ? TypeId::kUtf8View : TypeId::kUtf8);
    case Kind::kFixed:
      return fixed_size_binary(node.fixed_size);
    case Kind::kEnum:
      return dictionary(frazil::primitive(TypeId::kInt32), frazil::primitive(TypeId::kUtf8));
    case Kind::kRecord: {
      std::vector<frazil::Field> fields;
      for (const Field& field : node.fields) {
        fields.push_back(arrow_field(field.name, *field.type, field.field_id, field.output, path + "." + field.name));
      }
      return struct_(std::move(fields));
    }
    case Kind::kArray: {
      if (node.logical == Logical::kMap) {
        const Node& entry = *node.element;
        const size_t key = map_key_index(node);
        const Field& value = entry.fields[1 - key];
        frazil::Field key_field =
            arrow_field("key", *entry.fields[key].type, entry.fields[key].field_id, Output::kValue, path + ".key");
        key_field.nullable = false;
        return map(std::move(key_field),
                   arrow_field("value", *value.type, value.field_id, Output::kValue, path + ".value"));
      }
      return list(arrow_field("element", *node.element, node.element_id, Output::kValue, path + ".element"));
    }
    case Kind::kMap: {
      Node text;
      text.kind = Kind::kString;
      return map(arrow_field("key", text, node.key_id, Output::kValue, path),
                 arrow_field("value", *node.element, node.value_id, Output::kValue, path + ".value"));
    }
    case Kind::kUnion:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "column '{}' is a {}, which is not supported", path, describe(node));
}

void append_varint(int64_t value, std::string& out) {
  uint64_t raw = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; raw >= 0x80; raw >>= 7) out.push_back(static_cast<char>(raw | 0x80));
  out.push_back(static_cast<char>(raw));
}

template <typename T>
void append_float(T value, std::string& out) {
  char bytes[sizeof(T)];
  store(bytes, value);
  out.append(bytes, sizeof(T));
}

// Bytes and fixed stand in JSON as text of code points 0..255, one a byte.
std::string bytes_of(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto point = next_code_point(text, i);
    if (!point || *point > 0xFF)
      throw_corrupt(CorruptError::kNoOffset, "a default of bytes holds a character over U+00FF");
    out.push_back(static_cast<char>(*point));
  }
  return out;
}

}  // namespace

size_t map_key_index(const Node& node) {
  return node.element->fields[1].name == "key" ? 1 : 0;
}

frazil::Field arrow_field(const std::string& name, const Node& node, std::optional<int32_t> field_id, Output output,
                          const std::string& path) {
  const Node* inner = node.non_null();
  if (inner == nullptr && node.kind != Kind::kUnion) inner = &node;
  if (inner == nullptr && std::all_of(node.branches.begin(), node.branches.end(),
                                      [](const NodePtr& branch) { return branch->kind == Kind::kNull; })) {
    inner = node.branches.front().get();
  }
  if (output == Output::kRaw && inner == nullptr) inner = &node;
  if (inner == nullptr) {
    throw_error(ErrorKind::kUnsupported, "column '{}' is a {}, which is not supported", path, describe(node));
  }
  frazil::Field field{name, arrow_type(*inner, output, path), node.nullable() || output == Output::kRaw, {}};
  if (field_id) field.metadata.emplace_back("PARQUET:field_id", std::to_string(*field_id));
  if (inner->kind == Kind::kFixed && inner->logical == Logical::kUuid && output != Output::kRaw) {
    field.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
    field.metadata.emplace_back("ARROW:extension:metadata", "");
  }
  return field;
}

void encode_default(const Node& type, const json::Value& value, std::string& out) {
  switch (type.kind) {
    case Kind::kNull:
      if (!value.is_null()) throw_corrupt(CorruptError::kNoOffset, "a default of null is not null");
      return;
    case Kind::kBoolean:
      out.push_back(value.as_bool() ? 1 : 0);
      return;
    case Kind::kInt:
      return append_varint(value.as_int32(), out);
    case Kind::kLong:
      return append_varint(value.as_int64(), out);
    case Kind::kFloat:
      return append_float(static_cast<float>(value.as_double()), out);
    case Kind::kDouble:
      return append_float(value.as_double(), out);
    case Kind::kBytes: {
      const std::string bytes = bytes_of(value.as_string());
      append_varint(static_cast<int64_t>(bytes.size()), out);
      out += bytes;
      return;
    }
    case Kind::kString:
      append_varint(static_cast<int64_t>(value.as_string().size()), out);
      out += value.as_string();
      return;
    case Kind::kFixed: {
      const std::string bytes = bytes_of(value.as_string());
      if (bytes.size() != static_cast<size_t>(type.fixed_size)) {
        throw_corrupt(CorruptError::kNoOffset, "a default of fixed({}) has {} bytes", type.fixed_size, bytes.size());
      }
      out += bytes;
      return;
    }
    case Kind::kEnum: {
      const auto found = std::find(type.symbols.begin(), type.symbols.end(), value.as_string());
      if (found == type.symbols.end())
        throw_corrupt(CorruptError::kNoOffset, "a default is no symbol of enum '{}'", type.name);
      return append_varint(found - type.symbols.begin(), out);
    }
    case Kind::kRecord:
      for (const Field& field : type.fields) {
        const json::Value* member =
            value.kind() == json::Value::Kind::kObject ? value.find(field.name) : &value.at(field.name);
        if (member == nullptr && field.default_value) member = &*field.default_value;
        if (member == nullptr)
          throw_corrupt(CorruptError::kNoOffset, "a default of {} lacks '{}'", describe(type), field.name);
        encode_default(*field.type, *member, out);
      }
      return;
    case Kind::kArray: {
      const json::Array& items = value.as_array();
      if (!items.empty()) append_varint(static_cast<int64_t>(items.size()), out);
      for (const json::Value& item : items) encode_default(*type.element, item, out);
      return append_varint(0, out);
    }
    case Kind::kMap: {
      const json::Object& members = value.as_object();
      if (!members.empty()) append_varint(static_cast<int64_t>(members.size()), out);
      for (const auto& [key, member] : members) {
        append_varint(static_cast<int64_t>(key.size()), out);
        out += key;
        encode_default(*type.element, member, out);
      }
      return append_varint(0, out);
    }
    case Kind::kUnion: {
      // The specification wants the first branch; writers also give null where null is a later one.
      for (size_t i = 0; i < type.branches.size(); ++i) {
        const std::size_t before = out.size();
        try {
          append_varint(static_cast<int64_t>(i), out);
          return encode_default(*type.branches[i], value, out);
        } catch (const CorruptError&) {
          out.resize(before);
        }
      }
      throw_corrupt(CorruptError::kNoOffset, "a default fits no branch of the {}", describe(type));
    }
  }
}

}  // namespace frazil::avro
