#include "frazil/parquet/variant.h"

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil::parquet {
namespace {

using namespace std::string_literals;

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct Sample {
  const char* name;
  VariantType type;
  const char* json;
};

// parquet-testing/variant, with the values of its data_dictionary.json (which rounds some, and has no long_string).
constexpr Sample kSamples[] = {
    {"array_empty", VariantType::kArray, "[]"},
    {"array_nested", VariantType::kArray,
     R"([{"id":1,"thing":{"names":["Contrarian","Spider"]}},null,{"id":2,"names":["Apple","Ray",null],"type":"if"}])"},
    {"array_primitive", VariantType::kArray, "[2,1,5,9]"},
    {"long_string", VariantType::kString,
     "\"This string is for sure and certainly longer than 64 bytes and it also includes several non ascii characters "
     "such as 🐢, 💖, ♥️, 🎣 and 🤦!!\""},
    {"object_empty", VariantType::kObject, "{}"},
    {"object_nested", VariantType::kObject,
     R"({"id":1,"observation":{"location":"In the Volcano","time":"12:34:56","value":)"
     R"({"humidity":456,"temperature":123}},"species":{"name":"lava monster","population":6789}})"},
    {"object_primitive", VariantType::kObject,
     R"({"boolean_false_field":false,"boolean_true_field":true,"double_field":1.23456789,"int_field":1,)"
     R"("null_field":null,"string_field":"Apache Parquet","timestamp_field":"2025-04-16T12:34:56.78"})"},
    {"primitive_binary", VariantType::kBinary, "\"AxM33q2+78r+\""},
    {"primitive_boolean_false", VariantType::kBool, "false"},
    {"primitive_boolean_true", VariantType::kBool, "true"},
    {"primitive_date", VariantType::kDate, "\"2025-04-16\""},
    {"primitive_decimal16", VariantType::kDecimal16, "12345678912345678.90"},
    {"primitive_decimal4", VariantType::kDecimal4, "12.34"},
    {"primitive_decimal8", VariantType::kDecimal8, "12345678.90"},
    {"primitive_double", VariantType::kDouble, "1234567890.1234"},
    {"primitive_float", VariantType::kFloat, "1234567936.0"},
    {"primitive_int16", VariantType::kInt16, "1234"},
    {"primitive_int32", VariantType::kInt32, "123456"},
    {"primitive_int64", VariantType::kInt64, "1234567890123456789"},
    {"primitive_int8", VariantType::kInt8, "42"},
    {"primitive_null", VariantType::kNull, "null"},
    {"primitive_string", VariantType::kString,
     "\"This string is longer than 64 bytes and therefore does not fit in a short_string and it also includes several "
     "non ascii characters such as 🐢, 💖, ♥️, 🎣 and 🤦!!\""},
    {"primitive_time", VariantType::kTimeNtz, "\"12:33:54.123456\""},
    {"primitive_timestamp", VariantType::kTimestamp, "\"2025-04-16T16:34:56.78+00:00\""},
    {"primitive_timestamp_nanos", VariantType::kTimestampNanos, "\"2024-11-07T12:33:54.123456789+00:00\""},
    {"primitive_timestampntz", VariantType::kTimestampNtz, "\"2025-04-16T12:34:56.78\""},
    {"primitive_timestampntz_nanos", VariantType::kTimestampNtzNanos, "\"2024-11-07T12:33:54.123456789\""},
    {"primitive_uuid", VariantType::kUuid, "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""},
    {"short_string", VariantType::kString, "\"Less than 64 bytes (❤️ with utf8)\""},
};

std::string sample_bytes(const char* name, const char* part) {
  return content(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/variant/" + name + part);
}

std::string json(std::string_view metadata, std::string_view value) {
  const VariantMetadata names(metadata);
  const Variant variant(names, value);
  std::string text;
  append_variant_json(text, variant);
  return text;
}

TEST(Variant, ReadsThePairsOfParquetTesting) {
  for (const Sample& sample : kSamples) {
    const std::string metadata = sample_bytes(sample.name, ".metadata");
    const std::string value = sample_bytes(sample.name, ".value");
    const VariantMetadata names(metadata);
    const Variant variant(names, value);
    EXPECT_EQ(variant.type(), sample.type) << sample.name;
    EXPECT_EQ(json(metadata, value), sample.json) << sample.name;
    EXPECT_EQ(names.byte_size(), metadata.size()) << sample.name;
    EXPECT_EQ(variant.bytes().size(), value.size()) << sample.name;
    validate_variant(variant);
    EXPECT_TRUE(variants_equal(variant, variant)) << sample.name;
  }
}

TEST(Variant, OnlyTheSameSamplesAreEqual) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Sample& sample : kSamples) {
    all.emplace_back(sample_bytes(sample.name, ".metadata"), sample_bytes(sample.name, ".value"));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      const VariantMetadata left(all[i].first);
      const VariantMetadata right(all[j].first);
      EXPECT_EQ(variants_equal({left, all[i].second}, {right, all[j].second}), i == j)
          << kSamples[i].name << " " << kSamples[j].name;
    }
  }
}

TEST(Variant, EveryTruncationIsAnError) {
  for (const Sample& sample : kSamples) {
    const std::string metadata = sample_bytes(sample.name, ".metadata");
    const std::string value = sample_bytes(sample.name, ".value");
    for (size_t size = 0; size < metadata.size(); ++size) {
      EXPECT_THROW(VariantMetadata(metadata.substr(0, size)), CorruptError) << sample.name << " " << size;
    }
    for (size_t size = 0; size < value.size(); ++size) {
      EXPECT_THROW(json(metadata, value.substr(0, size)), CorruptError) << sample.name << " " << size;
    }
  }
}

// A value or an error, whatever is written over a byte; what is valid can be printed and is itself.
TEST(Variant, EveryChangedByteIsAValueOrAnError) {
  size_t valid_count = 0;
  for (const Sample& sample : kSamples) {
    const std::string metadata = sample_bytes(sample.name, ".metadata");
    std::string both = metadata + sample_bytes(sample.name, ".value");
    for (size_t i = 0; i < both.size(); ++i) {
      const char before = both[i];
      for (int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        both[i] = static_cast<char>(before ^ change);
        try {
          const VariantMetadata names(std::string_view(both).substr(0, metadata.size()));
          const Variant variant(names, std::string_view(both).substr(metadata.size()));
          validate_variant(variant);
          std::string text;
          append_variant_json(text, variant);
          EXPECT_TRUE(variants_equal(variant, variant)) << sample.name << " " << i;
          ++valid_count;
        } catch (const Error& error) {
          EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) << error.what();
        }
      }
      both[i] = before;
    }
  }
  EXPECT_GT(valid_count, 1000U);
}

