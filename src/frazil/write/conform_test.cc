#include "frazil/write/conform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/literal.h"

namespace frazil::write {
namespace {

using spec::TypeKind;

spec::NestedField field(int32_t id, std::string name, spec::TypePtr type, bool required = false) {
  spec::NestedField result;
  result.id = id;
  result.name = std::move(name);
  result.type = std::move(type);
  result.required = required;
  return result;
}

std::vector<ArrayPtr> conform(std::vector<spec::NestedField> fields, const RecordBatch& batch) {
  static MemoryPool pool;
  return Conformer(std::make_shared<const spec::Schema>(std::move(fields)), {}, pool).conform(batch);
}

ArrayPtr conform_one(spec::TypePtr type, const ArrayPtr& array, bool required = false) {
  return conform({field(1, "a", std::move(type), required)}, make_batch({{"a", array}})).at(0);
}

std::string error_of(std::vector<spec::NestedField> fields, const RecordBatch& batch) {
  try {
    conform(std::move(fields), batch);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << error.what();
    return error.what();
  }
  return "";
}
std::string error_of_one(spec::TypePtr type, const ArrayPtr& array, bool required = false) {
  return error_of({field(1, "a", std::move(type), required)}, make_batch({{"a", array}}));
}

TEST(Conform, SharesWhatFits) {
  const ArrayPtr numbers = make_int64({1, 2});
  EXPECT_EQ(conform_one(spec::primitive(TypeKind::kLong), numbers)->buffers[1].data(), numbers->buffers[1].data());
}

TEST(Conform, WidensWhatLosesNothing) {
  const ArrayPtr small = make_fixed<int8_t>(primitive(TypeId::kInt8), {-1, std::nullopt, 7});
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kInt), small), *make_int32({-1, std::nullopt, 7})), "");
  EXPECT_EQ(
      difference(*conform_one(spec::primitive(TypeKind::kLong), small->slice(1, 2)), *make_int64({std::nullopt, 7})),
      "");
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kLong),
                                    make_fixed<uint32_t>(primitive(TypeId::kUInt32), {UINT32_MAX})),
                       *make_int64({UINT32_MAX})),
            "");
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kDouble), make_float({1.5F, -0.0F})),
                       *make_double({1.5, -0.0}), {.exact_floats = true}),
            "");
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kFloat),
                                    make_fixed<uint16_t>(primitive(TypeId::kHalfFloat), {0x3E00})),
                       *make_float({1.5F})),
            "");
  EXPECT_EQ(
      difference(*conform_one(spec::decimal(20, 2), make_fixed<int32_t>(decimal(5, 2, TypeId::kDecimal32), {-123})),
                 *make_fixed<Int128>(decimal(20, 2), {-123})),
      "");
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kDate),
                                    make_fixed<int64_t>(primitive(TypeId::kDate64), {-86'400'000, 0})),
                       *make_fixed<int32_t>(primitive(TypeId::kDate32), {-1, 0})),
            "");
  EXPECT_EQ(
      difference(*conform_one(spec::primitive(TypeKind::kTime), make_fixed<int32_t>(time32(TimeUnit::kMilli), {5})),
                 *make_fixed<int64_t>(time64(TimeUnit::kMicro), {5000})),
      "");
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kTimestampTz),
                                    make_fixed<int64_t>(timestamp(TimeUnit::kMilli, "Europe/Paris"), {-5})),
                       *make_fixed<int64_t>(timestamp(TimeUnit::kMicro, "UTC"), {-5000})),
            "");
  for (TypeId id : {TypeId::kLargeUtf8, TypeId::kUtf8View}) {
    const ArrayPtr text = make_bytes(primitive(id), {"a", std::nullopt, "\u00e9 and more than twelve"});
    EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kString), text),
                         *make_utf8({"a", std::nullopt, "\u00e9 and more than twelve"})),
              "");
  }
}

TEST(Conform, DecodesDictionariesAndRuns) {
  MemoryPool pool;
  const ArrayPtr numbers = make_dictionary(dictionary(primitive(TypeId::kInt8), primitive(TypeId::kInt32)),
                                           {1, std::nullopt, 0, 1}, make_int32({10, std::nullopt}));
  EXPECT_EQ(difference(*conform_one(spec::primitive(TypeKind::kLong), numbers),
                       *make_int64({std::nullopt, std::nullopt, 10, std::nullopt})),
            "");
  const ArrayPtr text = make_dictionary(dictionary(primitive(TypeId::kInt8), primitive(TypeId::kLargeUtf8)), {1, 0},
                                        make_bytes(primitive(TypeId::kLargeUtf8), {"x", "y"}));
  const ArrayPtr kept = conform_one(spec::primitive(TypeKind::kString), text);
  EXPECT_EQ(kept->type->to_string(), "dictionary<values=utf8, indices=int8>");
  EXPECT_EQ(
      conform_one(spec::primitive(TypeKind::kInt), make_null_array(primitive(TypeId::kNull), 3, pool))->count_nulls(),
      3);
}

