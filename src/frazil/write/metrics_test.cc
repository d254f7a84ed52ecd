// Metrics rule by rule, from summaries made by hand and from files. Equality with PyIceberg on random rows:
// tests/interop/file_metrics.py.
#include "frazil/write/metrics.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"
#include "frazil/parquet/file_writer.h"

namespace frazil::write {
namespace {

using manifest::CountMap;
using spec::TypeKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

spec::NestedField field(int32_t id, std::string name, spec::TypePtr type) {
  spec::NestedField out;
  out.id = id;
  out.name = std::move(name);
  out.type = std::move(type);
  return out;
}

template <typename T>
std::string plain(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string hex(const std::string& bytes) {
  return encode_hex(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

parquet::LeafSummary leaf(int32_t field_id, std::string min, std::string max) {
  parquet::LeafSummary out;
  out.field_id = field_id;
  out.compressed_bytes = 100;
  out.value_count = 10;
  out.null_count = 2;
  out.bounds = parquet::ValueBounds{.min = std::move(min), .max = std::move(max)};
  return out;
}

// The bounds that one column of that type gets, as hex: "lower upper", "-" for none.
std::string bounds_of(const spec::TypePtr& type, const std::string& min, const std::string& max,
                      const std::string& mode = "truncate(16)") {
  const spec::Schema schema({field(1, "c", type)});
  parquet::FileSummary summary;
  summary.leaves = {leaf(1, min, max)};
  manifest::DataFile file;
  add_metrics(file, summary, schema,
              MetricsConfig::from_properties({{"write.metadata.metrics.default", mode}}, schema));
  const auto text = [](const std::optional<manifest::BoundMap>& map) {
    return map->empty() ? "-" : hex(map->front().second);
  };
  return text(file.lower_bounds) + " " + text(file.upper_bounds);
}

TEST(Metrics, ComeFromTheLeaves) {
  const auto long_type = spec::primitive(TypeKind::kLong);
  const auto double_type = spec::primitive(TypeKind::kDouble);
  const spec::Schema schema(
      {field(1, "a", long_type), field(2, "s", spec::struct_({field(3, "d", double_type)})),
       field(4, "l", spec::list(5, long_type, false)),
       field(6, "m",
             spec::map(7, spec::primitive(TypeKind::kString), 8, spec::struct_({field(9, "x", long_type)}), false))});
  parquet::FileSummary summary;
  summary.file_bytes = 5000;
  summary.row_count = 10;
  summary.row_group_offsets = {4, 900};
  summary.leaves = {leaf(9, plain(int64_t{1}), plain(int64_t{2})),
                    leaf(1, plain(int64_t{-5}), plain(int64_t{7})),
                    leaf(3, plain(-0.0), plain(1.5)),
                    leaf(5, plain(int64_t{1}), plain(int64_t{2})),
                    leaf(7, "a", "b"),
                    leaf(77, plain(int64_t{1}), plain(int64_t{2}))};
  summary.leaves[2].nan_count = 3;
  summary.leaves.push_back(leaf(0, "", ""));
  summary.leaves.back().field_id.reset();
  manifest::DataFile file;
  add_metrics(file, summary, schema, MetricsConfig::from_properties({}, schema));
  EXPECT_EQ(file.record_count, 10);
  EXPECT_EQ(file.file_size_bytes, 5000);
  EXPECT_THAT(file.split_offsets, ElementsAre(4, 900));
  // Sizes of all leaves that the schema knows; the rest only outside of lists and maps, as Iceberg Java has it.
  EXPECT_EQ(file.column_sizes, (CountMap{{1, 100}, {3, 100}, {5, 100}, {7, 100}, {9, 100}}));
  EXPECT_EQ(file.value_counts, (CountMap{{1, 10}, {3, 10}}));
  EXPECT_EQ(file.null_value_counts, (CountMap{{1, 2}, {3, 2}}));
  EXPECT_EQ(file.nan_value_counts, (CountMap{{3, 3}}));
  EXPECT_THAT(*file.lower_bounds, ElementsAre(Pair(1, plain(int64_t{-5})), Pair(3, plain(-0.0))));
  EXPECT_THAT(*file.upper_bounds, ElementsAre(Pair(1, plain(int64_t{7})), Pair(3, plain(1.5))));
}

TEST(Metrics, FollowTheModeOfEachColumn) {
  const auto long_type = spec::primitive(TypeKind::kLong);
  const spec::Schema schema({field(1, "none", long_type), field(2, "counts", long_type), field(3, "full", long_type)});
  parquet::FileSummary summary;
  for (int32_t id = 1; id <= 3; ++id) summary.leaves.push_back(leaf(id, plain(int64_t{1}), plain(int64_t{2})));
  manifest::DataFile file;
  add_metrics(file, summary, schema,
              MetricsConfig::from_properties(
                  {{"write.metadata.metrics.column.none", "none"}, {"write.metadata.metrics.column.counts", "counts"}},
                  schema));
  EXPECT_EQ(file.column_sizes, (CountMap{{2, 100}, {3, 100}}));
  EXPECT_EQ(file.value_counts, (CountMap{{2, 10}, {3, 10}}));
  EXPECT_THAT(*file.lower_bounds, ElementsAre(Pair(3, plain(int64_t{1}))));
}

TEST(Metrics, HaveBoundsInTheSingleValueForm) {
  EXPECT_EQ(bounds_of(spec::primitive(TypeKind::kBoolean), plain(uint8_t{0}), plain(uint8_t{1})), "00 01");
  EXPECT_EQ(bounds_of(spec::primitive(TypeKind::kInt), plain(-1), plain(258)), "ffffffff 02010000");
  EXPECT_EQ(bounds_of(spec::primitive(TypeKind::kDate), plain(-1), plain(0)), "ffffffff 00000000");
  EXPECT_EQ(bounds_of(spec::primitive(TypeKind::kTimestampNs), plain(int64_t{1}), plain(int64_t{2})),
            "0100000000000000 0200000000000000");
  EXPECT_EQ(bounds_of(spec::primitive(TypeKind::kFloat), plain(-0.0F), plain(0.0F)), "00000080 00000000");
  // Decimals are never cut, whatever the mode, and take their shortest form.
  EXPECT_EQ(bounds_of(spec::decimal(9, 2), plain(int32_t{-128}), plain(int32_t{1420}), "truncate(1)"), "80 058c");
  EXPECT_EQ(bounds_of(spec::decimal(18, 2), plain(int64_t{-129}), plain(int64_t{0})), "ff7f 00");
  EXPECT_EQ(bounds_of(spec::decimal(20, 0), std::string(8, '\xff') + "\xfe", std::string(8, '\0') + "\x05"), "fe 05");
  // The summary of another type is a defect, not a bound.
  EXPECT_THROW(bounds_of(spec::primitive(TypeKind::kInt), plain(int64_t{1}), plain(int64_t{2})), Error);
  EXPECT_THROW(bounds_of(spec::decimal(9, 2), "", ""), Error);
}

TEST(Metrics, CutTextByCodePointsAndStayAboveIt) {
  const auto text = spec::primitive(TypeKind::kString);
  EXPECT_EQ(bounds_of(text, "abc", "abd", "truncate(2)"), hex("ab") + " " + hex("ac"));
  EXPECT_EQ(bounds_of(text, "ab", "ab", "truncate(2)"), hex("ab") + " " + hex("ab"));
  EXPECT_EQ(bounds_of(text, "abc", "abd", "full"), hex("abc") + " " + hex("abd"));
  EXPECT_EQ(bounds_of(text, "", "", "truncate(2)"), " ");
  EXPECT_EQ(truncate_text_upper("日本語", 2), "日札");
  EXPECT_EQ(truncate_text_upper("a\xF0\x9F\x98\x80z", 2), "a\xF0\x9F\x98\x81");
  // Over the surrogates, over U+10FFFF to the code point before it, and not at all.
  EXPECT_EQ(truncate_text_upper("\xED\x9F\xBFx", 1), "\xEE\x80\x80");
  EXPECT_EQ(truncate_text_upper("a\xF4\x8F\xBF\xBFx", 2), "b");
  std::string highest;
  for (int i = 0; i < 17; ++i) highest += "\xF4\x8F\xBF\xBF";
  EXPECT_EQ(truncate_text_upper(highest, 16), std::nullopt);
  EXPECT_EQ(bounds_of(text, highest, highest), hex(highest.substr(0, 64)) + " -");
  EXPECT_EQ(truncate_text_upper(highest, 17), highest);
  // What Parquet's writer cut within a code point: no upper bound can be told from it.
  EXPECT_EQ(bounds_of(text, "a\xC3", "a\xC3"), hex("a") + " -");
}

TEST(Metrics, CutBytesAndStayAboveThem) {
  for (const auto& type : {spec::primitive(TypeKind::kBinary), spec::fixed(3)}) {
    EXPECT_EQ(bounds_of(type, "abc", "abd", "truncate(2)"), hex("ab") + " " + hex("ac"));
    EXPECT_EQ(bounds_of(type, "abc", "a\xff\xff", "truncate(2)"), hex("ab") + " " + hex("b"));
    EXPECT_EQ(bounds_of(type, "abc", "\xff\xff\xff", "truncate(2)"), hex("ab") + " -");
    EXPECT_EQ(bounds_of(type, "abc", "\xff\xff\xff", "full"), hex("abc") + " ffffff");
  }
  EXPECT_EQ(truncate_bytes_upper(std::string(17, '\xff'), 16), std::nullopt);
}

RC_GTEST_PROP(Metrics, CutTextIsABoundOfIt, (const std::vector<uint32_t>& raw)) {
  std::string text;
  for (const uint32_t value : raw) {
    uint32_t code_point = value % (kCodePointMax + 1);
    if (value % 3 == 0) code_point = kCodePointMax;
    if (code_point >= 0xD800 && code_point <= 0xDFFF) code_point = 0xD7FF;
    append_code_point(text, code_point);
  }
  const auto length = *rc::gen::inRange<int32_t>(1, 20);
  const std::string lower = truncate_text_lower(text, length);
  RC_ASSERT(lower <= text);
  RC_ASSERT(count_code_points(lower) <= static_cast<size_t>(length));
  if (const auto upper = truncate_text_upper(text, length)) {
    RC_ASSERT(*upper >= text);
    RC_ASSERT(is_valid_utf8(*upper));
    RC_ASSERT(count_code_points(*upper) <= static_cast<size_t>(length));
  }
  const auto bytes = truncate_bytes_upper(text, length);
  RC_ASSERT(!bytes ||
            (*bytes >= text && bytes->size() <= static_cast<size_t>(length) +
                                                    (text.size() <= static_cast<size_t>(length) ? text.size() : 0)));
}

// Bounds hold in both orders, for whatever values had these extremes.
RC_GTEST_PROP(Metrics, UuidBoundsHoldInBothOrders, (const std::vector<std::pair<uint64_t, uint64_t>>& halves)) {
  RC_PRE(!halves.empty());
  const bool same_high = *rc::gen::arbitrary<bool>();
  std::vector<Uuid> values;
  for (auto [high, low] : halves) {
    if (same_high) high = halves[0].first;
    Uuid uuid;
    for (int i = 0; i < 8; ++i) {
      uuid.bytes[static_cast<size_t>(i)] = static_cast<std::byte>(high >> (56 - 8 * i));
      uuid.bytes[static_cast<size_t>(8 + i)] = static_cast<std::byte>(low >> (56 - 8 * i));
    }
    values.push_back(uuid);
  }
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  const auto text = [](const Uuid& uuid) { return std::string(reinterpret_cast<const char*>(uuid.bytes.data()), 16); };
  const spec::Schema schema({field(1, "u", spec::primitive(TypeKind::kUuid))});
  parquet::FileSummary summary;
  summary.leaves = {leaf(1, text(*min), text(*max))};
  manifest::DataFile file;
  add_metrics(file, summary, schema, MetricsConfig::from_properties({}, schema));
  for (const Uuid& value : values) {
    for (const auto& [id, bound] : *file.lower_bounds) {
      const Uuid lower = uuid_from_bytes(std::as_bytes(std::span(bound.data(), bound.size())));
      RC_ASSERT((lower <= value));
      RC_ASSERT((compare_java_uuid(lower, value) <= 0));
    }
    for (const auto& [id, bound] : *file.upper_bounds) {
      const Uuid upper = uuid_from_bytes(std::as_bytes(std::span(bound.data(), bound.size())));
      RC_ASSERT((upper >= value));
      RC_ASSERT((compare_java_uuid(upper, value) >= 0));
    }
  }
}

TEST(Metrics, KeepUuidBoundsWhereTheyCan) {
  const auto type = spec::primitive(TypeKind::kUuid);
  const auto bytes = [](std::string_view text) {
    const Uuid uuid = parse_uuid(text);
    return std::string(reinterpret_cast<const char*>(uuid.bytes.data()), 16);
  };
  const std::string a = bytes("10000000-0000-7000-8000-000000000001");
  const std::string b = bytes("20000000-0000-7000-8000-000000000001");
  // The upper half moves by one: a value with b's upper half and a positive lower half would be above b for Java.
  EXPECT_EQ(bounds_of(type, a, b), hex(a) + " " + hex(bytes("20000000-0000-7001-0000-000000000000")));
  EXPECT_EQ(bounds_of(type, a, a), hex(a) + " " + hex(a));
  const std::string c = bytes("90000000-0000-7000-8000-000000000001");
  EXPECT_EQ(bounds_of(type, a, c), "- -");
  EXPECT_EQ(
      bounds_of(type, bytes("7fffffff-ffff-ffff-0000-000000000000"), bytes("7fffffff-ffff-ffff-8000-000000000000")),
      hex(bytes("7fffffff-ffff-fffe-0000-000000000000")) + " -");
}

TEST(Metrics, TakeTheBoxOfGeometries) {
  for (const auto& type : {spec::geometry(), spec::geography()}) {
    const spec::Schema schema({field(1, "g", type)});
    parquet::FileSummary summary;
    summary.leaves = {leaf(1, "wkb", "wkb")};
    manifest::DataFile file;
    const auto config = MetricsConfig::from_properties({}, schema);
    add_metrics(file, summary, schema, config);
    EXPECT_THAT(*file.lower_bounds, IsEmpty());
    summary.leaves[0].geospatial =
        parquet::GeospatialBounds{.x_min = 1, .x_max = 2, .y_min = 3, .y_max = 4, .z = {}, .m = {{5, 6}}};
    add_metrics(file, summary, schema, config);
    const auto bound = [](const manifest::BoundMap& map) {
      const std::string& text = map.front().second;
      return spec::geo_bound_from_bytes(std::as_bytes(std::span(text.data(), text.size())));
    };
    EXPECT_EQ(bound(*file.lower_bounds), (spec::GeoBound{.x = 1, .y = 3, .z = std::nullopt, .m = 5}));
    EXPECT_EQ(bound(*file.upper_bounds), (spec::GeoBound{.x = 2, .y = 4, .z = std::nullopt, .m = 6}));
  }
}

TEST(MetricsMode, ParsesWhatPropertiesHave) {
  EXPECT_EQ(parse_metrics_mode("none").kind, MetricsMode::Kind::kNone);
  EXPECT_EQ(parse_metrics_mode("COUNTS").kind, MetricsMode::Kind::kCounts);
  EXPECT_EQ(parse_metrics_mode("Truncate(4)").length, 4);
  EXPECT_EQ(parse_metrics_mode("full").kind, MetricsMode::Kind::kFull);
  EXPECT_EQ(parse_metrics_mode("truncate(4)").bound_bytes(), 16u);
  for (const char* bad :
       {"", "truncate", "truncate()", "truncate(0)", "truncate(-1)", "truncate(x)", "truncate(3) ", "all"})
    EXPECT_THROW(parse_metrics_mode(bad), Error) << bad;
}

TEST(MetricsConfig, TakesDefaultsSortOrdersAndColumnsInThisOrder) {
  const auto long_type = spec::primitive(TypeKind::kLong);
  const spec::Schema schema({field(1, "a", long_type), field(2, "b", long_type), field(3, "c.d", long_type),
                             field(4, "s", spec::struct_({field(5, "x", long_type)}))});
  spec::SortOrder order;
  order.fields.resize(2);
  order.fields[0].source_ids = {2};
  order.fields[1].source_ids = {1};
  order.fields[1].transform = spec::Transform::bucket(4);
  const auto config = MetricsConfig::from_properties({{"write.metadata.metrics.column.s.x", "full"},
                                                      {"write.metadata.metrics.column.c.d", "counts"},
                                                      {"write.metadata.metrics.column.gone", "full"},
                                                      {"write.metadata.metrics.default", "none"}},
                                                     schema, order);
  EXPECT_EQ(config.mode(1).kind, MetricsMode::Kind::kNone);
  EXPECT_EQ(config.mode(2), MetricsMode{}) << "sorted by";
  EXPECT_EQ(config.mode(3).kind, MetricsMode::Kind::kCounts);
  EXPECT_EQ(config.mode(5).kind, MetricsMode::Kind::kFull);
  EXPECT_EQ(config.mode(99).kind, MetricsMode::Kind::kNone);
  EXPECT_EQ(MetricsConfig::from_properties({}, schema).mode(1), MetricsMode{});
  try {
    MetricsConfig::from_properties({{"write.metadata.metrics.column.a", "some"}}, schema);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("write.metadata.metrics.column.a"));
  }
  EXPECT_THROW(MetricsConfig::from_properties({{"write.metadata.metrics.max-inferred-column-defaults", "-1"}}, schema),
               Error);
}

// The order of Iceberg Java: a level's own leaves first, then what is nested, field by field.
TEST(MetricsConfig, LimitsTheColumnsOfWideSchemas) {
  const auto long_type = spec::primitive(TypeKind::kLong);
  const spec::Schema schema(
      {field(1, "s",
             spec::struct_({field(2, "t", spec::struct_({field(3, "u", long_type)})), field(4, "v", long_type)})),
       field(5, "a", long_type), field(6, "l", spec::list(7, long_type, false)), field(8, "b", long_type)});
  const auto measured = [&](int limit) {
    const auto config = MetricsConfig::from_properties(
        {{"write.metadata.metrics.max-inferred-column-defaults", std::to_string(limit)}}, schema);
    std::vector<int32_t> ids;
    for (int32_t id = 1; id <= 8; ++id) {
      if (config.mode(id).has_counts()) ids.push_back(id);
    }
    return ids;
  };
  EXPECT_THAT(measured(0), IsEmpty());
  EXPECT_THAT(measured(1), ElementsAre(5));
  EXPECT_THAT(measured(2), ElementsAre(5, 8));
  EXPECT_THAT(measured(3), ElementsAre(4, 5, 8));
  EXPECT_THAT(measured(4), ElementsAre(3, 4, 5, 8));
  EXPECT_THAT(measured(5), ElementsAre(3, 4, 5, 7, 8));
  // Structs count for the limit: 5 leaves and 2 structs.
  EXPECT_THAT(measured(6), ElementsAre(3, 4, 5, 7, 8));
  EXPECT_THAT(measured(7), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  // A default is for all.
  EXPECT_TRUE(MetricsConfig::from_properties({{"write.metadata.metrics.max-inferred-column-defaults", "1"},
                                              {"write.metadata.metrics.default", "counts"}},
                                             schema)
                  .mode(3)
                  .has_counts());
}

}  // namespace
}  // namespace frazil::write
