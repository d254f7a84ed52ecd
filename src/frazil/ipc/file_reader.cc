#include "frazil/ipc/file_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/io/coalesce.h"
#include "frazil/ipc/batch_decoder.h"
#include "frazil/ipc/format.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/read_schema.h"

namespace frazil::ipc {
namespace {

// What is read first of a file whose bodies are mapped; a file that is no longer is not mapped.
constexpr size_t kMappedTailBytes = size_t{16} << 10;
constexpr size_t kTrailerBytes = sizeof(int32_t) + kMagic.size();

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

struct FileReader::Impl {
  // The metadata of a message, and what they were read with.
  struct Read {
    Buffer metadata;  // without prefix
    uint64_t metadata_offset = 0;
    uint64_t body_offset = 0;
    uint64_t body_bytes = 0;  // as the footer says
    Buffer body;              // if it was read too
  };

  // Calls `act`; its errors name the file.
  template <typename Act>
  auto with_path(const Act& act) const {
    if (file == nullptr) return act();
    try {
      return act();
    } catch (Error& error) {
      error.add_context(message("reading {}", file->path()));
      throw;
    }
  }

  Impl(Buffer bytes, MemoryPool& pool_in, ReadOptions options_in)
      : pool(pool_in), options(std::move(options_in)), size(bytes.size()), whole(std::move(bytes)), is_whole(true) {
    open(whole);
  }

  Impl(std::shared_ptr<const InputFile> file_in, MemoryPool& pool_in, ReadOptions options_in)
      : pool(pool_in), options(std::move(options_in)), file(std::move(file_in)), size(file->size()) {
    with_path([&] {
      const uint64_t tail_bytes = std::min<uint64_t>(size, options.map_files ? kMappedTailBytes : kTailBytes);
      const Buffer tail = read(size - tail_bytes, tail_bytes);
      if (tail_bytes == size) {
        whole = tail;
        is_whole = true;
      } else if (options.map_files) {
        mapped = file->map();
      }
      open(tail);
    });
  }

  // Bytes of the file. Requires that they are inside. Of a mapped file it is the metadata that are read: the first touch of a
  // page of a mapping takes longer than a call that copies it.
  Buffer read(uint64_t offset, uint64_t length) {
    if (is_whole) return whole.slice(static_cast<size_t>(offset), static_cast<size_t>(length));
    MutableBuffer bytes = pool.allocate(static_cast<size_t>(length));
    file->read_at(offset, bytes.span());
    bytes_read += length;
    return std::move(bytes).freeze();
  }

  // Requires that the bytes are inside.
  Buffer mapped_body(uint64_t offset, uint64_t length) const {
    return mapped->slice(static_cast<size_t>(offset), static_cast<size_t>(length));
  }

  void open(const Buffer& tail);
  Block block(const FlatVector& blocks, size_t index) const;
  Read read_message(const Block& block, bool with_body);
  Buffer read_body(const Read& read_in, const Message& message);
  void read_dictionaries();
  Message batch_message(const Read& read_in) const;
  RecordBatch batch(size_t index);
  std::vector<Buffer> read_pieces(const Read& read_in, const Message& message);

