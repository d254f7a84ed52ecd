#include "frazil/codec/codec.h"

#include <array>
#include <fstream>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/codec/compressors.h"

namespace frazil {
namespace {

using compressors::bytes_of;
using compressors::compress;

constexpr std::array kCodecs = {Codec::kNone,   Codec::kSnappy, Codec::kGzip,   Codec::kZlib,     Codec::kDeflate,
                                Codec::kBrotli, Codec::kZstd,   Codec::kLz4Raw, Codec::kLz4Frame, Codec::kLz4Hadoop};

// In a block of exactly that size, so that a byte read or written outside shows under a sanitizer.
std::string decompress(Codec codec, std::string_view input, size_t size) {
  MemoryPool pool;
  Decompressor decompressor(pool);
  const std::vector<char> exact_input(input.begin(), input.end());
  std::vector<std::byte> output(size);
  decompressor.decompress(codec, bytes_of({exact_input.data(), exact_input.size()}), output);
  return {reinterpret_cast<const char*>(output.data()), output.size()};
}

std::string decompress_unsized(Codec codec, std::string_view input, size_t max_bytes = 64 << 20) {
  MemoryPool pool;
  Decompressor decompressor(pool);
  const std::vector<char> exact_input(input.begin(), input.end());
  const MutableBuffer output =
      decompressor.decompress_unsized(codec, bytes_of({exact_input.data(), exact_input.size()}), max_bytes);
  return {reinterpret_cast<const char*>(output.data()), output.size()};
}

std::string repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t index = 0; index < count; ++index) out += text;
  return out;
}

// Text with repetitions near and far, for as long as wanted; the same each time.
std::string sample_text(size_t size) {
  std::string out;
  uint64_t state = 42;
  while (out.size() < size) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out += "row " + std::to_string(state >> 56) + " of file " + std::to_string(state >> 44 & 0xFFF) + "; ";
  }
  out.resize(size);
  return out;
}

const std::string kText = repeat("Frazil is the loose ice that forms in fast-flowing water. ", 3);

struct Sample {
  Codec codec;
  std::string_view maker;
  std::string_view hex;
  bool checked;  // the format has a checksum of the content
};