TEST(Conform, RefusesWhatWouldLose) {
  const auto refuse = [](spec::TypePtr type, const ArrayPtr& array) {
    EXPECT_THAT(error_of_one(std::move(type), array), testing::HasSubstr("cannot take")) << array->type->to_string();
  };
  refuse(spec::primitive(TypeKind::kInt), make_int64({1}));
  refuse(spec::primitive(TypeKind::kInt), make_fixed<uint32_t>(primitive(TypeId::kUInt32), {1}));
  refuse(spec::primitive(TypeKind::kLong), make_fixed<uint64_t>(primitive(TypeId::kUInt64), {1}));
  refuse(spec::primitive(TypeKind::kFloat), make_double({1}));
  refuse(spec::primitive(TypeKind::kDouble), make_int32({1}));
  refuse(spec::decimal(9, 2), make_fixed<Int128>(decimal(10, 2), {1}));
  refuse(spec::decimal(9, 2), make_fixed<Int128>(decimal(9, 1), {1}));
  refuse(spec::primitive(TypeKind::kString), make_binary({"a"}));
  refuse(spec::primitive(TypeKind::kBinary), make_utf8({"a"}));
  refuse(spec::primitive(TypeKind::kTimestamp), make_fixed<int64_t>(timestamp(TimeUnit::kNano), {1}));
  refuse(spec::primitive(TypeKind::kTimestamp), make_fixed<int64_t>(timestamp(TimeUnit::kMicro, "UTC"), {1}));
  refuse(spec::primitive(TypeKind::kTimestampTz), make_fixed<int64_t>(timestamp(TimeUnit::kMicro), {1}));
  refuse(spec::fixed(3), make_fixed<uint32_t>(fixed_size_binary(4), {1}));
  refuse(spec::list(2, spec::primitive(TypeKind::kInt), false), make_int32({1}));
}

