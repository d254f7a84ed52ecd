#include <cstdint>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/json/utf8.h"
#include "frazil/json/value.h"

namespace frazil::json {

namespace {

enum class Invalid : uint8_t { kThrow, kReplace };

void append_escaped(std::string& out, char c) {
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

bool is_plain(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void append_string(std::string& out, std::string_view text, Invalid invalid) {
  out += '"';
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  const char* run = cursor;  // what is copied as it is
  while (cursor != end) {
    if (is_plain(*cursor)) {
      ++cursor;
      continue;
    }
    const size_t size = utf8_sequence_size(cursor, end);
    if (size > 1) {
      cursor += size;
      continue;
    }
    out.append(run, cursor);
    if (size == 1) {
      append_escaped(out, *cursor);
    } else if (invalid == Invalid::kReplace) {
      out += "\xEF\xBF\xBD";
    } else {
      throw_error(ErrorKind::kInvalidArgument, "text for JSON is not UTF-8 at its byte {}: {}",
                  static_cast<uint64_t>(cursor - text.data()), quote(text.substr(0, 64)));
    }
    run = ++cursor;
  }
  out.append(run, end);
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
