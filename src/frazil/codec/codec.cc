#include "frazil/codec/codec.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <snappy-c.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/codec/attempt.h"
#include "frazil/codec/brotli.h"
#include "frazil/codec/front.h"
#include "frazil/codec/inflate.h"

namespace frazil {

namespace {

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

std::optional<size_t> attempt_none(Bytes input, std::span<std::byte> output) {
  if (input.size() > output.size()) return std::nullopt;
  std::memcpy(output.data(), input.data(), input.size());
  return input.size();
}

// A copy of up to 64 bytes takes 3; the size in front takes up to 5.
constexpr uint64_t kSnappyRatioMax = 22;

size_t snappy_stated_size(Bytes input) {
  size_t size = 0;
  if (snappy_uncompressed_length(reinterpret_cast<const char*>(input.data()), input.size(), &size) != SNAPPY_OK) {
    throw_damaged("snappy", "its size is not readable");
  }
  if (size / kSnappyRatioMax > input.size()) throw_damaged("snappy", "it states a size that its length cannot give");
  return size;
}

std::optional<size_t> attempt_snappy(Bytes input, std::span<std::byte> output) {
  size_t size = snappy_stated_size(input);
  if (size > output.size()) return std::nullopt;
  if (snappy_uncompress(reinterpret_cast<const char*>(input.data()), input.size(),
                        reinterpret_cast<char*>(output.data()), &size) != SNAPPY_OK) {
    throw_damaged("snappy", "the block is damaged");
  }
  return size;
}

std::optional<size_t> attempt_zstd(ZSTD_DCtx* context, Bytes input, std::span<std::byte> output) {
  const size_t size = ZSTD_decompressDCtx(context, output.data(), output.size(), input.data(), input.size());
  if (!ZSTD_isError(size)) return size;
  if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) return std::nullopt;
  throw_damaged("zstd", ZSTD_getErrorName(size));
}

// A block of 4 bytes can give 128 KiB.
constexpr uint64_t kZstdRatioMax = 32 << 10;

// Of the first frame.
std::optional<uint64_t> zstd_stated_size(Bytes input) {
  const unsigned long long size = ZSTD_getFrameContentSize(input.data(), input.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return size;
}

// An output size to begin with when none is known. A stated size is taken if the input's length makes it possible, so
// that a forged one allocates no more than damage of another kind could.
uint64_t first_guess(Codec codec, Bytes input) {
  const auto stated_or_guess = [&](std::optional<uint64_t> stated, uint64_t ratio_max) {
    constexpr uint64_t kUsualRatio = 4;
    constexpr uint64_t kSmallest = 4096;
    const uint64_t guess = std::max(kSmallest, input.size() * kUsualRatio);
    return stated && *stated / ratio_max <= input.size() ? *stated : guess;
  };
  switch (codec) {
    case Codec::kNone:
      return input.size();
    case Codec::kSnappy:
      return snappy_stated_size(input);
    case Codec::kGzip:
      return stated_or_guess(gzip_stated_size(input), kDeflateRatioMax);
    case Codec::kZstd:
      return stated_or_guess(zstd_stated_size(input), kZstdRatioMax);
    case Codec::kLz4Frame:
      return stated_or_guess(lz4_frames_stated_size(input), kLz4RatioMax);
    default:
      return stated_or_guess(std::nullopt, 1);
  }
}

}  // namespace

void throw_damaged(std::string_view codec_name, std::string_view reason) {
  throw_corrupt(CorruptError::kNoOffset, "{} data is damaged: {}", codec_name, reason);
}

std::string_view to_string(Codec codec) {
  switch (codec) {
    case Codec::kNone:
      return "none";
    case Codec::kSnappy:
      return "snappy";
    case Codec::kGzip:
      return "gzip";
    case Codec::kZlib:
      return "zlib";
    case Codec::kDeflate:
      return "deflate";
    case Codec::kBrotli:
      return "brotli";
    case Codec::kZstd:
      return "zstd";
    case Codec::kLz4Raw:
      return "lz4_raw";
    case Codec::kLz4Frame:
      return "lz4_frame";
    case Codec::kLz4Hadoop:
      return "lz4";
  }
  return "unknown";
}

struct Decompressor::Contexts {
  explicit Contexts(MemoryPool& memory_pool) : pool(&memory_pool) {}
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts() { pool->discharge(charged_bytes); }

  // Made when first needed.
  ZSTD_DCtx* zstd_context(MemoryPool& way) {
    if (zstd == nullptr) {
      std::unique_ptr<ZSTD_DCtx, FreeZstd> made(ZSTD_createDCtx());
      if (made == nullptr) throw std::bad_alloc();
      charge(way, ZSTD_sizeof_DCtx(made.get()));  // it does not grow: one-shot decoding needs no window
      zstd = std::move(made);
    }
    return zstd.get();
  }

