// A whole Parquet file in memory: rows or an error of bad input, within a small budget.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_builder_test.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

void read_all(std::string bytes, MemoryPool& pool) {
  auto file = std::make_shared<testing::StringFile>(std::move(bytes));
  auto metadata = read_metadata(*file, pool);
  ReadOptions options;
  options.batch_rows = 100;
  options.batch_bytes_max = 4096;
  options.validate_utf8 = true;
  std::vector<ColumnRequest> requests = request_columns(metadata->schema());
  if (requests.size() > 64) requests.resize(64);
  for (ColumnRequest& request : requests) {
    try {
      ReadOptions one = options;
      one.columns = {std::move(request)};
      BatchReader probe(file, metadata, one, pool);
      options.columns.push_back(one.columns[0]);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported && error.kind() != ErrorKind::kCorrupt) throw;
    }
  }
  arrow_schema(metadata->schema());
  BatchReader reader(file, metadata, options, pool);
  int64_t rows = 0;
  while (auto batch = reader.next()) {
    validate_full(*batch);
    rows += batch->row_count();
    if (rows > 100'000) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryPool pool({.budget_bytes = size_t{32} << 20});
  try {
    read_all(std::string(reinterpret_cast<const char*>(data), size), pool);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal || error.kind() == ErrorKind::kInvalidArgument) std::abort();
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
