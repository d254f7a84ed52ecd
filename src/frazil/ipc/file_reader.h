// FileReader: the file format of Arrow IPC (Columnar format, "IPC File Format"; format/File.fbs), also known as Feather
// V2.
//
//   file   := "ARROW1" 0 0 schema (dictionary | batch)* end? footer size:i32 "ARROW1"
//   footer := flatbuffer {version:i16, schema, dictionaries:[Block], recordBatches:[Block], custom_metadata:[KeyValue]}
//   Block  := offset:i64 metaDataLength:i32 0:u32 bodyLength:i64      metaDataLength: of prefix, metadata and padding
//
// Every batch sees a dictionary with all its deltas, in the order of the footer; to replace one is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/ipc/read_options.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// One thread at a time. Errors: CorruptError with the offset in the file, Error(kUnsupported) (Feather V1 by name),
// MemoryLimitError, IoError, Error(kInvalidArgument) if the options ask for columns that are not there. Those of files
// name the path.
class FileReader {
 public:
  // Of a whole file, which batches share. `pool` outlives the reader and its batches.
  FileReader(Buffer file, MemoryPool& pool, ReadOptions options = {});
  // Reads the footer: the last kTailBytes in one call, all of a small file; then, a batch at a time, its metadata and
  // the buffers that are wanted, merged where they lie near each other. Dictionaries are read with the first batch.
  FileReader(std::shared_ptr<const InputFile> file, MemoryPool& pool, ReadOptions options = {});
  ~FileReader();
  FileReader(FileReader&&) noexcept;
  FileReader& operator=(FileReader&&) noexcept;

  static constexpr size_t kTailBytes = size_t{64} << 10;

  // Of the batches: what was chosen of the file's.
  const SchemaPtr& schema() const;
  // Custom metadata of the footer.
  Metadata metadata() const;
  size_t batch_count() const;
  // Requires index < batch_count().
  RecordBatch batch(size_t index);
  // Custom metadata of the batch's message.
  Metadata batch_metadata(size_t index);
  // Of all batches, by their metadata.
  int64_t row_count();
  // Bytes taken of the file by now; of a mapped one its metadata, 0 of memory.
  uint64_t bytes_read() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::ipc
