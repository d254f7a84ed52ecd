#include "frazil/ipc/file_writer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/ipc/dictionary_writer.h"
#include "frazil/ipc/message_writer.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/ipc/writer_state.h"

namespace frazil::ipc {

namespace {

constexpr std::string_view kMagic = "ARROW1";

DictionaryChanges checked(DictionaryChanges changes) {
  if (changes == DictionaryChanges::kReplace) {
    throw_error(ErrorKind::kInvalidArgument, "the Arrow file format cannot replace dictionaries");
  }
  return changes;
}

}  // namespace

class FileWriter::Impl {
 public:
  Impl(std::unique_ptr<ByteSink> owned, ByteSink& sink, SchemaPtr schema, MemoryPool& pool, const WriteOptions& options)
      : owned_(std::move(owned)),
        sink_(sink),
        schema_(std::move(schema)),
        messages_(sink, pool, options),
        dictionaries_(*schema_, checked(options.dictionaries.value_or(DictionaryChanges::kUnify)),
                      DictionaryWriter::Format::kFile, pool) {
    // Padded to 8 bytes whatever the alignment: there the stream begins.
    constexpr std::array<char, 8> kFront = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};
    messages_.write_bytes(std::as_bytes(std::span(kFront)));
    const MessageWriter::SchemaPart part = messages_.write_schema(*schema_);
    schema_part_.assign(part.bytes.begin(), part.bytes.end());
    schema_table_ = part.table;
  }

  const SchemaPtr& schema() const { return schema_; }
  void set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }

  void write(const RecordBatch& batch, const Metadata& metadata) {
    check_schema(batch, *schema_);
    const WriterState::Use use(state_, sink_);
    const std::span<const ArrayPtr> columns =
        dictionaries_.prepare(batch, [this](int64_t id, const Array& values, bool is_delta) {
          dictionary_blocks_.push_back({.id = id, .block = messages_.write_dictionary(id, values, is_delta)});
        });
    batch_blocks_.push_back(messages_.write_record_batch(batch.row_count(), columns, metadata));
  }

  void finish() {
    const WriterState::Use use(state_, sink_);
    dictionaries_.finish([this](int64_t id, const Array& values, bool) {
      const Block block = messages_.write_dictionary(id, values, false);
      std::find_if(dictionary_blocks_.begin(), dictionary_blocks_.end(), [&](auto& b) { return b.id == id; })->block =
          block;
    });
    messages_.write_end_of_stream();
    write_footer();
    messages_.flush();
    sink_.finish();
    state_.end();
  }

 private:
  struct DictionaryBlock {
    int64_t id;
    Block block;
  };

  void write_footer() {
    std::vector<Block> dictionary_blocks;
    for (const DictionaryBlock& block : dictionary_blocks_) dictionary_blocks.push_back(block.block);
    FlatBuilder& builder = messages_.builder();
    builder.clear();
    FlatShape shape;
    shape.scalar<int16_t>(footer_field::kVersion, messages_.metadata_version())
        .offset(footer_field::kSchema)
        .offset(footer_field::kDictionaries)
        .offset(footer_field::kRecordBatches);
    if (!metadata_.empty()) shape.offset(footer_field::kCustomMetadata);
    const FlatPlace footer = builder.table(shape);
    builder.point_root(footer);
    builder.point(footer, footer_field::kDictionaries, builder.vector(std::span<const Block>(dictionary_blocks)));
    builder.point(footer, footer_field::kRecordBatches, builder.vector(std::span<const Block>(batch_blocks_)));
    if (!metadata_.empty()) {
      builder.point(footer, footer_field::kCustomMetadata, add_metadata(builder, metadata_));
    }
    // Last and by itself, so that its bytes are the same in all files of a schema and a reader may know them (SchemaCache).
    builder.point(footer, footer_field::kSchema, builder.copy(schema_part_) + schema_table_);
    messages_.write_bytes(builder.bytes());
    const auto size = static_cast<int32_t>(builder.bytes().size());
    messages_.write_bytes(std::as_bytes(std::span(&size, 1)));
    messages_.write_bytes(std::as_bytes(std::span(kMagic)));
  }

  std::unique_ptr<ByteSink> owned_;
  ByteSink& sink_;
  SchemaPtr schema_;
  MessageWriter messages_;
  std::vector<std::byte> schema_part_;  // as it was written, for the footer
  FlatBuilder::Position schema_table_ = 0;
  DictionaryWriter dictionaries_;
  WriterState state_;
  std::vector<DictionaryBlock> dictionary_blocks_;
  std::vector<Block> batch_blocks_;
  Metadata metadata_;
};

FileWriter::FileWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : impl_(std::make_unique<Impl>(nullptr, sink, std::move(schema), pool, options)) {}

FileWriter::FileWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options) {
  ByteSink& borrowed = *sink;
  impl_ = std::make_unique<Impl>(std::move(sink), borrowed, std::move(schema), pool, options);
}

FileWriter::~FileWriter() = default;

const SchemaPtr& FileWriter::schema() const {
  return impl_->schema();
}

void FileWriter::write(const RecordBatch& batch, const Metadata& metadata) {
  impl_->write(batch, metadata);
}

void FileWriter::set_metadata(Metadata metadata) {
  impl_->set_metadata(std::move(metadata));
}

void FileWriter::finish() {
  impl_->finish();
}

}  // namespace frazil::ipc