RC_GTEST_PROP(Variant, AnyBytesAreAValueOrAnError, (std::string metadata, std::string value)) {
  metadata.insert(0, "\x01"s);
  try {
    const VariantMetadata names(metadata);
    const Variant variant(names, value);
    RC_ASSERT(variant.bytes().size() <= value.size());
    validate_variant(variant);
    RC_ASSERT(variants_equal(variant, variant));
  } catch (const CorruptError&) {
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::kUnsupported);
  }
}

const std::string kNoNames = "\x01\x00\x00"s;
const std::string kNamesAB =
    "\x11\x02\x00\x01\x02"
    "ab"s;

// [inner, inner ...] with `count` offsets that all say 0.
std::string overlapping(const std::string& inner, uint8_t count) {
  std::string bytes = "\x0f"s + static_cast<char>(count);  // array, 4-byte offsets
  for (int i = 0; i < count; ++i) bytes.append(4, '\0');
  const auto size = static_cast<uint32_t>(inner.size());
  bytes.append(reinterpret_cast<const char*>(&size), 4);
  return bytes + inner;
}

TEST(Variant, ElementsThatOverlapEndTheWalk) {
  std::string bomb = "\x00"s;
  for (int level = 0; level < 100; ++level) bomb = overlapping(bomb, 10);  // 10^100 nodes in 5,000 bytes
  EXPECT_THROW(json(kNoNames, bomb), CorruptError);
  const VariantMetadata names(kNoNames);
  const Variant variant(names, bomb);
  EXPECT_THROW(validate_variant(variant), CorruptError);
  EXPECT_THROW(variants_equal(variant, variant), CorruptError);
}

