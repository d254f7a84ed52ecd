// Schemas over the C data interface: format strings, flags, metadata.
//
//   metadata := count:int32 (key_bytes:int32 key value_bytes:int32 value)*      // native byte order
#include <charconv>
#include <cstring>
#include <limits>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

constexpr uint64_t kNoOffset = CorruptError::kNoOffset;
constexpr int32_t kMaxMetadataPairs = 1 << 16;

// ---- Import ----

template <typename... Args>
[[noreturn]] void fail(std::string_view format, const Args&... args) {
  throw_corrupt(kNoOffset, "Arrow C schema: {}", message(format, args...));
}

[[noreturn]] void fail_unknown(std::string_view format) {
  throw_error(ErrorKind::kUnsupported, "Arrow C schema: format '{}' is not known", format);
}

// Takes an integer off the front of `text`.
int32_t take_int(std::string_view& text, std::string_view format) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) fail("format '{}' lacks a number", format);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void require_end(std::string_view rest, std::string_view format) {
  if (!rest.empty()) fail_unknown(format);
}

TimeUnit take_unit(std::string_view& rest, std::string_view format) {
  if (take(rest, "s")) return TimeUnit::kSecond;
  if (take(rest, "m")) return TimeUnit::kMilli;
  if (take(rest, "u")) return TimeUnit::kMicro;
  if (take(rest, "n")) return TimeUnit::kNano;
  fail_unknown(format);
}

DataTypePtr parse_temporal(std::string_view rest, std::string_view format) {
  DataTypePtr type;
  if (take(rest, "dD")) {
    type = primitive(TypeId::kDate32);
  } else if (take(rest, "dm")) {
    type = primitive(TypeId::kDate64);
  } else if (take(rest, "iM")) {
    type = primitive(TypeId::kIntervalMonths);
  } else if (take(rest, "iD")) {
    type = primitive(TypeId::kIntervalDayTime);
  } else if (take(rest, "in")) {
    type = primitive(TypeId::kIntervalMonthDayNano);
  } else if (take(rest, "t")) {
    TimeUnit unit = take_unit(rest, format);
    type = unit <= TimeUnit::kMilli ? time32(unit) : time64(unit);
  } else if (take(rest, "D")) {
    type = duration(take_unit(rest, format));
  } else if (take(rest, "s")) {
    TimeUnit unit = take_unit(rest, format);
    if (!take(rest, ":")) fail("format '{}' lacks ':' and a time zone", format);
    return timestamp(unit, std::string(rest));
  } else {
    fail_unknown(format);
  }
  require_end(rest, format);
  return type;
}

DataTypePtr parse_decimal(std::string_view rest, std::string_view format) {
  int32_t precision = take_int(rest, format);
  if (!take(rest, ",")) fail("format '{}' lacks a scale", format);
  int32_t scale = take_int(rest, format);
  int32_t bits = take(rest, ",") ? take_int(rest, format) : 128;
  require_end(rest, format);
  switch (bits) {
    case 32:
      return decimal(precision, scale, TypeId::kDecimal32);
    case 64:
      return decimal(precision, scale, TypeId::kDecimal64);
    case 128:
      return decimal(precision, scale, TypeId::kDecimal128);
    case 256:
      return decimal(precision, scale, TypeId::kDecimal256);
    default:
      fail_unknown(format);
  }
}

DataTypePtr parse_union(std::string_view rest, std::string_view format, std::vector<Field> children, bool dense) {
  std::vector<int8_t> ids;
  while (!rest.empty()) {
    if (!ids.empty() && !take(rest, ",")) fail_unknown(format);
    int32_t id = take_int(rest, format);
    if (id < 0 || id > std::numeric_limits<int8_t>::max()) fail("type id in '{}' is out of range", format);
    if (ids.size() > 127) fail("more than 128 type ids in a union");
    ids.push_back(static_cast<int8_t>(id));
  }
  return dense ? dense_union(std::move(children), std::move(ids)) : sparse_union(std::move(children), std::move(ids));
}

void require_children(const std::vector<Field>& children, size_t count, std::string_view format) {
  if (children.size() != count) fail("format '{}' needs {} children, not {}", format, count, children.size());
}

