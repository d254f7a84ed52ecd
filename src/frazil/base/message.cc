#include "frazil/base/message.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include "frazil/base/utf8.h"

namespace frazil {

std::string format_message(std::string_view format, std::initializer_list<MessageArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const MessageArg& arg : args) {
    switch (arg.kind()) {
      case MessageArg::Kind::kBool:
        store.push_back(arg.as_bool());
        break;
      case MessageArg::Kind::kInt:
        store.push_back(arg.as_int());
        break;
      case MessageArg::Kind::kUint:
        store.push_back(arg.as_uint());
        break;
      case MessageArg::Kind::kDouble:
        store.push_back(arg.as_double());
        break;
      case MessageArg::Kind::kText:
        store.push_back(std::string(arg.as_text()));
        break;
    }
  }
  try {
    return fmt::vformat(fmt::string_view(format.data(), format.size()), store);
  } catch (const fmt::format_error&) {
    std::string text(format);
    for (const MessageArg& arg : args) {
      text += ' ';
      if (arg.kind() == MessageArg::Kind::kText) {
        text += arg.as_text();
      } else if (arg.kind() == MessageArg::Kind::kUint) {
        text += std::to_string(arg.as_uint());
      } else if (arg.kind() == MessageArg::Kind::kInt) {
        text += std::to_string(arg.as_int());
      }
    }
    return text;
  }
}

std::string excerpt(std::string_view text, size_t max_bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  const bool cut = text.size() > max_bytes;
  std::string result;
  for (size_t position = 0; position < text.size() && position < max_bytes;) {
    const size_t start = position;
    const auto code_point = next_code_point(text, position);
    if (code_point && *code_point >= 0x20 && *code_point != 0x7f) {
      result += text.substr(start, position - start);
      continue;
    }
    position = start + 1;
    const auto byte = static_cast<unsigned char>(text[start]);
    result += "\\x";
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  if (cut) result += "...";
  return result;
}

}  // namespace frazil
