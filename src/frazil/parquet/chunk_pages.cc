#include "frazil/parquet/chunk_pages.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "frazil/base/crc32.h"
#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

// Most headers are shorter; the rest is found by trying with more.
constexpr size_t kHeaderBytesFirst = 512;

// As much as fits a large block of the pool that `size` bytes take anyway: the next page may be a little larger.
size_t fill_block(size_t size) {
  constexpr size_t kLargeBlockPadding = 4096;
  const size_t block = MemoryPool::block_bytes(size);
  if (block < size + kLargeBlockPadding) return size;
  return MemoryPool::block_bytes(block - kLargeBlockPadding) == block ? block - kLargeBlockPadding : size;
}

// parquet-mr before 1.2.9 did not count the dictionary page's header in the size of a chunk (PARQUET-816).
bool sizes_lack_dictionary_header(std::string_view created_by) {
  return created_by.starts_with("parquet-mr version 1.0") || created_by.starts_with("parquet-mr version 1.1") ||
         created_by.starts_with("parquet-mr version 1.2.") || created_by == "parquet-mr";
}

}  // namespace

Codec to_codec(CompressionCodec codec) {
  switch (codec) {
    case CompressionCodec::kUncompressed:
      return Codec::kNone;
    case CompressionCodec::kSnappy:
      return Codec::kSnappy;
    case CompressionCodec::kGzip:
      return Codec::kGzip;
    case CompressionCodec::kBrotli:
      return Codec::kBrotli;
    case CompressionCodec::kLz4:
      return Codec::kLz4Hadoop;
    case CompressionCodec::kZstd:
      return Codec::kZstd;
    case CompressionCodec::kLz4Raw:
      return Codec::kLz4Raw;
    case CompressionCodec::kLzo:
    case CompressionCodec::kUnknown:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "codec {} is not read", to_string(codec));
}

size_t decompressed_bytes_max(CompressionCodec codec, size_t compressed) {
  switch (codec) {
    case CompressionCodec::kUncompressed:
      return compressed;
    case CompressionCodec::kSnappy:  // 64 bytes from a copy of 3, rounded up
      return compressed * 32 + 64;
    case CompressionCodec::kLz4:
    case CompressionCodec::kLz4Raw:  // 255 from each byte of a match's length
      return compressed * 256 + 64;
    case CompressionCodec::kGzip:  // 258 from 2 bits
      return compressed * 1100 + 1024;
    case CompressionCodec::kZstd:  // 128 KiB from a block of 4 bytes
      return compressed * 32768 + 1024;
    default:
      return SIZE_MAX;
  }
}

ChunkRange chunk_range(const ColumnChunk& chunk, const FileMetadata& metadata, uint64_t file_size) {
  const int64_t start = chunk.start_offset();
  if (start < 4 || chunk.total_compressed_size < 0 || static_cast<uint64_t>(start) > file_size ||
      static_cast<uint64_t>(chunk.total_compressed_size) > file_size - static_cast<uint64_t>(start)) {
    throw_corrupt(CorruptError::kNoOffset, "column chunk exceeds the file: {} + {} > {}", start,
                  chunk.total_compressed_size, file_size);
  }
  ChunkRange range{static_cast<uint64_t>(start), static_cast<uint64_t>(start + chunk.total_compressed_size)};
  if (chunk.dictionary_page_offset > 0 && sizes_lack_dictionary_header(metadata.created_by())) {
    range.end = std::min(range.end + 100, file_size);
  }
  return range;
}

void ChunkPages::open(const ColumnChunk& chunk, ChunkRange range) {
  codec_ = chunk.codec;
  range_ = range;
  position_ = range.begin;
  has_header_ = false;
  is_loaded_ = false;
  window_size_ = 0;
  reads_ahead_ = true;
  whole_ = nullptr;
}

void ChunkPages::open(const ColumnChunk& chunk, ChunkRange range, const std::byte* bytes) {
  open(chunk, range);
  whole_ = bytes;
}

void ChunkPages::close() {
  window_ = Block();
  window_size_ = 0;
  page_buffer_ = Block();
  whole_ = nullptr;
  has_header_ = false;
  is_loaded_ = false;
  position_ = range_.end = range_.begin;
}

size_t ChunkPages::bytes_in_window(uint64_t offset) const {
  const bool is_inside = offset >= window_offset_ && offset < window_offset_ + window_size_;
  return is_inside ? static_cast<size_t>(window_offset_ + window_size_ - offset) : 0;
}

