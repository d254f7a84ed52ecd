#include "frazil/spec/partition_spec.h"

#include <limits>

#include <gtest/gtest.h>

#include "frazil/spec/sort_order.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::type_of;

const Schema& schema() {
  static const Schema kSchema = [] {
    TypePtr type = type_of(
        "struct<1: ts: optional timestamptz, 2: user: optional struct<3: id: optional long>, 4: name: optional string, "
        "5: "
        "raw: optional binary>");
    return Schema({type->fields().begin(), type->fields().end()});
  }();
  return kSchema;
}

PartitionSpec spec_of(std::string_view fields) {
  return partition_spec_from_fields_json(json::parse(fields), 3);
}

TEST(PartitionSpec, GoesBothWaysThroughJson) {
  json::Value tree =
      json::parse(R"({"spec-id":3,"fields":[{"name":"ts_day","transform":"day","source-id":1,"field-id":1000},)"
                  R"({"name":"id_bucket","transform":"bucket[16]","source-id":3,"field-id":1001}]})");
  PartitionSpec spec = partition_spec_from_json(tree);
  EXPECT_EQ(partition_spec_to_json(spec), tree);
  EXPECT_EQ(spec, partition_spec_from_json(partition_spec_to_json(spec)));
  EXPECT_EQ(spec.to_string(schema()), "day(ts), bucket[16](user.id)");
  EXPECT_EQ(spec.highest_field_id(), 1001);
  EXPECT_EQ(spec.partition_type(schema())->to_string(),
            "struct<1000: ts_day: optional date, 1001: id_bucket: optional int>");
  EXPECT_EQ(partition_fields_to_json(spec), tree.at("fields"));
}

TEST(PartitionSpec, AllVoidIsUnpartitioned) {
  EXPECT_TRUE(spec_of("[]").is_unpartitioned());
  EXPECT_TRUE(spec_of(R"([{"name":"a","transform":"void","source-id":1,"field-id":1000}])").is_unpartitioned());
  EXPECT_FALSE(spec_of(R"([{"name":"a","transform":"void","source-id":1,"field-id":1000},)"
                       R"({"name":"b","transform":"identity","source-id":4,"field-id":1001}])")
                   .is_unpartitioned());
  EXPECT_EQ(spec_of("[]").highest_field_id(), 999);
  EXPECT_EQ(spec_of("[]").to_string(schema()), "unpartitioned");
}

TEST(PartitionSpec, ADroppedSourceLeavesTheTypeToTheManifest) {
  PartitionSpec spec = spec_of(R"([{"name":"a","transform":"identity","source-id":99,"field-id":1000},)"
                               R"({"name":"b","transform":"truncate[4]","source-id":99,"field-id":1001},)"
                               R"({"name":"c","transform":"bucket[4]","source-id":99,"field-id":1002},)"
                               R"({"name":"d","transform":"zorder","source-ids":[1,4],"field-id":1003}])");
  TypePtr type = spec.partition_type(schema());
  EXPECT_EQ(type->find("a")->type->kind(), TypeKind::kUnknown);
  EXPECT_EQ(type->find("b")->type->kind(), TypeKind::kUnknown);
  EXPECT_EQ(type->find("c")->type->kind(), TypeKind::kInt) << "the same for every source";
  EXPECT_EQ(type->find("d")->type->kind(), TypeKind::kUnknown);
  EXPECT_EQ(spec.to_string(schema()), "99, truncate[4](99), bucket[4](99), zorder(ts, name)");
}

TEST(PartitionSpec, SeveralSourcesAreOpaqueEvenWithAKnownTransform) {
  PartitionSpec spec = spec_of(R"([{"name":"a","transform":"bucket[4]","source-ids":[1,4],"field-id":1000}])");
  EXPECT_TRUE(spec.fields[0].is_opaque());
  EXPECT_FALSE(
      spec_of(R"([{"name":"a","transform":"bucket[4]","source-ids":[1],"field-id":1000}])").fields[0].is_opaque())
      << "a list of one is the single-argument transform";
}

