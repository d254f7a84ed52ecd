// The vectors of the specification and of Iceberg Java's tests: corpora/iceberg-vectors.json.
#include <gtest/gtest.h>

#include "frazil/base/hex.h"
#include "frazil/json/value.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/test_support.h"
#include "frazil/spec/transform.h"

namespace frazil::spec {
namespace {

using test::bytes_of;
using test::type_of;

const json::Value& vectors() {
  static const json::Value kVectors = json::parse(test::read_file(test::corpora() / "iceberg-vectors.json"));
  return kVectors;
}

const json::Array& rows(std::string_view section, size_t at_least) {
  const json::Array& all = vectors().at(section).as_array();
  EXPECT_GE(all.size(), at_least) << section;
  return all;
}

std::string text_of(const json::Value& value) {
  return value.kind() == json::Value::Kind::kString ? value.as_string() : json::write(value);
}

// The vectors give numbers as numbers and everything else as text; timestamps with zones have any offset.
Literal value_of(const json::Value& row) {
  return parse_literal(type_of(row.at("type").as_string()), text_of(row.at("value")));
}

int32_t hash_of(const Literal& value) {
  switch (value.type()->kind()) {
    case TypeKind::kBoolean:
      return kernel::hash_integer(value.as<bool>() ? 1 : 0);
    case TypeKind::kFloat:
      return kernel::hash_double(value.as<float>());
    case TypeKind::kDouble:
      return kernel::hash_double(value.as<double>());
    case TypeKind::kDecimal:
      return kernel::hash_decimal(value.as<Int128>());
    case TypeKind::kUuid:
      return kernel::hash_bytes(value.as<Uuid>().bytes);
    case TypeKind::kString:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return kernel::hash_bytes(bytes_of(value.as<std::string>()));
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return kernel::hash_integer(value.as<int64_t>() / 1000);  // after 1970 only
    default:
      return kernel::hash_integer(value.as_integer());
  }
}

TEST(Vectors, HashesAreThoseOfAppendixB) {
  for (const json::Value& row : rows("hash32", 25)) {
    EXPECT_EQ(hash_of(value_of(row)), row.at("hash").as_int32()) << json::write(row);
  }
}

TEST(Vectors, BucketsAreThoseOfTheHashes) {
  for (const json::Value& row : rows("bucket", 54)) {
    Literal bucket = Transform::bucket(row.at("num_buckets").as_int32()).apply(value_of(row));
    EXPECT_EQ(bucket, Literal::int_(row.at("bucket").as_int32())) << json::write(row);
  }
}

TEST(Vectors, TransformsGiveTheStatedValues) {
  for (const json::Value& row : rows("transform", 66)) {
    Literal value = value_of(row);
    Transform transform = Transform::parse(row.at("transform").as_string());
    ASSERT_TRUE(transform.can_transform(*value.type())) << json::write(row);
    Literal result = transform.apply(value);
    ASSERT_TRUE(result.type()->equals(*transform.result_type(value.type()))) << json::write(row);
    // Time parts are stated as numbers, truncated values in the source's own form.
    std::string stated = text_of(row.at("expected"));
    if (transform.kind() == TransformKind::kTruncate) {
      EXPECT_EQ(result, parse_literal(value.type(), stated)) << json::write(row);
    } else {
      EXPECT_EQ(std::to_string(result.as_integer()), stated) << json::write(row);
    }
  }
}

TEST(Vectors, TransformedValuesPrintAsJavaPrintsThem) {
  for (const json::Value& row : rows("transform_human", 23)) {
    Transform transform = Transform::parse(row.at("transform").as_string());
    EXPECT_EQ(transform.human_string(transform.apply(value_of(row))), row.at("human").as_string()) << json::write(row);
  }
}

TEST(Vectors, BinarySingleValuesGoBothWays) {
  for (const json::Value& row : rows("binary_single_value", 28)) {
    std::string bytes = decode_hex(row.at("hex").as_string()).value();
    std::string type_text = row.at("type").as_string();
    if (type_text.ends_with(" (bound)")) {
      TypePtr type = type_of(type_text.substr(0, type_text.find(' ')));
      const json::Value& value = row.at("value");
      GeoBound stated{value.at("x").as_double(), value.at("y").as_double(), {}, {}};
      if (value.find("z") != nullptr) stated.z = value.at("z").as_double();
      if (value.find("m") != nullptr) stated.m = value.at("m").as_double();
      Literal bound = bound_from_bytes(type, bytes_of(bytes)).value();
      EXPECT_EQ(bound.as<GeoBound>(), stated) << json::write(row);
      EXPECT_EQ(encode_hex(bound_to_bytes(Literal(type, stated))), encode_hex(bytes)) << json::write(row);
      continue;
    }
    Literal stated = value_of(row);
    EXPECT_EQ(literal_from_bytes(stated.type(), bytes_of(bytes)), stated) << json::write(row);
    EXPECT_EQ(bound_from_bytes(stated.type(), bytes_of(bytes)), stated) << json::write(row);
    EXPECT_EQ(encode_hex(literal_to_bytes(stated)), encode_hex(bytes)) << json::write(row);
  }
}

TEST(Vectors, JsonSingleValuesGoBothWaysOrAreRejected) {
  int rejected = 0;
  for (const json::Value& row : rows("json_single_value", 40)) {
    TypePtr type = type_of(row.at("type").as_string());
    json::Value value = json::parse(row.at("json").as_string());
    if (row.at("expect").as_string() == "reject") {
      ++rejected;
      EXPECT_THROW(literal_from_json(type, value), CorruptError) << json::write(row);
      continue;
    }
    Literal literal = literal_from_json(type, value);
    EXPECT_EQ(json::write(literal_to_json(literal)), json::write(value)) << json::write(row);
    EXPECT_EQ(literal_from_json(type, literal_to_json(literal)), literal) << json::write(row);
  }
  EXPECT_EQ(rejected, 6);
}

}  // namespace
}  // namespace frazil::spec
