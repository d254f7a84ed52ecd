#include "frazil/ipc/message_writer.h"

#include <limits>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/ipc/schema_writer.h"

namespace frazil::ipc {

namespace {

struct Prefix {
  uint32_t continuation = 0xFFFFFFFF;
  int32_t metadata_bytes = 0;
};
static_assert(sizeof(Prefix) == 8);

void check(const WriteOptions& options) {
  if (options.alignment != 8 && options.alignment != 64) {
    throw_error(ErrorKind::kInvalidArgument, "an alignment of 8 or 64 bytes is wanted, not of {}", options.alignment);
  }
  if (options.codec != Codec::kNone && options.codec != Codec::kLz4Frame && options.codec != Codec::kZstd) {
    throw_error(ErrorKind::kInvalidArgument, "Arrow IPC has the codecs lz4 and zstd, not {}", to_string(options.codec));
  }
  if (options.codec != Codec::kNone) check_compression_level(options.codec, options.level);
  if (!(options.min_space_savings >= 0 && options.min_space_savings <= 1)) {
    throw_error(ErrorKind::kInvalidArgument, "a share of space to save is 0 to 1, not {}", options.min_space_savings);
  }
  if (options.metadata_v4 && options.codec != Codec::kNone) {
    throw_error(ErrorKind::kInvalidArgument, "metadata V4 have no compressed bodies");
  }
}

std::span<const std::byte> zeros(size_t count) {
  return {kEmptyBytes, count};
}

}  // namespace

MessageWriter::MessageWriter(ByteSink& sink, MemoryPool& pool, const WriteOptions& options)
    : sink_(sink), options_(options), builder_(pool), body_(pool, options_) {
  check(options_);
}

void MessageWriter::write_bytes(std::span<const std::byte> bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  position_ += bytes.size();
}

void MessageWriter::flush() {
  if (waiting_.empty()) return;
  sink_.write(waiting_);
  waiting_.clear();
}

FlatPlace MessageWriter::begin_message(HeaderTag tag, const Metadata& metadata) {
  builder_.clear();
  FlatShape shape;
  shape.scalar<int16_t>(message_field::kVersion, metadata_version())
      .scalar<uint8_t>(message_field::kHeaderTag, static_cast<uint8_t>(tag))
      .offset(message_field::kHeader)
      .scalar<int64_t>(message_field::kBodyLength, tag == HeaderTag::kSchema ? 0 : body_.body_bytes());
  if (!metadata.empty()) shape.offset(message_field::kCustomMetadata);
  const FlatPlace message = builder_.table(shape);
  builder_.point_root(message);
  if (!metadata.empty()) builder_.point(message, message_field::kCustomMetadata, add_metadata(builder_, metadata));
  return message;
}

MessageWriter::SchemaPart MessageWriter::write_schema(const Schema& schema) {
  const FlatPlace message = begin_message(HeaderTag::kSchema, {});
  const FlatBuilder::Position part = builder_.begin_part();
  const FlatPlace table = add_schema(builder_, schema);
  builder_.point(message, message_field::kHeader, table);
  const std::span<const std::byte> metadata = builder_.bytes();
  const uint64_t begin = position_ + sizeof(Prefix);
  const uint64_t end = round_up(begin + metadata.size(), options_.alignment);
  const Prefix prefix{.metadata_bytes = static_cast<int32_t>(end - begin)};
  waiting_.reserve(waiting_.size() + sizeof(prefix) + (end - begin));
  write_bytes(std::as_bytes(std::span(&prefix, 1)));
  write_bytes(metadata);
  write_bytes(zeros(end - position_));
  return {.bytes = metadata.subspan(part), .table = table.position - part};
}

FlatPlace MessageWriter::add_record_batch(int64_t length) {
  FlatShape shape;
  shape.scalar<int64_t>(record_batch_field::kLength, length)
      .offset(record_batch_field::kNodes)
      .offset(record_batch_field::kBuffers);
  const bool is_compressed = options_.codec != Codec::kNone;
  const bool has_views = !body_.variadic_counts().empty();
  if (is_compressed) shape.offset(record_batch_field::kCompression);
  if (has_views) shape.offset(record_batch_field::kVariadicBufferCounts);
  const FlatPlace batch = builder_.table(shape);
  builder_.point(batch, record_batch_field::kNodes, builder_.vector(body_.nodes()));
  builder_.point(batch, record_batch_field::kBuffers, builder_.vector(body_.buffers()));
  if (is_compressed) {
    const int8_t codec = options_.codec == Codec::kZstd ? kZstdCompression : kLz4FrameCompression;
    // The method is by buffer, number 0, the default.
    builder_.point(batch, record_batch_field::kCompression,
                   builder_.table(FlatShape()
                                      .scalar<int8_t>(body_compression_field::kCodec, codec)
                                      .scalar<int8_t>(body_compression_field::kMethod, 0)));
  }
  if (has_views) {
    builder_.point(batch, record_batch_field::kVariadicBufferCounts, builder_.vector(body_.variadic_counts()));
  }
  return batch;
}

Block MessageWriter::write_with_body() {
  const std::span<const std::byte> metadata = builder_.bytes();
  const uint64_t begin = position_ + sizeof(Prefix);
  const uint64_t end = round_up(begin + metadata.size(), options_.alignment);
  const Prefix prefix{.metadata_bytes = static_cast<int32_t>(end - begin)};
  pieces_.clear();
  pieces_.reserve(body_.pieces().size() + 4);
  if (!waiting_.empty()) pieces_.emplace_back(waiting_);
  pieces_.push_back(std::as_bytes(std::span(&prefix, 1)));
  pieces_.push_back(metadata);
  pieces_.push_back(zeros(end - begin - metadata.size()));
  pieces_.insert(pieces_.end(), body_.pieces().begin(), body_.pieces().end());
  sink_.write(pieces_);
  waiting_.clear();
  const Block block{.offset = static_cast<int64_t>(position_),
                    .metadata_length = static_cast<int32_t>(end - position_),
                    .padding = 0,
                    .body_length = body_.body_bytes()};
  position_ = end + static_cast<uint64_t>(block.body_length);
  return block;
}

Block MessageWriter::write_record_batch(int64_t row_count, std::span<const ArrayPtr> columns,
                                        const Metadata& metadata) {
  body_.begin(columns.size());
  for (const ArrayPtr& column : columns) body_.add(*column);
  const FlatPlace message = begin_message(HeaderTag::kRecordBatch, metadata);
  builder_.point(message, message_field::kHeader, add_record_batch(row_count));
  return write_with_body();
}

Block MessageWriter::write_dictionary(int64_t id, const Array& values, bool is_delta) {
  body_.begin(1);
  body_.add(values);
  const FlatPlace message = begin_message(HeaderTag::kDictionaryBatch, {});
  const FlatPlace header = builder_.table(FlatShape()
                                              .scalar<int64_t>(dictionary_batch_field::kId, id)
                                              .offset(dictionary_batch_field::kData)
                                              .boolean(dictionary_batch_field::kIsDelta, is_delta));
  builder_.point(message, message_field::kHeader, header);
  builder_.point(header, dictionary_batch_field::kData, add_record_batch(values.length));
  return write_with_body();
}

void MessageWriter::write_end_of_stream() {
  const Prefix prefix;
  write_bytes(std::as_bytes(std::span(&prefix, 1)));
}

}  // namespace frazil::ipc
