#include "frazil/columnar/pretty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "frazil/base/civil_time.h"
#include "frazil/base/decimal.h"
#include "frazil/base/half_float.h"
#include "frazil/base/int128.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

void append_hex(std::string& out, std::string_view bytes) {
  size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* target = out.data() + start;
  for (char c : bytes) {
    auto byte = static_cast<uint8_t>(c);
    *target++ = kHexDigits[byte >> 4];
    *target++ = kHexDigits[byte & 15];
  }
}

// ---- 256-bit decimals: only their text is needed here, so no arithmetic type is made of them. ----

void append_decimal256(std::string& out, const std::byte* bytes, int32_t scale) {
  std::array<uint64_t, 4> words;  // lowest first
  std::memcpy(words.data(), bytes, sizeof words);
  const bool negative = (words[3] >> 63) != 0;
  if (negative) {
    uint64_t carry = 1;
    for (uint64_t& word : words) {
      word = ~word + carry;
      carry = carry != 0 && word == 0 ? 1 : 0;
    }
  }
  // Digits by repeated division by 10^19, lowest group first; 2^256 has 78 digits.
  constexpr uint64_t kGroup = 10'000'000'000'000'000'000U;
  std::string digits;
  while (words != std::array<uint64_t, 4>{}) {
    UInt128 remainder = 0;
    for (size_t i = 4; i-- > 0;) {
      UInt128 part = (remainder << 64) | words[i];
      words[i] = static_cast<uint64_t>(part / kGroup);
      remainder = part % kGroup;
    }
    auto group = static_cast<uint64_t>(remainder);
    for (int i = 0; i < 19; ++i, group /= 10) digits += static_cast<char>('0' + group % 10);
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (digits.empty()) digits = "0";
  if (scale > 0 && digits.size() <= static_cast<size_t>(scale)) {
    digits.append(static_cast<size_t>(scale) + 1 - digits.size(), '0');
  }
  std::reverse(digits.begin(), digits.end());
  if (negative) out += '-';
  if (scale > 0) {
    out.append(digits, 0, digits.size() - static_cast<size_t>(scale));
    out += '.';
    out.append(digits, digits.size() - static_cast<size_t>(scale), std::string::npos);
  } else {
    out += digits;
    if (scale < 0) {
      out += "E+";
      append_number(out, static_cast<int64_t>(-static_cast<int64_t>(scale)));
    }
  }
}

void append_decimal_value(std::string& out, const Array& array, int64_t index) {
  const int32_t scale = array.type->scale();
  switch (array.type->id()) {
    case TypeId::kDecimal32:
      return append_decimal(out, array.values<int32_t>()[index], scale);
    case TypeId::kDecimal64:
      return append_decimal(out, array.values<int64_t>()[index], scale);
    case TypeId::kDecimal128:
      return append_decimal(out, load<Int128>(array.buffers[1].data() + (array.offset + index) * 16), scale);
    default:
      return append_decimal256(out, array.buffers[1].data() + (array.offset + index) * 32, scale);
  }
}

// ---- Durations and intervals ----

// "1.500" of a count of `unit`s, without trailing cleverness: as many digits as the unit has.
void append_seconds(std::string& out, int64_t value, TimeUnit unit) {
  const bool negative = value < 0;
  const uint64_t magnitude_of = negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const auto per_second = static_cast<uint64_t>(units_per_second(unit));
  if (negative) out += '-';
  append_number(out, magnitude_of / per_second);
  const int digits = fraction_digits(unit);
  if (digits == 0) return;
  std::string fraction = std::to_string(magnitude_of % per_second);
  out += '.';
  out.append(static_cast<size_t>(digits) - fraction.size(), '0');
  out += fraction;
}

void append_part(std::string& out, int64_t value, char unit) {
  if (value == 0) return;
  append_number(out, value);
  out += unit;
}

void append_interval(std::string& out, const Array& array, int64_t index) {
  const std::byte* value = array.buffers[1].data() + (array.offset + index) * array.type->byte_width();
  const size_t start = out.size();
  out += 'P';
  switch (array.type->id()) {
    case TypeId::kIntervalMonths:
      append_part(out, load<int32_t>(value), 'M');
      break;
    case TypeId::kIntervalDayTime:
      append_part(out, load<int32_t>(value), 'D');
      if (auto millis = load<int32_t>(value + 4); millis != 0) {
        out += 'T';
        append_seconds(out, millis, TimeUnit::kMilli);
        out += 'S';
      }
      break;
    default:
      append_part(out, load<int32_t>(value), 'M');
      append_part(out, load<int32_t>(value + 4), 'D');
      if (auto nanos = load<int64_t>(value + 8); nanos != 0) {
        out += 'T';
        append_seconds(out, nanos, TimeUnit::kNano);
        out += 'S';
      }
      break;
  }
  if (out.size() == start + 1) out += "T0S";
}

// ---- One value ----

enum class Form : uint8_t { kText, kJson };

void append_value(std::string& out, const Field& field, const Array& array, int64_t index, Form form);

template <typename T>
void append_float(std::string& out, T value, Form form) {
  const bool quoted = form == Form::kJson && !std::isfinite(value);
  if (quoted) out += '"';
  append_number(out, value);
  if (quoted) out += '"';
}

void append_elements(std::string& out, const Field& field, const Array& array, int64_t first, int64_t count) {
  out += '[';
  for (int64_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    append_value(out, field, array, first + i, Form::kJson);
  }
  out += ']';
}

void append_nested(std::string& out, const Array& array, int64_t index) {
  const DataType& type = *array.type;
  if (type.id() == TypeId::kStruct) {
    out += '{';
    for (size_t c = 0; c < array.children.size(); ++c) {
      if (c != 0) out += ',';
      append_json_string(out, type.children()[c].name);
      out += ':';
      append_value(out, type.children()[c], *array.children[c], array.offset + index, Form::kJson);
    }
    out += '}';
    return;
  }
  auto [first, count] = array.list_range(index);
  const Field& element = type.children()[0];
  if (type.id() != TypeId::kMap) return append_elements(out, element, *array.children[0], first, count);
  const Array& entries = *array.children[0];
  const auto& fields = element.type->children();
  out += "{\"keys\":";
  append_elements(out, fields[0], *entries.children[0], entries.offset + first, count);
  out += ",\"values\":";
  append_elements(out, fields[1], *entries.children[1], entries.offset + first, count);
  out += '}';
}

void append_timestamp_value(std::string& out, const DataType& type, int64_t value) {
  append_timestamp(out, value, type.unit(), {.zone = type.timezone().empty() ? "" : "+00:00"});
}

bool is_uuid(const Field& field, const Array& array) {
  return array.type->fixed_size() == 16 && field.extension_name() == "arrow.uuid";
}

// Values whose text needs quotes in JSON and nothing escaped.
void append_plain(std::string& out, const Field& field, const Array& array, int64_t index) {
  const DataType& type = *array.type;
  switch (type.id()) {
    case TypeId::kDate32:
      return append_date(out, array.values<int32_t>()[index]);
    case TypeId::kDate64:
      return append_date(out, split_timestamp(array.values<int64_t>()[index], TimeUnit::kMilli).days);
    case TypeId::kTime32:
      return append_time(out, array.values<int32_t>()[index], type.unit());
    case TypeId::kTime64:
      return append_time(out, array.values<int64_t>()[index], type.unit());
    case TypeId::kTimestamp:
      return append_timestamp_value(out, type, array.values<int64_t>()[index]);
    case TypeId::kDuration:
      out += "PT";
      append_seconds(out, array.values<int64_t>()[index], type.unit());
      out += 'S';
      return;
    case TypeId::kIntervalMonths:
    case TypeId::kIntervalDayTime:
    case TypeId::kIntervalMonthDayNano:
      return append_interval(out, array, index);
    case TypeId::kFixedSizeBinary:
      if (is_uuid(field, array))
        return append_uuid(out, uuid_from_bytes(std::as_bytes(std::span(array.bytes_value(index)))));
      return append_hex(out, array.bytes_value(index));
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
      return append_hex(out, array.bytes_value(index));
    default:
      return append_decimal_value(out, array, index);
  }
}

void append_value(std::string& out, const Field& field, const Array& array, int64_t index, Form form) {
  if (array.is_null(index)) {
    out += "null";
    return;
  }
  switch (array.type->id()) {
    case TypeId::kNull:
      out += "null";
      return;
    case TypeId::kBool:
      out += array.bool_value(index) ? "true" : "false";
      return;
    case TypeId::kInt8:
      return append_number(out, static_cast<int64_t>(array.values<int8_t>()[index]));
    case TypeId::kInt16:
      return append_number(out, static_cast<int64_t>(array.values<int16_t>()[index]));
    case TypeId::kInt32:
      return append_number(out, static_cast<int64_t>(array.values<int32_t>()[index]));
    case TypeId::kInt64:
      return append_number(out, array.values<int64_t>()[index]);
    case TypeId::kUInt8:
      return append_number(out, static_cast<uint64_t>(array.values<uint8_t>()[index]));
    case TypeId::kUInt16:
      return append_number(out, static_cast<uint64_t>(array.values<uint16_t>()[index]));
    case TypeId::kUInt32:
      return append_number(out, static_cast<uint64_t>(array.values<uint32_t>()[index]));
    case TypeId::kUInt64:
      return append_number(out, array.values<uint64_t>()[index]);
    case TypeId::kHalfFloat:
      return append_float(out, half_to_float(array.values<uint16_t>()[index]), form);
    case TypeId::kFloat:
      return append_float(out, array.values<float>()[index], form);
    case TypeId::kDouble:
      return append_float(out, array.values<double>()[index], form);
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
      if (form == Form::kJson) return append_json_string(out, array.bytes_value(index));
      out += array.bytes_value(index);
      return;
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kListView:
    case TypeId::kLargeListView:
    case TypeId::kFixedSizeList:
    case TypeId::kStruct:
    case TypeId::kMap:
      return append_nested(out, array, index);
    case TypeId::kDictionary:  // an extension stands on the outer field
      return append_value(out, field, *array.dictionary, dictionary_index(array, index), form);
    case TypeId::kRunEndEncoded:
      return append_value(out, array.type->children()[1], *array.children[1], run_value_index(array, index), form);
    case TypeId::kDenseUnion:
    case TypeId::kSparseUnion: {
      auto child = static_cast<size_t>(union_child(array, index));
      return append_value(out, array.type->children()[child], *array.children[child], union_child_index(array, index),
                          form);
    }
    default:
      if (form == Form::kJson) out += '"';
      append_plain(out, field, array, index);
      if (form == Form::kJson) out += '"';
      return;
  }
}

Field plain_field(const Array& array) {
  return {.name = {}, .type = array.type, .nullable = true, .metadata = {}};
}

void append_array(std::string& out, const Field& field, const Array& array, int64_t edge) {
  out += '[';
  for (int64_t i = 0; i < array.length; ++i) {
    if (i != 0) out += ", ";
    const int64_t left_out = array.length - 2 * edge;
    if (i == edge && left_out > 1) {
      out += message("... {} more ..., ", left_out);
      i += left_out;
    }
    append_value_json(out, field, array, i);
  }
  out += ']';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    auto c = static_cast<uint8_t>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    if (c >= 0x80) {
      if (next_code_point(text, i)) continue;
      out += text.substr(start, i - start);
      out += "\xEF\xBF\xBD";  // U+FFFD
    } else {
      out += text.substr(start, i - start);
      switch (c) {
        case '"':
        case '\\':
          out += '\\';
          out += static_cast<char>(c);
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        default:
          out += "\\u00";
          out += kHexDigits[c >> 4];
          out += kHexDigits[c & 15];
          break;
      }
    }
    start = ++i;
  }
  out += text.substr(start);
  out += '"';
}

