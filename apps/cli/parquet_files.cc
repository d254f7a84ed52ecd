#include "parquet_files.h"

#include <algorithm>
#include <utility>

#include "scan_arguments.h"
#include "session.h"

#include "frazil/io/file_systems.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/parse.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {

void add_parquet_files(Command& command, ParquetArguments& arguments, const std::string& select_help) {
  command.positionals("FILE", arguments.files, "Parquet files, and patterns (* ? [) in quotes");
  if (!select_help.empty()) command.option("--select", arguments.select, "COLUMNS", select_help);
}

void add_where(Command& command, ParquetArguments& arguments) {
  command.option("--where", arguments.where, "PREDICATE", "only rows for which it is true (docs/predicates.md)");
}

std::vector<predicate::ColumnName> column_names(const std::vector<std::string>& select) {
  std::vector<predicate::ColumnName> names;
  for (const std::string& text : split_columns(select)) {
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
        parts.back() += text[++i];
      } else if (text[i] == '"') {
        quoted = !quoted;
      } else if (text[i] == '.' && !quoted) {
        parts.emplace_back();
      } else {
        parts.back() += text[i];
      }
    }
    if (quoted) throw_error(ErrorKind::kInvalidArgument, "a quote is missing in the column name {}", text);
    names.emplace_back(std::move(parts));
  }
  return names;
}

predicate::Predicate parse_where(const ParquetArguments& arguments) {
  return arguments.where ? predicate::parse(*arguments.where) : predicate::Predicate();
}

ParquetFile open_parquet(Session& session, const std::string& path) {
  ParquetFile file{.path = path, .input = session.files().open_input(path), .metadata = nullptr};
  file.metadata = parquet::read_metadata(*file.input, session.context().memory_pool());
  return file;
}

void for_each_parquet(Session& session, const std::vector<std::string>& arguments, const FileVisitor& work) {
  const std::vector<std::string> paths = expand_patterns(arguments);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (session.stop().stop_requested()) throw CancelledError();
    try {
      work(open_parquet(session, paths[i]), i, paths.size());
    } catch (Error& error) {
      add_file_context(error, paths[i]);
      throw;
    }
  }
}

namespace {

// The node that a name leads to, through the schema as it stands: a.list.element.
std::optional<uint32_t> find_node(const parquet::FileSchema& schema, const predicate::ColumnName& name) {
  uint32_t node = 0;
  for (const std::string& part : name.parts) {
    uint32_t child = node + 1;
    const uint32_t end = node + schema.node(node).subtree_size;
    while (child < end && schema.node(child).name != part) child += schema.node(child).subtree_size;
    if (child >= end) return std::nullopt;
    node = child;
  }
  return node;
}

}  // namespace

std::vector<size_t> selected_leaves(const ParquetFile& file, const std::vector<std::string>& select) {
  const parquet::FileSchema& schema = file.schema();
  std::vector<bool> wanted(schema.leaf_count(), select.empty());
  for (const predicate::ColumnName& name : column_names(select)) {
    const std::optional<uint32_t> node = find_node(schema, name);
    if (!node) throw_error(ErrorKind::kNotFound, "{} has no column {}", file.path, name.to_text());
    const parquet::SchemaNode& found = schema.node(*node);
    std::fill_n(wanted.begin() + found.first_leaf, found.leaf_count, true);
  }
  std::vector<size_t> leaves;
  for (size_t leaf = 0; leaf < wanted.size(); ++leaf) {
    if (wanted[leaf]) leaves.push_back(leaf);
  }
  return leaves;
}

void for_each_chunk(Session& session, const ParquetFile& file, const std::vector<size_t>& leaves,
                    const ChunkVisitor& work) {
  for (size_t group = 0; group < file.metadata->row_groups().size(); ++group) {
    for (size_t leaf : leaves) {
      if (session.stop().stop_requested()) throw CancelledError();
      try {
        work(group, leaf, file.metadata->row_groups()[group].columns[leaf]);
      } catch (Error& error) {
        error.add_context(message("column '{}'", file.column(leaf)));
        error.add_context(message("row group {} of {}", group, file.path));
        throw;
      }
    }
  }
}

namespace {

std::vector<ListingColumn> with_file(bool shows_file, std::vector<ListingColumn> columns) {
  if (shows_file) columns.insert(columns.begin(), {"file"});
  return columns;
}

}  // namespace

FileListing::FileListing(Session& session, size_t file_count, std::vector<ListingColumn> columns)
    : shows_file_(file_count > 1 || session.is_json()),
      listing_(session.listing(with_file(shows_file_, std::move(columns)))) {}

void FileListing::row(const ParquetFile& file, std::vector<Cell> cells) {
  if (shows_file_) cells.insert(cells.begin(), Cell(file.path));
  listing_.row(std::move(cells));
}

size_t reader_batch_bytes(const MemoryPool& pool) {
  constexpr size_t kLeast = size_t{64} << 10;
  constexpr size_t kMost = size_t{4} << 20;
  return std::clamp(pool.budget_bytes() / 16, kLeast, kMost);
}

size_t reader_threads(Session& session) {
  constexpr size_t kBytesEach = size_t{24} << 20;
  const size_t fit = session.context().memory_pool().budget_bytes() / kBytesEach;
  return std::clamp<size_t>(fit, 1, session.context().thread_count());
}

}  // namespace frazil::cli
