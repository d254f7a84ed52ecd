#include "frazil/parquet/chunk_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/bloom_filter_builder.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/parquet/page_index.h"
#include "frazil/parquet/page_index_writer.h"
#include "frazil/parquet/random_columns_test.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr CompressionCodec kCodecs[] = {
    CompressionCodec::kUncompressed, CompressionCodec::kSnappy, CompressionCodec::kGzip,  CompressionCodec::kBrotli,
    CompressionCodec::kLz4,          CompressionCodec::kZstd,   CompressionCodec::kLz4Raw};
constexpr Encoding kEncodings[] = {
    Encoding::kPlain,          Encoding::kRle,           Encoding::kDeltaBinaryPacked, Encoding::kDeltaLengthByteArray,
    Encoding::kDeltaByteArray, Encoding::kRleDictionary, Encoding::kByteStreamSplit};

// One flat column.
struct Column {
  explicit Column(Field field) : schema(Schema::make({std::move(field)})), plan(schema) {}
  const LeafDescription& leaf() const { return plan.leaves()[0]; }

  SchemaPtr schema;
  WriteSchema plan;
};

EncodedChunk encode(const Column& column, const ChunkOptions& options, const std::vector<ArrayPtr>& pieces,
                    MemoryPool& pool) {
  EncoderScratch scratch(pool);
  ChunkEncoder encoder(column.leaf(), options, pool);
  for (const ArrayPtr& piece : pieces) encoder.write({.values = piece.get()}, scratch);
  return encoder.finish(scratch);
}

std::string bytes_of(const EncodedChunk& chunk) {
  std::string bytes;
  for (const Buffer& buffer : chunk.bytes) bytes += buffer.text();
  EXPECT_EQ(bytes.size(), chunk.byte_size);
  return bytes;
}

std::vector<std::string> rows_of(const Array& array) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < array.length; ++i) rows.push_back(value_to_json(array, i));
  return rows;
}

// What our reader makes of the chunk in a file.
std::vector<std::string> read_back(const Column& column, EncodedChunk chunk, MemoryPool& pool) {
  MemoryFileSystem files;
  FileWriter writer(files.open_output("/t/x.parquet"), column.schema, {}, pool);
  std::vector<EncodedChunk> chunks;
  const int64_t rows = chunk.row_count;
  chunks.push_back(std::move(chunk));
  writer.append_row_group(rows, std::move(chunks));
  writer.finish();
  const auto file = files.open_input("/t/x.parquet");
  const auto metadata = read_metadata(*file, pool);
  BatchReader reader(file, metadata,
                     {.columns = request_columns(metadata->schema()),
                      .verify_checksums = ChecksumPolicy::kAlways,
                      .validate_utf8 = true},
                     pool);
  std::vector<std::string> out;
  while (auto batch = reader.next()) {
    validate_full(*batch);
    for (std::string& row : rows_of(*batch->column(0))) out.push_back(std::move(row));
  }
  return out;
}

template <typename T>
ArrayPtr fixed_array(const DataTypePtr& type, const std::vector<T>& values, MemoryPool& pool) {
  FixedWidthBuilder builder(type, pool);
  for (const T& value : values) builder.append(value);
  return builder.finish();
}

ArrayPtr text_array(const std::vector<std::optional<std::string>>& values, MemoryPool& pool,
                    TypeId id = TypeId::kUtf8) {
  BytesBuilder builder(primitive(id), pool);
  for (const auto& value : values) value ? builder.append(*value) : builder.append_null();
  return builder.finish();
}

Field required(DataTypePtr type) {
  return {.name = "a", .type = std::move(type), .nullable = false};
}
Field optional_field(DataTypePtr type) {
  return {.name = "a", .type = std::move(type)};
}

// As the Shredder hands them over: runs are taken apart there.
ArrayPtr random_values(const Column& column, int64_t rows, testing::RandomColumns& random) {
  for (;;) {
    ArrayPtr values = random.batch(column.schema, rows).column(0);
    if (values->type->id() != TypeId::kRunEndEncoded) return values;
  }
}

std::vector<ArrayPtr> cut(const ArrayPtr& array, testing::RandomColumns& random) {
  std::vector<ArrayPtr> pieces;
  for (int64_t at = 0; at < array->length;) {
    const int64_t count = std::min<int64_t>(array->length - at, 1 + random.below(random.coin(2) ? 10 : 7000));
    pieces.push_back(array->slice(at, count));
    at += count;
  }
  return pieces;
}

