// What the tests and benchmarks decompress, made by the libraries' own compressors with settings that Compressor does not
// have (other libraries for deflate, frames of every kind). Not a part of the library.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <libdeflate.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include "frazil/codec/codec.h"
#include "frazil/codec/compressor.h"

namespace frazil::compressors {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline void require(bool ok) {
  if (!ok) throw std::runtime_error("a compressor failed");
}

inline std::string snappy(std::string_view text) {
  std::string out(snappy_max_compressed_length(text.size()), '\0');
  size_t size = out.size();
  require(snappy_compress(text.data(), text.size(), out.data(), &size) == SNAPPY_OK);
  out.resize(size);
  return out;
}

// window_bits: 15 zlib, 31 gzip, -15 raw.
inline std::string deflate(std::string_view text, int window_bits, int level = 6, int strategy = Z_DEFAULT_STRATEGY) {
  z_stream stream{};
  require(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, strategy) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  require(result == Z_STREAM_END);
  out.resize(stream.total_out);
  return out;
}

struct ZstdOptions {
  int level = 3;
  bool content_size = true;
  bool checksum = false;
};
inline std::string zstd(std::string_view text, ZstdOptions options = {}) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, options.content_size ? 1 : 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size());
  require(!ZSTD_isError(size));
  out.resize(size);
  return out;
}

inline std::string lz4_raw(std::string_view text) {
  std::string out(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  const int size =
      LZ4_compress_default(text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()));
  require(size > 0);
  out.resize(static_cast<size_t>(size));
  return out;
}

struct Lz4FrameOptions {
  LZ4F_blockSizeID_t block_size = LZ4F_max64KB;
  bool linked = false;
  bool content_checksum = false;
  bool block_checksums = false;
  bool content_size = false;
};
inline std::string lz4_frame(std::string_view text, Lz4FrameOptions options = {}) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = options.block_size;
  preferences.frameInfo.blockMode = options.linked ? LZ4F_blockLinked : LZ4F_blockIndependent;
  preferences.frameInfo.contentChecksumFlag =
      options.content_checksum ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  preferences.frameInfo.blockChecksumFlag = options.block_checksums ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  // Not LZ4F_compressFrame: that one picks a smaller block size and independent blocks for short texts.
  LZ4F_cctx* raw = nullptr;
  require(!LZ4F_isError(LZ4F_createCompressionContext(&raw, LZ4F_VERSION)));
  const std::unique_ptr<LZ4F_cctx, decltype(&LZ4F_freeCompressionContext)> context(raw, &LZ4F_freeCompressionContext);
  if (options.content_size) preferences.frameInfo.contentSize = text.size();
  std::string out(LZ4F_HEADER_SIZE_MAX + LZ4F_compressBound(text.size(), &preferences), '\0');
  size_t filled = 0;
  const auto step = [&](size_t size) {
    require(!LZ4F_isError(size));
    filled += size;
  };
  step(LZ4F_compressBegin(context.get(), out.data(), out.size(), &preferences));
  step(LZ4F_compressUpdate(context.get(), out.data() + filled, out.size() - filled, text.data(), text.size(), nullptr));
  step(LZ4F_compressEnd(context.get(), out.data() + filled, out.size() - filled, nullptr));
  out.resize(filled);
  return out;
}

inline void append_big_endian(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

// As Hadoop's BlockCompressorStream writes: blocks of `block_bytes`, each cut into chunks of `chunk_bytes`.
inline std::string lz4_hadoop(std::string_view text, size_t block_bytes, size_t chunk_bytes) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += block_bytes) {
    const std::string_view block = text.substr(at, block_bytes);
    append_big_endian(out, static_cast<uint32_t>(block.size()));
    for (size_t from = 0; from < block.size(); from += chunk_bytes) {
      const std::string chunk = lz4_raw(block.substr(from, chunk_bytes));
      append_big_endian(out, static_cast<uint32_t>(chunk.size()));
      out += chunk;
    }
  }
  return out;
}

// Compresses with usual settings. Brotli's comes from our own encoder: it is a thin call of the library.
inline std::string compress(Codec codec, std::string_view text) {
  switch (codec) {
    case Codec::kSnappy:
      return snappy(text);
    case Codec::kGzip:
      return deflate(text, 31);
    case Codec::kZlib:
      return deflate(text, 15);
    case Codec::kDeflate:
      return deflate(text, -15);
    case Codec::kZstd:
      return zstd(text);
    case Codec::kLz4Raw:
      return lz4_raw(text);
    case Codec::kLz4Frame:
      return lz4_frame(text);
    case Codec::kLz4Hadoop:
      return lz4_hadoop(text, 256 << 10, 256 << 10);
    case Codec::kBrotli: {
      MemoryPool pool;
      const MutableBuffer out = Compressor(pool).compress(codec, std::nullopt, bytes_of(text));
      return {reinterpret_cast<const char*>(out.data()), out.size()};
    }
    default:
      return std::string(text);
  }
}

}  // namespace frazil::compressors