// kText, compressed by Python 3.11 (zlib 1.2.13), python-zstandard and pyarrow 26.
constexpr Sample kSamples[] = {
    {Codec::kZlib, "zlib.compress(t, 9)",
     "78da732b4aaccacc51c82c5628c94855c8c9cf2f4e55c84c4e05f2124b14d2f28b728b1532f314d2128b4b74d372f2cb33f3d215ca134b52"
     "8bf414dc064027007ad63ebc",
     true},
    {Codec::kGzip, "zlib.compress(t, 9)",
     "78da732b4aaccacc51c82c5628c94855c8c9cf2f4e55c84c4e05f2124b14d2f28b728b1532f314d2128b4b74d372f2cb33f3d215ca134b52"
     "8bf414dc064027007ad63ebc",
     true},
    {Codec::kDeflate, "zlib.compressobj(9, DEFLATED, -15)",
     "732b4aaccacc51c82c5628c94855c8c9cf2f4e55c84c4e05f2124b14d2f28b728b1532f314d2128b4b74d372f2cb33f3d215ca134b528bf4"
     "14dc06402700",
     false},
    {Codec::kDeflate, "zlib.compress(t, 9)[2:-1], as Avro for Python cuts it",
     "732b4aaccacc51c82c5628c94855c8c9cf2f4e55c84c4e05f2124b14d2f28b728b1532f314d2128b4b74d372f2cb33f3d215ca134b528bf4"
     "14dc064027007ad63e",
     false},
    {Codec::kGzip, "gzip.compress(t, 9, mtime=0)",
     "1f8b0800000000000203732b4aaccacc51c82c5628c94855c8c9cf2f4e55c84c4e05f2124b14d2f28b728b1532f314d2128b4b74d372f2cb"
     "33f3d215ca134b528bf414dc06402700c71dee21ae000000",
     true},
    {Codec::kZstd, "ZstdCompressor(level=3, write_checksum=True).compress(t)",
     "28b52ffd24ae150200a4034672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c"
     "6f77696e672077617465722e2001001a7baaa0d311c60a",
     true},
    {Codec::kZstd, "ZstdCompressor(level=3, write_content_size=False).compressobj()",
     "28b52ffd0058150200a4034672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c"
     "6f77696e672077617465722e2001001a7baaa0",
     false},
    {Codec::kSnappy, "pyarrow.compress(t, 'snappy')",
     "ae01e84672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c6f77696e67207761"
     "7465722e2046fe3a00ca3a00",
     false},
    {Codec::kLz4Frame, "pyarrow.compress(t, 'lz4')",
     "04224d1860408245000000ff2b4672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d"
     "666c6f77696e672077617465722e203a005c507465722e2000000000",
     false},
    {Codec::kLz4Raw, "pyarrow.compress(t, 'lz4_raw')",
     "ff2b4672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c6f77696e6720776174"
     "65722e203a005c507465722e20",
     false},
    {Codec::kLz4Hadoop, "pyarrow.compress(t, 'lz4_raw')",
     "ff2b4672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c6f77696e6720776174"
     "65722e203a005c507465722e20",
     false},
    {Codec::kLz4Hadoop, "pyarrow.compress(t, 'lz4')",
     "04224d1860408245000000ff2b4672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d"
     "666c6f77696e672077617465722e203a005c507465722e2000000000",
     false},
    {Codec::kLz4Hadoop, "Hadoop's framing around pyarrow.compress(t, 'lz4_raw')",
     "000000ae00000045ff2b4672617a696c20697320746865206c6f6f736520696365207468617420666f726d7320696e20666173742d666c6f"
     "77696e672077617465722e203a005c507465722e20",
     false},
    {Codec::kBrotli, "pyarrow.compress(t, 'brotli')",
     "1bad0000046a73a95e285aa2a58b411e64612ecd29271a98b7009334a2d02ea4070f598904ddf81d37bf86cfad22e503aa9dcc651fc60b39"
     "59f659a0d5691cdf396a",
     false},
};

std::string unhex(std::string_view hex) {
  return decode_hex(hex).value();
}

TEST(Codec, DecompressesWhatOtherProgramsMade) {
  for (const Sample& sample : kSamples) {
    EXPECT_EQ(decompress(sample.codec, unhex(sample.hex), kText.size()), kText)
        << to_string(sample.codec) << " " << sample.maker;
    EXPECT_EQ(decompress_unsized(sample.codec, unhex(sample.hex)), kText)
        << to_string(sample.codec) << " " << sample.maker;
  }
}

// An empty text, compressed by pyarrow 26 and Python 3.11.
TEST(Codec, DecompressesToNothing) {
  const std::pair<Codec, std::string_view> cases[] = {
      {Codec::kSnappy, "00"},
      {Codec::kLz4Frame, "04224d1860408200000000"},
      {Codec::kLz4Raw, "00"},
      {Codec::kLz4Hadoop, "00"},
      {Codec::kLz4Hadoop, "04224d1860408200000000"},
      {Codec::kLz4Hadoop, "000000000000000100"},
      {Codec::kBrotli, "06"},
      {Codec::kGzip, "1f8b080000000000020303000000000000000000"},
      {Codec::kZlib, "789c030000000001"},
      {Codec::kDeflate, "0300"},
      {Codec::kZstd, "28b52ffd2000010000"},
  };
  for (const auto& [codec, hex] : cases) {
    EXPECT_EQ(decompress(codec, unhex(hex), 0), "") << to_string(codec) << " " << hex;
    EXPECT_EQ(decompress_unsized(codec, unhex(hex)), "") << to_string(codec) << " " << hex;
    EXPECT_EQ(decompress_unsized(codec, unhex(hex), 0), "") << to_string(codec) << " " << hex;
    EXPECT_THROW(decompress(codec, unhex(hex), 1), CorruptError) << to_string(codec) << " " << hex;
  }
}

