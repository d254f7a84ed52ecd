// What is in both writers: messages and dictionaries on their way to the sink, and whether more may follow.
#pragma once

#include <span>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/batch_writer.h"
#include "frazil/ipc/dictionary_writer.h"
#include "frazil/ipc/message_writer.h"

namespace frazil::ipc {

class BatchWriter::Impl {
 public:
  using Format = DictionaryWriter::Format;

  Impl(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, const WriteOptions& options, Format format)
      : sink_(sink),
        schema_(std::move(schema)),
        messages_(sink, pool, options),
        dictionaries_(*schema_,
                      options.dictionaries.value_or(format == Format::kFile ? DictionaryChanges::kUnify
                                                                            : DictionaryChanges::kReplace),
                      format, pool) {}
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const SchemaPtr& schema() const { return schema_; }
  MessageWriter::SchemaPart write_schema() { return messages_.write_schema(*schema_); }

  void write(const RecordBatch& batch, const Metadata& metadata) {
    if (batch.schema() != schema_ && !batch.schema()->equals(*schema_)) {
      throw_error(ErrorKind::kInvalidArgument, "a batch's schema is not the one that was written");
    }
    begin_use();
    const std::span<const ArrayPtr> columns =
        dictionaries_.prepare(batch, [this](int64_t id, const Array& values, bool is_delta) {
          add_dictionary(id, messages_.write_dictionary(id, values, is_delta));
        });
    add_batch(messages_.write_record_batch(batch.row_count(), columns, metadata));
    is_usable_ = true;
  }

  void flush() {
    begin_use();
    messages_.flush();
    is_usable_ = true;
  }

  void finish() {
    begin_use();
    write_end();
    messages_.flush();
    sink_.finish();
  }

 protected:
  // Where messages stand is for the footer of a file.
  virtual void add_dictionary(int64_t /*id*/, const Block& /*block*/) {}
  virtual void add_batch(const Block& /*block*/) {}
  virtual void write_end() { messages_.write_end_of_stream(); }

  MessageWriter& messages() { return messages_; }
  DictionaryWriter& dictionaries() { return dictionaries_; }

 private:
  // Not usable from here on, unless the call comes to its end and others may follow.
  void begin_use() {
    if (!is_usable_) {
      throw_error(ErrorKind::kInternal, "what is written to {} is finished or has failed already", sink_.name());
    }
    is_usable_ = false;
  }

  ByteSink& sink_;
  const SchemaPtr schema_;
  MessageWriter messages_;
  DictionaryWriter dictionaries_;
  bool is_usable_ = true;
};

}  // namespace frazil::ipc
