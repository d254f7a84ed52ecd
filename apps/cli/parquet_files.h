// What the verbs of `frazil parquet` have in common: FILE arguments, columns and rows by name, files and their chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "file_arguments.h"
#include "output.h"

#include "frazil/base/error.h"
#include "frazil/io/file_system.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/schema.h"
#include "frazil/predicate/predicate.h"

namespace frazil::cli {

class Session;

struct ParquetArguments {
  std::vector<std::string> files;
  std::vector<std::string> select;
  std::optional<std::string> where;
};

// FILE..., and --select if `select_help` says what for.
void add_parquet_files(Command& command, ParquetArguments& arguments, const std::string& select_help = {});
void add_where(Command& command, ParquetArguments& arguments);

// Names of --select as predicates write them: a.b is field b of the struct a, "a.b" a column with a dot in its name.
std::vector<predicate::ColumnName> column_names(const std::vector<std::string>& select);
// TRUE without --where.
predicate::Predicate parse_where(const ParquetArguments& arguments);

struct ParquetFile {
  std::string path;
  std::shared_ptr<InputFile> input;
  std::shared_ptr<const parquet::FileMetadata> metadata;

  const parquet::FileSchema& schema() const { return metadata->schema(); }
  std::string column(size_t leaf) const { return schema().path(schema().leaf_node(leaf)); }
};

// Reads the footer. Errors name the path.
ParquetFile open_parquet(Session& session, const std::string& path);

// Calls `work` with one file after the other: path, its number, and how many there are.
using FileVisitor = std::function<void(const ParquetFile& file, size_t index, size_t count)>;
void for_each_parquet(Session& session, const std::vector<std::string>& arguments, const FileVisitor& work);

// The leaves that --select means: whole columns, or what is below a path in the schema. Without it: all. Throws
// Error(kNotFound).
std::vector<size_t> selected_leaves(const ParquetFile& file, const std::vector<std::string>& select);

// Calls `work` with each chunk of the leaves, row group by row group; errors then name row group, column and file.
using ChunkVisitor = std::function<void(size_t row_group, size_t leaf, const parquet::ColumnChunk& chunk)>;
void for_each_chunk(Session& session, const ParquetFile& file, const std::vector<size_t>& leaves,
                    const ChunkVisitor& work);

// A listing over files: the first column is the file, left out where text is of one file.
class FileListing {
 public:
  FileListing(Session& session, size_t file_count, std::vector<ListingColumn> columns);
  void row(const ParquetFile& file, std::vector<Cell> cells);
  void finish(std::string_view nothing) { listing_.finish(nothing); }

 private:
  bool shows_file_;
  Listing listing_;
};

// How many readers fit the memory budget, at most as many as there are threads.
size_t reader_threads(Session& session);
// Of the batches of such a reader: 4 MiB, less where the budget is small.
size_t reader_batch_bytes(const MemoryPool& pool);

}  // namespace frazil::cli
