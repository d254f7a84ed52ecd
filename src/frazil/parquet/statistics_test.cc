#include "frazil/parquet/statistics.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/int128.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/predicate/parse.h"

namespace frazil::parquet {
namespace {

using predicate::ColumnStatistics;
using predicate::Value;
using testing::ThriftWriter;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <typename T>
std::string plain(T value) {
  return testing::plain(std::vector<T>{value});
}

// A footer with one column.
struct Footer {
  PhysicalType type = PhysicalType::kInt32;
  int32_t type_length = 0;
  int32_t converted = -1;
  std::string logical = {};  // LogicalType, as it lies in the file; without its stop
  std::string created_by = "parquet-mr version 1.13.0 (build x)";
  int order = 1;  // ColumnOrder's field; 0: no column orders
  int32_t precision = 0;
  int32_t scale = 0;
  bool is_required = false;
};

std::shared_ptr<const FileMetadata> parse(const Footer& footer) {
  static MemoryPool pool;
  ThriftWriter element;
  element.i32(1, static_cast<int>(footer.type));
  if (footer.type_length != 0) element.i32(2, footer.type_length);
  element.i32(3, footer.is_required ? 0 : 1).binary(4, "a");
  if (footer.converted >= 0) element.i32(6, footer.converted);
  if (footer.precision > 0) element.i32(7, footer.scale).i32(8, footer.precision);
  if (!footer.logical.empty()) element.structure(10, ThriftWriter().raw(footer.logical));
  ThriftWriter metadata;
  metadata.i32(1, 1).structs(2, {ThriftWriter().binary(4, "schema").i32(5, 1), element}).i64(3, 0).structs(4, {});
  if (!footer.created_by.empty()) metadata.binary(6, footer.created_by);
  if (footer.order > 0) metadata.structs(7, {ThriftWriter().structure(footer.order, ThriftWriter())});
  return FileMetadata::parse(Buffer::from_string(metadata.finish()), 0, pool);
}

constexpr int kUtf8 = 0;
constexpr int kDecimal = 5;
constexpr int kDate = 6;
constexpr int kUint8 = 11;
constexpr int kUint32 = 13;
constexpr int kInt8 = 15;
constexpr int kInterval = 21;

struct Pair {
  std::string min;
  std::string max;
};

ColumnStatistics decode(const Footer& footer, const Pair& bounds, bool deprecated = false, int64_t rows = 10,
                        std::optional<int64_t> nulls = 0, DataTypePtr type = nullptr) {
  const auto metadata = parse(footer);
  if (type == nullptr) type = arrow_leaf_type(metadata->schema().leaf(0));
  Statistics statistics;
  (deprecated ? statistics.min : statistics.min_value) = bytes(bounds.min);
  (deprecated ? statistics.max : statistics.max_value) = bytes(bounds.max);
  statistics.null_count = nulls;
  return StatisticsDecoder(*metadata, 0, type).decode(statistics, rows);
}

// "[lower, upper]", "-" for none.
std::string text(const ColumnStatistics& statistics) {
  const auto one = [](const std::optional<Value>& value) -> std::string {
    if (!value) return "-";
    if (const auto* number = std::get_if<int64_t>(&*value)) return std::to_string(*number);
    if (const auto* number = std::get_if<uint64_t>(&*value)) return std::to_string(*number) + "u";
    if (const auto* number = std::get_if<double>(&*value)) return std::to_string(*number);
    if (const auto* number = std::get_if<Int128>(&*value)) return frazil::to_string(*number) + "d";
    if (const auto* flag = std::get_if<bool>(&*value)) return *flag ? "true" : "false";
    return "'" + std::get<std::string>(*value) + "'";
  };
  return "[" + one(statistics.lower) + ", " + one(statistics.upper) + "]";
}

TEST(Statistics, BecomeValuesOfTheColumnsType) {
  EXPECT_EQ(text(decode({}, {plain<int32_t>(-5), plain<int32_t>(7)})), "[-5, 7]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kInt64}, {plain<int64_t>(INT64_MIN), plain<int64_t>(INT64_MAX)})),
            "[-9223372036854775808, 9223372036854775807]");
  EXPECT_EQ(text(decode({.converted = kUint32}, {plain<int32_t>(3), plain<int32_t>(-1)})), "[3u, 4294967295u]");
  EXPECT_EQ(text(decode({.converted = kDate}, {plain<int32_t>(-1), plain<int32_t>(1)})), "[-1, 1]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kBoolean}, {std::string(1, '\0'), "\x01"})), "[false, true]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kFloat}, {plain(-1.5F), plain(2.5F)})), "[-1.500000, 2.500000]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kByteArray, .converted = kUtf8}, {"a", "\xC3\xA9"})),
            "['a', '\xC3\xA9']");
  const Footer decimal{
      .type = PhysicalType::kFixedLenByteArray, .type_length = 3, .converted = kDecimal, .precision = 6, .scale = 2};
  EXPECT_EQ(text(decode(decimal, {"\xFF\xFF\x80", std::string("\x00\x01\x00", 3)})), "[-128d, 256d]");
  const Footer small{.converted = kDecimal, .precision = 6, .scale = 2};
  EXPECT_EQ(text(decode(small, {plain<int32_t>(-128), plain<int32_t>(256)})), "[-128d, 256d]");
}

