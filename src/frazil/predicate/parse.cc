// A recursive-descent parser that reads tokens as it goes. Recursion is bounded by kMaxDepth parentheses; NOT, AND and
// OR are loops.
#include "frazil/predicate/parse.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"
#include "frazil/predicate/literal_text.h"

namespace frazil::predicate {

namespace {

enum class TokenKind : uint8_t { kEnd, kName, kQuotedName, kString, kNumber, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t start = 0;         // bytes
  std::string_view source;  // as it stands in the text
  std::string content;      // of quoted names and strings: without quotes
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  Predicate parse_all() {
    Predicate predicate = parse_disjunction();
    if (token_.kind != TokenKind::kEnd) fail("AND, OR or the end");
    return predicate;
  }

 private:
  // ---- Errors ----

  [[noreturn]] void fail_at(size_t position, std::string_view problem) const {
    // The line of the place, at most kWindow bytes to both sides of it.
    constexpr size_t kWindow = 60;
    const size_t line_start = position == 0 ? 0 : text_.rfind('\n', position - 1) + 1;
    const size_t line_end = std::min(text_.find('\n', position), text_.size());
    size_t from = std::max(line_start, position < kWindow ? 0 : position - kWindow);
    size_t to = std::min(line_end, position + kWindow);
    while (from < position && (static_cast<unsigned char>(text_[from]) & 0xC0) == 0x80) ++from;
    while (to < line_end && (static_cast<unsigned char>(text_[to]) & 0xC0) == 0x80) ++to;
    std::string line(text_.substr(from, to - from));
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    }
    const std::string_view before = from > line_start ? "..." : "";
    const size_t caret = before.size() + count_code_points(text_.substr(from, position - from));
    const auto line_number = 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(line_start), '\n');
    const size_t column = 1 + count_code_points(text_.substr(line_start, position - line_start));
    throw_error(ErrorKind::kInvalidArgument, "predicate, {}column {}: {}\n  {}{}{}\n  {}^",
                line_number == 1 ? std::string() : message("line {}, ", line_number), column, problem, before, line,
                to < line_end ? "..." : "", std::string(caret, ' '));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    std::string found = token_.kind == TokenKind::kEnd ? "the end" : excerpt(token_.source, 40);
    fail_at(token_.start, message("expected {}, found {}", expected, found));
  }

  // ---- Tokens ----

  char peek(size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }

