// Numbers as text, for CSV, JSON and messages: independent of the locale, exact both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frazil {

void append_number(std::string& target, int64_t value);
void append_number(std::string& target, uint64_t value);
// The shortest text that reads back as the same value of the same type: 0.1f = "0.1", 1e300 = "1e+300", 3.0 = "3.0",
// -0.0 = "-0.0": a floating-point number stays recognisable as one. Not finite: "NaN", "Infinity", "-Infinity".
void append_number(std::string& target, double value);
void append_number(std::string& target, float value);

std::string number_to_string(double value);
std::string number_to_string(float value);

// All of `text` must be the number: [+-] digits; nothing on overflow.
std::optional<int64_t> parse_int64(std::string_view text) noexcept;
std::optional<uint64_t> parse_uint64(std::string_view text) noexcept;
// Decimal or exponent notation, an optional sign, "NaN", "Infinity", "inf" in any case. Too large for the type gives
// infinity and too small 0, as IEEE 754 rounds.
std::optional<double> parse_double(std::string_view text) noexcept;
std::optional<float> parse_float(std::string_view text) noexcept;

}  // namespace frazil
