// Avro data files. Their decoder takes memory of the pool as it needs it, not from promises: a unit is promised an
// estimate, which a step gives back to the pool just before it decodes.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/avro/container.h"
#include "frazil/avro/decoder.h"
#include "frazil/avro/schema.h"
#include "frazil/base/error.h"
#include "frazil/columnar/filter.h"
#include "frazil/predicate/evaluate.h"
#include "frazil/scan/assemble.h"
#include "frazil/scan/file_format.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

// Evaluates the filter on what it decoded, made into the filter's columns.
class AvroFilter {
 public:
  AvroFilter(const Filter& filter, std::vector<ColumnSource> sources)
      : filter_(filter), assembler_(std::move(sources), filter.predicate.schema()) {}

  RecordBatch apply(const RecordBatch& decoded, MemoryPool& pool) {
    const RecordBatch batch = assembler_.assemble(decoded, pool);
    return filter(decoded, predicate::evaluate(filter_.predicate, batch, pool).bits(), 0, pool);
  }

 private:
  const Filter& filter_;
  Assembler assembler_;
};

class AvroReader final : public FormatReader {
 public:
  AvroReader(std::unique_ptr<BatchStream> stream, std::optional<AvroFilter> filter, size_t file_bytes,
             size_t batch_bytes_max, MemoryPool& pool)
      : stream_(std::move(stream)),
        filter_(std::move(filter)),
        file_bytes_(file_bytes),
        batch_bytes_max_(batch_bytes_max),
        pool_(pool) {}

  // Compressed and decompressed block, then the batch. Writers' blocks have some 64 KiB to a few MiB.
  MemoryNeeds memory_needs(bool /*exact*/) const override {
    const size_t filtered = filter_ ? batch_bytes_max_ : 0;
    return {.working_bytes = 2 * std::min(file_bytes_, batch_bytes_max_) + filtered, .batch_bytes = batch_bytes_max_};
  }
  size_t bytes_in_use() const override { return 0; }
  size_t needed_bytes() const override { return 0; }
  Step step(Reservation& reservation, std::optional<RecordBatch>& out) override {
    reservation.shrink(0);
    while ((out = stream_->next())) {
      if (filter_) out = filter_->apply(*out, pool_);
      if (out->row_count() > 0) return Step::kBatch;
    }
    return Step::kEnd;
  }

 private:
  std::unique_ptr<BatchStream> stream_;
  std::optional<AvroFilter> filter_;
  size_t file_bytes_;
  size_t batch_bytes_max_;
  MemoryPool& pool_;
};

// The Avro type whose values decode to the Arrow type of a primitive one; nullptr for others and for unknown.
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
  return node;
}

// Iceberg's variants in Avro: both parts as they are.
avro::NodePtr variant_type(const std::string& name) {
  const auto bytes = avro::primitive(avro::Kind::kBytes);
  return avro::record(name, {{.name = "metadata", .aliases = {}, .field_id = {}, .type = bytes, .default_value = {}},
                             {.name = "value", .aliases = {}, .field_id = {}, .type = bytes, .default_value = {}}});
}

// Where its blocks begin is not known before they are read: one part.
class AvroFile final : public FormatFile {
 public:
  explicit AvroFile(std::unique_ptr<FormatReader> reader) : reader_(std::move(reader)) {}
  size_t part_count() const override { return 1; }
  std::unique_ptr<FormatReader> open_part(const Part&, MemoryPool&) override { return std::move(reader_); }

 private:
  std::unique_ptr<FormatReader> reader_;
};

// Of the records that are the entries of a map: the field "key", else the first.
size_t key_index(const avro::Node& entry) {
  return entry.fields.size() == 2 && entry.fields[1].name == "key" ? 1 : 0;
}

bool is_map_of_entries(const avro::Node& node) {
  return node.kind == avro::Kind::kArray && node.logical == avro::Logical::kMap &&
         node.element->kind == avro::Kind::kRecord && node.element->fields.size() == 2;
}

FileField file_field(std::string_view name, std::optional<int32_t> id, const avro::NodePtr& type) {
  FileField field;
  field.name = name;
  field.field_id = id;
  field.type_text = avro::describe(*type);
  const avro::Node* node = type->non_null();
  const auto kind = node == nullptr ? avro::Kind::kUnion : node->kind;
  if (kind == avro::Kind::kRecord) {
    field.kind = FileField::Kind::kStruct;
    for (const auto& child : node->fields) field.children.push_back(file_field(child.name, child.field_id, child.type));
  } else if (kind == avro::Kind::kMap) {
    field.kind = FileField::Kind::kMap;
    field.children = {file_field("key", node->key_id, avro::primitive(avro::Kind::kString)),
                      file_field("value", node->value_id, node->element)};
  } else if (node != nullptr && is_map_of_entries(*node)) {
    field.kind = FileField::Kind::kMap;
    const size_t key = key_index(*node->element);
    for (const size_t i : {key, 1 - key}) {
      const auto& child = node->element->fields[i];
      field.children.push_back(file_field(child.name, child.field_id, child.type));
    }
  } else if (kind == avro::Kind::kArray) {
    field.kind = FileField::Kind::kList;
    field.children = {file_field("element", node->element_id, node->element)};
  } else {
    field.can_read_as = [type](const spec::Type& wanted) {
      const auto reader = avro_type(wanted);
      return reader != nullptr && avro::can_read(type, avro::optional_of(reader));
    };
  }
  return field;
}

