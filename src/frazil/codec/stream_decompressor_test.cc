#include "frazil/codec/stream_decompressor.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/compressors.h"

namespace frazil {
namespace {

std::string text_of(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += "row_" + std::to_string(i * i) + "\n";
  text.resize(size);
  return text;
}

// Decompresses in pieces of these sizes.
std::string read_all(Codec codec, std::string_view input, size_t input_step, size_t output_step, MemoryPool& pool) {
  StreamDecompressor stream(codec, pool);
  std::string out;
  std::string piece(output_step, '\0');
  while (true) {
    const auto step = stream.step(compressors::bytes_of(input.substr(0, input_step)),
                                  {reinterpret_cast<std::byte*>(piece.data()), piece.size()});
    if (step.consumed == 0 && step.produced == 0) {
      EXPECT_TRUE(input.empty());
      break;
    }
    input.remove_prefix(step.consumed);
    out.append(piece, 0, step.produced);
  }
  if (!stream.at_boundary()) throw std::runtime_error("cut");
  return out;
}

TEST(StreamDecompressor, ReadsConcatenatedStreamsInPiecesOfAnySize) {
  const std::string first = text_of(100'000);
  const std::string second = text_of(17);
  for (const Codec codec : {Codec::kGzip, Codec::kZstd}) {
    const std::string input = compressors::compress(codec, first) + compressors::compress(codec, second);
    ASSERT_EQ(detect_stream_codec(compressors::bytes_of(input)), codec);
    for (const auto& [input_step, output_step] : {std::pair{1, 1}, {7, 4096}, {4096, 7}, {1 << 20, 1 << 20}}) {
      MemoryPool pool;
      EXPECT_EQ(read_all(codec, input, input_step, output_step, pool), first + second)
          << to_string(codec) << " in steps of " << input_step << " and " << output_step;
      EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes);
    }
  }
}

TEST(StreamDecompressor, FindsDamageAndTheMissingEnd) {
  const std::string text = text_of(50'000);
  for (const Codec codec : {Codec::kGzip, Codec::kZstd}) {
    MemoryPool pool;
    std::string input = compressors::compress(codec, text);
    EXPECT_THROW(read_all(codec, std::string_view(input).substr(0, input.size() - 1), 100, 100, pool),
                 std::runtime_error);
    input[input.size() / 2] = static_cast<char>(~input[input.size() / 2]);
    EXPECT_ANY_THROW(EXPECT_NE(read_all(codec, input, 100, 100, pool), text));
    EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes);
  }
}

TEST(StreamDecompressor, KeepsToTheBudget) {
  MemoryPool gzip_pool({.budget_bytes = 1 << 10});
  EXPECT_THROW(StreamDecompressor(Codec::kGzip, gzip_pool), MemoryLimitError);
  // Without a content size the window is that of the level: 2 MiB for 3.
  MemoryPool zstd_pool({.budget_bytes = 1 << 20});
  const std::string input = compressors::zstd(text_of(4 << 20), {.level = 3, .content_size = false});
  EXPECT_THROW(read_all(Codec::kZstd, input, 1 << 16, 1 << 16, zstd_pool), MemoryLimitError);
  EXPECT_LE(zstd_pool.stats().held_peak_bytes, size_t{1} << 20);
}

TEST(StreamDecompressor, KnowsItsCodecsByTheirMagic) {
  EXPECT_EQ(detect_stream_codec(compressors::bytes_of("id,name\n")), std::nullopt);
  EXPECT_EQ(detect_stream_codec(compressors::bytes_of("\x1f\x8b")), std::nullopt);
  EXPECT_EQ(detect_stream_codec(compressors::bytes_of("\x50\x2a\x4d\x18")), Codec::kZstd);
  MemoryPool pool;
  EXPECT_THROW(StreamDecompressor(Codec::kSnappy, pool), Error);
}

}  // namespace
}  // namespace frazil
