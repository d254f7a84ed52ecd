#include "frazil/base/percent_encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(PercentEncoding, EncodesEachStyle) {
  struct Row {
    std::string_view text;
    std::string_view component;
    std::string_view path;
    std::string_view form;
  };
  for (auto [text, component, path, form] : {
           Row{"", "", "", ""},
           Row{"aZ09-._~", "aZ09-._~", "aZ09-._~", "aZ09-._%7E"},
           Row{"a b/c", "a%20b%2Fc", "a%20b/c", "a+b%2Fc"},
           Row{"50%+*", "50%25%2B%2A", "50%25+*", "50%25%2B*"},
           Row{"k=v&x:y@z", "k%3Dv%26x%3Ay%40z", "k=v&x:y@z", "k%3Dv%26x%3Ay%40z"},
           Row{"#?[]", "%23%3F%5B%5D", "%23%3F%5B%5D", "%23%3F%5B%5D"},
           Row{"\xc3\xbc\n", "%C3%BC%0A", "%C3%BC%0A", "%C3%BC%0A"},
           Row{std::string_view("\0", 1), "%00", "%00", "%00"},
       }) {
    EXPECT_EQ(encode_percent(text, PercentStyle::kComponent), component);
    EXPECT_EQ(encode_percent(text, PercentStyle::kPath), path);
    EXPECT_EQ(encode_percent(text, PercentStyle::kForm), form);
  }
}

TEST(PercentEncoding, DecodesDigitsInEitherCaseAndAPlusOnlyInForms) {
  EXPECT_EQ(decode_percent("%c3%BC+"), "\xc3\xbc+");
  EXPECT_EQ(decode_percent("a+b%2B", PercentStyle::kForm), "a b+");
  EXPECT_EQ(decode_percent("%2520"), "%20");  // once
}

TEST(PercentEncoding, RefusesAPercentSignWithoutTwoDigits) {
  for (std::string_view text : {"%", "a%", "%1", "%zz", "%1z", "%z1", "%%20", "100% sure", "%+1", "% 1"}) {
    EXPECT_EQ(decode_percent(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(PercentEncoding, RoundTripsInVisibleAscii, (std::string text)) {
  const auto style = *rc::gen::element(PercentStyle::kComponent, PercentStyle::kPath, PercentStyle::kForm);
  const std::string encoded = encode_percent(text, style);
  for (char c : encoded) RC_ASSERT(c > ' ' && c < 0x7f);
  RC_ASSERT(decode_percent(encoded, style) == text);
}

}  // namespace
}  // namespace frazil
