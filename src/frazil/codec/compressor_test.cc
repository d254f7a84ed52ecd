#include "frazil/codec/compressor.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include "frazil/base/error.h"
#include "frazil/codec/compressors.h"

namespace frazil {
namespace {

using compressors::bytes_of;

constexpr std::array kCodecs = {Codec::kNone,   Codec::kSnappy, Codec::kGzip,   Codec::kZlib,     Codec::kDeflate,
                                Codec::kBrotli, Codec::kZstd,   Codec::kLz4Raw, Codec::kLz4Frame, Codec::kLz4Hadoop};

// From a block of exactly the input's size into one of exactly `capacity`, so that a byte outside shows.
std::optional<std::string> compress(Compressor& compressor, Codec codec, std::optional<int> level,
                                    std::string_view text, size_t capacity) {
  const std::vector<char> exact(text.begin(), text.end());
  std::vector<std::byte> output(capacity);
  const auto size = compressor.compress(codec, level, bytes_of({exact.data(), exact.size()}), output);
  if (!size) return std::nullopt;
  EXPECT_LE(*size, capacity);
  return std::string(reinterpret_cast<const char*>(output.data()), *size);
}

std::string decompress(Codec codec, std::string_view input, size_t size) {
  MemoryPool pool;
  std::vector<std::byte> output(size);
  Decompressor(pool).decompress(codec, bytes_of(input), output);
  return {reinterpret_cast<const char*>(output.data()), output.size()};
}

std::string random_bytes(size_t size, uint64_t seed, unsigned alphabet) {
  std::string out(size, '\0');
  for (char& byte : out) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>((seed >> 40) % alphabet);
  }
  return out;
}

// Sizes around each boundary of the formats: LZ4 frames' blocks of 64 and 256 KiB, Hadoop's of 261,100.
std::vector<std::string> texts() {
  std::vector<std::string> out;
  for (size_t size :
       {0, 1, 2, 12, 13, 100, 4096, 65535, 65536, 65537, 261099, 261100, 261101, 262144, 262145, 600000}) {
    out.push_back(random_bytes(size, size, 256));
    out.push_back(random_bytes(size, size, 3));
    out.emplace_back(size, 'a');
  }
  return out;
}

std::vector<int> some_levels(Codec codec) {
  const LevelRange range = compression_levels(codec);
  std::vector<int> levels = {std::max(range.min, -5),
                             range.min < 0 ? 1 : range.min,
                             range.min + 1,
                             range.standard,
                             2,
                             range.standard + 1,
                             range.max};
  std::erase_if(levels, [&](int level) { return level < range.min || level > range.max; });
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

TEST(Compressor, GivesWhatTheDecompressorTakesAtEveryLevelAndWithinItsBound) {
  MemoryPool pool;
  Compressor compressor(pool);
  for (Codec codec : kCodecs) {
    for (int level : some_levels(codec)) {
      for (const std::string& text : texts()) {
        // The slowest levels are tried on short texts.
        if (text.size() > 70000 && level > 9) continue;
        SCOPED_TRACE(std::string(to_string(codec)) + " " + std::to_string(level) + " " + std::to_string(text.size()));
        const auto compressed = compress(compressor, codec, level, text, Compressor::bound(codec, text.size()));
        ASSERT_TRUE(compressed.has_value());
        EXPECT_TRUE(decompress(codec, *compressed, text.size()) == text);
      }
    }
  }
}

TEST(Compressor, IsReadByTheLibrariesThemselves) {
  MemoryPool pool;
  Compressor compressor(pool);
  for (const std::string& text : texts()) {
    const auto compressed = [&](Codec codec) {
      return *compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, text.size()));
    };
    // LZ4F, as Arrow reads frames.
    const std::string frame = compressed(Codec::kLz4Frame);
    LZ4F_dctx* context = nullptr;
    ASSERT_FALSE(LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
    std::string out(text.size() + 1, '\0');
    size_t out_size = text.size();
    size_t in_size = frame.size();
    const size_t left = LZ4F_decompress(context, out.data(), &out_size, frame.data(), &in_size, nullptr);
    LZ4F_freeDecompressionContext(context);
    EXPECT_EQ(left, 0u) << text.size();
    EXPECT_EQ(in_size, frame.size());
    EXPECT_TRUE(out.substr(0, out_size) == text);
    // zlib.
    for (auto [codec, bits] : {std::pair{Codec::kGzip, 31}, {Codec::kZlib, 15}, {Codec::kDeflate, -15}}) {
      std::string stream = compressed(codec);
      z_stream inflater{};
      ASSERT_EQ(inflateInit2(&inflater, bits), Z_OK);
      inflater.next_in = reinterpret_cast<Bytef*>(stream.data());
      inflater.avail_in = static_cast<uInt>(stream.size());
      inflater.next_out = reinterpret_cast<Bytef*>(out.data());
      inflater.avail_out = static_cast<uInt>(out.size());
      EXPECT_EQ(inflate(&inflater, Z_FINISH), Z_STREAM_END) << text.size();
      EXPECT_EQ(inflater.avail_in, 0u);
      EXPECT_TRUE(out.substr(0, inflater.total_out) == text);
      inflateEnd(&inflater);
    }
  }
}

TEST(Compressor, SaysThatAnOutputIsTooShortAndGoesOn) {
  MemoryPool pool;
  Compressor compressor(pool);
  for (Codec codec : kCodecs) {
    for (size_t size : {1, 50, 1000, 70000, 300000}) {
      const std::string text = random_bytes(size, 1, 7);
      const auto whole = compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, size));
      ASSERT_TRUE(whole.has_value());
      for (size_t capacity : {size_t{0}, size_t{1}, size_t{7}, size_t{15}, whole->size() / 2, whole->size() - 1}) {
        if (capacity >= whole->size()) continue;
        EXPECT_FALSE(compress(compressor, codec, std::nullopt, text, capacity)) << to_string(codec) << " " << capacity;
      }
      EXPECT_EQ(compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, size)), whole);
    }
  }
}