TEST(Statistics, PassThroughThePromotionThatTheValuesDo) {
  EXPECT_EQ(text(decode({}, {plain<int32_t>(-5), plain<int32_t>(7)}, false, 10, 0, primitive(TypeId::kInt64))),
            "[-5, 7]");
  EXPECT_EQ(text(decode({.converted = kDate}, {plain<int32_t>(-1), plain<int32_t>(1)}, false, 10, 0,
                        timestamp(TimeUnit::kSecond))),
            "[-86400, 86400]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kFloat}, {plain(0.1F), plain(0.1F)}, false, 10, 0,
                        primitive(TypeId::kDouble))),
            "[0.100000, 0.100000]");
}

TEST(Statistics, WithoutOrderAreNoBounds) {
  const Pair bounds{plain<int32_t>(1), plain<int32_t>(2)};
  EXPECT_EQ(text(decode({.order = 0}, bounds)), "[-, -]") << "no column orders";
  EXPECT_EQ(text(decode({.order = 9}, bounds)), "[-, -]") << "an order from the future";
  EXPECT_EQ(text(decode({.type = PhysicalType::kInt96}, {std::string(12, '\0'), std::string(12, '\0')})), "[-, -]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kFixedLenByteArray, .type_length = 12, .converted = kInterval},
                        {std::string(12, '\0'), std::string(12, '\0')})),
            "[-, -]");
  // LogicalType fields 17 (GEOMETRY) and 40 (not known).
  const std::string geometry = ThriftWriter().structure(17, ThriftWriter()).finish();
  EXPECT_EQ(
      text(decode({.type = PhysicalType::kByteArray, .logical = geometry.substr(0, geometry.size() - 1)}, {"a", "b"})),
      "[-, -]");
  const std::string future = ThriftWriter().structure(40, ThriftWriter()).finish();
  EXPECT_EQ(text(decode({.logical = future.substr(0, future.size() - 1)}, bounds)), "[-, -]");
  // Counts need no order.
  EXPECT_EQ(decode({.order = 0}, bounds, false, 10, 4).null_count, 4);
}

TEST(Statistics, OfTheDeprecatedPairServeSignedTypesOnly) {
  EXPECT_EQ(text(decode({}, {plain<int32_t>(-5), plain<int32_t>(7)}, true)), "[-5, 7]");
  EXPECT_EQ(text(decode({.order = 0}, {plain<int32_t>(-5), plain<int32_t>(7)}, true)), "[-5, 7]");
  EXPECT_EQ(text(decode({.converted = kUint32}, {plain<int32_t>(3), plain<int32_t>(5)}, true)), "[-, -]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kByteArray, .converted = kUtf8}, {"a", "b"}, true)), "[-, -]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kByteArray, .converted = kUtf8}, {"a", "a"}, true)), "['a', 'a']")
      << "in any order the same is the same";
  EXPECT_EQ(text(decode({.type = PhysicalType::kDouble}, {plain(1.0), plain(2.0)}, true)), "[1.000000, 2.000000]");
}

