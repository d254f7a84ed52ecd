#include "frazil/scan/resolve.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/spec/promotion.h"

namespace frazil::scan {

namespace {

using spec::NestedField;
using spec::Type;
using spec::TypeKind;
using Fields = std::unordered_map<int32_t, size_t>;  // indices by id

// The file's columns by the ids that they carry, or that mapping, names or positions give.
Fields columns_by_id(const FileColumns& file, const FileContext& context) {
  const auto& table = *context.table_schema.as_struct();
  const bool all_named = std::all_of(file.columns.begin(), file.columns.end(),
                                     [&](const auto& column) { return table.find(column.name) != nullptr; });
  Fields columns;
  bool any_of_table = false;
  for (size_t i = 0; i < file.columns.size(); ++i) {
    std::optional<int32_t> id;
    if (file.has_ids) {
      id = file.columns[i].field_id;
    } else if (context.name_mapping != nullptr) {
      const auto* mapped = spec::NameMapping::find(context.name_mapping->fields(), file.columns[i].name);
      if (mapped != nullptr) id = mapped->field_id;
    } else if (all_named) {
      id = table.find(file.columns[i].name)->id;
    } else {
      id = static_cast<int32_t>(i) + 1;
    }
    if (!id.has_value()) continue;
    // Of two columns with one id, which only a broken writer makes, the first counts.
    columns.emplace(*id, i);
    any_of_table = any_of_table || context.table_schema.find(*id) != nullptr;
  }
  // A mapping with other numbers than the schema's would give a table of nulls without a word. A file with ids of its
  // own may have none of the table's: all its columns were dropped since.
  if (!file.has_ids && !any_of_table && !file.columns.empty()) {
    throw_corrupt(CorruptError::kNoOffset,
                  "the file has no field ids, and {} gives none of its {} columns one of the table's",
                  context.name_mapping != nullptr ? "the table's name mapping" : "their position", file.columns.size());
  }
  return columns;
}

// The value of an identity partition field over the column, if the spec has one.
const spec::Literal* partition_constant(const spec::PartitionSpec& spec, const std::vector<spec::Literal>& partition,
                                        int32_t column_id) {
  for (size_t i = 0; i < spec.fields.size() && i < partition.size(); ++i) {
    const auto& field = spec.fields[i];
    if (!field.is_opaque() && field.source_id() == column_id &&
        field.transform.kind() == spec::TransformKind::kIdentity) {
      return &partition[i];
    }
  }
  return nullptr;
}

// The constant as a value of `type`, which has some of the fields of the constant's own type.
spec::Literal restrict_constant(const spec::Literal& constant, const spec::TypePtr& type) {
  if (constant.is_null()) return spec::Literal::null(type);
  if (!type->is_nested()) return constant;
  const auto* values = std::get_if<std::vector<spec::Literal>>(&constant.value());
  if (type->is_struct() && values != nullptr) {
    std::vector<spec::Literal> chosen;
    for (const NestedField& wanted : type->fields()) {
      const auto fields = constant.type()->fields();
      for (size_t i = 0; i < values->size(); ++i) {
        if (fields[i].id == wanted.id) chosen.push_back(restrict_constant((*values)[i], wanted.type));
      }
      if (!values->empty()) continue;
      // {}: each field has its own default.
      const bool has_default = wanted.initial_default != nullptr;
      chosen.push_back(has_default ? restrict_constant(*wanted.initial_default, wanted.type)
                                   : spec::Literal::null(wanted.type));
    }
    return {type, std::move(chosen)};
  }
  if (type->is_list() && values != nullptr) {
    std::vector<spec::Literal> elements;
    for (const auto& element : *values) elements.push_back(restrict_constant(element, type->element().type));
    return {type, std::move(elements)};
  }
  spec::LiteralMap map = std::get<spec::LiteralMap>(constant.value());
  for (auto& value : map.values) value = restrict_constant(value, type->value().type);
  return {type, std::move(map)};
}

// Trino and Avro writers do not annotate variants: it is the table that says so.
bool is_plain_variant(const FileField& field) {
  const auto is_part = [](const FileField& part) {
    return (part.name == "metadata" || part.name == "value") && part.kind == FileField::Kind::kLeaf &&
           part.can_read_as(*spec::primitive(TypeKind::kBinary));
  };
  return field.kind == FileField::Kind::kStruct && field.children.size() == 2 &&
         field.children[0].name != field.children[1].name &&
         std::all_of(field.children.begin(), field.children.end(), is_part);
}

class Resolver {
 public:
  Resolver(bool has_ids, const FileContext& context) : has_ids_(has_ids), context_(context) {}

