// The numbers of Arrow's metadata (format/Schema.fbs, Message.fbs, File.fbs, August 2026): fields of each table, tags of each
// union. A union takes two fields: its tag and, behind it, its value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace frazil::ipc {

// MetadataVersion.
inline constexpr int16_t kMetadataV4 = 3;
inline constexpr int16_t kMetadataV5 = 4;

// Bytes of an offset to a table or a string.
inline constexpr size_t kOffsetBytes = 4;

// MessageHeader.
enum class HeaderTag : uint8_t { kNone, kSchema, kDictionaryBatch, kRecordBatch, kTensor, kSparseTensor };

// Type.
enum class TypeTag : uint8_t {
  kNull = 1,
  kInt,
  kFloatingPoint,
  kBinary,
  kUtf8,
  kBool,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInterval,
  kList,
  kStruct,
  kUnion,
  kFixedSizeBinary,
  kFixedSizeList,
  kMap,
  kDuration,
  kLargeBinary,
  kLargeUtf8,
  kLargeList,
  kRunEndEncoded,
  kBinaryView,
  kUtf8View,
  kListView,
  kLargeListView,
};

namespace message_field {
enum : unsigned { kVersion, kHeaderTag, kHeader, kBodyLength, kCustomMetadata };
}
namespace schema_field {
enum : unsigned { kEndianness, kFields, kCustomMetadata, kFeatures };
}
namespace field_field {
enum : unsigned { kName, kNullable, kTypeTag, kType, kDictionary, kChildren, kCustomMetadata };
}
namespace dictionary_encoding_field {
enum : unsigned { kId, kIndexType, kIsOrdered, kKind };
}
namespace key_value_field {
enum : unsigned { kKey, kValue };
}
namespace record_batch_field {
enum : unsigned { kLength, kNodes, kBuffers, kCompression, kVariadicBufferCounts };
}
namespace body_compression_field {
enum : unsigned { kCodec, kMethod };
}
namespace dictionary_batch_field {
enum : unsigned { kId, kData, kIsDelta };
}
namespace footer_field {
enum : unsigned { kVersion, kSchema, kDictionaries, kRecordBatches, kCustomMetadata };
}

// CompressionType.
inline constexpr int8_t kLz4FrameCompression = 0;
inline constexpr int8_t kZstdCompression = 1;

// Structs as they lie in vectors.
struct FieldNode {
  int64_t length;
  int64_t null_count;
};
struct BufferPlace {
  int64_t offset;  // from the body's start
  int64_t length;
};
struct Block {
  int64_t offset;  // from the file's start
  int32_t metadata_length;
  int32_t padding;
  int64_t body_length;
};
static_assert(sizeof(FieldNode) == 16 && sizeof(BufferPlace) == 16 && sizeof(Block) == 24);

}  // namespace frazil::ipc
