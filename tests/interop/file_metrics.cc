// Writes the rows of a Parquet file into another one and prints the metrics that its manifest entry would have:
// tests/interop/file_metrics.py holds them against PyIceberg's of the same rows.
//
//   frazil_file_metrics SCHEMA IN OUT [KEY=VALUE ...]     SCHEMA: a file with the table's schema in JSON; its columns, in
//                                                         this order, are those of IN. KEY=VALUE: table properties
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/json/value.h"
#include "frazil/manifest/data_file_json.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/schema.h"
#include "frazil/write/metrics.h"

namespace frazil {
namespace {

std::string run(int argc, char** argv) {
  MemoryPool pool;
  LocalFileSystem files;
  const spec::SchemaPtr schema = spec::schema_from_json(json::parse(read_file(files, argv[1], pool, 1 << 20).text()));
  spec::Properties properties;
  for (int i = 4; i < argc; ++i) {
    const std::string text = argv[i];
    properties.emplace_back(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  parquet::FileReader reader(files.open_input(argv[2]), {.use_embedded_schema = false}, pool);
  const auto config = write::MetricsConfig::from_properties(properties, *schema);
  parquet::WriterOptions options = parquet::options_from_properties(properties);
  for (const spec::NestedField& field : schema->fields())
    options.columns.statistics_length =
        std::max(options.columns.statistics_length, config.mode(field.id).bound_bytes());
  parquet::FileWriter writer(files.open_output(argv[3]), spec::to_arrow_schema(*schema), options, pool);
  while (const auto batch = reader.next()) writer.write(*batch);
  const parquet::FileSummary summary = writer.finish();
  manifest::DataFile file;
  file.path = argv[3];
  write::add_metrics(file, summary, *schema, config);
  return json::write(manifest::data_file_to_json(file));
}

}  // namespace
}  // namespace frazil

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: frazil_file_metrics SCHEMA IN OUT [KEY=VALUE ...]\n");
    return 2;
  }
  try {
    std::puts(frazil::run(argc, argv).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
