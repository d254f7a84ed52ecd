// The Arrow C data interface and C stream interface (docs/format/CDataInterface, CStreamInterface): arrays and schemas
// handed between libraries of one process without copying.
//
// Ownership. An import takes over the structure that it is given: it is moved out (release == nullptr afterwards), also
// when the import throws. Its release callback is called exactly once, when the last Buffer that came from it is gone,
// on whichever thread drops that. An export fills a structure whose memory the caller provides; it holds references
// until its release callback is called. Children and dictionaries may be moved out of it and outlive it, as the
// interface allows. A failed export leaves release == nullptr.
//
// Trust. The structures carry no buffer sizes: a producer's pointers and lengths are believed as far as its memory
// reaches, everything else is checked (null pointers, counts, negative and overflowing lengths, format strings, depth,
// offsets at both ends) before memory behind it is read.
#pragma once

#include <cstdint>
#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"

namespace frazil {

// A schema with more fields than this, nested ones counted, is refused: a hostile structure may be a graph.
inline constexpr int64_t kMaxImportedFields = 1 << 18;

struct ImportOptions {
  // Buffers that do not have the alignment of their values are copied into memory of this pool.
  MemoryPool* pool = nullptr;  // required
  // Runs validate_full, not only validate.
  bool validate_full = false;
};

// Throw CorruptError for a structure that breaks the rules, Error(kUnsupported) for a format that is not known,
// Error(kInvalidArgument) for one that is null or already released.
Field import_field(ArrowSchema* schema);
// A struct's children as a schema.
SchemaPtr import_schema(ArrowSchema* schema);
ArrayPtr import_array(ArrowArray* array, const DataTypePtr& type, const ImportOptions& options);
// A struct array without nulls. Its columns are released one by one where the structure allows it.
RecordBatch import_record_batch(ArrowArray* array, const SchemaPtr& schema, const ImportOptions& options);

void export_field(const Field& field, ArrowSchema* out);
void export_schema(const Schema& schema, ArrowSchema* out);
// Requires a validated array.
void export_array(const ArrayPtr& array, ArrowArray* out);
void export_record_batch(const RecordBatch& batch, ArrowArray* out);

// The stream's errors arrive as its message, with the errno of their kind: EINVAL, ENOSYS, ENOMEM, ECANCELED, EIO.
void export_stream(std::unique_ptr<BatchStream> stream, ArrowArrayStream* out);
// Reads the schema at once. A producer's error is thrown from next() with the producer's message; its errno decides the
// kind. options.pool must outlive the stream.
std::unique_ptr<BatchStream> import_stream(ArrowArrayStream* stream, const ImportOptions& options);

// A batch as a struct array without nulls, and back (nulls of the struct itself are refused). O(columns), no copy.
ArrayPtr to_struct_array(const RecordBatch& batch);
RecordBatch to_record_batch(const Array& array, const SchemaPtr& schema);

}  // namespace frazil