  libdeflate_decompressor* inflate_context(MemoryPool& way) {
    if (inflate == nullptr) {
      charge(way, kInflateContextBytes);
      inflate = make_inflate_context();
    }
    return inflate.get();
  }

  // `way`: the pool, or a way into a reservation of it.
  std::optional<size_t> attempt(Codec codec, Bytes input, std::span<std::byte> output, MemoryPool& way);

  MemoryPool* const pool;
  size_t charged_bytes = 0;

 private:
  void charge(MemoryPool& way, size_t bytes) {
    way.charge(bytes);
    charged_bytes += bytes;
  }

  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
  InflateContext inflate;
};

std::optional<size_t> Decompressor::Contexts::attempt(Codec codec, Bytes input, std::span<std::byte> output,
                                                      MemoryPool& way) {
  // The libraries' C interfaces do not promise to leave a null pointer alone when the size is 0.
  std::byte nowhere{};
  if (output.empty()) output = {&nowhere, 0};
  switch (codec) {
    case Codec::kNone:
      return attempt_none(input, output);
    case Codec::kSnappy:
      return attempt_snappy(input, output);
    case Codec::kGzip:
      return attempt_gzip(inflate_context(way), input, output);
    case Codec::kZlib:
      return attempt_zlib(inflate_context(way), input, output);
    case Codec::kDeflate:
      return attempt_deflate(inflate_context(way), input, output);
    case Codec::kBrotli:
      return attempt_brotli(way, input, output);
    case Codec::kZstd:
      return attempt_zstd(zstd_context(way), input, output);
    case Codec::kLz4Raw:
      return attempt_lz4_raw(input, output);
    case Codec::kLz4Frame:
      return attempt_lz4_frames(input, output);
    case Codec::kLz4Hadoop:
      return attempt_lz4_hadoop(input, output);
  }
  throw_error(ErrorKind::kInternal, "unknown codec {}", static_cast<int>(codec));
}

Decompressor::Decompressor(MemoryPool& pool) : contexts_(std::make_unique<Contexts>(pool)) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

void Decompressor::decompress(Codec codec, std::span<const std::byte> input, std::span<std::byte> output,
                              MemoryPool* promised) {
  if (input.empty()) {
    if (output.empty()) return;
    throw_damaged(to_string(codec), "it is empty");
  }
  MemoryPool& way = promised != nullptr ? *promised : *contexts_->pool;
  const std::optional<size_t> size = contexts_->attempt(codec, input, output, way);
  if (!size) {
    throw_corrupt(CorruptError::kNoOffset, "{} data is damaged, or longer than {} bytes", to_string(codec),
                  output.size());
  }
  if (*size != output.size()) {
    throw_corrupt(CorruptError::kNoOffset, "{} data gives {} bytes, not {}", to_string(codec), *size, output.size());
  }
}

MutableBuffer Decompressor::decompress_unsized(Codec codec, std::span<const std::byte> input, size_t max_bytes) {
  if (input.empty()) return {};
  size_t capacity = static_cast<size_t>(std::min<uint64_t>(first_guess(codec, input), max_bytes));
  for (;;) {
    {
      MutableBuffer output = contexts_->pool->allocate(capacity);
      if (const auto size = contexts_->attempt(codec, input, output.span(), *contexts_->pool)) {
        output.set_size(*size);
        return output;
      }
    }  // frees the block before the next one is allocated
    if (capacity == max_bytes) {
      throw_corrupt(CorruptError::kNoOffset, "{} data is damaged, or longer than the {} bytes that are read at most",
                    to_string(codec), max_bytes);
    }
    capacity = std::min(max_bytes, std::max<size_t>(4096, capacity > max_bytes / 2 ? max_bytes : capacity * 2));
  }
}

bool Decompressor::has_front(Codec codec) {
  return codec == Codec::kZstd || codec == Codec::kSnappy;
}

size_t Decompressor::decompress_front(Codec codec, std::span<const std::byte> input, std::span<std::byte> output,
                                      MemoryPool* promised) {
  static_assert(kFrontSlackBytes >= kFrontBlockBytes);
  switch (codec) {
    case Codec::kZstd:
      return zstd_front(contexts_->zstd_context(promised != nullptr ? *promised : *contexts_->pool), input, output);
    case Codec::kSnappy:
      return snappy_front(input, output);
    default:
      throw_error(ErrorKind::kInternal, "the front of {} is not read", to_string(codec));
  }
}

size_t Decompressor::charged_bytes() const {
  return contexts_->charged_bytes;
}

}  // namespace frazil
