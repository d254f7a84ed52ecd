// Reading a JSON object member by member, so that what no one asked for can be kept, and so that every error says which
// object and which key it is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"

namespace frazil::spec {

class ObjectReader {
 public:
  // Borrows both. `what` names the object in errors: "snapshot". Throws CorruptError if the value is not an object.
  ObjectReader(const json::Value& value, std::string_view what);

  // A null member counts as absent.
  const json::Value* optional(std::string_view key);
  // Throws CorruptError "snapshot: required key 'snapshot-id' is missing" (or "is null").
  const json::Value& required(std::string_view key);
  // Whether the member is there, null or not; it is not counted as read.
  bool has(std::string_view key) const;

  int32_t required_int(std::string_view key);
  int64_t required_long(std::string_view key);
  bool required_bool(std::string_view key);
  std::string required_string(std::string_view key);
  const json::Array& required_array(std::string_view key);
  // Snapshot ids. They are signed 64-bit integers, but some writers print them unsigned: those wrap to the number with
  // the same bits, which is what their Avro files hold.
  int64_t required_id(std::string_view key);
  std::optional<int64_t> optional_id(std::string_view key);
  std::optional<int32_t> optional_int(std::string_view key);
  std::optional<int64_t> optional_long(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);
  // nullptr if absent.
  const json::Array* optional_array(std::string_view key);
  // The members of an object of texts in their order; numbers and booleans as their JSON text. Empty if absent.
  std::vector<std::pair<std::string, std::string>> optional_texts(std::string_view key);
  std::vector<int32_t> int_list(const json::Value& value, std::string_view key);

  // Members that were not read. Call it last.
  json::Object rest() const;

 private:
  const json::Value* find(std::string_view key);
  template <typename Read>
  auto read(const json::Value& value, std::string_view key, Read&& as) const;

  const json::Object* members_;
  std::string_view what_;
  std::vector<bool> seen_;
};

// {"a": "b"}
json::Value texts_to_json(const std::vector<std::pair<std::string, std::string>>& texts);
json::Value ints_to_json(const std::vector<int32_t>& values);
// Appends what was kept from reading.
void append_extra(json::Object& object, const json::Object& extra);

}  // namespace frazil::spec