TEST(Variant, DepthIsBounded) {
  std::string value = "\x00"s;
  for (int level = 1; level < kMaxVariantDepth; ++level) value = overlapping(value, 1);
  EXPECT_EQ(json(kNoNames, value).size(), 2U * (kMaxVariantDepth - 1) + 4);
  value = overlapping(value, 1);
  try {
    json(kNoNames, value);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(Variant, TextIsBounded) {
  const VariantMetadata names(kNoNames);
  const Variant variant(names,
                        "\x0d"
                        "abc");
  std::string text = "before";
  append_variant_json(text, variant, 5);
  EXPECT_EQ(text, "before\"abc\"");
  EXPECT_THROW(append_variant_json(text, variant, 4), Error);
}

TEST(Variant, BrokenRulesAreErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x02\x00\x00"s, "\x00"s},                                // version 2
      {"\x01\x00\x01"s, "\x00"s},                                // the first name does not start at 0
      {kNamesAB, "\x02\x02\x01\x00\x00\x01\x02\x00\x00"s},       // b before a
      {kNamesAB, "\x02\x02\x00\x00\x00\x01\x02\x00\x00"s},       // a twice
      {kNamesAB, "\x02\x01\x02\x00\x01\x00"s},                   // name 2 of 2
      {kNamesAB, "\x02\x01\x00\x01\x01\x00"s},                   // a value that starts at the end
      {kNoNames, "\x05\xff"s},                                   // not UTF-8
      {kNoNames, "\x20\x27\x01\x00\x00\x00"s},                   // scale 39
      {"\x01\x01\x00\x01\xff"s, "\x02\x01\x00\x00\x01\x00"s},    // a name that is not UTF-8
      {"\x01\x02\x00\x02\x01xx"s, "\x02\x01\x00\x00\x01\x00"s},  // a name that goes past the end
      {kNoNames, "\x54"s},                                       // primitive 21
      {kNoNames, "\x13\xff\xff\xff\xff\x00"s},                   // 2^32 - 1 elements
      {"\xd1\xff\xff\xff\xff\x00"s, "\x00"s},                    // 2^32 - 1 names
  };
  for (const auto& [metadata, value] : cases) {
    EXPECT_THROW(json(metadata, value), Error) << ::testing::PrintToString(value);
  }
}

TEST(Variant, FieldsAreFound) {
  const std::string metadata = sample_bytes("object_primitive", ".metadata");
  const std::string value = sample_bytes("object_primitive", ".value");
  const VariantMetadata names(metadata);
  const Variant object(names, value);
  for (uint32_t i = 0; i < object.element_count(); ++i) {
    const auto found = object.find(object.field_name(i));
    ASSERT_TRUE(found) << object.field_name(i);
    EXPECT_TRUE(variants_equal(*found, object.element(i)));
    EXPECT_EQ(names.find(object.field_name(i)), object.field_id(i));
  }
  EXPECT_FALSE(object.find("no_field"));
  EXPECT_FALSE(names.find("no_field"));
  const VariantMetadata sorted(kNamesAB);
  EXPECT_TRUE(sorted.is_sorted());
  EXPECT_EQ(sorted.find("b"), 1U);
  EXPECT_FALSE(sorted.find("aa"));
}

TEST(Variant, EqualityIsThatOfMeanings) {
  const std::string one8 = "\x0c\x01"s;
  const std::string one64 = "\x18\x01\x00\x00\x00\x00\x00\x00\x00"s;
  const std::string one_decimal16 = "\x28\x02\x64"s + std::string(15, '\0');  // 1.00
  const std::string one_double = "\x1c\x00\x00\x00\x00\x00\x00\xf0\x3f"s;
  const std::string one_float = "\x38\x00\x00\x80\x3f"s;
  const std::string zero_float = "\x38\x00\x00\x00\x00"s;
  const std::string minus_zero_float = "\x38\x00\x00\x00\x80"s;
  const std::string nan_float = "\x38\x00\x00\xc0\x7f"s;
  const std::string other_nan_float = "\x38\x01\x00\xc0\xff"s;
  const std::string short_a =
      "\x05"
      "a"s;
  const std::string long_a =
      "\x40\x01\x00\x00\x00"
      "a"s;
  const std::string binary_a =
      "\x3c\x01\x00\x00\x00"
      "a"s;
  const std::string micros = "\x30\x01\x00\x00\x00\x00\x00\x00\x00"s;
  const std::string nanos = "\x48\xe8\x03\x00\x00\x00\x00\x00\x00"s;
  const std::string local_micros = "\x34\x01\x00\x00\x00\x00\x00\x00\x00"s;
  const std::string ab = "\x02\x02\x00\x01\x00\x01\x02\x00\x04"s;  // {a: null, b: true}
  struct Case {
    std::string left;
    std::string right;
    bool equal;
  };
  const Case cases[] = {
      {one8, one64, true},
      {one8, one_decimal16, true},
      {one64, one_decimal16, true},
      {one8, one_double, false},
      {one_double, one_float, false},
      {zero_float, minus_zero_float, false},
      {nan_float, other_nan_float, true},
      {short_a, long_a, true},
      {short_a, binary_a, false},
      {micros, nanos, true},
      {micros, local_micros, false},
  };
  const VariantMetadata names(kNamesAB);
  for (const Case& one : cases) {
    EXPECT_EQ(variants_equal({names, one.left}, {names, one.right}), one.equal)
        << ::testing::PrintToString(one.left) << ::testing::PrintToString(one.right);
  }
  // Ids of two bytes (header 1 << 2), values in the other order, and other ids for the same names.
  const std::string two_byte_ids = "\x12\x02\x00\x00\x01\x00\x01\x00\x02\x04\x00"s;
  EXPECT_TRUE(variants_equal({names, ab}, {names, two_byte_ids})) << json(kNamesAB, two_byte_ids);
  const std::string metadata_ba =
      "\x01\x02\x00\x01\x02"
      "ba"s;
  const VariantMetadata ba(metadata_ba);
  EXPECT_TRUE(variants_equal({names, ab}, {ba, "\x02\x02\x01\x00\x00\x01\x02\x00\x04"s}));
  EXPECT_FALSE(variants_equal({names, ab}, {names, "\x02\x02\x00\x01\x00\x01\x02\x04\x04"s}));
  EXPECT_FALSE(variants_equal({names, ab}, {names, "\x02\x01\x00\x00\x01\x00"s}));
}

}  // namespace
}  // namespace frazil::parquet
