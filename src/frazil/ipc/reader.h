// Opens what is Arrow IPC, in whichever of its two formats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/file_system.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/read_options.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

enum class Format : uint8_t {
  kStream,
  kFile,
  kFeatherV1,  // older than Arrow's file format, not read
};

// By how it begins, which the first 8 bytes tell. kStream if it is neither of the others: then the reader of streams
// says what is wrong with it.
Format detect_format(std::span<const std::byte> beginning);

// Batches in order, whichever the format.
class Reader : public BatchStream {
 public:
  virtual Format format() const = 0;
  // Custom metadata of the message of the last batch.
  virtual Metadata custom_metadata() const = 0;
  // Custom metadata of a file's footer.
  virtual Metadata file_metadata() const = 0;
};

// Errors as those of FileReader and StreamReader.
std::unique_ptr<Reader> open(Buffer bytes, MemoryPool& pool, ReadOptions options = {});
std::unique_ptr<Reader> open(std::shared_ptr<const InputFile> file, MemoryPool& pool, ReadOptions options = {});
// A file is read to its end before it is opened, into the pool: only its footer tells what is in it.
std::unique_ptr<Reader> open(std::unique_ptr<ByteSource> source, MemoryPool& pool, ReadOptions options = {});

// The batches of a file in order.
std::unique_ptr<Reader> batches_of(FileReader reader);

}  // namespace frazil::ipc
