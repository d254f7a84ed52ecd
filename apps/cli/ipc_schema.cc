#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow_schema_text.h"
#include "ipc.h"
#include "ipc_files.h"
#include "session.h"

#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

json::Value metadata_json(const Metadata& metadata) {
  json::Array pairs;
  for (const auto& [key, value] : metadata) {
    json::Object pair;
    // Both may be any bytes, and keys may repeat.
    pair.emplace_back("key", json::Value(printable(key)));
    pair.emplace_back("value", json::Value(printable(value)));
    pairs.emplace_back(std::move(pair));
  }
  return json::Value(std::move(pairs));
}

json::Value reader_json(const std::string& path, const ipc::Reader& reader) {
  json::Object object;
  object.emplace_back("file", json::Value(path));
  object.emplace_back("format", json::Value(ipc_format_name(reader.format())));
  object.emplace_back("fields", arrow_schema_json(*reader.schema()));
  object.emplace_back("schema_metadata", metadata_json(reader.schema()->metadata()));
  object.emplace_back("file_metadata", metadata_json(reader.file_metadata()));
  return json::Value(std::move(object));
}

void print_schemas(Session& session, const std::vector<std::string>& files) {
  json::Array all;
  for_each_ipc(session, files, [&](const std::string& path, size_t index, size_t count) {
    const std::unique_ptr<ipc::Reader> reader = open_ipc(session, path);
    if (session.is_json()) {
      all.push_back(reader_json(path, *reader));
      return;
    }
    if (count > 1) session.print_line((index > 0 ? "\n" : "") + printable(path) + ":");
    session.out().write(arrow_schema_text(*reader->schema()));
  });
  if (session.is_json()) session.print_json(json::Value(std::move(all)));
}

}  // namespace

void add_ipc_schema(Command& ipc) {
  auto files = std::make_shared<std::vector<std::string>>();
  Command command = ipc.add("schema", "Print the schema of Arrow files and streams");
  add_ipc_files(command, *files);
  command.example("frazil ipc schema hits.arrow").action([files](Session& session) { print_schemas(session, *files); });
}

}  // namespace frazil::cli