TEST(Codec, TakesNothingForNothing) {
  for (Codec codec : kCodecs) {
    EXPECT_EQ(decompress(codec, "", 0), "") << to_string(codec);
    EXPECT_EQ(decompress_unsized(codec, ""), "") << to_string(codec);
    EXPECT_THROW(decompress(codec, "", 1), CorruptError) << to_string(codec);
  }
}

TEST(Codec, RefusesOutputsOfAnotherSize) {
  for (const Sample& sample : kSamples) {
    for (size_t size : {size_t{0}, size_t{1}, kText.size() / 2, kText.size() - 1, kText.size() + 1, kText.size() * 2,
                        kText.size() + 100000}) {
      EXPECT_THROW(decompress(sample.codec, unhex(sample.hex), size), CorruptError)
          << to_string(sample.codec) << " " << sample.maker << " into " << size;
    }
  }
  EXPECT_THROW(decompress(Codec::kNone, "abc", 2), CorruptError);
  EXPECT_THROW(decompress(Codec::kNone, "abc", 4), CorruptError);
}

TEST(Codec, NoticesATruncationAtEachByte) {
  for (const Sample& sample : kSamples) {
    const std::string whole = unhex(sample.hex);
    // The rest of the checksum behind Avro for Python's deflate may be missing.
    const size_t needed = whole.size() - (sample.maker.find("[2:-1]") != std::string_view::npos ? 3 : 0);
    for (size_t size = 1; size < needed; ++size) {
      EXPECT_THROW(decompress(sample.codec, whole.substr(0, size), kText.size()), CorruptError)
          << to_string(sample.codec) << " " << sample.maker << " cut to " << size;
      try {
        // An LZ4 block that ends between sequences is whole: nothing but its size tells.
        EXPECT_NE(decompress_unsized(sample.codec, whole.substr(0, size)), kText);
        EXPECT_TRUE(sample.codec == Codec::kLz4Raw || sample.codec == Codec::kLz4Hadoop)
            << to_string(sample.codec) << " " << sample.maker << " cut to " << size;
      } catch (const CorruptError&) {
      }
    }
  }
}

TEST(Codec, SurvivesEachFlippedBit) {
  for (const Sample& sample : kSamples) {
    const std::string whole = unhex(sample.hex);
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string changed = whole;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      for (bool sized : {true, false}) {
        try {
          const std::string text = sized ? decompress(sample.codec, changed, kText.size())
                                         : decompress_unsized(sample.codec, changed, 1 << 20);
          if (!sample.checked) continue;
          EXPECT_EQ(text, kText) << to_string(sample.codec) << " " << sample.maker << " bit " << bit;
        } catch (const CorruptError&) {
        }
      }
    }
  }
}