  // What the name mapping says about the fields within a field, if it decides.
  using Mapped = std::span<const spec::MappedField>;

  ColumnSource from_file(const NestedField& wanted, const FileField& in_file, Mapped mapped, const std::string& path) {
    ColumnSource source;
    switch (wanted.type->kind()) {
      case TypeKind::kStruct:
        require(in_file.kind == FileField::Kind::kStruct, wanted, in_file, path);
        source.kind = ColumnSource::Kind::kStruct;
        source.children = fields_of(*wanted.type, in_file, mapped, path);
        return source;
      case TypeKind::kList:
        require(in_file.kind == FileField::Kind::kList, wanted, in_file, path);
        source.kind = ColumnSource::Kind::kList;
        source.children = {part(wanted.type->element(), in_file.children[0], 0, mapped, path)};
        return source;
      case TypeKind::kMap:
        require(in_file.kind == FileField::Kind::kMap, wanted, in_file, path);
        source.kind = ColumnSource::Kind::kMap;
        source.children = {part(wanted.type->key(), in_file.children[0], 0, mapped, path),
                           part(wanted.type->value(), in_file.children[1], 1, mapped, path)};
        return source;
      case TypeKind::kVariant:
        require(in_file.kind == FileField::Kind::kVariant || is_plain_variant(in_file), wanted, in_file, path);
        break;
      default:
        require(in_file.kind == FileField::Kind::kLeaf && in_file.can_read_as(*wanted.type), wanted, in_file, path);
    }
    source.kind = ColumnSource::Kind::kWhole;
    return source;
  }

  ColumnSource missing(const NestedField& wanted, const std::string& path) {
    ColumnSource source;
    if (wanted.type->kind() == TypeKind::kUnknown) {
      source.constant = spec::Literal::null(wanted.type);
    } else if (const auto* value = partition_constant(context_.spec, context_.partition, wanted.id)) {
      // The partition keeps the type that the column had when its manifest was written.
      source.constant = value->is_null() ? spec::Literal::null(wanted.type) : spec::promote(*value, wanted.type);
    } else if (wanted.initial_default != nullptr) {
      source.constant = restrict_constant(*wanted.initial_default, wanted.type);
    } else if (!wanted.required) {
      source.constant = spec::Literal::null(wanted.type);
    } else {
      throw_corrupt(CorruptError::kNoOffset, "required column '{}' (field id {}) is not in the file", path, wanted.id);
    }
    return source;
  }

 private:
  static void require(bool fits, const NestedField& wanted, const FileField& in_file, const std::string& path) {
    if (fits) return;
    throw_corrupt(CorruptError::kNoOffset, "column '{}' is {} in the file and cannot be read as {}", path,
                  in_file.type_text, wanted.type->to_string());
  }

  // Element, key, value.
  ColumnSource part(const NestedField& wanted, const FileField& in_file, size_t index, Mapped mapped,
                    const std::string& path) {
    const std::string part_path = path + "." + wanted.name;
    if (wanted.type->kind() == TypeKind::kUnknown) return missing(wanted, part_path);
    const auto* mapping = spec::NameMapping::find(mapped, wanted.name);
    ColumnSource source =
        from_file(wanted, in_file, mapping != nullptr ? Mapped(mapping->fields) : Mapped(), part_path);
    source.file_index = index;
    return source;
  }

