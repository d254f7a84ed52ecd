// Messages made by hand, honest ones and others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer_builder.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc::testing {

// A record batch, or a dictionary batch of one, field by field.
struct MadeBatch {
  int64_t length = 0;
  std::vector<FieldNode> nodes = {};
  std::vector<BufferPlace> buffers = {};
  std::vector<int64_t> variadic = {};
  std::string body = {};
  int codec = -1;  // as in body_compression_field::kCodec; -1: none
  Metadata metadata = {};
  int16_t version = kMetadataV5;
  bool is_dictionary = false;
  int64_t id = 0;
  bool is_delta = false;
  int64_t body_length = -1;  // as claimed; -1: as it is

  // Appends a buffer at the next multiple of 8.
  MadeBatch& add(std::string_view bytes) {
    body.resize((body.size() + 7) / 8 * 8);
    buffers.push_back({static_cast<int64_t>(body.size()), static_cast<int64_t>(bytes.size())});
    body += bytes;
    return *this;
  }
  template <typename T>
  MadeBatch& add(const std::vector<T>& values) {
    return add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  MadeBatch& node(int64_t count, int64_t null_count = 0) {
    nodes.push_back({count, null_count});
    return *this;
  }
};

inline std::string framed(std::span<const std::byte> metadata, bool with_continuation = true) {
  std::string out;
  const auto put = [&out](uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  if (with_continuation) put(UINT32_MAX);
  const size_t prefix = with_continuation ? 8 : 4;
  const size_t size = (metadata.size() + prefix + 7) / 8 * 8 - prefix;
  put(static_cast<uint32_t>(size));
  out.append(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  out.resize(prefix + size);
  return out;
}

inline std::string made(const MadeBatch& batch, bool with_continuation = true) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  builder.clear();
  FlatShape message_shape;
  std::string body = batch.body;
  body.resize((body.size() + 7) / 8 * 8);
  message_shape.scalar<int16_t>(message_field::kVersion, batch.version)
      .scalar<uint8_t>(message_field::kHeaderTag, static_cast<uint8_t>(batch.is_dictionary ? HeaderTag::kDictionaryBatch
                                                                                           : HeaderTag::kRecordBatch))
      .offset(message_field::kHeader)
      .scalar<int64_t>(message_field::kBodyLength,
                       batch.body_length < 0 ? static_cast<int64_t>(body.size()) : batch.body_length);
  if (!batch.metadata.empty()) message_shape.offset(message_field::kCustomMetadata);
  const FlatPlace message = builder.table(message_shape);
  builder.point_root(message);
  if (!batch.metadata.empty()) {
    builder.point(message, message_field::kCustomMetadata, add_metadata(builder, batch.metadata));
  }
  FlatShape shape;
  shape.scalar<int64_t>(record_batch_field::kLength, batch.length)
      .offset(record_batch_field::kNodes)
      .offset(record_batch_field::kBuffers);
  if (batch.codec >= 0) shape.offset(record_batch_field::kCompression);
  if (!batch.variadic.empty()) shape.offset(record_batch_field::kVariadicBufferCounts);
  FlatPlace table;
  if (batch.is_dictionary) {
    FlatShape dictionary_shape;
    dictionary_shape.scalar<int64_t>(dictionary_batch_field::kId, batch.id)
        .offset(dictionary_batch_field::kData)
        .boolean(dictionary_batch_field::kIsDelta, batch.is_delta);
    const FlatPlace dictionary = builder.table(dictionary_shape);
    builder.point(message, message_field::kHeader, dictionary);
    table = builder.table(shape);
    builder.point(dictionary, dictionary_batch_field::kData, table);
  } else {
    table = builder.table(shape);
    builder.point(message, message_field::kHeader, table);
  }
  builder.point(table, record_batch_field::kNodes, builder.vector(std::span<const FieldNode>(batch.nodes)));
  builder.point(table, record_batch_field::kBuffers, builder.vector(std::span<const BufferPlace>(batch.buffers)));
  if (batch.codec >= 0) {
    FlatShape compression;
    compression.scalar<int8_t>(body_compression_field::kCodec, static_cast<int8_t>(batch.codec));
    builder.point(table, record_batch_field::kCompression, builder.table(compression));
  }
  if (!batch.variadic.empty()) {
    builder.point(table, record_batch_field::kVariadicBufferCounts,
                  builder.vector(std::span<const int64_t>(batch.variadic)));
  }
  return framed(builder.bytes(), with_continuation) + body;
}

inline std::string made(const Schema& schema) {
  MemoryPool pool;
  return std::string(schema_message(schema, pool).text());
}

inline std::string end_of_stream() {
  return std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8);
}

}  // namespace frazil::ipc::testing
