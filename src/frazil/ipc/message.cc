#include "frazil/ipc/message.h"

#include <string>

#include "frazil/base/error.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {
namespace {

FlatTable header_of(const FlatTable& root, uint64_t base_offset) {
  const auto version = root.scalar<int16_t>(message_field::kVersion, 0);
  if (version < kMetadataV4 || version > kMetadataV5) {
    throw_error(ErrorKind::kUnsupported, "metadata of version {} are not read, at {}", version + 1, base_offset);
  }
  const std::optional<FlatTable> header = root.table(message_field::kHeader);
  if (!header) throw_corrupt(base_offset, "a message without a header");
  return *header;
}

MessageKind kind_of(const FlatTable& root, uint64_t base_offset) {
  const auto tag = root.scalar<uint8_t>(message_field::kHeaderTag, 0);
  switch (static_cast<HeaderTag>(tag)) {
    case HeaderTag::kSchema:
      return MessageKind::kSchema;
    case HeaderTag::kDictionaryBatch:
      return MessageKind::kDictionaryBatch;
    case HeaderTag::kRecordBatch:
      return MessageKind::kRecordBatch;
    case HeaderTag::kTensor:
      throw_error(ErrorKind::kUnsupported, "a tensor is not read, at {}", base_offset);
    case HeaderTag::kSparseTensor:
      throw_error(ErrorKind::kUnsupported, "a sparse tensor is not read, at {}", base_offset);
    case HeaderTag::kNone:
      throw_corrupt(base_offset, "a message of no kind");
  }
  throw_error(ErrorKind::kUnsupported, "a message of kind {} is not read, at {}", tag, base_offset);
}

}  // namespace

std::optional<MessagePrefix> MessagePrefix::read(std::span<const std::byte> bytes, uint64_t base_offset) {
  if (bytes.size() < sizeof(uint32_t)) return std::nullopt;
  auto size = load<uint32_t>(bytes.data());
  MessagePrefix prefix{.prefix_bytes = sizeof(uint32_t)};
  if (size == kContinuation) {
    if (bytes.size() < kMaxPrefixBytes) return std::nullopt;
    size = load<uint32_t>(bytes.data() + sizeof(uint32_t));
    prefix.prefix_bytes = kMaxPrefixBytes;
  }
  if (size > INT32_MAX) throw_corrupt(base_offset, "a message with metadata of {} bytes", static_cast<int32_t>(size));
  prefix.metadata_bytes = size;
  return prefix;
}

Message::Message(std::span<const std::byte> metadata, uint64_t base_offset)
    : bytes_(metadata),
      base_offset_(base_offset),
      root_(FlatTable::root(metadata, base_offset)),
      header_(header_of(root_, base_offset)),
      kind_(kind_of(root_, base_offset)),
      is_version4_(root_.scalar<int16_t>(message_field::kVersion, 0) == kMetadataV4) {
  const auto body = root_.scalar<int64_t>(message_field::kBodyLength, 0);
  if (body < 0) throw_corrupt(base_offset, "a message with a body of {} bytes", body);
  body_bytes_ = static_cast<uint64_t>(body);
}

Metadata Message::custom_metadata() const {
  return key_values(root_, message_field::kCustomMetadata, bytes_.size());
}

std::optional<std::string_view> Message::find_custom_metadata(std::string_view key) const {
  const FlatVector pairs = root_.vector(message_field::kCustomMetadata, kOffsetBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const FlatTable pair = pairs.table(i);
    if (pair.text(key_value_field::kKey) == key) return pair.text(key_value_field::kValue).value_or("");
  }
  return std::nullopt;
}

Metadata key_values(const FlatTable& table, unsigned field, size_t budget_bytes) {
  const FlatVector pairs = table.vector(field, kOffsetBytes);
  // A pair has an offset in the vector and a table of two more; honest texts have bytes of their own.
  size_t text_left = budget_bytes * 16;
  if (pairs.size() > budget_bytes / kOffsetBytes) throw_corrupt(table.offset(), "{} pairs of metadata", pairs.size());
  Metadata result;
  result.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const FlatTable pair = pairs.table(i);
    const std::string_view key = pair.text(key_value_field::kKey).value_or("");
    const std::string_view value = pair.text(key_value_field::kValue).value_or("");
    if (key.size() + value.size() > text_left) throw_corrupt(pair.offset(), "texts of metadata share their bytes");
    text_left -= key.size() + value.size();
    result.emplace_back(key, value);
  }
  return result;
}

}  // namespace frazil::ipc
