#include "frazil/testing/ipc_contents.h"

#include <optional>
#include <utility>

#include "frazil/base/message.h"
#include "frazil/io/byte_sink.h"
#include "frazil/ipc/batch_writer.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/read_options.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/ipc/stream_writer.h"

namespace frazil::testing {

IpcContents contents_of(ipc::FileReader& reader) {
  IpcContents contents;
  contents.schema = reader.schema();
  contents.file_metadata = reader.metadata();
  for (size_t i = 0; i < reader.batch_count(); ++i) {
    contents.batches.push_back(reader.batch(i));
    contents.batch_metadata.push_back(reader.batch_metadata(i));
  }
  return contents;
}

IpcContents contents_of(ipc::StreamReader& reader) {
  IpcContents contents;
  contents.schema = reader.schema();
  while (std::optional<RecordBatch> batch = reader.next()) {
    contents.batches.push_back(std::move(*batch));
    contents.batch_metadata.push_back(reader.custom_metadata());
  }
  return contents;
}

IpcContents contents_of(BatchStream& stream) {
  IpcContents contents;
  contents.schema = stream.schema();
  while (std::optional<RecordBatch> batch = stream.next()) contents.batches.push_back(std::move(*batch));
  contents.batch_metadata.resize(contents.batches.size());
  return contents;
}

void take_batches(ipc::PushDecoder& decoder, IpcContents& contents) {
  try {
    while (std::optional<RecordBatch> batch = decoder.next()) {
      Metadata metadata = decoder.custom_metadata();  // first: it may throw
      contents.batches.push_back(std::move(*batch));
      contents.batch_metadata.push_back(std::move(metadata));
    }
  } catch (...) {
    contents.schema = decoder.schema();
    throw;
  }
  contents.schema = decoder.schema();
}

void write_contents(const IpcContents& contents, ipc::BatchWriter& writer) {
  for (size_t i = 0; i < contents.batches.size(); ++i) writer.write(contents.batches[i], contents.batch_metadata[i]);
  writer.finish();
}

void write_contents(const IpcContents& contents, ipc::FileWriter& writer) {
  writer.set_metadata(contents.file_metadata);
  write_contents(contents, static_cast<ipc::BatchWriter&>(writer));
}

Buffer file_of(const IpcContents& contents, MemoryPool& pool, const ipc::WriteOptions& options) {
  MemorySink sink(pool);
  ipc::FileWriter writer(sink, contents.schema, pool, options);
  write_contents(contents, writer);
  return sink.take();
}

Buffer stream_of(const IpcContents& contents, MemoryPool& pool, const ipc::WriteOptions& options) {
  MemorySink sink(pool);
  ipc::StreamWriter writer(sink, contents.schema, pool, options);
  write_contents(contents, writer);
  return sink.take();
}

std::string difference(const IpcContents& left, const IpcContents& right) {
  if (!left.schema->equals(*right.schema, true)) {
    return message("schemas differ:\n{}!=\n{}", left.schema->to_string(), right.schema->to_string());
  }
  if (left.file_metadata != right.file_metadata) return "the metadata of the files differ";
  if (left.batches.size() != right.batches.size()) {
    return message("{} batches != {}", left.batches.size(), right.batches.size());
  }
  for (size_t i = 0; i < left.batches.size(); ++i) {
    if (left.batch_metadata[i] != right.batch_metadata[i]) return message("the metadata of batches {} differ", i);
    const std::string text =
        frazil::difference(left.batches[i], right.batches[i], {.exact_floats = true, .compare_metadata = true});
    if (!text.empty()) return message("batch {}: {}", i, text);
  }
  return {};
}

std::string difference_after_writing(const IpcContents& contents, MemoryPool& pool, const ipc::WriteOptions& options) {
  const ipc::ReadOptions checked = {.validation = ipc::Validation::kFull};
  ipc::FileReader file(file_of(contents, pool, options), pool, checked);
  if (std::string text = difference(contents, contents_of(file)); !text.empty()) return "a file: " + text;
  ipc::StreamReader stream(stream_of(contents, pool, options), pool, checked);
  IpcContents streamed = contents_of(stream);
  streamed.file_metadata = contents.file_metadata;  // which streams do not have
  if (std::string text = difference(contents, streamed); !text.empty()) return "a stream: " + text;
  return {};
}

}  // namespace frazil::testing
