#include "frazil/ipc/schema_message.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {

namespace {

FlatTable schema_of(std::span<const std::byte> bytes, uint64_t base_offset) {
  const std::optional<MessagePrefix> prefix = MessagePrefix::read(bytes, base_offset);
  if (!prefix) throw_corrupt(base_offset, "a message's length is cut: {} bytes", bytes.size());
  ByteReader reader(bytes, base_offset);
  reader.skip(prefix->prefix_bytes);
  const uint64_t metadata_offset = reader.offset();
  const Message message(reader.read_bytes(prefix->metadata_bytes, "a message"), metadata_offset);
  if (message.kind() != MessageKind::kSchema) {
    throw_error(ErrorKind::kInvalidArgument, "a message of kind {} where a schema is",
                static_cast<int>(message.kind()));
  }
  return message.header();
}

TimeUnit time_unit(const FlatTable& type, unsigned field, int16_t otherwise) {
  switch (type.scalar<int16_t>(field, otherwise)) {
    case 0:
      return TimeUnit::kSecond;
    case 1:
      return TimeUnit::kMilli;
    case 2:
      return TimeUnit::kMicro;
    case 3:
      return TimeUnit::kNano;
    default:
      throw_corrupt(type.offset(), "time unit {}", type.scalar<int16_t>(field, otherwise));
  }
}

DataTypePtr int_type(const FlatTable& type) {
  const auto bits = type.scalar<int32_t>(0, 0);
  const bool is_signed = type.boolean(1, false);
  switch (bits) {
    case 8:
      return primitive(is_signed ? TypeId::kInt8 : TypeId::kUInt8);
    case 16:
      return primitive(is_signed ? TypeId::kInt16 : TypeId::kUInt16);
    case 32:
      return primitive(is_signed ? TypeId::kInt32 : TypeId::kUInt32);
    case 64:
      return primitive(is_signed ? TypeId::kInt64 : TypeId::kUInt64);
    default:
      throw_corrupt(type.offset(), "an integer of {} bits", bits);
  }
}

DataTypePtr floating_type(const FlatTable& type) {
  switch (type.scalar<int16_t>(0, 0)) {
    case 0:
      return primitive(TypeId::kHalfFloat);
    case 1:
      return primitive(TypeId::kFloat);
    case 2:
      return primitive(TypeId::kDouble);
    default:
      throw_corrupt(type.offset(), "a floating-point precision of {}", type.scalar<int16_t>(0, 0));
  }
}

DataTypePtr decimal_type(const FlatTable& type) {
  const auto bits = type.scalar<int32_t>(2, 128);
  TypeId id = TypeId::kDecimal128;
  switch (bits) {
    case 32:
      id = TypeId::kDecimal32;
      break;
    case 64:
      id = TypeId::kDecimal64;
      break;
    case 128:
      break;
    case 256:
      id = TypeId::kDecimal256;
      break;
    default:
      throw_corrupt(type.offset(), "a decimal of {} bits", bits);
  }
  return decimal(type.scalar<int32_t>(0, 0), type.scalar<int32_t>(1, 0), id);
}

DataTypePtr interval_type(const FlatTable& type) {
  switch (type.scalar<int16_t>(0, 0)) {
    case 0:
      return primitive(TypeId::kIntervalMonths);
    case 1:
      return primitive(TypeId::kIntervalDayTime);
    case 2:
      return primitive(TypeId::kIntervalMonthDayNano);
    default:
      throw_corrupt(type.offset(), "an interval of unit {}", type.scalar<int16_t>(0, 0));
  }
}

DataTypePtr time_type(const FlatTable& type) {
  const TimeUnit unit = time_unit(type, 0, 1);
  const auto bits = type.scalar<int32_t>(1, 32);
  const bool is_narrow = unit == TimeUnit::kSecond || unit == TimeUnit::kMilli;
  if (bits != (is_narrow ? 32 : 64)) throw_corrupt(type.offset(), "a time of {} bits in that unit", bits);
  return is_narrow ? time32(unit) : time64(unit);
}

// Decodes fields and what is below them. Each has its own bytes in an honest message: places of the vector of its parent and
// the table. One where many lead to the same place is refused before it makes more of itself than its size justifies.
class FieldDecoder {
 public:
  // `dictionary_ids`, where given, gets those of encoded fields, depth first.
  explicit FieldDecoder(size_t message_bytes, std::vector<int64_t>* dictionary_ids = nullptr)
      : dictionary_ids_(dictionary_ids),
        fields_left_(message_bytes / (2 * kOffsetBytes)),
        text_left_(message_bytes * 16) {}

