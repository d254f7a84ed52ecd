#include "frazil/codec/compressor.h"

#include <memory>
#include <new>

#include <libdeflate.h>
#include <snappy-c.h>
// For contexts whose memory is ours: ZSTD_createCCtx_advanced is exported by every shared libzstd since 1.0.
#define ZSTD_STATIC_LINKING_ONLY
#include <cstring>

#include <zstd.h>
#include <zstd_errors.h>

#include "frazil/base/error.h"
#include "frazil/codec/charged_heap.h"
#include "frazil/codec/compress_one.h"

namespace frazil {

namespace {

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct FreeDeflate {
  void operator()(libdeflate_compressor* compressor) const noexcept { libdeflate_free_compressor(compressor); }
};

// What libdeflate 1.14 and 1.19 allocate, rounded up.
size_t deflate_context_bytes(int level) {
  if (level == 0) return 16 << 10;
  if (level == 1) return 256 << 10;
  return level < 10 ? size_t{704} << 10 : size_t{9} << 20;
}

// Its header has 32 bits for the size.
constexpr size_t kSnappyInputMax = UINT32_MAX;

}  // namespace

LevelRange compression_levels(Codec codec) {
  switch (codec) {
    case Codec::kNone:
    case Codec::kSnappy:
      return {};
    case Codec::kGzip:
    case Codec::kZlib:
    case Codec::kDeflate:
      return {.min = 0, .max = 12, .standard = 6};
    case Codec::kBrotli:
      return {.min = 0, .max = 11, .standard = 5};
    case Codec::kZstd:
      return {.min = ZSTD_minCLevel(), .max = ZSTD_maxCLevel(), .standard = ZSTD_CLEVEL_DEFAULT};
    case Codec::kLz4Raw:
    case Codec::kLz4Frame:
    case Codec::kLz4Hadoop:
      return {.min = 1, .max = kLz4LevelMax, .standard = 1};
  }
  return {};
}

void check_compression_level(Codec codec, int level) {
  const LevelRange range = compression_levels(codec);
  if (level < range.min || level > range.max) {
    throw_error(ErrorKind::kInvalidArgument, "{} has no compression level {}: {} to {}", to_string(codec), level,
                range.min, range.max);
  }
}

struct Compressor::Contexts {
  explicit Contexts(MemoryPool& memory_pool) : pool(&memory_pool), zstd_heap(memory_pool) {}
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts() { release(); }

  void release() noexcept {
    zstd.reset();
    drop_deflate();
    lz4_state = {};
    lz4_charged = 0;
  }

  std::optional<size_t> compress_zstd(int level, Bytes input, std::span<std::byte> output) {
    if (zstd == nullptr) {
      zstd.reset(ZSTD_createCCtx_advanced({&ChargedHeap::allocate, &ChargedHeap::free, &zstd_heap}));
      if (zstd == nullptr) {
        zstd_heap.rethrow();
        throw std::bad_alloc();
      }
      zstd_level = ZSTD_CLEVEL_DEFAULT;
    }
    if (level != zstd_level) {
      ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_compressionLevel, level);
      zstd_level = level;
    }
    const size_t size = ZSTD_compress2(zstd.get(), output.data(), output.size(), input.data(), input.size());
    if (!ZSTD_isError(size)) return size;
    if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) return std::nullopt;
    zstd.reset();  // what state it is in is not known
    zstd_heap.rethrow();
    throw_error(ErrorKind::kInternal, "zstd: {}", std::string_view(ZSTD_getErrorName(size)));
  }

  libdeflate_compressor* deflate_context(int level) {
    if (deflate != nullptr && deflate_level == level) return deflate.get();
    drop_deflate();
    pool->charge(deflate_context_bytes(level));
    deflate_charged = deflate_context_bytes(level);
    deflate.reset(libdeflate_alloc_compressor(level));
    if (deflate == nullptr) throw std::bad_alloc();
    deflate_level = level;
    return deflate.get();
  }

  void drop_deflate() noexcept {
    deflate.reset();
    pool->discharge(deflate_charged);
    deflate_charged = 0;
  }

  std::byte* lz4_context(int level) {
    const size_t bytes = lz4_state_bytes(level);
    if (lz4_state.size() < bytes) {
      lz4_state = {};
      lz4_charged = 0;
      lz4_state = pool->allocate(bytes);
      lz4_charged = MemoryPool::block_bytes(bytes);
    }
    return lz4_state.data();
  }

  std::optional<size_t> compress(Codec codec, int level, Bytes input, std::span<std::byte> output);

  MemoryPool* const pool;
  ChargedHeap zstd_heap;
  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd;
  int zstd_level = 0;
  std::unique_ptr<libdeflate_compressor, FreeDeflate> deflate;
  int deflate_level = 0;
  size_t deflate_charged = 0;
  MutableBuffer lz4_state;
  size_t lz4_charged = 0;
};

