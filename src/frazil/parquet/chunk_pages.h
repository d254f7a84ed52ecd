// The pages of one column chunk, in order, each decompressed when it is asked for.
//
// The chunk's bytes pass through a window: one block that holds a part of the chunk, filled by reads of its size and
// made larger only for a page that does not fit. A page that is not compressed is used where it lies in the window, or,
// if it is large and its values are wanted as they are, read past the window to where they belong: copying a page a second
// time takes half as long as having it from the system's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "frazil/codec/codec.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_header.h"
#include "frazil/parquet/unread_page.h"

namespace frazil::parquet {

struct Page {
  PageHeader header;
  uint64_t offset = 0;  // of the header in the file
  // v2: the levels, which are never compressed. v1: in front of the values.
  std::span<const std::byte> repetition_levels;
  std::span<const std::byte> definition_levels;
  std::span<const std::byte> values;  // decompressed; v1: levels and values
};

// Where the bytes of a chunk are, checked against the file. Throws CorruptError.
struct ChunkRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};
ChunkRange chunk_range(const ColumnChunk& chunk, const FileMetadata& metadata, uint64_t file_size);

class ChunkPages final : public UnreadPage {
 public:
  // Pages of fewer bytes are always read by way of the window, and parts of pages: many of them come with one call.
  static constexpr size_t kDirectBytesMin = size_t{16} << 10;

  struct Options {
    size_t window_bytes = size_t{256} << 10;
    ChecksumPolicy verify_checksums = ChecksumPolicy::kNever;
  };

  // Borrows all, for its life.
  ChunkPages(const InputFile& file, Decompressor& decompressor, Options options)
      : file_(&file), decompressor_(&decompressor), options_(options) {}

  // The one to use from now on: that of the lane which works on the chunk.
  void use(Decompressor& decompressor) { decompressor_ = &decompressor; }

  // The next pages will not be loaded as a whole, as far as one can tell: little is read beyond headers.
  void expect_unread() { reads_ahead_ = false; }

  // Starts a chunk. The blocks of the chunk before stay for this one.
  void open(const ColumnChunk& chunk, ChunkRange range);
  // The same, with its bytes already in memory, which somebody else owns: padded like a pool block.
  void open(const ColumnChunk& chunk, ChunkRange range, const std::byte* bytes);
  // Frees the blocks.
  void close();

  enum class Status : uint8_t { kPage, kEnd, kNeedMemory };
  // Loads the current page, or says that there is none. Repeatable. page() is valid until advance(). Pages of unknown
  // types are passed over.
  Status load(MemorySource& memory);
  // The same for the header alone: of page(), only header and offset are right then. advance() passes over the page.
  Status load_header(MemorySource& memory);
  const Page& page() const { return page_; }
  // Instead of load(), for a page that load_header() found: it need not be read as a whole. Not so if it is compressed,
  // small, in memory already or has a checksum to verify.
  bool can_stay_unread() const;
  // Its first `size` bytes, no more than it has, valid until more is read; nothing for want of memory.
  std::optional<std::span<const std::byte>> read_front(size_t size, MemorySource& memory);
  // Bytes of it from `at` on. Behind read_front(), which has got the memory for it. With the last of them comes the next
  // header.
  void read(size_t at, std::span<std::byte> target) override;

  // The values of a page that load_header() found are compressed, and this is how many bytes they become.
  std::optional<size_t> compressed_values_bytes() const;
  // load() of such a page to a place of so many bytes that is not its own.
  Status load_to(std::byte* target, MemorySource& memory);
  static constexpr size_t kFrontBytes = size_t{256} << 10;
  // Whether a page that load_header() found has a front that is much less than the page.
  bool has_front() const;
  // Instead of load() of such a page: page().values are some of the first of its bytes. Fewer than kFrontBytes if it is
  // compressed in an unusual way: load() tells then whether it is damaged.
  Status load_front(MemorySource& memory);
  // Forgets what load_to() and load_front() did: load() starts again.
  void unload() { is_loaded_ = false; }
  void advance();
  // Makes the page whose header stands at `offset` of the file the current one. Throws CorruptError unless that lies in
  // the chunk.
  void jump(uint64_t offset);
  // Gives the values of the current page, a dictionary, to the caller, whom they must outlive: `kept` becomes the block that
  // they lie in, or stays empty where they lie in a chunk that somebody else holds. Returns where they are; nothing for
  // want of memory.
  std::optional<std::span<const std::byte>> keep_values(Block& kept, MemorySource& memory);
  // Gives back what only a large dictionary page needed: its window and its decompressed form. After advance().
  void trim(MemorySource& memory);
  uint64_t position() const { return position_; }
  size_t bytes_in_use() const { return window_.bytes_in_use() + page_buffer_.bytes_in_use(); }

 private:
  bool is_compressed() const;
  bool verifies_checksum() const;
  // So many bytes of the window from `offset` of the file on are there.
  size_t bytes_in_window(uint64_t offset) const;
  // `size` bytes at `offset` of the file, within the chunk; nullptr without the memory for it. Padded behind.
  const std::byte* fetch(uint64_t offset, size_t size, MemorySource& memory);
  // As much of `wanted` bytes from `offset` on as there are and fit; `before` gets those in front of it.
  void fill_window(uint64_t offset, size_t wanted, std::span<std::byte> before);
  bool read_header(MemorySource& memory);
  bool read_payload(std::byte* target, MemorySource& memory);
  bool decompress(std::span<const std::byte> compressed, std::span<std::byte> target, MemorySource& memory);
  template <typename Work>
  bool with_context(Work&& work, MemorySource& memory);

  const InputFile* file_;
  Decompressor* decompressor_;
  Options options_;
  CompressionCodec codec_ = CompressionCodec::kUncompressed;
  ChunkRange range_;
  uint64_t position_ = 0;  // of the current page's header
  bool has_header_ = false;
  bool is_loaded_ = false;
  Page page_;

  Block window_;
  uint64_t window_offset_ = 0;  // in the file, of the window's first byte
  size_t window_size_ = 0;
  bool reads_ahead_ = true;           // beyond the header or page that is wanted
  const std::byte* whole_ = nullptr;  // the chunk itself instead of a window
  Block page_buffer_;
};

// The codec layer's name for it. Throws Error(kUnsupported) for LZO and unknown codecs.
Codec to_codec(CompressionCodec codec);
// More than `compressed` bytes of it can become: a claim beyond it is false. SIZE_MAX where there is no useful limit.
size_t decompressed_bytes_max(CompressionCodec codec, size_t compressed);

}  // namespace frazil::parquet