  void advance() {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || (text_[position_] >= '\t' && text_[position_] <= '\r'))) {
      ++position_;
    }
    token_.start = position_;
    token_.content.clear();
    token_.kind = read_token();
    token_.source = text_.substr(token_.start, position_ - token_.start);
  }

  TokenKind read_token() {
    if (position_ == text_.size()) return TokenKind::kEnd;
    const char c = text_[position_];
    if (is_name_start(c)) {
      while (position_ < text_.size() && is_name_part(text_[position_])) ++position_;
      return TokenKind::kName;
    }
    if (c == '\'') return read_quoted('\'', "string"), TokenKind::kString;
    if (c == '"') return read_quoted('"', "quoted name"), TokenKind::kQuotedName;
    const size_t sign = c == '-' || c == '+' ? 1 : 0;
    if (is_digit(peek(sign)) || (peek(sign) == '.' && is_digit(peek(sign + 1)))) return read_number();
    for (std::string_view symbol : {"<=", ">=", "<>", "!=", "==", "<", ">", "=", "(", ")", ",", "."}) {
      if (text_.substr(position_, symbol.size()) == symbol) {
        position_ += symbol.size();
        return TokenKind::kSymbol;
      }
    }
    fail_at(position_, message("unexpected character {}", excerpt(text_.substr(position_, 1))));
  }

  void read_quoted(char quote, std::string_view what) {
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == quote) {
        ++position_;
        if (peek() != quote || position_ == text_.size()) return;
      }
      token_.content += text_[position_];
    }
    fail_at(token_.start, message("{} without its closing {}", what, std::string(1, quote)));
  }

  TokenKind read_number() {
    const size_t start = position_;
    ++position_;
    auto goes_on = [&] {
      const char c = peek();
      const char last = text_[position_ - 1];
      return is_name_part(c) || c == '.' || ((c == '+' || c == '-') && (last == 'e' || last == 'E'));
    };
    while (position_ < text_.size() && goes_on()) ++position_;
    if (!is_number(text_.substr(start, position_ - start))) {
      fail_at(start, message("not a number: {}", excerpt(text_.substr(start, position_ - start), 40)));
    }
    return TokenKind::kNumber;
  }

  bool at_word(std::string_view word) const {
    return token_.kind == TokenKind::kName && equal_words(token_.source, word);
  }
  bool at_symbol(std::string_view symbol) const { return token_.kind == TokenKind::kSymbol && token_.source == symbol; }
  bool accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    advance();
    return true;
  }
  bool accept_symbol(std::string_view symbol) {
    if (!at_symbol(symbol)) return false;
    advance();
    return true;
  }
  void expect_symbol(std::string_view symbol) {
    if (!accept_symbol(symbol)) fail(message("'{}'", symbol));
  }

  // ---- Predicates ----

  Predicate parse_disjunction() {
    std::vector<Predicate> operands;
    do {
      operands.push_back(parse_conjunction());
    } while (accept_word("or"));
    return any_of(std::move(operands));
  }

  Predicate parse_conjunction() {
    std::vector<Predicate> operands;
    do {
      operands.push_back(parse_negation());
    } while (accept_word("and"));
    return all_of(std::move(operands));
  }

  Predicate parse_negation() {
    const size_t start = token_.start;
    size_t count = 0;
    while (accept_word("not")) {
      if (++count > kMaxDepth) fail_at(start, message("more than {} times NOT", kMaxDepth));
    }
    Predicate predicate = parse_primary();
    if (predicate.node().depth + count > kMaxDepth) {
      fail_at(start, message("the predicate nests deeper than {}", kMaxDepth));
    }
    for (; count != 0; --count) predicate = not_(std::move(predicate));
    return predicate;
  }

  Predicate parse_primary() {
    const size_t start = token_.start;
    if (!accept_symbol("(")) return parse_test();
    if (++nesting_ > kMaxDepth) fail_at(start, message("parentheses nest deeper than {}", kMaxDepth));
    Predicate predicate = parse_disjunction();
    if (!accept_symbol(")")) fail("AND, OR or ')'");
    --nesting_;
    return predicate;
  }

  std::optional<Comparator> accept_comparator() {
    constexpr std::pair<std::string_view, Comparator> kComparators[] = {
        {"=", Comparator::kEqual},     {"==", Comparator::kEqual},         {"!=", Comparator::kNotEqual},
        {"<>", Comparator::kNotEqual}, {"<", Comparator::kLess},           {"<=", Comparator::kLessOrEqual},
        {">", Comparator::kGreater},   {">=", Comparator::kGreaterOrEqual}};
    for (const auto& [symbol, comparator] : kComparators) {
      if (accept_symbol(symbol)) return comparator;
    }
    return std::nullopt;
  }

  Predicate parse_test() {
    if (at_word("true") || at_word("false")) {
      const bool value = at_word("true");
      advance();
      if (auto comparator = accept_comparator()) return compare(expect_column(), mirrored(*comparator), Literal(value));
      return always(value);
    }
    const size_t start = token_.start;
    if (auto literal = accept_literal()) {
      auto comparator = accept_comparator();
      if (!comparator) fail("a comparison with a column");
      return compare(expect_column(), mirrored(*comparator), std::move(*literal));
    }
    if (token_.kind != TokenKind::kQuotedName && (token_.kind != TokenKind::kName || is_reserved(token_.source))) {
      fail(token_.kind == TokenKind::kName && start != 0 ? "a test of a column (reserved words as names need quotes)"
                                                         : "a test of a column");
    }
    return parse_column_test(parse_column());
  }

  Predicate parse_column_test(ColumnName column) {
    if (auto comparator = accept_comparator()) {
      return compare(std::move(column), *comparator, expect_literal("a value"));
    }
    if (accept_word("is")) {
      const bool negated = accept_word("not");
      if (accept_word("null")) return is_null(std::move(column), negated);
      if (accept_word("nan")) return is_nan(std::move(column), negated);
      fail(negated ? "NULL or NAN" : "NULL, NAN or NOT");
    }
    const bool negated = accept_word("not");
    if (accept_word("in")) return parse_in(std::move(column), negated);
    if (accept_word("between")) return parse_between(std::move(column), negated);
    if (accept_word("like")) return parse_like(std::move(column), negated);
    if (accept_word("starts")) {
      if (!accept_word("with")) fail("WITH");
      if (token_.kind != TokenKind::kString) fail("a string");
      std::string prefix = std::move(token_.content);
      advance();
      return starts_with(std::move(column), std::move(prefix), negated);
    }
    if (negated) fail("IN, BETWEEN, LIKE or STARTS WITH");
    if (token_.kind == TokenKind::kEnd || at_symbol(")") || at_word("and") || at_word("or")) {
      return compare(std::move(column), Comparator::kEqual, Literal(true));
    }
    fail("a comparison, IS, IN, BETWEEN, LIKE or STARTS WITH");
  }

  Predicate parse_in(ColumnName column, bool negated) {
    expect_symbol("(");
    std::vector<Literal> values;
    if (!accept_symbol(")")) {
      do {
        values.push_back(expect_literal("a value"));
      } while (accept_symbol(","));
      if (!accept_symbol(")")) fail("',' or ')'");
    }
    return is_in(std::move(column), std::move(values), negated);
  }

  Predicate parse_between(ColumnName column, bool negated) {
    Literal low = expect_literal("a value");
    if (!accept_word("and")) fail("AND");
    Literal high = expect_literal("a value");
    if (negated) {
      Predicate below = compare(column, Comparator::kLess, std::move(low));
      return any_of({std::move(below), compare(std::move(column), Comparator::kGreater, std::move(high))});
    }
    Predicate above = compare(column, Comparator::kGreaterOrEqual, std::move(low));
    return all_of({std::move(above), compare(std::move(column), Comparator::kLessOrEqual, std::move(high))});
  }

  Predicate parse_like(ColumnName column, bool negated) {
    if (token_.kind != TokenKind::kString) fail("a string");
    const size_t start = token_.start;
    const std::string pattern = std::move(token_.content);
    advance();
    std::string escape = "\\";
    if (accept_word("escape")) {
      if (token_.kind != TokenKind::kString || count_code_points(token_.content) > 1) fail("one character in quotes");
      escape = std::move(token_.content);
      advance();
    }
    std::string prefix;
    for (size_t i = 0; i < pattern.size();) {
      if (const size_t length = escaped_length(pattern, i, escape); length != 0) {
        prefix.append(pattern, i + escape.size(), length);
        i += escape.size() + length;
      } else if (pattern[i] == '%') {
        if (i + 1 == pattern.size()) return starts_with(std::move(column), std::move(prefix), negated);
        fail_at(start, "LIKE takes '%' at the end of the pattern alone: other places cannot be searched yet");
      } else if (pattern[i] == '_') {
        fail_at(start, "LIKE takes no wildcard '_': write \\_ for the character");
      } else {
        prefix += pattern[i++];
      }
    }
    return compare(std::move(column), negated ? Comparator::kNotEqual : Comparator::kEqual, Literal(std::move(prefix)));
  }

  // Bytes of what the escape at `position` takes the meaning from: '%', '_' or itself. 0: it stands for itself.
  static size_t escaped_length(std::string_view pattern, size_t position, std::string_view escape) {
    if (escape.empty() || pattern.substr(position, escape.size()) != escape) return 0;
    const std::string_view rest = pattern.substr(position + escape.size());
    if (rest.starts_with('%') || rest.starts_with('_')) return 1;
    return rest.starts_with(escape) ? escape.size() : 0;
  }

  // ---- Columns and literals ----

  ColumnName expect_column() {
    if (token_.kind == TokenKind::kQuotedName || (token_.kind == TokenKind::kName && !is_reserved(token_.source))) {
      return parse_column();
    }
    fail("a column");
  }

  ColumnName parse_column() {
    std::vector<std::string> parts;
    do {
      if (token_.kind == TokenKind::kQuotedName) {
        parts.push_back(std::move(token_.content));
      } else if (token_.kind == TokenKind::kName) {
        parts.emplace_back(token_.source);
      } else {
        fail("a name");
      }
      if (parts.size() > kMaxDepth) fail_at(token_.start, message("more than {} names in a path", kMaxDepth));
      advance();
    } while (accept_symbol("."));
    return ColumnName(std::move(parts));
  }

  Literal expect_literal(std::string_view what) {
    if (at_word("null")) fail_at(token_.start, "nothing is equal to NULL or compares with it: use IS NULL");
    if (auto literal = accept_literal()) return std::move(*literal);
    if (at_word("true") || at_word("false")) {
      const bool value = at_word("true");
      advance();
      return value;
    }
    if (token_.kind == TokenKind::kQuotedName || (token_.kind == TokenKind::kName && !is_reserved(token_.source))) {
      fail(message("{} (text stands in single quotes, columns cannot be compared with each other)", what));
    }
    fail(what);
  }

  // Anything but TRUE and FALSE. A name is a literal's type only where a string follows.
  std::optional<Literal> accept_literal() {
    if (token_.kind == TokenKind::kNumber) {
      Literal literal = number(token_.source);
      advance();
      return literal;
    }
    if (token_.kind == TokenKind::kString) {
      Literal literal = std::move(token_.content);
      advance();
      return literal;
    }
    if (token_.kind != TokenKind::kName) return std::nullopt;
    const std::string_view word = token_.source;
    if (equal_words(word, "timestamp")) return accept_timestamp();
    for (const auto& [type, expected, read] : kTypes) {
      if (equal_words(word, type)) {
        if (!string_follows()) return std::nullopt;
        advance();
        auto literal = read(token_.content);
        if (!literal) fail(expected);
        advance();
        return literal;
      }
    }
    return std::nullopt;
  }

  // TIMESTAMP string | TIMESTAMP WITH TIME ZONE string | TIMESTAMP WITHOUT TIME ZONE string
  std::optional<Literal> accept_timestamp() {
    if (string_follows()) {
      advance();
      return expect_timestamp(std::nullopt);
    }
    const size_t start = position_;
    Token first = token_;
    advance();
    const bool with = at_word("with");
    if (with || at_word("without")) {
      advance();
      if (!accept_word("time")) fail("TIME ZONE");
      if (!accept_word("zone")) fail("ZONE");
      return expect_timestamp(with);
    }
    position_ = start;  // a column
    token_ = std::move(first);
    return std::nullopt;
  }

  Literal expect_timestamp(std::optional<bool> zone) {
    constexpr std::string_view kExpected = "a timestamp like '2026-11-01 12:30:00.5' or '2026-11-01T12:30:00+02:00'";
    if (token_.kind != TokenKind::kString) fail(kExpected);
    auto timestamp = parse_timestamp_text(token_.content);
    if (!timestamp) fail(kExpected);
    if (zone == false && timestamp->has_zone) fail("a timestamp without zone");
    if (zone == true) timestamp->has_zone = true;
    advance();
    return *timestamp;
  }

  bool string_follows() const {
    const size_t next = text_.find_first_not_of(" \t\n\v\f\r", position_);
    return next != std::string_view::npos && text_[next] == '\'';
  }

  struct TypedLiteral {
    std::string_view type;
    std::string_view expected;
    std::optional<Literal> (*read)(const std::string& text);
  };
  static constexpr TypedLiteral kTypes[] = {
      {"date", "a date like '2026-11-01'",
       [](const std::string& text) -> std::optional<Literal> {
         if (auto days = try_parse_date(text)) return Date{*days};
         return std::nullopt;
       }},
      {"time", "a time like '12:30:00.5'",
       [](const std::string& text) -> std::optional<Literal> {
         if (auto time = try_parse_time(text, TimeUnit::kNano)) return Time{*time};
         return std::nullopt;
       }},
      {"timestamptz", "a timestamp like '2026-11-01T12:30:00+02:00'",
       [](const std::string& text) -> std::optional<Literal> {
         auto timestamp = parse_timestamp_text(text);
         if (!timestamp) return std::nullopt;
         timestamp->has_zone = true;
         return *timestamp;
       }},
      {"uuid", "a UUID like 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
       [](const std::string& text) -> std::optional<Literal> {
         if (auto uuid = try_parse_uuid(text)) return *uuid;
         return std::nullopt;
       }},
      {"double", "a number, 'NaN', 'Infinity' or '-Infinity'",
       [](const std::string& text) -> std::optional<Literal> {
         if (auto value = parse_double(text)) return Double{*value};
         return std::nullopt;
       }},
      {"x", "an even number of hexadecimal digits",
       [](const std::string& text) -> std::optional<Literal> {
         if (auto bytes = decode_hex(text)) return Binary{std::move(*bytes)};
         return std::nullopt;
       }},
  };

  std::string_view text_;
  size_t position_ = 0;  // behind token_
  Token token_;
  uint32_t nesting_ = 0;
};

}  // namespace

Predicate parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw_error(ErrorKind::kInvalidArgument, "a predicate of {} bytes is longer than {}", text.size(), kMaxTextBytes);
  }
  if (const size_t valid = valid_utf8_prefix(text); valid != text.size()) {
    throw_error(ErrorKind::kInvalidArgument, "the predicate is not UTF-8 at byte {}: {}", valid,
                excerpt(text.substr(valid), 20));
  }
  return Parser(text).parse_all();
}

}  // namespace frazil::predicate
