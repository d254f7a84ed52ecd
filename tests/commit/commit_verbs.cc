// The verbs of a catalog, for tests/commit/catalogs.py: one JSON object a line in, one out.
//
//   frazil_commit_verbs URI WAREHOUSE [KEY=VALUE...]        the catalog "lake"
//
//   {"verb": "create_namespace" | "drop_namespace", "name": S, "properties"?: {...}}
//   {"verb": "create", "table": S, "schema": {...}, "spec"?: {...}, "order"?: {...}, "properties"?: {...}, "version"?: I}
//   {"verb": "append", "table": S, "files": [{"path": S, "rows": I, "bytes": I}...]}
//   {"verb": "update", "table": S, "updates": [{...}]}      updates of the REST specification
//   {"verb": "drop" | "purge", "table": S}   {"verb": "rename", "table": S, "to": S}   {"verb": "load", "table": S}
//
//   {"metadata_location": S, "rows": S (total-records)} or {"error": kind, "message": S}
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/catalog/catalog.h"
#include "frazil/commit/append.h"
#include "frazil/commit/purge.h"
#include "frazil/io/file_systems.h"
#include "frazil/json/value.h"
#include "frazil/manifest/data_file.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/table_update.h"

namespace frazil {
namespace {

catalog::Properties properties_of(const json::Value& request) {
  catalog::Properties properties;
  if (const json::Value* given = request.find("properties")) {
    for (const auto& [key, value] : given->as_object()) properties[key] = value.as_string();
  }
  return properties;
}

class Verbs {
 public:
  explicit Verbs(catalog::Properties properties)
      : catalog_(catalog::open_catalog(catalog::Configuration(), "lake", FileSystems(), context_.memory_pool(),
                                       {.overrides = std::move(properties), .location_rules = {}})) {}

  json::Value run(const json::Value& request) {
    const std::string& verb = request.at("verb").as_string();
    if (verb == "create_namespace") {
      catalog_->create_namespace(catalog::parse_namespace(request.at("name").as_string()), properties_of(request));
      return json::Object();
    }
    if (verb == "drop_namespace") {
      catalog_->drop_namespace(catalog::parse_namespace(request.at("name").as_string()));
      return json::Object();
    }
    const catalog::TableIdentifier table = catalog::parse_identifier(request.at("table").as_string());
    if (verb == "create") return describe(create(table, request));
    if (verb == "append") return describe(append(table, request.at("files").as_array()));
    if (verb == "load") return describe(catalog_->load_table(table));
    if (verb == "update") {
      std::vector<spec::TableUpdate> updates;
      for (const json::Value& item : request.at("updates").as_array()) {
        updates.push_back(spec::table_update_from_json(item));
      }
      const catalog::LoadedTable loaded = catalog_->load_table(table);
      return describe(loaded.store->commit(context_, loaded, {}, updates));
    }
    if (verb == "drop") {
      catalog_->drop_table(table);
    } else if (verb == "purge") {
      const commit::PurgeResult result = commit::drop_and_purge(context_, *catalog_, table);
      if (result.failure_count > 0) throw_error(ErrorKind::kIo, "{}", result.failures.front());
    } else if (verb == "rename") {
      catalog_->rename_table(table, catalog::parse_identifier(request.at("to").as_string()));
    } else {
      throw_error(ErrorKind::kInvalidArgument, "there is no verb '{}'", verb);
    }
    return json::Object();
  }

 private:
  catalog::LoadedTable create(const catalog::TableIdentifier& identifier, const json::Value& request) {
    spec::NewTable table;
    table.schema = spec::schema_from_json(request.at("schema"));
    if (const json::Value* spec = request.find("spec")) table.spec = spec::partition_spec_from_json(*spec);
    if (const json::Value* order = request.find("order")) table.sort_order = spec::sort_order_from_json(*order);
    for (const auto& [key, value] : properties_of(request)) table.properties.emplace_back(key, value);
    if (const json::Value* version = request.find("version")) table.format_version = version->as_int32();
    return catalog_->create_table(context_, identifier, table);
  }

  catalog::LoadedTable append(const catalog::TableIdentifier& identifier, const json::Array& files) {
    const catalog::LoadedTable table = catalog_->load_table(identifier);
    std::vector<manifest::DataFile> added;
    for (const json::Value& item : files) {
      manifest::DataFile file;
      file.path = item.at("path").as_string();
      file.record_count = item.at("rows").as_int64();
      file.file_size_bytes = item.at("bytes").as_int64();
      file.spec_id = table.metadata->default_spec_id;
      added.push_back(std::move(file));
    }
    return commit::append(context_, table, std::move(added));
  }

  static json::Value describe(const catalog::LoadedTable& table) {
    json::Object answer;
    answer.emplace_back("metadata_location", json::Value(table.metadata_location));
    const spec::Snapshot* snapshot = table.metadata->current_snapshot();
    answer.emplace_back("rows", snapshot == nullptr ? "0" : snapshot->summary_value("total-records").value_or(""));
    return answer;
  }

  Context context_{{.threads = 1}};
  std::unique_ptr<catalog::Catalog> catalog_;
};

int run(int count, char** arguments) {
  catalog::Properties properties = {{"uri", arguments[1]}, {"warehouse", arguments[2]}};
  for (int i = 3; i < count; ++i) {
    const std::string text = arguments[i];
    properties[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  Verbs verbs(std::move(properties));
  for (std::string line; std::getline(std::cin, line);) {
    json::Value answer;
    try {
      answer = verbs.run(json::parse(line));
    } catch (const Error& error) {
      json::Object object;
      object.emplace_back("error", json::Value(to_string(error.kind())));
      object.emplace_back("message", json::Value(error.what()));
      answer = std::move(object);
    }
    std::cout << json::write(answer) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace frazil

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: frazil_commit_verbs URI WAREHOUSE [KEY=VALUE...]\n");
    return 2;
  }
  try {
    return frazil::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
