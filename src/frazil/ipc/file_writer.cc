#include "frazil/ipc/file_writer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/ipc/batch_writer_impl.h"
#include "frazil/ipc/schema_writer.h"

namespace frazil::ipc {

namespace {

constexpr std::string_view kMagic = "ARROW1";

}  // namespace

class FileWriter::File final : public Impl {
 public:
  File(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, const WriteOptions& options)
      : Impl(sink, std::move(schema), pool, options, Format::kFile) {
    if (options.dictionaries == DictionaryChanges::kReplace) {
      throw_error(ErrorKind::kInvalidArgument, "the Arrow file format cannot replace dictionaries");
    }
    // Padded to 8 bytes whatever the alignment: there the stream begins.
    constexpr std::array<char, 8> kFront = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};
    messages().write_bytes(std::as_bytes(std::span(kFront)));
    const MessageWriter::SchemaPart part = write_schema();
    schema_part_.assign(part.bytes.begin(), part.bytes.end());
    schema_table_ = part.table;
  }

  void set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }

 private:
  struct DictionaryBlock {
    int64_t id;
    Block block;
  };

  void add_dictionary(int64_t id, const Block& block) override {
    dictionary_blocks_.push_back({.id = id, .block = block});
  }
  void add_batch(const Block& block) override { batch_blocks_.push_back(block); }

  void write_end() override {
    dictionaries().finish([this](int64_t id, const Array& values, bool) {
      const Block block = messages().write_dictionary(id, values, false);
      std::find_if(dictionary_blocks_.begin(), dictionary_blocks_.end(), [&](auto& b) { return b.id == id; })->block =
          block;
    });
    messages().write_end_of_stream();
    write_footer();
  }

  void write_footer() {
    std::vector<Block> dictionary_blocks;
    for (const DictionaryBlock& block : dictionary_blocks_) dictionary_blocks.push_back(block.block);
    FlatBuilder& builder = messages().builder();
    builder.clear();
    FlatShape shape;
    shape.scalar<int16_t>(footer_field::kVersion, messages().metadata_version())
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
    messages().write_bytes(builder.bytes());
    const auto size = static_cast<int32_t>(builder.bytes().size());
    messages().write_bytes(std::as_bytes(std::span(&size, 1)));
    messages().write_bytes(std::as_bytes(std::span(kMagic)));
  }

  std::vector<std::byte> schema_part_;  // as it was written, for the footer
  FlatBuilder::Position schema_table_ = 0;
  std::vector<DictionaryBlock> dictionary_blocks_;
  std::vector<Block> batch_blocks_;
  Metadata metadata_;
};

FileWriter::FileWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : BatchWriter(std::make_unique<File>(sink, std::move(schema), pool, options)) {}

FileWriter::FileWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options)
    : FileWriter(*sink, std::move(schema), pool, options) {
  owned_sink_ = std::move(sink);
}

void FileWriter::set_metadata(Metadata metadata) {
  static_cast<File&>(*impl_).set_metadata(std::move(metadata));
}

}  // namespace frazil::ipc
