// frazil_parquet_where FILE: for each predicate that is a line of standard input, one line with the values of the column
// "row" in the rows that it wants, and in how many row groups and pages pruning found none: the same rows are read with
// every way of pruning and with none, and a difference is an error.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/predicate/parse.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

std::string read_rows(const std::shared_ptr<const InputFile>& file, FileReaderOptions options,
                      FileReaderCounters& counters) {
  MemoryPool pool;
  FileReader reader(file, std::move(options), pool);
  std::string rows;
  while (auto batch = reader.next()) {
    const Array& column = *batch->column(0);
    for (int64_t i = 0; i < column.length; ++i) rows += std::to_string(column.values<int64_t>()[i]) + " ";
  }
  counters = reader.counters();
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: frazil_parquet_where FILE < predicates\n");
    return 2;
  }
  LocalFileSystem files;
  std::string line;
  try {
    const std::shared_ptr<const InputFile> file = files.open_input(argv[1]);
    while (std::getline(std::cin, line)) {
      FileReaderOptions options;
      options.projection = {{"row"}};
      options.predicate = predicate::parse(line);
      FileReaderCounters counters;
      const std::string rows = read_rows(file, options, counters);
      const PruningCounters pruned = counters.pruning;
      for (int way = 0; way < 5; ++way) {
        options.pruning = {.use_statistics = way == 1,
                           .use_page_index = way == 2,
                           .use_bloom_filters = way == 3,
                           .use_dictionaries = way == 4};
        options.late_materialization = way != 0;
        if (read_rows(file, options, counters) != rows) {
          std::printf("other rows in way %d of pruning: %s\n", way, line.c_str());
          return 1;
        }
      }
      std::printf("%llu %llu %llu %llu %llu|%s\n", static_cast<unsigned long long>(pruned.row_groups_by_statistics),
                  static_cast<unsigned long long>(pruned.row_groups_by_page_index),
                  static_cast<unsigned long long>(pruned.row_groups_by_bloom_filter),
                  static_cast<unsigned long long>(pruned.row_groups_by_dictionary),
                  static_cast<unsigned long long>(pruned.pages_pruned), rows.c_str());
    }
  } catch (const Error& error) {
    std::printf("error: %s, predicate: %s\n", error.what(), line.c_str());
    return 1;
  }
  return 0;
}
