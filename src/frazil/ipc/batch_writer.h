// Batches out, whichever format they are written in: what StreamWriter and FileWriter share.
#pragma once

#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/io/byte_sink.h"

namespace frazil::ipc {

// One thread at a time. After an exception nothing more may be written; what the sink has got is not whole.
class BatchWriter {
 public:
  virtual ~BatchWriter();
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  const SchemaPtr& schema() const;
  // The batch is borrowed for the call, dictionaries longer: until they are replaced. It must be valid by validate(), and its
  // dictionaries by validate_full() where they are other arrays than those of the batch before: they are compared. Values that
  // lead somewhere are checked where they are followed (CorruptError): views, list views, dense unions and run ends of slices,
  // and indices that are changed. `metadata` is the message's own. Throws Error(kInvalidArgument) for a batch of another schema
  // (metadata aside), Error(kUnsupported) for what the format or the options cannot have, MemoryLimitError, and what the sink
  // throws.
  void write(const RecordBatch& batch, const Metadata& metadata = {});
  // The end of stream, the footer, and the sink's finish(). Without it a file is not published.
  void finish();

 protected:
  class Impl;
  explicit BatchWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<ByteSink> owned_sink_;  // nothing if the sink is borrowed
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::ipc
