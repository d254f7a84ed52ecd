#include "frazil/base/message.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/utf8.h"

namespace frazil {
namespace {

TEST(Message, TakesValuesOfEachKind) {
  EXPECT_EQ(message("plain"), "plain");
  EXPECT_EQ(message("{} {} {} {}", true, int8_t{-3}, uint16_t{7}, "text"), "true -3 7 text");
  EXPECT_EQ(message("{} {}", std::numeric_limits<int64_t>::min(), std::numeric_limits<uint64_t>::max()),
            "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(message("{} {}", std::string("a"), std::string_view("bc").substr(1)), "a c");
  EXPECT_EQ(message("{} {:.2f}", 0.5, 2.0f), "0.5 2.00");
  EXPECT_EQ(message("{:#x} {:>4} {{}}", 255, 7), "0xff    7 {}");
}

TEST(Message, AFormatThatDoesNotFitGivesAllThereIsInsteadOfThrowing) {
  EXPECT_EQ(message("{} {}", 1), "{} {} 1");
  EXPECT_EQ(message("{:x}", "text"), "{:x} text");
  EXPECT_EQ(message("{", uint64_t{5}, -6, "t"), "{ 5 -6 t");
}

TEST(Message, ValuesAreNotTakenAsFormats) {
  EXPECT_EQ(message("{}", "{} {:x} {"), "{} {:x} {");
}

TEST(Excerpt, KeepsPlainTextAndShowsTheRest) {
  struct Row {
    std::string_view text;
    std::string_view excerpt;
  };
  using std::string_view_literals::operator""sv;
  for (auto [text, expected] : {Row{"", ""}, Row{"abc", "abc"}, Row{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
                                Row{"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"}, Row{"\0x"sv, "\\x00x"},
                                Row{"\xff\xc3", "\\xff\\xc3"}, Row{"\x1b[31m", "\\x1b[31m"}}) {
    EXPECT_EQ(excerpt(text), expected);
  }
  EXPECT_EQ(excerpt("abcdef", 6), "abcdef");
  EXPECT_EQ(excerpt("abcdefg", 6), "abcdef...");
  EXPECT_EQ(excerpt("abcde\xc3\xbc", 6), "abcde\xc3\xbc...");
}

RC_GTEST_PROP(Excerpt, IsAlwaysShortValidAndPrintable, (std::string text)) {
  const std::string result = excerpt(text, 10);
  RC_ASSERT(result.size() <= 4 * 10 + 3);
  RC_ASSERT(is_valid_utf8(result));
  for (char c : result) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace frazil
