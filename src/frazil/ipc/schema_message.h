// The schema message of Arrow IPC (format/Schema.fbs, format/Message.fbs) as Arrow types: what a stream begins with, and
// what Arrow's Parquet writers leave in the footer.
//
//   message := [continuation:u32 = 0xFFFFFFFF] size:i32 flatbuffer        without continuation: before Arrow 0.15
//   Message := {version:i16, header:Schema|..., bodyLength:i64, custom_metadata}
//   Schema  := {endianness:i16, fields:[Field], custom_metadata:[KeyValue], features}
//   Field   := {name, nullable, type, dictionary:DictionaryEncoding, children:[Field], custom_metadata}
//
// Fields are decoded when they are asked for, so that one of ten thousand costs no more than itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer.h"

namespace frazil::ipc {

class SchemaMessage {
 public:
  // Borrows the bytes. Throws CorruptError where they break the format, Error(kUnsupported) for metadata of a version
  // before 4 (Arrow 0.8), Error(kInvalidArgument) for another message than a schema. `base_offset`: of the first byte in its
  // file, for errors.
  explicit SchemaMessage(std::span<const std::byte> bytes, uint64_t base_offset = 0);
  // Of the Schema table itself, in metadata of `metadata_bytes`: a message's or a file footer's.
  SchemaMessage(const FlatTable& schema, size_t metadata_bytes);

  size_t field_count() const { return fields_.size(); }
  // Requires index < field_count(). A dictionary-encoded field has the dictionary's type; extensions are metadata. Throws as
  // the constructor; Error(kUnsupported) for a type that is newer than Arrow 21, or nested deeper than kMaxTypeDepth.
  Field field(size_t index) const;
  Metadata metadata() const;
  // Whether numbers in the batches are stored highest byte first.
  bool is_big_endian() const;
  // All of it; and appends the ids of the dictionary-encoded fields, depth first.
  SchemaPtr schema(std::vector<int64_t>* dictionary_ids = nullptr) const;
  // Of the dictionary-encoded fields among `index` and those below it, depth first: which dictionary batches are theirs.
  std::vector<int64_t> dictionary_ids(size_t index) const;

 private:
  FlatTable schema_;
  FlatVector fields_;
  size_t message_bytes_;
};

}  // namespace frazil::ipc
