// What the program prints: bytes in large blocks to standard output, tables of text or JSON, colours where they are
// wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace frazil::cli {

// Thrown when the reader of our output has gone: the program ends quietly.
struct ClosedPipe {};

// A file descriptor with a buffer. Not thread-safe. Throws ClosedPipe, IoError.
class OutputStream {
 public:
  explicit OutputStream(int descriptor, size_t buffer_bytes = size_t{256} << 10);
  ~OutputStream();  // drops what was not flushed: an error has been reported by then
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes_) flush();
  }
  // Bytes of others, one piece behind the other: many of them go out as they lie, without a copy.
  void write_pieces(std::span<const std::span<const std::byte>> pieces);
  // For writers of many values: append here, then call flush_if_full().
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= buffer_bytes_) flush();
  }
  void flush();
  bool is_terminal() const { return is_terminal_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  // By errno, after a write.
  [[noreturn]] void fail();

  int descriptor_;
  size_t buffer_bytes_;
  bool is_terminal_;
  uint64_t bytes_written_ = 0;
  std::string buffer_;
};

enum class Color : uint8_t { kAuto, kAlways, kNever };
enum class OutputFormat : uint8_t { kText, kJson };

// Whether to colour what goes to `descriptor`: kAuto asks for a terminal that is not dumb, and no NO_COLOR.
bool use_color(Color color, int descriptor);

// A value of a listing. JSON text is printed as it is, also in tables.
struct Null {};
struct JsonText {
  std::string text;
};
using Cell = std::variant<Null, bool, int64_t, double, std::string, JsonText>;

template <typename T>
Cell optional_cell(const std::optional<T>& value) {
  return value ? Cell(int64_t{*value}) : Cell(Null{});
}

struct ListingColumn {
  std::string name;    // the key in JSON
  bool right = false;  // numbers stand right in tables
};

// Rows of one kind, printed as they come: as an aligned table with a head, or as a JSON array of objects, one a line.
// Widths come from the first kWidthRows rows; what is wider later sticks out.
class Listing {
 public:
  static constexpr size_t kWidthRows = 1000;

  Listing(OutputStream& out, OutputFormat format, bool color, std::vector<ListingColumn> columns);
  void row(std::vector<Cell> cells);
  // Prints what is held back, and the end of the array. `nothing`: a line for a table without rows.
  void finish(std::string_view nothing = {});

 private:
  void print_text_row(const std::vector<Cell>& cells);
  void print_json_row(const std::vector<Cell>& cells);
  void print_head_and_held();

  OutputStream& out_;
  OutputFormat format_;
  bool color_;
  std::vector<ListingColumn> columns_;
  std::vector<size_t> widths_;
  std::vector<std::vector<Cell>> held_;
  bool started_ = false;
  size_t row_count_ = 0;
};

// Text of others made safe for a terminal and for one line: control characters become \n, \t, \x1b; damaged UTF-8
// becomes U+FFFD.
std::string printable(std::string_view text);
// Columns of a terminal that the text takes: 2 for wide characters, 0 for combining ones.
size_t display_width(std::string_view text);

// "12.3 MiB", "512 bytes"
std::string human_bytes(uint64_t bytes);
// 1234567 = "1,234,567"
std::string human_count(int64_t count);
// "1 file", "1,234 files"
std::string human_count(int64_t count, std::string_view thing);
// Milliseconds since 1970 as "2026-11-16T22:31:08.123+00:00".
std::string iso_time(int64_t ms);

}  // namespace frazil::cli
