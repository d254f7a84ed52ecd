#include "frazil/json/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/json/heap.h"

namespace frazil::json {

namespace {

constexpr size_t kShownBytes = 64;  // of a value's text in a message

std::string_view shown(std::string_view text) {
  return text.substr(0, kShownBytes);
}

[[noreturn]] void throw_kind(std::string_view expected, Value::Kind found) {
  throw_corrupt(CorruptError::kNoOffset, "expected {}, found {}", expected, to_string(found));
}

// A number text taken apart: value = +-digits * 10^exponent, `digits` without leading and trailing zeros.
struct DecimalText {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

// False if `text` is not in the number grammar.
bool take_apart(std::string_view text, DecimalText& out) {
  size_t at = 0;
  const auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  if (at < text.size() && text[at] == '-') {
    out.negative = true;
    ++at;
  }
  if (!is_digit()) return false;
  while (is_digit()) out.digits += text[at++];
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!is_digit()) return false;
    while (is_digit()) {
      out.digits += text[at++];
      --out.exponent;
    }
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool negative = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative = text[at++] == '-';
    if (!is_digit()) return false;
    // Stops counting far beyond any exponent that can still matter, and far before int64 overflows.
    int64_t exponent = 0;
    while (is_digit()) exponent = std::min<int64_t>(exponent * 10 + (text[at++] - '0'), int64_t{1} << 40);
    out.exponent += negative ? -exponent : exponent;
  }
  if (at != text.size()) return false;
  const size_t leading = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, leading);
  while (!out.digits.empty() && out.digits.back() == '0') {
    out.digits.pop_back();
    ++out.exponent;
  }
  return true;
}

[[noreturn]] void throw_not_integer(std::string_view text) {
  throw_corrupt(CorruptError::kNoOffset, "expected an integer, found '{}'", shown(text));
}

[[noreturn]] void throw_range(std::string_view type, std::string_view text) {
  throw_corrupt(CorruptError::kNoOffset, "number does not fit in {}: '{}'", type, shown(text));
}

// "1.0", "1e3", "-0.0": texts that are an integer by value.
int64_t exact_int64(std::string_view text) {
  DecimalText parts;
  if (!take_apart(text, parts)) throw_not_integer(text);
  if (parts.digits.empty()) return 0;
  if (parts.exponent < 0) throw_not_integer(text);
  constexpr size_t kMaxDigits = 19;
  if (parts.digits.size() > kMaxDigits || parts.exponent > static_cast<int64_t>(kMaxDigits - parts.digits.size())) {
    throw_range("64 bits", text);
  }
  std::string plain =
      (parts.negative ? "-" : "") + parts.digits + std::string(static_cast<size_t>(parts.exponent), '0');
  int64_t value = 0;
  if (std::from_chars(plain.data(), plain.data() + plain.size(), value).ec != std::errc()) throw_range("64 bits", text);
  return value;
}

bool equal_objects(const Object& left, const Object& right) {
  if (left.size() != right.size()) return false;
  // The usual case first: written in the same order.
  const bool same_order = std::equal(left.begin(), left.end(), right.begin(),
                                     [](const Member& a, const Member& b) { return a.first == b.first; });
  if (same_order) {
    return std::equal(left.begin(), left.end(), right.begin(),
                      [](const Member& a, const Member& b) { return a.second == b.second; });
  }
  const auto sorted = [](const Object& object) {
    std::vector<const Member*> members;
    members.reserve(object.size());
    for (const Member& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->first < b->first; });
    return members;
  };
  const std::vector<const Member*> a = sorted(left);
  const std::vector<const Member*> b = sorted(right);
  return std::equal(a.begin(), a.end(), b.begin(), [](const Member* x, const Member* y) { return *x == *y; });
}

}  // namespace

std::string_view to_string(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kNumber:
      return "a number";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kArray:
      return "an array";
    case Value::Kind::kObject:
      return "an object";
  }
  return "null";
}

