#include "frazil/ipc/stream_writer.h"

#include <utility>

#include "frazil/ipc/batch_writer_impl.h"

namespace frazil::ipc {

StreamWriter::StreamWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : BatchWriter(std::make_unique<Impl>(sink, std::move(schema), pool, options, Impl::Format::kStream)) {
  impl_->write_schema();
}

StreamWriter::StreamWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : StreamWriter(*sink, std::move(schema), pool, options) {
  owned_sink_ = std::move(sink);
}

void StreamWriter::flush() {
  impl_->flush();
}

}  // namespace frazil::ipc