  std::vector<ColumnSource> fields_of(const Type& type, const FileField& in_file, Mapped mapped,
                                      const std::string& path) {
    std::vector<ColumnSource> sources;
    for (const NestedField& wanted : type.fields()) {
      const std::string field_path = path + "." + wanted.name;
      const auto found = std::find_if(in_file.children.begin(), in_file.children.end(), [&](const FileField& field) {
        if (has_ids_) return field.field_id == wanted.id;
        if (context_.name_mapping == nullptr) return field.name == wanted.name;
        const auto* mapping = spec::NameMapping::find(mapped, field.name);
        return mapping != nullptr && mapping->field_id == wanted.id;
      });
      if (found == in_file.children.end() || wanted.type->kind() == TypeKind::kUnknown) {
        sources.push_back(missing(wanted, field_path));
        continue;
      }
      const auto* mapping = spec::NameMapping::find(mapped, found->name);
      ColumnSource source =
          from_file(wanted, *found, mapping != nullptr ? Mapped(mapping->fields) : Mapped(), field_path);
      source.file_index = static_cast<size_t>(found - in_file.children.begin());
      sources.push_back(std::move(source));
    }
    return sources;
  }

  bool has_ids_;
  const FileContext& context_;
};

std::vector<ColumnSource> restrict_fields(std::span<const ColumnSource> sources, std::span<const NestedField> fields,
                                          std::span<const NestedField> part) {
  std::vector<ColumnSource> restricted;
  for (const NestedField& wanted : part) {
    size_t index = 0;
    while (index < fields.size() && fields[index].id != wanted.id) ++index;
    if (index == fields.size()) throw_error(ErrorKind::kInternal, "column {} is not among those read", wanted.id);
    ColumnSource source = sources[index];
    if (source.is_constant()) {
      source.constant = restrict_constant(source.constant, wanted.type);
    } else if (wanted.type->is_nested()) {
      source.children = restrict_fields(source.children, fields[index].type->fields(), wanted.type->fields());
    }
    restricted.push_back(std::move(source));
  }
  return restricted;
}

}  // namespace

std::vector<ColumnSource> resolve_columns(const FileColumns& file, const spec::Schema& columns,
                                          const FileContext& context) {
  const Fields by_id = columns_by_id(file, context);
  Resolver resolver(file.has_ids, context);
  std::vector<ColumnSource> sources;
  for (const NestedField& column : columns.fields()) {
    const auto found = by_id.find(column.id);
    // An unknown is never stored; a column of that id in the file was dropped or promoted wrongly and must not show
    // through.
    if (found == by_id.end() || column.type->kind() == TypeKind::kUnknown) {
      sources.push_back(resolver.missing(column, column.name));
      continue;
    }
    Resolver::Mapped mapped;
    if (context.name_mapping != nullptr) {
      const auto* mapping = spec::NameMapping::find(context.name_mapping->fields(), file.columns[found->second].name);
      if (mapping != nullptr) mapped = mapping->fields;
    }
    ColumnSource source = resolver.from_file(column, file.open(found->second), mapped, column.name);
    source.file_index = found->second;
    sources.push_back(std::move(source));
  }
  number_places(sources);
  return sources;
}

std::vector<ColumnSource> restrict_sources(std::span<const ColumnSource> sources, const spec::Schema& columns,
                                           const spec::Schema& part) {
  return restrict_fields(sources, columns.fields(), part.fields());
}

void number_places(std::vector<ColumnSource>& sources) {
  size_t place = 0;
  for (ColumnSource& source : sources) {
    if (source.is_constant()) continue;
    source.place = place++;
    number_places(source.children);
  }
}

}  // namespace frazil::scan
