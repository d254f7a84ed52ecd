#include "frazil/text/csv_records.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/error.h"

namespace frazil::text {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_end_of_line(char character) {
  return character == '\n' || character == '\r';
}

}  // namespace

CsvRecords::CsvRecords(InputWindow& window, CsvDialect dialect) : window_(window), dialect_(dialect) {
  if (dialect.delimiter == dialect.quote || is_end_of_line(dialect.delimiter) || is_end_of_line(dialect.quote) ||
      dialect.delimiter == '\0') {
    throw_error(ErrorKind::kInvalidArgument, "delimiter and quote of CSV must be two characters, and no ends of lines");
  }
}

void CsvRecords::throw_wrong(size_t at, std::string_view what) const {
  const std::string_view before = window_.text().substr(0, at);
  const uint64_t line = line_ + static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
  throw_corrupt(window_.offset() + at, "CSV row {}, line {}: {}", row_, line, what);
}

bool CsvRecords::next() {
  window_.consume(record_bytes_);
  record_bytes_ = 0;
  line_ = next_line_;
  ++row_;
  while (window_.text().size() < (row_ == 1 ? kByteOrderMark.size() : 1) && window_.more()) {
  }
  if (row_ == 1 && window_.text().starts_with(kByteOrderMark)) window_.consume(kByteOrderMark.size());
  if (window_.text().empty()) return false;
  // A record that the window does not have whole is parsed again from its start, once there is twice as much: linear.
  while (!parse(window_.text(), window_.at_end(), record_bytes_)) {
    const size_t size = window_.text().size();
    while (window_.more() && window_.text().size() < 2 * size) {
    }
  }
  next_line_ = line_ + lines_;
  unescape();
  return true;
}

// Whether a whole record stands at the front of `text`; its size then is all up to the next one.
bool CsvRecords::parse(std::string_view text, bool at_end, size_t& size) {
  fields_.clear();
  escaped_.clear();
  lines_ = 1;
  const char* const start = text.data();
  const char* const end = start + text.size();
  const char* at = start;
  while (true) {
    CsvField field;
    if (dialect_.quote != '\0' && at != end && *at == dialect_.quote) {
      field.quoted = true;
      const char* const first = ++at;
      bool escaped = false;
      while (true) {
        at = static_cast<const char*>(std::memchr(at, dialect_.quote, static_cast<size_t>(end - at)));
        if (at == nullptr || (at + 1 == end && !at_end)) {
          if (!at_end) return false;
          throw_wrong(static_cast<size_t>(first - start), "a quoted field has no end");
        }
        if (at + 1 == end || at[1] != dialect_.quote) break;
        escaped = true;
        at += 2;
      }
      field.text = {first, static_cast<size_t>(at - first)};
      lines_ += static_cast<uint64_t>(std::count(first, at, '\n'));
      if (escaped) escaped_.push_back(fields_.size());
      ++at;
      if (at != end && *at != dialect_.delimiter && !is_end_of_line(*at)) {
        throw_wrong(static_cast<size_t>(at - start), "text follows the closing quote of a field");
      }
    } else {
      const char* const first = at;
      while (at != end && *at != dialect_.delimiter && !is_end_of_line(*at)) ++at;
      field.text = {first, static_cast<size_t>(at - first)};
    }
    if (at == end && !at_end) return false;
    fields_.push_back(field);
    if (at != end && *at == dialect_.delimiter) {
      ++at;
      continue;
    }
    break;
  }
  if (at != end) {
    if (*at == '\r') {
      ++at;
      if (at == end && !at_end) return false;
      if (at != end && *at == '\n') ++at;
    } else {
      ++at;
    }
  }
  size = static_cast<size_t>(at - start);
  return true;
}

void CsvRecords::unescape() {
  if (escaped_.empty()) return;
  size_t size = 0;
  for (const size_t index : escaped_) size += fields_[index].text.size();
  unescaped_.resize(size);
  char* out = unescaped_.data();
  for (const size_t index : escaped_) {
    CsvField& field = fields_[index];
    char* const first = out;
    for (size_t i = 0; i < field.text.size(); ++i) {
      *out++ = field.text[i];
      if (field.text[i] == dialect_.quote) ++i;
    }
    field.text = {first, static_cast<size_t>(out - first)};
  }
}

void CsvRecords::begin_sample() {
  window_.consume(record_bytes_);
  record_bytes_ = 0;
  sample_row_ = row_;
  sample_line_ = next_line_;
  window_.begin_sample();
}

void CsvRecords::rewind() {
  window_.rewind();
  record_bytes_ = 0;
  row_ = sample_row_;
  next_line_ = sample_line_;
}

}  // namespace frazil::text
