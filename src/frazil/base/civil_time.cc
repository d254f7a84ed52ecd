#include "frazil/base/civil_time.h"

#include <cstring>

#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/int128.h"

namespace frazil {

namespace {

// The calendar repeats every 400 years. Years are counted from March 1, so that the leap day is the last of its year,
// and from 0000-03-01, 719468 days before 1970-01-01.
constexpr int64_t kDaysPerEra = 146'097;
constexpr int64_t kDaysFromYearZero = 719'468;

// The longest text, of a timestamp in seconds: sign 1, year 12, month and day 6, separator 1, time 8, fraction 10.
constexpr size_t kTextMax = 48;
constexpr int kYearDigitsMax = 12;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kOffsetSecondsMax = 18 * 3600;

// ---- Reading ----

// Reads along a text; the first fault stays, and all that follows fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : begin_(text.data()), cursor_(begin_), end_(begin_ + text.size()) {}

  const char* fault() const { return fault_; }
  size_t position() const { return static_cast<size_t>(cursor_ - begin_); }
  bool at_end() const { return cursor_ == end_; }
  char peek() const { return cursor_ == end_ ? '\0' : *cursor_; }

  bool fail(const char* fault) {
    if (fault_ == nullptr) fault_ = fault;
    return false;
  }

  bool accept(char c) {
    if (cursor_ == end_ || *cursor_ != c) return false;
    ++cursor_;
    return true;
  }

  bool expect(char c, const char* fault) { return accept(c) || fail(fault); }

  // Two digits, 0..max.
  bool two_digits(int32_t max, int32_t& value, const char* fault) {
    if (end_ - cursor_ < 2 || !is_digit(cursor_[0]) || !is_digit(cursor_[1])) return fail(fault);
    value = (cursor_[0] - '0') * 10 + (cursor_[1] - '0');
    if (value > max) return fail(fault);
    cursor_ += 2;
    return true;
  }