TEST(Conform, NamesColumnAndRowOfBadValues) {
  const auto column = [](spec::TypePtr type, const ArrayPtr& array, bool required = false) {
    return error_of_one(std::move(type), array, required);
  };
  EXPECT_EQ(column(spec::primitive(TypeKind::kLong), make_int64({1, std::nullopt}), true),
            "column 'a', row 1: null in a required column");
  EXPECT_EQ(column(spec::primitive(TypeKind::kString), make_utf8({"\u00e9", "b", "c\xC3"})),
            "column 'a', row 2: not UTF-8 at byte 1 of c\\xc3");
  EXPECT_EQ(
      column(spec::primitive(TypeKind::kTime), make_fixed<int64_t>(time64(TimeUnit::kMicro), {0, 86'400'000'000})),
      "column 'a', row 1: 86400000000 us is no time of a day");
  EXPECT_EQ(column(spec::primitive(TypeKind::kDate), make_fixed<int64_t>(primitive(TypeId::kDate64), {0, 1})),
            "column 'a', row 1: 1 ms since 1970 are no date");
  EXPECT_EQ(column(spec::primitive(TypeKind::kTimestamp),
                   make_fixed<int64_t>(timestamp(TimeUnit::kSecond), {0, INT64_MAX / 2})),
            "column 'a', row 1: 4611686018427387903 is out of range in the table's unit");
  EXPECT_EQ(column(spec::decimal(3, 1), make_fixed<Int128>(decimal(3, 1), {999, -1000})),
            "column 'a', row 1: -100.0 has more than 3 digits");
  // In a list, the row is the list's; what lies under nulls does not count.
  const DataTypePtr lists = list({.name = "item", .type = primitive(TypeId::kUtf8)});
  EXPECT_EQ(column(spec::list(2, spec::primitive(TypeKind::kString), true),
                   make_list(lists, {2, 0, 1}, make_utf8({"x", "y", std::nullopt}))),
            "column 'a.element', row 2: null in a required column");
  const DataTypePtr point = struct_({{.name = "x", .type = primitive(TypeId::kInt32)}});
  const spec::TypePtr point_type = spec::struct_({field(2, "x", spec::primitive(TypeKind::kInt), true)});
  EXPECT_EQ(column(point_type, make_struct(point, {make_int32({1, std::nullopt, 3})}, {true, true, false})),
            "column 'a.x', row 1: null in a required column");
  EXPECT_EQ(column(point_type, make_struct(point, {make_int32({1, std::nullopt, 3})}, {true, false, true})), "");
  // Rows of a slice count from its beginning, within structs too.
  const DataTypePtr day = struct_({{.name = "x", .type = primitive(TypeId::kDate64)}});
  auto part = std::make_shared<Array>(*make_struct(day, {make_fixed<int64_t>(primitive(TypeId::kDate64), {0, 0, 1})}));
  part->offset = 1;
  part->length = 2;
  EXPECT_EQ(column(spec::struct_({field(2, "x", spec::primitive(TypeKind::kDate))}), part),
            "column 'a.x', row 1: 1 ms since 1970 are no date");
}

TEST(Conform, MatchesColumnsByNameThenById) {
  const std::vector<spec::NestedField> fields = {field(1, "a", spec::primitive(TypeKind::kInt)),
                                                 field(2, "b", spec::primitive(TypeKind::kInt), true)};
  const auto columns = conform(fields, make_batch({{"b", make_int32({2})}, {"a", make_int32({1})}}));
  EXPECT_EQ(columns[0]->values<int32_t>()[0], 1);
  EXPECT_EQ(columns[1]->values<int32_t>()[0], 2);
  EXPECT_EQ(error_of(fields, make_batch({{"b", make_int32({2})}, {"c", make_int32({1})}})),
            "the table has no column 'c'");
  EXPECT_EQ(error_of(fields, make_batch({{"b", make_int32({2})}, {"b", make_int32({1})}})),
            "column 'b' is there twice");
  EXPECT_EQ(error_of(fields, make_batch({{"a", make_int32({1})}})),
            "required column 'b' is missing, and the table has no default for it");
  const RecordBatch renamed(
      Schema::make({{.name = "old", .type = primitive(TypeId::kInt32), .metadata = {{"PARQUET:field_id", "2"}}}}), 1,
      {make_int32({5})});
  EXPECT_EQ(conform(fields, renamed)[1]->values<int32_t>()[0], 5);
}

TEST(Conform, FillsDefaultsAtEveryLevel) {
  spec::NestedField x = field(3, "x", spec::primitive(TypeKind::kInt), true);
  x.write_default = std::make_shared<const spec::Literal>(spec::Literal::int_(42));
  spec::NestedField top = field(4, "s", spec::primitive(TypeKind::kString));
  top.write_default = std::make_shared<const spec::Literal>(spec::Literal::string("d"));
  const spec::TypePtr element = spec::struct_({x, field(5, "y", spec::primitive(TypeKind::kLong))});
  const DataTypePtr given = struct_({{.name = "y", .type = primitive(TypeId::kInt32)}});
  const ArrayPtr lists = make_list(list({.name = "item", .type = given}), {1, std::nullopt, 2},
                                   make_struct(given, {make_int32({7, 8, 9})}));
  const auto columns = conform({field(1, "a", spec::list(2, element, false)), top}, make_batch({{"a", lists}}));
  const ArrayPtr& structs = columns[0]->children[0];
  EXPECT_EQ(difference(*structs->children[0], *make_int32({42, 42, 42})), "");
  EXPECT_EQ(difference(*structs->children[1], *make_int64({7, 8, 9})), "");
  EXPECT_EQ(difference(*columns[1], *make_utf8({"d", "d", "d"})), "");
  validate_full(*columns[0]);
}

TEST(Conform, RefusesArraysThatBreakTheRules) {
  auto falling = std::make_shared<Array>(*make_utf8({"abc", "def", "ghi"}));
  static const int32_t offsets[] = {0, 6, 3, 9};
  falling->buffers[1] = Buffer::borrow(std::as_bytes(std::span(offsets)));
  EXPECT_EQ(error_of_one(spec::primitive(TypeKind::kString), falling), "column 'a': its offsets fall");
  const ArrayPtr wild =
      make_dictionary(dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)), {0, 9}, make_utf8({"x"}));
  EXPECT_NE(error_of_one(spec::primitive(TypeKind::kString), wild), "");
}

}  // namespace
}  // namespace frazil::write
