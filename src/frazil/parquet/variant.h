// Variant: a value that describes itself, in two byte strings (format/VariantEncoding.md).
//
//   metadata   := header dictionary_size offset{dictionary_size + 1} bytes        // the names of all fields, each once
//   header     := version:4 = 1 | sorted_strings:1 | reserved:1 | offset_size - 1 :2
//   value      := type:2 header:6 data
//   type 0     := primitive; header is its number, 0 null .. 20 uuid
//   type 1     := short string; header is its length
//   type 2     := object; header is offset_size - 1 :2 | id_size - 1 :2 | is_large:1
//                 count:(1|4) id{count} offset{count + 1} value{count}             // ids in the order of their names
//   type 3     := array; header is offset_size - 1 :2 | is_large:1
//                 count:(1|4) offset{count + 1} value{count}
//
// A nested value is read without looking at the ones before it. Nothing is trusted: what is asked for is checked
// against the bytes that are there, and whoever walks a whole value visits no more bytes than it has, however its
// offsets overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/decimal.h"

namespace frazil::parquet {

// Deeper values are refused by all that walks them whole.
inline constexpr int kMaxVariantDepth = 500;

// All throw CorruptError with an offset in the metadata or in the value for bytes that break the rules.
class VariantMetadata {
 public:
  // Borrows `bytes`, which may go on behind the metadata. Checks the sizes, not the names: O(1).
  explicit VariantMetadata(std::string_view bytes);

  uint32_t name_count() const { return name_count_; }
  bool is_sorted() const { return is_sorted_; }
  // Its own bytes.
  size_t byte_size() const { return byte_size_; }
  // Throws for an id that does not exist.
  std::string_view name(uint32_t id) const;
  // The first id of the name: by halves if sorted, else O(name_count).
  std::optional<uint32_t> find(std::string_view name) const;

 private:
  uint64_t offset(uint64_t index) const;

  std::string_view bytes_;
  uint32_t name_count_ = 0;
  uint32_t offset_size_ = 1;
  bool is_sorted_ = false;
  size_t names_at_ = 0;  // where the names' bytes begin
  size_t byte_size_ = 0;
};

enum class VariantType : uint8_t {
  kNull,
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kDouble,
  kDecimal4,
  kDecimal8,
  kDecimal16,
  kDate,          // days
  kTimestamp,     // microseconds, UTC
  kTimestampNtz,  // microseconds, local
  kFloat,
  kBinary,
  kString,             // short and long
  kTimeNtz,            // microseconds
  kTimestampNanos,     // UTC
  kTimestampNtzNanos,  // local
  kUuid,
  kObject,
  kArray,
};
// "int8", "timestamp_ntz_nanos", ...
std::string_view to_string(VariantType type);

// One value, or one inside of another. A view: metadata and bytes outlive it.
class Variant {
 public:
  // Reads the header and checks that the value's own bytes are there; `bytes` may go on behind it. O(1). A type number
  // that is not known is Error(kUnsupported).
  Variant(const VariantMetadata& metadata, std::string_view bytes);

  VariantType type() const { return type_; }
  // The value with all inside of it.
  std::string_view bytes() const { return bytes_.substr(0, byte_size_); }
  // What is not of values inside of it: the header with counts, ids and offsets; all of a primitive.
  size_t own_size() const { return is_container() ? values_at_ : byte_size_; }
  const VariantMetadata& metadata() const { return *metadata_; }

  // Each requires the type that it names.
  bool as_bool() const { return (header() >> 2) == 1; }
  int64_t as_int64() const;       // integers, date, time, timestamps
  double as_double() const;       // double
  float as_float() const;         // float
  Decimal128 as_decimal() const;  // decimals and integers. Throws for a scale beyond 38.
  std::string_view as_bytes() const { return bytes_.substr(data_at_, byte_size_ - data_at_); }  // string, binary, uuid

  // Objects and arrays.
  bool is_container() const { return type_ == VariantType::kObject || type_ == VariantType::kArray; }
  uint32_t element_count() const { return count_; }
  Variant element(uint32_t index) const;    // index < element_count()
  uint32_t field_id(uint32_t index) const;  // objects
  std::string_view field_name(uint32_t index) const;
  // Objects: by halves, relying on the order of the names.
  std::optional<Variant> find(std::string_view name) const;

 private:
  uint8_t header() const { return static_cast<uint8_t>(bytes_.front()); }
  uint64_t read(size_t at, uint32_t size) const;
  void open_primitive(uint8_t number);
  void open_container(uint8_t header);

  const VariantMetadata* metadata_;
  std::string_view bytes_;
  VariantType type_ = VariantType::kNull;
  uint8_t id_size_ = 0;
  uint8_t offset_size_ = 1;
  uint32_t count_ = 0;
  size_t data_at_ = 1;    // primitives: the data; containers: ids, or offsets where there are none
  size_t values_at_ = 0;  // containers: the first value
  size_t byte_size_ = 1;
};

// All that the constructors do not look at: offsets and names of every value inside, the order of names, UTF-8, scales.
// O(bytes). Throws CorruptError, Error(kUnsupported) beyond kMaxVariantDepth.
void validate_variant(const Variant& value);

// JSON text, for people: dates, times, timestamps (with "+00:00" where UTC), UUIDs, binary (base64), NaN and infinities
// as strings; fields in the order of their names. Throws as validate_variant(), Error(kUnsupported) for text that is
// longer than `bytes_max` (names are written once in the metadata and many times in a text).
inline constexpr size_t kVariantTextBytesMax = size_t{64} << 20;
void append_variant_json(std::string& out, const Variant& value, size_t bytes_max = kVariantTextBytesMax);

// Equality of what values mean, whatever their encodings ("Equivalence Class"): integers and decimals by number,
// timestamps of either unit by instant, short and long strings, objects by names and values, arrays by elements. Float
// is not double, UTC is not local. Floating point by its bits, but all NaN are one. Throws as validate_variant().
bool variants_equal(const Variant& left, const Variant& right);

}  // namespace frazil::parquet
