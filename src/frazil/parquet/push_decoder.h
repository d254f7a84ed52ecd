// PushDecoder: a FileReader without a file. It says which byte ranges it needs next, and whoever has them hands them
// over, so that any I/O can drive it: an event loop, a browser, a store with requests of its own kind.
//
//   PushDecoder decoder("s3://bucket/a.parquet", size, {.predicate = parse("id = 7")}, pool);
//   for (std::optional<RecordBatch> batch;;) {
//     switch (decoder.step(batch)) {
//       case PushDecoder::Step::kNeedBytes:
//         for (ByteRange range : decoder.needed()) decoder.supply(range.offset, fetch(range));
//         break;
//       case PushDecoder::Step::kBatch:
//         consume(*batch);
//         break;
//       case PushDecoder::Step::kEnd:
//         return;
//     }
//   }
//
// It asks for the end of the file (once more if the footer is longer), then for each row group for what pruning reads,
// for the predicate's column chunks, and for the others' if a row matched. Bytes of a phase that is over are let go.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/file_reader.h"

namespace frazil::parquet {

// One thread at a time. Errors as FileReader's; `name` stands in them for the path.
class PushDecoder {
 public:
  PushDecoder(std::string name, uint64_t file_size, FileReaderOptions options, MemoryPool& pool);
  ~PushDecoder();
  PushDecoder(PushDecoder&&) noexcept;
  PushDecoder& operator=(PushDecoder&&) noexcept;

  enum class Step : uint8_t {
    kNeedBytes,  // all of needed() must be supplied; nothing happens before
    kBatch,      // `out` holds the next batch
    kEnd,        // no more, now and ever after
  };
  Step step(std::optional<RecordBatch>& out);
  // After kNeedBytes; ascending, inside the file.
  std::span<const ByteRange> needed() const;
  // Bytes of the file from `offset` on, any part of what is needed or more. Keeps the buffer as long as it is of use.
  // Throws Error(kInvalidArgument) if it passes the end of the file.
  void supply(uint64_t offset, Buffer bytes);
  uint64_t supplied_bytes() const;  // held now

  // Of the batches; nullptr until the footer is there.
  SchemaPtr schema() const;

 private:
  class SuppliedFile;
  std::shared_ptr<SuppliedFile> file_;
  FileReaderOptions options_;
  MemoryPool* pool_;
  std::unique_ptr<FileReader::Impl> reader_;
  std::vector<ByteRange> needed_;
};

}  // namespace frazil::parquet