// Each type, encoding that it has, codec, version, with and without nulls, in whatever pieces.
RC_GTEST_PROP(ChunkEncoder, WritesEveryTypeInEveryEncoding, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RC_LOG() << "seed " << seed << "\n";
  MemoryPool pool;
  testing::RandomColumns random(seed, pool);
  const Field field = random.field("a", 0);
  const Column column(field);
  ChunkOptions options;
  options.codec = kCodecs[random.below(std::ssize(kCodecs))];
  options.may_skip_compression = random.coin(2);
  options.page_v2 = random.coin(2);
  options.page_rows = random.coin(2) ? 20'000 : static_cast<size_t>(1 + random.below(3000));
  options.page_bytes = random.coin(2) ? size_t{1} << 20 : static_cast<size_t>(1 + random.below(5000));
  options.dictionary_bytes = random.coin(3) ? static_cast<size_t>(random.below(2000)) : size_t{2} << 20;
  options.checksums = random.coin(2);
  options.profile = random.coin(5) ? EncodingProfile::kLegacy : EncodingProfile::kCompatible;
  for (Encoding encoding : kEncodings) {
    if (random.coin(7) && has_encoding(column.leaf().file_type.physical, encoding)) options.encoding = encoding;
  }
  RC_LOG() << field.type->to_string() << " as " << (options.encoding ? to_string(*options.encoding) : "chosen") << "\n";
  const int64_t rows = random.coin(3) ? random.below(60'000) : random.below(300);
  const ArrayPtr values = random_values(column, rows, random);
  const std::vector<ArrayPtr> pieces = cut(values, random);
  EncodedChunk chunk = encode(column, options, pieces, pool);
  RC_ASSERT(chunk.row_count == rows);
  RC_ASSERT(chunk.value_count == rows);
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows; ++i) nulls += is_logical_null(*values, i) ? 1 : 0;
  RC_ASSERT(chunk.statistics.null_count == nulls);
  if (options.encoding && *options.encoding != Encoding::kRleDictionary) {
    for (const auto& known : chunk.encoding_stats) {
      RC_ASSERT((known.encoding == *options.encoding || known.encoding == Encoding::kPlain));
    }
  }
  if (rows == 0) return;
  RC_ASSERT(read_back(column, std::move(chunk), pool) == rows_of(*values));
}