  // Appends the fields of the vector.
  void decode_all(const FlatVector& tables, std::vector<Field>& fields, int depth = 1) {
    fields.reserve(fields.size() + std::min(tables.size(), fields_left_));
    for (size_t i = 0; i < tables.size(); ++i) decode(tables.table(i), fields.emplace_back(), depth);
  }

  void decode(const FlatTable& table, Field& field, int depth = 1) {
    if (depth > kMaxTypeDepth) {
      throw_error(ErrorKind::kUnsupported, "a schema of more than {} levels is not read", kMaxTypeDepth);
    }
    if (fields_left_ == 0) throw_corrupt(table.offset(), "a schema's fields share their bytes");
    --fields_left_;
    take_text(table.text(field_field::kName), table, field.name);
    field.nullable = table.boolean(field_field::kNullable, false);
    if (table.vector(field_field::kCustomMetadata, kOffsetBytes).size() > 0) {
      field.metadata = metadata(table, field_field::kCustomMetadata);
    }
    const std::optional<FlatTable> type = table.table(field_field::kType);
    if (!type) throw_corrupt(table.offset(), "field '{}' has no type", field.name);
    const auto tag = static_cast<TypeTag>(table.scalar<uint8_t>(field_field::kTypeTag, 0));
    const FlatVector children = table.vector(field_field::kChildren, kOffsetBytes);
    if (children.size() > 0 || table.has(field_field::kDictionary) || !set_plain_type(tag, *type, field.type)) {
      decode_type(table, tag, *type, children, field, depth);
    }
  }

  Metadata metadata(const FlatTable& table, unsigned field) {
    const FlatVector pairs = table.vector(field, kOffsetBytes);
    Metadata result;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const FlatTable pair = pairs.table(i);
      if (fields_left_ == 0) throw_corrupt(pair.offset(), "a schema's metadata share their bytes");
      --fields_left_;
      auto& [key, value] = result.emplace_back();
      take_text(pair.text(key_value_field::kKey), pair, key);
      take_text(pair.text(key_value_field::kValue), pair, value);
    }
    return result;
  }

 private:
  void take_text(std::optional<std::string_view> value, const FlatTable& table, std::string& out) {
    if (!value) return;
    if (value->size() > text_left_) throw_corrupt(table.offset(), "a schema's texts share their bytes");
    text_left_ -= value->size();
    out.append(*value);  // is empty, which assign() would not make use of
  }

  // Of a field whose type has parameters, or which is nested or encoded.
  void decode_type(const FlatTable& table, TypeTag tag, const FlatTable& type, const FlatVector& child_tables,
                   Field& field, int depth) {
    const std::optional<FlatTable> encoding = table.table(field_field::kDictionary);
    if (encoding && dictionary_ids_ != nullptr) {
      dictionary_ids_->push_back(encoding->scalar<int64_t>(dictionary_encoding_field::kId, 0));
    }
    std::vector<Field> children;
    if (child_tables.size() > 0) decode_all(child_tables, children, depth + 1);
    try {
      field.type = data_type(tag, type, std::move(children));
      if (encoding) {
        const std::optional<FlatTable> index = encoding->table(dictionary_encoding_field::kIndexType);
        field.type = dictionary(index ? int_type(*index) : primitive(TypeId::kInt32), std::move(field.type),
                                encoding->boolean(dictionary_encoding_field::kIsOrdered, false));
      }
    } catch (CorruptError&) {
      throw;
    } catch (const Error& error) {
      // What Arrow's types forbid is damage here.
      if (error.kind() != ErrorKind::kInvalidArgument) throw;
      throw_corrupt(table.offset(), "field '{}': {}", field.name, error.message());
    }
  }

  static Field only(std::vector<Field> children, const FlatTable& type) {
    if (children.size() != 1) throw_corrupt(type.offset(), "a list of {} elements", children.size());
    return std::move(children[0]);
  }

  static DataTypePtr union_type(const FlatTable& type, std::vector<Field> children) {
    const FlatVector given = type.vector(1, sizeof(int32_t));
    std::vector<int8_t> ids;
    for (size_t i = 0; i < children.size(); ++i) {
      const int32_t id = given.size() == 0 ? static_cast<int32_t>(i) : i < given.size() ? given.scalar<int32_t>(i) : -1;
      if (id < 0 || id > INT8_MAX) throw_corrupt(type.offset(), "type id {} of a union", id);
      ids.push_back(static_cast<int8_t>(id));
    }
    const bool is_dense = type.scalar<int16_t>(0, 0) == 1;
    return is_dense ? dense_union(std::move(children), std::move(ids))
                    : sparse_union(std::move(children), std::move(ids));
  }

