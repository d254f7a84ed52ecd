#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arrow_schema_text.h"
#include "parquet.h"
#include "parquet_files.h"
#include "parquet_text.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/parquet/column_request.h"

namespace frazil::cli {
namespace {

struct Arguments {
  ParquetArguments files;
  std::optional<std::string> form;
};

json::Value column_json(const ParquetFile& file, size_t leaf) {
  const parquet::SchemaNode& node = file.schema().leaf(leaf);
  const std::string logical = logical_text(node.logical);
  json::Object object;
  object.emplace_back("column", json::Value(file.column(leaf)));
  object.emplace_back("type", json::Value(physical_text(node)));
  object.emplace_back("logical_type", logical.empty() ? json::Value() : json::Value(logical));
  object.emplace_back("repetition", json::Value(repetition_text(node.repetition)));
  object.emplace_back("field_id", node.field_id ? json::Value(*node.field_id) : json::Value());
  object.emplace_back("max_definition_level", json::Value(int32_t{node.max_definition}));
  object.emplace_back("max_repetition_level", json::Value(int32_t{node.max_repetition}));
  return json::Value(std::move(object));
}

json::Value file_json(const ParquetFile& file) {
  json::Array columns;
  for (size_t leaf = 0; leaf < file.schema().leaf_count(); ++leaf) columns.push_back(column_json(file, leaf));
  json::Value arrow;
  try {
    arrow = arrow_schema_json(*parquet::arrow_schema(file.schema()));
  } catch (const Error& error) {
    // A schema that Arrow has no form for: the Parquet form is right all the same.
    if (error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kUnsupported) throw;
  }
  json::Object object;
  object.emplace_back("file", json::Value(file.path));
  object.emplace_back("message", json::Value(message_text(file.schema())));
  object.emplace_back("columns", json::Value(std::move(columns)));
  object.emplace_back("arrow", std::move(arrow));
  return json::Value(std::move(object));
}

void print_schema(Session& session, const Arguments& arguments) {
  json::Array all;
  for_each_parquet(session, arguments.files.files, [&](const ParquetFile& file, size_t index, size_t count) {
    if (session.is_json()) {
      all.push_back(file_json(file));
      return;
    }
    if (count > 1) session.print_line((index > 0 ? "\n" : "") + printable(file.path) + ":");
    session.out().write(arguments.form == "arrow" ? arrow_schema_text(*parquet::arrow_schema(file.schema()))
                                                  : message_text(file.schema()));
  });
  if (session.is_json()) session.print_json(json::Value(std::move(all)));
}

}  // namespace

void add_parquet_schema(Command& parquet) {
  auto arguments = std::make_shared<Arguments>();
  Command command = parquet.add("schema", "Print the schema of Parquet files, as Parquet or as Arrow has it");
  add_parquet_files(command, arguments->files);
  command
      .choice("--form", arguments->form, {"parquet", "arrow"},
              "the file's own schema (parquet), or the columns it is read as")
      .example("frazil parquet schema hits.parquet --form arrow")
      .action([arguments](Session& session) { print_schema(session, *arguments); });
}

}  // namespace frazil::cli
