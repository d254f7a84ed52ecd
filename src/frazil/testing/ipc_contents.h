// All that an Arrow IPC file or stream says, held whole, so that two can be compared and one be written anew.
#pragma once

#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/ipc/write_options.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {
class BatchWriter;
class FileReader;
class FileWriter;
class PushDecoder;
class StreamReader;
}  // namespace frazil::ipc

namespace frazil::testing {

struct IpcContents {
  SchemaPtr schema;
  Metadata file_metadata;  // of a file's footer
  std::vector<RecordBatch> batches;
  std::vector<Metadata> batch_metadata;  // one a batch
};

// To the end. Throw what the reader throws.
IpcContents contents_of(ipc::FileReader& reader);
IpcContents contents_of(ipc::StreamReader& reader);
// Metadata of files and batches do not come through here.
IpcContents contents_of(BatchStream& stream);
// Adds the batches that the decoder has by now, or has before it throws; the schema too, once it is known.
void take_batches(ipc::PushDecoder& decoder, IpcContents& contents);

// All batches with their metadata, and finish().
void write_contents(const IpcContents& contents, ipc::BatchWriter& writer);
// And the footer's metadata.
void write_contents(const IpcContents& contents, ipc::FileWriter& writer);
// Of a whole file or stream.
Buffer file_of(const IpcContents& contents, MemoryPool& pool, const ipc::WriteOptions& options = {});
Buffer stream_of(const IpcContents& contents, MemoryPool& pool, const ipc::WriteOptions& options = {});

// Where they first differ, metadata and the bits of floating-point numbers too; empty if nowhere. The batches must be valid
// by validate_full().
std::string difference(const IpcContents& left, const IpcContents& right);
// The same of what comes back of the contents written as a file and as a stream with these options.
std::string difference_after_writing(const IpcContents& contents, MemoryPool& pool,
                                     const ipc::WriteOptions& options = {});

}  // namespace frazil::testing
