#include "frazil/scan/resolve.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {
namespace {

using spec::Literal;
using spec::NestedField;
using spec::TypeKind;

// A file's columns made by hand: each leaf reads as its own type alone; without an id if it is 0.
using FakeFile = std::vector<FileField>;

FileField column(std::string_view name, TypeId type, int32_t field_id = 0) {
  FileField made;
  made.name = name;
  if (field_id != 0) made.field_id = field_id;
  made.type_text = primitive(type)->to_string();
  made.can_read_as = [type](const spec::Type& wanted) { return spec::to_arrow_type(wanted)->id() == type; };
  return made;
}

FileField group(std::string_view name, FileField::Kind kind, std::vector<FileField> children, int32_t field_id = 0) {
  FileField made;
  made.name = name;
  made.kind = kind;
  if (field_id != 0) made.field_id = field_id;
  made.type_text = "a group";
  made.children = std::move(children);
  return made;
}

bool has_ids(const FileField& field) {
  return field.field_id.has_value() || std::any_of(field.children.begin(), field.children.end(), has_ids);
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
  FileColumns columns;
  columns.has_ids = std::any_of(file.begin(), file.end(), [](const FileField& field) { return has_ids(field); });
  for (const auto& field : file) columns.columns.push_back({.name = field.name, .field_id = field.field_id});
  columns.open = [&](size_t index) { return file[index]; };
  return resolve_columns(columns, table,
                         {.table_schema = table, .spec = spec, .partition = partition, .name_mapping = mapping});
}

// Of the file's columns, if it is from there.
std::optional<size_t> index_of(const ColumnSource& source) {
  return source.is_constant() ? std::nullopt : std::optional(source.file_index);
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
  EXPECT_EQ(index_of(sources[0]), 1u);
  EXPECT_EQ(index_of(sources[1]), 0u);
}

TEST(ResolveColumns, GivesIdsToFilesWithoutAnyByTheNameMappingNotByPosition) {  // reports.md W01
  const FakeFile file({column("b", kInt32), column("a", kInt32)});
  const spec::Schema table({field(1, "a", TypeKind::kInt), field(2, "b", TypeKind::kInt)});
  const auto mapping =
      spec::parse_name_mapping(R"([{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b"]}])");
  auto sources = resolve(file, table, &mapping);
  EXPECT_EQ(index_of(sources[0]), 1u);
  EXPECT_EQ(index_of(sources[1]), 0u);
}

TEST(ResolveColumns, WithoutIdsAndMappingTakesNamesIfAllAreKnownElsePositions) {
  const spec::Schema table(
      {field(1, "part", TypeKind::kInt), field(2, "a", TypeKind::kInt), field(3, "b", TypeKind::kInt)});
  // A Hive-style file lacks the partition column.
  const FakeFile hive({column("b", kInt32), column("a", kInt32)});
  auto sources = resolve(hive, table, nullptr, identity_of(1), {Literal::int_(5)});
  EXPECT_EQ(sources[0].constant, Literal::int_(5));
  EXPECT_EQ(index_of(sources[1]), 1u);
  EXPECT_EQ(index_of(sources[2]), 0u);
  // A column was renamed since: names are no guide, positions are what Iceberg Java goes by.
  const FakeFile renamed({column("old_part", kInt32), column("a", kInt32)});
  sources = resolve(renamed, table);
  EXPECT_EQ(index_of(sources[0]), 0u);
  EXPECT_EQ(index_of(sources[1]), 1u);
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
  EXPECT_TRUE(sources[1].is_constant());
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
  EXPECT_EQ(index_of(resolve(file, table, nullptr, spec, partition)[0]), 0u);
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
  EXPECT_EQ(index_of(resolve(file, spec::Schema({field(1, "c", TypeKind::kLong)}))[0]), 0u);
  try {
    resolve(file, spec::Schema({field(1, "c", TypeKind::kInt)}));
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("int64 in the file and cannot be read as int"));
  }
}

// ---- Nested ----

NestedField with_type(int32_t id, std::string name, spec::TypePtr type) {
  NestedField made;
  made.id = id;
  made.name = std::move(name);
  made.type = std::move(type);
  return made;
}

TEST(ResolveColumns, FindsFieldsOfStructsByIdInTheTablesOrder) {
  const FakeFile file({group("s", FileField::Kind::kStruct,
                             {column("dropped", kInt32, 9), column("a", kInt32, 2), column("b", kInt64, 3)}, 1)});
  auto added = field(4, "a", TypeKind::kInt);  // a new field of an old name
  added.initial_default = std::make_shared<Literal>(Literal::int_(7));
  const spec::Schema table(
      {with_type(1, "s", spec::struct_({field(3, "z", TypeKind::kLong), added, field(2, "renamed", TypeKind::kInt)}))});
  const auto sources = resolve(file, table);
  ASSERT_EQ(sources[0].kind, ColumnSource::Kind::kStruct);
  const auto& fields = sources[0].children;
  EXPECT_EQ(index_of(fields[0]), 2u);
  EXPECT_EQ(fields[0].place, 0u);
  EXPECT_EQ(fields[1].constant, Literal::int_(7));
  EXPECT_EQ(index_of(fields[2]), 1u);
  EXPECT_EQ(fields[2].place, 1u);
}

