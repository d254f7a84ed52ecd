// frazil_parquet_dump [--batch-rows N] [--batch-bytes N] [--budget N] [--checksums] [--utf8] [--dictionaries] [--arrow]
//                     [--restored] [--quiet] FILE...
//
// What the Parquet reader makes of files, for the tests in this folder. For each file the lines
//
//   {"file":PATH}
//   {"columns":[[NAME,TYPE],...]}
//   [VALUE,...]                  one a row, values as columnar/pretty.h has them
//   {"rows":COUNT,"peak":BYTES}  or {"error":TEXT,"kind":KIND}; peak: held of the memory pool
//
// TYPE is the text of a leaf's Arrow type, ["list",TYPE], ["map",KEY,VALUE] or ["struct",[NAME,TYPE],...]. With --dictionaries
// columns that can be are read as dictionaries, TYPE is that of their values. With --restored types are those of FileReader,
// with the embedded Arrow schema, and with --arrow they are its text; else those of the Parquet schema. Exit code 0 even after an error: damaged files are what
// it is for.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/dictionary_columns.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/schema.h"

namespace {

struct Options {
  int64_t batch_rows = 65536;
  size_t batch_bytes = size_t{64} << 20;
  size_t budget = size_t{256} << 20;
  bool checksums = false;
  bool utf8 = false;
  bool dictionaries = false;
  bool arrow = false;
  bool restored = false;
  bool quiet = false;
};

void print_line(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

std::string quoted(std::string_view text) {
  std::string out;
  frazil::append_json_string(out, text);
  return out;
}

std::string type_tree(const frazil::Field& field) {
  using frazil::TypeId;
  const frazil::DataType& type = *field.type;
  switch (type.id()) {
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kListView:
    case TypeId::kLargeListView:
    case TypeId::kFixedSizeList:
      return "[\"list\"," + type_tree(type.children()[0]) + "]";
    case TypeId::kMap: {
      const auto& entry = type.children()[0].type->children();
      return "[\"map\"," + type_tree(entry[0]) + "," + type_tree(entry[1]) + "]";
    }
    case TypeId::kStruct: {
      std::string out = "[\"struct\"";
      for (const frazil::Field& child : type.children()) {
        out += ",[" + quoted(child.name) + "," + type_tree(child) + "]";
      }
      return out + "]";
    }
    case TypeId::kDictionary:
      return quoted(type.value_type()->to_string());
    default:
      return quoted(type.to_string());
  }
}

template <typename Reader>
void print_rows(Reader& reader, const Options& options, const frazil::MemoryPool& pool) {
  std::string line;
  int64_t rows = 0;
  while (auto batch = reader.next()) {
    rows += batch->row_count();
    validate_full(*batch);
    if (options.quiet) continue;
    for (int64_t row = 0; row < batch->row_count(); ++row) {
      line = "[";
      for (size_t i = 0; i < batch->columns().size(); ++i) {
        if (i > 0) line += ',';
        append_value_json(line, batch->schema()->field(i), *batch->column(i), row);
      }
      line += ']';
      print_line(line);
    }
  }
  print_line("{\"rows\":" + std::to_string(rows) + ",\"peak\":" + std::to_string(pool.stats().held_peak_bytes) + "}");
}

// Names, types and metadata of the schema as FileReader restores it.
void dump_restored(const std::shared_ptr<const frazil::InputFile>& file,
                   const std::shared_ptr<const frazil::parquet::FileMetadata>& metadata, const Options& options,
                   frazil::MemoryPool& pool) {
  using namespace frazil::parquet;
  FileReader reader(file,
                    {.batch_rows = options.batch_rows,
                     .batch_bytes_max = options.batch_bytes,
                     .dictionaries = options.dictionaries ? Dictionaries::kAlways : Dictionaries::kRestored,
                     .verify_checksums = options.checksums ? ChecksumPolicy::kAlways : ChecksumPolicy::kNever,
                     .validate_utf8 = options.utf8,
                     .metadata = metadata},
                    pool);
  std::string columns;
  for (const frazil::Field& field : reader.schema()->fields()) {
    columns += (columns.empty() ? "[" : ",[") + quoted(field.name) + ",";
    columns += options.arrow ? quoted(field.type->to_string()) : type_tree(field);
    for (const auto& [key, value] : field.metadata) {
      if (options.arrow) columns += "," + quoted(key + "=" + value);
    }
    columns += "]";
  }
  print_line("{\"columns\":[" + columns + "]}");
  print_rows(reader, options, pool);
}

void dump(const std::string& path, const Options& options) {
  using namespace frazil;
  using namespace frazil::parquet;
  MemoryPool pool({.budget_bytes = options.budget});
  LocalFileSystem files;
  std::shared_ptr<const InputFile> file = files.open_input(path);
  auto metadata = read_metadata(*file, pool);
  const FileSchema& schema = metadata->schema();

  if (options.arrow || options.restored) {
    dump_restored(file, metadata, options, pool);
    return;
  }
  ReadOptions read{.columns = request_columns(schema),
                   .batch_rows = options.batch_rows,
                   .batch_bytes_max = options.batch_bytes,
                   .verify_checksums = options.checksums ? ChecksumPolicy::kAlways : ChecksumPolicy::kNever,
                   .validate_utf8 = options.utf8};
  if (options.dictionaries) request_dictionaries(read.columns, *metadata, 0, metadata->row_groups().size());
  std::string columns;
  for (const ColumnRequest& request : read.columns) {
    columns +=
        (columns.empty() ? "[" : ",[") + quoted(request.field.name) + "," + type_tree(arrow_field(request)) + "]";
  }
  print_line("{\"columns\":[" + columns + "]}");

  BatchReader reader(file, metadata, read, pool);
  print_rows(reader, options, pool);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--batch-rows" && i + 1 < argc) {
      options.batch_rows = std::atoll(argv[++i]);
    } else if (argument == "--batch-bytes" && i + 1 < argc) {
      options.batch_bytes = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--budget" && i + 1 < argc) {
      options.budget = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--checksums") {
      options.checksums = true;
    } else if (argument == "--utf8") {
      options.utf8 = true;
    } else if (argument == "--dictionaries") {
      options.dictionaries = true;
    } else if (argument == "--arrow") {
      options.arrow = true;
    } else if (argument == "--restored") {
      options.restored = true;
    } else if (argument == "--quiet") {
      options.quiet = true;
    } else {
      print_line("{\"file\":" + quoted(argument) + "}");
      std::fflush(stdout);
      try {
        dump(argument, options);
      } catch (const frazil::Error& error) {
        print_line("{\"error\":" + quoted(error.what()) + ",\"kind\":" + quoted(frazil::to_string(error.kind())) + "}");
      } catch (const std::bad_alloc&) {
        print_line("{\"error\":\"out of memory\",\"kind\":\"bad_alloc\"}");
      }
    }
  }
  return 0;
}
