#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/json/value.h"

namespace frazil::json {

namespace {

enum class Invalid : uint8_t { kThrow, kReplace };

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default: {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<uint8_t>(c);
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

// Bytes that are copied as they are; those of longer sequences are known to be valid before.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t byte = 0x20; byte < 0x100; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

// Requires UTF-8.
void append_escaped_text(std::string& out, std::string_view text) {
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  while (cursor != end) {
    const char* const run = cursor;
    while (cursor != end && kPlain[static_cast<uint8_t>(*cursor)]) ++cursor;
    out.append(run, cursor);
    if (cursor != end) append_escape(out, *cursor++);
  }
}

void append_string(std::string& out, std::string_view text, Invalid invalid) {
  out += '"';
  for (;;) {
    const size_t valid = valid_utf8_prefix(text);
    append_escaped_text(out, text.substr(0, valid));
    if (valid == text.size()) break;
    if (invalid == Invalid::kThrow) {
      throw_error(ErrorKind::kInvalidArgument, "text for JSON is not UTF-8: {}", quote(text.substr(0, 64)));
    }
    out += "\xEF\xBF\xBD";
    text.remove_prefix(valid + 1);
  }
  out += '"';
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent > 0 ? static_cast<size_t>(indent) : 0) {}

  void append(const Value& value, size_t depth) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        out_ += "null";
        return;
      case Value::Kind::kBool:
        out_ += value.as_bool() ? "true" : "false";
        return;
      case Value::Kind::kNumber:
        out_ += value.number_text();
        return;
      case Value::Kind::kString:
        append_string(out_, value.as_string(), Invalid::kThrow);
        return;
      case Value::Kind::kArray:
        append_all('[', value.as_array(), ']', depth, [&](const Value& item) { append(item, depth + 1); });
        return;
      case Value::Kind::kObject:
        append_all('{', value.as_object(), '}', depth, [&](const Member& member) {
          append_string(out_, member.first, Invalid::kThrow);
          out_ += indent_ > 0 ? ": " : ":";
          append(member.second, depth + 1);
        });
        return;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  template <typename Items, typename Append>
  void append_all(char open, const Items& items, char close, size_t depth, Append append_one) {
    out_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      new_line(depth + 1);
      append_one(item);
    }
    if (!first) new_line(depth);
    out_ += close;
  }

  void new_line(size_t depth) {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(depth * indent_, ' ');
  }

  const size_t indent_;
  std::string out_;
};

}  // namespace

std::string write(const Value& value, int indent) {
  Writer writer(indent);
  writer.append(value, 0);
  return writer.take();
}

void append_quoted(std::string& out, std::string_view text) {
  append_string(out, text, Invalid::kReplace);
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace frazil::json
