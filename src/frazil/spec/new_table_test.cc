#include "frazil/spec/new_table.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::error_of;
using test::field;
using test::type_of;
using ::testing::HasSubstr;

const Uuid kUuid = parse_uuid("9c12d441-03fe-4693-9a96-a0705ddf69c1");

PartitionField partition(int32_t source_id, std::string name, std::string_view transform) {
  PartitionField result;
  result.source_ids = {source_id};
  result.name = std::move(name);
  result.transform = Transform::parse(transform);
  return result;
}

SortField sort(int32_t source_id, std::string_view transform = "identity") {
  SortField result;
  result.source_ids = {source_id};
  result.transform = Transform::parse(transform);
  return result;
}

NewTable new_table(std::string_view columns = "struct<7: id: required long, 9: ts: optional timestamptz>") {
  NewTable table;
  const TypePtr type = type_of(columns);
  table.schema = std::make_shared<const Schema>(std::vector<NestedField>(type->fields().begin(), type->fields().end()));
  table.location = "file:///t";
  return table;
}

// Iceberg Java's TypeUtil.assignFreshIds: a struct's fields first, then what is in them.
TEST(NewTable, NumbersFieldsAsJavaDoes) {
  const TypePtr type = type_of(
      "struct<100: a: required struct<1: x: optional int, 2: y: optional list<3: optional string>>, 200: b: optional "
      "map<4: struct<5: k: optional int>, 6: optional struct<8: v: optional int>>, 300: c: required int>");
  const Schema given(std::vector<NestedField>(type->fields().begin(), type->fields().end()), 5, {300});
  const SchemaPtr fresh = with_fresh_ids(given);
  EXPECT_EQ(
      fresh->as_struct()->to_string(),
      type_of("struct<1: a: required struct<4: x: optional int, 5: y: optional list<6: optional string>>, 2: b: "
              "optional map<7: struct<9: k: optional int>, 8: optional struct<10: v: optional int>>, 3: c: required "
              "int>")
          ->to_string());
  EXPECT_EQ(fresh->schema_id(), 0);
  EXPECT_TRUE(fresh->is_identifier(3));
  EXPECT_EQ(with_fresh_ids(given, 50)->find("c")->id, 52);
}

TEST(NewTable, BindsSpecAndOrderToTheNewIds) {
  NewTable table = new_table(
      "struct<9: a: optional struct<1: dotted.name: optional int>, 3: a.dotted: optional struct<4: name: optional "
      "long>, 5: ts: optional timestamptz>");
  table.spec.spec_id = 8;
  table.spec.fields = {partition(5, "ts_day", "day"), partition(1, "inner", "bucket[4]"),
                       partition(4, "other", "identity")};
  table.spec.fields[0].field_id = 77;
  table.sort_order.fields = {sort(4), sort(5, "hour")};
  const TableMetadata metadata = new_table_metadata(table, kUuid, 1000);
  EXPECT_EQ(metadata.partition_specs[0].to_string(*metadata.current_schema()),
            "day(ts), bucket[4](a.dotted.name), a.dotted.name");
  EXPECT_EQ(metadata.partition_specs[0].fields[0].source_id(), 3);
  EXPECT_EQ(metadata.partition_specs[0].fields[1].source_id(), 4);
  EXPECT_EQ(metadata.partition_specs[0].fields[2].source_id(), 5);
  EXPECT_EQ(metadata.partition_specs[0].fields[2].field_id, 1002);
  EXPECT_EQ(metadata.partition_specs[0].spec_id, 0);
  EXPECT_EQ(metadata.last_partition_id, 1002);
  EXPECT_EQ(metadata.default_sort_order_id, 1);
  EXPECT_EQ(metadata.sort_orders[0].fields[0].source_id(), 5);
  EXPECT_EQ(metadata.last_column_id, 5);
  EXPECT_EQ(metadata.last_updated_ms, 1000);
  EXPECT_EQ(metadata.table_uuid, to_string(kUuid));
}

TEST(NewTable, TakesItsVersionFromWhereItIsSaid) {
  NewTable table = new_table();
  EXPECT_EQ(new_table_metadata(table, kUuid, 0).format_version, 2);
  table.properties = {{"format-version", "3"}, {"uuid", "x"}, {"current-schema", "y"}, {"a", "b"}};
  const TableMetadata metadata = new_table_metadata(table, kUuid, 0);
  EXPECT_EQ(metadata.format_version, 3);
  EXPECT_EQ(metadata.properties, (Properties{{"a", "b"}, {"write.parquet.compression-codec", "zstd"}}));
  table.format_version = 1;
  EXPECT_EQ(new_table_metadata(table, kUuid, 0).format_version, 1);
  table.properties = {{"write.parquet.compression-codec", "snappy"}};
  EXPECT_EQ(new_table_metadata(table, kUuid, 0).properties, table.properties);
  for (int version : {0, 4}) {
    table.format_version = version;
    EXPECT_THAT(error_of(ErrorKind::kInvalidArgument, [&] { new_table_metadata(table, kUuid, 0); }),
                HasSubstr("cannot be written"));
  }
}

TEST(NewTable, IsReadAsItWasWritten) {
  MemoryPool pool;
  for (int version : {1, 2, 3}) {
    for (bool gzip : {false, true}) {
      NewTable table = new_table();
      table.format_version = version;
      table.spec.fields = {partition(9, "ts_hour", "hour")};
      table.sort_order.fields = {sort(7)};
      const TableMetadata metadata = new_table_metadata(table, kUuid, 123);
      const Buffer bytes = metadata_file_bytes(metadata, gzip, pool);
      EXPECT_EQ(bytes.text().starts_with("\x1f\x8b"), gzip);
      EXPECT_EQ(json::write(table_metadata_to_json(*parse_metadata_file(bytes.span(), pool))),
                json::write(table_metadata_to_json(metadata)));
    }
  }
}

TEST(NewTable, RefusesWhatCannotBe) {
  const auto refused = [](const std::function<void(NewTable&)>& change, int version = 2,
                          std::string_view columns =
                              "struct<7: id: required long, 9: ts: optional timestamptz, 2: l: "
                              "optional list<3: optional int>>") {
    NewTable table = new_table(columns);
    table.format_version = version;
    change(table);
    return error_of(ErrorKind::kInvalidArgument, [&] { new_table_metadata(table, kUuid, 0); });
  };
  const auto nothing = [](NewTable&) {};
  EXPECT_THAT(refused([](auto& table) { table.schema = nullptr; }), HasSubstr("needs a schema"));
  EXPECT_THAT(refused([](auto& table) { table.location.clear(); }), HasSubstr("needs a location"));
  EXPECT_THAT(refused(nothing, 2, "struct<>"), HasSubstr("needs a column"));
  EXPECT_THAT(refused(nothing, 2, "struct<1: a: optional timestamp_ns>"), HasSubstr("needs format version 3"));
  EXPECT_THAT(refused(nothing, 1, "struct<1: a: optional list<2: optional variant>>"),
              HasSubstr("needs format version 3"));
  const auto with_spec = [&](PartitionField field) {
    return refused([&](auto& table) { table.spec.fields = {field}; });
  };
  EXPECT_THAT(with_spec(partition(99, "p", "identity")), HasSubstr("no field with the id 99"));
  EXPECT_THAT(with_spec(partition(2, "p", "identity")), HasSubstr("is not primitive"));
  EXPECT_THAT(with_spec(partition(3, "p", "identity")), HasSubstr("inside of a list or map"));
  EXPECT_THAT(with_spec(partition(7, "p", "day")), HasSubstr("day does not take the type long of 'id'"));
  EXPECT_THAT(with_spec(partition(7, "p", "rot13")), HasSubstr("the transform 'rot13' is not known"));
  EXPECT_THAT(with_spec(partition(7, "", "identity")), HasSubstr("no name"));
  EXPECT_THAT(with_spec(partition(9, "id", "identity")), HasSubstr("has the name of a column"));
  EXPECT_THAT(with_spec(partition(7, "id", "bucket[2]")), HasSubstr("has the name of a column"));
  PartitionField several = partition(7, "p", "bucket[2]");
  several.source_ids = {7, 9};
  EXPECT_THAT(with_spec(several), HasSubstr("several columns"));
  EXPECT_THAT(
      refused([](auto& table) { table.spec.fields = {partition(7, "a", "identity"), partition(7, "b", "identity")}; }),
      HasSubstr("partitioned by id twice"));
  EXPECT_THAT(
      refused([](auto& table) { table.spec.fields = {partition(7, "a", "bucket[2]"), partition(9, "a", "day")}; }),
      HasSubstr("is there twice"));
  EXPECT_THAT(refused([](auto& table) { table.sort_order.fields = {sort(7), sort(7)}; }),
              HasSubstr("sorted by id twice"));
  EXPECT_THAT(refused([](auto& table) { table.sort_order.fields = {sort(2)}; }), HasSubstr("is not primitive"));
  // The column itself, and what v1 makes of a dropped field, may have its name.
  NewTable table = new_table();
  table.spec.fields = {partition(7, "id", "identity"), partition(9, "ts", "void")};
  EXPECT_EQ(new_table_metadata(table, kUuid, 0).partition_specs[0].fields.size(), 2u);
}

TEST(NewTable, NamesItsFiles) {
  NewTable table = new_table();
  TableMetadata metadata = new_table_metadata(table, kUuid, 0);
  EXPECT_EQ(metadata_folder(metadata), "file:///t/metadata");
  EXPECT_FALSE(writes_gzip_metadata(metadata));
  metadata.properties = {{"write.metadata.path", "s3://b/m/"}, {"write.metadata.compression-codec", "GZIP"}};
  EXPECT_EQ(metadata_folder(metadata), "s3://b/m");
  EXPECT_TRUE(writes_gzip_metadata(metadata));
  metadata.properties = {{"write.metadata.compression-codec", "lzo"}};
  EXPECT_THAT(error_of(ErrorKind::kInvalidArgument, [&] { writes_gzip_metadata(metadata); }), HasSubstr("'lzo'"));
}

}  // namespace
}  // namespace frazil::spec
