#include "frazil/avro/container.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/byte_reader.h"
#include "frazil/base/crc32.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

constexpr std::array<std::byte, 4> kMagic = {std::byte{'O'}, std::byte{'b'}, std::byte{'j'}, std::byte{1}};
constexpr size_t kSyncBytes = 16;
constexpr size_t kMaxPrefixBytes = 20;  // two varints
constexpr size_t kFirstReadBytes = 64 << 10;

// Thrown and caught here alone: the header goes on past the bytes at hand.
struct NeedMore {};

uint64_t read_count(ByteReader& reader, bool complete, std::string_view what) {
  // A varint that is cut off is only damage at the end of the file.
  if (!complete && reader.remaining() < 10) {
    const auto rest = reader.rest();
    if (std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return (byte & std::byte{0x80}) != std::byte{0}; }))
      throw NeedMore();
  }
  const uint64_t at = reader.offset();
  const int64_t value = reader.read_zigzag(what);
  if (value < 0) throw_corrupt(at, "{} is negative: {}", what, value);
  return static_cast<uint64_t>(value);
}

std::span<const std::byte> read_sized(ByteReader& reader, uint64_t size, bool complete, std::string_view what) {
  if (!complete && size > reader.remaining()) throw NeedMore();
  return reader.read_bytes(size, what);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read_metadata(ByteReader& reader, bool complete, Header& header) {
  while (true) {
    if (!complete && reader.remaining() < kMaxPrefixBytes) throw NeedMore();
    const uint64_t at = reader.offset();
    int64_t count = reader.read_zigzag("metadata count");
    if (count == 0) return;
    if (count < 0) {
      if (count == INT64_MIN) throw_corrupt(at, "metadata count is out of range");
      count = -count;
      read_count(reader, complete, "metadata size");
    }
    // An entry takes two bytes at least.
    if (complete && static_cast<uint64_t>(count) > reader.remaining() / 2) {
      throw_corrupt(at, "file metadata claims {} entries, {} bytes are left", count, reader.remaining());
    }
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t key_size = read_count(reader, complete, "metadata key length");
      std::string key(as_text(read_sized(reader, key_size, complete, "metadata key")));
      const uint64_t value_size = read_count(reader, complete, "metadata value length");
      header.metadata.emplace_back(std::move(key), as_text(read_sized(reader, value_size, complete, "metadata value")));
    }
  }
}

Codec codec_of(std::string_view name) {
  if (name == "null") return Codec::kNone;
  if (name == "deflate") return Codec::kDeflate;
  if (name == "snappy") return Codec::kSnappy;
  if (name == "zstandard") return Codec::kZstd;
  throw_error(ErrorKind::kUnsupported, "Avro codec '{}' is not supported", name.substr(0, 64));
}

}  // namespace

std::optional<std::string_view> Header::find(std::string_view key) const {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string_view Header::schema_text() const {
  auto text = find("avro.schema");
  if (!text) throw_corrupt(0, "file metadata has no 'avro.schema'");
  return *text;
}

std::string_view Header::codec() const {
  return find("avro.codec").value_or("null");
}

std::optional<Header> parse_header(std::span<const std::byte> bytes, bool complete) {
  if (bytes.size() < kMagic.size()) {
    if (!complete) return std::nullopt;
    throw_corrupt(0, "not an Avro file: {} bytes", bytes.size());
  }
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    throw_corrupt(0, "not an Avro file: it does not start with 'Obj' 1");
  }
  ByteReader reader(bytes.subspan(kMagic.size()), kMagic.size());
  Header header;
  try {
    read_metadata(reader, complete, header);
    auto sync = read_sized(reader, kSyncBytes, complete, "sync marker");
    std::copy(sync.begin(), sync.end(), header.sync.begin());
  } catch (const NeedMore&) {
    return std::nullopt;
  }
  header.size = reader.offset();
  return header;
}

ContainerReader::ContainerReader(std::shared_ptr<const InputFile> file, MemoryPool& pool, ContainerOptions options)
    : file_(std::move(file)), pool_(&pool), options_(options), file_size_(file_->size()) {
  try {
    read_header();
  } catch (Error& error) {
    error.add_context(message("reading Avro file {}", file_->path()));
    throw;
  }
  offset_ = header_.size;
}

