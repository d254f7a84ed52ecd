#include "frazil/ipc/push_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/batch_decoder.h"
#include "frazil/ipc/format.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/piece_queue.h"
#include "frazil/ipc/read_schema.h"
#include "frazil/ipc/schema_message.h"

namespace frazil::ipc {

struct PushDecoder::Impl {
  enum class Stage : uint8_t {
    kStart,  // nothing was looked at
    kPrefix,
    kMetadata,
    kBody,
    kEnd,
  };

  Impl(MemoryPool& pool_in, ReadOptions options_in) : pool(pool_in), options(std::move(options_in)), pieces(pool_in) {}

  // Bytes that the stage takes in all.
  uint64_t needed() const {
    switch (stage) {
      case Stage::kStart:
      case Stage::kPrefix:
        return prefix_bytes;
      case Stage::kMetadata:
        return metadata_bytes;
      case Stage::kBody:
        return body_bytes;
      case Stage::kEnd:
        return 0;
    }
    return 0;
  }
  size_t missing() const {
    const uint64_t all = needed();
    return all > pieces.size() ? static_cast<size_t>(all - pieces.size()) : 0;
  }

  // Goes on to the body of the next message, as far as the bytes that are there allow. True if the body is there too.
  bool advance();
  void start();
  bool read_prefix();
  void read_metadata();
  void read_schema(const Message& message);
  std::optional<RecordBatch> read_body();

  MemoryPool& pool;
  const ReadOptions options;
  PieceQueue pieces;
  Stage stage = Stage::kStart;
  uint64_t offset = 0;  // in the stream, of the first byte in `pieces`
  size_t prefix_bytes = sizeof(uint32_t);
  uint64_t metadata_bytes = 0;
  uint64_t metadata_offset = 0;
  uint64_t body_bytes = 0;
  Buffer metadata;  // of the message at hand
  Buffer batch_metadata;
  uint64_t batch_metadata_offset = 0;
  std::optional<BatchDecoder> decoder;  // from the schema on
  SchemaPtr schema;
};

void PushDecoder::Impl::start() {
  std::array<std::byte, kMagicBytes> bytes;
  // A file, read from its beginning: its messages are a stream.
  pieces.peek(bytes);
  if (std::memcmp(bytes.data(), kMagic.data(), sizeof(uint32_t)) == 0 && prefix_bytes == sizeof(uint32_t)) {
    prefix_bytes = kMagicBytes;
    return;
  }
  if (prefix_bytes == kMagicBytes) {
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
      throw_corrupt(0, "a stream that begins nearly as a file does");
    }
    pieces.drop(kMagicBytes);
    offset += kMagicBytes;
    prefix_bytes = sizeof(uint32_t);
  } else if (std::memcmp(bytes.data(), kFeatherV1Magic.data(), kFeatherV1Magic.size()) == 0) {
    throw_feather_v1();
  }
  stage = Stage::kPrefix;
}

bool PushDecoder::Impl::read_prefix() {
  std::array<std::byte, kMaxPrefixBytes> bytes;
  const std::optional<MessagePrefix> prefix =
      MessagePrefix::read(std::span(bytes).first(pieces.peek(std::span(bytes).first(prefix_bytes))), offset);
  if (!prefix) {
    prefix_bytes = kMaxPrefixBytes;
    return false;
  }
  pieces.drop(prefix->prefix_bytes);
  offset += prefix->prefix_bytes;
  prefix_bytes = sizeof(uint32_t);
  if (prefix->metadata_bytes == 0) {
    if (!decoder) throw_corrupt(offset, "a stream ends before its schema");
    stage = Stage::kEnd;
    return true;
  }
  if (prefix->metadata_bytes > options.max_metadata_bytes) {
    throw_corrupt(offset, "a message has metadata of {} bytes, more than {}", prefix->metadata_bytes,
                  options.max_metadata_bytes);
  }
  metadata_bytes = prefix->metadata_bytes;
  metadata_offset = offset;
  stage = Stage::kMetadata;
  return true;
}

