// Avro values into Arrow columns. The writer's schema and what the reader wants are resolved once (Avro 1.12
// specification, "Schema Resolution") into a flat program of small instructions, which then runs once a record over the
// bytes of a block: it reads into column buffers, skips, branches on unions, loops over arrays; no value is an object
// on the way.
//
//   Avro                                   Arrow
//   null, boolean, int, long, ...          null, bool, int32, int64, float, double, binary, utf8
//   fixed                                  fixed_size_binary
//   enum                                   dictionary<int32, utf8>
//   record, array, map                     struct, list, map<utf8, V>
//   array of records, logicalType map      map<K, V>
//   union of null and one type             that type, nullable; other unions are Error(kUnsupported)
//   decimal (bytes, fixed)                 decimal128, decimal256 over 38 digits
//   date, time-millis, time-micros         date32, time32[ms], time64[us]
//   timestamp-*, local-timestamp-*         timestamp[ms|us|ns, UTC]; without zone if local or adjust-to-utc is false
//   uuid on fixed(16), on string           fixed_size_binary(16) with extension arrow.uuid; utf8
//   duration                               interval month_day_nano
//
// Fields with an id carry it in the Arrow metadata "PARQUET:field_id", as Arrow's Parquet reader does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frazil/avro/container.h"
#include "frazil/avro/schema.h"
#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::avro {

// How a reader's field finds the writer's:
//   1. by field id, if the reader's field has one and any field of the writer's record has one: names then say nothing;
//   2. else by name, then by the reader's aliases.
// A field that the writer lacks takes its default, else null if it may be null, else compiling throws CorruptError.
//
// Values convert as Avro allows: int -> long -> float -> double, bytes <-> string; decimals of one scale between bytes
// and fixed; a logical type and its plain type. A writer's union resolves branch by branch, and a branch that the
// reader has no place for is an error only when a value uses it.
class Program {
 public:
  ~Program();

  // `reader` null: everything, as the writer has it. A root that is no record becomes one column named "value".
  // Throws CorruptError or Error(kUnsupported) naming the field's path.
  static std::shared_ptr<const Program> compile(const NodePtr& writer, const NodePtr& reader = nullptr);

  const SchemaPtr& arrow_schema() const;
  const NodePtr& writer() const;
  // The writer's node of a field with Output::kRaw, beneath a nullable union; nullptr if the writer lacks the field.
  // `path`: the index of the reader's field at each record.
  const Node* raw_type(std::span<const size_t> path) const;

  struct Code;
  const Code& code() const { return *code_; }

 private:
  Program();
  std::unique_ptr<Code> code_;
};

struct DecodeOptions {
  bool check_utf8 = true;  // of kValue strings, once a batch
};

// Fills one batch after the other. One thread; memory comes from the pool.
class BatchDecoder {
 public:
  BatchDecoder(std::shared_ptr<const Program> program, MemoryPool& pool, DecodeOptions options = {});
  ~BatchDecoder();
  BatchDecoder(BatchDecoder&&) noexcept;

  // Decodes up to `max_rows` records, stops early after `max_bytes` of encoded data, and advances the block. Throws
  // CorruptError with the offset in the decompressed block (the container adds block and file as context); the decoder
  // is then of no further use. Checks that a block whose last record was read has no bytes left.
  size_t decode(Block& block, size_t max_rows, size_t max_bytes = SIZE_MAX);
  size_t row_count() const;
  // What was decoded since the last call. With Output::kView and kRaw the batch keeps the blocks alive.
  RecordBatch finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct StreamOptions {
  NodePtr reader_schema;  // null: all columns
  size_t batch_rows = 65536;
  size_t batch_bytes = 64 << 20;  // of encoded data, after which a batch ends early
  ContainerOptions container;
  DecodeOptions decode;
};

// A container file as a stream of batches. `pool` outlives the stream, not its batches. Errors name the file and the
// block.
std::unique_ptr<BatchStream> open_stream(std::shared_ptr<const InputFile> file, MemoryPool& pool,
                                         StreamOptions options = {});
// The same for an open container and a program for its schema, which may be shared by files of one schema;
// `reader_schema` and `container` of the options are not used.
std::unique_ptr<BatchStream> open_stream(std::unique_ptr<ContainerReader> container,
                                         std::shared_ptr<const Program> program, MemoryPool& pool,
                                         const StreamOptions& options = {});

// Whether values of the one type can become the other at all: whether compile() takes them.
bool can_read(const NodePtr& writer, const NodePtr& reader);

}  // namespace frazil::avro
