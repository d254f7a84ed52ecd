// Partition and sort transforms (spec, "Partition Transforms", hash: "Appendix B").
//
//   transform := "identity" | "bucket[" N "]" | "truncate[" W "]" | "year" | "month" | "day" | "hour" | "void" | any text
//
// A text that is none of these is an unknown transform: it is kept as it stands, can be read past, never written with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/spec/literal.h"
#include "frazil/spec/type.h"

namespace frazil::spec {

enum class TransformKind : uint8_t {
  kIdentity,
  kBucket,
  kTruncate,
  kYear,
  kMonth,
  kDay,
  kHour,
  kVoid,
  kUnknown,
};

class Transform {
 public:
  // Identity.
  Transform() = default;
  static Transform identity() { return {}; }
  static Transform bucket(int32_t count);    // throws Error(kInvalidArgument) unless count > 0
  static Transform truncate(int32_t width);  // throws Error(kInvalidArgument) unless width > 0
  static Transform year() { return Transform(TransformKind::kYear); }
  static Transform month() { return Transform(TransformKind::kMonth); }
  static Transform day() { return Transform(TransformKind::kDay); }
  static Transform hour() { return Transform(TransformKind::kHour); }
  static Transform always_null() { return Transform(TransformKind::kVoid); }
  // Any text gives a transform; throws CorruptError for bucket[0], truncate[-1] and the like.
  static Transform parse(std::string_view text);

  TransformKind kind() const { return kind_; }
  // N of bucket[N], W of truncate[W], 0 of others.
  int32_t parameter() const { return parameter_; }
  bool is_void() const { return kind_ == TransformKind::kVoid; }
  bool is_unknown() const { return kind_ == TransformKind::kUnknown; }
  // Larger sources never give smaller results.
  bool preserves_order() const;
  std::string to_string() const;
  bool operator==(const Transform& other) const = default;

  // Whether the spec allows the transform on the type. True for unknown transforms.
  bool can_transform(const Type& source) const;
  // The type of partition values. Day gives date, as Iceberg Java has it (the spec: int; both are stored alike).
  // Unknown transforms, and a source type of a dropped column (nullptr), give `unknown`: the manifest's Avro schema
  // knows.
  TypePtr result_type(const TypePtr& source) const;

  // The transformed value; null gives null, void gives null. Throws Error(kInvalidArgument) if the type does not fit or
  // the result is out of range (hour of year 250000), Error(kUnsupported) for unknown transforms.
  Literal apply(const Literal& value) const;
  // The same, nothing where apply throws: what cannot be transformed must not prune.
  std::optional<Literal> try_apply(const Literal& value) const;

  // How partition paths and listings print a transformed value, before URL encoding, which is how Iceberg Java does:
  // "2017-12", "2017-12-01-10", "22:31" or "22:31:08.120" for times, "null", base64 for bytes.
  std::string human_string(const Literal& transformed) const;

 private:
  explicit Transform(TransformKind kind, int32_t parameter = 0) : kind_(kind), parameter_(parameter) {}
  TransformKind kind_ = TransformKind::kIdentity;
  int32_t parameter_ = 0;
  std::string unknown_text_;
};

// The kernels, a value each, for columns too.
namespace kernel {

// Appendix B: the hash of int, long, date, time and timestamps (in microseconds) is that of the 8-byte integer.
int32_t hash_integer(int64_t value) noexcept;
int32_t hash_bytes(std::span<const std::byte> bytes) noexcept;  // string, binary, fixed, uuid
int32_t hash_decimal(Int128 unscaled) noexcept;                 // its minimal two's complement, big-endian
int32_t hash_double(double value) noexcept;                     // not for bucketing
constexpr int32_t bucket_of(int32_t hash, int32_t count) noexcept {
  return (hash & INT32_MAX) % count;
}

// The largest multiple of width <= value; nothing if it does not fit.
std::optional<int32_t> truncate_int(int32_t value, int32_t width) noexcept;
std::optional<int64_t> truncate_long(int64_t value, int32_t width) noexcept;
std::optional<Int128> truncate_decimal(Int128 unscaled, int32_t width) noexcept;
// The first `count` code points of valid UTF-8; a byte that starts no code point counts as one.
std::string_view truncate_text(std::string_view text, int32_t count) noexcept;

int32_t years_since_1970(int64_t days) noexcept;  // days of a civil date within int32
int32_t months_since_1970(int64_t days) noexcept;

}  // namespace kernel

}  // namespace frazil::spec
