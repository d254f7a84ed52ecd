// Container files, written (their grammar: container.h; values: Avro 1.12 specification, "Binary Encoding").
//
// Blocks are ended by size, so that readers need little memory; whole records stand in one block. Maps and arrays that
// are written with write_block_header() say how many bytes they take, so that readers skip them at once.
#pragma once

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
#include "frazil/base/byte_reader.h"
#include "frazil/codec/codec.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::avro {

constexpr uint64_t zigzag(int64_t value) noexcept {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

// Bytes of an int or long as it is encoded: 1..10.
constexpr size_t encoded_long_bytes(int64_t value) noexcept {
  size_t bytes = 1;
  for (uint64_t raw = zigzag(value) >> 7; raw != 0; raw >>= 7) ++bytes;
  return bytes;
}

// Appends encoded values to memory of a pool that grows by doubling. Knows no schema: the caller writes what it says, in
// its order. Each call throws MemoryLimitError if the pool has no room.
class ValueEncoder {
 public:
  explicit ValueEncoder(MemoryPool& pool) : pool_(&pool) {}

  void write_null() {}
  void write_boolean(bool value) { write_byte(value ? 1 : 0); }
  void write_int(int32_t value) { write_long(value); }
  void write_long(int64_t value) {
    require(10);
    uint64_t raw = zigzag(value);
    for (; raw >= 0x80; raw >>= 7) data_[size_++] = static_cast<std::byte>(raw | 0x80);
    data_[size_++] = static_cast<std::byte>(raw);
  }
  void write_float(float value) { write_raw(value); }
  void write_double(double value) { write_raw(value); }
  // bytes and string: with their length.
  void write_bytes(std::string_view value) {
    write_long(static_cast<int64_t>(value.size()));
    write_fixed(std::as_bytes(std::span(value.data(), value.size())));
  }
  // Without.
  void write_fixed(std::span<const std::byte> value);
  // The branch of a union, before its value.
  void write_branch(int64_t branch) { write_long(branch); }
  // A union of null and that type, null first.
  void write_optional_long(std::optional<int64_t> value) {
    write_branch(value ? 1 : 0);
    if (value) write_long(*value);
  }
  void write_optional_boolean(std::optional<bool> value) {
    write_branch(value ? 1 : 0);
    if (value) write_boolean(*value);
  }
  void write_optional_bytes(std::optional<std::string_view> value) {
    write_branch(value ? 1 : 0);
    if (value) write_bytes(*value);
  }

  // A block of `count` entries of an array or map, which then take exactly `byte_size`. A block of none ends it.
  void write_block_header(int64_t count, size_t byte_size) {
    write_long(-count);
    write_long(static_cast<int64_t>(byte_size));
  }
  void write_block_end() { write_long(0); }

  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Keeps the memory.
  void clear() { size_ = 0; }

 private:
  void write_byte(uint8_t value) {
    require(1);
    data_[size_++] = static_cast<std::byte>(value);
  }
  template <typename T>
  void write_raw(T value) {
    require(sizeof(T));
    store(data_ + size_, value);
    size_ += sizeof(T);
  }
  void require(size_t bytes) {
    if (bytes > capacity_ - size_) grow(bytes);
  }
  void grow(size_t bytes);

  MemoryPool* pool_;
  MutableBuffer memory_;
  std::byte* data_ = nullptr;  // of memory_
  size_t size_ = 0;
  size_t capacity_ = 0;
};

struct ContainerWriterOptions {
  Codec codec = Codec::kDeflate;            // kNone, kDeflate, kSnappy, kZstd
  std::optional<int> level = std::nullopt;  // nothing: the codec's default here
  // Of values before compression, after which a block ends.
  size_t block_bytes = 64 << 10;
};

// The codec of an Iceberg property ("gzip", "zstd", "snappy", "uncompressed", or Avro's own names), in any case. Throws
// Error(kInvalidArgument) for others.
Codec codec_from_name(std::string_view name);
// "deflate", "zstandard", ...: as "avro.codec" has it. Throws Error(kInvalidArgument) for a codec that Avro does not have.
std::string_view codec_name(Codec codec);

// Writes one file. One thread at a time. If it is destroyed without finish(), nothing is left of the file.
//
//   ContainerWriter writer(files.open_output(path), *schema, {{"format-version", "2"}}, pool);
//   for (...) { writer.values().write_long(1); ...; writer.end_record(); }
//   writer.finish({});
class ContainerWriter {
 public:
  // Metadata is written as given, in its order, after "avro.schema" and "avro.codec". The sync marker is made of the
  // path and the metadata: one file is always written with the same bytes.
  ContainerWriter(std::unique_ptr<OutputFile> file, const Node& schema,
                  const std::vector<std::pair<std::string, std::string>>& metadata, MemoryPool& pool,
                  const ContainerWriterOptions& options = {});
  ~ContainerWriter();
  ContainerWriter(ContainerWriter&&) noexcept;
  ContainerWriter& operator=(ContainerWriter&&) noexcept;

  // Where the values of the next record go, in the schema's order.
  ValueEncoder& values();
  // Ends the record; writes the block if it is full. Throws what the file throws, and MemoryLimitError.
  void end_record();

  const std::string& path() const;
  uint64_t record_count() const;
  // What the file would take if it ended now: exact up to the last block, the rest at the rate at which blocks
  // compressed so far.
  uint64_t estimated_bytes() const;
  // Writes what is left and publishes the file. Returns its size.
  uint64_t finish(OutputFile::PublishOptions options);
  // Removes what was written. Idempotent.
  void abort() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frazil::avro
