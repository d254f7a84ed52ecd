#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "input_rows.h"
#include "names.h"
#include "session.h"
#include "table_definition.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/ddl.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::vector<std::string> name;
  std::optional<std::string> schema;
  std::optional<std::string> like;
  InputArguments input;
  TableDefinition definition;
};

// Columns as text, or Iceberg's JSON.
spec::SchemaPtr parse_columns(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return spec::parse_schema(text);
  return spec::schema_from_json(json::parse(text));
}

// Columns, or a file with them.
spec::SchemaPtr read_schema(const std::string& argument) {
  struct stat found{};
  if (stat(argument.c_str(), &found) != 0) {
    // A column has a name and a type with a space between.
    if (argument.find_first_of(" \t\n{") == std::string::npos && argument.find_first_of("./") != std::string::npos) {
      throw_error(ErrorKind::kNotFound, "there is no file {}", argument);
    }
    return parse_columns(argument);
  }
  std::ifstream file(argument, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !S_ISREG(found.st_mode)) throw_error(ErrorKind::kIo, "{} cannot be read as a file", argument);
  try {
    return parse_columns(text);
  } catch (Error& error) {
    error.add_context("reading the schema in " + argument);
    throw;
  }
}

void create(Session& session, const Arguments& arguments) {
  const EntityName entity = parse_entity(arguments.name);
  if (entity.is_namespace) {
    create_namespace(session, entity.name, arguments.definition.properties);
    return;
  }
  if (arguments.schema.has_value() == arguments.like.has_value()) {
    throw Error(ErrorKind::kInvalidArgument, "either --schema or --like says which columns the table has")
        .set_hint("--schema \"id bigint not null, ts timestamptz\", or --like FILE");
  }
  const auto schema =
      arguments.schema
          ? read_schema(*arguments.schema)
          : spec::schema_from_arrow(*open_input(session, *arguments.like, arguments.input, nullptr).rows->schema());
  const catalog::LoadedTable staged = stage_table(session, entity.name, make_new_table(arguments.definition, schema));
  const catalog::LoadedTable made = staged.store->commit(session.context(), staged, {}, {});
  if (session.is_json()) {
    session.print_json(json::Value(json::Object{{"table", json::Value(made.name)},
                                                {"uuid", json::Value(made.metadata->table_uuid.value_or(""))},
                                                {"location", json::Value(made.metadata->location)},
                                                {"metadata_location", json::Value(made.metadata_location)}}));
  } else {
    session.print_line(printable("created " + made.name + " at " + made.metadata->location));
  }
}

}  // namespace

void add_create(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  auto command = root.add("create", "Create a table");
  command.positionals("TABLE", arguments->name, "namespace.table, or a path; 'namespace NAME' creates a namespace")
      .option("--schema", arguments->schema, "FILE|COLUMNS", "columns with types, or a file with them, also as JSON")
      .option("--like", arguments->like, "FILE", "the columns of a Parquet, CSV or JSON lines file");
  add_table_definition(command, arguments->definition);
  add_input_format(command, arguments->input);
  command
      .example(
          "frazil create web.hits --schema \"id bigint not null, ts timestamptz, host string\" --partition-by "
          "\"day(ts), host\"")
      .example("frazil create web.hits --like hits.parquet --partition-by \"day(ts)\" --sort-by ts")
      .example("frazil create ./lake/hits --like hits.csv.gz --format-version 3")
      .action([arguments](Session& session) { create(session, *arguments); });
}

}  // namespace frazil::cli
