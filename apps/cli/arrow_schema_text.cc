#include "arrow_schema_text.h"

#include <utility>

#include "output.h"

namespace frazil::cli {

std::string arrow_schema_text(const Schema& schema) {
  std::string text;
  for (const Field& field : schema.fields()) {
    text += printable(field.name) + ": " + printable(field.type->to_string());
    if (const auto extension = field.extension_name()) text += " (" + printable(*extension) + ")";
    text += field.nullable ? "\n" : " not null\n";
  }
  return text;
}

json::Value arrow_schema_json(const Schema& schema) {
  json::Array fields;
  for (const Field& field : schema.fields()) {
    json::Object object;
    object.emplace_back("name", json::Value(field.name));
    object.emplace_back("type", json::Value(field.type->to_string()));
    object.emplace_back("nullable", json::Value(field.nullable));
    const auto extension = field.extension_name();
    object.emplace_back("extension", extension ? json::Value(*extension) : json::Value());
    fields.emplace_back(std::move(object));
  }
  return json::Value(std::move(fields));
}

}  // namespace frazil::cli