// reports.md Q22
TEST(Statistics, OfWritersThatGotThemWrongAreNotBelieved) {
  const auto binary = [](std::string created_by, bool deprecated) {
    return text(decode({.type = PhysicalType::kByteArray, .converted = kUtf8, .created_by = std::move(created_by)},
                       {"a", "a"}, deprecated));
  };
  EXPECT_EQ(binary("parquet-mr version 1.6.0 (build abcd)", true), "[-, -]") << "PARQUET-251";
  EXPECT_EQ(binary("parquet-mr", true), "[-, -]");
  EXPECT_EQ(binary("", true), "[-, -]");
  EXPECT_EQ(binary("parquet-mr version 1.8.0 (build abcd)", true), "['a', 'a']");
  EXPECT_EQ(binary("parquet-mr version 1.10.1 (build abcd)", true), "['a', 'a']");
  EXPECT_EQ(binary("parquet-mr version 1.6.0 (build abcd)", false), "['a', 'a']");

  const auto decimal = [](std::string created_by, PhysicalType type) {
    const bool is_fixed = type == PhysicalType::kFixedLenByteArray;
    const Footer footer{.type = type,
                        .type_length = is_fixed ? 1 : 0,
                        .converted = kDecimal,
                        .created_by = std::move(created_by),
                        .precision = 2};
    if (type == PhysicalType::kInt32) return text(decode(footer, {plain<int32_t>(1), plain<int32_t>(2)}));
    return text(decode(footer, {"\x01", "\x02"}));
  };
  const PhysicalType fixed = PhysicalType::kFixedLenByteArray;
  const PhysicalType variable = PhysicalType::kByteArray;
  EXPECT_EQ(decimal("parquet-cpp version 1.5.1-SNAPSHOT", fixed), "[-, -]");
  EXPECT_EQ(decimal("parquet-cpp-arrow version 3.0.0", fixed), "[-, -]");
  EXPECT_EQ(decimal("parquet-cpp-arrow version 4.0.0", fixed), "[1d, 2d]");
  EXPECT_EQ(decimal("parquet-cpp-arrow version 26.0.0", variable), "[1d, 2d]");
  EXPECT_EQ(decimal("parquet-rs version 56.0.0", variable), "[-, -]");
  EXPECT_EQ(decimal("parquet-rs version 56.0.0", fixed), "[1d, 2d]");
  EXPECT_EQ(decimal("Polars", fixed), "[-, -]");
  EXPECT_EQ(decimal("Polars", PhysicalType::kInt32), "[1d, 2d]");
  EXPECT_EQ(decimal("ClickHouse v25.7.1.1", fixed), "[-, -]");
  EXPECT_EQ(decimal("ClickHouse v25.8.1.1", fixed), "[1d, 2d]");
  EXPECT_EQ(decimal("hyparquet", PhysicalType::kInt32), "[-, -]");

  const auto timestamp = [](std::string created_by) {
    return text(decode({.type = PhysicalType::kInt64, .converted = 10, .created_by = std::move(created_by)},
                       {plain<int64_t>(1), plain<int64_t>(2)}));
  };
  EXPECT_EQ(timestamp("Parquet.Net version 4.25.0 (build x)"), "[-, -]");
  EXPECT_EQ(timestamp("Parquet.Net version 5.0.0 (build x)"), "[1, 2]");
}

TEST(Statistics, OutsideTheTypeAreNoBounds) {
  EXPECT_EQ(text(decode({.converted = kInt8}, {plain<int32_t>(-200), plain<int32_t>(100)})), "[-, 100]");
  EXPECT_EQ(text(decode({.converted = kUint8}, {plain<int32_t>(-1), plain<int32_t>(256)})), "[-, -]");
  EXPECT_EQ(text(decode({}, {"", plain<int64_t>(1)})), "[-, -]") << "of another width";
  EXPECT_EQ(text(decode({.type = PhysicalType::kBoolean}, {"\x02", "\x01"})), "[-, true]");
  EXPECT_EQ(text(decode({.type = PhysicalType::kByteArray}, {"", std::string(1 << 20, 'x')})), "['', -]");
}

TEST(Statistics, TakeNanForNoBound) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Footer type_order{.type = PhysicalType::kDouble};
  EXPECT_EQ(text(decode(type_order, {plain(nan), plain(1.0)})), "[-, -]");
  EXPECT_FALSE(decode(type_order, {plain(nan), plain(nan)}).nan_count);
  const Footer total_order{.type = PhysicalType::kDouble, .order = 2};
  EXPECT_EQ(text(decode(total_order, {plain(-0.0), plain(1.0)})), "[-0.000000, 1.000000]");
  EXPECT_EQ(decode(total_order, {plain(nan), plain(nan)}, false, 10, 4).nan_count, 6) << "all of them are";
  EXPECT_FALSE(decode(total_order, {plain(nan), plain(nan)}, false, 10, std::nullopt).nan_count);
  EXPECT_FALSE(decode(total_order, {plain(-nan), plain(1.0)}).lower);
}

