// Dates, times of day and timestamps in the proleptic Gregorian calendar, as integers and as ISO 8601 text.
//
//   date       days since 1970-01-01                    1969-12-31 = -1
//   time       units since midnight                     00:00:00.000001 = 1 us
//   timestamp  units since 1970-01-01T00:00:00          with a zone: in UTC
//
//   date-text      := year '-' MM '-' DD
//   year           := 0000..9999 | '-' 4..12 digits | '+' 5..12 digits     // -0001 is 2 BC; there is no "-0000"
//   time-text      := hh ':' mm [':' ss ['.' 1..9 digits]]                 // 00:00..23:59:59, no leap seconds
//   timestamp-text := date-text ('T' | 't' | ' ') time-text [zone]
//   zone           := 'Z' | 'z' | ('+' | '-') hh [':'] [mm [[':'] ss]]     // to 18:00, as Java has it
//
// All 32-bit days (years -5877641..+5881580) and all 64-bit timestamps of every unit can be printed and read back.
// Functions that parse return nothing (try_) or throw Error(kInvalidArgument) that says what is wrong and where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/time_unit.h"

namespace frazil {

// ---- Calendar ----

struct CivilDate {
  int64_t year = 1970;
  int32_t month = 1;  // 1..12
  int32_t day = 1;    // 1..31
  friend bool operator==(const CivilDate&, const CivilDate&) = default;
};

// Requires |days| < 2^48, |year| < 2^40, month and day in range. A few nanoseconds, no tables, hardly a branch.
CivilDate civil_from_days(int64_t days) noexcept;
int64_t days_from_civil(int64_t year, int32_t month, int32_t day) noexcept;

bool is_leap_year(int64_t year) noexcept;
int32_t days_in_month(int64_t year, int32_t month) noexcept;
// Monday = 1 .. Sunday = 7, as ISO 8601 counts.
int32_t iso_weekday(int64_t days) noexcept;

// A timestamp as days and units since that day's midnight, 0..units_per_day-1: floor division, also before 1970.
struct DayTime {
  int64_t days;
  int64_t units;
};
DayTime split_timestamp(int64_t timestamp, TimeUnit unit) noexcept;

// The same instant in another unit: down by floor division; up nothing if it does not fit 64 bits.
std::optional<int64_t> convert_timestamp(int64_t timestamp, TimeUnit from, TimeUnit to) noexcept;

// ---- Text to value ----

// What a timestamp's text may say about its zone.
enum class ZoneRule : uint8_t {
  kForbidden,  // a local timestamp
  kRequired,   // any zone; the value is converted to UTC
  kUtcOnly,    // Z or +00:00, as Iceberg's JSON single values demand
  kOptional,   // any zone or none, which is taken as UTC
};

std::optional<int32_t> try_parse_date(std::string_view text) noexcept;
int32_t parse_date(std::string_view text);

// Digits beyond the unit must be 0: "00:00:00.0000001" has no value in microseconds.
std::optional<int64_t> try_parse_time(std::string_view text, TimeUnit unit) noexcept;
int64_t parse_time(std::string_view text, TimeUnit unit);

std::optional<int64_t> try_parse_timestamp(std::string_view text, TimeUnit unit, ZoneRule zone) noexcept;
int64_t parse_timestamp(std::string_view text, TimeUnit unit, ZoneRule zone);

// ---- Value to text ----

inline constexpr int kFractionAsNeeded = -1;

struct TimeTextOptions {
  // Digits behind the second: a fixed number 0..9 (further digits are cut off), or as many as the value needs, none
  // for whole seconds (Iceberg's JSON, Java's ISO_LOCAL_DATE_TIME).
  int fraction_digits = kFractionAsNeeded;
  char separator = 'T';        // between date and time
  std::string_view zone = {};  // appended to timestamps: "", "Z", "+00:00"
};

std::string date_to_string(int64_t days);
// Requires 0 <= time < a day; anything else is printed as a number of units, to show what is there.
std::string time_to_string(int64_t time, TimeUnit unit, const TimeTextOptions& options = {});
std::string timestamp_to_string(int64_t timestamp, TimeUnit unit, const TimeTextOptions& options = {});

// The same at the end of `target`, for writers of many values.
void append_date(std::string& target, int64_t days);
void append_time(std::string& target, int64_t time, TimeUnit unit, const TimeTextOptions& options = {});
void append_timestamp(std::string& target, int64_t timestamp, TimeUnit unit, const TimeTextOptions& options = {});

}  // namespace frazil