DataTypePtr parse_nested(std::string_view rest, std::string_view format, std::vector<Field> children, bool sorted) {
  if (take(rest, "ud:")) return parse_union(rest, format, std::move(children), true);
  if (take(rest, "us:")) return parse_union(rest, format, std::move(children), false);
  if (take(rest, "w:")) {
    int32_t size = take_int(rest, format);
    require_end(rest, format);
    require_children(children, 1, format);
    return fixed_size_list(std::move(children[0]), size);
  }
  if (rest == "s") return struct_(std::move(children));
  if (rest == "r") {
    require_children(children, 2, format);
    return run_end_encoded(std::move(children[0]), std::move(children[1]));
  }
  require_children(children, 1, format);
  if (rest == "l") return list(std::move(children[0]), TypeId::kList);
  if (rest == "L") return list(std::move(children[0]), TypeId::kLargeList);
  if (rest == "vl") return list(std::move(children[0]), TypeId::kListView);
  if (rest == "vL") return list(std::move(children[0]), TypeId::kLargeListView);
  if (rest == "m") return map_of_entries(std::move(children[0]), sorted);
  fail_unknown(format);
}

struct FormatName {
  std::string_view format;
  TypeId id;
};

constexpr FormatName kPlainFormats[] = {
    {"n", TypeId::kNull},
    {"b", TypeId::kBool},
    {"c", TypeId::kInt8},
    {"C", TypeId::kUInt8},
    {"s", TypeId::kInt16},
    {"S", TypeId::kUInt16},
    {"i", TypeId::kInt32},
    {"I", TypeId::kUInt32},
    {"l", TypeId::kInt64},
    {"L", TypeId::kUInt64},
    {"e", TypeId::kHalfFloat},
    {"f", TypeId::kFloat},
    {"g", TypeId::kDouble},
    {"u", TypeId::kUtf8},
    {"U", TypeId::kLargeUtf8},
    {"vu", TypeId::kUtf8View},
    {"z", TypeId::kBinary},
    {"Z", TypeId::kLargeBinary},
    {"vz", TypeId::kBinaryView},
    {"tdD", TypeId::kDate32},
    {"tdm", TypeId::kDate64},
    {"tiM", TypeId::kIntervalMonths},
    {"tiD", TypeId::kIntervalDayTime},
    {"tin", TypeId::kIntervalMonthDayNano},
};

DataTypePtr parse_format(std::string_view format, std::vector<Field> children, bool keys_sorted) {
  std::string_view rest = format;
  if (take(rest, "+")) return parse_nested(rest, format, std::move(children), keys_sorted);
  require_children(children, 0, format);
  for (const FormatName& plain : kPlainFormats) {
    if (plain.format == format) return primitive(plain.id);
  }
  if (take(rest, "t")) return parse_temporal(rest, format);
  if (take(rest, "d:")) return parse_decimal(rest, format);
  if (take(rest, "w:")) {
    int32_t width = take_int(rest, format);
    require_end(rest, format);
    return fixed_size_binary(width);
  }
  fail_unknown(format);
}

std::string read_metadata_text(const char*& cursor) {
  auto size = load<int32_t>(cursor);
  cursor += sizeof(int32_t);
  if (size < 0) fail("length in metadata is negative: {}", size);
  std::string text(cursor, static_cast<size_t>(size));
  cursor += size;
  return text;
}

Metadata read_metadata(const char* cursor) {
  Metadata metadata;
  if (cursor == nullptr) return metadata;
  auto count = load<int32_t>(cursor);
  cursor += sizeof(int32_t);
  if (count < 0 || count > kMaxMetadataPairs)
    fail("number of metadata pairs is outside 0..{}: {}", kMaxMetadataPairs, count);
  for (int32_t i = 0; i < count; ++i) {
    std::string key = read_metadata_text(cursor);
    std::string value = read_metadata_text(cursor);
    metadata.emplace_back(std::move(key), std::move(value));
  }
  return metadata;
}

class SchemaReader {
 public:
  Field read(const ArrowSchema& schema, int depth) {
    // The structures may form a graph, even a cycle: depth and the total bound the walk.
    if (depth > kMaxTypeDepth) fail("fields nest deeper than {} levels", kMaxTypeDepth);
    if (schema.release == nullptr) fail("a field is already released");
    if (schema.format == nullptr) fail("format is null");
    Field field;
    if (schema.name != nullptr) field.name = schema.name;
    try {
      field.type = read_type(schema, depth);
    } catch (Error& error) {
      error.add_context(message("importing field '{}'", field.name));
      throw;
    }
    field.nullable = (schema.flags & ARROW_FLAG_NULLABLE) != 0;
    field.metadata = read_metadata(schema.metadata);
    return field;
  }