std::optional<size_t> Compressor::Contexts::compress(Codec codec, int level, Bytes input, std::span<std::byte> output) {
  // The libraries' C interfaces do not promise to leave a null pointer alone when the size is 0.
  std::byte nowhere{};
  if (output.empty()) output = {&nowhere, 0};
  if (input.empty()) input = {&nowhere, 0};
  const auto written = [](size_t size) { return size == 0 ? std::nullopt : std::optional(size); };
  switch (codec) {
    case Codec::kNone:
      if (input.size() > output.size()) return std::nullopt;
      std::memcpy(output.data(), input.data(), input.size());
      return input.size();
    case Codec::kSnappy: {
      // It writes without looking at the room.
      size_t size = output.size();
      if (size >= snappy_max_compressed_length(input.size())) {
        if (snappy_compress(reinterpret_cast<const char*>(input.data()), input.size(),
                            reinterpret_cast<char*>(output.data()), &size) != SNAPPY_OK) {
          throw_error(ErrorKind::kInternal, "snappy failed on {} bytes", input.size());
        }
        return size;
      }
      MutableBuffer whole = pool->allocate(snappy_max_compressed_length(input.size()));
      const auto whole_size = compress(codec, level, input, whole.span());
      if (!whole_size || *whole_size > output.size()) return std::nullopt;
      std::memcpy(output.data(), whole.data(), *whole_size);
      return whole_size;
    }
    case Codec::kGzip:
      return written(
          libdeflate_gzip_compress(deflate_context(level), input.data(), input.size(), output.data(), output.size()));
    case Codec::kZlib:
      return written(
          libdeflate_zlib_compress(deflate_context(level), input.data(), input.size(), output.data(), output.size()));
    case Codec::kDeflate:
      return written(libdeflate_deflate_compress(deflate_context(level), input.data(), input.size(), output.data(),
                                                 output.size()));
    case Codec::kBrotli:
      return compress_brotli(*pool, level, input, output);
    case Codec::kZstd:
      return compress_zstd(level, input, output);
    case Codec::kLz4Raw:
      return compress_lz4_raw(lz4_context(level), level, input, output);
    case Codec::kLz4Frame:
      return compress_lz4_frame(lz4_context(level), level, input, output);
    case Codec::kLz4Hadoop:
      return compress_lz4_hadoop(lz4_context(level), level, input, output);
  }
  throw_error(ErrorKind::kInternal, "unknown codec {}", static_cast<int>(codec));
}

Compressor::Compressor(MemoryPool& pool) : contexts_(std::make_unique<Contexts>(pool)) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

size_t Compressor::bound(Codec codec, size_t input_size) {
  const auto refuse = [&] {
    throw_error(ErrorKind::kUnsupported, "{} cannot take {} bytes at once", to_string(codec), input_size);
  };
  switch (codec) {
    case Codec::kNone:
      return input_size;
    case Codec::kSnappy:
      if (input_size > kSnappyInputMax) refuse();
      return snappy_max_compressed_length(input_size);
    case Codec::kGzip:
      return libdeflate_gzip_compress_bound(nullptr, input_size);
    case Codec::kZlib:
      return libdeflate_zlib_compress_bound(nullptr, input_size);
    case Codec::kDeflate:
      return libdeflate_deflate_compress_bound(nullptr, input_size);
    case Codec::kBrotli:
      return brotli_bound(input_size);
    case Codec::kZstd:
      return ZSTD_compressBound(input_size);
    case Codec::kLz4Raw:
      if (lz4_raw_bound(input_size) == 0) refuse();
      return lz4_raw_bound(input_size);
    case Codec::kLz4Frame:
      return lz4_frame_bound(input_size);
    case Codec::kLz4Hadoop:
      return lz4_hadoop_bound(input_size);
  }
  throw_error(ErrorKind::kInternal, "unknown codec {}", static_cast<int>(codec));
}

std::optional<size_t> Compressor::compress(Codec codec, std::optional<int> level, std::span<const std::byte> input,
                                           std::span<std::byte> output) {
  if (level) check_compression_level(codec, *level);
  static_cast<void>(bound(codec, input.size()));  // refuses what is too long
  return contexts_->compress(codec, level.value_or(compression_levels(codec).standard), input, output);
}

MutableBuffer Compressor::compress(Codec codec, std::optional<int> level, std::span<const std::byte> input) {
  MutableBuffer output = contexts_->pool->allocate(bound(codec, input.size()));
  const auto size = compress(codec, level, input, output.span());
  if (!size) {
    throw_error(ErrorKind::kInternal, "{}: {} bytes do not compress to {}", to_string(codec), input.size(),
                output.size());
  }
  output.set_size(*size);
  return output;
}

size_t Compressor::charged_bytes() const {
  return contexts_->zstd_heap.charged_bytes() + contexts_->deflate_charged + contexts_->lz4_charged;
}

void Compressor::release_contexts() noexcept {
  contexts_->release();
}

}  // namespace frazil
