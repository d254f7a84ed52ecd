#include "frazil/scan/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil::scan {
namespace {

using spec::Literal;
using spec::NestedField;
using spec::TypeKind;

// A flat Parquet schema made by hand: {name, physical type, field id or 0}.
struct FileColumn {
  std::string_view name;
  parquet::PhysicalType type;
  int32_t field_id = 0;
};

class FakeFile {
 public:
  explicit FakeFile(std::vector<FileColumn> columns) {
    nodes_.resize(columns.size() + 1);
    nodes_[0].is_group = true;
    nodes_[0].child_count = static_cast<uint32_t>(columns.size());
    nodes_[0].subtree_size = static_cast<uint32_t>(columns.size() + 1);
    nodes_[0].leaf_count = static_cast<uint32_t>(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      auto& node = nodes_[i + 1];
      node.name = columns[i].name;
      if (columns[i].field_id != 0) node.field_id = columns[i].field_id;
      node.type = columns[i].type;
      node.repetition = parquet::Repetition::kOptional;
      node.max_definition = 1;
      node.first_leaf = static_cast<uint32_t>(i);
      node.leaf_count = 1;
      leaves_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
  parquet::FileSchema schema() const { return {nodes_, leaves_}; }

 private:
  std::vector<parquet::SchemaNode> nodes_;
  std::vector<uint32_t> leaves_;
};

NestedField field(int32_t id, std::string name, TypeKind kind, bool required = false) {
  NestedField made;
  made.id = id;
  made.name = std::move(name);
  made.type = spec::primitive(kind);
  made.required = required;
  return made;
}

constexpr auto kInt32 = parquet::PhysicalType::kInt32;
constexpr auto kInt64 = parquet::PhysicalType::kInt64;

const spec::PartitionSpec kUnpartitioned;
const std::vector<Literal> kNoPartition;

std::vector<ColumnSource> resolve(const FakeFile& file, const spec::Schema& table,
                                  const spec::NameMapping* mapping = nullptr,
                                  const spec::PartitionSpec& spec = kUnpartitioned,
                                  const std::vector<Literal>& partition = kNoPartition) {
  return resolve_columns(file.schema(), table,
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
  const FakeFile file({{"b", kInt64, 2}, {"_x2Ea", kInt32, 1}});
  const spec::Schema table({field(1, "a.b+c", TypeKind::kInt), field(2, "renamed", TypeKind::kLong)});
  const auto sources = resolve(file, table);
  EXPECT_EQ(sources[0].leaf, 1);
  EXPECT_EQ(sources[1].leaf, 0);
}

TEST(ResolveColumns, GivesIdsToFilesWithoutAnyByTheNameMappingNotByPosition) {  // reports.md W01
  const FakeFile file({{"b", kInt32}, {"a", kInt32}});
  const spec::Schema table({field(1, "a", TypeKind::kInt), field(2, "b", TypeKind::kInt)});
  const auto mapping =
      spec::parse_name_mapping(R"([{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b"]}])");
  auto sources = resolve(file, table, &mapping);
  EXPECT_EQ(sources[0].leaf, 1);
  EXPECT_EQ(sources[1].leaf, 0);
}

TEST(ResolveColumns, WithoutIdsAndMappingTakesNamesIfAllAreKnownElsePositions) {
  const spec::Schema table(
      {field(1, "part", TypeKind::kInt), field(2, "a", TypeKind::kInt), field(3, "b", TypeKind::kInt)});
  // A Hive-style file lacks the partition column.
  const FakeFile hive({{"b", kInt32}, {"a", kInt32}});
  auto sources = resolve(hive, table, nullptr, identity_of(1), {Literal::int_(5)});
  EXPECT_EQ(sources[0].constant, Literal::int_(5));
  EXPECT_EQ(sources[1].leaf, 1);
  EXPECT_EQ(sources[2].leaf, 0);
  // A column was renamed since: names are no guide, positions are what Iceberg Java goes by.
  const FakeFile renamed({{"old_part", kInt32}, {"a", kInt32}});
  sources = resolve(renamed, table);
  EXPECT_EQ(sources[0].leaf, 0);
  EXPECT_EQ(sources[1].leaf, 1);
  EXPECT_TRUE(sources[2].constant.is_null());
}

TEST(ResolveColumns, RefusesAMappingThatFitsNothingInsteadOfGivingNulls) {  // reports.md W03
  const FakeFile file({{"x", kInt32}, {"y", kInt32}});
  const spec::Schema table({field(7, "x", TypeKind::kInt), field(8, "y", TypeKind::kInt)});
  const auto mapping =
      spec::parse_name_mapping(R"([{"field-id": 0, "names": ["x"]}, {"field-id": 1, "names": ["y"]}])");
  EXPECT_THROW(resolve(file, table, &mapping), CorruptError);
}

TEST(ResolveColumns, TakesAMissingIdentityColumnFromThePartition) {  // reports.md W05
  const FakeFile file({{"id", kInt32, 1}});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "dt", TypeKind::kString)});
  const auto sources = resolve(file, table, nullptr, identity_of(2), {Literal::string("2024-01-01")});
  EXPECT_FALSE(sources[1].leaf);
  EXPECT_EQ(sources[1].constant, Literal::string("2024-01-01"));
}

