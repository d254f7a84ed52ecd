#include "frazil/ipc/schema_writer.h"

#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/byte_sink.h"
#include "frazil/ipc/message_writer.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {

namespace {

// Enumerations of Schema.fbs.
constexpr int16_t kLittleEndian = 0;
constexpr int16_t kSparseMode = 0;
constexpr int16_t kDenseMode = 1;
constexpr int16_t kDayUnit = 0;
constexpr int16_t kMillisecondDateUnit = 1;

int16_t unit_number(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond:
      return 0;
    case TimeUnit::kMilli:
      return 1;
    case TimeUnit::kMicro:
      return 2;
    case TimeUnit::kNano:
      return 3;
  }
  return 0;
}

FlatShape int_shape(int32_t bits, bool is_signed) {
  return FlatShape().scalar<int32_t>(0, bits).boolean(1, is_signed);
}

FlatShape int_shape(TypeId id) {
  switch (id) {
    case TypeId::kInt8:
      return int_shape(8, true);
    case TypeId::kInt16:
      return int_shape(16, true);
    case TypeId::kInt32:
      return int_shape(32, true);
    case TypeId::kInt64:
      return int_shape(64, true);
    case TypeId::kUInt8:
      return int_shape(8, false);
    case TypeId::kUInt16:
      return int_shape(16, false);
    case TypeId::kUInt32:
      return int_shape(32, false);
    default:
      return int_shape(64, false);
  }
}

TypeTag tag_of(TypeId id) {
  switch (id) {
    case TypeId::kNull:
      return TypeTag::kNull;
    case TypeId::kBool:
      return TypeTag::kBool;
    case TypeId::kInt8:
    case TypeId::kInt16:
    case TypeId::kInt32:
    case TypeId::kInt64:
    case TypeId::kUInt8:
    case TypeId::kUInt16:
    case TypeId::kUInt32:
    case TypeId::kUInt64:
      return TypeTag::kInt;
    case TypeId::kHalfFloat:
    case TypeId::kFloat:
    case TypeId::kDouble:
      return TypeTag::kFloatingPoint;
    case TypeId::kDecimal32:
    case TypeId::kDecimal64:
    case TypeId::kDecimal128:
    case TypeId::kDecimal256:
      return TypeTag::kDecimal;
    case TypeId::kDate32:
    case TypeId::kDate64:
      return TypeTag::kDate;
    case TypeId::kTime32:
    case TypeId::kTime64:
      return TypeTag::kTime;
    case TypeId::kTimestamp:
      return TypeTag::kTimestamp;
    case TypeId::kDuration:
      return TypeTag::kDuration;
    case TypeId::kIntervalMonths:
    case TypeId::kIntervalDayTime:
    case TypeId::kIntervalMonthDayNano:
      return TypeTag::kInterval;
    case TypeId::kUtf8:
      return TypeTag::kUtf8;
    case TypeId::kLargeUtf8:
      return TypeTag::kLargeUtf8;
    case TypeId::kUtf8View:
      return TypeTag::kUtf8View;
    case TypeId::kBinary:
      return TypeTag::kBinary;
    case TypeId::kLargeBinary:
      return TypeTag::kLargeBinary;
    case TypeId::kBinaryView:
      return TypeTag::kBinaryView;
    case TypeId::kFixedSizeBinary:
      return TypeTag::kFixedSizeBinary;
    case TypeId::kList:
      return TypeTag::kList;
    case TypeId::kLargeList:
      return TypeTag::kLargeList;
    case TypeId::kListView:
      return TypeTag::kListView;
    case TypeId::kLargeListView:
      return TypeTag::kLargeListView;
    case TypeId::kFixedSizeList:
      return TypeTag::kFixedSizeList;
    case TypeId::kStruct:
      return TypeTag::kStruct;
    case TypeId::kMap:
      return TypeTag::kMap;
    case TypeId::kDenseUnion:
    case TypeId::kSparseUnion:
      return TypeTag::kUnion;
    case TypeId::kRunEndEncoded:
      return TypeTag::kRunEndEncoded;
    case TypeId::kDictionary:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "Arrow IPC has no dictionary of dictionary-encoded values");
}

