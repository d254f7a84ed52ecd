#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/half_float.h"
#include "frazil/base/hex.h"
#include "frazil/base/number_text.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/json/value.h"
#include "frazil/testing/integration_json.h"
#include "frazil/testing/integration_json_names.h"

namespace frazil::testing {

namespace {

using json::Value;

// A level of a type is an object in an array, in the schema and in every column.
constexpr size_t kMaxJsonDepth = 16 + 2 * static_cast<size_t>(kMaxTypeDepth);

template <typename... Args>
[[noreturn]] void throw_broken(std::string_view format, const Args&... args) {
  throw_corrupt(CorruptError::kNoOffset, format, args...);
}

// A field, and which dictionaries are at and below it. A dictionary's children are those of its values.
struct FieldNode {
  Field field;
  std::optional<int64_t> dictionary_id;
  std::vector<FieldNode> children;
};

// ---- Numbers ----

// Large ones are strings, so that readers with doubles alone keep them.
int64_t integer(const Value& value) {
  if (!value.is_string()) return value.as_int64();
  const std::optional<int64_t> number = parse_int64(value.as_string());
  if (!number) throw_broken("'{}' is no 64-bit integer", value.as_string());
  return *number;
}

uint64_t unsigned_integer(const Value& value) {
  const std::string& text = value.is_string() ? value.as_string() : value.number_text();
  const std::optional<uint64_t> number = parse_uint64(text);
  if (!number) throw_broken("'{}' is no unsigned 64-bit integer", text);
  return *number;
}

// The bits of an integer of 1 to 8 bytes.
uint64_t integer_bits(const Value& value, int width, bool is_signed) {
  if (width == 8) return is_signed ? static_cast<uint64_t>(integer(value)) : unsigned_integer(value);
  const int64_t number = integer(value);
  const int64_t end = int64_t{1} << (8 * width - (is_signed ? 1 : 0));
  if (number >= end || number < (is_signed ? -end : 0)) throw_broken("{} does not fit {} bytes", number, width);
  return static_cast<uint64_t>(number);
}

const std::string& number_text(const Value& value) {
  return value.is_string() ? value.as_string() : value.number_text();
}

template <typename T>
T floating(const Value& value) {
  const std::string& text = number_text(value);
  std::optional<T> number;
  if constexpr (std::is_same_v<T, float>) {
    number = parse_float(text);
  } else {
    number = parse_double(text);
  }
  if (!number) throw_broken("'{}' is no number", text);
  return *number;
}

// The nearest half float; ties do not occur, as texts are those of half floats.
uint16_t half(double number) {
  if (std::isnan(number)) return 0x7E00;
  const uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const double magnitude = std::fabs(number);
  uint16_t low = 0;
  uint16_t high = 0x7C00;  // infinity; magnitudes grow with their bits
  while (low < high) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    if (static_cast<double>(half_to_float(middle)) < magnitude) {
      low = static_cast<uint16_t>(middle + 1);
    } else {
      high = middle;
    }
  }
  if (low != 0) {
    const double above = static_cast<double>(half_to_float(low)) - magnitude;
    if (magnitude - static_cast<double>(half_to_float(static_cast<uint16_t>(low - 1))) < above) --low;
  }
  return sign | low;
}

// An integer of any size as two's complement of `width` bytes, the lowest first.
void append_decimal(GrowingBuffer& target, std::string_view text, size_t width) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  std::array<uint32_t, 8> words = {};
  const size_t count = width / 4;
  bool fits = !digits.empty();
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') throw_broken("'{}' is no integer", text);
    uint64_t carry = static_cast<uint64_t>(digit - '0');
    for (size_t i = 0; i < count; ++i) {
      carry += uint64_t{words[i]} * 10;
      words[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    fits = fits && carry == 0;
  }
  if (negative) {
    uint64_t carry = 1;
    for (size_t i = 0; i < count; ++i) {
      carry += static_cast<uint32_t>(~words[i]);
      words[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  const bool sign = (words[count - 1] >> 31) != 0;
  const bool is_zero = std::all_of(words.begin(), words.end(), [](uint32_t word) { return word == 0; });
  if (!fits || sign != (negative && !is_zero)) throw_broken("'{}' does not fit {} bytes", text, width);
  target.append(words.data(), width);
}

std::string hex_bytes(const Value& value) {
  std::optional<std::string> bytes = decode_hex(value.as_string());
  if (!bytes) throw_broken("'{}' is not hexadecimal", value.as_string());
  return std::move(*bytes);
}

// ---- Schema ----

Metadata metadata_of(const Value& owner) {
  Metadata result;
  const Value* pairs = owner.find("metadata");
  if (pairs == nullptr || pairs->is_null()) return result;
  for (const Value& pair : pairs->as_array()) {
    result.emplace_back(pair.at("key").as_string(), pair.at("value").as_string());
  }
  return result;
}

template <size_t N>
TypeId named(const NamedType (&types)[N], std::string_view name) {
  for (const NamedType& type : types) {
    if (type.name == name) return type.id;
  }
  throw_broken("'{}' is no kind of that type", name);
}

TimeUnit time_unit(const Value& type) {
  const std::string& name = type.at("unit").as_string();
  const auto* found = std::find(kTimeUnitNames.begin(), kTimeUnitNames.end(), name);
  if (found == kTimeUnitNames.end()) throw_broken("'{}' is no unit of time", name);
  return static_cast<TimeUnit>(found - kTimeUnitNames.begin());
}

DataTypePtr integer_type(const Value& type) {
  const int32_t bits = type.at("bitWidth").as_int32();
  for (const NumberType& known : kIntegerTypes) {
    if (known.bits == bits && known.is_signed == type.at("isSigned").as_bool()) return primitive(known.id);
  }
  throw_broken("an integer of {} bits", bits);
}

DataTypePtr decimal_type(const Value& type) {
  const Value* width = type.find("bitWidth");
  const int32_t bits = width == nullptr ? 128 : width->as_int32();
  for (const DecimalType& known : kDecimalTypes) {
    if (known.bits == bits) return decimal(type.at("precision").as_int32(), type.at("scale").as_int32(), known.id);
  }
  throw_broken("a decimal of {} bits", bits);
}

DataTypePtr time_type(const Value& type) {
  return type.at("bitWidth").as_int32() == 32 ? time32(time_unit(type)) : time64(time_unit(type));
}

DataTypePtr union_type(const Value& type, std::vector<Field> children) {
  std::vector<int8_t> ids;
  for (const Value& id : type.at("typeIds").as_array()) ids.push_back(static_cast<int8_t>(integer_bits(id, 1, true)));
  const std::string& mode = type.at("mode").as_string();
  if (mode == "DENSE") return dense_union(std::move(children), std::move(ids));
  if (mode == "SPARSE") return sparse_union(std::move(children), std::move(ids));
  throw_broken("'{}' is no mode of a union", mode);
}

Field only(std::vector<Field> children) {
  if (children.size() != 1) throw_broken("{} children where one belongs", children.size());
  return std::move(children[0]);
}

DataTypePtr data_type(const Value& type, std::vector<Field> children) {
  const std::string& name = type.at("name").as_string();
  for (const NamedType& known : kPlainTypes) {
    if (known.name == name) return primitive(known.id);
  }
  for (const NamedType& known : kListTypes) {
    if (known.name == name) return list(only(std::move(children)), known.id);
  }
  if (name == "int") return integer_type(type);
  if (name == "floatingpoint") return primitive(named(kFloatingTypes, type.at("precision").as_string()));
  if (name == "decimal") return decimal_type(type);
  if (name == "fixedsizebinary") return fixed_size_binary(type.at("byteWidth").as_int32());
  if (name == "date") return primitive(named(kDateTypes, type.at("unit").as_string()));
  if (name == "time") return time_type(type);
  if (name == "timestamp") {
    const Value* zone = type.find("timezone");
    return timestamp(time_unit(type), zone == nullptr || zone->is_null() ? std::string() : zone->as_string());
  }
  if (name == "duration") return duration(time_unit(type));
  if (name == "interval") return primitive(named(kIntervalTypes, type.at("unit").as_string()));
  if (name == "fixedsizelist") return fixed_size_list(only(std::move(children)), type.at("listSize").as_int32());
  if (name == "struct") return struct_(std::move(children));
  if (name == "map") return map_of_entries(only(std::move(children)), type.at("keysSorted").as_bool());
  if (name == "union") return union_type(type, std::move(children));
  if (name == "runendencoded") {
    if (children.size() != 2) throw_broken("a run-end encoding of {} children", children.size());
    return run_end_encoded(std::move(children[0]), std::move(children[1]));
  }
  throw_error(ErrorKind::kUnsupported, "type '{}' is not known", name);
}

FieldNode field_node(const Value& value) {
  FieldNode node;
  std::vector<Field> children;
  for (const Value& child : value.at("children").as_array()) {
    node.children.push_back(field_node(child));
    children.push_back(node.children.back().field);
  }
  node.field = {.name = value.at("name").as_string(),
                .type = data_type(value.at("type"), std::move(children)),
                .nullable = value.at("nullable").as_bool(),
                .metadata = metadata_of(value)};
  const Value* encoding = value.find("dictionary");
  if (encoding != nullptr && !encoding->is_null()) {
    node.dictionary_id = encoding->at("id").as_int64();
    node.field.type =
        dictionary(integer_type(encoding->at("indexType")), node.field.type, encoding->at("isOrdered").as_bool());
  }
  return node;
}

// ---- Columns ----

class ColumnReader {
 public:
  // Borrows both.
  ColumnReader(const Value& root, MemoryPool& pool) : pool_(pool) {
    const Value* dictionaries = root.find("dictionaries");
    if (dictionaries == nullptr) return;
    for (const Value& entry : dictionaries->as_array()) {
      const json::Array& columns = entry.at("data").at("columns").as_array();
      if (columns.size() != 1) throw_broken("a dictionary of {} columns", columns.size());
      if (!dictionary_columns_.emplace(entry.at("id").as_int64(), &columns[0]).second) {
        throw_broken("two dictionaries of id {}", entry.at("id").as_int64());
      }
    }
  }

  ArrayPtr column(const FieldNode& node, const Value& value) {
    if (node.dictionary_id) return dictionary_column(node, value);
    return plain_column(node, node.field.type, value);
  }

 private:
  // The items of `key`, of which there must be as many as given.
  static const json::Array& items(const Value& value, std::string_view key, int64_t count) {
    const json::Array& found = value.at(key).as_array();
    if (found.size() != static_cast<size_t>(count)) throw_broken("{} items of {} for {}", found.size(), key, count);
    return found;
  }

  static int64_t count_of(const Value& value) {
    const int64_t count = value.at("count").as_int64();
    // Everything else is held against the items that there are; null arrays have none.
    if (count < 0 || count > kMaxImplicitLength) throw_broken("a column of {} values", count);
    return count;
  }

  std::shared_ptr<Array> begin(const DataTypePtr& type, const Value& value) {
    auto array = std::make_shared<Array>();
    array->type = type;
    array->length = count_of(value);
    array->null_count = 0;
    if (type->id() == TypeId::kNull) array->null_count = array->length;
    // Unions had a validity before Arrow 1.0, in which nothing was null.
    if (!has_validity_buffer(type->id())) return array;
    BitBuilder bits(pool_);
    for (const Value& bit : items(value, "VALIDITY", array->length)) bits.append(bit.as_int64() != 0);
    array->null_count = bits.zero_count();
    if (array->null_count != 0) array->buffers[0] = bits.freeze();
    return array;
  }

  ArrayPtr dictionary_column(const FieldNode& node, const Value& value) {
    auto array = begin(node.field.type, value);
    array->buffers[1] = integers(items(value, "DATA", array->length), *node.field.type->index_type());
    ArrayPtr& dictionary = dictionaries_[*node.dictionary_id];
    if (dictionary == nullptr) {
      const auto found = dictionary_columns_.find(*node.dictionary_id);
      if (found == dictionary_columns_.end()) throw_broken("there is no dictionary of id {}", *node.dictionary_id);
      dictionary = plain_column(node, node.field.type->value_type(), *found->second);
    }
    if (!dictionary->type->equals(*node.field.type->value_type())) {
      throw_broken("dictionary {} is of two types", *node.dictionary_id);
    }
    array->dictionary = dictionary;
    return array;
  }

  // Of `type`, which is the node's or, where it has a dictionary, that of its values.
  ArrayPtr plain_column(const FieldNode& node, const DataTypePtr& type, const Value& value) {
    auto array = begin(type, value);
    switch (layout_of(type->id())) {
      case Layout::kNull:
        break;
      case Layout::kBool: {
        BitBuilder bits(pool_);
        for (const Value& bit : items(value, "DATA", array->length)) {
          bits.append(bit.kind() == Value::Kind::kBool ? bit.as_bool() : bit.as_int64() != 0);
        }
        array->buffers[1] = bits.freeze();
        break;
      }
      case Layout::kFixedWidth:
        array->buffers[1] = fixed_width(items(value, "DATA", array->length), *type);
        break;
      case Layout::kBytes:
        add_bytes(*array, value);
        break;
      case Layout::kView:
        add_views(*array, value);
        break;
      case Layout::kList:
        array->buffers[1] = offsets(value, "OFFSET", array->length + 1, type->id());
        break;
      case Layout::kListView:
        array->buffers[1] = offsets(value, "OFFSET", array->length, type->id());
        array->buffers[2] = offsets(value, "SIZE", array->length, type->id());
        break;
      case Layout::kSparseUnion:
      case Layout::kDenseUnion:
        array->buffers[0] = integers(items(value, "TYPE_ID", array->length), *primitive(TypeId::kInt8));
        if (type->id() == TypeId::kDenseUnion) {
          array->buffers[1] = integers(items(value, "OFFSET", array->length), *primitive(TypeId::kInt32));
        }
        break;
      default:
        break;
    }
    if (!type->children().empty()) {
      const json::Array& children = items(value, "children", static_cast<int64_t>(node.children.size()));
      for (size_t i = 0; i < children.size(); ++i) array->children.push_back(column(node.children[i], children[i]));
    }
    return array;
  }

  Buffer integers(const json::Array& values, const DataType& type) {
    const int width = type.byte_width();
    const bool is_signed = !is_integer(type.id()) || is_signed_integer(type.id());
    GrowingBuffer bytes(pool_);
    for (const Value& value : values) {
      const uint64_t bits = integer_bits(value, width, is_signed);
      bytes.append(&bits, static_cast<size_t>(width));
    }
    return bytes.freeze();
  }

  Buffer fixed_width(const json::Array& values, const DataType& type) {
    const TypeId id = type.id();
    const auto width = static_cast<size_t>(type.byte_width());
    if (!is_floating(id) && !is_decimal(id) && id != TypeId::kFixedSizeBinary && id != TypeId::kIntervalDayTime &&
        id != TypeId::kIntervalMonthDayNano) {
      return integers(values, type);
    }
    GrowingBuffer bytes(pool_);
    for (const Value& value : values) {
      if (id == TypeId::kHalfFloat) {
        bytes.append(half(floating<double>(value)));
      } else if (id == TypeId::kFloat) {
        bytes.append(floating<float>(value));
      } else if (id == TypeId::kDouble) {
        bytes.append(floating<double>(value));
      } else if (is_decimal(id)) {
        append_decimal(bytes, number_text(value), width);
      } else if (id == TypeId::kIntervalDayTime) {
        bytes.append(value.at("days").as_int32());
        bytes.append(value.at("milliseconds").as_int32());
      } else if (id == TypeId::kIntervalMonthDayNano) {
        bytes.append(value.at("months").as_int32());
        bytes.append(value.at("days").as_int32());
        bytes.append(integer(value.at("nanoseconds")));
      } else {
        const std::string value_bytes = hex_bytes(value);
        if (value_bytes.size() != width) throw_broken("a value of {} bytes where {} belong", value_bytes.size(), width);
        bytes.append(value_bytes.data(), width);
      }
    }
    return bytes.freeze();
  }

  Buffer offsets(const Value& value, std::string_view key, int64_t count, TypeId id) {
    // Nothing, too, stands for the one offset of an array without values.
    if (value.at(key).as_array().empty() && value.at("count").as_int64() == 0) return {};
    return integers(items(value, key, count), *primitive(offset_width(id) == 4 ? TypeId::kInt32 : TypeId::kInt64));
  }

  void add_bytes(Array& array, const Value& value) {
    const TypeId id = array.type->id();
    const bool is_text = id == TypeId::kUtf8 || id == TypeId::kLargeUtf8;
    array.buffers[1] = offsets(value, "OFFSET", array.length + 1, id);
    GrowingBuffer data(pool_);
    int64_t index = 0;
    for (const Value& item : items(value, "DATA", array.length)) {
      const std::string bytes = is_text ? item.as_string() : hex_bytes(item);
      data.append(bytes.data(), bytes.size());
      if (static_cast<int64_t>(data.size()) != offset_at(array.buffers[1], offset_width(id), ++index)) {
        throw_broken("the offset behind value {} is not that of its DATA", index - 1);
      }
    }
    array.buffers[2] = data.freeze();
  }

  void add_views(Array& array, const Value& value) {
    const bool is_text = array.type->id() == TypeId::kUtf8View;
    GrowingBuffer views(pool_);
    for (const Value& item : items(value, "VIEWS", array.length)) {
      BinaryView view;
      view.size = item.at("SIZE").as_int32();
      if (const Value* inlined = item.find("INLINED")) {
        const std::string bytes = is_text ? inlined->as_string() : hex_bytes(*inlined);
        if (bytes.size() > BinaryView::kInlineMax || static_cast<int32_t>(bytes.size()) != view.size) {
          throw_broken("{} bytes in a view of size {}", bytes.size(), view.size);
        }
        std::memcpy(view.inlined, bytes.data(), bytes.size());
      } else {
        const std::string prefix = hex_bytes(item.at("PREFIX_HEX"));
        if (prefix.size() != sizeof(view.reference.prefix)) throw_broken("a prefix of {} bytes", prefix.size());
        std::memcpy(view.reference.prefix, prefix.data(), prefix.size());
        view.reference.buffer_index = item.at("BUFFER_INDEX").as_int32();
        view.reference.offset = item.at("OFFSET").as_int32();
      }
      views.append(view);
    }
    array.buffers[1] = views.freeze();
    for (const Value& data : value.at("VARIADIC_DATA_BUFFERS").as_array()) {
      array.variadic_buffers.push_back(Buffer::from_string(hex_bytes(data)));
    }
  }

  MemoryPool& pool_;
  std::map<int64_t, const Value*> dictionary_columns_;
  std::map<int64_t, ArrayPtr> dictionaries_;
};

IntegrationData read(const Value& root, MemoryPool& pool) {
  std::vector<FieldNode> nodes;
  std::vector<Field> fields;
  for (const Value& field : root.at("schema").at("fields").as_array()) {
    nodes.push_back(field_node(field));
    fields.push_back(nodes.back().field);
  }
  IntegrationData data;
  data.schema = Schema::make(std::move(fields), metadata_of(root.at("schema")));
  ColumnReader reader(root, pool);
  for (const Value& batch : root.at("batches").as_array()) {
    const json::Array& values = batch.at("columns").as_array();
    if (values.size() != nodes.size()) throw_broken("{} columns of {} fields", values.size(), nodes.size());
    std::vector<ArrayPtr> columns;
    for (size_t i = 0; i < values.size(); ++i) {
      columns.push_back(reader.column(nodes[i], values[i]));
      validate_full(*columns.back());
    }
    data.batches.emplace_back(data.schema, batch.at("count").as_int64(), std::move(columns));
  }
  return data;
}

}  // namespace

IntegrationData read_integration_json(std::string_view text, MemoryPool& pool) {
  const Value root = json::parse(text, {.max_depth = kMaxJsonDepth});
  try {
    return read(root, pool);
  } catch (CorruptError&) {
    throw;
  } catch (const Error& error) {
    // What Arrow's types and batches forbid is damage here.
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    throw_broken("{}", error.message());
  }
}

}  // namespace frazil::testing
