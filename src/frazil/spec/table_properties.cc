#include "frazil/spec/table_properties.h"

#include <algorithm>
#include <string>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil::spec {

namespace {

const std::string* find(const Properties& properties, std::string_view key) {
  for (const auto& [name, value] : properties) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

int64_t property_int(const Properties& properties, std::string_view key, int64_t standard, int64_t minimum) {
  const std::string* text = find(properties, key);
  if (text == nullptr) return standard;
  const std::optional<int64_t> value = parse_int64(*text);
  if (!value || *value < minimum) {
    throw_error(ErrorKind::kInvalidArgument, "table property {} must be a whole number of at least {}, not '{}'", key,
                minimum, excerpt(*text));
  }
  return *value;
}

std::string property_word(const Properties& properties, std::string_view key, std::string_view standard) {
  const std::string* text = find(properties, key);
  std::string word(text == nullptr ? standard : std::string_view(*text));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

bool property_bool(const Properties& properties, std::string_view key, bool standard) {
  const std::string word = property_word(properties, key, standard ? "true" : "false");
  if (word == "true") return true;
  if (word == "false") return false;
  throw_error(ErrorKind::kInvalidArgument, "table property {} must be true or false, not '{}'", key, excerpt(word));
}

void set_property(Properties& properties, std::string_view key, std::string_view value) {
  for (auto& [name, old] : properties) {
    if (name != key) continue;
    old = value;
    return;
  }
  properties.emplace_back(key, value);
}

void remove_property(Properties& properties, std::string_view key) {
  std::erase_if(properties, [&](const auto& property) { return property.first == key; });
}

}  // namespace frazil::spec
