// frazil_parquet_rewrite [OPTION...] IN OUT
//
// Writes the rows of a Parquet file into another one, for the tests in this folder. Columns are as they are stored
// (shredded variants as their parts); with --variants variants are whole.
//
//   --codec NAME --level N        uncompressed, snappy, gzip, brotli, zstd, lz4
//   --profile legacy|compatible   --page-version 1|2   --encoding NAME (where the type has it)   --no-dictionary
//   --page-bytes N --page-rows N --dictionary-bytes N --row-group-rows N --row-group-bytes N --batch-rows N
//   --no-statistics --no-page-index --page-histograms --checksums --bloom (all columns that can) --cut N (bytes of bounds)
//   --sorted-by PATH              recorded, not done
//   --key-value KEY VALUE         --views: text and bytes are handed over as views
//   --arrow-schema                columns are as the Arrow schema in the file has them, and it is written again
//
// Prints one JSON line, {"rows":N,"bytes":N,"row_groups":[OFFSET...],"leaves":[{"path":..,"id":..,"bytes":..,"values":..,
// "nulls":..,"nans":..,"min":HEX,"max":HEX,"exact":[..]}...],"peak":BYTES}, or {"error":TEXT,"kind":KIND,"stage":"read"|"write"}
// with exit code 1.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/parquet/metadata.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

struct Options {
  WriterOptions writer;
  std::optional<Encoding> encoding;
  bool bloom = false;
  bool variants = false;
  bool views = false;
  bool arrow_schema = false;
  int64_t batch_rows = 65536;
  std::vector<std::string> paths;
};

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

Encoding encoding_of(std::string_view name) {
  for (int i = 0; i < 10; ++i) {
    if (to_string(static_cast<Encoding>(i)) == name) return static_cast<Encoding>(i);
  }
  throw_error(ErrorKind::kInvalidArgument, "encoding '{}'", name);
}

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::pair<std::string, std::string>> properties;
  int at = 1;
  const auto next = [&]() -> std::string {
    if (at >= argc) throw_error(ErrorKind::kInvalidArgument, "'{}' lacks its value", argv[argc - 1]);
    return argv[at++];
  };
  while (at < argc) {
    const std::string name = next();
    ChunkOptions& columns = options.writer.columns;
    if (name == "--codec") {
      properties.emplace_back("write.parquet.compression-codec", next());
    } else if (name == "--level") {
      properties.emplace_back("write.parquet.compression-level", next());
    } else if (name == "--page-version") {
      properties.emplace_back("write.parquet.page-version", "v" + next());
    } else if (name == "--page-bytes") {
      properties.emplace_back("write.parquet.page-size-bytes", next());
    } else if (name == "--page-rows") {
      properties.emplace_back("write.parquet.page-row-limit", next());
    } else if (name == "--dictionary-bytes") {
      properties.emplace_back("write.parquet.dict-size-bytes", next());
    } else if (name == "--row-group-rows") {
      properties.emplace_back("write.parquet.row-group-limit", next());
    } else if (name == "--row-group-bytes") {
      properties.emplace_back("write.parquet.row-group-size-bytes", next());
    } else if (name == "--profile") {
      columns.profile = next() == "legacy" ? EncodingProfile::kLegacy : EncodingProfile::kCompatible;
    } else if (name == "--encoding") {
      options.encoding = encoding_of(next());
    } else if (name == "--no-dictionary") {
      columns.dictionary = false;
    } else if (name == "--batch-rows") {
      options.batch_rows = std::atoll(next().c_str());
    } else if (name == "--no-statistics") {
      columns.statistics = false;
    } else if (name == "--no-page-index") {
      options.writer.page_index = false;
    } else if (name == "--page-histograms") {
      columns.page_histograms = true;
    } else if (name == "--checksums") {
      columns.checksums = true;
    } else if (name == "--bloom") {
      options.bloom = true;
    } else if (name == "--cut") {
      columns.statistics_length = columns.column_index_length = std::strtoull(next().c_str(), nullptr, 10);
    } else if (name == "--sorted-by") {
      options.writer.sorting_columns.push_back({.path = next()});
    } else if (name == "--key-value") {
      std::string key = next();
      options.writer.key_values.emplace_back(std::move(key), next());
    } else if (name == "--variants") {
      options.variants = true;
    } else if (name == "--views") {
      options.views = true;
    } else if (name == "--arrow-schema") {
      options.arrow_schema = options.writer.embed_arrow_schema = true;
    } else if (name.starts_with("--")) {
      throw_error(ErrorKind::kInvalidArgument, "option '{}'", name);
    } else {
      options.paths.push_back(name);
    }
  }
  if (options.paths.size() != 2) throw_error(ErrorKind::kInvalidArgument, "two files are wanted");
  options.writer = options_from_properties(properties, std::move(options.writer));
  return options;
}