TEST(Codec, ReadsTheCodecsOfRealParquetPages) {
  struct Page {
    std::string_view file;
    Codec codec;
    size_t offset, compressed_size, size;
    std::string_view expected_hex;
  };
  // Of the dictionary and data pages in parquet-testing/data, placed with pyarrow 26's footers.
  const Page pages[] = {
      // 1593604800, 1593604801 as int64; "abc", "def"; 42.0, 7.7, 42.125 as doubles
      {"hadoop_lz4_compressed", Codec::kLz4Hadoop, 17, 26, 16, "c07afc5e00000000c17afc5e00000000"},
      {"hadoop_lz4_compressed", Codec::kLz4Hadoop, 129, 23, 14, "0300000061626303000000646566"},
      {"hadoop_lz4_compressed", Codec::kLz4Hadoop, 208, 30, 24, "0000000000004540cdcccccccccc1e400000000000104540"},
      {"non_hadoop_lz4_compressed", Codec::kLz4Hadoop, 18, 18, 16, "c07afc5e00000000c17afc5e00000000"},
      {"non_hadoop_lz4_compressed", Codec::kLz4Hadoop, 213, 15, 14, "0300000061626303000000646566"},
      {"non_hadoop_lz4_compressed", Codec::kLz4Hadoop, 347, 22, 24, "0000000000004540cdcccccccccc1e400000000000104540"},
  };
  const auto read = [](std::string_view name, size_t offset, size_t size) {
    std::ifstream file(FRAZIL_TEST_CORPORA "/parquet-testing/data/" + std::string(name) + ".parquet", std::ios::binary);
    std::string bytes(size, '\0');
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    EXPECT_TRUE(file.good()) << name;
    return bytes;
  };
  for (const Page& page : pages) {
    const std::string bytes = read(page.file, page.offset, page.compressed_size);
    EXPECT_EQ(encode_hex(decompress(page.codec, bytes, page.size)), page.expected_hex) << page.file << page.offset;
    EXPECT_EQ(encode_hex(decompress_unsized(page.codec, bytes)), page.expected_hex) << page.file << page.offset;
  }
  // The same 10,000 strings, once in several Hadoop blocks, once in one LZ4 block.
  const std::string hadoop = decompress(Codec::kLz4Hadoop, read("hadoop_lz4_compressed_larger", 33, 358322), 400000);
  const std::string raw = decompress(Codec::kLz4Raw, read("lz4_raw_compressed_larger", 107, 380377), 400000);
  EXPECT_EQ(hadoop.substr(0, 12), std::string("\x24\0\0\0", 4) + "c7ce6bef");
  EXPECT_EQ(hadoop, raw);
  // A gzip page of two members: 513 int64, from a level and a value section.
  const std::string members = decompress(Codec::kGzip, read("concatenated_gzip_members", 52, 1419).substr(3), 4104);
  EXPECT_EQ(encode_hex(members.substr(0, 16)), "01000000000000000200000000000000");
  EXPECT_EQ(encode_hex(members.substr(4096)), "0102000000000000");
  // 1 GiB from 1,627 bytes.
  const std::string bomb = read("large_string_map.brotli", 23, 1627);
  EXPECT_THROW(decompress_unsized(Codec::kBrotli, bomb, 1 << 20), CorruptError);
  EXPECT_THROW(decompress(Codec::kBrotli, bomb, 1 << 20), CorruptError);
}

TEST(Codec, ReadsCompressedTableMetadata) {
  std::ostringstream content;
  content << std::ifstream(FRAZIL_TEST_CORPORA "/iceberg-metadata/iceberg-go/TableMetadataV2Valid.zstd.metadata.json",
                           std::ios::binary)
                 .rdbuf();
  const std::string text = decompress_unsized(Codec::kZstd, content.str());
  EXPECT_THAT(text, testing::StartsWith("{"));
  EXPECT_THAT(text, testing::HasSubstr("\"format-version\":2,"));
}

TEST(Codec, JoinsConcatenatedStreams) {
  const std::string a = sample_text(1000);
  const std::string b = sample_text(70000);
  for (Codec codec : {Codec::kGzip, Codec::kZstd, Codec::kLz4Frame, Codec::kLz4Hadoop}) {
    const std::string joined = compress(codec, a) + compress(codec, "") + compress(codec, b) + compress(codec, a);
    EXPECT_EQ(decompress(codec, joined, 2 * a.size() + b.size()), a + b + a) << to_string(codec);
    EXPECT_EQ(decompress_unsized(codec, joined), a + b + a) << to_string(codec);
    EXPECT_THROW(decompress(codec, joined, a.size()), CorruptError) << to_string(codec);
  }
}

