#include "frazil/base/base64.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(Base64, MatchesTheRfc) {
  struct Row {
    std::string_view bytes;
    std::string_view standard;
    std::string_view unpadded;
  };
  for (auto [bytes, standard, unpadded] :
       {Row{"", "", ""}, Row{"f", "Zg==", "Zg"}, Row{"fo", "Zm8=", "Zm8"}, Row{"foo", "Zm9v", "Zm9v"},
        Row{"foob", "Zm9vYg==", "Zm9vYg"}, Row{"fooba", "Zm9vYmE=", "Zm9vYmE"},
        Row{"foobar", "Zm9vYmFy", "Zm9vYmFy"}}) {
    EXPECT_EQ(encode_base64(bytes), standard);
    EXPECT_EQ(encode_base64(bytes, Base64::kUrl), standard);
    EXPECT_EQ(encode_base64(bytes, Base64::kUrlUnpadded), unpadded);
    EXPECT_EQ(decode_base64(standard), bytes);
    EXPECT_EQ(decode_base64(standard, Base64::kUrl), bytes);
    EXPECT_EQ(decode_base64(unpadded, Base64::kUrlUnpadded), bytes);
  }
}

TEST(Base64, HasTwoAlphabets) {
  const std::string_view bytes = "\xfb\xff\xbf";
  EXPECT_EQ(encode_base64(bytes), "+/+/");
  EXPECT_EQ(encode_base64(bytes, Base64::kUrl), "-_-_");
  EXPECT_EQ(decode_base64("-_-_"), std::nullopt);
  EXPECT_EQ(decode_base64("+/+/", Base64::kUrl), std::nullopt);
}

TEST(Base64, RefusesEverySecondTextOfAValue) {
  for (std::string_view text :
       {"Zg",       "Zg=",  "Zg===",  "Zm8",   "Zm8==", "Z",    "Z===", "====",     "==",    "=",
        "Zg==Zg==", "Zg=a", "Zm9v\n", " Zm9v", "Zm 9v", "Zh==", "Zm9=", "Zm9v====", "Zm\tv", "Zm9\xff"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
  EXPECT_EQ(decode_base64(std::string_view("Zm\0v", 4)), std::nullopt);
  for (std::string_view text : {"Zg==", "Z", "A", "AAAAA", "Zh", "Zm9", "Zm9v="}) {
    EXPECT_EQ(decode_base64(text, Base64::kUrlUnpadded), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Base64, RoundTrips, (std::string bytes)) {
  const auto alphabet = *rc::gen::element(Base64::kStandard, Base64::kUrl, Base64::kUrlUnpadded);
  RC_ASSERT(decode_base64(encode_base64(bytes, alphabet), alphabet) == bytes);
}

RC_GTEST_PROP(Base64, WhatDecodesIsWhatEncodingWouldWrite, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AQgwZ+/-_=")));
  const auto alphabet = *rc::gen::element(Base64::kStandard, Base64::kUrl, Base64::kUrlUnpadded);
  if (const auto bytes = decode_base64(text, alphabet)) RC_ASSERT(encode_base64(*bytes, alphabet) == text);
}

}  // namespace
}  // namespace frazil
