#include "output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"
#include "frazil/io/posix_calls.h"
#include "frazil/json/value.h"

namespace frazil::cli {

OutputStream::OutputStream(int descriptor, size_t buffer_bytes)
    : descriptor_(descriptor), buffer_bytes_(buffer_bytes), is_terminal_(isatty(descriptor) == 1) {}

OutputStream::~OutputStream() = default;

void OutputStream::flush() {
  const auto write_some = [this](const void* data, size_t size) { return ::write(descriptor_, data, size); };
  if (!write_fully(write_some, std::as_bytes(std::span(buffer_)))) fail();
  bytes_written_ += buffer_.size();
  buffer_.clear();
}

void OutputStream::write_pieces(std::span<const std::span<const std::byte>> pieces) {
  size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  if (size < buffer_bytes_) {
    for (const auto piece : pieces) write({reinterpret_cast<const char*>(piece.data()), piece.size()});
    return;
  }
  flush();
  const auto write_some = [this](const iovec* vectors, int count) { return ::writev(descriptor_, vectors, count); };
  if (!write_pieces_fully(write_some, pieces)) fail();
  bytes_written_ += size;
}

void OutputStream::fail() {
  const int number = errno;
  buffer_.clear();
  if (number == EPIPE) throw ClosedPipe{};
  throw IoError(number, message("cannot write the output: {}", std::strerror(number)));
}

bool use_color(Color color, int descriptor) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* terminal = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: any text but an empty one
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(descriptor) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  size_t position = 0;
  while (position < text.size()) {
    unsigned char c = static_cast<unsigned char>(text[position]);
    if (c >= 0x20 && c < 0x7f) {
      safe += static_cast<char>(c);
      ++position;
      continue;
    }
    size_t begin = position;
    auto code = next_code_point(text, position);
    if (!code) {
      safe += "\xef\xbf\xbd";
      ++position;
    } else if (*code == '\n') {
      safe += "\\n";
    } else if (*code == '\t') {
      safe += "\\t";
    } else if (*code == '\r') {
      safe += "\\r";
    } else if (*code < 0x20 || (*code >= 0x7f && *code < 0xa0)) {
      safe += fmt::format("\\x{:02x}", *code);
    } else if ((*code >= 0x202a && *code <= 0x202e) || (*code >= 0x2066 && *code <= 0x2069)) {
      safe += fmt::format("\\u{:04x}", *code);  // turns the direction of what follows
    } else {
      safe.append(text.substr(begin, position - begin));
    }
  }
  return safe;
}

namespace {

struct CodeRange {
  uint32_t first;
  uint32_t last;
};

// Enough of Unicode's East Asian Width (W, F) and of the marks without width (Mn, Me, Cf) to keep columns straight.
constexpr CodeRange kWide[] = {
    {0x1100, 0x115f}, {0x2329, 0x232a}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr CodeRange kZero[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
                               {0x064b, 0x065f}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0e31, 0x0e31},
                               {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                               {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};

template <size_t N>
bool is_in(const CodeRange (&ranges)[N], uint32_t code) {
  for (const CodeRange& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

}  // namespace

size_t display_width(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t width = 0;
  size_t position = 0;
  while (position < text.size()) {
    auto code = next_code_point(text, position);
    if (!code) {
      ++position;
      ++width;
    } else if (!is_in(kZero, *code)) {
      width += is_in(kWide, *code) ? 2 : 1;
    }
  }
  return width;
}

Listing::Listing(OutputStream& out, OutputFormat format, bool color, std::vector<ListingColumn> columns)
    : out_(out), format_(format), color_(color), columns_(std::move(columns)) {
  for (const ListingColumn& column : columns_) widths_.push_back(display_width(column.name));
}

namespace {

std::string text_of(const Cell& cell) {
  struct Visitor {
    std::string operator()(const Null&) const { return {}; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return number_to_string(value); }
    std::string operator()(const std::string& value) const { return printable(value); }
    std::string operator()(const JsonText& value) const { return value.text; }
  };
  return std::visit(Visitor{}, cell);
}

std::string json_of(const Cell& cell) {
  struct Visitor {
    std::string operator()(const Null&) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      return std::isfinite(value) ? number_to_string(value) : json::quote(number_to_string(value));
    }
    std::string operator()(const std::string& value) const { return json::quote(value); }
    std::string operator()(const JsonText& value) const { return value.text; }
  };
  return std::visit(Visitor{}, cell);
}

void append_padded(std::string& out, std::string_view text, size_t width, bool right, bool is_last) {
  size_t shown = display_width(text);
  size_t padding = shown < width ? width - shown : 0;
  if (right) out.append(padding, ' ');
  out += text;
  if (!right && !is_last) out.append(padding, ' ');  // no spaces at the end of a line
}

}  // namespace

void Listing::row(std::vector<Cell> cells) {
  ++row_count_;
  if (format_ == OutputFormat::kJson) {
    print_json_row(cells);
    return;
  }
  if (started_) {
    print_text_row(cells);
    return;
  }
  for (size_t i = 0; i < cells.size() && i < widths_.size(); ++i) {
    widths_[i] = std::max(widths_[i], display_width(text_of(cells[i])));
  }
  held_.push_back(std::move(cells));
  if (held_.size() == kWidthRows) print_head_and_held();
}

void Listing::print_head_and_held() {
  started_ = true;
  std::string& line = out_.buffer();
  if (color_) line += "\x1b[1m";
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) line += "  ";
    append_padded(line, columns_[i].name, widths_[i], columns_[i].right, i + 1 == columns_.size());
  }
  if (color_) line += "\x1b[0m";
  line += '\n';
  for (const std::vector<Cell>& cells : held_) print_text_row(cells);
  held_.clear();
}

void Listing::print_text_row(const std::vector<Cell>& cells) {
  std::string& line = out_.buffer();
  size_t last = cells.size();
  while (last > 1 && text_of(cells[last - 1]).empty()) --last;
  for (size_t i = 0; i < last; ++i) {
    if (i > 0) line += "  ";
    append_padded(line, text_of(cells[i]), widths_[i], columns_[i].right, i + 1 == last);
  }
  line += '\n';
  out_.flush_if_full();
}

void Listing::print_json_row(const std::vector<Cell>& cells) {
  std::string& line = out_.buffer();
  line += started_ ? ",\n " : "[";
  started_ = true;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += i == 0 ? "{" : ", ";
    line += json::quote(columns_[i].name) + ": " + json_of(cells[i]);
  }
  line += '}';
  out_.flush_if_full();
}

void Listing::finish(std::string_view nothing) {
  if (format_ == OutputFormat::kJson) {
    out_.write(started_ ? "]\n" : "[]\n");
  } else if (row_count_ == 0 && !nothing.empty()) {
    out_.write(nothing);
    out_.write("\n");
  } else if (!started_) {
    print_head_and_held();
  }
}

std::string human_bytes(uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_count(int64_t count) {
  std::string digits = fmt::format("{}", count);
  size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string human_count(int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", human_count(count), thing, count == 1 ? "" : "s");
}

std::string iso_time(int64_t ms) {
  return timestamp_to_string(ms, TimeUnit::kMilli, {.fraction_digits = 3, .zone = "+00:00"});
}

}  // namespace frazil::cli