  MemoryPool& pool;
  const ReadOptions options;
  std::shared_ptr<const InputFile> file;
  uint64_t size;
  Buffer whole;
  bool is_whole = false;
  std::optional<Buffer> mapped;  // bodies are slices of it
  uint64_t bytes_read = 0;
  Buffer footer_bytes;
  uint64_t footer_offset = 0;
  std::optional<FlatTable> footer;
  FlatVector dictionaries;
  FlatVector batches;
  std::optional<BatchDecoder> decoder;  // of what was opened
  bool has_dictionaries = false;
};

void FileReader::Impl::open(const Buffer& tail) {
  const uint64_t tail_offset = size - tail.size();
  if (size < kTrailerBytes) throw_corrupt(size, "an Arrow file of {} bytes", size);
  const std::span<const std::byte> trailer = tail.span().last(kTrailerBytes);
  const std::string_view end = text_of(trailer.subspan(sizeof(int32_t)));
  if (end.ends_with(kFeatherV1Magic)) throw_feather_v1();
  if (end != kMagic) throw_corrupt(size - kMagic.size(), "no Arrow file: it does not end in {}", kMagic);
  const auto length = load<int32_t>(trailer.data());
  const uint64_t footer_end = size - kTrailerBytes;
  if (length <= 0 || static_cast<uint64_t>(length) > footer_end) {
    throw_corrupt(footer_end, "a footer of {} bytes in a file of {}", length, size);
  }
  const auto bytes = static_cast<uint64_t>(length);
  if (bytes > options.max_metadata_bytes) {
    throw_corrupt(footer_end, "a footer of {} bytes, more than {}", bytes, options.max_metadata_bytes);
  }
  footer_offset = footer_end - bytes;
  footer_bytes = footer_offset >= tail_offset
                     ? tail.slice(static_cast<size_t>(footer_offset - tail_offset), static_cast<size_t>(bytes))
                     : read(footer_offset, bytes);
  footer = FlatTable::root(footer_bytes.span(), footer_offset);
  // Older Java writers left the version out here; each message has its own.
  const auto version = footer->scalar<int16_t>(footer_field::kVersion, 0);
  if (version > kMetadataV5) {
    throw_error(ErrorKind::kUnsupported, "files of metadata version {} are not read", version + 1);
  }
  const std::optional<FlatTable> schema = footer->table(footer_field::kSchema);
  if (!schema) throw_corrupt(footer_offset, "a footer without a schema");
  dictionaries = footer->vector(footer_field::kDictionaries, sizeof(Block));
  batches = footer->vector(footer_field::kRecordBatches, sizeof(Block));
  decoder.emplace(read_schema_of(*schema, options.schema_cache), DictionaryRules::kFile, options, pool);
}

Block FileReader::Impl::block(const FlatVector& blocks, size_t index) const {
  const auto block = load<Block>(blocks.data() + index * sizeof(Block));
  // Negative ones are larger than every file.
  const auto offset = static_cast<uint64_t>(block.offset);
  const auto body = static_cast<uint64_t>(block.body_length);
  const auto metadata = static_cast<uint64_t>(static_cast<int64_t>(block.metadata_length));
  if (offset > footer_offset || metadata > footer_offset - offset || body > footer_offset - offset - metadata) {
    throw_corrupt(footer_offset, "block {} of the footer is not inside of the file: {} + {} bytes at {}", index,
                  block.metadata_length, block.body_length, block.offset);
  }
  if (metadata > options.max_metadata_bytes || body > options.max_body_bytes) {
    throw_corrupt(offset, "a message of {} + {} bytes, more than {} + {}", metadata, body, options.max_metadata_bytes,
                  options.max_body_bytes);
  }
  return block;
}

FileReader::Impl::Read FileReader::Impl::read_message(const Block& block, bool with_body) {
  const auto offset = static_cast<uint64_t>(block.offset);
  const auto metadata_bytes = static_cast<uint64_t>(block.metadata_length);
  Read result;
  result.body_offset = offset + metadata_bytes;
  result.body_bytes = static_cast<uint64_t>(block.body_length);
  const bool reads_body = with_body && !mapped;
  Buffer bytes = read(offset, metadata_bytes + (reads_body ? result.body_bytes : 0));
  if (reads_body) result.body = bytes.slice(static_cast<size_t>(metadata_bytes));
  if (with_body && mapped) result.body = mapped_body(result.body_offset, result.body_bytes);
  const std::span<const std::byte> head = bytes.span().first(static_cast<size_t>(metadata_bytes));
  const std::optional<MessagePrefix> prefix = MessagePrefix::read(head, offset);
  if (!prefix || prefix->metadata_bytes == 0 || prefix->metadata_bytes > head.size() - prefix->prefix_bytes) {
    throw_corrupt(offset, "a message with metadata of {} bytes in {}", prefix ? prefix->metadata_bytes : 0,
                  head.size());
  }
  result.metadata_offset = offset + prefix->prefix_bytes;
  result.metadata = bytes.slice(prefix->prefix_bytes, static_cast<size_t>(prefix->metadata_bytes));
  return result;
}

Buffer FileReader::Impl::read_body(const Read& read_in, const Message& message) {
  return mapped ? mapped_body(read_in.body_offset, message.body_bytes())
                : read(read_in.body_offset, message.body_bytes());
}

void FileReader::Impl::read_dictionaries() {
  if (has_dictionaries) return;
  for (size_t i = 0; i < dictionaries.size(); ++i) {
    Read part = read_message(block(dictionaries, i), false);
    const Message message(part.metadata.span(), part.metadata_offset);
    if (message.kind() != MessageKind::kDictionaryBatch || message.body_bytes() > part.body_bytes) {
      throw_corrupt(part.metadata_offset, "no dictionary of {} bytes, where the footer has one", part.body_bytes);
    }
    if (!decoder->wants_dictionary(message)) continue;
    decoder->add_dictionary(message, part.metadata, read_body(part, message), part.body_offset);
  }
  has_dictionaries = true;
}

Message FileReader::Impl::batch_message(const Read& read_in) const {
  const Message message(read_in.metadata.span(), read_in.metadata_offset);
  if (message.kind() != MessageKind::kRecordBatch || message.body_bytes() > read_in.body_bytes) {
    throw_corrupt(read_in.metadata_offset, "no batch of {} bytes, where the footer has one", read_in.body_bytes);
  }
  return message;
}

std::vector<Buffer> FileReader::Impl::read_pieces(const Read& read_in, const Message& message) {
  std::vector<ByteRange> ranges;
  decoder->wanted_ranges(message, ranges);
  for (ByteRange& range : ranges) range.offset += read_in.body_offset;
  const ReadPlan plan = plan_ranges(ranges, size);
  std::vector<uint64_t> offsets;
  std::vector<MutableBuffer> blocks;
  std::vector<std::span<std::byte>> outs;
  for (const ByteRange& range : plan.reads) {
    offsets.push_back(range.offset);
    outs.push_back(blocks.emplace_back(pool.allocate(static_cast<size_t>(range.length))).span());
  }
  file->read_ranges(offsets, outs);
  bytes_read += plan.read_bytes();
  std::vector<Buffer> whole_reads;
  whole_reads.reserve(blocks.size());
  for (MutableBuffer& block : blocks) whole_reads.push_back(std::move(block).freeze());
  std::vector<Buffer> pieces(plan.slices.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ReadPlan::Slice& slice = plan.slices[i];
    if (slice.read_index == ReadPlan::kNoRead) continue;
    pieces[i] =
        whole_reads[slice.read_index].slice(static_cast<size_t>(slice.offset), static_cast<size_t>(slice.length));
  }
  return pieces;
}

RecordBatch FileReader::Impl::batch(size_t index) {
  if (dictionaries.size() > 0) read_dictionaries();
  const Block place = block(batches, index);
  if (is_whole || mapped || decoder->is_all()) {
    const Read read_in = read_message(place, true);
    const Message message = batch_message(read_in);
    return decoder->decode(message, {.whole = read_in.body.slice(0, static_cast<size_t>(message.body_bytes())),
                                     .pieces = {},
                                     .is_whole = true,
                                     .offset = read_in.body_offset});
  }
  const Read read_in = read_message(place, false);
  const Message message = batch_message(read_in);
  std::vector<Buffer> pieces = read_pieces(read_in, message);
  return decoder->decode(message, {.whole = {}, .pieces = pieces, .is_whole = false, .offset = read_in.body_offset});
}

FileReader::FileReader(Buffer file, MemoryPool& pool, ReadOptions options)
    : impl_(std::make_unique<Impl>(std::move(file), pool, std::move(options))) {}
FileReader::FileReader(std::shared_ptr<const InputFile> file, MemoryPool& pool, ReadOptions options)
    : impl_(std::make_unique<Impl>(std::move(file), pool, std::move(options))) {}
FileReader::~FileReader() = default;
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;

const SchemaPtr& FileReader::schema() const {
  return impl_->decoder->schema();
}

Metadata FileReader::metadata() const {
  return impl_->with_path(
      [&] { return key_values(*impl_->footer, footer_field::kCustomMetadata, impl_->footer_bytes.size()); });
}

size_t FileReader::batch_count() const {
  return impl_->batches.size();
}

RecordBatch FileReader::batch(size_t index) {
  return impl_->with_path([&] { return impl_->batch(index); });
}

Metadata FileReader::batch_metadata(size_t index) {
  return impl_->with_path([&] {
    const Impl::Read read = impl_->read_message(impl_->block(impl_->batches, index), false);
    return impl_->batch_message(read).custom_metadata();
  });
}

int64_t FileReader::row_count() {
  return impl_->with_path([&] {
    int64_t rows = 0;
    for (size_t i = 0; i < impl_->batches.size(); ++i) {
      const Impl::Read read = impl_->read_message(impl_->block(impl_->batches, i), false);
      if (__builtin_add_overflow(rows, row_count_of(impl_->batch_message(read)), &rows)) {
        throw_corrupt(read.metadata_offset, "batches of more than 2^63 rows");
      }
    }
    return rows;
  });
}

uint64_t FileReader::bytes_read() const {
  return impl_->bytes_read;
}

}  // namespace frazil::ipc