const std::byte* ChunkPages::fetch(uint64_t offset, size_t size, MemorySource& memory) {
  if (whole_ != nullptr) return whole_ + (offset - range_.begin);
  size_t kept = bytes_in_window(offset);
  size_t front = kept > 0 ? static_cast<size_t>(offset - window_offset_) : 0;  // where `offset` will be in the window
  if (window_.capacity() > 0 && size <= kept) return window_.data() + front;
  const auto chunk_left = static_cast<size_t>(range_.end - offset);
  if (window_.capacity() < size) {
    const size_t least = std::max(size, options_.window_bytes);
    const size_t wanted = std::min(size > options_.window_bytes ? fill_block(least) : least, chunk_left);
    // Both blocks for a moment, if there is room for them: else what the old one has is read again.
    Block larger;
    if (kept > 0 && memory.allocate(larger, wanted)) {
      std::memcpy(larger.data(), window_.data() + front, kept);
      memory.free(window_);
      window_ = std::move(larger);
    } else {
      kept = 0;
      window_size_ = 0;
      if (!memory.allocate(window_, wanted)) return nullptr;
    }
    front = 0;
  } else if (window_.capacity() - front < size) {
    std::memmove(window_.data(), window_.data() + front, kept);
    front = 0;
  }
  // With a page of which the window has room for one comes the next header alone: more would have to be moved to the front.
  const bool reads_ahead = reads_ahead_ && size <= options_.window_bytes / 2;
  const size_t wanted = std::max(reads_ahead ? options_.window_bytes : 0, size + kHeaderBytesFirst);
  const size_t filled = std::min({wanted, window_.capacity() - front, chunk_left});
  window_size_ = 0;  // until the read has succeeded
  file_->read_at(offset + kept, {window_.data() + front + kept, filled - kept});
  window_offset_ = offset - front;
  window_size_ = front + filled;
  return window_.data() + front;
}

bool ChunkPages::read_header(MemorySource& memory) {
  const uint64_t left = range_.end - position_;
  std::exception_ptr damage;
  for (size_t size = kHeaderBytesFirst;; size *= 8) {
    const auto given = static_cast<size_t>(std::min<uint64_t>({left, size, kPageHeaderBytesMax}));
    const std::byte* bytes = fetch(position_, given, memory);
    if (bytes == nullptr) {
      // A header beyond the window is damage much more often than it is real: no memory is asked for to make sure.
      if (damage && given > options_.window_bytes) std::rethrow_exception(damage);
      return false;
    }
    try {
      page_.header = parse_page_header({bytes, given}, position_);
      break;
    } catch (const CorruptError&) {
      // Perhaps it was only cut short.
      if (given == left || given == kPageHeaderBytesMax) throw;
      damage = std::current_exception();
    }
  }
  if (static_cast<uint64_t>(page_.header.compressed_size) > left - page_.header.header_size) {
    throw_corrupt(position_, "page of {} bytes in the last {} of its column chunk", page_.header.compressed_size,
                  left - page_.header.header_size);
  }
  page_.offset = position_;
  has_header_ = true;
  return true;
}

bool ChunkPages::decompress(std::span<const std::byte> compressed, std::span<std::byte> target, MemorySource& memory) {
  return with_context(
      [&](MemoryPool* promised) { decompressor_->decompress(to_codec(codec_), compressed, target, promised); }, memory);
}

// Runs `work`, which decompresses. False for want of memory.
template <typename Work>
bool ChunkPages::with_context(Work&& work, MemorySource& memory) {
  try {
    // The contexts of a codec are charged to the pool when they are made: to what was promised only where nothing else is
    // left, since lanes wait for each other then.
    try {
      work(nullptr);
      return true;
    } catch (const MemoryLimitError&) {
      return memory.run_on_promise([&](MemoryPool& promised) { work(&promised); });
    }
  } catch (const CorruptError& error) {
    throw_corrupt(position_, "page: {}", error.message());
  }
}

bool ChunkPages::is_compressed() const {
  return codec_ != CompressionCodec::kUncompressed &&
         (page_.header.type != PageType::kDataV2 || page_.header.is_compressed);
}

bool ChunkPages::verifies_checksum() const {
  if (!page_.header.crc) return false;
  return options_.verify_checksums == ChecksumPolicy::kAlways ||
         (options_.verify_checksums == ChecksumPolicy::kSmallPages && page_.header.compressed_size <= kSmallPageBytes);
}