ContainerReader::~ContainerReader() = default;

Buffer ContainerReader::read(uint64_t offset, uint64_t size) {
  if (!whole_.empty()) return whole_.slice(static_cast<size_t>(offset), static_cast<size_t>(size));
  MutableBuffer buffer = pool_->allocate(static_cast<size_t>(size));
  buffer.set_size(static_cast<size_t>(size));
  file_->read_at(offset, buffer.span());
  return std::move(buffer).freeze();
}

void ContainerReader::read_header() {
  if (file_size_ == 0) throw_corrupt(0, "not an Avro file: it is empty");
  if (file_size_ <= options_.whole_file_bytes) {
    whole_ = read(0, file_size_);
    header_ = *parse_header(whole_.span(), true);
    return;
  }
  // Most headers fit in the first read. A table schema of thousands of columns makes them long: the window then grows.
  for (uint64_t window = std::min<uint64_t>(kFirstReadBytes, file_size_);; window = std::min(window * 4, file_size_)) {
    const Buffer bytes = read(0, window);
    if (auto header = parse_header(bytes.span(), window == file_size_)) {
      header_ = std::move(*header);
      return;
    }
    if (window >= options_.max_header_bytes) {
      throw_corrupt(0, "file metadata is longer than {} bytes", options_.max_header_bytes);
    }
  }
}

std::optional<RawBlock> ContainerReader::next() {
  try {
    return next_block();
  } catch (Error& error) {
    error.add_context(message("reading Avro file {}", file_->path()));
    throw;
  }
}

std::optional<RawBlock> ContainerReader::next_block() {
  if (offset_ == file_size_) return std::nullopt;
  const Buffer prefix = read(offset_, std::min<uint64_t>(kMaxPrefixBytes, file_size_ - offset_));
  ByteReader reader(prefix.span(), offset_);
  RawBlock block;
  block.file_offset = offset_;
  block.record_count = read_count(reader, true, "block record count");
  const uint64_t size = read_count(reader, true, "block size");
  const uint64_t start = reader.offset();
  if (size > file_size_ - start || file_size_ - start - size < kSyncBytes) {
    throw_corrupt(offset_, "block of {} bytes and its sync marker exceed the file: {} bytes are left", size,
                  file_size_ - start);
  }
  if (size > options_.max_block_bytes) {
    throw_corrupt(offset_, "block of {} bytes is over the limit of {}", size, options_.max_block_bytes);
  }
  const Buffer bytes = read(start, size + kSyncBytes);
  if (std::memcmp(bytes.data() + size, header_.sync.data(), kSyncBytes) != 0) {
    throw_corrupt(start + size, "sync marker does not match");
  }
  block.data = bytes.slice(0, static_cast<size_t>(size));
  offset_ = start + size + kSyncBytes;
  return block;
}

BlockDecompressor::BlockDecompressor(std::string_view codec, MemoryPool& pool, size_t max_block_bytes)
    : codec_(codec_of(codec)), max_block_bytes_(max_block_bytes), decompressor_(pool) {}

Block BlockDecompressor::decompress(RawBlock raw) {
  Block block;
  block.record_count = raw.record_count;
  block.file_offset = raw.file_offset;
  if (codec_ == Codec::kNone) {
    block.data = std::move(raw.data);
    return block;
  }
  std::span<const std::byte> input = raw.data.span();
  uint32_t checksum = 0;
  if (codec_ == Codec::kSnappy) {
    if (input.size() < 4) throw_corrupt(raw.file_offset, "snappy block of {} bytes has no checksum", input.size());
    for (size_t i = input.size() - 4; i < input.size(); ++i)
      checksum = checksum << 8 | std::to_integer<uint32_t>(input[i]);
    input = input.first(input.size() - 4);
  }
  try {
    block.data = decompressor_.decompress_unsized(codec_, input, max_block_bytes_).freeze();
  } catch (Error& error) {
    error.add_context(message("decompressing the block at byte {}", raw.file_offset));
    throw;
  }
  if (codec_ == Codec::kSnappy && crc32(block.data.span()) != checksum) {
    throw_corrupt(raw.file_offset, "checksum of the snappy block does not match");
  }
  return block;
}

}  // namespace frazil::avro
