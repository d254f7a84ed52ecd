// What the tests of this layer share: files of the corpora, types in the notation of the vectors, expected errors.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/spec/type.h"

namespace frazil::spec::test {

inline std::filesystem::path corpora() {
  return FRAZIL_TEST_CORPORA;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Runs `action`; the error that it throws, as text. A failure if it throws none, or one of another kind.
template <typename Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline NestedField field(int32_t id, std::string name, TypePtr type, bool required = false) {
  NestedField result;
  result.id = id;
  result.name = std::move(name);
  result.type = std::move(type);
  result.required = required;
  return result;
}

// Types as Iceberg prints them: "int", "list<1: optional int>", "map<2: int, 3: string>",
// "struct<4: f1: required int, 5: f2: optional string>".
class TypeNotation {
 public:
  static TypePtr parse(std::string_view text) {
    TypeNotation notation(text);
    TypePtr type = notation.type();
    EXPECT_EQ(notation.at_, text.size()) << text;
    return type;
  }

 private:
  explicit TypeNotation(std::string_view text) : text_(text) {}

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string until(std::string_view stops) {
    size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string part(text_.substr(at_, end - at_));
    at_ = end;
    return part;
  }
  int32_t id() {
    int32_t value = std::stoi(until(":"));
    take(": ");
    return value;
  }
  bool required() {
    if (take("required ")) return true;
    take("optional ");
    return false;
  }
  TypePtr type() {
    if (take("list<")) {
      int32_t element_id = id();
      bool is_required = required();
      TypePtr element = type();
      take(">");
      return list(element_id, element, is_required);
    }
    if (take("map<")) {
      int32_t key_id = id();
      TypePtr key = type();
      take(", ");
      int32_t value_id = id();
      bool is_required = required();
      TypePtr value = type();
      take(">");
      return map(key_id, key, value_id, value, is_required);
    }
    if (take("struct<")) {
      std::vector<NestedField> fields;
      while (!take(">")) {
        int32_t field_id = id();
        std::string name = until(":");
        take(": ");
        bool is_required = required();
        fields.push_back(field(field_id, name, type(), is_required));
        take(", ");
      }
      return struct_(std::move(fields));
    }
    std::string name = until("(,>[");
    if (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == '[')) {
      name += until(")]");
      name += text_[at_++];
    }
    return parse_primitive(name);
  }

  std::string_view text_;
  size_t at_ = 0;
};

inline TypePtr type_of(std::string_view text) {
  return TypeNotation::parse(text);
}

}  // namespace frazil::spec::test
