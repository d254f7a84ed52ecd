// Avro data files. Their decoder takes memory of the pool as it needs it, not from promises: a unit is promised an
// estimate, which a step gives back to the pool just before it decodes.
#include <algorithm>
#include <string>
#include <utility>

#include "frazil/avro/container.h"
#include "frazil/avro/decoder.h"
#include "frazil/avro/schema.h"
#include "frazil/base/error.h"
#include "frazil/scan/file_format.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

class AvroReader final : public FormatReader {
 public:
  AvroReader(std::unique_ptr<BatchStream> stream, size_t file_bytes, size_t batch_bytes_max)
      : stream_(std::move(stream)), file_bytes_(file_bytes), batch_bytes_max_(batch_bytes_max) {}

  // Compressed and decompressed block, then the batch. Writers' blocks have some 64 KiB to a few MiB.
  MemoryNeeds memory_needs(bool /*exact*/) const override {
    return {.working_bytes = 2 * std::min(file_bytes_, batch_bytes_max_), .batch_bytes = batch_bytes_max_};
  }
  size_t bytes_in_use() const override { return 0; }
  size_t needed_bytes() const override { return 0; }
  Step step(Reservation& reservation, std::optional<RecordBatch>& out) override {
    reservation.shrink(0);
    out = stream_->next();
    return out ? Step::kBatch : Step::kEnd;
  }

 private:
  std::unique_ptr<BatchStream> stream_;
  size_t file_bytes_;
  size_t batch_bytes_max_;
};

// The Avro type whose values decode to the Arrow type of the column; nullptr for nested types and those without one.
avro::NodePtr avro_type(const spec::Type& type) {
  using spec::TypeKind;
  auto node = std::make_shared<avro::Node>();
  const auto set = [&](avro::Kind kind, avro::Logical logical = avro::Logical::kNone) {
    node->kind = kind;
    node->logical = logical;
  };
  switch (type.kind()) {
    case TypeKind::kBoolean:
      set(avro::Kind::kBoolean);
      break;
    case TypeKind::kInt:
      set(avro::Kind::kInt);
      break;
    case TypeKind::kLong:
      set(avro::Kind::kLong);
      break;
    case TypeKind::kFloat:
      set(avro::Kind::kFloat);
      break;
    case TypeKind::kDouble:
      set(avro::Kind::kDouble);
      break;
    case TypeKind::kDecimal:
      set(avro::Kind::kBytes, avro::Logical::kDecimal);
      node->precision = type.precision();
      node->scale = type.scale();
      break;
    case TypeKind::kDate:
      set(avro::Kind::kInt, avro::Logical::kDate);
      break;
    case TypeKind::kTime:
      set(avro::Kind::kLong, avro::Logical::kTimeMicros);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
      set(avro::Kind::kLong, avro::Logical::kTimestampMicros);
      node->adjust_to_utc = type.kind() == TypeKind::kTimestampTz;
      break;
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      set(avro::Kind::kLong, avro::Logical::kTimestampNanos);
      node->adjust_to_utc = type.kind() == TypeKind::kTimestampTzNs;
      break;
    case TypeKind::kString:
      set(avro::Kind::kString);
      break;
    case TypeKind::kUuid:
      set(avro::Kind::kFixed, avro::Logical::kUuid);
      node->name = "uuid_fixed";
      node->fixed_size = 16;
      break;
    case TypeKind::kFixed:
      set(avro::Kind::kFixed);
      node->name = "fixed_" + std::to_string(type.length());
      node->fixed_size = type.length();
      break;
    case TypeKind::kBinary:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      set(avro::Kind::kBytes);
      break;
    default:
      return nullptr;
  }
  return avro::optional_of(node);
}

bool has_any_id(const avro::Node& record) {
  return std::any_of(record.fields.begin(), record.fields.end(),
                     [](const avro::Field& field) { return field.field_id.has_value(); });
}

}  // namespace

std::unique_ptr<FormatReader> open_avro(const ReadSetup& setup, const Task& task, const FileContext& context,
                                        MemoryPool& pool, std::vector<ColumnSource>& sources) {
  auto file = setup.files->open_input(task.path);
  const auto file_bytes = static_cast<size_t>(file->size());
  auto container = std::make_unique<avro::ContainerReader>(
      std::move(file), pool,
      avro::ContainerOptions{.whole_file_bytes = std::min<size_t>(setup.batch_bytes_max, 1 << 20)});
  const auto writer = avro::parse_schema(container->header().schema_text(), &pool);
  if (writer->kind != avro::Kind::kRecord) {
    throw_corrupt(CorruptError::kNoOffset, "the records of the Avro file are {}", avro::describe(*writer));
  }

  // Each wanted column's Avro type, by its Arrow type: what the resolution asks about.
  std::vector<FileColumn> columns;
  for (const auto& field : writer->fields) {
    FileColumn column;
    column.name = field.name;
    column.field_id = field.field_id;
    column.type_text = avro::describe(*field.type);
    const auto* type = field.type->non_null();
    column.is_nested = type == nullptr || type->kind == avro::Kind::kRecord || type->kind == avro::Kind::kArray ||
                       type->kind == avro::Kind::kMap;
    column.can_read_as = [&setup, &field](const DataType& wanted) {
      for (const auto& candidate : setup.columns->fields()) {
        if (!spec::to_arrow_type(*candidate.type)->equals(wanted)) continue;
        const auto reader = avro_type(*candidate.type);
        return reader != nullptr && avro::can_read(field.type, reader);
      }
      return false;
    };
    columns.push_back(std::move(column));
  }
  sources = resolve_columns(columns, has_any_id(*writer), *setup.columns, context);

  std::vector<avro::Field> wanted;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].column) continue;
    const auto& field = writer->fields[*sources[i].column];
    wanted.push_back({.name = field.name,
                      .aliases = {},
                      .field_id = field.field_id,
                      .type = avro_type(*setup.columns->fields()[i].type),
                      .default_value = {}});
  }
  auto program = avro::Program::compile(writer, avro::record(writer->name, std::move(wanted)));
  avro::StreamOptions options;
  options.batch_rows = static_cast<size_t>(setup.batch_rows);
  options.batch_bytes = setup.batch_bytes_max / 2;
  auto stream = avro::open_stream(std::move(container), std::move(program), pool, options);
  return std::make_unique<AvroReader>(std::move(stream), file_bytes, setup.batch_bytes_max);
}

}  // namespace frazil::scan
