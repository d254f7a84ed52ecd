// Rows of other programs' files: Parquet, Arrow, CSV, JSON lines, by path or from standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"

#include "frazil/columnar/array.h"
#include "frazil/spec/schema.h"

namespace frazil::cli {

struct InputArguments {
  std::vector<std::string> files;  // paths, patterns, "-"
  std::optional<std::string> format;
  std::optional<std::string> delimiter;
  std::optional<std::string> quote;
  std::vector<std::string> nulls;
  bool no_header = false;
};

// FILE...
void add_input_files(Command& command, InputArguments& arguments);
// What they are.
void add_input_format(Command& command, InputArguments& arguments);

struct Input {
  std::string name;
  std::unique_ptr<BatchStream> rows;
  // Bytes of it that were read so far.
  std::function<uint64_t()> bytes_read;
};

// Opens one of them; its format is --format, or what its name ends in ("x.csv.gz"), or what it begins with. Columns of text have
// the types of `table`, where it has them, and members that a row of JSON does not have its write-defaults; without it the types
// are those of a sample. Throws Error(kInvalidArgument) if the format cannot be told.
Input open_input(Session& session, const std::string& path, const InputArguments& arguments,
                 const spec::SchemaPtr& table);

}  // namespace frazil::cli
