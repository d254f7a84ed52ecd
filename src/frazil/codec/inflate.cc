#include "frazil/codec/inflate.h"

#include <algorithm>
#include <new>

#include <libdeflate.h>

#include "frazil/base/byte_reader.h"

namespace frazil {

namespace {

bool starts_like_gzip(Bytes input) {
  return input.size() >= 2 && input[0] == std::byte{0x1F} && input[1] == std::byte{0x8B};
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

using Decode = libdeflate_result (*)(libdeflate_decompressor*, const void*, size_t, void*, size_t, size_t*, size_t*);

// One stream at the start of `input`, which it is removed from.
std::optional<size_t> decode_one(Decode decode, libdeflate_decompressor* context, std::string_view name, Bytes& input,
                                 std::span<std::byte> output) {
  size_t consumed = 0;
  size_t produced = 0;
  switch (decode(context, input.data(), input.size(), output.data(), output.size(), &consumed, &produced)) {
    case LIBDEFLATE_SUCCESS:
      input = input.subspan(consumed);
      return produced;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return std::nullopt;
    default:
      throw_damaged(name, "the stream or its checksum is wrong");
  }
}

}  // namespace

void FreeDecompressor::operator()(libdeflate_decompressor* decompressor) const noexcept {
  libdeflate_free_decompressor(decompressor);
}

InflateContext make_inflate_context() {
  InflateContext context(libdeflate_alloc_decompressor());
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

std::optional<size_t> attempt_deflate(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output) {
  const auto size = decode_one(libdeflate_deflate_decompress_ex, context, "deflate", input, output);
  // Avro for Python makes raw deflate by cutting two bytes off the front of a zlib stream and one off its end: three of
  // the four bytes of the checksum stay.
  constexpr size_t kChecksumRestMax = 4;
  if (size && input.size() > kChecksumRestMax) throw_damaged("deflate", "bytes follow its end");
  return size;
}

std::optional<size_t> attempt_zlib(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output) {
  const auto size = decode_one(libdeflate_zlib_decompress_ex, context, "zlib", input, output);
  if (size && !input.empty()) throw_damaged("zlib", "bytes follow its end");
  return size;
}

std::optional<size_t> attempt_gzip(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output) {
  if (!starts_like_gzip(input)) return attempt_zlib(context, input, output);
  size_t filled = 0;
  do {
    const auto size = decode_one(libdeflate_gzip_decompress_ex, context, "gzip", input, output.subspan(filled));
    if (!size) return std::nullopt;
    filled += *size;
  } while (starts_like_gzip(input));
  // Zeros after the last member are padding to a block (gzip(1), tapes and some object stores).
  if (!all_zero(input)) throw_damaged("gzip", "bytes follow its end");
  return filled;
}

std::optional<uint64_t> gzip_stated_size(Bytes input) {
  constexpr size_t kMemberBytesMin = 18;
  if (!starts_like_gzip(input) || input.size() < kMemberBytesMin) return std::nullopt;
  return load<uint32_t>(input.data() + input.size() - 4);
}

}  // namespace frazil