// Appends the table of the type's parameters; types without any have one without fields.
FlatPlace add_type(FlatBuilder& builder, const DataType& type) {
  FlatShape shape;
  switch (type.id()) {
    case TypeId::kHalfFloat:
      return builder.table(shape.scalar<int16_t>(0, 0));
    case TypeId::kFloat:
      return builder.table(shape.scalar<int16_t>(0, 1));
    case TypeId::kDouble:
      return builder.table(shape.scalar<int16_t>(0, 2));
    case TypeId::kDecimal32:
    case TypeId::kDecimal64:
    case TypeId::kDecimal128:
    case TypeId::kDecimal256:
      return builder.table(shape.scalar<int32_t>(0, type.precision())
                               .scalar<int32_t>(1, type.scale())
                               .scalar<int32_t>(2, type.byte_width() * 8));
    case TypeId::kDate32:
      return builder.table(shape.scalar<int16_t>(0, kDayUnit));
    case TypeId::kDate64:
      return builder.table(shape.scalar<int16_t>(0, kMillisecondDateUnit));
    case TypeId::kTime32:
    case TypeId::kTime64:
      return builder.table(
          shape.scalar<int16_t>(0, unit_number(type.unit())).scalar<int32_t>(1, type.byte_width() * 8));
    case TypeId::kTimestamp: {
      shape.scalar<int16_t>(0, unit_number(type.unit()));
      if (!type.timezone().empty()) shape.offset(1);
      const FlatPlace place = builder.table(shape);
      if (!type.timezone().empty()) builder.point(place, 1, builder.text(type.timezone()));
      return place;
    }
    case TypeId::kDuration:
      return builder.table(shape.scalar<int16_t>(0, unit_number(type.unit())));
    case TypeId::kIntervalMonths:
      return builder.table(shape.scalar<int16_t>(0, 0));
    case TypeId::kIntervalDayTime:
      return builder.table(shape.scalar<int16_t>(0, 1));
    case TypeId::kIntervalMonthDayNano:
      return builder.table(shape.scalar<int16_t>(0, 2));
    case TypeId::kFixedSizeBinary:
    case TypeId::kFixedSizeList:
      return builder.table(shape.scalar<int32_t>(0, type.fixed_size()));
    case TypeId::kMap:
      return builder.table(shape.boolean(0, type.ordered()));
    case TypeId::kDenseUnion:
    case TypeId::kSparseUnion: {
      shape.scalar<int16_t>(0, type.id() == TypeId::kDenseUnion ? kDenseMode : kSparseMode).offset(1);
      const FlatPlace place = builder.table(shape);
      const std::vector<int32_t> ids(type.union_type_ids().begin(), type.union_type_ids().end());
      builder.point(place, 1, builder.vector(std::span(ids)));
      return place;
    }
    default:
      return builder.table(is_integer(type.id()) ? int_shape(type.id()) : shape);
  }
}

class SchemaWriter {
 public:
  explicit SchemaWriter(FlatBuilder& builder) : builder_(builder) {}

  FlatBuilder::Position add_fields(const std::vector<Field>& fields) {
    const FlatBuilder::Position offsets = builder_.offsets(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) add_field(offsets, i, fields[i]);
    return offsets;
  }

 private:
  void add_field(FlatBuilder::Position offsets, size_t index, const Field& field) {
    const bool is_encoded = field.type->id() == TypeId::kDictionary;
    const DataType& type = is_encoded ? *field.type->value_type() : *field.type;
    FlatShape shape;
    // Children are there even where there are none: Arrow C++ refuses a field without.
    shape.offset(field_field::kName)
        .boolean(field_field::kNullable, field.nullable)
        .scalar<uint8_t>(field_field::kTypeTag, static_cast<uint8_t>(tag_of(type.id())))
        .offset(field_field::kType)
        .offset(field_field::kChildren);
    if (is_encoded) shape.offset(field_field::kDictionary);
    if (!field.metadata.empty()) shape.offset(field_field::kCustomMetadata);
    const FlatPlace place = builder_.element(offsets, index, shape);
    builder_.point(place, field_field::kName, builder_.text(field.name));
    builder_.point(place, field_field::kType, add_type(builder_, type));
    if (is_encoded) builder_.point(place, field_field::kDictionary, add_encoding(*field.type));
    builder_.point(place, field_field::kChildren, add_fields(type.children()));
    if (!field.metadata.empty()) {
      builder_.point(place, field_field::kCustomMetadata, add_metadata(builder_, field.metadata));
    }
  }

  FlatPlace add_encoding(const DataType& type) {
    const FlatPlace place = builder_.table(FlatShape()
                                               .scalar<int64_t>(dictionary_encoding_field::kId, next_id_++)
                                               .offset(dictionary_encoding_field::kIndexType)
                                               .boolean(dictionary_encoding_field::kIsOrdered, type.ordered()));
    builder_.point(place, dictionary_encoding_field::kIndexType, builder_.table(int_shape(type.index_type()->id())));
    return place;
  }

  FlatBuilder& builder_;
  int64_t next_id_ = 0;
};

}  // namespace

FlatPlace add_schema(FlatBuilder& builder, const Schema& schema) {
  FlatShape shape;
  shape.scalar<int16_t>(schema_field::kEndianness, kLittleEndian).offset(schema_field::kFields);
  if (!schema.metadata().empty()) shape.offset(schema_field::kCustomMetadata);
  const FlatPlace place = builder.table(shape);
  builder.point(place, schema_field::kFields, SchemaWriter(builder).add_fields(schema.fields()));
  if (!schema.metadata().empty()) {
    builder.point(place, schema_field::kCustomMetadata, add_metadata(builder, schema.metadata()));
  }
  return place;
}

FlatBuilder::Position add_metadata(FlatBuilder& builder, const Metadata& metadata) {
  const FlatBuilder::Position offsets = builder.offsets(metadata.size());
  for (size_t i = 0; i < metadata.size(); ++i) {
    const FlatShape shape = FlatShape().offset(key_value_field::kKey).offset(key_value_field::kValue);
    const FlatPlace pair = builder.element(offsets, i, shape);
    builder.point(pair, key_value_field::kKey, builder.text(metadata[i].first));
    builder.point(pair, key_value_field::kValue, builder.text(metadata[i].second));
  }
  return offsets;
}

Buffer schema_message(const Schema& schema, MemoryPool& pool) {
  MemorySink sink(pool);
  MessageWriter messages(sink, pool, {});
  messages.write_schema(schema);
  messages.flush();
  return sink.take();
}

}  // namespace frazil::ipc