Value::Value(int64_t number) : data_(Number{std::to_string(number)}) {}

Value::Value(double number) {
  if (!std::isfinite(number)) throw_error(ErrorKind::kInvalidArgument, "JSON has no number for {}", number);
  data_ = Number{number_to_string(number)};
}

bool Value::as_bool() const {
  if (const bool* value = std::get_if<bool>(&data_)) return *value;
  throw_kind("a boolean", kind());
}

int64_t Value::as_int64() const {
  const Number* number = std::get_if<Number>(&data_);
  if (number == nullptr) throw_kind("an integer", kind());
  const std::string& text = number->text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return exact_int64(text);
}

int32_t Value::as_int32() const {
  const int64_t value = as_int64();
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    throw_range("32 bits", number_text());
  }
  return static_cast<int32_t>(value);
}

double Value::as_double() const {
  const std::string& text = number_text();
  const std::optional<double> value = parse_double(text);
  if (!value) throw_corrupt(CorruptError::kNoOffset, "expected a number, found '{}'", shown(text));
  if (!std::isfinite(*value)) throw_range("a double", text);
  return *value;
}

const std::string& Value::number_text() const {
  if (const Number* number = std::get_if<Number>(&data_)) return number->text;
  throw_kind("a number", kind());
}

const std::string& Value::as_string() const {
  if (const std::string* text = std::get_if<std::string>(&data_)) return *text;
  throw_kind("a string", kind());
}

const Array& Value::as_array() const {
  if (const Array* items = std::get_if<Array>(&data_)) return *items;
  throw_kind("an array", kind());
}

const Object& Value::as_object() const {
  if (const Object* members = std::get_if<Object>(&data_)) return *members;
  throw_kind("an object", kind());
}

Array& Value::as_array() {
  return const_cast<Array&>(std::as_const(*this).as_array());
}

Object& Value::as_object() {
  return const_cast<Object&>(std::as_const(*this).as_object());
}

const Value* Value::find(std::string_view key) const {
  for (const Member& member : as_object()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value& Value::at(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) throw_corrupt(CorruptError::kNoOffset, "required key '{}' is missing", key);
  return *value;
}

void Value::set(std::string_view key, Value value) {
  if (Value* present = find(key)) {
    *present = std::move(value);
  } else {
    as_object().emplace_back(std::string(key), std::move(value));
  }
}

void Value::erase(std::string_view key) {
  std::erase_if(as_object(), [&](const Member& member) { return member.first == key; });
}

bool Value::operator==(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return std::get<bool>(data_) == std::get<bool>(other.data_);
    case Kind::kNumber:
      return std::get<Number>(data_).text == std::get<Number>(other.data_).text;
    case Kind::kString:
      return std::get<std::string>(data_) == std::get<std::string>(other.data_);
    case Kind::kArray:
      return std::get<Array>(data_) == std::get<Array>(other.data_);
    case Kind::kObject:
      return equal_objects(std::get<Object>(data_), std::get<Object>(other.data_));
  }
  return false;
}

size_t estimate_bytes(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
    case Value::Kind::kBool:
      return 0;
    case Value::Kind::kNumber:
      return text_heap_bytes(value.number_text().size());
    case Value::Kind::kString:
      return text_heap_bytes(value.as_string().size());
    case Value::Kind::kArray: {
      size_t bytes = heap_block_bytes(value.as_array().capacity() * sizeof(Value));
      for (const Value& item : value.as_array()) bytes += estimate_bytes(item);
      return bytes;
    }
    case Value::Kind::kObject: {
      size_t bytes = heap_block_bytes(value.as_object().capacity() * sizeof(Member));
      for (const Member& member : value.as_object()) {
        bytes += text_heap_bytes(member.first.size()) + estimate_bytes(member.second);
      }
      return bytes;
    }
  }
  return 0;
}

}  // namespace frazil::json
