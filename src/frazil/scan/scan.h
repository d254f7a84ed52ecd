// A scan: what to read of a table, planned into tasks (one a data file) and executed as a stream of batches. Threads work
// on parts of files, which are row groups, and on columns of one part where there are fewer parts than threads.
//
//   auto stream = open(context, source, options);
//   while (auto batch = stream->next()) consume(*batch);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/predicate.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/name_mapping.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/table_metadata.h"

namespace frazil {
class Context;
class FileSystem;
}  // namespace frazil

namespace frazil::scan {

// The order of the rows.
enum class Order : uint8_t {
  kTask,        // by file as the manifests list them, then as in the file; batches do not depend on the threads
  kArrival,     // whatever is ready first: fastest
  kSequential,  // as kTask, one file at a time and one thread: smallest
};

struct Options {
  std::vector<std::string> select = {};  // column names and paths ("a", "b.c"); empty: all
  bool no_columns = false;               // instead: batches with row counts alone
  // Rows are given out where it is true; on any columns of the table, selected or not.
  predicate::Predicate where = {};
  spec::SnapshotSelection snapshot = {};
  std::optional<int64_t> limit = {};  // rows
  Order order = Order::kTask;
  // Upper bound; boundaries depend on file, batch_rows and budget alone. The first batch, if nothing is filtered, has no
  // more than 8,192 rows, so that it comes soon.
  int64_t batch_rows = 65536;
  // Of everything that the scan holds, planning metadata and batches not yet released included; capped by the
  // context's own. kUnlimited: the context's.
  size_t memory_budget_bytes = MemoryPool::kUnlimited;
  size_t threads = 0;  // 0: the context's
  bool verify_checksums = false;
  bool validate_utf8 = false;
  // False: every row is decoded and tested. The rows are the same, in batches of other sizes.
  bool skip = true;
};

// What a scan reads from. Borrowed parts outlive the scan.
struct Source {
  spec::TableMetadataPtr metadata;
  FileSystem* files = nullptr;  // opens the locations in the metadata
};

// A data file to read, whole.
struct Task {
  std::string path;
  std::string format;  // "parquet", lower case
  int64_t record_count = 0;
  int32_t spec_id = 0;
  bool has_key_metadata = false;
  std::vector<spec::Literal> partition;  // one a field of the spec
};

// What a scan reads, known before any manifest.
struct Target {
  const spec::Snapshot* snapshot = nullptr;  // nullptr: the table has none; points into the metadata
  spec::SchemaPtr table_schema;              // that goes with the snapshot
  spec::SchemaPtr schema;                    // what is selected of it, in the order in which it was asked for
  SchemaPtr arrow_schema;
};

struct Plan : Target {
  std::vector<Task> tasks;  // in task order
};

// Plans a whole scan. Reads the manifests on the context's threads, counted in `pool`. Throws Error(kNotFound) for an
// unknown column or snapshot, Error(kUnsupported) if the snapshot has delete files. A stream does not need it: it plans
// as it goes.
Plan plan_scan(Context& context, const Source& source, const Options& options, MemoryPool& pool);

// What a stream did so far. Readable while it runs.
struct StreamStats {
  int64_t rows = 0;
  int64_t batches = 0;
  uint64_t files = 0;        // opened
  uint64_t parts = 0;        // of them, that were read on their own
  uint64_t split_steps = 0;  // batches whose columns several threads could decode
  MemoryPoolStats pool;
};

class Stream : public BatchStream {
 public:
  virtual StreamStats stats() const = 0;
};

// Reads the manifest list and starts; manifests are read when their files are due, so that the first batch does not wait
// for all of them and the tasks of a large table are never in memory together. Throws Error(kNotFound) for an unknown
// column or snapshot, Error(kUnsupported) if the snapshot has delete files; a data manifest that cannot be read fails
// next() when its files are due. The stream keeps the source's metadata alive; context and file systems outlive it, but
// not its batches. next() throws MemoryLimitError when the consumer holds so many batches that nothing can proceed, or
// when a file needs more than the budget even alone.
std::unique_ptr<Stream> open(Context& context, const Source& source, const Options& options);

// How many rows the scan has. Without a filter by the record counts in the manifests, no data file is opened; else by
// reading what the filter needs. Throws as open() and its stream.
int64_t count_rows(Context& context, const Source& source, const Options& options);

}  // namespace frazil::scan
