#include "frazil/spec/json_object.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil::spec {

ObjectReader::ObjectReader(const json::Value& value, std::string_view what) : members_(nullptr), what_(what) {
  if (value.kind() != json::Value::Kind::kObject) {
    throw_corrupt(CorruptError::kNoOffset, "{}: expected a JSON object", what);
  }
  members_ = &value.as_object();
  seen_.resize(members_->size());
}

const json::Value* ObjectReader::find(std::string_view key) {
  for (size_t i = 0; i < members_->size(); ++i) {
    if ((*members_)[i].first != key) continue;
    seen_[i] = true;
    return &(*members_)[i].second;
  }
  return nullptr;
}

const json::Value* ObjectReader::optional(std::string_view key) {
  const json::Value* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const json::Value& ObjectReader::required(std::string_view key) {
  const json::Value* value = find(key);
  if (value == nullptr) throw_corrupt(CorruptError::kNoOffset, "{}: required key '{}' is missing", what_, key);
  if (value->is_null()) throw_corrupt(CorruptError::kNoOffset, "{}: required key '{}' is null", what_, key);
  return *value;
}

bool ObjectReader::has(std::string_view key) const {
  for (const auto& [name, value] : *members_) {
    if (name == key) return true;
  }
  return false;
}

template <typename Read>
auto ObjectReader::read(const json::Value& value, std::string_view key, Read&& as) const {
  try {
    return as(value);
  } catch (const Error& error) {
    throw_corrupt(CorruptError::kNoOffset, "{}: key '{}': {}", what_, key, error.message());
  }
}

int32_t ObjectReader::required_int(std::string_view key) {
  return read(required(key), key, [](const json::Value& value) { return value.as_int32(); });
}

int64_t ObjectReader::required_long(std::string_view key) {
  return read(required(key), key, [](const json::Value& value) { return value.as_int64(); });
}

namespace {

int64_t id_of(const json::Value& value) {
  if (value.kind() == json::Value::Kind::kNumber) {
    if (std::optional<uint64_t> id = parse_uint64(value.number_text())) return static_cast<int64_t>(*id);
  }
  return value.as_int64();
}

}  // namespace

int64_t ObjectReader::required_id(std::string_view key) {
  return read(required(key), key, id_of);
}

std::optional<int64_t> ObjectReader::optional_id(std::string_view key) {
  const json::Value* value = optional(key);
  if (value == nullptr) return std::nullopt;
  return read(*value, key, id_of);
}

bool ObjectReader::required_bool(std::string_view key) {
  return read(required(key), key, [](const json::Value& value) { return value.as_bool(); });
}

std::string ObjectReader::required_string(std::string_view key) {
  return read(required(key), key, [](const json::Value& value) { return value.as_string(); });
}

const json::Array& ObjectReader::required_array(std::string_view key) {
  return *read(required(key), key, [](const json::Value& value) { return &value.as_array(); });
}

std::optional<int32_t> ObjectReader::optional_int(std::string_view key) {
  const json::Value* value = optional(key);
  if (value == nullptr) return std::nullopt;
  return read(*value, key, [](const json::Value& number) { return number.as_int32(); });
}

std::optional<int64_t> ObjectReader::optional_long(std::string_view key) {
  const json::Value* value = optional(key);
  if (value == nullptr) return std::nullopt;
  return read(*value, key, [](const json::Value& number) { return number.as_int64(); });
}

std::optional<std::string> ObjectReader::optional_string(std::string_view key) {
  const json::Value* value = optional(key);
  if (value == nullptr) return std::nullopt;
  return read(*value, key, [](const json::Value& text) { return text.as_string(); });
}

const json::Array* ObjectReader::optional_array(std::string_view key) {
  const json::Value* value = optional(key);
  if (value == nullptr) return nullptr;
  return read(*value, key, [](const json::Value& array) { return &array.as_array(); });
}

std::vector<std::pair<std::string, std::string>> ObjectReader::optional_texts(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> texts;
  const json::Value* value = optional(key);
  if (value == nullptr) return texts;
  const auto& members = *read(*value, key, [](const json::Value& object) { return &object.as_object(); });
  texts.reserve(members.size());
  for (const auto& [name, member] : members) {
    switch (member.kind()) {
      case json::Value::Kind::kString:
        texts.emplace_back(name, member.as_string());
        break;
      case json::Value::Kind::kNumber:
        texts.emplace_back(name, member.number_text());
        break;
      case json::Value::Kind::kBool:
        texts.emplace_back(name, member.as_bool() ? "true" : "false");
        break;
      default:
        throw_corrupt(CorruptError::kNoOffset, "{}: the value of '{}' in '{}' must be a string", what_, name, key);
    }
  }
  return texts;
}

std::vector<int32_t> ObjectReader::int_list(const json::Value& value, std::string_view key) {
  return read(value, key, [](const json::Value& list) {
    std::vector<int32_t> numbers;
    numbers.reserve(list.as_array().size());
    for (const json::Value& item : list.as_array()) numbers.push_back(item.as_int32());
    return numbers;
  });
}

json::Object ObjectReader::rest() const {
  json::Object rest;
  for (size_t i = 0; i < members_->size(); ++i) {
    if (!seen_[i]) rest.push_back((*members_)[i]);
  }
  return rest;
}

json::Value texts_to_json(const std::vector<std::pair<std::string, std::string>>& texts) {
  json::Object object;
  object.reserve(texts.size());
  for (const auto& [key, value] : texts) object.emplace_back(key, json::Value(value));
  return json::Value(std::move(object));
}

json::Value ints_to_json(const std::vector<int32_t>& values) {
  json::Array array;
  array.reserve(values.size());
  for (int32_t value : values) array.emplace_back(int64_t{value});
  return json::Value(std::move(array));
}

void append_extra(json::Object& object, const json::Object& extra) {
  size_t known = object.size();
  for (const json::Member& member : extra) {
    // A member that this version writes itself wins: an upgraded table may carry it among the unknown ones.
    bool written = std::any_of(object.begin(), object.begin() + static_cast<std::ptrdiff_t>(known),
                               [&](const json::Member& each) { return each.first == member.first; });
    if (!written) object.push_back(member);
  }
}

}  // namespace frazil::spec
