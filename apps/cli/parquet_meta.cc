#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parquet.h"
#include "parquet_files.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

constexpr size_t kShownValueBytes = 100;  // of a key-value pair, as text

std::vector<std::string> encoding_names(const parquet::ColumnChunk& chunk) {
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) {
    const auto encoding = static_cast<parquet::Encoding>(i);
    if (chunk.declares(encoding)) names.emplace_back(to_string(encoding));
  }
  return names;
}

struct Sizes {
  int64_t compressed = 0;
  int64_t uncompressed = 0;
};

Sizes sizes_of(const parquet::RowGroup& group) {
  Sizes sizes;
  for (const parquet::ColumnChunk& chunk : group.columns) {
    // Forged sizes may pass what fits; their sum then means nothing, but is no undefined behaviour.
    sizes.compressed = static_cast<int64_t>(static_cast<uint64_t>(sizes.compressed) +
                                            static_cast<uint64_t>(chunk.total_compressed_size));
    sizes.uncompressed = static_cast<int64_t>(static_cast<uint64_t>(sizes.uncompressed) +
                                              static_cast<uint64_t>(chunk.total_uncompressed_size));
  }
  return sizes;
}

std::string ratio_text(Sizes sizes) {
  if (sizes.compressed <= 0 || sizes.uncompressed < 0) return "-";
  return message("{:.2f}", static_cast<double>(sizes.uncompressed) / static_cast<double>(sizes.compressed));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void print_text(Session& session, const ParquetFile& file, const std::vector<size_t>& leaves) {
  const parquet::FileMetadata& metadata = *file.metadata;
  const auto line = [&](std::string_view name, std::string_view value) {
    session.print_line(message("{:<12}{}", name, value));
  };
  line("file", printable(file.path));
  line("size", human_bytes(file.input->size()));
  line("created by", metadata.created_by().empty() ? "-" : printable(metadata.created_by()));
  line("version", std::to_string(metadata.version()));
  line("footer", human_bytes(metadata.footer_bytes()));
  line("rows", std::to_string(metadata.row_count()));
  line("columns", std::to_string(metadata.schema().leaf_count()));
  line("row groups", std::to_string(metadata.row_groups().size()));
  for (const parquet::KeyValue& pair : metadata.key_values()) {
    std::string value = pair.has_value ? printable(pair.value.substr(0, kShownValueBytes)) : "-";
    if (pair.value.size() > kShownValueBytes) value += message("... ({} bytes)", pair.value.size());
    line("key", printable(pair.key) + " = " + value);
  }
  if (!metadata.row_groups().empty()) {
    session.print_line("");
    Listing groups = session.listing(
        {{"row_group"}, {"rows", true}, {"compressed_bytes", true}, {"uncompressed_bytes", true}, {"ratio", true}});
    for (size_t i = 0; i < metadata.row_groups().size(); ++i) {
      const Sizes sizes = sizes_of(metadata.row_groups()[i]);
      groups.row({static_cast<int64_t>(i), metadata.row_groups()[i].row_count, sizes.compressed, sizes.uncompressed,
                  ratio_text(sizes)});
    }
    groups.finish();
  }
  session.print_line("");
  Listing chunks = session.listing({{"row_group"},
                                    {"column"},
                                    {"type"},
                                    {"codec"},
                                    {"encodings"},
                                    {"values", true},
                                    {"compressed_bytes", true},
                                    {"uncompressed_bytes", true},
                                    {"ratio", true},
                                    {"indexes"}});
  for (size_t group = 0; group < metadata.row_groups().size(); ++group) {
    for (size_t leaf : leaves) {
      const parquet::ColumnChunk& chunk = metadata.row_groups()[group].columns[leaf];
      std::vector<std::string> indexes;
      if (chunk.encrypted) indexes.emplace_back("encrypted");
      if (chunk.offset_index.present()) indexes.emplace_back(chunk.column_index.present() ? "pages" : "offsets");
      if (chunk.bloom_filter.present()) indexes.emplace_back("bloom");
      chunks.row({static_cast<int64_t>(group), file.column(leaf), std::string(to_string(file.schema().leaf(leaf).type)),
                  std::string(to_string(chunk.codec)), joined(encoding_names(chunk)), chunk.value_count,
                  chunk.total_compressed_size, chunk.total_uncompressed_size,
                  ratio_text({chunk.total_compressed_size, chunk.total_uncompressed_size}), joined(indexes)});
    }
  }
  chunks.finish("no row groups");
}

json::Value chunk_json(const ParquetFile& file, size_t leaf, const parquet::ColumnChunk& chunk) {
  json::Array encodings;
  for (std::string& name : encoding_names(chunk)) encodings.emplace_back(std::move(name));
  json::Object object;
  object.emplace_back("column", json::Value(file.column(leaf)));
  object.emplace_back("type", json::Value(to_string(file.schema().leaf(leaf).type)));
  object.emplace_back("codec", json::Value(to_string(chunk.codec)));
  object.emplace_back("encodings", json::Value(std::move(encodings)));
  object.emplace_back("values", json::Value(chunk.value_count));
  object.emplace_back("offset", json::Value(chunk.start_offset()));
  object.emplace_back("compressed_bytes", json::Value(chunk.total_compressed_size));
  object.emplace_back("uncompressed_bytes", json::Value(chunk.total_uncompressed_size));
  object.emplace_back("encrypted", json::Value(chunk.encrypted));
  object.emplace_back("offset_index", json::Value(chunk.offset_index.present()));
  object.emplace_back("column_index", json::Value(chunk.column_index.present()));
  object.emplace_back("bloom_filter", json::Value(chunk.bloom_filter.present()));
  return json::Value(std::move(object));
}

json::Value file_json(const ParquetFile& file, const std::vector<size_t>& leaves) {
  const parquet::FileMetadata& metadata = *file.metadata;
  json::Array pairs;
  for (const parquet::KeyValue& pair : metadata.key_values()) {
    json::Object object;
    object.emplace_back("key", json::Value(pair.key));
    object.emplace_back("value", pair.has_value ? json::Value(pair.value) : json::Value());
    pairs.emplace_back(std::move(object));
  }
  json::Array groups;
  for (const parquet::RowGroup& group : metadata.row_groups()) {
    json::Array columns;
    for (size_t leaf : leaves) columns.push_back(chunk_json(file, leaf, group.columns[leaf]));
    const Sizes sizes = sizes_of(group);
    json::Object object;
    object.emplace_back("rows", json::Value(group.row_count));
    object.emplace_back("compressed_bytes", json::Value(sizes.compressed));
    object.emplace_back("uncompressed_bytes", json::Value(sizes.uncompressed));
    object.emplace_back("columns", json::Value(std::move(columns)));
    groups.emplace_back(std::move(object));
  }
  json::Object object;
  object.emplace_back("file", json::Value(file.path));
  object.emplace_back("file_bytes", json::Value(static_cast<int64_t>(file.input->size())));
  object.emplace_back("footer_bytes", json::Value(static_cast<int64_t>(metadata.footer_bytes())));
  object.emplace_back("version", json::Value(metadata.version()));
  object.emplace_back("created_by", metadata.created_by().empty() ? json::Value() : json::Value(metadata.created_by()));
  object.emplace_back("rows", json::Value(metadata.row_count()));
  object.emplace_back("columns", json::Value(static_cast<int64_t>(metadata.schema().leaf_count())));
  object.emplace_back("key_values", json::Value(std::move(pairs)));
  object.emplace_back("row_groups", json::Value(std::move(groups)));
  return json::Value(std::move(object));
}

void print_meta(Session& session, const ParquetArguments& arguments) {
  json::Array all;
  for_each_parquet(session, arguments.files, [&](const ParquetFile& file, size_t index, size_t) {
    const std::vector<size_t> leaves = selected_leaves(file, arguments.select);
    if (session.is_json()) {
      all.push_back(file_json(file, leaves));
      return;
    }
    if (index > 0) session.print_line("");
    print_text(session, file, leaves);
  });
  if (session.is_json()) session.print_json(json::Value(std::move(all)));
}

}  // namespace

void add_parquet_meta(Command& parquet) {
  auto arguments = std::make_shared<ParquetArguments>();
  Command command = parquet.add("meta", "Print what the footer says: writer, rows, row groups, columns, sizes");
  add_parquet_files(command, *arguments, "only these columns in the list");
  command.example("frazil parquet meta hits.parquet")
      .example("frazil parquet meta 'lake/*.parquet' --output json")
      .action([arguments](Session& session) { print_meta(session, *arguments); });
}

}  // namespace frazil::cli
