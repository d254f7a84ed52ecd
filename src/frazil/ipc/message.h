// Framing of Arrow IPC (Columnar format, "Encapsulated message format"; format/Message.fbs).
//
//   message  := prefix metadata padding body            a body begins at a multiple of 8 from the message's start
//   prefix   := continuation:u32 = 0xFFFFFFFF size:i32  since Arrow 0.15
//             | size:i32                                before
//   size     := bytes of metadata and padding; 0 ends a stream
//   metadata := flatbuffer of Message
//   Message  := {version:i16, header:Schema|DictionaryBatch|RecordBatch|Tensor|SparseTensor, bodyLength:i64,
//                custom_metadata:[KeyValue]}
//
// Nothing here allocates, but for errors and custom metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer.h"

namespace frazil::ipc {

enum class MessageKind : uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };

inline constexpr uint32_t kContinuation = UINT32_MAX;
inline constexpr size_t kMaxPrefixBytes = 8;

struct MessagePrefix {
  size_t prefix_bytes = 0;      // 4 or 8
  uint64_t metadata_bytes = 0;  // that follow it; 0: the end of the stream

  // Nothing if `bytes` are too few to tell; four tell whether it takes eight. Throws CorruptError for a negative size.
  static std::optional<MessagePrefix> read(std::span<const std::byte> bytes, uint64_t base_offset);
};

class Message {
 public:
  // `metadata` without prefix, which is borrowed. Throws CorruptError where it breaks the format; Error(kUnsupported)
  // for metadata of a version before 4 (Arrow 0.8) or after 5, tensors and unknown kinds of messages, by name.
  // `base_offset`: of the first byte in its file, for errors.
  explicit Message(std::span<const std::byte> metadata, uint64_t base_offset = 0);

  MessageKind kind() const { return kind_; }
  // Metadata of version 4 (Arrow 0.8 to 0.17): unions have validity buffers.
  bool is_version4() const { return is_version4_; }
  uint64_t body_bytes() const { return body_bytes_; }
  // The table of `kind`.
  const FlatTable& header() const { return header_; }
  // Throws CorruptError where it breaks the format.
  Metadata custom_metadata() const;
  // The first value of `key`; nothing is copied.
  std::optional<std::string_view> find_custom_metadata(std::string_view key) const;
  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t base_offset() const { return base_offset_; }

 private:
  std::span<const std::byte> bytes_;
  uint64_t base_offset_;
  FlatTable root_;
  FlatTable header_;
  uint64_t body_bytes_ = 0;
  MessageKind kind_ = MessageKind::kSchema;
  bool is_version4_ = false;
};

// KeyValue pairs, as schemas, fields, messages and footers have them. `budget_bytes` bounds what comes of a vector
// whose elements lead to the same bytes again and again.
Metadata key_values(const FlatTable& table, unsigned field, size_t budget_bytes);

}  // namespace frazil::ipc
