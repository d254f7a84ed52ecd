// message("column chunk exceeds file: {} > {}", a, b): a text with values, made by fmt behind a function that is
// compiled once, so that headers stay free of fmt. For errors and other cold paths.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace frazil {

// One value of a message. Borrows strings: it lives for the call only.
class MessageArg {
 public:
  enum class Kind : uint8_t { kBool, kInt, kUint, kDouble, kText };

  template <std::same_as<bool> T>
  MessageArg(T value) : kind_(Kind::kBool), bool_(value) {}
  template <std::signed_integral T>
  MessageArg(T value) : kind_(Kind::kInt), int_(value) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  MessageArg(T value) : kind_(Kind::kUint), uint_(value) {}
  template <std::floating_point T>
  MessageArg(T value) : kind_(Kind::kDouble), double_(value) {}
  MessageArg(std::string_view text) : kind_(Kind::kText), text_(text) {}
  MessageArg(const std::string& text) : kind_(Kind::kText), text_(text) {}
  MessageArg(const char* text) : kind_(Kind::kText), text_(text) {}

  Kind kind() const { return kind_; }
  bool as_bool() const { return bool_; }
  int64_t as_int() const { return int_; }
  uint64_t as_uint() const { return uint_; }
  double as_double() const { return double_; }
  std::string_view as_text() const { return text_; }

 private:
  Kind kind_;
  union {
    bool bool_;
    int64_t int_;
    uint64_t uint_;
    double double_;
    std::string_view text_;
  };
};

// The fields of `format` are fmt's: "{}", "{:x}". A format that does not fit its values gives the format itself and
// the values, never an exception: a message is often made while another error is on its way.
std::string format_message(std::string_view format, std::initializer_list<MessageArg> args);

template <typename... Args>
std::string message(std::string_view format, const Args&... args) {
  return format_message(format, {MessageArg(args)...});
}

// Text from outside, fit to stand in a message: control characters and bytes that are not UTF-8 as \xNN, and of long
// text the first `max_bytes` bytes and "...".
std::string excerpt(std::string_view text, size_t max_bytes = 80);

}  // namespace frazil