// Decompressed to `target` if it is not nullptr.
bool ChunkPages::read_payload(std::byte* target, MemorySource& memory) {
  const PageHeader& header = page_.header;
  const auto compressed_size = static_cast<size_t>(header.compressed_size);
  auto uncompressed_size = static_cast<size_t>(header.uncompressed_size);
  const std::byte* bytes = fetch(position_ + header.header_size, compressed_size, memory);
  if (bytes == nullptr) return false;
  std::span<const std::byte> payload(bytes, compressed_size);
  if (verifies_checksum() && crc32(payload) != *header.crc) {
    throw_corrupt(position_, "page: the checksum does not match");
  }

  page_.repetition_levels = {};
  page_.definition_levels = {};
  if (header.type == PageType::kDataV2) {
    const auto repetition_size = static_cast<size_t>(header.repetition_size);
    const auto definition_size = static_cast<size_t>(header.definition_size);
    page_.repetition_levels = payload.first(repetition_size);
    page_.definition_levels = payload.subspan(repetition_size, definition_size);
    payload = payload.subspan(repetition_size + definition_size);
    uncompressed_size -= repetition_size + definition_size;
  }
  if (!is_compressed()) {
    page_.values = payload;
  } else if (uncompressed_size == 0) {
    // No values: some codecs need a few bytes to say so, and some writers leave even these out.
    page_.values = payload.first(0);
  } else {
    if (uncompressed_size > decompressed_bytes_max(codec_, payload.size())) {
      throw_corrupt(position_, "page: {} bytes of {} cannot become {}", payload.size(), to_string(codec_),
                    uncompressed_size);
    }
    if (target == nullptr) {
      // The block of a dictionary stays with it: it is no larger than need be.
      const bool is_too_large = header.type == PageType::kDictionary &&
                                page_buffer_.bytes_in_use() > MemoryPool::block_bytes(uncompressed_size);
      if ((is_too_large || page_buffer_.capacity() < uncompressed_size) &&
          !memory.allocate(page_buffer_, uncompressed_size)) {
        return false;
      }
      target = page_buffer_.data();
    }
    if (!decompress(payload, {target, uncompressed_size}, memory)) return false;
    page_.values = {target, uncompressed_size};
  }
  return true;
}

ChunkPages::Status ChunkPages::load_header(MemorySource& memory) {
  while (!has_header_) {
    if (position_ >= range_.end) return Status::kEnd;
    if (!read_header(memory)) return Status::kNeedMemory;
    if (page_.header.type == PageType::kIndex || page_.header.type == PageType::kUnknown) advance();
  }
  return Status::kPage;
}

ChunkPages::Status ChunkPages::load(MemorySource& memory) {
  if (is_loaded_) return Status::kPage;
  const Status status = load_header(memory);
  if (status != Status::kPage) return status;
  if (!read_payload(nullptr, memory)) return Status::kNeedMemory;
  is_loaded_ = true;
  reads_ahead_ = true;
  return Status::kPage;
}

bool ChunkPages::can_stay_unread() const {
  return whole_ == nullptr && !is_compressed() && !verifies_checksum() &&
         static_cast<size_t>(page_.header.compressed_size) >= kDirectBytesMin;
}

std::optional<std::span<const std::byte>> ChunkPages::read_front(size_t size, MemorySource& memory) {
  const std::byte* const bytes = fetch(position_ + page_.header.header_size, size, memory);
  if (bytes == nullptr) return std::nullopt;
  return std::span(bytes, size);
}

void ChunkPages::read(size_t at, std::span<std::byte> target) {
  const uint64_t page_end = position_ + page_.header.header_size + static_cast<uint64_t>(page_.header.compressed_size);
  uint64_t offset = position_ + page_.header.header_size + at;
  reads_ahead_ = false;
  const size_t present = std::min(bytes_in_window(offset), target.size());
  if (present > 0) std::memcpy(target.data(), window_.data() + (offset - window_offset_), present);
  target = target.subspan(present);
  offset += present;
  if (target.empty()) return;

  if (target.size() < std::min(kDirectBytesMin, window_.capacity())) {
    const size_t wanted = std::max(options_.window_bytes, target.size());
    fill_window(offset, wanted, {});
    std::memcpy(target.data(), window_.data(), target.size());
  } else if (offset + target.size() == page_end) {
    fill_window(page_end, kHeaderBytesFirst, target);
  } else {
    file_->read_at(offset, target);
  }
}

