#include "frazil/spec/ddl.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/spec/new_table.h"

namespace frazil::spec {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return out;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '@' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What stands at one place. Names, numbers and marks (one character) alike are texts; `quoted` names are never keywords.
struct Token {
  std::string text;  // empty: the end
  size_t at = 0;
  bool is_name = false;
  bool quoted = false;
  bool is_text = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  const Token& token() const { return token_; }
  bool at_end() const { return token_.text.empty() && !token_.quoted; }

  bool is_mark(char mark) const {
    return !token_.is_name && !token_.is_text && token_.text == std::string_view(&mark, 1);
  }
  bool take_mark(char mark) {
    if (!is_mark(mark)) return false;
    advance();
    return true;
  }
  void expect_mark(char mark) {
    if (!take_mark(mark)) throw_here(std::string("expected '") + mark + "'");
  }
  bool is_word(std::string_view word) const { return token_.is_name && !token_.quoted && lower(token_.text) == word; }
  bool take_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
  }
  void expect_word(std::string_view word) {
    if (!take_word(word)) throw_here(message("expected '{}'", word));
  }
  std::string take_name(std::string_view what) {
    if (!token_.is_name) throw_here(message("expected {}", what));
    return take_text();
  }
  std::optional<int32_t> take_number() {
    int32_t number = 0;
    const char* end = token_.text.data() + token_.text.size();
    if (token_.is_name || at_end() || !is_digit(token_.text[0])) return std::nullopt;
    if (std::from_chars(token_.text.data(), end, number).ec != std::errc()) throw_here("the number is too large");
    advance();
    return number;
  }
  std::string take_text() {
    std::string text = token_.text;
    advance();
    return text;
  }
  size_t position() const { return token_.at; }
  // The source from a place to the token at hand, without the space between.
  std::string_view since(size_t at) const {
    std::string_view text = text_.substr(at, token_.at - at);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
  }

  [[noreturn]] void throw_here(std::string_view what) const { throw_at(token_.at, what); }
  [[noreturn]] void throw_at(size_t at, std::string_view what) const {
    const std::string_view rest = text_.substr(at, 20);
    throw_error(ErrorKind::kInvalidArgument, "{} at character {} of '{}', before '{}'", what, at + 1, text_, rest);
  }

 private:
  void advance() {
    while (next_ < text_.size() &&
           (text_[next_] == ' ' || text_[next_] == '\t' || text_[next_] == '\n' || text_[next_] == '\r')) {
      ++next_;
    }
    token_ = Token();
    token_.at = next_;
    if (next_ == text_.size()) return;
    const char first = text_[next_];
    if (first == '"' || first == '`' || first == '\'') {
      token_.is_name = token_.quoted = first != '\'';
      token_.is_text = first == '\'';
      for (++next_; next_ < text_.size(); ++next_) {
        if (text_[next_] == first && (++next_ == text_.size() || text_[next_] != first)) return;
        token_.text += text_[next_];
      }
      throw_at(token_.at, "a quote has no end");
    }
    size_t end = next_ + 1;
    if (is_digit(first)) {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    } else if (is_name_character(first)) {
      token_.is_name = true;
      while (end < text_.size() && is_name_character(text_[end])) ++end;
    }
    token_.text = text_.substr(next_, end - next_);
    next_ = end;
  }

  std::string_view text_;
  size_t next_ = 0;
  Token token_;
};

// ---- Schemas ----

