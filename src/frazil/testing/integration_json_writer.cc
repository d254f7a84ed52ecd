#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/half_float.h"
#include "frazil/base/hex.h"
#include "frazil/base/number_text.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"
#include "frazil/json/value.h"
#include "frazil/testing/integration_json.h"
#include "frazil/testing/integration_json_names.h"

namespace frazil::testing {

namespace {

using json::Value;

// A range of an array's values, by indices as its methods take them.
struct Range {
  int64_t from;
  int64_t count;
};

// ---- Schema ----

template <size_t N>
std::string_view name_of(const NamedType (&types)[N], TypeId id) {
  for (const NamedType& type : types) {
    if (type.id == id) return type.name;
  }
  return {};
}

Value named_type(std::string_view name, json::Object parameters = {}) {
  json::Object type = {{"name", Value(name)}};
  for (json::Member& parameter : parameters) type.push_back(std::move(parameter));
  return type;
}

Value time_unit(const DataType& type) {
  return kTimeUnitNames[static_cast<size_t>(type.unit())];
}

Value union_type(const DataType& type) {
  json::Array ids;
  for (const int8_t id : type.union_type_ids()) ids.emplace_back(int32_t{id});
  const bool is_dense = type.id() == TypeId::kDenseUnion;
  return named_type("union", {{"mode", is_dense ? "DENSE" : "SPARSE"}, {"typeIds", std::move(ids)}});
}

Value type_value(const DataType& type) {
  const TypeId id = type.id();
  for (const NumberType& known : kIntegerTypes) {
    if (known.id != id) continue;
    return named_type("int", {{"isSigned", Value(known.is_signed)}, {"bitWidth", Value(known.bits)}});
  }
  for (const DecimalType& known : kDecimalTypes) {
    if (known.id != id) continue;
    return named_type(
        "decimal",
        {{"precision", Value(type.precision())}, {"scale", Value(type.scale())}, {"bitWidth", Value(known.bits)}});
  }
  if (const auto name = name_of(kPlainTypes, id); !name.empty()) return named_type(name);
  if (const auto name = name_of(kListTypes, id); !name.empty()) return named_type(name);
  if (const auto name = name_of(kFloatingTypes, id); !name.empty()) {
    return named_type("floatingpoint", {{"precision", name}});
  }
  if (const auto name = name_of(kDateTypes, id); !name.empty()) return named_type("date", {{"unit", name}});
  if (const auto name = name_of(kIntervalTypes, id); !name.empty()) return named_type("interval", {{"unit", name}});
  switch (id) {
    case TypeId::kFixedSizeBinary:
      return named_type("fixedsizebinary", {{"byteWidth", Value(type.fixed_size())}});
    case TypeId::kTime32:
    case TypeId::kTime64:
      return named_type("time", {{"unit", time_unit(type)}, {"bitWidth", Value(8 * type.byte_width())}});
    case TypeId::kTimestamp:
      if (type.timezone().empty()) return named_type("timestamp", {{"unit", time_unit(type)}});
      return named_type("timestamp", {{"unit", time_unit(type)}, {"timezone", type.timezone()}});
    case TypeId::kDuration:
      return named_type("duration", {{"unit", time_unit(type)}});
    case TypeId::kFixedSizeList:
      return named_type("fixedsizelist", {{"listSize", Value(type.fixed_size())}});
    case TypeId::kStruct:
      return named_type("struct");
    case TypeId::kMap:
      return named_type("map", {{"keysSorted", Value(type.ordered())}});
    case TypeId::kDenseUnion:
    case TypeId::kSparseUnion:
      return union_type(type);
    case TypeId::kRunEndEncoded:
      return named_type("runendencoded");
    default:
      throw_error(ErrorKind::kUnsupported, "the integration JSON has no type {}", type.to_string());
  }
}

void add_metadata(json::Object& owner, const Metadata& metadata) {
  if (metadata.empty()) return;
  json::Array pairs;
  for (const auto& [key, value] : metadata) pairs.emplace_back(json::Object{{"key", key}, {"value", value}});
  owner.emplace_back("metadata", std::move(pairs));
}

// Dictionaries get their ids in the order in which this comes by them: a field before what is below it.
Value field_value(const Field& field, int64_t& next_id) {
  const bool is_dictionary = field.type->id() == TypeId::kDictionary;
  const DataType& type = is_dictionary ? *field.type->value_type() : *field.type;
  json::Object result = {{"name", field.name}, {"type", type_value(type)}, {"nullable", Value(field.nullable)}};
  json::Object encoding;
  if (is_dictionary) {
    encoding = {{"id", Value(next_id++)},
                {"indexType", type_value(*field.type->index_type())},
                {"isOrdered", Value(field.type->ordered())}};
  }
  json::Array children;
  for (const Field& child : type.children()) children.push_back(field_value(child, next_id));
  result.emplace_back("children", std::move(children));
  if (is_dictionary) result.emplace_back("dictionary", std::move(encoding));
  add_metadata(result, field.metadata);
  return result;
}

// ---- Columns ----

// Integers of 64 bits are strings.
Value integer_value(int64_t number, int width) {
  return width == 8 ? Value(std::to_string(number)) : Value(number);
}

template <typename T>
Value floating_value(T number) {
  std::string text = number_to_string(number);
  if (text.find_first_of("NI") != std::string::npos) return text;
  return Value(json::Number{std::move(text)});
}

std::string upper_hex(std::string_view bytes) {
  std::string text = encode_hex(bytes);
  for (char& digit : text) {
    if (digit >= 'a') digit = static_cast<char>(digit - 'a' + 'A');
  }
  return text;
}

// The bits of value `index` of a type of 1 to 8 bytes that holds integers.
Value stored_integer(const std::byte* value, int width, bool is_signed) {
  switch (width) {
    case 1:
      return is_signed ? Value(int32_t{load<int8_t>(value)}) : Value(int32_t{load<uint8_t>(value)});
    case 2:
      return is_signed ? Value(int32_t{load<int16_t>(value)}) : Value(int32_t{load<uint16_t>(value)});
    case 4:
      return is_signed ? Value(load<int32_t>(value)) : Value(int64_t{load<uint32_t>(value)});
    default:
      return is_signed ? std::to_string(load<int64_t>(value)) : std::to_string(load<uint64_t>(value));
  }
}

Value fixed_width_value(const Array& array, int64_t index, const DataType& type) {
  const int width = type.byte_width();
  const std::byte* value = array.buffers[1].data() + (array.offset + index) * width;
  switch (type.id()) {
    case TypeId::kHalfFloat:
      return floating_value(half_to_float(load<uint16_t>(value)));
    case TypeId::kFloat:
      return floating_value(load<float>(value));
    case TypeId::kDouble:
      return floating_value(load<double>(value));
    case TypeId::kFixedSizeBinary:
      return upper_hex({reinterpret_cast<const char*>(value), static_cast<size_t>(width)});
    case TypeId::kIntervalDayTime:
      return json::Object{{"days", Value(load<int32_t>(value))}, {"milliseconds", Value(load<int32_t>(value + 4))}};
    case TypeId::kIntervalMonthDayNano:
      return json::Object{{"months", Value(load<int32_t>(value))},
                          {"days", Value(load<int32_t>(value + 4))},
                          {"nanoseconds", Value(load<int64_t>(value + 8))}};
    default:
      return stored_integer(value, width, !is_integer(type.id()) || is_signed_integer(type.id()));
  }
}

// What stands under a null.
Value blank_value(const DataType& type) {
  const TypeId id = type.id();
  if (id == TypeId::kFixedSizeBinary) return std::string(2 * static_cast<size_t>(type.fixed_size()), '0');
  if (id == TypeId::kIntervalDayTime) return json::Object{{"days", Value(0)}, {"milliseconds", Value(0)}};
  if (id == TypeId::kIntervalMonthDayNano) {
    return json::Object{{"months", Value(0)}, {"days", Value(0)}, {"nanoseconds", Value(0)}};
  }
  if (is_decimal(id) || (type.byte_width() == 8 && !is_floating(id))) return "0";
  return Value(0);
}

json::Array fixed_width_values(const Array& array, Range range) {
  // Unscaled, the text of a decimal is that of its integer.
  Array unscaled;
  if (is_decimal(array.type->id())) {
    unscaled = array;
    unscaled.type = decimal(array.type->precision(), 0, array.type->id());
  }
  json::Array values;
  for (int64_t i = range.from; i < range.from + range.count; ++i) {
    if (array.is_null(i)) {
      values.push_back(blank_value(*array.type));
    } else if (is_decimal(array.type->id())) {
      std::string text;
      append_value_text(text, {.type = unscaled.type}, unscaled, i);
      values.emplace_back(std::move(text));
    } else {
      values.push_back(fixed_width_value(array, i, *array.type));
    }
  }
  return values;
}

json::Array index_values(const Array& array, Range range) {
  const DataType& type = *array.type->index_type();
  json::Array values;
  for (int64_t i = range.from; i < range.from + range.count; ++i) {
    values.push_back(array.is_null(i) ? blank_value(type) : fixed_width_value(array, i, type));
  }
  return values;
}

void add_bytes(json::Object& column, const Array& array, Range range) {
  const TypeId id = array.type->id();
  const bool is_text = id == TypeId::kUtf8 || id == TypeId::kLargeUtf8;
  json::Array offsets;
  json::Array data;
  int64_t end = 0;
  offsets.push_back(integer_value(end, offset_width(id)));
  for (int64_t i = range.from; i < range.from + range.count; ++i) {
    const std::string_view value = array.is_valid(i) ? array.bytes_value(i) : std::string_view();
    end += static_cast<int64_t>(value.size());
    offsets.push_back(integer_value(end, offset_width(id)));
    data.push_back(is_text ? Value(value) : Value(upper_hex(value)));
  }
  column.emplace_back("OFFSET", std::move(offsets));
  column.emplace_back("DATA", std::move(data));
}

void add_views(json::Object& column, const Array& array, Range range) {
  const bool is_text = array.type->id() == TypeId::kUtf8View;
  json::Array views;
  for (int64_t i = range.from; i < range.from + range.count; ++i) {
    const BinaryView view = array.is_valid(i) ? view_at(array, array.offset + i) : BinaryView();
    json::Object value = {{"SIZE", Value(view.size)}};
    if (view.size <= BinaryView::kInlineMax) {
      const std::string_view bytes(view.inlined, static_cast<size_t>(view.size));
      value.emplace_back("INLINED", is_text ? Value(bytes) : Value(upper_hex(bytes)));
    } else {
      value.emplace_back("PREFIX_HEX", upper_hex({view.reference.prefix, sizeof(view.reference.prefix)}));
      value.emplace_back("BUFFER_INDEX", Value(view.reference.buffer_index));
      value.emplace_back("OFFSET", Value(view.reference.offset));
    }
    views.emplace_back(std::move(value));
  }
  json::Array buffers;
  for (const Buffer& buffer : array.variadic_buffers) buffers.emplace_back(upper_hex(buffer.text()));
  column.emplace_back("VIEWS", std::move(views));
  column.emplace_back("VARIADIC_DATA_BUFFERS", std::move(buffers));
}

// Items `from` .. `from + count` (absolute) of a buffer of offsets, each less `base`.
Value offset_values(const Buffer& buffer, int width, int64_t from, int64_t count, int64_t base) {
  json::Array values;
  for (int64_t i = from; i < from + count; ++i)
    values.push_back(integer_value(offset_at(buffer, width, i) - base, width));
  return values;
}

json::Object column_value(std::string_view name, const Array& array, Range range);

Value child_value(const Array& array, size_t index, Range range) {
  return column_value(array.type->children()[index].name, *array.children[index], range);
}

// The range of the elements that a range of lists refers to.
Range add_list_offsets(json::Object& column, const Array& array, Range range) {
  const int width = offset_width(array.type->id());
  if (range.count == 0) {
    column.emplace_back("OFFSET", json::Array{integer_value(0, width)});
    return {0, 0};
  }
  const int64_t first = offset_at(array.buffers[1], width, array.offset + range.from);
  const int64_t last = offset_at(array.buffers[1], width, array.offset + range.from + range.count);
  column.emplace_back("OFFSET",
                      offset_values(array.buffers[1], width, array.offset + range.from, range.count + 1, first));
  return {first, last - first};
}

json::Array run_end_children(const Array& array, Range range) {
  const DataType& ends_type = *array.children[0]->type;
  json::Array ends;
  json::Array validity;
  const int64_t first = range.count == 0 ? 0 : run_value_index(array, range.from);
  int64_t run = first;
  for (int64_t end = 0; end < range.count; ++run) {
    end = std::min(run_end(array, run) - array.offset - range.from, range.count);
    ends.push_back(integer_value(end, ends_type.byte_width()));
    validity.emplace_back(1);
  }
  json::Object run_ends = {{"name", array.type->children()[0].name},
                           {"count", Value(run - first)},
                           {"VALIDITY", std::move(validity)},
                           {"DATA", std::move(ends)}};
  return {std::move(run_ends), child_value(array, 1, {first, run - first})};
}

void add_buffers(json::Object& column, const Array& array, Range range) {
  const int64_t begin = array.offset + range.from;
  json::Array children;
  switch (layout_of(array.type->id())) {
    case Layout::kNull:
      return;
    case Layout::kBool: {
      json::Array data;
      for (int64_t i = range.from; i < range.from + range.count; ++i) {
        data.emplace_back(array.is_valid(i) && array.bool_value(i) ? 1 : 0);
      }
      column.emplace_back("DATA", std::move(data));
      return;
    }
    case Layout::kFixedWidth:
      column.emplace_back("DATA", fixed_width_values(array, range));
      return;
    case Layout::kDictionary:
      column.emplace_back("DATA", index_values(array, range));
      return;
    case Layout::kBytes:
      add_bytes(column, array, range);
      return;
    case Layout::kView:
      add_views(column, array, range);
      return;
    case Layout::kList:
      children.push_back(child_value(array, 0, add_list_offsets(column, array, range)));
      break;
    case Layout::kListView: {
      const int width = offset_width(array.type->id());
      column.emplace_back("OFFSET", offset_values(array.buffers[1], width, begin, range.count, 0));
      column.emplace_back("SIZE", offset_values(array.buffers[2], width, begin, range.count, 0));
      children.push_back(child_value(array, 0, {0, array.children[0]->length}));
      break;
    }
    case Layout::kFixedSizeList: {
      const int64_t size = array.type->fixed_size();
      children.push_back(child_value(array, 0, {begin * size, range.count * size}));
      break;
    }
    case Layout::kStruct:
      for (size_t i = 0; i < array.children.size(); ++i)
        children.push_back(child_value(array, i, {begin, range.count}));
      break;
    case Layout::kSparseUnion:
    case Layout::kDenseUnion: {
      json::Array ids;
      for (int64_t i = begin; i < begin + range.count; ++i) ids.emplace_back(int32_t{array.buffers[0].as<int8_t>()[i]});
      column.emplace_back("TYPE_ID", std::move(ids));
      const bool is_dense = array.type->id() == TypeId::kDenseUnion;
      if (is_dense) column.emplace_back("OFFSET", offset_values(array.buffers[1], 4, begin, range.count, 0));
      for (size_t i = 0; i < array.children.size(); ++i) {
        children.push_back(
            child_value(array, i, is_dense ? Range{0, array.children[i]->length} : Range{begin, range.count}));
      }
      break;
    }
    case Layout::kRunEnd:
      children = run_end_children(array, range);
      break;
  }
  column.emplace_back("children", std::move(children));
}

json::Object column_value(std::string_view name, const Array& array, Range range) {
  json::Object column = {{"name", Value(name)}, {"count", Value(range.count)}};
  if (has_validity_buffer(array.type->id())) {
    json::Array validity;
    for (int64_t i = range.from; i < range.from + range.count; ++i) validity.emplace_back(array.is_valid(i) ? 1 : 0);
    column.emplace_back("VALIDITY", std::move(validity));
  }
  add_buffers(column, array, range);
  return column;
}

// The dictionaries at and below an array, those that others refer to first; ids as field_value() gives them.
void add_dictionaries(json::Array& target, const Array& array, int64_t& next_id) {
  if (array.type->id() != TypeId::kDictionary) {
    for (const ArrayPtr& child : array.children) add_dictionaries(target, *child, next_id);
    return;
  }
  const int64_t id = next_id++;
  for (const ArrayPtr& child : array.dictionary->children) add_dictionaries(target, *child, next_id);
  json::Array columns = {column_value("DICT" + std::to_string(id), *array.dictionary, {0, array.dictionary->length})};
  json::Object data = {{"count", Value(array.dictionary->length)}, {"columns", std::move(columns)}};
  target.emplace_back(json::Object{{"id", Value(id)}, {"data", std::move(data)}});
}

// The values of all batches of a column, one behind the other: they share a dictionary then.
ArrayPtr whole_column(const DataTypePtr& type, std::span<const RecordBatch> batches, size_t index, MemoryPool& pool) {
  if (batches.empty()) return make_null_array(type, 0, pool);
  std::vector<ArrayPtr> parts;
  for (const RecordBatch& batch : batches) parts.push_back(batch.column(index));
  return concatenate(parts, pool);
}

}  // namespace

std::string write_integration_json(const SchemaPtr& schema, std::span<const RecordBatch> batches, MemoryPool& pool) {
  json::Array fields;
  json::Array dictionaries;
  std::vector<json::Array> columns(batches.size());
  int64_t next_field_id = 0;
  int64_t next_dictionary_id = 0;
  for (size_t i = 0; i < schema->field_count(); ++i) {
    const Field& field = schema->field(i);
    const int64_t first_id = next_field_id;
    fields.push_back(field_value(field, next_field_id));
    ArrayPtr whole;
    if (next_field_id != first_id) {
      whole = whole_column(field.type, batches, i, pool);
      add_dictionaries(dictionaries, *whole, next_dictionary_id);
    }
    int64_t from = 0;
    for (size_t b = 0; b < batches.size(); ++b) {
      const Range range = {whole == nullptr ? 0 : from, batches[b].row_count()};
      columns[b].emplace_back(column_value(field.name, whole == nullptr ? *batches[b].column(i) : *whole, range));
      from += range.count;
    }
  }
  json::Object schema_value = {{"fields", std::move(fields)}};
  add_metadata(schema_value, schema->metadata());
  json::Array rows;
  for (size_t b = 0; b < batches.size(); ++b) {
    rows.emplace_back(json::Object{{"count", Value(batches[b].row_count())}, {"columns", std::move(columns[b])}});
  }
  json::Object root = {{"schema", std::move(schema_value)}, {"batches", std::move(rows)}};
  if (!dictionaries.empty()) root.emplace_back("dictionaries", std::move(dictionaries));
  return json::write(root);
}

}  // namespace frazil::testing