// What the source takes of the writer's type, as the table's.
avro::NodePtr reader_type(const avro::NodePtr& writer, const ColumnSource& source, const spec::NestedField& wanted) {
  const avro::Node& node = *writer->non_null();
  const auto child_type = [&](const avro::NodePtr& type, size_t index) {
    const ColumnSource& child = source.children[index];
    return child.is_constant() ? type : reader_type(type, child, wanted.type->fields()[index]);
  };
  avro::NodePtr type;
  switch (source.kind) {
    case ColumnSource::Kind::kConstant:
      throw_error(ErrorKind::kInternal, "a constant is read from the file");
    case ColumnSource::Kind::kWhole:
      type = wanted.type->kind() == spec::TypeKind::kVariant ? variant_type(node.name) : avro_type(*wanted.type);
      break;
    case ColumnSource::Kind::kStruct: {
      std::vector<avro::Field> fields;
      for (size_t i = 0; i < source.children.size(); ++i) {
        if (source.children[i].is_constant()) continue;
        avro::Field field = node.fields[source.children[i].file_index];
        field.type = child_type(field.type, i);
        fields.push_back(std::move(field));
      }
      type = avro::record(node.name, std::move(fields));
      break;
    }
    case ColumnSource::Kind::kList:
      type = avro::array_of(child_type(node.element, 0));
      break;
    case ColumnSource::Kind::kMap: {
      auto map = std::make_shared<avro::Node>(node);
      if (node.kind == avro::Kind::kMap) {
        map->element = child_type(node.element, 1);
      } else {
        const avro::Node& entry = *node.element;
        const size_t key = key_index(entry);
        std::vector<avro::Field> fields = entry.fields;
        fields[key].type = child_type(entry.fields[key].type, 0);
        fields[1 - key].type = child_type(entry.fields[1 - key].type, 1);
        map->element = avro::record(entry.name, std::move(fields));
      }
      map->depth = map->element->depth + 1;
      type = map;
      break;
    }
  }
  return wanted.required ? type : avro::optional_of(type);
}

// The program's columns: one a source that is no constant.
avro::NodePtr reader_schema(const avro::Node& writer, const std::vector<ColumnSource>& sources,
                            const spec::Schema& columns) {
  std::vector<avro::Field> fields;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].is_constant()) continue;
    avro::Field field = writer.fields[sources[i].file_index];
    field.type = reader_type(field.type, sources[i], columns.fields()[i]);
    fields.push_back(std::move(field));
  }
  return avro::record(writer.name, std::move(fields));
}

bool has_any_id(const avro::Node& node) {
  if (node.element_id || node.key_id || node.value_id || (node.element && has_any_id(*node.element))) return true;
  return std::any_of(node.fields.begin(), node.fields.end(),
                     [](const avro::Field& field) { return field.field_id || has_any_id(*field.type); }) ||
         std::any_of(node.branches.begin(), node.branches.end(),
                     [](const avro::NodePtr& branch) { return has_any_id(*branch); });
}

}  // namespace

std::unique_ptr<FormatFile> open_avro(const ReadSetup& setup, const Task& task, const FileContext& context,
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

  FileColumns columns;
  columns.has_ids = has_any_id(*writer);
  for (const auto& field : writer->fields) columns.columns.push_back({.name = field.name, .field_id = field.field_id});
  columns.open = [&](size_t column) {
    const auto& field = writer->fields[column];
    return file_field(field.name, field.field_id, field.type);
  };
  const spec::Schema& read = setup.filter ? *setup.filter->columns : *setup.columns;
  sources = resolve_columns(columns, read, context);
  auto program = avro::Program::compile(writer, reader_schema(*writer, sources, read));
  std::optional<AvroFilter> filter;
  if (setup.filter) {
    auto restricted = restrict_sources(sources, read, *setup.columns);
    filter.emplace(*setup.filter, std::move(sources));
    sources = std::move(restricted);
  }
  avro::StreamOptions options;
  options.batch_rows = static_cast<size_t>(setup.batch_rows);
  options.batch_bytes = setup.batch_bytes_max / 2;
  auto stream = avro::open_stream(std::move(container), std::move(program), pool, options);
  return std::make_unique<AvroFile>(
      std::make_unique<AvroReader>(std::move(stream), std::move(filter), file_bytes, setup.batch_bytes_max, pool));
}

}  // namespace frazil::scan