// SQL's names of Iceberg's types.
std::string_view iceberg_name(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"bigint", "long"},    {"integer", "int"}, {"bool", "boolean"},    {"real", "float"},
      {"varchar", "string"}, {"text", "string"}, {"numeric", "decimal"}, {"blob", "binary"},
  };
  for (const auto& [sql, iceberg] : kNames) {
    if (sql == name) return iceberg;
  }
  return name;
}

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : parser_(text) {}

  SchemaPtr parse() {
    std::vector<NestedField> columns = fields(0);
    if (!parser_.at_end()) parser_.throw_here("expected ',' or the end");
    return with_fresh_ids(Schema(std::move(columns)));
  }

 private:
  std::vector<NestedField> fields(int depth) {
    std::vector<NestedField> out;
    do {
      NestedField field;
      field.id = next_id_++;
      field.name = parser_.take_name("the name of a column or field");
      parser_.take_mark(':');
      field.type = type(depth + 1);
      field.required = required();
      if (parser_.take_word("comment")) {
        if (!parser_.token().is_text) parser_.throw_here("expected a text in single quotes");
        field.doc = parser_.take_text();
      }
      out.push_back(std::move(field));
    } while (parser_.take_mark(','));
    return out;
  }

  bool required() {
    if (!parser_.take_word("not")) return false;
    parser_.expect_word("null");
    return true;
  }

  TypePtr type(int depth) {
    if (depth > kMaxTypeDepth) parser_.throw_here("types nest too deep");
    const size_t at = parser_.position();
    const std::string name = lower(parser_.take_name("a type"));
    if (name == "struct") {
      parser_.expect_mark('<');
      auto members = fields(depth);
      parser_.expect_mark('>');
      return struct_(std::move(members));
    }
    if (name == "list" || name == "array") {
      parser_.expect_mark('<');
      const int32_t id = next_id_++;
      TypePtr element = type(depth + 1);
      const bool element_required = required();
      parser_.expect_mark('>');
      return list(id, std::move(element), element_required);
    }
    if (name == "map") {
      parser_.expect_mark('<');
      const int32_t key_id = next_id_++;
      TypePtr key = type(depth + 1);
      required();  // keys always are
      parser_.expect_mark(',');
      const int32_t value_id = next_id_++;
      TypePtr value = type(depth + 1);
      const bool value_required = required();
      parser_.expect_mark('>');
      return map(key_id, std::move(key), value_id, std::move(value), value_required);
    }
    std::string text(iceberg_name(name));
    if (parser_.is_mark('(') || parser_.is_mark('[')) {
      const size_t brackets = parser_.position();
      const char close = parser_.is_mark('(') ? ')' : ']';
      while (!parser_.take_mark(close)) {
        if (parser_.at_end()) parser_.throw_at(brackets, "a bracket has no end");
        parser_.take_text();
      }
      // A length of varchar means nothing to Iceberg.
      const std::string_view length = parser_.since(brackets);
      // The specification's own name of the type is fixed(L), and that in metadata fixed[L].
      if (text == "fixed") {
        text += message("[{}]", length.substr(1, length.size() - 2));
      } else if (text != "string") {
        text += length;
      }
    }
    try {
      return parse_primitive(text);
    } catch (const Error&) {
      parser_.throw_at(at, message("'{}' is no type", text));
    }
  }

  Parser parser_;
  int32_t next_id_ = 1;
};

// ---- Partitions and sort orders ----

struct Term {
  Transform transform;
  const NestedField* source = nullptr;
  std::string source_name;
};

const NestedField& find_source(const Schema& schema, const Parser& parser, size_t at, std::string_view name) {
  const NestedField* field = schema.find(name);
  if (field == nullptr) field = schema.find(name, NameCase::kInsensitive);
  if (field == nullptr) parser.throw_at(at, message("there is no column '{}'", name));
  return *field;
}

std::string take_path(Parser& parser) {
  std::string path = parser.take_name("a column");
  while (parser.take_mark('.')) path += "." + parser.take_name("a field");
  return path;
}

Transform make_transform(const Parser& parser, size_t at, std::string_view name, std::optional<int32_t> parameter) {
  const std::string singular(name.ends_with('s') ? name.substr(0, name.size() - 1) : name);
  const bool takes_parameter = name == "bucket" || name == "truncate";
  if (takes_parameter != parameter.has_value()) {
    parser.throw_at(at, message(takes_parameter ? "'{}' takes a number too" : "'{}' takes no number", name));
  }
  if (name == "bucket") return Transform::bucket(*parameter);
  if (name == "truncate") return Transform::truncate(*parameter);
  const Transform transform =
      Transform::parse(name == "identity" || name == "void" ? name : std::string_view(singular));
  if (transform.is_unknown()) parser.throw_at(at, message("'{}' is no transform", name));
  return transform;
}