  // As many digits as there are; how many. `value` is right for up to 18.
  int digits(int64_t& value) {
    const char* start = cursor_;
    uint64_t sum = 0;
    for (; cursor_ != end_ && is_digit(*cursor_); ++cursor_) sum = sum * 10 + static_cast<uint64_t>(*cursor_ - '0');
    value = static_cast<int64_t>(sum & INT64_MAX);
    return static_cast<int>(cursor_ - start < 1000 ? cursor_ - start : 1000);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

 private:
  const char* begin_;
  const char* cursor_;
  const char* end_;
  const char* fault_ = nullptr;
};

bool scan_date(Scanner& scanner, int64_t& days) {
  const bool minus = scanner.accept('-');
  const bool plus = !minus && scanner.accept('+');
  int64_t year = 0;
  const int digits = scanner.digits(year);
  if (digits < 4) return scanner.fail("the year needs four digits");
  if (digits > kYearDigitsMax) return scanner.fail("the year is out of range");
  if (digits > 4 && !plus && !minus) return scanner.fail("a year of more than four digits needs a sign");
  if (digits == 4 && plus) return scanner.fail("a year of four digits has no '+'");
  if (minus && year == 0) return scanner.fail("there is no year -0");
  if (minus) year = -year;

  int32_t month = 0;
  int32_t day = 0;
  if (!scanner.expect('-', "expected '-' and the month")) return false;
  if (!scanner.two_digits(12, month, "expected a month 01..12")) return false;
  if (month == 0) return scanner.fail("expected a month 01..12");
  if (!scanner.expect('-', "expected '-' and the day")) return false;
  if (!scanner.two_digits(31, day, "expected a day 01..31")) return false;
  if (day == 0) return scanner.fail("expected a day 01..31");
  if (day > days_in_month(year, month)) return scanner.fail("the month has no such day");
  days = days_from_civil(year, month, day);
  return true;
}

// The time of day in nanoseconds.
bool scan_time(Scanner& scanner, int64_t& nanos) {
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  if (!scanner.two_digits(23, hour, "expected an hour 00..23")) return false;
  if (!scanner.expect(':', "expected ':' and the minute")) return false;
  if (!scanner.two_digits(59, minute, "expected a minute 00..59")) return false;
  int64_t fraction = 0;
  if (scanner.accept(':')) {
    if (!scanner.two_digits(59, second, "expected a second 00..59")) return false;
    if (scanner.accept('.')) {
      int digits = scanner.digits(fraction);
      if (digits < 1 || digits > 9) return scanner.fail("expected 1 to 9 digits of a second");
      for (; digits < 9; ++digits) fraction *= 10;
    }
  }
  nanos = (hour * 3600 + minute * 60 + second) * kNanosPerSecond + fraction;
  return true;
}

// Seconds east of Greenwich.
bool scan_zone(Scanner& scanner, int64_t& offset_seconds) {
  offset_seconds = 0;
  if (scanner.accept('Z') || scanner.accept('z')) return true;
  const bool west = scanner.accept('-');
  if (!west && !scanner.accept('+')) return scanner.fail("expected a zone: Z or an offset like +01:00");
  int32_t hours = 0;
  int32_t minutes = 0;
  int32_t seconds = 0;
  if (!scanner.two_digits(18, hours, "expected an offset's hours 00..18")) return false;
  // "+01", "+0100", "+01:00", "+010000", "+01:00:00"
  const bool colons = scanner.accept(':');
  if (colons || !scanner.at_end()) {
    if (!scanner.two_digits(59, minutes, "expected an offset's minutes 00..59")) return false;
    if (colons ? scanner.accept(':') : !scanner.at_end()) {
      if (!scanner.two_digits(59, seconds, "expected an offset's seconds 00..59")) return false;
    }
  }
  offset_seconds = hours * 3600 + minutes * 60 + seconds;
  if (offset_seconds > kOffsetSecondsMax) return scanner.fail("the offset is beyond 18 hours");
  if (west) offset_seconds = -offset_seconds;
  return true;
}

bool scan_end(Scanner& scanner) {
  return scanner.at_end() || scanner.fail("unexpected character");
}

bool nanos_to_units(Scanner& scanner, int64_t nanos, TimeUnit unit, int64_t& units) {
  const int64_t nanos_per_unit = kNanosPerSecond / units_per_second(unit);
  if (nanos % nanos_per_unit != 0) return scanner.fail("more digits of a second than the type has");
  units = nanos / nanos_per_unit;
  return true;
}

bool scan_date_text(Scanner& scanner, int32_t& result) {
  int64_t days = 0;
  if (!scan_date(scanner, days) || !scan_end(scanner)) return false;
  if (days < INT32_MIN || days > INT32_MAX) return scanner.fail("the date is out of range");
  result = static_cast<int32_t>(days);
  return true;
}

bool scan_time_text(Scanner& scanner, TimeUnit unit, int64_t& result) {
  int64_t nanos = 0;
  return scan_time(scanner, nanos) && scan_end(scanner) && nanos_to_units(scanner, nanos, unit, result);
}

bool scan_timestamp_text(Scanner& scanner, TimeUnit unit, ZoneRule rule, int64_t& result) {
  int64_t days = 0;
  int64_t nanos = 0;
  int64_t offset_seconds = 0;
  if (!scan_date(scanner, days)) return false;
  if (!scanner.accept('T') && !scanner.accept('t') && !scanner.accept(' ')) {
    return scanner.fail("expected 'T' and the time");
  }
  if (!scan_time(scanner, nanos)) return false;
  if (scanner.at_end()) {
    if (rule == ZoneRule::kRequired || rule == ZoneRule::kUtcOnly) return scanner.fail("a zone is missing");
  } else {
    const char next = scanner.peek();
    const bool zone_follows = next == 'Z' || next == 'z' || next == '+' || next == '-';
    if (zone_follows && rule == ZoneRule::kForbidden) return scanner.fail("a local timestamp has no zone");
    if (!zone_follows) return scanner.fail("unexpected character");
    if (!scan_zone(scanner, offset_seconds) || !scan_end(scanner)) return false;
    if (rule == ZoneRule::kUtcOnly && offset_seconds != 0) return scanner.fail("the zone must be UTC");
  }
  int64_t units = 0;
  if (!nanos_to_units(scanner, nanos, unit, units)) return false;
  const Int128 seconds = static_cast<Int128>(days) * kSecondsPerDay - offset_seconds;
  const Int128 value = seconds * units_per_second(unit) + units;
  if (value < INT64_MIN || value > INT64_MAX) return scanner.fail("the timestamp is out of range");
  result = static_cast<int64_t>(value);
  return true;
}

[[noreturn]] void throw_fault(const char* kind, std::string_view text, const Scanner& scanner) {
  throw_error(ErrorKind::kInvalidArgument, "not a {}: '{}' ({}, at character {})", kind, excerpt(text), scanner.fault(),
              scanner.position() + 1);
}

// ---- Writing ----

char* write_two_digits(char* cursor, int32_t value) {
  cursor[0] = static_cast<char>('0' + value / 10);
  cursor[1] = static_cast<char>('0' + value % 10);
  return cursor + 2;
}

char* write_date(char* cursor, int64_t days) {
  const CivilDate date = civil_from_days(days);
  if (date.year < 0) *cursor++ = '-';
  if (date.year > 9999) *cursor++ = '+';
  char digits[20];
  int count = 0;
  for (auto rest = static_cast<uint64_t>(date.year < 0 ? -date.year : date.year); rest != 0 || count < 4; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count > 0) *cursor++ = digits[--count];
  *cursor++ = '-';
  cursor = write_two_digits(cursor, date.month);
  *cursor++ = '-';
  return write_two_digits(cursor, date.day);
}

char* write_time(char* cursor, int64_t units, TimeUnit unit, int wanted_digits) {
  const int64_t per_second = units_per_second(unit);
  const auto seconds = static_cast<int32_t>(units / per_second);
  auto fraction = static_cast<uint32_t>(units % per_second * (kNanosPerSecond / per_second));
  cursor = write_two_digits(cursor, seconds / 3600);
  *cursor++ = ':';
  cursor = write_two_digits(cursor, seconds / 60 % 60);
  *cursor++ = ':';
  cursor = write_two_digits(cursor, seconds % 60);
  char digits[9];
  for (int i = 8; i >= 0; --i, fraction /= 10) digits[i] = static_cast<char>('0' + fraction % 10);
  int count = wanted_digits;
  if (wanted_digits < 0) {
    for (count = 9; count > 0 && digits[count - 1] == '0';) --count;
  } else if (wanted_digits > 9) {
    count = 9;
  }
  if (count == 0) return cursor;
  *cursor++ = '.';
  std::memcpy(cursor, digits, static_cast<size_t>(count));
  return cursor + count;
}

}  // namespace

// ---- Calendar ----

CivilDate civil_from_days(int64_t days) noexcept {
  const int64_t shifted = days + kDaysFromYearZero;
  const int64_t era = floor_divide(shifted, kDaysPerEra);
  const int64_t day_of_era = shifted - era * kDaysPerEra;  // 0..146096
  // Take the leap days out: one each 4 years (1460 days before it), none each 100, one at the end of the era.
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);  // from March 1
  const int64_t month_index = (5 * day_of_year + 2) / 153;                                             // March = 0
  const auto day = static_cast<int32_t>(day_of_year - (153 * month_index + 2) / 5 + 1);
  const auto month = static_cast<int32_t>(month_index < 10 ? month_index + 3 : month_index - 9);
  return {era * 400 + year_of_era + (month <= 2), month, day};
}

