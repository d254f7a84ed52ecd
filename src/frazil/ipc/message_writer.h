// Encapsulated messages (Columnar format, "Encapsulated message format") to a sink, one behind the other.
//
//   message := 0xFFFFFFFF:u32 size:i32 Message padding body      size: of the flatbuffer and its padding
//
// Bodies, and all messages but the first, begin at multiples of the alignment, counted from the first byte that was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/byte_sink.h"
#include "frazil/ipc/body_encoder.h"
#include "frazil/ipc/flatbuffer_builder.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/write_options.h"

namespace frazil::ipc {

class MessageWriter {
 public:
  // `sink` and `pool` outlive it. Throws Error(kInvalidArgument) for options that cannot be.
  MessageWriter(ByteSink& sink, MemoryPool& pool, const WriteOptions& options);

  // Bytes and the schema wait for the next batch, so that they need no call of their own; flush() hands them over.
  void write_bytes(std::span<const std::byte> bytes);
  // Returns the Schema table, for FlatBuilder::copy(): valid until the next message.
  struct SchemaPart {
    std::span<const std::byte> bytes;
    FlatBuilder::Position table = 0;  // from the start of the bytes
  };
  SchemaPart write_schema(const Schema& schema);
  void flush();
  // The columns are borrowed. Return where the message stands.
  Block write_record_batch(int64_t row_count, std::span<const ArrayPtr> columns, const Metadata& metadata);
  Block write_dictionary(int64_t id, const Array& values, bool is_delta);
  void write_end_of_stream();
  // Bytes so far.
  uint64_t position() const { return position_; }
  // For what is not a message: the footer.
  FlatBuilder& builder() { return builder_; }
  int16_t metadata_version() const { return options_.metadata_v4 ? kMetadataV4 : kMetadataV5; }

 private:
  FlatPlace begin_message(HeaderTag tag, const Metadata& metadata);
  // The RecordBatch table of what is in body_.
  FlatPlace add_record_batch(int64_t length);
  Block write_with_body();

  ByteSink& sink_;
  const WriteOptions options_;
  FlatBuilder builder_;
  BodyEncoder body_;
  std::vector<std::byte> waiting_;
  std::vector<std::span<const std::byte>> pieces_;
  uint64_t position_ = 0;
};

}  // namespace frazil::ipc
