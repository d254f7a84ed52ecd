#include "frazil/codec/front.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/codec/compressors.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

using compressors::bytes_of;

// Runs, copies from near and far, and noise.
std::string make_text(size_t size, uint64_t seed) {
  std::string text;
  const auto below = [&seed](uint64_t limit) {
    seed = seed * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return static_cast<size_t>((seed >> 33) % limit);
  };
  while (text.size() < size) {
    const size_t length = 1 + below(below(8) == 0 ? 70'000 : 90);
    switch (text.empty() ? 0 : below(3)) {
      case 0:
        for (size_t i = 0; i < length; ++i) text += static_cast<char>(below(256));
        break;
      case 1:
        text.append(length, static_cast<char>(below(256)));
        break;
      default: {
        const size_t from = below(text.size());
        for (size_t i = 0; i < length; ++i) text += text[from + i];
      }
    }
  }
  text.resize(size);
  return text;
}

std::string compress(Codec codec, const std::string& text) {
  return codec == Codec::kSnappy ? compressors::snappy(text) : compressors::zstd(text);
}

// What Google's and Facebook's compressors make: the front is the beginning, from no more of the input than is promised.
TEST(Front, IsTheBeginning) {
  MemoryPool pool;
  Decompressor decompressor(pool);
  for (Codec codec : {Codec::kSnappy, Codec::kZstd}) {
    ASSERT_TRUE(Decompressor::has_front(codec));
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const std::string text = make_text(seed == 0 ? 100 : 1'200'000, seed);
      const std::string data = compress(codec, text);
      for (size_t room : {size_t{1}, size_t{100'000}, size_t{131'072}, size_t{400'000}, size_t{2'000'000}}) {
        std::vector<std::byte> output(room + 1, std::byte{0x5A});
        const auto input = bytes_of(data).first(std::min(data.size(), room + Decompressor::kFrontSlackBytes));
        const size_t size = decompressor.decompress_front(codec, input, std::span(output).first(room));
        const size_t most = std::min(room, text.size());
        EXPECT_LE(size, most);
        EXPECT_GE(size + Decompressor::kFrontSlackBytes, most) << to_string(codec) << ", seed " << seed;
        EXPECT_TRUE(std::equal(output.begin(), output.begin() + static_cast<ptrdiff_t>(size), bytes_of(text).begin()));
        EXPECT_EQ(output[room], std::byte{0x5A});
      }
      // The context is as good as new for the whole.
      std::vector<std::byte> whole(text.size());
      decompressor.decompress(codec, bytes_of(data), whole);
      EXPECT_TRUE(std::equal(whole.begin(), whole.end(), bytes_of(text).begin()));
    }
  }
}

TEST(Front, OfCutAndDamagedDataStaysInsideOfItsBuffers) {
  MemoryPool pool;
  Decompressor decompressor(pool);
  const std::string text = make_text(20'000, 1);
  for (Codec codec : {Codec::kSnappy, Codec::kZstd}) {
    const std::string data = compress(codec, text);
    std::vector<std::byte> output(200'000);
    for (size_t size = 0; size < data.size(); size += 1 + size / 50) {
      const std::string cut = data.substr(0, size);  // its own allocation, for sanitizers
      const size_t done = decompressor.decompress_front(codec, bytes_of(cut), output);
      EXPECT_TRUE(std::equal(output.begin(), output.begin() + static_cast<ptrdiff_t>(done), bytes_of(text).begin()));
    }
    for (size_t at = 0; at < data.size(); at += 1 + at / 50) {
      for (int bit : {0, 1, 6, 7}) {
        std::string damaged = data;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        try {
          EXPECT_LE(decompressor.decompress_front(codec, bytes_of(damaged), output), output.size());
        } catch (const CorruptError&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace frazil