TEST(Compressor, RefusesLevelsThatACodecDoesNotHave) {
  MemoryPool pool;
  Compressor compressor(pool);
  std::vector<std::byte> output(100);
  for (auto [codec, level] : {std::pair{Codec::kNone, 1},
                              {Codec::kSnappy, 1},
                              {Codec::kGzip, -1},
                              {Codec::kGzip, 13},
                              {Codec::kBrotli, 12},
                              {Codec::kZstd, 23},
                              {Codec::kZstd, -131073},
                              {Codec::kLz4Raw, 0},
                              {Codec::kLz4Frame, 13}}) {
    try {
      static_cast<void>(compressor.compress(codec, level, {}, output));
      ADD_FAILURE() << to_string(codec) << " " << level;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_NE(error.message().find(std::to_string(level)), std::string::npos) << error.message();
    }
  }
}

TEST(Compressor, RefusesWhatIsTooLongForTheFormat) {
  EXPECT_THROW(Compressor::bound(Codec::kLz4Raw, size_t{2} << 30), Error);
  EXPECT_THROW(Compressor::bound(Codec::kSnappy, size_t{4} << 30), Error);
  EXPECT_GT(Compressor::bound(Codec::kZstd, size_t{4} << 30), size_t{4} << 30);
}

TEST(Compressor, ChargesItsContextsWhileItLives) {
  const std::string text = random_bytes(100000, 1, 5);
  for (Codec codec : {Codec::kZstd, Codec::kGzip, Codec::kLz4Raw, Codec::kBrotli}) {
    MemoryPool pool;
    {
      Compressor compressor(pool);
      EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u);
      static_cast<void>(compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, text.size())));
      EXPECT_EQ(compressor.charged_bytes() > 0, codec != Codec::kBrotli) << to_string(codec);
      EXPECT_GE(pool.stats().held_bytes - pool.stats().idle_bytes, compressor.charged_bytes());
      EXPECT_GT(pool.stats().held_peak_bytes, 10u << 10);
      const size_t charged = compressor.charged_bytes();
      static_cast<void>(compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, text.size())));
      EXPECT_EQ(compressor.charged_bytes(), charged) << "a second use makes nothing new";
      compressor.release_contexts();
      EXPECT_EQ(compressor.charged_bytes(), 0u);
      Compressor moved = std::move(compressor);
      EXPECT_TRUE(compress(moved, codec, std::nullopt, text, Compressor::bound(codec, text.size())));
    }
    EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u) << to_string(codec);

    MemoryPool tiny({.budget_bytes = 8 << 10});
    Compressor compressor(tiny);
    EXPECT_THROW(
        static_cast<void>(compress(compressor, codec, std::nullopt, text, Compressor::bound(codec, text.size()))),
        MemoryLimitError)
        << to_string(codec);
    EXPECT_EQ(tiny.stats().held_bytes - tiny.stats().idle_bytes, 0u) << to_string(codec);
  }
}

RC_GTEST_PROP(Compressor, RoundTripsAnyBytesOneAfterTheOther, ()) {
  static MemoryPool pool;
  static Compressor compressor(pool);
  const Codec codec = *rc::gen::elementOf(std::vector<Codec>(kCodecs.begin(), kCodecs.end()));
  const auto piece = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  std::string text;
  for (size_t i = *rc::gen::inRange<size_t>(0, 300); i > 0; --i) text += piece;
  const int level = *rc::gen::elementOf(some_levels(codec));
  const MutableBuffer compressed = compressor.compress(codec, level, bytes_of(text));
  RC_ASSERT(decompress(codec, {reinterpret_cast<const char*>(compressed.data()), compressed.size()}, text.size()) ==
            text);
}

}  // namespace
}  // namespace frazil
