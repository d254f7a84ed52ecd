#include "frazil/avro/writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "frazil/base/crc32.h"
#include "frazil/base/error.h"
#include "frazil/base/murmur3.h"
#include "frazil/codec/compressor.h"

namespace frazil::avro {

namespace {

constexpr size_t kSyncBytes = 16;
constexpr size_t kBlockHeaderBytesMax = 20;  // two longs
constexpr size_t kCrcBytes = 4;
constexpr size_t kFirstEncoderBytes = 4096;

constexpr std::pair<Codec, std::string_view> kCodecs[] = {
    {Codec::kNone, "null"}, {Codec::kDeflate, "deflate"}, {Codec::kSnappy, "snappy"}, {Codec::kZstd, "zstandard"}};

void append_big_endian(std::byte* target, uint32_t value) {
  for (int i = 0; i < 4; ++i) target[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

// Hashes of path and header: another file has another marker, and the same file the same.
std::array<std::byte, kSyncBytes> make_sync_marker(std::string_view path, std::span<const std::byte> header) {
  std::array<std::byte, kSyncBytes> marker;
  for (uint32_t i = 0; i < kSyncBytes / 4; ++i) {
    const auto of_path = static_cast<uint32_t>(murmur3_x86_32(path, i));
    store(marker.data() + size_t{4} * i, murmur3_x86_32(header, of_path));
  }
  return marker;
}

}  // namespace

Codec codec_from_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "gzip") return Codec::kDeflate;
  if (lower == "zstd") return Codec::kZstd;
  if (lower == "uncompressed" || lower == "none") return Codec::kNone;
  for (const auto& [codec, text] : kCodecs) {
    if (lower == text) return codec;
  }
  throw_error(ErrorKind::kInvalidArgument, "'{}' is no codec of Avro files: gzip, zstd, snappy, uncompressed", name);
}

std::string_view codec_name(Codec codec) {
  for (const auto& [known, text] : kCodecs) {
    if (known == codec) return text;
  }
  throw_error(ErrorKind::kInvalidArgument, "Avro files have no codec {}", frazil::to_string(codec));
}

void ValueEncoder::write_fixed(std::span<const std::byte> value) {
  if (value.empty()) return;
  require(value.size());
  std::memcpy(data_ + size_, value.data(), value.size());
  size_ += value.size();
}

void ValueEncoder::grow(size_t bytes) {
  const size_t wanted = std::max({kFirstEncoderBytes, 2 * capacity_, size_ + bytes});
  MutableBuffer larger = pool_->allocate(wanted);
  larger.set_size(larger.capacity());
  if (size_ > 0) std::memcpy(larger.data(), data_, size_);
  memory_ = std::move(larger);
  data_ = memory_.data();
  capacity_ = memory_.size();
}

struct ContainerWriter::State {
  State(std::unique_ptr<OutputFile> output, MemoryPool& memory, const ContainerWriterOptions& with)
      : file(std::move(output)),
        path(file->path()),
        pool(&memory),
        options(with),
        encoder(memory),
        compressor(memory) {}

  void write_header(const Node& schema, const std::vector<std::pair<std::string, std::string>>& metadata);
  void write_block();

