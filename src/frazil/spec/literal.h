// Single values with their type: partition values, bounds, defaults, constants of expressions (spec, "Appendix D").
//
//   type                          holds                binary                        JSON
//   boolean                       bool                 00 | 01                       true
//   int, date                     int32_t              4 bytes little-endian         1, "2017-11-16"
//   long, time, timestamps        int64_t              8 bytes little-endian         1, "22:31:08.123456", ...
//   float, double                 float, double        4, 8 bytes little-endian      1.0
//   decimal(P, S)                 Int128, unscaled     shortest big-endian           "14.20", "2E+20"
//   string                        std::string          UTF-8                         "iceberg"
//   uuid                          Uuid                 16 bytes big-endian           "f79c3e09-..."
//   fixed, binary                 std::string          as they are                   "000102ff"
//   geometry, geography           std::string          WKB; bounds: see GeoBound     WKT
//   variant                       std::string          metadata and value            -
//   struct                        vector<Literal>      -                             {"1": 1, "2": "bar"}  by field id
//   list                          vector<Literal>      -                             [1, 2, 3]
//   map                           LiteralMap           -                             {"keys": [...], "values": [...]}
//   any                           null: monostate      -                             null
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frazil/base/int128.h"
#include "frazil/base/uuid.h"
#include "frazil/json/value.h"
#include "frazil/spec/type.h"

namespace frazil::spec {

// A corner of the box around a file's geometries; not WKB (spec, "Bound Serialization").
//   bound := x y | x y z | x y z m      doubles, little-endian; z is NaN where only m is set
struct GeoBound {
  double x = 0;
  double y = 0;
  std::optional<double> z;
  std::optional<double> m;
  bool operator==(const GeoBound&) const = default;
};

struct LiteralMap {
  std::vector<Literal> keys;
  std::vector<Literal> values;  // as many as keys
};

class Literal {
 public:
  using Value = std::variant<std::monostate, bool, int32_t, int64_t, float, double, Int128, Uuid, std::string, GeoBound,
                             std::vector<Literal>, LiteralMap>;

  // The null of type `unknown`.
  Literal();
  // Throws Error(kInvalidArgument) if the type does not hold such a value. A struct has one value a field.
  Literal(TypePtr type, Value value);
  static Literal null(TypePtr type) { return Literal(std::move(type), Value()); }

  static Literal boolean(bool value);
  static Literal int_(int32_t value);
  static Literal long_(int64_t value);
  static Literal float_(float value);
  static Literal double_(double value);
  static Literal string(std::string value);
  static Literal binary(std::string value);
  static Literal date(int32_t days);
  static Literal uuid(const Uuid& value);

  const TypePtr& type() const { return type_; }
  const Value& value() const { return value_; }
  bool is_null() const { return value_.index() == 0; }
  // Requires that kind of value.
  template <typename T>
  const T& as() const {
    return std::get<T>(value_);
  }
  // int, long, date, time and timestamps, widened. Requires one of them.
  int64_t as_integer() const;
  bool is_nan() const;

  // Same type, same value: null = null, NaN = NaN, -0.0 = 0.0.
  bool operator==(const Literal& other) const;

 private:
  TypePtr type_;
  Value value_;
};

// The order of filters and bounds between values of one primitive type: NaN equals NaN and is greater than everything,
// -0.0 = 0.0, strings, bytes and uuids compare as unsigned bytes. Requires non-null values that hold the same kind of
// value, not nested ones, not geo bounds.
std::strong_ordering compare(const Literal& left, const Literal& right);

// ---- Binary ----

// Throws CorruptError unless the bytes are a value of the type; Error(kUnsupported) for nested types, variant, unknown.
Literal literal_from_bytes(const TypePtr& type, std::span<const std::byte> bytes);
// Throws Error(kUnsupported) where there is no binary form. Requires a value that is not null.
std::string literal_to_bytes(const Literal& literal);

// A lower or upper bound of a manifest: as above, but what was written before a promotion is read by its length (long
// of 4 bytes, double of 4, timestamp and timestamp_ns of 4 bytes in days), fixed may be cut short, geometry and
// geography give a GeoBound, variant its bytes. A NaN bound, and a corner with a NaN x or y, count as absent: nothing.
// Throws CorruptError for every other width.
std::optional<Literal> bound_from_bytes(const TypePtr& type, std::span<const std::byte> bytes);
std::string bound_to_bytes(const Literal& literal);
GeoBound geo_bound_from_bytes(std::span<const std::byte> bytes);
std::string geo_bound_to_bytes(const GeoBound& bound);

// ---- Text ----

// Throws CorruptError with the rule that is broken. Struct values may leave out optional fields and fields with an
// initial default.
Literal literal_from_json(const TypePtr& type, const json::Value& value);
// Throws Error(kUnsupported) for variants and geo bounds.
json::Value literal_to_json(const Literal& literal);

// As listings print values: "2017-11-16", "2017-11-16T22:31:08.123456+00:00", base64 for bytes, "null".
std::string to_human_string(const Literal& literal);

// The value of a text in the type's JSON form, as users type it on a command line: "2017-11-16", "14.20", "true".
// Timestamps may have any zone where the type has one. Throws Error(kInvalidArgument).
Literal parse_literal(const TypePtr& type, std::string_view text);

}  // namespace frazil::spec