TEST(PartitionSpec, PathsAreEncodedAsJavaEncodesThem) {
  PartitionSpec spec = spec_of(R"([{"name":"na me","transform":"identity","source-id":4,"field-id":1000},)"
                               R"({"name":"ts_hour","transform":"hour","source-id":1,"field-id":1001},)"
                               R"({"name":"raw","transform":"identity","source-id":5,"field-id":1002}])");
  std::vector<Literal> values = {Literal::string("a/b=c d%é"), Literal::int_(0), Literal::binary("\x01\x02\x03\x04")};
  EXPECT_EQ(partition_path(spec, values), "na+me=a%2Fb%3Dc+d%25%C3%A9/ts_hour=1970-01-01-00/raw=AQIDBA%3D%3D");
  values[0] = Literal::null(primitive(TypeKind::kString));
  EXPECT_EQ(partition_path(spec, values).substr(0, 11), "na+me=null/");
  EXPECT_THROW(partition_path(spec, std::span(values).first(2)), Error);
}

TEST(PartitionSpec, SamePartitionComparesFloatsByBitsWithAllNaNsEqual) {
  auto same = [](const Literal& a, const Literal& b) { return same_partition(std::span(&a, 1), std::span(&b, 1)); };
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same(Literal::double_(nan), Literal::double_(-nan)));
  EXPECT_FALSE(same(Literal::double_(0.0), Literal::double_(-0.0)));
  EXPECT_FALSE(same(Literal::float_(0.0F), Literal::float_(-0.0F)));
  EXPECT_TRUE(same(Literal::float_(-1.5F), Literal::float_(-1.5F)));
  EXPECT_TRUE(same(Literal::null(primitive(TypeKind::kDouble)), Literal::null(primitive(TypeKind::kDouble))));
  EXPECT_FALSE(same(Literal::null(primitive(TypeKind::kDouble)), Literal::double_(0)));
  EXPECT_TRUE(same(Literal::string("x"), Literal::string("x")));
  EXPECT_FALSE(same_partition({}, std::vector<Literal>{Literal::int_(1)}));
}

TEST(PartitionSpec, EqualityIsByFieldsAndId) {
  std::string_view fields = R"([{"name":"a","transform":"day","source-id":1,"field-id":1000}])";
  EXPECT_EQ(spec_of(fields), spec_of(fields));
  EXPECT_FALSE(spec_of(fields) == spec_of(R"([{"name":"a","transform":"hour","source-id":1,"field-id":1000}])"));
  EXPECT_EQ(spec_of(fields).find(1000)->name, "a");
  EXPECT_EQ(spec_of(fields).find(1001), nullptr);
}

TEST(SortOrder, GoesBothWaysThroughJson) {
  json::Value tree = json::parse(
      R"({"order-id":1,"fields":[{"transform":"identity","source-id":4,"direction":"asc","null-order":"nulls-first"},)"
      R"({"transform":"bucket[4]","source-id":3,"direction":"desc","null-order":"nulls-last"},)"
      R"({"transform":"zorder","source-ids":[1,4],"direction":"asc","null-order":"nulls-last"}]})");
  SortOrder order = sort_order_from_json(tree);
  EXPECT_EQ(sort_order_to_json(order), tree);
  EXPECT_EQ(order.to_string(schema()),
            "name asc nulls first, bucket[4](user.id) desc nulls last, zorder(ts, name) asc nulls last");
  EXPECT_EQ(SortOrder().to_string(schema()), "unsorted");
  EXPECT_TRUE(SortOrder().is_unsorted());
}

TEST(SortOrder, DirectionAndNullOrderAreClosedSets) {
  for (const auto& [direction, nulls] : {std::pair{"up", "nulls-first"}, {"asc", "first"}, {"ASC", "nulls-first"}}) {
    EXPECT_THROW(sort_order_from_json(json::parse(R"({"order-id":1,"fields":[{"transform":"identity","source-id":4,)"
                                                  R"("direction":")" +
                                                  std::string(direction) + R"(","null-order":")" + nulls + "\"}]}")),
                 CorruptError);
  }
}

}  // namespace
}  // namespace frazil::spec