  std::unique_ptr<OutputFile> file;
  const std::string path;
  MemoryPool* pool;
  const ContainerWriterOptions options;
  ValueEncoder encoder;
  Compressor compressor;
  MutableBuffer block;  // as it stands in the file
  std::array<std::byte, kSyncBytes> sync{};
  uint64_t record_count = 0;
  uint64_t block_records = 0;
  // Of all blocks so far, before and after compression.
  uint64_t plain_bytes = 0;
  uint64_t compressed_bytes = 0;
};

void ContainerWriter::State::write_header(const Node& schema,
                                          const std::vector<std::pair<std::string, std::string>>& metadata) {
  encoder.write_fixed(std::as_bytes(std::span("Obj\x01", 4)));
  encoder.write_long(static_cast<int64_t>(2 + metadata.size()));
  encoder.write_bytes("avro.schema");
  encoder.write_bytes(json::write(schema_to_json(schema)));
  encoder.write_bytes("avro.codec");
  encoder.write_bytes(codec_name(options.codec));
  for (const auto& [key, value] : metadata) {
    encoder.write_bytes(key);
    encoder.write_bytes(value);
  }
  encoder.write_block_end();
  sync = make_sync_marker(path, encoder.bytes());
  encoder.write_fixed(sync);
  file->write(encoder.bytes());
  encoder.clear();
}

// The block is put together behind room for its header, and so goes out in one piece.
void ContainerWriter::State::write_block() {
  const std::span<const std::byte> plain = encoder.bytes();
  const size_t needed = kBlockHeaderBytesMax + Compressor::bound(options.codec, plain.size()) + kCrcBytes + kSyncBytes;
  if (block.capacity() < needed) {
    block = MutableBuffer();
    block = pool->allocate(needed);
  }
  block.set_size(needed);
  const auto body = block.span().subspan(kBlockHeaderBytesMax, needed - kBlockHeaderBytesMax - kCrcBytes - kSyncBytes);
  size_t body_bytes = *compressor.compress(options.codec, options.level, plain, body);
  if (options.codec == Codec::kSnappy) {
    append_big_endian(body.data() + body_bytes, crc32(plain));
    body_bytes += kCrcBytes;
  }
  const auto count = static_cast<int64_t>(block_records);
  const auto size = static_cast<int64_t>(body_bytes);
  const size_t header_bytes = encoded_long_bytes(count) + encoded_long_bytes(size);
  std::byte* begin = body.data() - header_bytes;
  std::byte* cursor = begin;
  for (const int64_t value : {count, size}) {
    uint64_t raw = zigzag(value);
    for (; raw >= 0x80; raw >>= 7) *cursor++ = static_cast<std::byte>(raw | 0x80);
    *cursor++ = static_cast<std::byte>(raw);
  }
  std::memcpy(body.data() + body_bytes, sync.data(), kSyncBytes);
  file->write({begin, header_bytes + body_bytes + kSyncBytes});
  plain_bytes += plain.size();
  compressed_bytes += body_bytes;
  encoder.clear();
  block_records = 0;
}

ContainerWriter::ContainerWriter(std::unique_ptr<OutputFile> file, const Node& schema,
                                 const std::vector<std::pair<std::string, std::string>>& metadata, MemoryPool& pool,
                                 const ContainerWriterOptions& options)
    : state_(std::make_unique<State>(std::move(file), pool, options)) {
  if (options.level) check_compression_level(options.codec, *options.level);
  state_->write_header(schema, metadata);
}

ContainerWriter::~ContainerWriter() = default;
ContainerWriter::ContainerWriter(ContainerWriter&&) noexcept = default;
ContainerWriter& ContainerWriter::operator=(ContainerWriter&&) noexcept = default;

ValueEncoder& ContainerWriter::values() {
  return state_->encoder;
}

void ContainerWriter::end_record() {
  ++state_->record_count;
  ++state_->block_records;
  if (state_->encoder.size() >= state_->options.block_bytes) state_->write_block();
}

const std::string& ContainerWriter::path() const {
  return state_->path;
}

uint64_t ContainerWriter::record_count() const {
  return state_->record_count;
}

uint64_t ContainerWriter::estimated_bytes() const {
  const State& state = *state_;
  const uint64_t waiting = state.encoder.size();
  if (state.file == nullptr || waiting == 0) return state.file == nullptr ? 0 : state.file->bytes_written();
  const double rate =
      state.plain_bytes == 0 ? 1 : static_cast<double>(state.compressed_bytes) / static_cast<double>(state.plain_bytes);
  return state.file->bytes_written() + static_cast<uint64_t>(static_cast<double>(waiting) * rate) + kSyncBytes;
}

uint64_t ContainerWriter::finish(OutputFile::PublishOptions options) {
  State& state = *state_;
  if (state.block_records > 0) state.write_block();
  const uint64_t bytes = state.file->bytes_written();
  state.file->publish(options);
  state.file.reset();
  return bytes;
}

void ContainerWriter::abort() noexcept {
  if (state_->file != nullptr) state_->file->abort();
}

}  // namespace frazil::avro