TEST(Codec, PassesOverSkippableFrames) {
  const std::string skippable("\x5A\x2A\x4D\x18\x03\0\0\0xyz", 11);
  for (Codec codec : {Codec::kZstd, Codec::kLz4Frame}) {
    const std::string frame = compress(codec, kText);
    EXPECT_EQ(decompress(codec, skippable + frame + skippable, kText.size()), kText) << to_string(codec);
    EXPECT_EQ(decompress_unsized(codec, skippable + frame), kText) << to_string(codec);
    EXPECT_EQ(decompress_unsized(codec, skippable), "") << to_string(codec);
    EXPECT_THROW(decompress_unsized(codec, frame + skippable.substr(0, 10)), CorruptError) << to_string(codec);
  }
}

TEST(Codec, RefusesBytesBehindTheEnd) {
  for (Codec codec : kCodecs) {
    if (codec == Codec::kNone) continue;
    const std::string frame = compress(codec, kText);
    EXPECT_THROW(decompress(codec, frame + "\1garbage", kText.size()), CorruptError) << to_string(codec);
  }
  EXPECT_THROW(decompress(Codec::kBrotli, unhex(kSamples[13].hex) + "x", kText.size()), CorruptError);
  EXPECT_EQ(decompress(Codec::kGzip, compress(Codec::kGzip, kText) + std::string(100, '\0'), kText.size()), kText);
  EXPECT_EQ(decompress(Codec::kDeflate, compress(Codec::kDeflate, kText) + "1234", kText.size()), kText);
  EXPECT_THROW(decompress(Codec::kDeflate, compress(Codec::kDeflate, kText) + "12345", kText.size()), CorruptError);
}

TEST(Codec, StopsAtTheMaximumAndAtTheBudget) {
  const std::string zeros(8 << 20, '\0');
  for (Codec codec : kCodecs) {
    if (codec == Codec::kNone) continue;
    const std::string bomb = compress(codec, zeros);
    SCOPED_TRACE(std::string(to_string(codec)) + " of " + std::to_string(bomb.size()) + " bytes");
    EXPECT_EQ(decompress_unsized(codec, bomb, zeros.size()), zeros);
    EXPECT_THROW(decompress_unsized(codec, bomb, zeros.size() - 1), CorruptError);
    EXPECT_THROW(decompress_unsized(codec, bomb, 1000), CorruptError);
    EXPECT_THROW(decompress_unsized(codec, bomb, 0), CorruptError);
    MemoryPool small({.budget_bytes = 2 << 20});
    Decompressor decompressor(small);
    EXPECT_THROW(decompressor.decompress_unsized(codec, bytes_of(bomb), 64 << 20), MemoryLimitError);
    EXPECT_LE(small.stats().held_peak_bytes, 2u << 20);
  }
}

TEST(Codec, BelievesNoSizeThatTheLengthMakesImpossible) {
  const std::pair<Codec, std::string_view> cases[] = {
      {Codec::kSnappy, "ffffffff0f00"},                              // 4 GiB
      {Codec::kSnappy, "ffffffffff00"},                              // not even a size
      {Codec::kZstd, "28b52ffde000000000000000100100000000"},        // 2^60
      {Codec::kZstd, "28b52ffda0ffffffff01000000"},                  // 4 GiB - 1
      {Codec::kGzip, "1f8b0800000000000203030000000000ffffffff"},    // 4 GiB - 1
      {Codec::kLz4Frame, "04224d1868400000000000000010e000000000"},  // 2^60
      {Codec::kLz4Hadoop, "7fffffff000000021000"},                   // 2 GiB
      {Codec::kLz4Hadoop, "000000107fffffff1000"},                   // a block of 2 GiB
  };
  for (const auto& [codec, hex] : cases) {
    MemoryPool pool;
    Decompressor decompressor(pool);
    EXPECT_THROW(decompressor.decompress_unsized(codec, bytes_of(unhex(hex)), size_t{1} << 40), CorruptError) << hex;
    EXPECT_LE(pool.stats().held_peak_bytes, 4u << 20) << hex;
  }
}