void ChunkPages::fill_window(uint64_t offset, size_t wanted, std::span<std::byte> before) {
  const auto size = static_cast<size_t>(std::min<uint64_t>({wanted, window_.capacity(), range_.end - offset}));
  const uint64_t offsets[] = {offset - before.size(), offset};
  const std::span<std::byte> outs[] = {before, {window_.data(), size}};
  window_size_ = 0;  // until the read has succeeded
  file_->read_ranges(offsets, outs);
  window_offset_ = offset;
  window_size_ = size;
}

std::optional<size_t> ChunkPages::compressed_values_bytes() const {
  const PageHeader& header = page_.header;
  const bool is_v2 = header.type == PageType::kDataV2;
  if (!is_compressed()) return std::nullopt;
  const auto bytes = static_cast<size_t>(header.uncompressed_size);
  return is_v2 ? bytes - static_cast<size_t>(header.definition_size) - static_cast<size_t>(header.repetition_size)
               : bytes;
}

bool ChunkPages::has_front() const {
  const PageHeader& header = page_.header;
  // Less than four times as much is not worth reading it again.
  return whole_ == nullptr && header.type == PageType::kDictionary &&
         static_cast<size_t>(header.uncompressed_size) >= 4 * kFrontBytes &&
         !(header.crc &&
           (options_.verify_checksums == ChecksumPolicy::kAlways ||
            (options_.verify_checksums == ChecksumPolicy::kSmallPages && header.compressed_size <= kSmallPageBytes))) &&
         (codec_ == CompressionCodec::kUncompressed || Decompressor::has_front(to_codec(codec_)));
}

ChunkPages::Status ChunkPages::load_front(MemorySource& memory) {
  const bool is_compressed = codec_ != CompressionCodec::kUncompressed;
  const size_t target_size = kFrontBytes + (is_compressed ? Decompressor::kFrontSlackBytes : 0);
  const size_t source_size = target_size + (is_compressed ? Decompressor::kFrontSlackBytes : 0);
  const size_t size = std::min(static_cast<size_t>(page_.header.compressed_size), source_size);
  const std::byte* const bytes = fetch(position_ + page_.header.header_size, size, memory);
  if (bytes == nullptr) return Status::kNeedMemory;
  if (!is_compressed) {
    page_.values = {bytes, size};
  } else {
    if (page_buffer_.capacity() < target_size && !memory.allocate(page_buffer_, target_size))
      return Status::kNeedMemory;
    size_t done = 0;
    const auto work = [&](MemoryPool* promised) {
      done = decompressor_->decompress_front(to_codec(codec_), {bytes, size}, {page_buffer_.data(), target_size},
                                             promised);
    };
    if (!with_context(work, memory)) return Status::kNeedMemory;
    page_.values = {page_buffer_.data(), done};
  }
  is_loaded_ = true;
  return Status::kPage;
}

ChunkPages::Status ChunkPages::load_to(std::byte* target, MemorySource& memory) {
  if (!read_payload(target, memory)) return Status::kNeedMemory;
  is_loaded_ = true;
  return Status::kPage;
}

void ChunkPages::advance() {
  position_ += page_.header.header_size + static_cast<uint64_t>(page_.header.compressed_size);
  has_header_ = false;
  is_loaded_ = false;
}

void ChunkPages::jump(uint64_t offset) {
  if (offset < range_.begin || offset > range_.end) {
    throw_corrupt(offset, "the offset index names a page outside of its column chunk");
  }
  position_ = offset;
  has_header_ = false;
  is_loaded_ = false;
}

std::optional<std::span<const std::byte>> ChunkPages::keep_values(Block& kept, MemorySource& memory) {
  const std::span<const std::byte> values = page_.values;
  if (values.empty()) return values;
  if (values.data() == page_buffer_.data()) {
    kept = std::move(page_buffer_);
    return values;
  }
  if (whole_ != nullptr) return values;
  if (values.size() > options_.window_bytes && window_.bytes_in_use() <= MemoryPool::block_bytes(values.size())) {
    // The window was made for this page and holds nothing else.
    kept = std::move(window_);
    window_size_ = 0;
    return values;
  }
  if (!memory.allocate(kept, values.size())) return std::nullopt;
  std::memcpy(kept.data(), values.data(), values.size());
  return std::span<const std::byte>(kept.data(), values.size());
}

void ChunkPages::trim(MemorySource& memory) {
  if (page_buffer_.capacity() > 0) memory.free(page_buffer_);
  // A window larger than asked for held the dictionary page and nothing else.
  if (window_.capacity() > options_.window_bytes) {
    memory.free(window_);
    window_size_ = 0;
  }
}

}  // namespace frazil::parquet
