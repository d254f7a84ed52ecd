// Avro object container files (Avro 1.12 specification, "Object Container Files").
//
//   file   := 'O' 'b' 'j' 1  metadata:map<bytes>  sync:16 bytes  block*
//   block  := long(record count)  long(byte size)  bytes  sync:16 bytes
//
// The bytes of a block are compressed as metadata "avro.codec" says: null, deflate (RFC 1951), snappy (a big-endian
// CRC-32 of the plain bytes follows), zstandard. Other codecs are an Error(kUnsupported) that names them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/avro/schema.h"
#include "frazil/codec/codec.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::avro {

struct Header {
  std::vector<std::pair<std::string, std::string>> metadata;  // in order; values are bytes
  std::array<std::byte, 16> sync{};
  uint64_t size = 0;  // bytes of the header: where the first block starts

  std::optional<std::string_view> find(std::string_view key) const;
  // "avro.schema". Throws CorruptError if it is missing.
  std::string_view schema_text() const;
  std::string_view codec() const;  // "null" if there is no "avro.codec"
};

// A block as it stands in the file. record_count is what the file claims; the decoder checks it against the bytes.
struct RawBlock {
  Buffer data;
  uint64_t record_count = 0;
  uint64_t file_offset = 0;  // of the block's first byte in the file: its record count
};

// A decompressed block that is being decoded: `position` and `record_count` advance.
struct Block {
  Buffer data;
  size_t position = 0;
  uint64_t record_count = 0;  // left
  uint64_t file_offset = 0;   // as in RawBlock
};

struct ContainerOptions {
  // Files up to this size are read with one call, and blocks are slices of that memory. Larger ones are read block by
  // block, each into its own memory.
  size_t whole_file_bytes = 1 << 20;
  size_t max_header_bytes = 64 << 20;
  size_t max_block_bytes = 1 << 30;  // compressed and decompressed, each
};

// Gives the blocks of a file in order. One thread; blocks may be decompressed and decoded by others. Errors carry the
// offset in the file; the path is added as context.
class ContainerReader {
 public:
  // Reads the header. `pool` outlives the reader, not the buffers.
  ContainerReader(std::shared_ptr<const InputFile> file, MemoryPool& pool, ContainerOptions options = {});
  ~ContainerReader();

  const Header& header() const { return header_; }
  const InputFile& file() const { return *file_; }
  const ContainerOptions& options() const { return options_; }
  // Nothing at the end of the file. Checks that the block and its sync marker are there.
  std::optional<RawBlock> next();

 private:
  void read_header();
  std::optional<RawBlock> next_block();
  Buffer read(uint64_t offset, uint64_t size);

  std::shared_ptr<const InputFile> file_;
  MemoryPool* pool_;
  ContainerOptions options_;
  Header header_;
  Buffer whole_;  // the whole file, if it is small
  uint64_t file_size_ = 0;
  uint64_t offset_ = 0;  // of the next block
};

// The parser beneath, for bytes in memory. Throws CorruptError; `complete` false says that more bytes may follow, and
// gives nothing if they are needed.
std::optional<Header> parse_header(std::span<const std::byte> bytes, bool complete);

// Decompresses blocks. Keeps codec contexts; one thread.
class BlockDecompressor {
 public:
  // Throws Error(kUnsupported) naming a codec that is not read.
  BlockDecompressor(std::string_view codec, MemoryPool& pool,
                    size_t max_block_bytes = ContainerOptions{}.max_block_bytes);
  Block decompress(RawBlock block);

 private:
  Codec codec_;
  size_t max_block_bytes_;
  Decompressor decompressor_;
};

}  // namespace frazil::avro