void append_value_text(std::string& out, const Field& field, const Array& array, int64_t index) {
  append_value(out, field, array, index, Form::kText);
}

void append_value_json(std::string& out, const Field& field, const Array& array, int64_t index) {
  append_value(out, field, array, index, Form::kJson);
}

std::string value_to_text(const Array& array, int64_t index) {
  std::string out;
  append_value_text(out, plain_field(array), array, index);
  return out;
}

std::string value_to_json(const Array& array, int64_t index) {
  std::string out;
  append_value_json(out, plain_field(array), array, index);
  return out;
}

void append_row_json(std::string& out, const RecordBatch& batch, int64_t index) {
  out += '{';
  for (size_t c = 0; c < batch.columns().size(); ++c) {
    const Field& field = batch.schema()->field(c);
    if (c != 0) out += ',';
    append_json_string(out, field.name);
    out += ':';
    append_value_json(out, field, *batch.column(c), index);
  }
  out += '}';
}

std::string to_string(const Array& array, int64_t edge) {
  std::string out;
  append_array(out, plain_field(array), array, edge);
  return out;
}

std::string to_string(const RecordBatch& batch, int64_t edge) {
  std::string out;
  for (size_t c = 0; c < batch.columns().size(); ++c) {
    const Field& field = batch.schema()->field(c);
    out += message("{}: {} = ", field.name, field.type->to_string());
    append_array(out, field, *batch.column(c), edge);
    out += '\n';
  }
  return out;
}

}  // namespace frazil