class OneColumn final : public predicate::ColumnStatisticsSource {
 public:
  explicit OneColumn(ColumnStatistics known) : known_(std::move(known)) {}
  ColumnStatistics statistics(const predicate::BoundColumn&) override { return known_; }

 private:
  ColumnStatistics known_;
};

// reports.md P20: a naive writer's file with zeros of one sign alone.
TEST(Statistics, OfZerosFindZerosOfEitherSign) {
  MemoryPool pool;
  const SchemaPtr schema = Schema::make({{.name = "a", .type = primitive(TypeId::kDouble)}});
  for (const Pair& bounds :
       {Pair{plain(0.0), plain(-0.0)}, Pair{plain(-0.0), plain(-0.0)}, Pair{plain(0.0), plain(0.0)}}) {
    for (const int order : {1, 2}) {
      OneColumn source(decode({.type = PhysicalType::kDouble, .order = order}, bounds));
      for (const char* wanted : {"a = 0", "a >= 0", "a <= 0", "a IN (-0.0, 5)"}) {
        const auto bound = predicate::bind_predicate(predicate::parse(wanted), schema);
        EXPECT_NE(predicate::may_match(bound, source, pool), predicate::Pruning::kNoRow) << wanted;
      }
      EXPECT_EQ(predicate::may_match(predicate::bind_predicate(predicate::parse("a < 0"), schema), source, pool),
                predicate::Pruning::kNoRow);
    }
  }
}

TEST(Statistics, LeaveOutCountsThatCannotBe) {
  const Pair bounds{plain<int32_t>(1), plain<int32_t>(2)};
  EXPECT_FALSE(decode({}, bounds, false, 10, 11).null_count);
  EXPECT_FALSE(decode({}, bounds, false, 10, -1).null_count);
  EXPECT_FALSE(decode({}, bounds, false, 10, std::nullopt).null_count) << "absent is unknown, not 0";
  EXPECT_EQ(decode({}, bounds, false, 10, 10).null_count, 10);
}

TEST(Statistics, OfANullPageAreBelievedWhereNothingSpeaksAgainstIt) {
  OffsetIndex offsets;
  offsets.pages = {{100, 10, 0}};
  offsets.row_count = 5;
  const auto decode_page = [&](bool is_required, std::vector<int64_t> null_counts) {
    const auto metadata = parse({.is_required = is_required});
    ColumnIndex bounds;
    bounds.null_pages = {true};
    bounds.min_values = bounds.max_values = {{}};
    bounds.null_counts = std::move(null_counts);
    return StatisticsDecoder(*metadata, 0, primitive(TypeId::kInt32)).decode(bounds, offsets, 0);
  };
  EXPECT_EQ(decode_page(false, {}).null_count, 5);
  EXPECT_EQ(decode_page(false, {5}).null_count, 5);
  EXPECT_FALSE(decode_page(false, {4}).null_count);
  EXPECT_FALSE(decode_page(false, {-1}).null_count);
  EXPECT_FALSE(decode_page(true, {}).null_count) << "a required column has no nulls";
  EXPECT_EQ(decode_page(true, {}).row_count, 5);
}

TEST(Statistics, OfPagesThatWereCutOffWronglyHaveNoUpperBound) {
  OffsetIndex offsets;
  offsets.pages = {{100, 10, 0}};
  offsets.row_count = 5;
  const std::string value = "abc";
  for (const auto& [created_by, expected] :
       {std::pair("github.com/segmentio/parquet-go version 0.1(build x)", "['abc', -]"),
        std::pair("parquet-mr version 1.13.0", "['abc', 'abc']")}) {
    const auto metadata = parse({.type = PhysicalType::kByteArray, .created_by = created_by});
    ColumnIndex bounds;
    bounds.null_pages = {false};
    bounds.min_values = bounds.max_values = {bytes(value)};
    EXPECT_EQ(text(StatisticsDecoder(*metadata, 0, primitive(TypeId::kBinary)).decode(bounds, offsets, 0)), expected);
  }
}