TEST(Codec, ChargesItsContextsWhileItLives) {
  MemoryPool pool;
  {
    Decompressor decompressor(pool);
    EXPECT_EQ(pool.stats().held_bytes, 0u);
    std::vector<std::byte> output(kText.size());
    decompressor.decompress(Codec::kZstd, bytes_of(compress(Codec::kZstd, kText)), output);
    const size_t with_zstd = pool.stats().held_bytes;
    EXPECT_GT(with_zstd, 64u << 10);
    decompressor.decompress(Codec::kGzip, bytes_of(compress(Codec::kGzip, kText)), output);
    EXPECT_GT(pool.stats().held_bytes, with_zstd);
    const size_t with_both = pool.stats().held_bytes;
    decompressor.decompress(Codec::kBrotli, bytes_of(unhex(kSamples[13].hex)), output);
    EXPECT_EQ(pool.stats().held_bytes, with_both);
    EXPECT_GT(pool.stats().held_peak_bytes, with_both);
    // A second use makes nothing new.
    decompressor.decompress(Codec::kZstd, bytes_of(compress(Codec::kZstd, kText)), output);
    EXPECT_EQ(pool.stats().held_bytes, with_both);
    Decompressor moved = std::move(decompressor);
    moved.decompress(Codec::kZstd, bytes_of(compress(Codec::kZstd, kText)), output);
  }
  EXPECT_EQ(pool.stats().held_bytes, 0u);

  for (Codec codec : {Codec::kZstd, Codec::kGzip, Codec::kBrotli}) {
    MemoryPool tiny({.budget_bytes = 8 << 10});
    Decompressor decompressor(tiny);
    std::vector<std::byte> output(kText.size());
    const std::string input = codec == Codec::kBrotli ? unhex(kSamples[13].hex) : compress(codec, kText);
    EXPECT_THROW(decompressor.decompress(codec, bytes_of(input), output), MemoryLimitError) << to_string(codec);
    EXPECT_EQ(tiny.stats().held_bytes, 0u) << to_string(codec);
  }
}

TEST(Codec, ChargesItsContextsToAPromise) {
  for (Codec codec : {Codec::kZstd, Codec::kGzip, Codec::kBrotli}) {
    SCOPED_TRACE(to_string(codec));
    MemoryPool pool({.budget_bytes = 1 << 20});
    Reservation reservation = pool.reserve(1 << 20);
    Decompressor decompressor(pool);
    std::string output(kText.size(), '\0');
    const std::span<std::byte> target = std::as_writable_bytes(std::span(output));
    const std::string input = codec == Codec::kBrotli ? unhex(kSamples[13].hex) : compress(codec, kText);
    EXPECT_THROW(decompressor.decompress(codec, bytes_of(input), target), MemoryLimitError);
    {
      MemoryPool way(reservation);
      decompressor.decompress(codec, bytes_of(input), target, &way);
    }
    EXPECT_EQ(output, kText);
    EXPECT_EQ(decompressor.charged_bytes() > 0, codec != Codec::kBrotli);
    EXPECT_EQ(reservation.available(), (1 << 20) - decompressor.charged_bytes());
  }
}

// LZ4F's frames with every setting, which our own frame reader must take as LZ4F means them.
TEST(Lz4Frame, ReadsEverySettingOfTheReferenceWriter) {
  const std::string long_text = sample_text(600000);
  std::string noise(300000, '\0');
  uint64_t state = 7;
  for (char& c : noise) c = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
  for (const std::string& text : {std::string(), std::string("x"), long_text, noise, noise + long_text + noise}) {
    for (LZ4F_blockSizeID_t block_size : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB}) {
      for (int flags = 0; flags < 16; ++flags) {
        const std::string frame = compressors::lz4_frame(text, {.block_size = block_size,
                                                                .linked = (flags & 1) != 0,
                                                                .content_checksum = (flags & 2) != 0,
                                                                .block_checksums = (flags & 4) != 0,
                                                                .content_size = (flags & 8) != 0 && !text.empty()});
        EXPECT_TRUE(decompress(Codec::kLz4Frame, frame, text.size()) == text) << flags << " " << block_size;
        EXPECT_TRUE(decompress_unsized(Codec::kLz4Frame, frame) == text) << flags << " " << block_size;
      }
    }
  }
}