TEST(ResolveColumns, TakesANullPartitionValueAsNull) {  // reports.md W06
  const FakeFile file({{"id", kInt32, 1}});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "dt", TypeKind::kString)});
  const auto sources =
      resolve(file, table, nullptr, identity_of(2), {Literal::null(spec::primitive(TypeKind::kString))});
  EXPECT_TRUE(sources[1].constant.is_null());
}

TEST(ResolveColumns, PromotesAPartitionValueToTheColumnsTypeOfToday) {
  const FakeFile file({{"id", kInt32, 1}});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "n", TypeKind::kLong)});
  const auto sources = resolve(file, table, nullptr, identity_of(2), {Literal::int_(7)});
  EXPECT_EQ(sources[1].constant, Literal::long_(7));
}

TEST(ResolveColumns, ReadsAColumnWhosePartitionFieldBecameVoidFromTheFile) {  // reports.md W07
  const FakeFile file({{"p", kInt32, 1}});
  const spec::Schema table({field(1, "p", TypeKind::kInt)});
  auto spec = identity_of(1);
  spec.fields[0].transform = spec::Transform::always_null();
  const std::vector<Literal> partition{Literal::null(spec::primitive(TypeKind::kInt))};
  EXPECT_EQ(resolve(file, table, nullptr, spec, partition)[0].leaf, 0);
  // And where the file lacks it, void tells nothing about the value.
  const FakeFile other({{"q", kInt32, 2}});
  const spec::Schema both({field(1, "p", TypeKind::kInt, true), field(2, "q", TypeKind::kInt)});
  EXPECT_THROW(resolve(other, both, nullptr, spec, partition), CorruptError);
}

TEST(ResolveColumns, FillsMissingColumnsWithTheirInitialDefaultElseNull) {
  const FakeFile file({{"id", kInt32, 1}});
  auto defaulted = field(2, "d", TypeKind::kInt, true);
  defaulted.initial_default = std::make_shared<Literal>(Literal::int_(42));
  const spec::Schema table({field(1, "id", TypeKind::kInt), defaulted, field(3, "n", TypeKind::kString)});
  const auto sources = resolve(file, table);
  EXPECT_EQ(sources[1].constant, Literal::int_(42));
  EXPECT_TRUE(sources[2].constant.is_null());
  EXPECT_EQ(sources[2].constant.type()->kind(), TypeKind::kString);
}

TEST(ResolveColumns, RefusesAMissingRequiredColumnWithoutDefault) {
  const FakeFile file({{"id", kInt32, 1}});
  const spec::Schema table({field(1, "id", TypeKind::kInt), field(2, "needed", TypeKind::kInt, true)});
  try {
    resolve(file, table);
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needed"));
  }
}

TEST(ResolveColumns, AllowsThePromotionsOfTheSpecAndNoOthers) {
  struct Case {
    parquet::PhysicalType file;
    TypeKind table;
    bool allowed;
  };
  for (const auto& [physical, kind, allowed] :
       {Case{kInt32, TypeKind::kLong, true}, Case{kInt64, TypeKind::kInt, false},
        Case{parquet::PhysicalType::kFloat, TypeKind::kDouble, true},
        Case{parquet::PhysicalType::kDouble, TypeKind::kFloat, false}, Case{kInt32, TypeKind::kString, false},
        Case{parquet::PhysicalType::kByteArray, TypeKind::kLong, false},
        Case{parquet::PhysicalType::kBoolean, TypeKind::kInt, false}}) {
    const FakeFile file({{"c", physical, 1}});
    const spec::Schema table({field(1, "c", kind)});
    if (allowed) {
      EXPECT_EQ(resolve(file, table)[0].leaf, 0) << spec::to_string(kind);
    } else {
      EXPECT_THROW(resolve(file, table), CorruptError) << spec::to_string(kind);
    }
  }
}

TEST(ResolveColumns, NeverReadsAnUnknownColumnFromTheFile) {
  const FakeFile file({{"u", kInt32, 1}});
  const spec::Schema table({field(1, "u", TypeKind::kUnknown)});
  EXPECT_FALSE(resolve(file, table)[0].leaf);
}

TEST(ResolveColumns, AFileWhoseColumnsWereAllDroppedReadsAsNulls) {
  const FakeFile file({{"old", kInt32, 1}});
  const spec::Schema table({field(2, "fresh", TypeKind::kInt)});
  EXPECT_TRUE(resolve(file, table)[0].constant.is_null());
}

}  // namespace
}  // namespace frazil::scan
