#include "frazil/parquet/page_writer.h"

#include <climits>

#include "frazil/base/crc32.h"
#include "frazil/base/error.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/thrift_writer.h"

namespace frazil::parquet {

namespace {

// Bytes that compression must save, of 20, to be worth its time when the chunk is read.
constexpr size_t kSavedOf20 = 1;

// What the codec sees: levels of version 2 are never compressed.
std::span<const std::byte> payload_of(const RawPage& raw, std::span<const std::byte> body) {
  return raw.type == PageType::kDataV2 ? body.subspan(raw.repetition_size + raw.definition_size) : body;
}

bool pays(size_t compressed, size_t raw) {
  return compressed * 20 <= raw * (20 - kSavedOf20);
}

}  // namespace

PageWriter::PageWriter(const ChunkOptions& options, MemoryPool& pool)
    : options_(&options),
      pool_(&pool),
      bytes_(pool),
      codec_(options.codec),
      is_decided_(options.codec == CompressionCodec::kUncompressed || !options.may_skip_compression),
      kept_bytes_(pool) {}

// Fixes the codec; how many bytes in scratch.compressed `sample` gave, if it was compressed.
std::optional<size_t> PageWriter::decide(std::span<const std::byte> sample, size_t dictionary_bytes,
                                         PageScratch scratch) {
  is_decided_ = true;
  // Frames of codecs have some 10 bytes around what they compress.
  constexpr size_t kWorthwhileBytes = 64;
  if (sample.size() + dictionary_bytes < kWorthwhileBytes) {
    codec_ = CompressionCodec::kUncompressed;
    return std::nullopt;
  }
  // The dictionary is compressed with the same codec, and mostly shrinks.
  if (dictionary_bytes > sample.size() / 8) return std::nullopt;
  const auto size = compress(sample, scratch);
  if (pays(size, sample.size())) return size;
  codec_ = CompressionCodec::kUncompressed;
  return std::nullopt;
}

size_t PageWriter::compress(std::span<const std::byte> payload, PageScratch scratch) {
  const Codec codec = compressor_codec(codec_);
  const size_t bound = Compressor::bound(codec, payload.size());
  scratch.compressed.clear();
  const auto size =
      scratch.compressor.compress(codec, options_->level, payload, {scratch.compressed.reserve(bound), bound});
  if (!size) throw_error(ErrorKind::kInternal, "{} gives more than its bound", to_string(codec));
  return *size;
}

void PageWriter::write(const RawPage& raw, std::span<const std::byte> body, size_t page_index,
                       std::vector<EncodedPage>& pages, size_t dictionary_bytes, bool is_last, PageScratch scratch) {
  const bool is_alone = is_last && kept_.empty();
  if (!is_decided_ && !is_alone && kept_bytes_.size() + body.size() < kDecisionBytes) {
    kept_.push_back({raw, page_index, kept_bytes_.size(), body.size()});
    kept_bytes_.append(body.data(), body.size());
    return;
  }
  std::optional<size_t> compressed;
  if (!is_decided_) {
    compressed = decide(payload_of(raw, body), dictionary_bytes, scratch);
    if (!kept_.empty()) compressed.reset();  // flush() needs the buffer
  }
  flush(pages, dictionary_bytes, scratch);
  pages[page_index].offset = bytes_.size();
  pages[page_index].compressed_size = static_cast<uint32_t>(emit(raw, body, compressed, bytes_, scratch));
}

void PageWriter::flush(std::vector<EncodedPage>& pages, size_t dictionary_bytes, PageScratch scratch) {
  if (kept_.empty()) return;
  if (!is_decided_) decide(kept_bytes_.span(), dictionary_bytes, scratch);
  for (const KeptPage& kept : kept_) {
    pages[kept.page_index].offset = bytes_.size();
    pages[kept.page_index].compressed_size = static_cast<uint32_t>(
        emit(kept.raw, kept_bytes_.span().subspan(kept.body_offset, kept.body_size), std::nullopt, bytes_, scratch));
  }
  kept_.clear();
  kept_bytes_.release();
}

void PageWriter::write_dictionary(const RawPage& raw, std::span<const std::byte> body, ChunkBytes& out,
                                  PageScratch scratch) {
  emit(raw, body, std::nullopt, out, scratch);
}

size_t PageWriter::emit(const RawPage& raw, std::span<const std::byte> body, std::optional<size_t> compressed,
                        ChunkBytes& out, PageScratch scratch) {
  const bool is_v2 = raw.type == PageType::kDataV2;
  std::span<const std::byte> payload = payload_of(raw, body);
  const std::span<const std::byte> levels = body.first(body.size() - payload.size());
  bool is_compressed = codec_ != CompressionCodec::kUncompressed && !(is_v2 && payload.empty());
  if (is_compressed) {
    const size_t size = compressed ? *compressed : compress(payload, scratch);
    // Version 2 tells for each page whether it is compressed.
    is_compressed = !is_v2 || size < payload.size();
    if (is_compressed) payload = {scratch.compressed.data(), size};
  }
  const size_t payload_size = levels.size() + payload.size();
  if (body.size() > INT32_MAX || payload_size > INT32_MAX) {
    throw_error(ErrorKind::kInvalidArgument, "a page of {} bytes: pages are shorter than 2^31", body.size());
  }
  GrowingBuffer header_bytes(*pool_);
  ThriftWriter header(header_bytes);
  header.i32(1, static_cast<int32_t>(raw.type));
  header.i32(2, static_cast<int32_t>(body.size()));
  header.i32(3, static_cast<int32_t>(payload_size));
  if (options_->checksums) {
    header.i32(4, static_cast<int32_t>(crc32(payload, crc32(levels))));
  }
  const auto encoding = static_cast<int32_t>(raw.encoding);
  constexpr auto kLevels = static_cast<int32_t>(Encoding::kRle);
  switch (raw.type) {
    case PageType::kDictionary:
      header.begin_struct(7);
      header.i32(1, static_cast<int32_t>(raw.value_count));
      header.i32(2, encoding);
      break;
    case PageType::kDataV2:
      header.begin_struct(8);
      header.i32(1, static_cast<int32_t>(raw.value_count));
      header.i32(2, static_cast<int32_t>(raw.null_count));
      header.i32(3, static_cast<int32_t>(raw.row_count));
      header.i32(4, encoding);
      header.i32(5, static_cast<int32_t>(raw.definition_size));
      header.i32(6, static_cast<int32_t>(raw.repetition_size));
      if (!is_compressed) header.boolean(7, false);
      break;
    default:
      header.begin_struct(5);
      header.i32(1, static_cast<int32_t>(raw.value_count));
      header.i32(2, encoding);
      header.i32(3, kLevels);
      header.i32(4, kLevels);
      break;
  }
  header.end_struct();
  header.finish();
  out.append({header_bytes.data(), header_bytes.size()});
  out.append(levels);
  out.append(payload);
  uncompressed_size_ += header_bytes.size() + body.size();
  return header_bytes.size() + payload_size;
}

}  // namespace frazil::parquet