TEST(Statistics, WriterIsNamedWithItsVersion) {
  const WriterVersion mr = parse_writer("parquet-mr version 1.12.3-SNAPSHOT (build 1a2b)");
  EXPECT_EQ(mr.application, "parquet-mr");
  EXPECT_EQ(mr.major, 1);
  EXPECT_EQ(mr.minor, 12);
  EXPECT_TRUE(mr.before(1, 13));
  EXPECT_FALSE(mr.before(1, 8));
  EXPECT_EQ(parse_writer("DuckDB version v1.2.0 (build 5f5512b827)").minor, 2);
  EXPECT_FALSE(parse_writer("Polars").is_known);
  EXPECT_FALSE(parse_writer("").is_known);
  EXPECT_FALSE(parse_writer("x version ").is_known);
  EXPECT_EQ(parse_writer("x version 99999999999999999999.1").minor, 1);
}

// ---- From values to the bytes of the file ----

std::optional<std::vector<std::string>> forms(const Footer& footer, const Value& value, DataTypePtr type = nullptr) {
  const auto metadata = parse(footer);
  if (type == nullptr) type = arrow_leaf_type(metadata->schema().leaf(0));
  return StatisticsDecoder(*metadata, 0, type).plain_forms(value);
}

using Forms = std::vector<std::string>;

// reports.md P35
TEST(PlainForms, AreOfThePhysicalTypesWidth) {
  const Footer int_decimal{.type = PhysicalType::kInt64, .converted = kDecimal, .precision = 4, .scale = 2};
  EXPECT_EQ(forms(int_decimal, Int128{-150}), Forms{plain<int64_t>(-150)});
  const Footer fixed_decimal{
      .type = PhysicalType::kFixedLenByteArray, .type_length = 9, .converted = kDecimal, .precision = 19, .scale = 2};
  EXPECT_EQ(forms(fixed_decimal, Int128{-150}), Forms{std::string(7, '\xFF') + "\xFF\x6A"});
  EXPECT_EQ(forms({.converted = kInt8}, int64_t{-3}), Forms{plain<int32_t>(-3)});
  EXPECT_EQ(forms({.converted = kUint8}, uint64_t{200}), Forms{plain<int32_t>(200)});
  EXPECT_EQ(forms({.converted = kUint32}, uint64_t{4'000'000'000}), Forms{plain<uint32_t>(4'000'000'000)});
}

TEST(PlainForms, OfZeroAreBoth) {
  EXPECT_EQ(forms({.type = PhysicalType::kDouble}, -0.0), (Forms{plain(0.0), plain(-0.0)}));
  EXPECT_EQ(forms({.type = PhysicalType::kFloat}, 0.0), (Forms{plain(0.0F), plain(-0.0F)}));
}

TEST(PlainForms, OfWhatTheTypeCannotHoldAreNone) {
  EXPECT_EQ(forms({}, int64_t{1} << 40, primitive(TypeId::kInt64)), Forms{});
  EXPECT_EQ(forms({.type = PhysicalType::kFloat}, 0.1, primitive(TypeId::kDouble)), Forms{});
  EXPECT_EQ(forms({.type = PhysicalType::kFixedLenByteArray, .type_length = 3}, std::string("ab")), Forms{});
}

TEST(PlainForms, AreUnknownWhereSeveralValuesReadAlike) {
  EXPECT_EQ(forms({.type = PhysicalType::kByteArray, .converted = kDecimal, .precision = 4}, Int128{1}), std::nullopt)
      << "00 01 is 1 too";
  EXPECT_EQ(forms({.type = PhysicalType::kInt64, .converted = 10 /* TIMESTAMP_MICROS */}, int64_t{5},
                  timestamp(TimeUnit::kMilli, "UTC")),
            std::nullopt);
  EXPECT_EQ(forms({.type = PhysicalType::kBoolean}, true), std::nullopt);
  EXPECT_EQ(forms({.type = PhysicalType::kInt96}, int64_t{0}), std::nullopt);
}

// reports.md P36
TEST(PlainForms, OfBinaryAreItsBytes) {
  const std::string value("\xFF\x00", 2);
  EXPECT_EQ(forms({.type = PhysicalType::kByteArray}, value), Forms{value});
}

}  // namespace
}  // namespace frazil::parquet