TEST(ResolveColumns, GoesIntoListsAndMapsWhateverTheirPartsAreCalled) {
  const FakeFile file(
      {group("l", FileField::Kind::kList,
             {group("array", FileField::Kind::kStruct, {column("y", kInt32, 4), column("x", kInt32, 3)}, 2)}, 1),
       group("m", FileField::Kind::kMap, {column("k", kInt32, 6), column("v", kInt64, 7)}, 5)});
  const spec::Schema table(
      {with_type(5, "m", spec::map(6, spec::primitive(TypeKind::kInt), 7, spec::primitive(TypeKind::kLong), false)),
       with_type(1, "l", spec::list(2, spec::struct_({field(3, "x", TypeKind::kInt)}), true))});
  const auto sources = resolve(file, table);
  EXPECT_EQ(index_of(sources[0]), 1u);
  EXPECT_EQ(sources[0].children[1].place, 1u);
  EXPECT_EQ(index_of(sources[1].children[0].children[0]), 1u);
  EXPECT_EQ(sources[1].children[0].children[0].place, 0u);
}

TEST(ResolveColumns, MapsNamesAtEveryLevelAndWithoutAMappingGoesByNames) {
  const FakeFile file(
      {group("s", FileField::Kind::kStruct,
             {column("old", kInt32), group("l", FileField::Kind::kList, {column("element", kInt32)})})});
  const spec::Schema table(
      {with_type(1, "s",
                 spec::struct_({field(2, "a", TypeKind::kInt),
                                with_type(3, "l", spec::list(4, spec::primitive(TypeKind::kInt), false))}))});
  const auto mapping = spec::parse_name_mapping(
      R"([{"field-id": 1, "names": ["s"], "fields": [{"field-id": 2, "names": ["a", "old"]}, {"field-id": 3, "names": ["l"],
           "fields": [{"field-id": 4, "names": ["element"]}]}]}])");
  const auto mapped = resolve(file, table, &mapping);
  EXPECT_EQ(index_of(mapped[0].children[0]), 0u);
  EXPECT_EQ(index_of(mapped[0].children[1]), 1u);
  const auto named = resolve(file, table);
  EXPECT_TRUE(named[0].children[0].is_constant());
  EXPECT_EQ(index_of(named[0].children[1]), 1u);
}

TEST(ResolveColumns, NamesTheNestedFieldThatDoesNotFit) {
  const FakeFile file({group("s", FileField::Kind::kStruct, {column("a", kInt32, 2)}, 1)});
  const auto message_of = [&](const spec::Schema& table) -> std::string {
    try {
      resolve(file, table);
    } catch (const CorruptError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of(spec::Schema({with_type(1, "s", spec::struct_({field(2, "a", TypeKind::kString)}))})),
              testing::HasSubstr("'s.a' is int32 in the file and cannot be read as string"));
  EXPECT_THAT(message_of(spec::Schema({with_type(1, "s", spec::struct_({field(3, "b", TypeKind::kInt, true)}))})),
              testing::HasSubstr("required column 's.b' (field id 3)"));
  EXPECT_THAT(message_of(spec::Schema({field(1, "s", TypeKind::kInt)})), testing::HasSubstr("'s' is a group"));
  EXPECT_THAT(message_of(spec::Schema({with_type(1, "s", spec::list(2, spec::primitive(TypeKind::kInt), false))})),
              testing::HasSubstr("'s' is a group"));
}

TEST(ResolveColumns, RestrictsSourcesAndTheirConstantsToSomeFields) {
  const FakeFile file({group("s", FileField::Kind::kStruct, {column("a", kInt32, 2), column("b", kInt32, 3)}, 1)});
  auto missing = with_type(4, "t", spec::struct_({field(5, "x", TypeKind::kInt), field(6, "y", TypeKind::kInt)}));
  missing.initial_default = std::make_shared<Literal>(Literal(missing.type, {}));
  const spec::Schema table(
      {with_type(1, "s", spec::struct_({field(2, "a", TypeKind::kInt), field(3, "b", TypeKind::kInt)})), missing});
  const auto part = spec::select_columns(table, std::vector<std::string>{"t.y", "s.b"});
  auto sources = restrict_sources(resolve(file, table), table, *part);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_TRUE(sources[0].constant.type()->equals(*part->fields()[0].type));
  ASSERT_EQ(sources[1].children.size(), 1u);
  EXPECT_EQ(sources[1].children[0].place, 1u) << "where it was";
  number_places(sources);
  EXPECT_EQ(sources[1].children[0].place, 0u);
}

TEST(ResolveColumns, NeverReadsAnUnknownColumnFromTheFile) {
  const FakeFile file({column("u", kInt32, 1)});
  const spec::Schema table({field(1, "u", TypeKind::kUnknown)});
  EXPECT_TRUE(resolve(file, table)[0].is_constant());
}

TEST(ResolveColumns, AFileWhoseColumnsWereAllDroppedReadsAsNulls) {
  const FakeFile file({column("old", kInt32, 1)});
  const spec::Schema table({field(2, "fresh", TypeKind::kInt)});
  EXPECT_TRUE(resolve(file, table)[0].constant.is_null());
}

}  // namespace
}  // namespace frazil::scan