bool has_encoding(const LeafDescription& leaf, Encoding encoding) {
  const PhysicalType type = leaf.file_type.physical;
  const bool is_fixed = type == PhysicalType::kFixedLenByteArray;
  switch (encoding) {
    case Encoding::kPlain:
      return true;
    case Encoding::kRleDictionary:
    case Encoding::kPlainDictionary:
      return type != PhysicalType::kBoolean;
    case Encoding::kRle:
      return type == PhysicalType::kBoolean;
    case Encoding::kDeltaBinaryPacked:
      return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
    case Encoding::kDeltaLengthByteArray:
      return type == PhysicalType::kByteArray;
    case Encoding::kDeltaByteArray:
      return type == PhysicalType::kByteArray || is_fixed;
    case Encoding::kByteStreamSplit:
      return type != PhysicalType::kBoolean && type != PhysicalType::kByteArray;
    default:
      return false;
  }
}

void ask_for_views(std::vector<ColumnRequest>& requests) {
  for (ColumnRequest& request : requests) {
    if (request.kind == ColumnRequest::Kind::kLeaf && request.field.type->id() == TypeId::kUtf8) {
      request.field.type = primitive(TypeId::kUtf8View);
    } else if (request.kind == ColumnRequest::Kind::kLeaf && request.field.type->id() == TypeId::kBinary) {
      request.field.type = primitive(TypeId::kBinaryView);
    }
    ask_for_views(request.children);
  }
}

std::string text_of(const FileSummary& summary, size_t peak) {
  std::string text =
      "{\"rows\":" + std::to_string(summary.row_count) + ",\"bytes\":" + std::to_string(summary.file_bytes);
  text += ",\"row_groups\":[";
  for (size_t i = 0; i < summary.row_group_offsets.size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(summary.row_group_offsets[i]);
  }
  text += "],\"leaves\":[";
  for (const LeafSummary& leaf : summary.leaves) {
    if (&leaf != summary.leaves.data()) text += ',';
    text += "{\"path\":" + quoted(leaf.path);
    if (leaf.field_id) text += ",\"id\":" + std::to_string(*leaf.field_id);
    text += ",\"bytes\":" + std::to_string(leaf.compressed_bytes) + ",\"values\":" + std::to_string(leaf.value_count);
    text += ",\"nulls\":" + std::to_string(leaf.null_count);
    if (leaf.nan_count) text += ",\"nans\":" + std::to_string(*leaf.nan_count);
    if (leaf.bounds) {
      text += ",\"min\":\"" + encode_hex(std::as_bytes(std::span(leaf.bounds->min))) + "\",\"max\":\"" +
              encode_hex(std::as_bytes(std::span(leaf.bounds->max))) + "\",\"exact\":[" +
              (leaf.bounds->is_min_exact ? "true," : "false,") + (leaf.bounds->is_max_exact ? "true]" : "false]");
    }
    text += '}';
  }
  return text + "],\"peak\":" + std::to_string(peak) + "}";
}

// Tells errors of reading from those of writing.
const char* stage = "read";

void rewrite(const Options& options) {
  MemoryPool pool({.budget_bytes = size_t{512} << 20});
  LocalFileSystem files;
  std::shared_ptr<const InputFile> file = files.open_input(options.paths[0]);
  auto metadata = read_metadata(*file, pool);
  std::vector<ColumnRequest> columns = request_columns(metadata->schema());
  if (options.views) ask_for_views(columns);
  std::optional<BatchReader> stored;
  std::optional<FileReader> whole;
  if (options.variants || options.arrow_schema) {
    FileReaderOptions read;
    if (options.variants) read.columns = columns;
    read.batch_rows = options.batch_rows;
    read.metadata = metadata;
    whole.emplace(file, read, pool);
  } else {
    stored.emplace(
        file, metadata,
        ReadOptions{.columns = columns, .batch_rows = options.batch_rows, .verify_checksums = ChecksumPolicy::kNever},
        pool);
  }
  const SchemaPtr schema = whole ? whole->schema() : stored->schema();
  stage = "write";
  WriterOptions writer_options = options.writer;
  const WriteSchema write_schema(schema);
  for (const LeafDescription& leaf : write_schema.leaves()) {
    ColumnOptions column{.path = leaf.path};
    if (options.encoding && has_encoding(leaf, *options.encoding)) column.encoding = options.encoding;
    if (options.bloom && leaf.file_type.physical != PhysicalType::kBoolean) column.bloom_filter = true;
    writer_options.overrides.push_back(std::move(column));
  }
  FileWriter writer(files.open_output(options.paths[1]), schema, std::move(writer_options), pool);
  for (;;) {
    stage = "read";
    const std::optional<RecordBatch> batch = whole ? whole->next() : stored->next();
    if (!batch) break;
    stage = "write";
    writer.write(*batch);
  }
  stage = "write";
  const FileSummary summary = writer.finish({.if_exists = OutputFile::IfExists::kReplace});
  std::puts(text_of(summary, pool.stats().held_peak_bytes).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rewrite(parse(argc, argv));
    return 0;
  } catch (const Error& error) {
    std::puts(("{\"error\":" + quoted(error.what()) + ",\"kind\":" + quoted(to_string(error.kind())) +
               ",\"stage\":" + quoted(stage) + "}")
                  .c_str());
  } catch (const std::bad_alloc&) {
    std::puts("{\"error\":\"out of memory\",\"kind\":\"bad_alloc\",\"stage\":\"\"}");
  }
  return 1;
}
