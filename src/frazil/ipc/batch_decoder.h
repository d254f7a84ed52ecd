// Record batch messages as batches: what stands between the framing of a stream or a file and its reader.
//
//   RecordBatch     := {length:i64, nodes:[FieldNode], buffers:[BufferPlace], compression, variadicBufferCounts:[i64]}
//   DictionaryBatch := {id:i64, data:RecordBatch, isDelta:bool}
//
// One pass over nodes and buffers along the plan of the schema. All arrays of a batch are made in one block (one a level of
// nesting), and share the body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "frazil/codec/codec.h"
#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/ipc/body_buffers.h"
#include "frazil/ipc/dictionaries.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/read_options.h"
#include "frazil/ipc/read_schema.h"

namespace frazil::ipc {

// One thread at a time. All throw CorruptError with the column and an offset, MemoryLimitError.
class BatchDecoder {
 public:
  // `options` and `pool` outlive it. Throws Error(kInvalidArgument) if the options ask for columns that are not there.
  BatchDecoder(std::shared_ptr<const ReadSchema> schema, DictionaryRules rules, const ReadOptions& options,
               MemoryPool& pool);

  // Of the batches.
  const SchemaPtr& schema() const { return projection_.schema; }
  MemoryPool& pool() const { return pool_; }
  bool is_validating() const { return options_.validation == Validation::kFull; }

  // Whether a column that is read needs the dictionary of the message.
  bool wants_dictionary(const Message& message) const;
  // Keeps `metadata`, of which the message is, and `body`, if a column needs them.
  void add_dictionary(const Message& message, Buffer metadata, Buffer body, uint64_t body_offset);

  RecordBatch decode(const Message& message, const Body& body);
  // The places in the body of the buffers that decode() takes, for a Body in pieces: one range a buffer, in order.
  void wanted_ranges(const Message& message, std::vector<ByteRange>& ranges) const;
  bool is_all() const { return projection_.is_all; }

  ArrayPtr decode_dictionary(const Message& message, const ReadSchema::Dictionary& dictionary, const Body& body);
  const ArrayPtr& dictionary(uint32_t number, bool is_unused) { return dictionaries_.values(number, is_unused, *this); }

 private:
  Codec codec_of(const Message& message, const FlatTable& batch) const;
  BodyBuffers::Changes changes_of(const Message& message, const FlatTable& batch);

  const std::shared_ptr<const ReadSchema> whole_;
  const Projection projection_;
  const ReadOptions& options_;
  MemoryPool& pool_;
  std::optional<Decompressor> decompressor_;  // once a body was compressed
  Dictionaries dictionaries_;
};

// Rows of a record batch message. Throws CorruptError if they are negative.
int64_t row_count_of(const Message& message);

}  // namespace frazil::ipc
