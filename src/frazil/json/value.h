// A JSON value that keeps what it was read from: the order of members, members that nobody here knows, and the text of
// numbers, so that metadata of other writers survives a round trip.
//
// The scanner is our own (parse.cc): no packaged library keeps number text, checks depth and repeated keys while it
// scans and charges a budget. RapidJSON 1.1, the one that came closest, refuses "1e400" even as text.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The text of a number, as it stood: "1", "-0", "1e400", "12345678901234567890". Whoever makes one by hand keeps to the
// grammar of RFC 8259 section 6; write() copies it.
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
  explicit Value(int32_t number) : Value(int64_t{number}) {}
  // The shortest text that reads back, with ".0" if it would look like an integer. Throws Error(kInvalidArgument) for
  // NaN and infinities, which JSON cannot say.
  explicit Value(double number);
  Value(std::string text) : data_(std::move(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(Array items) : data_(std::move(items)) {}
  Value(Object members) : data_(std::move(members)) {}

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Each throws CorruptError ("expected an integer, found a string") if the value is of another kind or out of range.
  bool as_bool() const;
  int64_t as_int64() const;  // "1", "-7"; "1.0" and "1e3" too where exact
  int32_t as_int32() const;
  double as_double() const;  // nearest; too small gives 0, too large throws
  const std::string& number_text() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;
  Array& as_array();
  Object& as_object();

  // Objects: the member, or nullptr. Linear; metadata objects are small.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  // The member; throws CorruptError "required key 'x' is missing" if absent. A null member counts as present.
  const Value& at(std::string_view key) const;
  // Objects: replaces or appends.
  void set(std::string_view key, Value value);
  void erase(std::string_view key);

  bool operator==(const Value& other) const;  // numbers by text, members in any order

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> data_;
};

// "null", "a boolean", "a number", "a string", "an array", "an object": for messages.
std::string_view to_string(Value::Kind kind);

struct ParseOptions {
  size_t max_depth = 128;        // of nested arrays and objects; checked while scanning, before a tree grows
  size_t max_bytes = 512 << 20;  // of text
  // If set, an upper estimate of the heap that parse() uses is charged to it before it is allocated: the blocks of the
  // tree so far (texts longer than 15 bytes, arrays, objects) and of the scanner's stacks, each rounded as malloc does,
  // in steps of 4 KiB. All of it is discharged when parse() returns: a caller that keeps the tree for long and wants it
  // counted charges estimate_bytes() itself.
  MemoryPool* pool = nullptr;
};

// Strict RFC 8259 in UTF-8 (a leading BOM is skipped). Throws CorruptError with the byte offset for anything else:
// invalid UTF-8, unpaired surrogates, a repeated key, text after the value, too deep, too long. MemoryLimitError.
// O(size of text), O(n log n) in the number of members of one object; does not recurse.
Value parse(std::string_view text, const ParseOptions& options = {});

// The heap bytes that `value` holds, estimated from above.
size_t estimate_bytes(const Value& value);

// Compact, or indented by `indent` spaces. Escapes only what must be. Throws Error(kInvalidArgument) if a text is not
// UTF-8: such a file would be unreadable for everybody else. Recurses as deep as the value.
std::string write(const Value& value, int indent = 0);

// A quoted JSON string. Bytes that are not UTF-8 become U+FFFD: this one also prints values of damaged files.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace frazil::json