  // A type of which there is one object, so that most fields cost neither a call nor a vector of children. False: another one.
  static bool set_plain_type(TypeTag tag, const FlatTable& type, DataTypePtr& out) {
    switch (tag) {
      case TypeTag::kNull:
        out = primitive(TypeId::kNull);
        return true;
      case TypeTag::kInt:
        out = int_type(type);
        return true;
      case TypeTag::kFloatingPoint:
        out = floating_type(type);
        return true;
      case TypeTag::kBinary:
        out = primitive(TypeId::kBinary);
        return true;
      case TypeTag::kUtf8:
        out = primitive(TypeId::kUtf8);
        return true;
      case TypeTag::kBool:
        out = primitive(TypeId::kBool);
        return true;
      case TypeTag::kDate:
        out = primitive(type.scalar<int16_t>(0, 1) == 0 ? TypeId::kDate32 : TypeId::kDate64);
        return true;
      case TypeTag::kInterval:
        out = interval_type(type);
        return true;
      case TypeTag::kLargeBinary:
        out = primitive(TypeId::kLargeBinary);
        return true;
      case TypeTag::kLargeUtf8:
        out = primitive(TypeId::kLargeUtf8);
        return true;
      case TypeTag::kBinaryView:
        out = primitive(TypeId::kBinaryView);
        return true;
      case TypeTag::kUtf8View:
        out = primitive(TypeId::kUtf8View);
        return true;
      default:
        return false;
    }
  }

  static DataTypePtr data_type(TypeTag tag, const FlatTable& type, std::vector<Field> children) {
    DataTypePtr plain;
    if (set_plain_type(tag, type, plain)) return plain;
    switch (tag) {
      case TypeTag::kDecimal:
        return decimal_type(type);
      case TypeTag::kTime:
        return time_type(type);
      case TypeTag::kTimestamp:
        return timestamp(time_unit(type, 0, 0), std::string(type.text(1).value_or("")));
      case TypeTag::kList:
        return list(only(std::move(children), type));
      case TypeTag::kStruct:
        return struct_(std::move(children));
      case TypeTag::kUnion:
        return union_type(type, std::move(children));
      case TypeTag::kFixedSizeBinary:
        return fixed_size_binary(type.scalar<int32_t>(0, 0));
      case TypeTag::kFixedSizeList:
        return fixed_size_list(only(std::move(children), type), type.scalar<int32_t>(0, 0));
      case TypeTag::kMap:
        return map_of_entries(only(std::move(children), type), type.boolean(0, false));
      case TypeTag::kDuration:
        return duration(time_unit(type, 0, 1));
      case TypeTag::kLargeList:
        return list(only(std::move(children), type), TypeId::kLargeList);
      case TypeTag::kRunEndEncoded:
        if (children.size() != 2) throw_corrupt(type.offset(), "a run-end encoding of {} children", children.size());
        return run_end_encoded(std::move(children[0]), std::move(children[1]));
      case TypeTag::kListView:
        return list(only(std::move(children), type), TypeId::kListView);
      case TypeTag::kLargeListView:
        return list(only(std::move(children), type), TypeId::kLargeListView);
      default:
        break;
    }
    throw_error(ErrorKind::kUnsupported, "an Arrow type of kind {} is not read", static_cast<int>(tag));
  }

  std::vector<int64_t>* dictionary_ids_;
  size_t fields_left_;
  size_t text_left_;
};

}  // namespace

SchemaMessage::SchemaMessage(std::span<const std::byte> bytes, uint64_t base_offset)
    : SchemaMessage(schema_of(bytes, base_offset), bytes.size()) {}

SchemaMessage::SchemaMessage(const FlatTable& schema, size_t metadata_bytes)
    : schema_(schema), fields_(schema.vector(schema_field::kFields, kOffsetBytes)), message_bytes_(metadata_bytes) {}

Field SchemaMessage::field(size_t index) const {
  Field field;
  FieldDecoder(message_bytes_).decode(fields_.table(index), field);
  return field;
}

Metadata SchemaMessage::metadata() const {
  return FieldDecoder(message_bytes_).metadata(schema_, schema_field::kCustomMetadata);
}

bool SchemaMessage::is_big_endian() const {
  return schema_.scalar<int16_t>(schema_field::kEndianness, 0) == 1;
}

SchemaPtr SchemaMessage::schema(std::vector<int64_t>* dictionary_ids) const {
  FieldDecoder decoder(message_bytes_, dictionary_ids);
  std::vector<Field> fields;
  decoder.decode_all(fields_, fields);
  return Schema::make(std::move(fields), decoder.metadata(schema_, schema_field::kCustomMetadata));
}

std::vector<int64_t> SchemaMessage::dictionary_ids(size_t index) const {
  std::vector<int64_t> ids;
  Field field;
  FieldDecoder(message_bytes_, &ids).decode(fields_.table(index), field);
  return ids;
}

}  // namespace frazil::ipc
