// Append: rows of batches become rows of a table, all of them in one snapshot.
//
//   auto append = table.append({.snapshot_properties = {{"engine-name", "ingest"}}});
//   append.write(batch);                       // as often as wanted, partitions in any order
//   table = append.commit();                   // now they are there, all at once
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "frazil/columnar/array.h"

namespace frazil {

class Context;
class FileSystem;
class Table;

namespace catalog {
struct LoadedTable;
}

struct AppendOptions {
  // An existing branch; main need not exist.
  std::string branch = "main";
  // Go into the snapshot's summary.
  std::vector<std::pair<std::string, std::string>> snapshot_properties = {};
  // Rows and encoded pages that may wait; past it the largest partitions are written out. 0: a quarter of the context's
  // budget, at most 64 MiB.
  size_t buffer_bytes = 0;
  // Instead of the table's write.target-file-size-bytes.
  std::optional<uint64_t> target_file_bytes = std::nullopt;
  // Sorts each file by the table's sort order.
  bool sort = false;
  // Syncs every file and folder before the commit: a power cut loses nothing that was acknowledged. Without it, a killed
  // process loses nothing.
  bool sync = false;
  // Stops commit() while it waits for its turn.
  std::stop_token stop = {};
};

// One thread at a time; the encoding runs on the context's threads. Movable. The context outlives it.
class Append {
 public:
  // Files are named and written by the table as it is in `loaded`; the commit is on whatever it has become.
  Append(Context& context, std::shared_ptr<const catalog::LoadedTable> loaded, std::shared_ptr<FileSystem> files,
         AppendOptions options);
  // Removes what was written, unless commit() returned.
  ~Append();
  Append(Append&&) noexcept;
  Append& operator=(Append&&) noexcept;

  // Columns are matched by name; a column that is not there gets the table's default for it, else null. Types may be
  // narrower than the table's. Throws Error(kInvalidArgument), naming the column and the row, for what the table cannot
  // take: nothing of that batch is written then, and one may go on. After another error one may not.
  void write(const RecordBatch& batch);
  int64_t row_count() const;

  // Publishes the files and commits a snapshot with them, trying again on conflicts (commit.retry.*). Once. Gives the
  // table as it is then. On an error the table is as before and the files are removed; only with CommitStateUnknownError
  // nothing is removed: the rows may be there.
  Table commit();
  // Removes what was written. Idempotent.
  void abort() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil
