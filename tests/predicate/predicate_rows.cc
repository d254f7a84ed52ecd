// predicate_rows FILE.parquet: reads predicates from standard input, one a line, and prints for each the numbers of the
// rows that it wants as a JSON array, or {"error":...}. For comparing with other engines; flat files alone.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/schema.h"
#include "frazil/predicate/evaluate.h"
#include "frazil/predicate/parse.h"

namespace {

using namespace frazil;

std::vector<RecordBatch> read_file(const std::string& path, MemoryPool& pool) {
  LocalFileSystem files;
  std::shared_ptr<const InputFile> file = files.open_input(path);
  auto metadata = parquet::read_metadata(*file, pool);
  const parquet::FileSchema& schema = metadata->schema();
  parquet::ReadOptions options;
  for (size_t leaf = 0; leaf < schema.leaf_count(); ++leaf) {
    parquet::ColumnRequest request;
    request.node = schema.leaf_node(leaf);
    request.field.name = schema.path(request.node);
    request.field.type = parquet::arrow_leaf_type(schema.leaf(leaf));
    options.columns.push_back(std::move(request));
  }
  parquet::BatchReader reader(file, metadata, options, pool);
  std::vector<RecordBatch> batches;
  while (auto batch = reader.next()) batches.push_back(std::move(*batch));
  return batches;
}

std::string rows_of(const std::string& text, const std::vector<RecordBatch>& batches, MemoryPool& pool) {
  const predicate::Predicate parsed = predicate::parse(text);
  std::string out = "[";
  int64_t first = 0;
  for (const RecordBatch& batch : batches) {
    const auto rows = predicate::evaluate(predicate::bind_predicate(parsed, batch.schema()), batch, pool);
    for_each_set_bit(rows.bits(), 0, static_cast<size_t>(rows.row_count()), [&](size_t row) {
      out += (out.size() == 1 ? "" : ",") + std::to_string(first + static_cast<int64_t>(row));
    });
    first += batch.row_count();
  }
  return out + "]";
}

bool read_line(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::fgetc(stdin)) != EOF && c != '\n') line += static_cast<char>(c);
  return c != EOF || !line.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: predicate_rows FILE.parquet < predicates\n", stderr);
    return 2;
  }
  MemoryPool pool;
  const std::vector<RecordBatch> batches = read_file(argv[1], pool);
  std::string line;
  while (read_line(line)) {
    std::string result;
    try {
      result = rows_of(line, batches, pool);
    } catch (const Error& error) {
      result = "{\"error\":";
      append_json_string(result, error.what());
      result += '}';
    }
    std::puts(result.c_str());
  }
  return 0;
}
