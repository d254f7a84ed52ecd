// The IPC file format (Columnar format, "IPC File Format"), also named Feather version 2.
//
//   file   := "ARROW1" 0 0 stream footer footer_size:i32 "ARROW1"
//   Footer := {version:i16, schema:Schema, dictionaries:[Block], recordBatches:[Block], custom_metadata:[KeyValue]}
//   Block  := offset:i64 metadata_length:i32 0:u32 body_length:i64
#pragma once

#include <memory>

#include "frazil/ipc/batch_writer.h"
#include "frazil/ipc/write_options.h"

namespace frazil::ipc {

// Costs as StreamWriter, and 24 bytes a message for the footer.
class FileWriter final : public BatchWriter {
 public:
  // As StreamWriter. Error(kInvalidArgument) also for DictionaryChanges::kReplace.
  FileWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options = {});
  FileWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options = {});

  // The footer's own metadata.
  void set_metadata(Metadata metadata);

 private:
  class File;
};

}  // namespace frazil::ipc