Term take_term(Parser& parser, const Schema& schema) {
  const size_t at = parser.position();
  Term term;
  size_t source_at = at;
  term.source_name = take_path(parser);
  std::optional<int32_t> parameter;
  const bool in_brackets = parser.take_mark('[');
  if (in_brackets) {
    parameter = parser.take_number();
    if (!parameter) parser.throw_here("expected a number");
    parser.expect_mark(']');
  }
  if (in_brackets || parser.is_mark('(')) {
    const std::string name = lower(term.source_name);
    parser.expect_mark('(');
    if (!in_brackets) {
      parameter = parser.take_number();
      if (parameter) parser.expect_mark(',');
    }
    source_at = parser.position();
    term.source_name = take_path(parser);
    if (!parameter && parser.take_mark(',')) {
      parameter = parser.take_number();
      if (!parameter) parser.throw_here("expected a number");
    }
    parser.expect_mark(')');
    term.transform = make_transform(parser, at, name, parameter);
  }
  term.source = &find_source(schema, parser, source_at, term.source_name);
  term.source_name = schema.full_name(term.source->id);
  if (!term.transform.can_transform(*term.source->type)) {
    parser.throw_at(at, message("'{}' cannot be applied to '{}', a {}", term.transform.to_string(), term.source_name,
                                term.source->type->to_string()));
  }
  return term;
}

// As Iceberg Java names partition fields.
std::string default_name(const Term& term) {
  switch (term.transform.kind()) {
    case TransformKind::kBucket:
      return term.source_name + "_bucket";
    case TransformKind::kTruncate:
      return term.source_name + "_trunc";
    case TransformKind::kVoid:
      return term.source_name + "_null";
    case TransformKind::kIdentity:
      return term.source_name;
    default:
      return term.source_name + "_" + term.transform.to_string();
  }
}

template <typename Take>
void for_each_term(Parser& parser, Take take) {
  do {
    take();
  } while (parser.take_mark(','));
  if (!parser.at_end()) parser.throw_here("expected ',' or the end");
}

}  // namespace

SchemaPtr parse_schema(std::string_view text) {
  return SchemaParser(text).parse();
}

PartitionSpec parse_partition_spec(const Schema& schema, std::string_view text) {
  Parser parser(text);
  PartitionSpec spec;
  for_each_term(parser, [&] {
    const size_t at = parser.position();
    const Term term = take_term(parser, schema);
    const std::string name = parser.take_word("as") ? parser.take_name("a name") : default_name(term);
    for (const PartitionField& other : spec.fields) {
      if (other.name == name) parser.throw_at(at, message("two partition fields have the name '{}'", name));
    }
    spec.fields.push_back({.source_ids = {term.source->id},
                           .field_id = kFirstPartitionFieldId + static_cast<int32_t>(spec.fields.size()),
                           .name = name,
                           .transform = term.transform,
                           .extra = {}});
  });
  return spec;
}

SortOrder parse_sort_order(const Schema& schema, std::string_view text) {
  Parser parser(text);
  SortOrder order{.order_id = 1, .fields = {}, .extra = {}};
  for_each_term(parser, [&] {
    const Term term = take_term(parser, schema);
    SortField field{.source_ids = {term.source->id}, .transform = term.transform, .extra = {}};
    if (!parser.take_word("asc") && parser.take_word("desc")) {
      field.direction = SortDirection::kDescending;
      field.null_order = NullOrder::kNullsLast;
    }
    if (parser.take_word("nulls")) {
      const bool first = parser.take_word("first");
      if (!first) parser.expect_word("last");
      field.null_order = first ? NullOrder::kNullsFirst : NullOrder::kNullsLast;
    }
    order.fields.push_back(std::move(field));
  });
  return order;
}

}  // namespace frazil::spec
