// DataWriter: batches in any order in, the data files of one append out, a file or more for each partition.
//
//   write::DataWriter writer(context, metadata, files, {});
//   for (const RecordBatch& batch : batches) writer.write(batch);
//   std::vector<manifest::DataFile> written = writer.finish();      // published, in no snapshot yet
//
//   batch --conform--> columns of the table's types --partition--> a partition number a row
//         --stage-->   rows of several batches, by reference
//         --scatter--> each column in the order of the partitions --encode--> row groups --> files
//
// Rows of one partition keep the order in which they came, unless files are sorted. Encoding and compression run on the
// context's threads; write() returns when nothing of its batch is being worked on, so that an error of a batch comes
// out of the call that brought it, or of a later one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/spec/table_metadata.h"

namespace frazil {
class Context;
class FileSystem;
}  // namespace frazil

namespace frazil::manifest {
struct DataFile;
}

namespace frazil::write {

struct WriteOptions {
  // Bytes of rows and encoded pages that wait: staged batches that nobody else holds, rows of partitions too small to
  // encode, row groups being filled, and files whose first bytes are not written yet. Past it the largest partitions
  // are written out as row groups. On top come the columns being distributed and encoded: per thread about one column
  // of the staged rows. 0: a quarter of what the context's pool has available, at most 64 MiB.
  size_t buffer_bytes = 0;
  // Files that are open at once.
  size_t open_files_max = 256;
  // Instead of the table's write.target-file-size-bytes.
  std::optional<uint64_t> target_file_bytes = std::nullopt;
  // Files are sorted by the table's default sort order, each within itself. What does not fit the buffer ends a file
  // early. Without it, and for an unsorted order, files say order 0, which promises nothing.
  bool sort = false;
  // Syncs each file and its folder when it is published: a power cut loses nothing.
  bool sync = false;
  // Rows without a value get what the table says; false makes a missing column an error, even an optional one.
  bool fill_missing_columns = true;
  // The <task> of file names: tells the files of several writers of one operation apart.
  int64_t task_id = 0;
  // The <uuid> of file names. Empty: a new one.
  std::string operation_id = {};
};

// One thread at a time. The context outlives it.
class DataWriter {
 public:
  // Writes by the metadata's current schema, default spec and properties (write.parquet.*, write.data.path,
  // write.object-storage.*, write.target-file-size-bytes, write.metadata.metrics.*). Opens no file. Throws
  // Error(kUnsupported) for a transform that is not known, and for data in another format than Parquet.
  DataWriter(Context& context, spec::TableMetadataPtr metadata, std::shared_ptr<FileSystem> files,
             WriteOptions options = {});
  // Aborts, unless finish() returned.
  ~DataWriter();
  DataWriter(const DataWriter&) = delete;
  DataWriter& operator=(const DataWriter&) = delete;

  // Columns are matched by name, and by field id where no name fits, nested ones too (conform.h). A type is taken if each value of it is a value of the table's type (int32 for long, dictionary and view forms, a
  // timestamp of seconds where each one fits, ...). The batch may be kept alive until its rows are encoded. A batch
  // without rows is checked and otherwise ignored.
  //
  // Throws Error(kInvalidArgument), with the column and where it applies the row of this batch, for unknown or missing
  // columns, types that would lose values, nulls in required columns, text that is not UTF-8, and values that a
  // transform or the table's type cannot hold; nothing of the batch is taken then, and the writer can go on. Any other
  // error (IoError, MemoryLimitError, CancelledError) leaves the writer aborted.
  void write(const RecordBatch& batch);

  // Rows that were written so far.
  int64_t row_count() const;

  // Writes what waits and publishes all files. Once. On an error everything is removed, published files too.
  std::vector<manifest::DataFile> finish();

  // Removes every file. Idempotent; nothing after finish(), whose files belong to the caller.
  void abort() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::write
