#include "frazil/scan/resolve.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil::scan {
namespace {

using spec::Literal;
using spec::NestedField;
using spec::TypeKind;

// A file's columns made by hand: each reads as its own type alone; without an id if it is 0.
using FakeFile = std::vector<FileColumn>;

FileColumn column(std::string_view name, TypeId type, int32_t field_id = 0) {
  FileColumn made;
  made.name = name;
  if (field_id != 0) made.field_id = field_id;
  made.type_text = primitive(type)->to_string();
  made.can_read_as = [type](const DataType& wanted) { return wanted.id() == type; };
  return made;
}

NestedField field(int32_t id, std::string name, TypeKind kind, bool required = false) {
  NestedField made;
  made.id = id;
  made.name = std::move(name);
  made.type = spec::primitive(kind);
  made.required = required;
  return made;
}

constexpr auto kInt32 = TypeId::kInt32;
constexpr auto kInt64 = TypeId::kInt64;

const spec::PartitionSpec kUnpartitioned;
const std::vector<Literal> kNoPartition;

std::vector<ColumnSource> resolve(const FakeFile& file, const spec::Schema& table,
                                  const spec::NameMapping* mapping = nullptr,
                                  const spec::PartitionSpec& spec = kUnpartitioned,
                                  const std::vector<Literal>& partition = kNoPartition) {
  const bool has_ids =
      std::any_of(file.begin(), file.end(), [](const FileColumn& c) { return c.field_id.has_value(); });
  return resolve_columns(file, has_ids, table,
                         {.table_schema = table, .spec = spec, .partition = partition, .name_mapping = mapping});
}

spec::PartitionSpec identity_of(int32_t source_id) {
  spec::PartitionSpec spec;
  spec::PartitionField partition_field;
  partition_field.source_ids = {source_id};
  partition_field.field_id = 1000;
  partition_field.name = "p";
  spec.fields.push_back(partition_field);
  return spec;
}

TEST(ResolveColumns, FindsByFieldIdWhateverTheNamesAndOrder) {
  const FakeFile file({column("b", kInt64, 2), column("_x2Ea", kInt32, 1)});
  const spec::Schema table({field(1, "a.b+c", TypeKind::kInt), field(2, "renamed", TypeKind::kLong)});
  const auto sources = resolve(file, table);
  EXPECT_EQ(sources[0].column, 1u);
  EXPECT_EQ(sources[1].column, 0u);
}

TEST(ResolveColumns, GivesIdsToFilesWithoutAnyByTheNameMappingNotByPosition) {  // reports.md W01
  const FakeFile file({column("b", kInt32), column("a", kInt32)});
  const spec::Schema table({field(1, "a", TypeKind::kInt), field(2, "b", TypeKind::kInt)});
  const auto mapping =
      spec::parse_name_mapping(R"([{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b"]}])");
  auto sources = resolve(file, table, &mapping);
  EXPECT_EQ(sources[0].column, 1u);
  EXPECT_EQ(sources[1].column, 0u);
}

TEST(ResolveColumns, WithoutIdsAndMappingTakesNamesIfAllAreKnownElsePositions) {
  const spec::Schema table(
      {field(1, "part", TypeKind::kInt), field(2, "a", TypeKind::kInt), field(3, "b", TypeKind::kInt)});
  // A Hive-style file lacks the partition column.
  const FakeFile hive({column("b", kInt32), column("a", kInt32)});
  auto sources = resolve(hive, table, nullptr, identity_of(1), {Literal::int_(5)});
  EXPECT_EQ(sources[0].constant, Literal::int_(5));
  EXPECT_EQ(sources[1].column, 1u);
  EXPECT_EQ(sources[2].column, 0u);
  // A column was renamed since: names are no guide, positions are what Iceberg Java goes by.
  const FakeFile renamed({column("old_part", kInt32), column("a", kInt32)});
  sources = resolve(renamed, table);
  EXPECT_EQ(sources[0].column, 0u);
  EXPECT_EQ(sources[1].column, 1u);
  EXPECT_TRUE(sources[2].constant.is_null());
}

TEST(ResolveColumns, RefusesAMappingThatFitsNothingInsteadOfGivingNulls) {  // reports.md W03
  const FakeFile file({column("x", kInt32), column("y", kInt32)});
  const spec::Schema table({field(7, "x", TypeKind::kInt), field(8, "y", TypeKind::kInt)});
  const auto mapping =
      spec::parse_name_mapping(R"([{"field-id": 0, "names": ["x"]}, {"field-id": 1, "names": ["y"]}])");
  EXPECT_THROW(resolve(file, table, &mapping), CorruptError);
}

TEST(ResolveColumns, TakesAMissingIdentityColumnFromThePartition) {  // reports.md W05
  const FakeFile file({column("id", kInt32, 1)});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "dt", TypeKind::kString)});
  const auto sources = resolve(file, table, nullptr, identity_of(2), {Literal::string("2024-01-01")});
  EXPECT_FALSE(sources[1].column);
  EXPECT_EQ(sources[1].constant, Literal::string("2024-01-01"));
}

TEST(ResolveColumns, TakesANullPartitionValueAsNull) {  // reports.md W06
  const FakeFile file({column("id", kInt32, 1)});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "dt", TypeKind::kString)});
  const auto sources =
      resolve(file, table, nullptr, identity_of(2), {Literal::null(spec::primitive(TypeKind::kString))});
  EXPECT_TRUE(sources[1].constant.is_null());
}

TEST(ResolveColumns, PromotesAPartitionValueToTheColumnsTypeOfToday) {
  const FakeFile file({column("id", kInt32, 1)});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "n", TypeKind::kLong)});
  const auto sources = resolve(file, table, nullptr, identity_of(2), {Literal::int_(7)});
  EXPECT_EQ(sources[1].constant, Literal::long_(7));
}

TEST(ResolveColumns, ReadsAColumnWhosePartitionFieldBecameVoidFromTheFile) {  // reports.md W07
  const FakeFile file({column("p", kInt32, 1)});
  const spec::Schema table({field(1, "p", TypeKind::kInt)});
  auto spec = identity_of(1);
  spec.fields[0].transform = spec::Transform::always_null();
  const std::vector<Literal> partition{Literal::null(spec::primitive(TypeKind::kInt))};
  EXPECT_EQ(resolve(file, table, nullptr, spec, partition)[0].column, 0u);
  // And where the file lacks it, void tells nothing about the value.
  const FakeFile other({column("q", kInt32, 2)});
  const spec::Schema both({field(1, "p", TypeKind::kInt, true), field(2, "q", TypeKind::kInt)});
  EXPECT_THROW(resolve(other, both, nullptr, spec, partition), CorruptError);
}

TEST(ResolveColumns, FillsMissingColumnsWithTheirInitialDefaultElseNull) {
  const FakeFile file({column("id", kInt32, 1)});
  auto defaulted = field(2, "d", TypeKind::kInt, true);
  defaulted.initial_default = std::make_shared<Literal>(Literal::int_(42));
  const spec::Schema table({field(1, "id", TypeKind::kInt), defaulted, field(3, "n", TypeKind::kString)});
  const auto sources = resolve(file, table);
  EXPECT_EQ(sources[1].constant, Literal::int_(42));
  EXPECT_TRUE(sources[2].constant.is_null());
  EXPECT_EQ(sources[2].constant.type()->kind(), TypeKind::kString);
}

TEST(ResolveColumns, RefusesAMissingRequiredColumnWithoutDefault) {
  const FakeFile file({column("id", kInt32, 1)});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "needed", TypeKind::kInt, true)});
  try {
    resolve(file, table);
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needed"));
  }
}

TEST(ResolveColumns, RefusesATypeThatTheFormatCannotReadAsTheTables) {
  const FakeFile file{column("c", kInt64, 1)};
  EXPECT_EQ(resolve(file, spec::Schema({field(1, "c", TypeKind::kLong)}))[0].column, 0u);
  try {
    resolve(file, spec::Schema({field(1, "c", TypeKind::kInt)}));
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("int64 in the file and cannot be read as int"));
  }
}

TEST(ResolveColumns, NamesANestedColumn) {
  auto nested = column("s", kInt32, 1);
  nested.is_nested = true;
  try {
    resolve({nested}, spec::Schema({field(1, "s", TypeKind::kInt)}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("column 's'"));
  }
}

TEST(ResolveColumns, NeverReadsAnUnknownColumnFromTheFile) {
  const FakeFile file({column("u", kInt32, 1)});
  const spec::Schema table({field(1, "u", TypeKind::kUnknown)});
  EXPECT_FALSE(resolve(file, table)[0].column);
}

TEST(ResolveColumns, AFileWhoseColumnsWereAllDroppedReadsAsNulls) {
  const FakeFile file({column("old", kInt32, 1)});
  const spec::Schema table({field(2, "fresh", TypeKind::kInt)});
  EXPECT_TRUE(resolve(file, table)[0].constant.is_null());
}

}  // namespace
}  // namespace frazil::scan