TEST(Lz4Frame, NoticesEachFlippedBitUnderChecksums) {
  const std::string text = sample_text(300);
  const std::string frame =
      compressors::lz4_frame(text, {.content_checksum = true, .block_checksums = true, .content_size = true});
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::string changed = frame;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    // Flipped into a skippable frame's magic it is one, if its length fits; here none does.
    EXPECT_THROW(decompress(Codec::kLz4Frame, changed, text.size()), CorruptError) << bit;
  }
}

TEST(Lz4Hadoop, ReadsBlocksOfSeveralChunks) {
  const std::string text = sample_text(100000);
  for (size_t block : {size_t{100000}, size_t{65536}, size_t{1000}}) {
    for (size_t chunk : {size_t{100000}, size_t{4096}, size_t{777}}) {
      const std::string framed = compressors::lz4_hadoop(text, block, chunk);
      EXPECT_TRUE(decompress(Codec::kLz4Hadoop, framed, text.size()) == text) << block << " " << chunk;
      EXPECT_TRUE(decompress_unsized(Codec::kLz4Hadoop, framed) == text) << block << " " << chunk;
    }
  }
}

TEST(Deflate, ReadsEveryLevelAndStrategyOfZlib) {
  const std::string text = sample_text(100000);
  for (int level = 0; level <= 9; ++level) {
    for (int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      for (auto [codec, bits] :
           {std::pair{Codec::kZlib, 15}, {Codec::kGzip, 31}, {Codec::kGzip, 15}, {Codec::kDeflate, -15}}) {
        const std::string stream = compressors::deflate(text, bits, level, strategy);
        EXPECT_TRUE(decompress(codec, stream, text.size()) == text) << level << " " << strategy << " " << bits;
      }
    }
  }
}

TEST(Zstd, ReadsFramesWithAndWithoutTheirSize) {
  const std::string text = sample_text(600000);
  for (int level : {-5, 1, 3, 9}) {
    for (int flags = 0; flags < 4; ++flags) {
      const std::string frame =
          compressors::zstd(text, {.level = level, .content_size = (flags & 1) != 0, .checksum = (flags & 2) != 0});
      EXPECT_TRUE(decompress(Codec::kZstd, frame, text.size()) == text) << level << " " << flags;
      EXPECT_TRUE(decompress_unsized(Codec::kZstd, frame) == text) << level << " " << flags;
    }
  }
}

RC_GTEST_PROP(Codec, ReturnsWhatWasCompressed, ()) {
  const Codec codec = *rc::gen::elementOf(std::vector<Codec>(kCodecs.begin(), kCodecs.end()));
  // Few letters, repeated: long and short matches, and texts around the sizes where guesses change.
  const auto piece = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcd\0", 5)));
  const std::string text = repeat(piece, *rc::gen::inRange<size_t>(0, 200));
  RC_ASSERT(decompress(codec, compress(codec, text), text.size()) == text);
  RC_ASSERT(decompress_unsized(codec, compress(codec, text)) == text);
  if (!text.empty()) {
    RC_ASSERT_THROWS_AS(decompress(codec, compress(codec, text), text.size() - 1), CorruptError);
  }
  RC_ASSERT_THROWS_AS(decompress(codec, compress(codec, text), text.size() + 1), CorruptError);
}

RC_GTEST_PROP(Codec, NeverLeavesItsSpansOnAnyBytes, (const std::string& bytes)) {
  for (Codec codec : kCodecs) {
    const size_t size = *rc::gen::inRange<size_t>(0, 300);
    try {
      decompress(codec, bytes, size);
    } catch (const CorruptError&) {
    }
    try {
      decompress_unsized(codec, bytes, 1 << 16);
    } catch (const CorruptError&) {
    }
  }
}

}  // namespace
}  // namespace frazil