int64_t days_from_civil(int64_t year, int32_t month, int32_t day) noexcept {
  const int64_t shifted_year = year - (month <= 2);
  const int64_t era = floor_divide(shifted_year, 400);
  const int64_t year_of_era = shifted_year - era * 400;
  const int64_t month_index = month > 2 ? month - 3 : month + 9;
  const int64_t day_of_year = (153 * month_index + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kDaysFromYearZero;
}

bool is_leap_year(int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t days_in_month(int64_t year, int32_t month) noexcept {
  if (month == 2) return is_leap_year(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

int32_t iso_weekday(int64_t days) noexcept {
  return static_cast<int32_t>(floor_modulo(days + 3, 7)) + 1;  // 1970-01-01 was a Thursday
}

DayTime split_timestamp(int64_t timestamp, TimeUnit unit) noexcept {
  const int64_t per_day = units_per_day(unit);
  const int64_t days = floor_divide(timestamp, per_day);
  // Not timestamp - days * per_day, which overflows on the first, incomplete day of the range.
  return {days, floor_modulo(timestamp, per_day)};
}

std::optional<int64_t> convert_timestamp(int64_t timestamp, TimeUnit from, TimeUnit to) noexcept {
  const int64_t from_units = units_per_second(from);
  const int64_t to_units = units_per_second(to);
  if (to_units <= from_units) return floor_divide(timestamp, from_units / to_units);
  int64_t result;
  if (__builtin_mul_overflow(timestamp, to_units / from_units, &result)) return std::nullopt;
  return result;
}

// ---- Text to value ----

std::optional<int32_t> try_parse_date(std::string_view text) noexcept {
  Scanner scanner(text);
  int32_t days;
  if (!scan_date_text(scanner, days)) return std::nullopt;
  return days;
}

int32_t parse_date(std::string_view text) {
  Scanner scanner(text);
  int32_t days;
  if (!scan_date_text(scanner, days)) throw_fault("date", text, scanner);
  return days;
}

std::optional<int64_t> try_parse_time(std::string_view text, TimeUnit unit) noexcept {
  Scanner scanner(text);
  int64_t time;
  if (!scan_time_text(scanner, unit, time)) return std::nullopt;
  return time;
}

int64_t parse_time(std::string_view text, TimeUnit unit) {
  Scanner scanner(text);
  int64_t time;
  if (!scan_time_text(scanner, unit, time)) throw_fault("time", text, scanner);
  return time;
}

std::optional<int64_t> try_parse_timestamp(std::string_view text, TimeUnit unit, ZoneRule zone) noexcept {
  Scanner scanner(text);
  int64_t timestamp;
  if (!scan_timestamp_text(scanner, unit, zone, timestamp)) return std::nullopt;
  return timestamp;
}

int64_t parse_timestamp(std::string_view text, TimeUnit unit, ZoneRule zone) {
  Scanner scanner(text);
  int64_t timestamp;
  if (!scan_timestamp_text(scanner, unit, zone, timestamp)) throw_fault("timestamp", text, scanner);
  return timestamp;
}

// ---- Value to text ----

void append_date(std::string& target, int64_t days) {
  char text[kTextMax];
  target.append(text, write_date(text, days));
}

void append_time(std::string& target, int64_t time, TimeUnit unit, const TimeTextOptions& options) {
  if (time < 0 || time >= units_per_day(unit)) {
    target += std::to_string(time);
    return;
  }
  char text[kTextMax];
  target.append(text, write_time(text, time, unit, options.fraction_digits));
}

void append_timestamp(std::string& target, int64_t timestamp, TimeUnit unit, const TimeTextOptions& options) {
  const DayTime parts = split_timestamp(timestamp, unit);
  char text[kTextMax];
  char* cursor = write_date(text, parts.days);
  *cursor++ = options.separator;
  cursor = write_time(cursor, parts.units, unit, options.fraction_digits);
  target.append(text, cursor);
  target += options.zone;
}

std::string date_to_string(int64_t days) {
  std::string text;
  append_date(text, days);
  return text;
}

std::string time_to_string(int64_t time, TimeUnit unit, const TimeTextOptions& options) {
  std::string text;
  append_time(text, time, unit, options);
  return text;
}

std::string timestamp_to_string(int64_t timestamp, TimeUnit unit, const TimeTextOptions& options) {
  std::string text;
  append_timestamp(text, timestamp, unit, options);
  return text;
}

}  // namespace frazil
