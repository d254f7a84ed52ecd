#include "frazil/base/civil_time.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

constexpr int64_t kDateMin = INT32_MIN;
constexpr int64_t kDateMax = INT32_MAX;

// Any value, and often one of few digits.
template <typename T>
T any_value() {
  const T value = *rc::gen::arbitrary<T>();
  const auto extreme = *rc::gen::inRange(0, 10);
  if (extreme == 0) return std::numeric_limits<T>::min();
  if (extreme == 1) return std::numeric_limits<T>::max();
  const auto wide = static_cast<T>(static_cast<uint64_t>(*rc::gen::arbitrary<int64_t>()) * 0x9e3779b97f4a7c15);
  return extreme < 6 ? value : wide;
}

TEST(CivilTime, KnowsTheDaysThatNumpyKnows) {
  struct Row {
    const char* text;
    int64_t days;
  };
  for (auto [text, days] : {
           Row{"1970-01-01", 0},
           Row{"1969-12-31", -1},
           Row{"2017-11-16", 17486},  // Iceberg spec, Appendix B: 4e44
           Row{"1972-09-27", 1000},   // apache/iceberg TestConversions
           Row{"2000-02-29", 11016},
           Row{"1900-03-01", -25508},
           Row{"2024-02-29", 19782},
           Row{"1582-10-15", -141427},
           Row{"0000-02-29", -719469},
           Row{"0000-03-01", -719468},
           Row{"-0001-12-31", -719529},
           Row{"-9999-01-01", -4371587},
           Row{"9999-12-31", 2932896},
           Row{"+10000-01-01", 2932897},
           Row{"+250000-01-01", 90591097},
           Row{"+250000-12-31", 90591462},
           Row{"+5881580-07-11", kDateMax},
           Row{"-5877641-06-23", kDateMin},
       }) {
    EXPECT_EQ(date_to_string(days), text);
    EXPECT_EQ(try_parse_date(text), days) << text;
    EXPECT_EQ(parse_date(text), days) << text;
  }
}

TEST(CivilTime, WalksTheCalendarDayByDay) {
  // The oracle is the rule itself: one day more, one month more at its end, one year more at its end.
  CivilDate date{.year = -9999, .month = 1, .day = 1};
  const int64_t first = days_from_civil(-9999, 1, 1);
  int64_t days = first;
  int32_t weekday = iso_weekday(first);
  const auto check = [&] {
    ASSERT_EQ(civil_from_days(days), date) << days;
    ASSERT_EQ(days_from_civil(date.year, date.month, date.day), days);
    ASSERT_EQ(iso_weekday(days), weekday) << days;
  };
  for (; date.year <= 10'100; ++days) {
    check();
    if (HasFatalFailure()) return;
    weekday = weekday % 7 + 1;
    const bool leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    const int32_t last = date.month == 2                                                             ? (leap ? 29 : 28)
                         : date.month == 4 || date.month == 6 || date.month == 9 || date.month == 11 ? 30
                                                                                                     : 31;
    ASSERT_EQ(days_in_month(date.year, date.month), last);
    if (++date.day > last) {
      date.day = 1;
      if (++date.month > 12) {
        date.month = 1;
        ++date.year;
      }
    }
  }
  // From here on by years, to +250000.
  for (; date.year <= 250'000; ++date.year) {
    check();
    if (HasFatalFailure()) return;
    const int32_t length = is_leap_year(date.year) ? 366 : 365;
    ASSERT_EQ(civil_from_days(days + length - 1), (CivilDate{date.year, 12, 31}));
    days += length;
    weekday = (weekday - 1 + length) % 7 + 1;
  }
}

TEST(CivilTime, CountsWeekdaysFromMonday) {
  EXPECT_EQ(iso_weekday(0), 4);  // Thursday
  EXPECT_EQ(iso_weekday(-1), 3);
  EXPECT_EQ(iso_weekday(parse_date("2026-11-30")), 1);
}

