// The records of CSV text (RFC 4180).
//
//   file   := record (end record)* [end]
//   end    := LF | CR LF | CR
//   record := field (delimiter field)*
//   field  := quote (character | quote quote)* quote | character*        the latter without delimiter, CR and LF
//
// RFC 4180 has no quotes within fields that do not start with one; they are taken as they stand, as everybody does.
// A byte order mark at the start is passed over. A line without a character is no record, or in a file of one column its empty
// field: which, the caller says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/text/input_window.h"

namespace frazil::text {

struct CsvDialect {
  char delimiter = ',';
  char quote = '"';  // '\0': none, every character stands for itself
};

struct CsvField {
  std::string_view text;  // without its quotes
  bool quoted = false;
};

class CsvRecords {
 public:
  // `window` outlives it. Throws Error(kInvalidArgument) for a dialect whose characters are equal, or ends of lines.
  CsvRecords(InputWindow& window, CsvDialect dialect);

  // Goes to the next record; false at the end. Throws CorruptError that names row and line for a field that is not quoted as
  // the grammar says, and what InputWindow throws.
  bool next();
  // Of this record; valid until next().
  std::span<const CsvField> fields() const { return fields_; }
  bool is_empty_line() const { return fields_.size() == 1 && fields_[0].text.empty() && !fields_[0].quoted; }
  // Both from 1 on: of this record, and of its first line.
  uint64_t row() const { return row_; }
  uint64_t line() const { return line_; }
  // Where in the text the next record starts.
  uint64_t end_offset() const { return window_.offset() + record_bytes_; }

  // What follows begin_sample() is kept until rewind(), which makes the record after this one the next again.
  void begin_sample();
  void rewind();

 private:
  bool parse(std::string_view text, bool at_end, size_t& size);
  void unescape();
  [[noreturn]] void throw_wrong(size_t at, std::string_view what) const;

  InputWindow& window_;
  CsvDialect dialect_;
  std::vector<CsvField> fields_;
  std::vector<size_t> escaped_;  // fields with doubled quotes
  std::string unescaped_;
  uint64_t row_ = 0;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
  uint64_t sample_row_ = 0;
  uint64_t sample_line_ = 1;
  uint64_t lines_ = 0;       // ends of lines in the record at hand
  size_t record_bytes_ = 0;  // of the record at hand, dropped by the next next()
};

}  // namespace frazil::text
