#include "frazil/spec/source_ids.h"

#include <utility>

#include "frazil/base/error.h"

namespace frazil::spec {

std::vector<int32_t> read_source_ids(ObjectReader& reader, std::string_view what) {
  const json::Value* list = reader.optional("source-ids");
  if (list == nullptr) return {reader.required_int("source-id")};
  reader.optional("source-id");  // redundant beside the list
  std::vector<int32_t> ids = reader.int_list(*list, "source-ids");
  if (ids.empty()) throw_corrupt(CorruptError::kNoOffset, "{}: 'source-ids' must not be empty", what);
  return ids;
}

void write_source_ids(json::Object& object, const std::vector<int32_t>& source_ids) {
  if (source_ids.size() == 1) {
    object.emplace_back("source-id", json::Value(int64_t{source_ids.front()}));
  } else {
    object.emplace_back("source-ids", ints_to_json(source_ids));
  }
}

std::string describe_term(const Transform& transform, const std::vector<int32_t>& source_ids, const Schema& schema) {
  std::string names;
  for (int32_t id : source_ids) {
    if (!names.empty()) names += ", ";
    std::string name = schema.full_name(id);
    names += name.empty() ? std::to_string(id) : name;
  }
  if (transform.kind() == TransformKind::kIdentity && source_ids.size() == 1) return names;
  return transform.to_string() + "(" + names + ")";
}

}  // namespace frazil::spec