void PushDecoder::Impl::read_metadata() {
  metadata = pieces.take(static_cast<size_t>(metadata_bytes));
  offset += metadata_bytes;
  const Message message(metadata.span(), metadata_offset);
  if (message.body_bytes() > options.max_body_bytes) {
    throw_corrupt(metadata_offset, "a message has a body of {} bytes, more than {}", message.body_bytes(),
                  options.max_body_bytes);
  }
  if ((message.kind() == MessageKind::kSchema) == decoder.has_value()) {
    throw_corrupt(metadata_offset,
                  !decoder ? "a stream without a schema before its batches" : "a stream with a second schema");
  }
  if (message.kind() == MessageKind::kSchema) read_schema(message);
  body_bytes = message.body_bytes();
  stage = Stage::kBody;
}

void PushDecoder::Impl::read_schema(const Message& message) {
  decoder.emplace(read_schema_of(message.header(), options.schema_cache), DictionaryRules::kStream, options, pool);
  schema = decoder->schema();
}

bool PushDecoder::Impl::advance() {
  while (stage != Stage::kEnd && needed() <= pieces.size()) {
    switch (stage) {
      case Stage::kStart:
        start();
        break;
      case Stage::kPrefix:
        if (!read_prefix()) continue;
        break;
      case Stage::kMetadata:
        read_metadata();
        break;
      default:
        return true;
    }
  }
  return false;
}

std::optional<RecordBatch> PushDecoder::Impl::read_body() {
  const uint64_t body_offset = offset;
  Buffer body = pieces.take(static_cast<size_t>(body_bytes));
  offset += body_bytes;
  stage = Stage::kPrefix;
  const Message message(metadata.span(), metadata_offset);
  switch (message.kind()) {
    case MessageKind::kSchema:
      return std::nullopt;
    case MessageKind::kDictionaryBatch:
      decoder->add_dictionary(message, std::move(metadata), std::move(body), body_offset);
      return std::nullopt;
    case MessageKind::kRecordBatch:
      break;
  }
  RecordBatch batch =
      decoder->decode(message, {.whole = std::move(body), .pieces = {}, .is_whole = true, .offset = body_offset});
  batch_metadata = std::move(metadata);
  batch_metadata_offset = metadata_offset;
  return batch;
}

PushDecoder::PushDecoder(MemoryPool& pool, ReadOptions options)
    : impl_(std::make_unique<Impl>(pool, std::move(options))) {}
PushDecoder::~PushDecoder() = default;
PushDecoder::PushDecoder(PushDecoder&&) noexcept = default;
PushDecoder& PushDecoder::operator=(PushDecoder&&) noexcept = default;

size_t PushDecoder::next_required_size() const {
  return impl_->missing();
}

void PushDecoder::push(std::span<const std::byte> bytes) {
  if (impl_->stage == Impl::Stage::kEnd) return;
  impl_->pieces.append(bytes, impl_->missing());
  impl_->advance();
}

void PushDecoder::push(Buffer bytes) {
  if (impl_->stage == Impl::Stage::kEnd) return;
  impl_->pieces.append(std::move(bytes));
  impl_->advance();
}

std::span<std::byte> PushDecoder::room() {
  return impl_->pieces.room(impl_->missing(), kReadAheadBytes);
}

void PushDecoder::filled(size_t bytes) {
  impl_->pieces.filled(bytes);
  impl_->advance();
}

std::optional<RecordBatch> PushDecoder::next() {
  while (impl_->advance()) {
    if (std::optional<RecordBatch> batch = impl_->read_body()) return batch;
  }
  return std::nullopt;
}

const SchemaPtr& PushDecoder::schema() const {
  return impl_->schema;
}

Metadata PushDecoder::custom_metadata() const {
  if (impl_->batch_metadata.empty()) return {};
  return Message(impl_->batch_metadata.span(), impl_->batch_metadata_offset).custom_metadata();
}

bool PushDecoder::at_end() const {
  return impl_->stage == Impl::Stage::kEnd;
}

void PushDecoder::finish() {
  Impl& impl = *impl_;
  if (impl.stage == Impl::Stage::kEnd) return;
  if (impl.offset == 0 && impl.pieces.size() == 0) throw_corrupt(0, "a stream of no bytes");
  if (impl.stage != Impl::Stage::kPrefix || impl.pieces.size() > 0) {
    throw_corrupt(impl.offset + impl.pieces.size(), "a stream ends inside of a message, {} bytes before its next part",
                  impl.missing());
  }
  if (!impl.decoder) throw_corrupt(impl.offset, "a stream ends before its schema");
  impl.stage = Impl::Stage::kEnd;
}

}  // namespace frazil::ipc
