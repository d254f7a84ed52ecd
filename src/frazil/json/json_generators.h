// RapidCheck generators of JSON values; for tests only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "frazil/base/utf8.h"
#include "frazil/json/value.h"

namespace frazil::json {

// Valid UTF-8 with what needs escapes, and code points of every length.
inline rc::Gen<std::string> gen_text() {
  const auto code_point = rc::gen::oneOf(
      rc::gen::inRange<uint32_t>(0, 0x80), rc::gen::inRange<uint32_t>(0x80, 0x800),
      rc::gen::inRange<uint32_t>(0x800, 0xD800), rc::gen::inRange<uint32_t>(0xE000, 0x110000),
      rc::gen::element<uint32_t>('"', '\\', '/', '\n', 0, 0x1F, 0x7F, 0x2028, 0xFEFF, 0xFFFF, kCodePointMax));
  return rc::gen::map(rc::gen::container<std::vector<uint32_t>>(code_point), [](const std::vector<uint32_t>& points) {
    std::string text;
    for (uint32_t point : points) append_code_point(text, point);
    return text;
  });
}

inline rc::Gen<Value> gen_number() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<int64_t>(), [](int64_t number) { return Value(number); }),
      rc::gen::map(rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double number) { return number - number == 0; }),
                   [](double number) { return Value(number); }),
      rc::gen::map(rc::gen::element<std::string>("-0", "1e400", "1.00", "0E-0", "123456789012345678901234567890"),
                   [](std::string text) { return Value(Number{std::move(text)}); }));
}

inline rc::Gen<Value> gen_value(int depth) {
  const auto scalar = rc::gen::oneOf(
      rc::gen::map(gen_text(), [](std::string text) { return Value(std::move(text)); }), gen_number(),
      rc::gen::map(rc::gen::element(0, 1, 2), [](int which) { return which == 0 ? Value() : Value(which == 1); }));
  if (depth == 0) return scalar;
  const auto item = rc::gen::lazy([depth] { return gen_value(depth - 1); });
  const auto array = rc::gen::map(rc::gen::scale(0.2, rc::gen::container<std::vector<Value>>(item)),
                                  [](std::vector<Value> items) { return Value(std::move(items)); });
  const auto object =
      rc::gen::map(rc::gen::scale(0.2, rc::gen::container<std::vector<Member>>(rc::gen::pair(gen_text(), item))),
                   [](std::vector<Member> members) {
                     Value made{Object{}};
                     for (Member& member : members) made.set(member.first, std::move(member.second));  // no key twice
                     return made;
                   });
  return rc::gen::oneOf(scalar, array, object);
}

// RapidCheck prints failing values with it.
inline void showValue(const Value& value, std::ostream& out) {
  out << write(value);
}

}  // namespace frazil::json