 private:
  DataTypePtr read_type(const ArrowSchema& schema, int depth) {
    if (schema.n_children < 0 || schema.n_children > kMaxImportedFields) {
      fail("number of children is outside 0..{}: {}", kMaxImportedFields, schema.n_children);
    }
    if (schema.n_children > 0 && schema.children == nullptr) fail("children are null");
    // Counted before they are read, so that all the vectors together stay within the limit.
    field_count_ += schema.n_children + (schema.dictionary != nullptr ? 1 : 0);
    if (field_count_ > kMaxImportedFields) fail("more than {} fields", kMaxImportedFields);
    std::vector<Field> children;
    children.reserve(static_cast<size_t>(schema.n_children));
    for (int64_t i = 0; i < schema.n_children; ++i) {
      if (schema.children[i] == nullptr) fail("child {} is null", i);
      children.push_back(read(*schema.children[i], depth + 1));
    }
    DataTypePtr value_type;
    if (schema.dictionary != nullptr) value_type = read(*schema.dictionary, depth + 1).type;
    try {
      DataTypePtr type =
          parse_format(schema.format, std::move(children), (schema.flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);
      if (value_type == nullptr) return type;
      return dictionary(std::move(type), std::move(value_type), (schema.flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0);
    } catch (const Error& error) {
      // What the makers of types refuse is damage here, not a mistake of the caller.
      if (error.kind() != ErrorKind::kInvalidArgument) throw;
      fail("{}", error.message());
    }
  }

  int64_t field_count_ = 0;
};

// Moves a structure out of the caller's memory and releases it at the end of the scope.
class SchemaGuard {
 public:
  explicit SchemaGuard(ArrowSchema* source) {
    if (source == nullptr || source->release == nullptr) {
      throw_error(ErrorKind::kInvalidArgument, "Arrow C schema is {}", source == nullptr ? "null" : "already released");
    }
    schema_ = *source;
    source->release = nullptr;
  }
  SchemaGuard(const SchemaGuard&) = delete;
  SchemaGuard& operator=(const SchemaGuard&) = delete;
  ~SchemaGuard() { schema_.release(&schema_); }
  const ArrowSchema& operator*() const { return schema_; }

 private:
  ArrowSchema schema_;
};

// ---- Export ----

char unit_letter(TimeUnit unit) {
  return "smun"[static_cast<size_t>(unit)];
}

std::string union_format(std::string_view prefix, const DataType& type) {
  std::string out(prefix);
  for (size_t i = 0; i < type.union_type_ids().size(); ++i) {
    if (i != 0) out += ',';
    out += std::to_string(type.union_type_ids()[i]);
  }
  return out;
}

std::string decimal_format(const DataType& type, int bits) {
  std::string out = message("d:{},{}", type.precision(), type.scale());
  if (bits != 128) out += message(",{}", bits);
  return out;
}

std::string format_of(const DataType& type) {
  for (const FormatName& plain : kPlainFormats) {
    if (plain.id == type.id()) return std::string(plain.format);
  }
  switch (type.id()) {
    case TypeId::kDecimal32:
      return decimal_format(type, 32);
    case TypeId::kDecimal64:
      return decimal_format(type, 64);
    case TypeId::kDecimal128:
      return decimal_format(type, 128);
    case TypeId::kDecimal256:
      return decimal_format(type, 256);
    case TypeId::kTime32:
    case TypeId::kTime64:
      return std::string("tt") + unit_letter(type.unit());
    case TypeId::kTimestamp:
      return std::string("ts") + unit_letter(type.unit()) + ':' + type.timezone();
    case TypeId::kDuration:
      return std::string("tD") + unit_letter(type.unit());
    case TypeId::kFixedSizeBinary:
      return message("w:{}", type.fixed_size());
    case TypeId::kList:
      return "+l";
    case TypeId::kLargeList:
      return "+L";
    case TypeId::kListView:
      return "+vl";
    case TypeId::kLargeListView:
      return "+vL";
    case TypeId::kFixedSizeList:
      return message("+w:{}", type.fixed_size());
    case TypeId::kStruct:
      return "+s";
    case TypeId::kMap:
      return "+m";
    case TypeId::kDenseUnion:
      return union_format("+ud:", type);
    case TypeId::kSparseUnion:
      return union_format("+us:", type);
    case TypeId::kDictionary:
      return format_of(*type.index_type());
    case TypeId::kRunEndEncoded:
      return "+r";
    default:
      throw_error(ErrorKind::kInternal, "type {} has no C data format", type.to_string());
  }
}

void append_metadata_text(std::string& out, const std::string& text) {
  auto size = static_cast<int32_t>(text.size());
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw_error(ErrorKind::kUnsupported, "metadata of {} bytes is too long for the C data interface", text.size());
  }
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

std::string write_metadata(const Metadata& metadata) {
  std::string out;
  auto count = static_cast<int32_t>(metadata.size());
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const auto& [key, value] : metadata) {
    append_metadata_text(out, key);
    append_metadata_text(out, value);
  }
  return out;
}

// What an exported schema refers to.
struct ExportedSchema {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
  ArrowSchema dictionary{};