TEST(CivilTime, SplitsTimestampsByFloorDivision) {
  struct Row {
    int64_t timestamp;
    int64_t days;
    int64_t units;
  };
  for (auto [timestamp, days, units] :
       {Row{0, 0, 0}, Row{-1, -1, 86'399'999'999}, Row{86'400'000'000, 1, 0}, Row{-86'400'000'000, -1, 0},
        Row{-86'400'000'001, -2, 86'399'999'999}, Row{INT64_MIN, -106'751'992, 71'945'224'192},
        Row{INT64_MAX, 106'751'991, 14'454'775'807}}) {
    const DayTime parts = split_timestamp(timestamp, TimeUnit::kMicro);
    EXPECT_EQ(parts.days, days) << timestamp;
    EXPECT_EQ(parts.units, units) << timestamp;
  }
}

TEST(CivilTime, ConvertsUnitsByFloorDivisionAndNoticesOverflow) {
  EXPECT_EQ(convert_timestamp(-1, TimeUnit::kNano, TimeUnit::kMicro), -1);
  EXPECT_EQ(convert_timestamp(-1000, TimeUnit::kNano, TimeUnit::kMicro), -1);
  EXPECT_EQ(convert_timestamp(-1001, TimeUnit::kNano, TimeUnit::kMicro), -2);
  EXPECT_EQ(convert_timestamp(1999, TimeUnit::kNano, TimeUnit::kMicro), 1);
  EXPECT_EQ(convert_timestamp(-1, TimeUnit::kSecond, TimeUnit::kNano), -1'000'000'000);
  EXPECT_EQ(convert_timestamp(INT64_MIN, TimeUnit::kMicro, TimeUnit::kMicro), INT64_MIN);
  EXPECT_EQ(convert_timestamp(INT64_MAX / 1000, TimeUnit::kMicro, TimeUnit::kNano), INT64_MAX / 1000 * 1000);
  EXPECT_EQ(convert_timestamp(INT64_MAX / 1000 + 1, TimeUnit::kMicro, TimeUnit::kNano), std::nullopt);
  EXPECT_EQ(convert_timestamp(INT64_MIN / 1000 - 1, TimeUnit::kMicro, TimeUnit::kNano), std::nullopt);
}

TEST(Date, RefusesWhatIsNotOneAndSaysWhereAndWhy) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  for (auto [text, message] : {
           Row{"", "not a date: '' (the year needs four digits, at character 1)"},
           Row{"17-11-16", "not a date: '17-11-16' (the year needs four digits, at character 3)"},
           Row{"10000-01-01",
               "not a date: '10000-01-01' (a year of more than four digits needs a sign, at character 6)"},
           Row{"+2017-01-01", "not a date: '+2017-01-01' (a year of four digits has no '+', at character 6)"},
           Row{"-0000-01-01", "not a date: '-0000-01-01' (there is no year -0, at character 6)"},
           Row{"2017-1-01", "not a date: '2017-1-01' (expected a month 01..12, at character 6)"},
           Row{"2017-13-01", "not a date: '2017-13-01' (expected a month 01..12, at character 6)"},
           Row{"2017-00-01", "not a date: '2017-00-01' (expected a month 01..12, at character 8)"},
           Row{"2017/01/01", "not a date: '2017/01/01' (expected '-' and the month, at character 5)"},
           Row{"2017-02-29", "not a date: '2017-02-29' (the month has no such day, at character 11)"},
           Row{"1900-02-29", "not a date: '1900-02-29' (the month has no such day, at character 11)"},
           Row{"2017-04-31", "not a date: '2017-04-31' (the month has no such day, at character 11)"},
           Row{"2017-01-32", "not a date: '2017-01-32' (expected a day 01..31, at character 9)"},
           Row{"2017-01-00", "not a date: '2017-01-00' (expected a day 01..31, at character 11)"},
           Row{"2017-01", "not a date: '2017-01' (expected '-' and the day, at character 8)"},
           Row{"2017-01-01 ", "not a date: '2017-01-01 ' (unexpected character, at character 11)"},
           Row{"2017-01-01T00:00", "not a date: '2017-01-01T00:00' (unexpected character, at character 11)"},
           Row{" 2017-01-01", "not a date: ' 2017-01-01' (the year needs four digits, at character 1)"},
           Row{"+5881580-07-12", "not a date: '+5881580-07-12' (the date is out of range, at character 15)"},
           Row{"-5877641-06-22", "not a date: '-5877641-06-22' (the date is out of range, at character 15)"},
           Row{"+9999999999999-01-01",
               "not a date: '+9999999999999-01-01' (the year is out of range, at character 15)"},
       }) {
    EXPECT_EQ(try_parse_date(text), std::nullopt) << text;
    try {
      parse_date(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_EQ(error.message(), message);
    }
  }
}

TEST(Time, ReadsAndPrintsEachUnit) {
  struct Row {
    std::string_view text;
    TimeUnit unit;
    int64_t value;
  };
  for (auto [text, unit, value] : {
           Row{"00:00:00", TimeUnit::kSecond, 0},
           Row{"23:59:59", TimeUnit::kSecond, 86'399},
           Row{"23:59:59.999", TimeUnit::kMilli, 86'399'999},
           Row{"22:31:08", TimeUnit::kMicro, 81'068'000'000},  // Iceberg spec, Appendix B: 008307e012
           Row{"22:31:08.123456", TimeUnit::kMicro, 81'068'123'456},
           Row{"00:00:00.01", TimeUnit::kMicro, 10'000},
           Row{"00:00:00.000000001", TimeUnit::kNano, 1},
           Row{"23:59:59.999999999", TimeUnit::kNano, 86'399'999'999'999},
       }) {
    EXPECT_EQ(try_parse_time(text, unit), value) << text;
    EXPECT_EQ(time_to_string(value, unit), text);
  }
  EXPECT_EQ(try_parse_time("10:15", TimeUnit::kMicro), 36'900'000'000);
  EXPECT_EQ(try_parse_time("10:15:30.000000000", TimeUnit::kSecond), 36'930);
}

TEST(Time, HasFractionsOfZeroToNineDigits) {
  const std::string digits = "123456789";
  int64_t expected = 0;
  for (size_t count = 1; count <= 9; ++count) {
    std::string text = "00:00:00." + digits.substr(0, count);
    expected = 0;
    for (size_t i = 0; i < 9; ++i) expected = expected * 10 + (i < count ? digits[i] - '0' : 0);
    EXPECT_EQ(try_parse_time(text, TimeUnit::kNano), expected) << text;
    EXPECT_EQ(time_to_string(expected, TimeUnit::kNano), text);
  }
  for (int count = 0; count <= 9; ++count) {
    const std::string fraction = count == 0 ? "" : "." + std::string("120000000").substr(0, static_cast<size_t>(count));
    EXPECT_EQ(time_to_string(120'000, TimeUnit::kMicro, {.fraction_digits = count}), "00:00:00" + fraction);
  }
  EXPECT_EQ(time_to_string(999'999, TimeUnit::kMicro, {.fraction_digits = 3}), "00:00:00.999");  // cut, not rounded
}

TEST(Time, RefusesWhatIsNotOne) {
  for (std::string_view text : {"", "1", "10", "10:", "10:1", "24:00:00", "23:60:00", "23:59:60", "10:15:", "10:15:3",
                                "10:15:30.", "10:15:30.1234567890", "10:15:30,5", "10:15:30Z", "10:15:30 ", " 10:15:30",
                                "-1:15:30", "1015", "10:15:30.-1"}) {
    EXPECT_EQ(try_parse_time(text, TimeUnit::kNano), std::nullopt) << text;
    EXPECT_THROW(parse_time(text, TimeUnit::kNano), Error) << text;
  }
  try {
    parse_time("00:00:00.0000001", TimeUnit::kMicro);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "not a time: '00:00:00.0000001' (more digits of a second than the type has, at character 17)");
  }
}

TEST(Time, PrintsDamagedValuesAsNumbers) {
  EXPECT_EQ(time_to_string(-1, TimeUnit::kMicro), "-1");
  EXPECT_EQ(time_to_string(86'400'000'000, TimeUnit::kMicro), "86400000000");
}

TEST(Timestamp, KnowsTheSpecsValues) {
  struct Row {
    std::string_view text;
    TimeUnit unit;
    int64_t value;
  };
  // Local ones: tests/corpora/iceberg-vectors.json (Iceberg spec, Appendix B; apache/iceberg TestConversions).
  for (auto [text, unit, value] : {
           Row{"2017-11-16T22:31:08", TimeUnit::kMicro, 1'510'871'468'000'000},
           Row{"2017-11-16T22:31:08.000001", TimeUnit::kMicro, 1'510'871'468'000'001},
           Row{"2017-11-16T22:31:08.000001001", TimeUnit::kNano, 1'510'871'468'000'001'001},
           Row{"1970-01-01T00:00:00.4", TimeUnit::kMicro, 400'000},
           Row{"1970-01-01T00:00:00.4", TimeUnit::kNano, 400'000'000},
           Row{"1969-12-31T23:59:59.999999", TimeUnit::kMicro, -1},
           Row{"1969-12-31T23:59:59", TimeUnit::kSecond, -1},
           // The ends of 64 bits, as numpy prints them.
           Row{"-290308-12-21T19:59:05.224192", TimeUnit::kMicro, INT64_MIN},
           Row{"+294247-01-10T04:00:54.775807", TimeUnit::kMicro, INT64_MAX},
           Row{"1677-09-21T00:12:43.145224192", TimeUnit::kNano, INT64_MIN},
           Row{"2262-04-11T23:47:16.854775807", TimeUnit::kNano, INT64_MAX},
           Row{"+292277026596-12-04T15:30:07", TimeUnit::kSecond, INT64_MAX},
           Row{"-292277022657-01-27T08:29:52", TimeUnit::kSecond, INT64_MIN},
       }) {
    EXPECT_EQ(try_parse_timestamp(text, unit, ZoneRule::kForbidden), value) << text;
    EXPECT_EQ(timestamp_to_string(value, unit), text);
  }
}

TEST(Timestamp, ConvertsAnyZoneToUtc) {
  struct Row {
    std::string_view text;
    int64_t seconds;
  };
  for (auto [text, seconds] : {
           Row{"2017-11-16T14:31:08-08:00", 1'510'871'468},  // Iceberg spec, Appendix B
           Row{"2017-11-16T22:31:08Z", 1'510'871'468},
           Row{"2017-11-16t22:31:08z", 1'510'871'468},
           Row{"2017-11-16 22:31:08+00:00", 1'510'871'468},
           Row{"2017-11-17T04:01:08+05:30", 1'510'871'468},
           Row{"2017-11-17T04:01:08+0530", 1'510'871'468},
           Row{"2017-11-16T23:31:08+01", 1'510'871'468},
           Row{"2017-11-16T22:31:09+00:00:01", 1'510'871'468},
           Row{"2017-11-16T22:31:09+000001", 1'510'871'468},
           Row{"1970-01-01T00:00+18:00", -64'800},
           Row{"1970-01-01T00:00-18:00", 64'800},
       }) {
    EXPECT_EQ(try_parse_timestamp(text, TimeUnit::kSecond, ZoneRule::kRequired), seconds) << text;
    EXPECT_EQ(try_parse_timestamp(text, TimeUnit::kSecond, ZoneRule::kOptional), seconds) << text;
    EXPECT_EQ(try_parse_timestamp(text, TimeUnit::kSecond, ZoneRule::kForbidden), std::nullopt) << text;
  }
}

TEST(Timestamp, HoldsTheTextToItsZoneRule) {
  constexpr auto parse = [](std::string_view text, ZoneRule rule) {
    return try_parse_timestamp(text, TimeUnit::kMicro, rule).has_value();
  };
  const std::string_view local = "2007-12-03T10:15:30";
  const std::string_view utc = "2007-12-03T10:15:30+00:00";
  const std::string_view shifted = "2007-12-03T10:15:30+01:00";  // apache/iceberg TestSingleValueParser rejects it
  EXPECT_TRUE(parse(local, ZoneRule::kForbidden));
  EXPECT_FALSE(parse(utc, ZoneRule::kForbidden));
  EXPECT_FALSE(parse(local, ZoneRule::kRequired));
  EXPECT_TRUE(parse(shifted, ZoneRule::kRequired));
  EXPECT_FALSE(parse(local, ZoneRule::kUtcOnly));
  EXPECT_TRUE(parse(utc, ZoneRule::kUtcOnly));
  EXPECT_TRUE(parse("2007-12-03T10:15:30Z", ZoneRule::kUtcOnly));
  EXPECT_TRUE(parse("2007-12-03T10:15:30-00:00", ZoneRule::kUtcOnly));
  EXPECT_FALSE(parse(shifted, ZoneRule::kUtcOnly));
  EXPECT_TRUE(parse(local, ZoneRule::kOptional));
  EXPECT_TRUE(parse(shifted, ZoneRule::kOptional));
}

TEST(Timestamp, RefusesWhatIsNotOneAndSaysWhereAndWhy) {
  struct Row {
    std::string_view text;
    std::string_view reason;
  };
  for (auto [text, reason] : {
           Row{"2017-11-16", "expected 'T' and the time, at character 11"},
           Row{"2017-11-16X10:00", "expected 'T' and the time, at character 11"},
           Row{"2017-11-16T", "expected an hour 00..23, at character 12"},
           Row{"2017-11-16T10:00:00X", "unexpected character, at character 20"},
           Row{"2017-11-16T10:00:00 Z", "unexpected character, at character 20"},
           Row{"2017-11-16T10:00:00Zx", "unexpected character, at character 21"},
           Row{"2017-11-16T10:00:00+19:00", "expected an offset's hours 00..18, at character 21"},
           Row{"2017-11-16T10:00:00+18:01", "the offset is beyond 18 hours, at character 26"},
           Row{"2017-11-16T10:00:00+1", "expected an offset's hours 00..18, at character 21"},
           Row{"2017-11-16T10:00:00+01:", "expected an offset's minutes 00..59, at character 24"},
           Row{"2017-11-16T10:00:00+01:60", "expected an offset's minutes 00..59, at character 24"},
           Row{"2017-11-16T10:00:00+01:00:", "expected an offset's seconds 00..59, at character 27"},
           Row{"2017-11-16T10:00:00+01:00:00:00", "unexpected character, at character 29"},
           Row{"2017-11-16T10:00:00+01[Europe/Berlin]", "expected an offset's minutes 00..59, at character 23"},
           Row{"2017-11-16T10:00:00.0000001Z", "more digits of a second than the type has, at character 29"},
           Row{"+294247-01-10T04:00:54.775808", "the timestamp is out of range, at character 30"},
           Row{"-290308-12-21T19:59:05.224191", "the timestamp is out of range, at character 30"},
           Row{"+999999999999-01-01T00:00", "the timestamp is out of range, at character 26"},
       }) {
    EXPECT_EQ(try_parse_timestamp(text, TimeUnit::kMicro, ZoneRule::kOptional), std::nullopt) << text;
    try {
      parse_timestamp(text, TimeUnit::kMicro, ZoneRule::kOptional);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "not a timestamp: '" + std::string(text) + "' (" + std::string(reason) + ")");
    }
  }
  // At the very end of the range a zone may carry the value out of it, or into it.
  EXPECT_EQ(try_parse_timestamp("+294247-01-10T05:00:54.775807+01:00", TimeUnit::kMicro, ZoneRule::kRequired),
            INT64_MAX);
  EXPECT_EQ(try_parse_timestamp("+294247-01-10T04:00:54.775807-00:01", TimeUnit::kMicro, ZoneRule::kRequired),
            std::nullopt);
}

TEST(Timestamp, PrintsInTheStyleThatIsAskedFor) {
  const int64_t value = 1'510'871'468'120'000;
  EXPECT_EQ(timestamp_to_string(value, TimeUnit::kMicro), "2017-11-16T22:31:08.12");
  EXPECT_EQ(timestamp_to_string(value, TimeUnit::kMicro, {.zone = "+00:00"}), "2017-11-16T22:31:08.12+00:00");
  EXPECT_EQ(timestamp_to_string(value, TimeUnit::kMicro, {.fraction_digits = 6, .separator = ' ', .zone = "Z"}),
            "2017-11-16 22:31:08.120000Z");
  EXPECT_EQ(timestamp_to_string(value, TimeUnit::kMicro, {.fraction_digits = 0}), "2017-11-16T22:31:08");
}

RC_GTEST_PROP(Date, TextRoundTripsForAllDays, ()) {
  const auto days = any_value<int32_t>();
  RC_ASSERT(try_parse_date(date_to_string(days)) == days);
}

RC_GTEST_PROP(Timestamp, TextRoundTripsForAllValuesUnitsAndStyles, ()) {
  const auto value = any_value<int64_t>();
  const auto unit = *rc::gen::element(TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano);
  const int digits = *rc::gen::element(kFractionAsNeeded, fraction_digits(unit), 9);
  const bool zoned = *rc::gen::arbitrary<bool>();
  const TimeTextOptions options{.fraction_digits = digits,
                                .separator = *rc::gen::element('T', ' '),
                                .zone = zoned ? *rc::gen::element("Z", "+00:00") : ""};
  const std::string text = timestamp_to_string(value, unit, options);
  RC_LOG() << text;
  RC_ASSERT(try_parse_timestamp(text, unit, zoned ? ZoneRule::kUtcOnly : ZoneRule::kForbidden) == value);
}

RC_GTEST_PROP(Timestamp, TextOfTheSameLengthOfYearSortsLikeTheValues, ()) {
  const auto any_in_four_digits = [] {
    return *rc::gen::inRange<int64_t>(-62'167'219'200'000'000, 253'402'300'800'000'000);
  };
  const int64_t left = any_in_four_digits();
  const int64_t right = any_in_four_digits();
  const TimeTextOptions options{.fraction_digits = 6};
  RC_ASSERT((timestamp_to_string(left, TimeUnit::kMicro, options) <=>
             timestamp_to_string(right, TimeUnit::kMicro, options)) == (left <=> right));
}

RC_GTEST_PROP(CivilTime, ParsingSurvivesAnyText, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789-+:.TZ ")));
  try_parse_date(text);
  try_parse_time(text, TimeUnit::kNano);
  try_parse_timestamp(text, TimeUnit::kNano, ZoneRule::kOptional);
  // A mutation of a valid one gets further than random text.
  std::string near = "2017-11-16T22:31:08.123456+01:00";
  near[*rc::gen::inRange<size_t>(0, near.size())] = *rc::gen::elementOf(std::string("0123456789-+:.TZ \xff"));
  near.resize(*rc::gen::inRange<size_t>(0, near.size() + 1));
  if (const auto value = try_parse_timestamp(near, TimeUnit::kMicro, ZoneRule::kOptional)) {
    RC_ASSERT(try_parse_timestamp(timestamp_to_string(*value, TimeUnit::kMicro), TimeUnit::kMicro,
                                  ZoneRule::kOptional) == value);
  }
}

}  // namespace
}  // namespace frazil
