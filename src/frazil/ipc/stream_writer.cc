#include "frazil/ipc/stream_writer.h"

#include <utility>

#include "frazil/ipc/dictionary_writer.h"
#include "frazil/ipc/message_writer.h"
#include "frazil/ipc/writer_state.h"

namespace frazil::ipc {

class StreamWriter::Impl {
 public:
  Impl(std::unique_ptr<ByteSink> owned, ByteSink& sink, SchemaPtr schema, MemoryPool& pool, const WriteOptions& options)
      : owned_(std::move(owned)),
        sink_(sink),
        schema_(std::move(schema)),
        messages_(sink, pool, options),
        dictionaries_(*schema_, options.dictionaries.value_or(DictionaryChanges::kReplace),
                      DictionaryWriter::Format::kStream, pool) {
    messages_.write_schema(*schema_);
  }

  const SchemaPtr& schema() const { return schema_; }

  void write(const RecordBatch& batch, const Metadata& metadata) {
    check_schema(batch, *schema_);
    const WriterState::Use use(state_, sink_);
    const std::span<const ArrayPtr> columns = dictionaries_.prepare(
        batch,
        [this](int64_t id, const Array& values, bool is_delta) { messages_.write_dictionary(id, values, is_delta); });
    messages_.write_record_batch(batch.row_count(), columns, metadata);
  }

  void flush() {
    const WriterState::Use use(state_, sink_);
    messages_.flush();
  }

  void finish() {
    const WriterState::Use use(state_, sink_);
    messages_.write_end_of_stream();
    messages_.flush();
    sink_.finish();
    state_.end();
  }

 private:
  std::unique_ptr<ByteSink> owned_;
  ByteSink& sink_;
  SchemaPtr schema_;
  MessageWriter messages_;
  DictionaryWriter dictionaries_;
  WriterState state_;
};

StreamWriter::StreamWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : impl_(std::make_unique<Impl>(nullptr, sink, std::move(schema), pool, options)) {}

StreamWriter::StreamWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options) {
  ByteSink& borrowed = *sink;
  impl_ = std::make_unique<Impl>(std::move(sink), borrowed, std::move(schema), pool, options);
}

StreamWriter::~StreamWriter() = default;

const SchemaPtr& StreamWriter::schema() const {
  return impl_->schema();
}

void StreamWriter::write(const RecordBatch& batch, const Metadata& metadata) {
  impl_->write(batch, metadata);
}

void StreamWriter::flush() {
  impl_->flush();
}

void StreamWriter::finish() {
  impl_->finish();
}

}  // namespace frazil::ipc