  ExportedSchema() = default;
  ExportedSchema(const ExportedSchema&) = delete;
  ExportedSchema& operator=(const ExportedSchema&) = delete;
  // Children that the consumer moved out are marked released.
  ~ExportedSchema() {
    for (ArrowSchema& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

void release_schema(ArrowSchema* schema) {
  delete static_cast<ExportedSchema*>(schema->private_data);
  schema->release = nullptr;
}

struct SchemaParts {
  std::string_view name;
  std::string format;
  const Metadata& metadata;
  int64_t flags;
  const std::vector<Field>& children;
  DataTypePtr value_type;  // of a dictionary
};

void export_parts(const SchemaParts& parts, ArrowSchema* out) {
  auto exported = std::make_unique<ExportedSchema>();
  exported->format = parts.format;
  exported->name = parts.name;
  if (!parts.metadata.empty()) exported->metadata = write_metadata(parts.metadata);
  exported->children.resize(parts.children.size());
  for (size_t i = 0; i < parts.children.size(); ++i) {
    export_field(parts.children[i], &exported->children[i]);
    exported->child_pointers.push_back(&exported->children[i]);
  }
  if (parts.value_type != nullptr) {
    export_field({.name = {}, .type = parts.value_type, .nullable = true, .metadata = {}}, &exported->dictionary);
  }
  *out = ArrowSchema{
      .format = exported->format.c_str(),
      .name = exported->name.c_str(),
      .metadata = parts.metadata.empty() ? nullptr : exported->metadata.data(),
      .flags = parts.flags,
      .n_children = static_cast<int64_t>(exported->children.size()),
      .children = exported->child_pointers.empty() ? nullptr : exported->child_pointers.data(),
      .dictionary = parts.value_type == nullptr ? nullptr : &exported->dictionary,
      .release = release_schema,
      .private_data = exported.get(),
  };
  exported.release();
}

}  // namespace

Field import_field(ArrowSchema* schema) {
  SchemaGuard guard(schema);
  return SchemaReader().read(*guard, 1);
}

SchemaPtr import_schema(ArrowSchema* schema) {
  Field field = import_field(schema);
  if (field.type->id() != TypeId::kStruct) {
    throw_error(ErrorKind::kInvalidArgument, "a schema of columns is a struct, not {}", field.type->to_string());
  }
  return Schema::make(field.type->children(), std::move(field.metadata));
}

void export_field(const Field& field, ArrowSchema* out) {
  out->release = nullptr;
  const DataType& type = *field.type;
  int64_t flags = field.nullable ? ARROW_FLAG_NULLABLE : 0;
  if (type.ordered()) {
    flags |= type.id() == TypeId::kMap ? ARROW_FLAG_MAP_KEYS_SORTED : ARROW_FLAG_DICTIONARY_ORDERED;
  }
  export_parts({.name = field.name,
                .format = format_of(type),
                .metadata = field.metadata,
                .flags = flags,
                .children = type.children(),
                .value_type = type.value_type()},
               out);
}

void export_schema(const Schema& schema, ArrowSchema* out) {
  out->release = nullptr;
  export_parts({.name = {},
                .format = "+s",
                .metadata = schema.metadata(),
                .flags = 0,
                .children = schema.fields(),
                .value_type = nullptr},
               out);
}

}  // namespace frazil
