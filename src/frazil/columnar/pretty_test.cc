#include "frazil/columnar/pretty.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "frazil/base/int128.h"
#include "frazil/columnar/builders.h"

namespace frazil {
namespace {

template <typename T>
ArrayPtr one(const DataTypePtr& type, T value) {
  return make_fixed<T>(type, {value});
}

struct Shown {
  ArrayPtr array;
  std::string text;
  std::string json;
};

TEST(ValueText, FollowsIcebergsSingleValueForm) {
  const std::string quote = "\"";
  auto quoted = [](ArrayPtr array, const std::string& text) { return Shown{std::move(array), text, '"' + text + '"'}; };
  auto plain = [](ArrayPtr array, const std::string& text) { return Shown{std::move(array), text, text}; };
  // The values of the table in Appendix C of the Iceberg specification come first.
  const Shown cases[] = {
      plain(make_bool({true}), "true"),
      plain(make_int32({34}), "34"),
      plain(make_int64({34}), "34"),
      plain(make_float({1.0F}), "1.0"),
      plain(make_double({1.0}), "1.0"),
      quoted(one<Int128>(decimal(9, 2), 1420), "14.20"),
      quoted(one<Int128>(decimal(9, -20), 2), "2E+20"),
      quoted(one<int32_t>(primitive(TypeId::kDate32), 17'486), "2017-11-16"),
      quoted(one<int64_t>(time64(TimeUnit::kMicro), 81'068'123'456), "22:31:08.123456"),
      quoted(one<int64_t>(timestamp(TimeUnit::kMicro), 1'510'871'468'123'456), "2017-11-16T22:31:08.123456"),
      quoted(one<int64_t>(timestamp(TimeUnit::kMicro, "UTC"), 1'510'871'468'123'456),
             "2017-11-16T22:31:08.123456+00:00"),
      quoted(one<int64_t>(timestamp(TimeUnit::kNano), 1'510'871'468'123'456'789), "2017-11-16T22:31:08.123456789"),
      quoted(make_utf8({"iceberg"}), "iceberg"),
      quoted(make_bytes(fixed_size_binary(4), {std::string("\x00\x01\x02\xff", 4)}), "000102ff"),
      quoted(make_binary({std::string("\x00\x01\x02\xff", 4)}), "000102ff"),
      // Everything else that Arrow has.
      plain(make_utf8({std::nullopt}), "null"),
      plain(one<uint64_t>(primitive(TypeId::kUInt64), UINT64_MAX), "18446744073709551615"),
      plain(one<int8_t>(primitive(TypeId::kInt8), -128), "-128"),
      plain(make_double({-0.0}), "-0.0"),
      plain(make_double({1e300}), "1e+300"),
      plain(make_float({0.1F}), "0.1"),
      plain(one<uint16_t>(primitive(TypeId::kHalfFloat), 0x3C00), "1.0"),
      plain(one<uint16_t>(primitive(TypeId::kHalfFloat), 0xC170), "-2.71875"),
      plain(one<uint16_t>(primitive(TypeId::kHalfFloat), 0x0001), "5.9604645e-08"),
      quoted(make_double({std::numeric_limits<double>::quiet_NaN()}), "NaN"),
      quoted(make_double({std::numeric_limits<double>::infinity()}), "Infinity"),
      quoted(make_float({-std::numeric_limits<float>::infinity()}), "-Infinity"),
      quoted(one<uint16_t>(primitive(TypeId::kHalfFloat), 0x7C00), "Infinity"),
      quoted(one<uint16_t>(primitive(TypeId::kHalfFloat), 0x7E00), "NaN"),
      quoted(one<int32_t>(decimal(5, 3, TypeId::kDecimal32), -7), "-0.007"),
      quoted(one<int64_t>(decimal(18, 0, TypeId::kDecimal64), 7), "7"),
      quoted(one<Int128>(decimal(38, 38), kInt128Max), "1.70141183460469231731687303715884105727"),
      quoted(one<int64_t>(primitive(TypeId::kDate64), -86'400'000), "1969-12-31"),
      quoted(one<int64_t>(primitive(TypeId::kDate64), -1), "1969-12-31"),
      quoted(one<int32_t>(time32(TimeUnit::kSecond), 59), "00:00:59"),
      quoted(one<int32_t>(time32(TimeUnit::kMilli), -1), "-1"),
      quoted(one<int64_t>(timestamp(TimeUnit::kSecond), -1), "1969-12-31T23:59:59"),
      quoted(one<int64_t>(timestamp(TimeUnit::kMilli), 1), "1970-01-01T00:00:00.001"),
      quoted(one<int64_t>(duration(TimeUnit::kMilli), -1'500), "PT-1.500S"),
      quoted(one<int64_t>(duration(TimeUnit::kSecond), INT64_MIN), "PT-9223372036854775808S"),
      quoted(one<int32_t>(primitive(TypeId::kIntervalMonths), 14), "P14M"),
      quoted(one<int32_t>(primitive(TypeId::kIntervalMonths), 0), "PT0S"),
      quoted(one<std::array<int32_t, 2>>(primitive(TypeId::kIntervalDayTime), {3, 250}), "P3DT0.250S"),
      quoted(one<std::array<int64_t, 2>>(primitive(TypeId::kIntervalMonthDayNano), {1 + (int64_t{-2} << 32), 5}),
             "P1M-2DT0.000000005S"),
      quoted(make_bytes(primitive(TypeId::kBinaryView), {std::string("\xab")}), "ab"),
      {make_utf8({"a\"\\\n\x01\u20ac"}), "a\"\\\n\x01\u20ac",
       R"("a\"\\\n\u0001)"
       "\u20ac\""},
      {make_utf8({"a\xC3(\xFF"}), "a\xC3(\xFF", "\"a\uFFFD(\uFFFD\""},
  };
  for (const Shown& shown : cases) {
    EXPECT_EQ(value_to_text(*shown.array, 0), shown.text) << shown.array->type->to_string();
    EXPECT_EQ(value_to_json(*shown.array, 0), shown.json) << shown.array->type->to_string();
  }
}

TEST(ValueText, PrintsDecimalsOf256Bits) {
  DataTypePtr type = decimal(76, 2, TypeId::kDecimal256);
  auto decimal256 = [&](const DataTypePtr& as, std::array<uint64_t, 4> words) {
    return value_to_text(*one<std::array<uint64_t, 4>>(as, words), 0);
  };
  EXPECT_EQ(decimal256(type, {0, 0, 0, 0}), "0.00");
  EXPECT_EQ(decimal256(type, {5, 0, 0, 0}), "0.05");
  EXPECT_EQ(decimal256(type, {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}), "-0.01");
  EXPECT_EQ(decimal256(type, {0, 1, 0, 0}), "184467440737095516.16");
  EXPECT_EQ(decimal256(type, {0, 0, 0, uint64_t{1} << 63}),
            "-578960446186580977117854925043439539266349923328202820197287920039565648199.68");
  EXPECT_EQ(decimal256(decimal(76, -1, TypeId::kDecimal256), {100, 0, 0, 0}), "100E+1");
}

TEST(ValueText, UuidsAreTextWhereTheFieldSaysSo) {
  ArrayPtr array = make_bytes(fixed_size_binary(16),
                              {std::string("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16)});
  Field field{.name = "id", .type = array->type, .metadata = {{"ARROW:extension:name", "arrow.uuid"}}};
  std::string out;
  append_value_text(out, field, *array, 0);
  EXPECT_EQ(out, "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(value_to_text(*array, 0), "f79c3e09677c4bbda4793f349cb785e7");
  // Nested, and through a dictionary.
  DataTypePtr type = struct_({field});
  EXPECT_EQ(value_to_json(*make_struct(type, {array}), 0), "{\"id\":\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"}");
  DataTypePtr words = dictionary(primitive(TypeId::kInt8), array->type);
  out.clear();
  append_value_text(out, field, *make_dictionary(words, {0}, array), 0);
  EXPECT_EQ(out, "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  // The extension alone does not make 16 bytes.
  ArrayPtr other = make_bytes(fixed_size_binary(2), {"ab"});
  out.clear();
  append_value_text(out, {.name = "id", .type = other->type, .metadata = field.metadata}, *other, 0);
  EXPECT_EQ(out, "6162");
}

TEST(ValueText, NestedValuesAreJson) {
  MemoryPool pool;
  DataTypePtr pair = struct_(
      {{.name = "a", .type = primitive(TypeId::kInt32)}, {.name = "b \"x\"", .type = primitive(TypeId::kUtf8)}});
  ArrayPtr structs =
      make_struct(pair, {make_int32({1, std::nullopt, 3}), make_utf8({"x", "y", std::nullopt})}, {true, true, false});
  EXPECT_EQ(value_to_text(*structs, 0), R"({"a":1,"b \"x\"":"x"})");
  EXPECT_EQ(value_to_text(*structs, 1), R"({"a":null,"b \"x\"":"y"})");
  EXPECT_EQ(value_to_text(*structs, 2), "null");
  DataTypePtr lists = list({.name = "item", .type = pair});
  EXPECT_EQ(value_to_json(*make_list(lists, {0, 2}, structs->slice(1, 2)), 1), R"([{"a":null,"b \"x\"":"y"},null])");

  DataTypePtr map_type =
      map({.name = "key", .type = primitive(TypeId::kUtf8)}, {.name = "value", .type = primitive(TypeId::kInt32)});
  ArrayPtr entries =
      make_struct(map_type->children()[0].type, {make_utf8({"w", "a", "b"}), make_int32({0, 1, std::nullopt})})
          ->slice(1, 2);
  EXPECT_EQ(value_to_json(*make_list(map_type, {2, 0}, entries), 0), R"({"keys":["a","b"],"values":[1,null]})");
  EXPECT_EQ(value_to_json(*make_list(map_type, {2, 0}, entries), 1), R"({"keys":[],"values":[]})");
}

TEST(PrettyPrint, LeavesOutTheMiddle) {
  std::vector<std::optional<int32_t>> values;
  for (int i = 0; i < 100; ++i) values.emplace_back(i);
  ArrayPtr array = make_int32(values);
  EXPECT_EQ(to_string(*array, 2), "[0, 1, ... 96 more ..., 98, 99]");
  EXPECT_EQ(to_string(*array->slice(0, 5), 2), "[0, 1, 2, 3, 4]");
  EXPECT_EQ(to_string(*array->slice(0, 6), 2), "[0, 1, ... 2 more ..., 4, 5]");
  EXPECT_EQ(to_string(*array->slice(0, 0)), "[]");
  std::string row;
  append_row_json(row, make_batch({{"a", make_int32({7})}, {"b", make_utf8({"x"})}}), 0);
  EXPECT_EQ(row, R"({"a":7,"b":"x"})");
}

}  // namespace
}  // namespace frazil
