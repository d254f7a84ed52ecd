// A JSON value that keeps what it was read from: the order of members, members that nobody here knows, and the text of
// numbers, so that metadata of other writers survives a round trip. RapidJSON does the scanning and stays in the .cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace frazil {
class MemoryPool;
}

namespace frazil::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;
using Object = std::vector<Member>;  // in order; a repeated key is an error when parsing

// The text of a number, as it stood: "1", "-0", "1e400", "12345678901234567890".
struct Number {
  std::string text;
};

class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Value() = default;
  Value(std::nullptr_t) {}
  explicit Value(bool value) : data_(value) {}
  explicit Value(Number number) : data_(std::move(number)) {}
  explicit Value(int64_t number);
  explicit Value(double number);  // shortest text that reads back; not NaN or infinite
  Value(std::string text) : data_(std::move(text)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(Array items) : data_(std::move(items)) {}
  Value(Object members) : data_(std::move(members)) {}

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }

  // Each throws CorruptError ("expected an integer, found a string") if the value is of another kind or out of range.
  bool as_bool() const;
  int64_t as_int64() const;  // "1", "-7"; "1.0" and "1e3" too where exact
  int32_t as_int32() const;
  double as_double() const;
  const std::string& number_text() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;
  Array& as_array();
  Object& as_object();

  // Objects: the member, or nullptr. Linear; metadata objects are small.
  const Value* find(std::string_view key) const;
  // The member; throws CorruptError "required key 'x' is missing" if absent. A null member counts as present.
  const Value& at(std::string_view key) const;
  // Objects: replaces or appends.
  void set(std::string_view key, Value value);
  void erase(std::string_view key);

  bool operator==(const Value& other) const;  // numbers by text, members in any order

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> data_;
};

struct ParseOptions {
  size_t max_depth = 128;             // checked while scanning, before a tree grows
  size_t max_bytes = 512 << 20;       // of text
  MemoryPool* pool = nullptr;         // if set, an upper estimate of the tree's bytes is charged to it while parsing
};

// Strict RFC 8259 in UTF-8 (a leading BOM is skipped). Throws CorruptError with the byte offset, MemoryLimitError.
Value parse(std::string_view text, const ParseOptions& options = {});

// Compact, or indented by `indent` spaces.
std::string write(const Value& value, int indent = 0);
// A quoted JSON string.
std::string quote(std::string_view text);

}  // namespace frazil::json
