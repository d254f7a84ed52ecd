#include "frazil/codec/stream_decompressor.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/codec/attempt.h"
#include "frazil/codec/charged_heap.h"

namespace frazil {

std::optional<Codec> detect_stream_codec(std::span<const std::byte> start) {
  if (start.size() < 4) return std::nullopt;
  const auto magic = load<uint32_t>(start.data());
  if ((magic & 0xFFFF) == 0x8B1F) return Codec::kGzip;
  if (magic == 0xFD2FB528 || (magic & 0xFFFFFFF0) == 0x184D2A50) return Codec::kZstd;
  return std::nullopt;
}

struct StreamDecompressor::State {
  virtual ~State() = default;
  virtual Progress step(Bytes input, std::span<std::byte> output) = 0;
  bool at_boundary = true;
};

namespace {

class GzipStream final : public StreamDecompressor::State {
 public:
  explicit GzipStream(MemoryPool& pool) : heap_(pool) {
    stream_.zalloc = [](void* heap, unsigned items, unsigned size) {
      return ChargedHeap::allocate(heap, size_t{items} * size);
    };
    stream_.zfree = [](void* heap, void* address) { ChargedHeap::free(heap, address); };
    stream_.opaque = &heap_;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) heap_.rethrow();
  }
  ~GzipStream() override { inflateEnd(&stream_); }

  StreamDecompressor::Progress step(Bytes input, std::span<std::byte> output) override {
    if (input.empty() || output.empty()) return {};
    if (at_boundary) inflateReset(&stream_);
    at_boundary = false;
    const auto input_size = static_cast<uInt>(std::min<size_t>(input.size(), UINT_MAX));
    const auto output_size = static_cast<uInt>(std::min<size_t>(output.size(), UINT_MAX));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = input_size;
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = output_size;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      at_boundary = true;
    } else if (result != Z_OK) {
      heap_.rethrow();
      throw_damaged("gzip", stream_.msg != nullptr ? stream_.msg : "the stream is wrong");
    }
    return {input_size - stream_.avail_in, output_size - stream_.avail_out};
  }

 private:
  static constexpr int kGzipOnly = 31;  // window bits of 15, and no other header
  ChargedHeap heap_;
  z_stream stream_{};
};

class ZstdStream final : public StreamDecompressor::State {
 public:
  explicit ZstdStream(MemoryPool& pool) : pool_(pool), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    // The window is allocated when a frame's header is read, so what may be had is said before: the largest that fits.
    const int available = static_cast<int>(std::bit_width(pool.available_bytes())) - 2;
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, std::clamp(available, kWindowLogMin, kWindowLogMax));
    charge();
  }
  ~ZstdStream() override { pool_.discharge(charged_); }

  StreamDecompressor::Progress step(Bytes input, std::span<std::byte> output) override {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result)) {
      if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) {
        throw MemoryLimitError(size_t{2} << kWindowLogMax, "a zstd frame has a window larger than the memory budget");
      }
      throw_damaged("zstd", ZSTD_getErrorName(result));
    }
    if (in.pos > 0 || out.pos > 0) at_boundary = result == 0;
    charge();
    return {in.pos, out.pos};
  }

 private:
  static constexpr int kWindowLogMin = 10;
  static constexpr int kWindowLogMax = 27;

  void charge() {
    const size_t size = ZSTD_sizeof_DCtx(context_.get());
    if (size <= charged_) return;
    pool_.charge(size - charged_);
    charged_ = size;
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  MemoryPool& pool_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  size_t charged_ = 0;
};

}  // namespace

StreamDecompressor::StreamDecompressor(Codec codec, MemoryPool& pool) {
  switch (codec) {
    case Codec::kGzip:
      state_ = std::make_unique<GzipStream>(pool);
      return;
    case Codec::kZstd:
      state_ = std::make_unique<ZstdStream>(pool);
      return;
    default:
      throw_error(ErrorKind::kUnsupported, "streams of {} are not read", to_string(codec));
  }
}

StreamDecompressor::~StreamDecompressor() = default;
StreamDecompressor::StreamDecompressor(StreamDecompressor&&) noexcept = default;
StreamDecompressor& StreamDecompressor::operator=(StreamDecompressor&&) noexcept = default;

StreamDecompressor::Progress StreamDecompressor::step(std::span<const std::byte> input, std::span<std::byte> output) {
  return state_->step(input, output);
}

bool StreamDecompressor::at_boundary() const {
  return state_->at_boundary;
}

}  // namespace frazil
