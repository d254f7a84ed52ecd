#include "frazil/base/utf8.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

bool is_scalar(uint32_t code_point) {
  return code_point <= kCodePointMax && (code_point < 0xd800 || code_point > 0xdfff);
}

std::string encoded(uint32_t code_point) {
  std::string text;
  append_code_point(text, code_point);
  return text;
}

// Validity by definition: a text is valid if it is the encoding of code points. Decodes without any of the rules on
// lead bytes, then compares with the one right encoding.
size_t reference_prefix(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const auto lead = static_cast<unsigned char>(text[position]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (position + size > text.size()) return position;
    uint32_t code_point = size == 1 ? lead : lead & (0x7fU >> size);
    for (size_t i = 1; i < size; ++i) {
      code_point = (code_point << 6) | (static_cast<unsigned char>(text[position + i]) & 0x3fU);
    }
    if (!is_scalar(code_point) || text.substr(position, size) != encoded(code_point)) return position;
    position += size;
  }
  return position;
}

TEST(Utf8, RoundTripsEveryCodePoint) {
  for (uint32_t code_point = 0; code_point <= kCodePointMax; ++code_point) {
    if (!is_scalar(code_point)) continue;
    const std::string text = encoded(code_point);
    ASSERT_TRUE(is_valid_utf8(text)) << code_point;
    size_t position = 0;
    ASSERT_EQ(next_code_point(text, position), code_point);
    ASSERT_EQ(position, text.size());
    // Cut anywhere, it is damaged at its start.
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_EQ(valid_utf8_prefix(std::string_view(text).substr(0, cut)), 0U) << code_point;
    }
  }
}

TEST(Utf8, RefusesDamagedSequences) {
  for (std::string_view text : {
           "\x80",
           "\xbf",  // continuation without lead
           "\xc0\x80",
           "\xc1\xbf",  // overlong, two bytes
           "\xe0\x80\x80",
           "\xe0\x9f\xbf",  // overlong, three
           "\xf0\x80\x80\x80",
           "\xf0\x8f\xbf\xbf",  // overlong, four
           "\xed\xa0\x80",
           "\xed\xbf\xbf",  // surrogates
           "\xf4\x90\x80\x80",
           "\xf5\x80\x80\x80",  // above U+10FFFF
           "\xfe",
           "\xff",
           "\xf8\x88\x80\x80\x80",  // never
           "\xc3",
           "\xe2\x82",
           "\xf0\x9f\x92",  // cut
           "\xc3\x28",
           "\xe2\x28\xa1",
           "\xe2\x82\x28",  // a wrong continuation
           "\xf0\x28\x8c\xbc",
           "\xf0\x90\x28\xbc",
           "\xf0\x90\x8c\x28",
       }) {
    EXPECT_EQ(valid_utf8_prefix(text), 0U) << text;
    size_t position = 0;
    EXPECT_EQ(next_code_point(text, position), std::nullopt) << text;
    EXPECT_EQ(position, 0U);
  }
}

TEST(Utf8, ValidatesEachPairOfBytesLikeTheDefinition) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char text[] = {static_cast<char>(first), static_cast<char>(second), '\x80', '\x80'};
      for (size_t size : {2, 3, 4}) {
        ASSERT_EQ(valid_utf8_prefix({text, size}), reference_prefix({text, size})) << first << " " << second;
      }
    }
  }
}

TEST(Utf8, FindsDamageAtEveryPlaceOfLongAscii) {
  // The fast path goes 32 and 8 bytes at a time: each place of a block must be looked at.
  for (size_t size = 0; size <= 80; ++size) {
    const auto buffer = std::make_unique<char[]>(size);  // on the heap: the sanitizer sees a read behind the end
    for (size_t i = 0; i < size; ++i) buffer[i] = 'a';
    const std::string_view text(buffer.get(), size);
    ASSERT_TRUE(is_ascii(text));
    ASSERT_EQ(valid_utf8_prefix(text), size);
    for (size_t place = 0; place < size; ++place) {
      buffer[place] = '\xff';
      ASSERT_EQ(valid_utf8_prefix(text), place) << size;
      ASSERT_FALSE(is_ascii(text)) << size << " " << place;
      buffer[place] = 'a';
    }
  }
}

RC_GTEST_PROP(Utf8, AgreesWithTheDefinitionOnAnyText, ()) {
  std::string text;
  const auto pieces = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  for (int piece : pieces) {
    if (piece < 8) {
      text += std::string(static_cast<size_t>(piece) * 5, 'x');
    } else if (piece < 36) {
      append_code_point(text, std::vector<uint32_t>{'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000,
                                                    0x10ffff}[static_cast<size_t>(piece) % 10]);
    } else {
      text += static_cast<char>(*rc::gen::arbitrary<uint8_t>());
    }
  }
  RC_ASSERT(valid_utf8_prefix(text) == reference_prefix(text));
}

TEST(Utf8, CountsAndCutsAtCodePoints) {
  const std::string_view text = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x92\xb0z";  // a, u umlaut, euro, money bag, z
  EXPECT_EQ(count_code_points(text), 5U);
  EXPECT_EQ(count_code_points(""), 0U);
  const size_t expected[] = {0, 1, 3, 6, 10, 11, 11};
  for (size_t count = 0; count <= 6; ++count) EXPECT_EQ(utf8_prefix_bytes(text, count), expected[count]) << count;
  EXPECT_EQ(utf8_prefix_bytes(text, SIZE_MAX), 11U);
  EXPECT_EQ(utf8_prefix_bytes("", 3), 0U);
  // Iceberg spec: truncate[3]("iceberg") = "ice".
  EXPECT_EQ(std::string_view("iceberg").substr(0, utf8_prefix_bytes("iceberg", 3)), "ice");
}

}  // namespace
}  // namespace frazil