RC_GTEST_PROP(ChunkEncoder, GivesTheSamePagesHoweverPiecesAreCut, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RC_LOG() << "seed " << seed << "\n";
  MemoryPool pool;
  testing::RandomColumns random(seed, pool);
  const Field field = random.field("a", 0);
  const Column column(field);
  ChunkOptions options;
  options.page_rows = random.coin(2) ? 20'000 : static_cast<size_t>(1 + random.below(9000));
  options.page_bytes = random.coin(2) ? size_t{1} << 20 : static_cast<size_t>(2000 + random.below(50'000));
  const ArrayPtr values = random_values(column, random.below(50'000), random);
  RC_LOG() << field.type->to_string() << " " << values->length << "\n";
  const std::string whole = bytes_of(encode(column, options, {values}, pool));
  RC_ASSERT(bytes_of(encode(column, options, cut(values, random), pool)) == whole);
}

TEST(ChunkEncoder, ChoosesTheEncodingThatTheDataAsksFor) {
  MemoryPool pool;
  const size_t rows = 50'000;
  uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  const auto numbers = [&](auto&& value) {
    std::vector<int64_t> out(rows);
    for (size_t i = 0; i < rows; ++i) out[i] = static_cast<int64_t>(value(i));
    return fixed_array(primitive(TypeId::kInt64), out, pool);
  };
  const auto doubles = [&](auto&& value) {
    std::vector<double> out(rows);
    for (size_t i = 0; i < rows; ++i) out[i] = value(i);
    return fixed_array(primitive(TypeId::kDouble), out, pool);
  };
  const auto texts = [&](auto&& value) {
    std::vector<std::optional<std::string>> out(rows);
    for (size_t i = 0; i < rows; ++i) out[i] = value(i);
    return text_array(out, pool);
  };
  const struct {
    const char* name;
    ArrayPtr values;
    Encoding encoding;
    size_t bytes_max;
  } cases[] = {
      {"running number", numbers([](size_t i) { return 30 * i; }), Encoding::kDeltaBinaryPacked, 400},
      {"constant", numbers([](size_t) { return 7; }), Encoding::kRleDictionary, 400},
      {"few numbers", numbers([&](size_t) { return (next() >> 33) % 5 * 1'000'003; }), Encoding::kRleDictionary,
       22'000},
      {"jittered clock",
       numbers([&](size_t i) { return 1'700'000'000'000'000 + i * 1'000'000 + (next() >> 33) % 1000; }),
       Encoding::kDeltaBinaryPacked, 80'000},
      {"random numbers", numbers([&](size_t) { return next() ^ next() >> 31; }), Encoding::kPlain, 401'000},
      {"tenths", doubles([](size_t i) { return static_cast<double>(i) * 0.1; }), Encoding::kByteStreamSplit, 230'000},
      {"few doubles", doubles([&](size_t) { return static_cast<double>((next() >> 33) % 50) / 3; }),
       Encoding::kRleDictionary, 45'000},
      {"few texts", texts([&](size_t) { return "label " + std::to_string((next() >> 33) % 1000); }),
       Encoding::kRleDictionary, 70'000},
      {"sorted texts", texts([](size_t i) { return "https://example.com/items/" + std::to_string(1'000'000 + 7 * i); }),
       Encoding::kDeltaByteArray, 60'000},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    const Column column(required(test.values->type));
    EncodedChunk chunk = encode(column, {}, {test.values}, pool);
    EXPECT_EQ(to_string(chunk.encoding_stats.back().encoding), to_string(test.encoding));
    EXPECT_LE(chunk.byte_size, test.bytes_max);
    EXPECT_TRUE(read_back(column, std::move(chunk), pool) == rows_of(*test.values));

    ChunkOptions legacy;
    legacy.profile = EncodingProfile::kLegacy;
    const Encoding chosen = encode(column, legacy, {test.values}, pool).encoding_stats.back().encoding;
    EXPECT_TRUE(chosen == Encoding::kPlain || chosen == Encoding::kPlainDictionary) << to_string(chosen);
  }
}

// Memory of pages goes from chunk to chunk; nothing of their contents does.
TEST(ChunkEncoder, GivesTheSameBytesWithUsedScratch) {
  MemoryPool pool;
  const Column numbers({.name = "n", .type = primitive(TypeId::kInt64)});
  const Column texts({.name = "t", .type = primitive(TypeId::kUtf8)});
  std::vector<int64_t> values;
  std::vector<std::optional<std::string>> words;
  for (int64_t i = 0; i < 30'000; ++i) {
    values.push_back(i * i % 40'009);
    words.emplace_back(i % 7 == 0 ? std::nullopt : std::optional("w" + std::to_string(i * i % 211)));
  }
  const ArrayPtr long_numbers = fixed_array(primitive(TypeId::kInt64), values, pool);
  const ArrayPtr long_texts = text_array(words, pool);
  EncoderScratch used(pool);
  for (const int64_t rows : {30'000, 3, 500, 21'000, 1}) {
    for (const bool is_text : {false, true}) {
      const Column& column = is_text ? texts : numbers;
      const ArrayPtr piece = (is_text ? long_texts : long_numbers)->slice(0, rows);
      ChunkEncoder encoder(column.leaf(), {}, pool);
      encoder.write({.values = piece.get()}, used);
      EXPECT_EQ(bytes_of(encoder.finish(used)), bytes_of(encode(column, {}, {piece}, pool))) << rows << " rows";
    }
  }
}

// Frames of codecs are larger than a page of next to nothing.
TEST(ChunkEncoder, LeavesTinyChunksUncompressed) {
  MemoryPool pool;
  const Column column({.name = "n", .type = primitive(TypeId::kInt64)});
  const ArrayPtr constant = fixed_array(primitive(TypeId::kInt64), std::vector<int64_t>(10'000, 42), pool);
  const EncodedChunk chunk = encode(column, {}, {constant}, pool);
  EXPECT_EQ(chunk.codec, CompressionCodec::kUncompressed);
  EXPECT_EQ(chunk.byte_size, chunk.uncompressed_size);
  EXPECT_EQ(encode(column, {.may_skip_compression = false}, {constant}, pool).codec, CompressionCodec::kZstd);
}

TEST(ChunkEncoder, LeavesADictionaryThatGrows) {
  MemoryPool pool;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 60'000; ++i) values.push_back(i % 100 * 1'000'003);
  for (int64_t i = 0; i < 60'000; ++i) values.push_back(i * i * 77 % 1'000'000'007);
  const ArrayPtr array = fixed_array(primitive(TypeId::kInt64), values, pool);
  const Column column(required(array->type));
  EncodedChunk chunk = encode(column, {}, {array}, pool);
  EXPECT_GT(chunk.dictionary_page_size, 0u);
  ASSERT_GE(chunk.encoding_stats.size(), 3u);
  EXPECT_EQ(chunk.encoding_stats[1].encoding, Encoding::kRleDictionary);
  EXPECT_NE(chunk.encoding_stats[2].encoding, Encoding::kRleDictionary);
  EXPECT_FALSE(chunk.statistics.distinct_count);
  EXPECT_TRUE(read_back(column, std::move(chunk), pool) == rows_of(*array));
}

TEST(ChunkEncoder, TakesTheCodesOfDictionaryArraysAsTheyAre) {
  MemoryPool pool;
  // Entries: one unused, one twice, one null.
  auto array = std::make_shared<Array>();
  array->type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  array->dictionary = text_array({"unused", "b", "a", std::nullopt, "b"}, pool);
  std::vector<int8_t> codes;
  for (int i = 0; i < 10'000; ++i) codes.push_back(static_cast<int8_t>(1 + i % 4));
  array->length = std::ssize(codes);
  array->buffers[1] = pool.copy(std::as_bytes(std::span(codes)));
  array->null_count = 0;
  const Column column(optional_field(array->type));
  EncodedChunk chunk = encode(column, {}, {array, array->slice(5, 1000)}, pool);
  EXPECT_EQ(chunk.statistics.null_count, 2500 + 250);
  EXPECT_EQ(chunk.statistics.distinct_count, 2);
  ASSERT_TRUE(chunk.statistics.bounds);
  EXPECT_EQ(chunk.statistics.bounds->min, "a");
  EXPECT_EQ(chunk.statistics.bounds->max, "b");
  std::vector<std::string> expected;
  for (int i = 0; i < 11'000; ++i) {
    const int code = 1 + (i < 10'000 ? i : i - 10'000 + 5) % 4;
    expected.push_back(code == 2 ? "\"a\"" : code == 3 ? "null" : "\"b\"");
  }
  EXPECT_TRUE(read_back(column, std::move(chunk), pool) == expected);

  codes[77] = 5;
  array->buffers[1] = pool.copy(std::as_bytes(std::span(codes)));
  EXPECT_THROW(encode(column, {}, {array}, pool), Error);
  codes[77] = -1;
  array->buffers[1] = pool.copy(std::as_bytes(std::span(codes)));
  EXPECT_THROW(encode(column, {}, {array}, pool), Error);
}

TEST(ChunkEncoder, TakesNullsOfADictionaryWithoutEntries) {
  MemoryPool pool;
  auto array = std::make_shared<Array>();
  array->type = dictionary(primitive(TypeId::kInt32), primitive(TypeId::kUtf8));
  array->dictionary = text_array({}, pool);
  array->length = 100;
  MutableBuffer bits = pool.allocate_zeroed(13);
  MutableBuffer codes = pool.allocate_zeroed(400);
  array->buffers[0] = std::move(bits).freeze();
  array->buffers[1] = std::move(codes).freeze();
  array->null_count = 100;
  const Column column(optional_field(array->type));
  EncodedChunk chunk = encode(column, {}, {array}, pool);
  EXPECT_EQ(chunk.statistics.null_count, 100);
  EXPECT_TRUE(read_back(column, std::move(chunk), pool) == std::vector<std::string>(100, "null"));
}

// ---- Statistics ----

TEST(ChunkEncoder, BoundsZerosByBothOfThemAndLeavesOutNaNs) {
  MemoryPool pool;
  const double nan = std::nan("");
  const auto bounds_of = [&](const std::vector<double>& values, ChunkOptions options = {}) {
    const ArrayPtr array = fixed_array(primitive(TypeId::kDouble), values, pool);
    return encode(Column(required(array->type)), options, {array}, pool);
  };
  const auto value = [](const std::string& bytes) {
    double out = 0;
    std::memcpy(&out, bytes.data(), 8);
    return out;
  };
  for (const std::optional<Encoding> encoding : {std::optional<Encoding>(), {Encoding::kPlain}}) {
    const ChunkOptions options{.encoding = encoding};
    const EncodedChunk zeros = bounds_of({0.0, nan, 0.0}, options);
    ASSERT_TRUE(zeros.statistics.bounds);
    EXPECT_TRUE(std::signbit(value(zeros.statistics.bounds->min)));
    EXPECT_EQ(value(zeros.statistics.bounds->min), 0);
    EXPECT_FALSE(std::signbit(value(zeros.statistics.bounds->max)));
    EXPECT_EQ(zeros.statistics.nan_count, 1);
    EXPECT_TRUE(zeros.has_column_index);

    const EncodedChunk negative = bounds_of({-1.5, nan, -0.0, nan}, options);
    EXPECT_EQ(value(negative.statistics.bounds->min), -1.5);
    EXPECT_FALSE(std::signbit(value(negative.statistics.bounds->max)));
    EXPECT_EQ(negative.statistics.nan_count, 2);

    const EncodedChunk nans = bounds_of({nan, nan}, options);
    EXPECT_FALSE(nans.statistics.bounds);
    EXPECT_EQ(nans.statistics.nan_count, 2);
    EXPECT_FALSE(nans.has_column_index);  // a page of only NaN
    EXPECT_FALSE(nans.statistics.distinct_count);

    const double infinity = std::numeric_limits<double>::infinity();
    const EncodedChunk infinite = bounds_of({infinity, infinity}, options);
    ASSERT_TRUE(infinite.statistics.bounds);
    EXPECT_EQ(value(infinite.statistics.bounds->min), infinity);
  }
}

TEST(ChunkEncoder, CutsTheBoundsOfTextBetweenCodePoints) {
  MemoryPool pool;
  const auto bounds_of = [&](const std::string& text, TypeId id = TypeId::kUtf8) {
    const ArrayPtr array = text_array({text}, pool, id);
    return encode(Column(required(array->type)), {.statistics_length = 16, .column_index_length = 8}, {array}, pool);
  };
  const EncodedChunk ascii = bounds_of("abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(ascii.statistics.bounds->min, "abcdefghijklmnop");
  EXPECT_EQ(ascii.statistics.bounds->max, "abcdefghijklmnoq");
  EXPECT_FALSE(ascii.statistics.bounds->is_min_exact);
  EXPECT_FALSE(ascii.statistics.bounds->is_max_exact);
  EXPECT_EQ(ascii.pages[0].bounds->min, "abcdefgh");
  EXPECT_EQ(ascii.pages[0].bounds->max, "abcdefgi");

  const EncodedChunk exact = bounds_of("abcdefghijklmnop");
  EXPECT_EQ(exact.statistics.bounds->max, "abcdefghijklmnop");
  EXPECT_TRUE(exact.statistics.bounds->is_max_exact);

  // 15 bytes and a code point of two that would be cut; U+D7FF is followed by U+E000.
  const EncodedChunk cut = bounds_of("abcdefghijklmno\u00e9xyz");
  EXPECT_EQ(cut.statistics.bounds->min, "abcdefghijklmno");
  EXPECT_EQ(cut.statistics.bounds->max, "abcdefghijklmnp");
  const EncodedChunk surrogates = bounds_of("abcdefghijklm\uD7FFxyz");
  EXPECT_EQ(surrogates.statistics.bounds->max, "abcdefghijklm\uE000");

  std::string highest;
  for (int i = 0; i < 17; ++i) highest += "\U0010FFFF";
  const EncodedChunk full = bounds_of(highest);
  EXPECT_EQ(full.statistics.bounds->max, highest);
  EXPECT_TRUE(full.statistics.bounds->is_max_exact);
  EXPECT_EQ(full.statistics.bounds->min, highest.substr(0, 16));

  const EncodedChunk bytes = bounds_of("abcdefghijklmn\xFF\xFF\xFF\xFF", TypeId::kBinary);
  EXPECT_EQ(bytes.statistics.bounds->max, "abcdefghijklmo");
  const EncodedChunk all_ff = bounds_of(std::string(17, '\xFF'), TypeId::kBinary);
  EXPECT_EQ(all_ff.statistics.bounds->max, std::string(17, '\xFF'));
  EXPECT_TRUE(all_ff.statistics.bounds->is_max_exact);
}

TEST(ChunkEncoder, OrdersEachTypeAsItsSpecificationDoes) {
  MemoryPool pool;
  const auto bounds_of = [&](const ArrayPtr& array, Metadata metadata = {}) {
    Field field = required(array->type);
    field.metadata = std::move(metadata);
    return encode(Column(field), {}, {array}, pool).statistics.bounds;
  };
  const auto unsigned_bounds = bounds_of(fixed_array<uint32_t>(primitive(TypeId::kUInt32), {1, 0xFFFFFFFF}, pool));
  EXPECT_EQ(unsigned_bounds->min, std::string("\1\0\0\0", 4));
  EXPECT_EQ(unsigned_bounds->max, "\xFF\xFF\xFF\xFF");
  const auto signed_bounds = bounds_of(fixed_array<int32_t>(primitive(TypeId::kInt32), {1, -1}, pool));
  EXPECT_EQ(signed_bounds->min, "\xFF\xFF\xFF\xFF");
  // Big-endian two's complement.
  const auto decimals = bounds_of(fixed_array<Int128>(decimal(20, 0), {Int128{-5}, Int128{3}, Int128{-300}}, pool));
  EXPECT_EQ(decimals->min, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE\xD4");
  EXPECT_EQ(decimals->max, std::string("\0\0\0\0\0\0\0\0\3", 9));
  // Unsigned bytes, never cut.
  FixedWidthBuilder uuids(fixed_size_binary(16), pool);
  uuids.append_bytes(std::string(16, '\x20'));
  uuids.append_bytes(std::string(16, '\x90'));
  const auto uuid_bounds = bounds_of(uuids.finish(), {{"ARROW:extension:name", "arrow.uuid"}});
  EXPECT_EQ(uuid_bounds->min, std::string(16, '\x20'));
  EXPECT_EQ(uuid_bounds->max, std::string(16, '\x90'));
  // -2, 1, NaN, and a zero as the greatest.
  const auto halves = bounds_of(fixed_array<uint16_t>(primitive(TypeId::kHalfFloat), {0xC000, 0x7E00, 0x8000}, pool));
  EXPECT_EQ(halves->min, std::string("\0\xC0", 2));
  EXPECT_EQ(halves->max, std::string("\0\0", 2));
  // No order.
  EXPECT_FALSE(bounds_of(fixed_array<int32_t>(primitive(TypeId::kIntervalMonths), {1, 2}, pool)));
  EXPECT_FALSE(bounds_of(text_array({"a"}, pool, TypeId::kBinary), {{"ARROW:extension:name", "geoarrow.wkb"}}));
}

TEST(ChunkEncoder, KeepsTheBoundsAndRowsOfPages) {
  MemoryPool pool;
  std::vector<std::optional<std::string>> texts;
  for (int i = 0; i < 1000; ++i) {
    texts.push_back(i / 100 == 3 ? std::nullopt : std::optional(std::string(1, static_cast<char>('a' + i / 100))));
  }
  const ArrayPtr array = text_array(texts, pool);
  const Column column(optional_field(array->type));
  for (const bool dictionary : {true, false}) {
    const EncodedChunk chunk = encode(column, {.page_rows = 100, .dictionary = dictionary}, {array}, pool);
    ASSERT_EQ(chunk.pages.size(), 10u);
    EXPECT_TRUE(chunk.has_column_index);
    EXPECT_EQ(chunk.boundary_order, BoundaryOrder::kAscending);
    uint64_t end = chunk.dictionary_page_size;
    for (size_t i = 0; i < 10; ++i) {
      const EncodedPage& page = chunk.pages[i];
      EXPECT_EQ(page.offset, end);
      end += page.compressed_size;
      EXPECT_EQ(page.first_row, i * 100);
      EXPECT_EQ(page.row_count, 100u);
      EXPECT_EQ(page.null_count, i == 3 ? 100 : 0);
      EXPECT_EQ(page.unencoded_bytes, i == 3 ? 0 : 100);
      EXPECT_EQ(page.bounds.has_value(), i != 3);
      if (page.bounds) {
        EXPECT_EQ(page.bounds->min, std::string(1, static_cast<char>('a' + i)));
      }
    }
    EXPECT_EQ(end, chunk.byte_size);
    EXPECT_EQ(chunk.sizes.unencoded_byte_array_bytes, 900);
  }
}

TEST(ChunkEncoder, CountsLevelsAPageIfAsked) {
  MemoryPool pool;
  const ArrayPtr array = make_int64({1, 2, 3, 4});
  const DataTypePtr type = list(optional_field(array->type));
  const Column column(optional_field(type));
  // [1, 2], null | [], [null, 4]: a slot for each element, 3 has none.
  const std::vector<uint8_t> definition = {3, 3, 0, 1, 2, 3};
  const std::vector<uint8_t> repetition = {0, 1, 0, 0, 0, 1};
  for (const bool asked : {false, true}) {
    ChunkEncoder encoder(column.leaf(), {.page_rows = 2, .page_histograms = asked}, pool);
    EncoderScratch scratch(pool);
    encoder.write(
        {.values = array.get(), .definition_levels = definition, .repetition_levels = repetition, .slot_definition = 2},
        scratch);
    const EncodedChunk chunk = encoder.finish(scratch);
    ASSERT_EQ(chunk.pages.size(), 2u);
    EXPECT_EQ(chunk.sizes.definition_histogram, (std::vector<int64_t>{1, 1, 1, 3}));
    EXPECT_EQ(chunk.sizes.repetition_histogram, (std::vector<int64_t>{4, 2}));
    using Counts = std::vector<int64_t>;
    EXPECT_EQ(chunk.pages[0].definition_histogram, asked ? (Counts{1, 0, 0, 2}) : Counts());
    EXPECT_EQ(chunk.pages[0].repetition_histogram, asked ? (Counts{2, 1}) : Counts());
    EXPECT_EQ(chunk.pages[1].definition_histogram, asked ? (Counts{0, 1, 1, 1}) : Counts());
    EXPECT_EQ(chunk.pages[1].repetition_histogram, asked ? (Counts{2, 1}) : Counts());
    // In the column index (parquet.thrift, fields 6 and 7; compact lists of zigzag varints) one page after the other, and
    // readers pass over them.
    GrowingBuffer index(pool);
    write_column_index(index, chunk);
    const Buffer bytes = index.freeze();
    EXPECT_EQ(parse_column_index(bytes.span(), 0, 2).null_counts, (std::vector<int64_t>{1, 2}));
    const std::string lists("\x19\x46\4\2\4\2\x19\x86\2\0\0\4\0\2\2\2\0", 17);
    EXPECT_EQ(bytes.text().ends_with(lists), asked);
  }
}

// ---- Bloom filters ----

TEST(ChunkEncoder, BuildsBloomFiltersOfTheSizeThatTheValuesNeed) {
  MemoryPool pool;
  const auto filter_of = [&](int64_t distinct, ChunkOptions options) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 40'000; ++i) values.push_back(i % distinct * 1'000'003);
    const ArrayPtr array = fixed_array(primitive(TypeId::kInt64), values, pool);
    options.bloom_filter = true;
    return encode(Column(required(array->type)), options, {array}, pool).bloom_filter;
  };
  for (const bool dictionary : {true, false}) {
    const ChunkOptions options{.dictionary = dictionary};
    // 12.2 bits a value at 1 %, rounded up to a power of two.
    EXPECT_EQ(filter_of(1000, options).size(), 2048u);
    EXPECT_EQ(filter_of(1, options).size(), 32u);
    EXPECT_EQ(filter_of(30'000, options).size(), 65536u);
    EXPECT_EQ(filter_of(1000, {.dictionary = dictionary, .bloom_ndv = 10'000}).size(), 16384u);
    EXPECT_EQ(filter_of(30'000, {.dictionary = dictionary, .bloom_bytes_max = 1024}).size(), 1024u);
    const BloomFilter filter(filter_of(1000, options));
    size_t false_positives = 0;
    for (int64_t i = 0; i < 11'000; ++i) {
      const int64_t value = i * 1'000'003;
      const bool may = filter.may_contain(std::as_bytes(std::span(&value, 1)));
      if (i < 1000) {
        EXPECT_TRUE(may) << i;
      } else {
        false_positives += may ? 1 : 0;
      }
    }
    EXPECT_LT(false_positives, 200u);  // of 10,000, at 1 %
  }
  EXPECT_THROW(filter_of(1, {.bloom_fpp = 1}), Error);
  EXPECT_THROW(filter_of(1, {.bloom_fpp = 0}), Error);
}

// ---- Refusals and bounds ----

TEST(ChunkEncoder, RefusesWhatTheFileCannotHoldAndNamesTheColumn) {
  MemoryPool pool;
  const auto refuses = [&](const Field& field, const ArrayPtr& array, const std::string& reason) {
    try {
      encode(Column(field), {}, {array}, pool);
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_THAT(std::string(error.what()), HasSubstr(reason));
      EXPECT_THAT(std::string(error.what()), HasSubstr("writing column 'a'"));
    }
  };
  refuses(required(primitive(TypeId::kUtf8)), text_array({"x", std::nullopt}, pool), "nulls in a required column");
  refuses(required(primitive(TypeId::kInt32)), text_array({"x"}, pool), "an array of utf8 for a column of int32");
  refuses(required(timestamp(TimeUnit::kSecond)), fixed_array<int64_t>(timestamp(TimeUnit::kSecond), {INT64_MAX}, pool),
          "out of the range of milliseconds");
  refuses(required(decimal(9, 0)), fixed_array<Int128>(decimal(9, 0), {Int128{1} << 40}, pool), "more than 9 digits");
  refuses(required(decimal(20, 0)), fixed_array<Int128>(decimal(20, 0), {Int128{1} << 100}, pool),
          "more than 20 digits");
  refuses(required(primitive(TypeId::kIntervalMonths)),
          fixed_array<int32_t>(primitive(TypeId::kIntervalMonths), {-1}, pool), "interval");
  refuses(required(primitive(TypeId::kDate64)), fixed_array<int64_t>(primitive(TypeId::kDate64), {INT64_MAX}, pool),
          "out of the range of 32 bits");
}

TEST(ChunkEncoder, RefusesOptionsThatCannotBe) {
  MemoryPool pool;
  const Column column(required(primitive(TypeId::kInt32)));
  const ChunkOptions bad[] = {{.codec = CompressionCodec::kLzo},
                              {.level = 99},
                              {.page_bytes = 0},
                              {.page_bytes = size_t{2} << 30},
                              {.encoding = Encoding::kDeltaByteArray},
                              {.encoding = Encoding::kRle},
                              {.encoding = Encoding::kBitPacked},
                              {.encoding = Encoding::kAlp}};
  for (const ChunkOptions& options : bad) EXPECT_THROW(ChunkEncoder(column.leaf(), options, pool), Error);
}

TEST(ChunkEncoder, TakesItsMemoryFromThePool) {
  const Column column(required(primitive(TypeId::kInt64)));
  MemoryPool big;
  std::vector<int64_t> values(200'000);
  uint64_t state = 1;
  for (int64_t& value : values)
    value = static_cast<int64_t>(state = state * 6364136223846793005u + 1442695040888963407u);
  const ArrayPtr array = fixed_array(primitive(TypeId::kInt64), values, big);
  MemoryPool small({.budget_bytes = 1 << 20});
  EXPECT_THROW(encode(column, {}, {array}, small), MemoryLimitError);
  MemoryPool pool;
  {
    EncoderScratch scratch(pool);
    ChunkEncoder encoder(column.leaf(), {}, pool);
    encoder.write({.values = array.get()}, scratch);
    EXPECT_GT(encoder.buffered_bytes(), 1'500'000u);
    EXPECT_LT(encoder.buffered_bytes(), 3'500'000u);
    EXPECT_GT(encoder.encoded_bytes_estimate(), 1'500'000u);
    EXPECT_EQ(encoder.row_count(), 200'000);
    EXPECT_LE(encoder.buffered_bytes() + scratch.buffered_bytes(), pool.stats().held_bytes);
  }
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u);
}

}  // namespace
}  // namespace frazil::parquet
