#include "frazil/ipc/batch_writer.h"

#include <utility>

#include "frazil/ipc/batch_writer_impl.h"

namespace frazil::ipc {

BatchWriter::BatchWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

BatchWriter::~BatchWriter() = default;

const SchemaPtr& BatchWriter::schema() const {
  return impl_->schema();
}

void BatchWriter::write(const RecordBatch& batch, const Metadata& metadata) {
  impl_->write(batch, metadata);
}

void BatchWriter::finish() {
  impl_->finish();
}

}  // namespace frazil::ipc
