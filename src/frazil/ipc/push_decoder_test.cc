#include "frazil/ipc/push_decoder.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/compressor.h"
#include "frazil/columnar/pretty.h"
#include "frazil/ipc/messages_test.h"

namespace frazil::ipc {
namespace {

using ::testing::ElementsAre;
using testing::end_of_stream;
using ::testing::HasSubstr;
using testing::made;
using testing::MadeBatch;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Every batch of the stream.
std::vector<RecordBatch> decode(const std::string& stream, ReadOptions options = {.validation = Validation::kFull}) {
  static MemoryPool pool;
  PushDecoder decoder(pool, std::move(options));
  decoder.push(bytes_of(stream));
  std::vector<RecordBatch> batches;
  while (std::optional<RecordBatch> batch = decoder.next()) batches.push_back(*std::move(batch));
  decoder.finish();
  return batches;
}

// The values of column 0 of each batch, as text.
std::vector<std::string> first_columns(const std::vector<RecordBatch>& batches) {
  std::vector<std::string> out;
  for (const RecordBatch& batch : batches) {
    std::string text;
    for (int64_t i = 0; i < batch.row_count(); ++i) {
      if (i > 0) text += ' ';
      text += value_to_json(*batch.column(0), i);
    }
    out.push_back(text);
  }
  return out;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const std::string& stream, ReadOptions options = {.validation = Validation::kFull}) {
  return error_of([&] { decode(stream, std::move(options)); });
}

const Schema kInts({{.name = "a", .type = primitive(TypeId::kInt32)}});
const Schema kCodes({{.name = "a", .type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8))}});

MadeBatch ints(const std::vector<int32_t>& values) {
  MadeBatch batch{.length = static_cast<int64_t>(values.size())};
  return batch.node(batch.length).add("").add(values);
}

MadeBatch codes(const std::vector<int8_t>& values) {
  MadeBatch batch{.length = static_cast<int64_t>(values.size())};
  return batch.node(batch.length).add("").add(values);
}

MadeBatch texts(const std::vector<std::string>& values, bool is_delta = false) {
  MadeBatch batch{.length = static_cast<int64_t>(values.size()), .is_dictionary = true, .is_delta = is_delta};
  std::vector<int32_t> offsets{0};
  std::string data;
  for (const std::string& value : values) {
    data += value;
    offsets.push_back(static_cast<int32_t>(data.size()));
  }
  return batch.node(batch.length).add("").add(offsets).add(data);
}

// ---- Framing ----

TEST(PushDecoder, SaysWhatItNeedsAndNeedsNoMore) {
  const std::string stream = made(kInts) + made(ints({1, 2})) + end_of_stream();
  MemoryPool pool;
  PushDecoder decoder(pool);
  size_t at = 0;
  size_t steps = 0;
  std::vector<RecordBatch> batches;
  while (decoder.next_required_size() > 0) {
    const size_t size = decoder.next_required_size();
    ASSERT_LE(at + size, stream.size());
    decoder.push(bytes_of(stream).subspan(at, size));
    at += size;
    ++steps;
    while (std::optional<RecordBatch> batch = decoder.next()) batches.push_back(*std::move(batch));
  }
  EXPECT_EQ(at, stream.size());
  EXPECT_TRUE(decoder.at_end());
  EXPECT_THAT(first_columns(batches), ElementsAre("1 2"));
  // A prefix in two parts and metadata, of three messages, and a body.
  EXPECT_EQ(steps, 9U);
}

TEST(PushDecoder, SharesBuffersAndCopiesSpans) {
  const std::string stream = made(kInts) + made(ints({1, 2}));
  MemoryPool pool;
  Buffer whole = pool.copy(bytes_of(stream));
  PushDecoder decoder(pool);
  decoder.push(whole);
  const std::optional<RecordBatch> batch = decoder.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->column(0)->buffers[1].owner(), std::as_const(whole).owner());
  whole = Buffer();
  EXPECT_EQ(batch->column(0)->values<int32_t>()[1], 2);
}

TEST(PushDecoder, KeepsBuffersWhoseBatchHasGone) {
  MemoryPool pool;
  Buffer kept;
  {
    PushDecoder decoder(pool);
    const std::string stream = made(kInts) + made(ints({7, 8}));
    decoder.push(pool.copy(bytes_of(stream)));
    const std::optional<RecordBatch> batch = decoder.next();
    kept = batch->column(0)->buffers[1];
  }
  EXPECT_EQ(kept.as<int32_t>()[1], 8);
}

TEST(PushDecoder, IgnoresWhatFollowsTheEnd) {
  EXPECT_THAT(first_columns(decode(made(kInts) + end_of_stream() + "more")), ElementsAre());
  EXPECT_THAT(first_columns(decode(made(kInts) + made(ints({1})) + std::string(4, '\0') + "more")), ElementsAre("1"));
}

TEST(PushDecoder, ReadsFramesWithoutContinuation) {
  MadeBatch batch = ints({1, 2, 3});
  batch.version = kMetadataV4;
  EXPECT_THAT(first_columns(decode(made(kInts) + made(batch, false) + made(ints({4})))), ElementsAre("1 2 3", "4"));
}

TEST(PushDecoder, SaysWhereAStreamIsCut) {
  const std::string stream = made(kInts) + made(ints({1, 2})) + made(ints({3}));
  const size_t first = made(kInts).size();
  const size_t second = first + made(ints({1, 2})).size();
  for (size_t size = 0; size < stream.size(); ++size) {
    const std::string error = error_of(stream.substr(0, size));
    if (size == first || size == second) {
      EXPECT_EQ(error, "no error") << size;
    } else {
      EXPECT_THAT(error, HasSubstr(size == 0 ? "a stream of no bytes" : "a stream ends inside of a message")) << size;
    }
  }
}

TEST(PushDecoder, SurvivesEveryChangedByte) {
  const Schema schema({{.name = "a", .type = primitive(TypeId::kInt32)},
                       {.name = "b", .type = list({.name = "item", .type = primitive(TypeId::kUtf8View)})},
                       {.name = "c", .type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8))}});
  MadeBatch batch{.length = 2, .variadic = {1}};
  batch.node(2, 1).add("\x01").add(std::vector<int32_t>{5, 6});
  batch.node(2).add("").add(std::vector<int32_t>{0, 1, 2}).node(2).add("");
  std::string views(32, '\0');
  views[0] = 3;
  std::memcpy(&views[4], "abc", 3);
  const int32_t long_size = 13;
  std::memcpy(&views[16], &long_size, 4);
  std::memcpy(&views[20], "long", 4);
  batch.add(views).add("long and lost");
  batch.node(2).add("").add(std::vector<int8_t>{0, 1});
  const std::string stream = made(schema) + made(texts({"x", "yy"})) + made(batch) + end_of_stream();
  ASSERT_EQ(error_of(stream), "no error");
  size_t read = 0;
  for (size_t at = 0; at < stream.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = stream;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      try {
        for (const RecordBatch& each : decode(changed)) {
          validate_full(each);
          ++read;
        }
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported)
            << at << ": " << error.what();
      }
    }
  }
  EXPECT_GT(read, 100U);
}

TEST(PushDecoder, TakesMemoryForWhatComesNotForWhatIsClaimed) {
  MadeBatch batch = ints({1});
  batch.body_length = int64_t{1} << 60;
  const std::string stream = made(kInts) + made(batch);
  MemoryPool pool({.budget_bytes = size_t{48} << 20});
  PushDecoder decoder(pool);
  decoder.push(bytes_of(stream));
  EXPECT_FALSE(decoder.next());
  for (int i = 0; i < 10; ++i) {
    const std::span<std::byte> room = decoder.room();
    ASSERT_FALSE(room.empty());
    decoder.filled(std::min<size_t>(room.size(), 1000));
  }
  EXPECT_FALSE(decoder.next());
  EXPECT_THAT(error_of([&] { decoder.finish(); }), HasSubstr("a stream ends inside of a message"));
  // A length of metadata is no better.
  PushDecoder other(pool);
  other.push(bytes_of(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x0F", 8)));
  EXPECT_FALSE(other.next());
  EXPECT_EQ(other.next_required_size(), 0x0FFFFFFFU);
  EXPECT_FALSE(other.room().empty());
}

TEST(PushDecoder, HoldsMessagesToTheLimits) {
  const std::string stream = made(kInts) + made(ints({1, 2, 3, 4}));
  EXPECT_THAT(error_of(stream, {.max_metadata_bytes = 64}), HasSubstr("more than 64"));
  EXPECT_THAT(error_of(stream, {.max_body_bytes = 15}), HasSubstr("a body of 16 bytes, more than 15"));
  EXPECT_EQ(error_of(stream, {.max_body_bytes = 16}), "no error");
}

// A message of another kind, with nothing in it.
std::string of_kind(HeaderTag tag) {
  MemoryPool pool;
  FlatBuilder builder(pool);
  builder.clear();
  FlatShape shape;
  shape.scalar<int16_t>(message_field::kVersion, kMetadataV5)
      .scalar<uint8_t>(message_field::kHeaderTag, static_cast<uint8_t>(tag))
      .offset(message_field::kHeader);
  const FlatPlace message = builder.table(shape);
  builder.point_root(message);
  builder.point(message, message_field::kHeader, builder.table({}));
  return testing::framed(builder.bytes());
}

TEST(PushDecoder, RefusesWhatIsNoStream) {
  EXPECT_THAT(error_of(of_kind(HeaderTag::kTensor)), HasSubstr("a tensor is not read"));
  EXPECT_THAT(error_of(made(kInts) + of_kind(HeaderTag::kSparseTensor)), HasSubstr("a sparse tensor is not read"));
  EXPECT_THAT(error_of(of_kind(static_cast<HeaderTag>(9))), HasSubstr("a message of kind 9 is not read"));
  EXPECT_THAT(error_of(of_kind(HeaderTag::kNone)), HasSubstr("a message of no kind"));
  EXPECT_THAT(error_of("FEA1abcdefgh"), HasSubstr("Feather V1"));
  EXPECT_THAT(error_of(std::string("ARROW2\0\0", 8)), HasSubstr("nearly as a file"));
  EXPECT_THAT(error_of(std::string("\xFF\xFF\xFF\xFF\xFE\xFF\xFF\xFF", 8)), HasSubstr("metadata of -2 bytes"));
  EXPECT_THAT(error_of(end_of_stream()), HasSubstr("before its schema"));
  EXPECT_THAT(error_of(made(ints({1}))), HasSubstr("without a schema before its batches"));
  EXPECT_THAT(error_of(made(kInts) + made(kInts)), HasSubstr("a second schema"));
  MadeBatch old = ints({1});
  old.version = 2;
  EXPECT_THAT(error_of(made(kInts) + made(old)), HasSubstr("metadata of version 3 are not read"));
  old.version = 5;
  EXPECT_THAT(error_of(made(kInts) + made(old)), HasSubstr("metadata of version 6 are not read"));
}

// ---- Batches ----

TEST(BatchDecoder, ChecksCountsAndPlaces) {
  const auto with = [](const std::function<void(MadeBatch&)>& change) {
    MadeBatch batch = ints({1, 2, 3});
    change(batch);
    return error_of(made(kInts) + made(batch), {});
  };
  EXPECT_EQ(with([](MadeBatch&) {}), "no error");
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes.clear(); }), HasSubstr("0 nodes has more in its schema"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers.pop_back(); }), HasSubstr("1 buffers has more in its schema"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[1].length = 11; }), HasSubstr("too short: 11 < 12 bytes"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[1].length = 17; }), HasSubstr("not inside of its body of 16 bytes"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[1].offset = 8; }), HasSubstr("not inside of its body of 16 bytes"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[1].offset = -8; }), HasSubstr("12 bytes at -8"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[1].length = -1; }), HasSubstr("-1 bytes at 0"));
  EXPECT_THAT(with([](MadeBatch& b) { b.buffers[0] = {INT64_MAX, INT64_MAX}; }), HasSubstr("not inside of its body"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].length = -1; }), HasSubstr("-1 values"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].length = INT64_MAX; }), HasSubstr("too short"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].length = 2; }), HasSubstr("another number of values"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].null_count = 4; }), HasSubstr("3 values and 4 nulls"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].null_count = -2; }), HasSubstr("3 values and -2 nulls"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes[0].null_count = 1; }), HasSubstr("too short: 0 < 1 bytes"));
  EXPECT_EQ(with([](MadeBatch& b) { b.nodes[0].null_count = -1; }), "no error");
  EXPECT_THAT(with([](MadeBatch& b) { b.length = -1; }), HasSubstr("a batch of -1 rows"));
  EXPECT_THAT(with([](MadeBatch& b) { b.length = 4; }), HasSubstr("another number of values"));
  EXPECT_THAT(with([](MadeBatch& b) { b.nodes.clear(); }), HasSubstr("reading column 'a' of a batch"));
}

TEST(BatchDecoder, AlignsWhatIsNot) {
  MadeBatch batch{.length = 2};
  batch.node(2).add("").add("xxxx");
  batch.buffers[1] = {1, 8};
  batch.body = std::string("?\1\0\0\0\2\0\0\0", 9);
  EXPECT_THAT(first_columns(decode(made(kInts) + made(batch))), ElementsAre("1 2"));
}

TEST(BatchDecoder, DoesNotCopyABodyForEachColumn) {
  constexpr size_t kColumns = 100;
  std::vector<Field> fields(kColumns, {.name = "a", .type = primitive(TypeId::kInt32)});
  MadeBatch batch{.length = 10000};
  batch.body.resize(40008);
  for (size_t i = 0; i < kColumns; ++i) {
    batch.node(batch.length);
    batch.buffers.push_back({0, 0});
    batch.buffers.push_back({1, 40000});
  }
  EXPECT_THAT(error_of(made(Schema(fields)) + made(batch)), HasSubstr("share the 40008 bytes"));
  // Eight are well, and so are all of them where nothing is copied.
  for (size_t i = 8; i < kColumns; ++i) batch.buffers[2 * i + 1].offset = 8;
  EXPECT_EQ(decode(made(Schema(fields)) + made(batch)).size(), 1U);
}

TEST(BatchDecoder, ReadsBuffersThatShareTheirBytes) {
  const Schema schema(
      {{.name = "a", .type = primitive(TypeId::kInt32)}, {.name = "b", .type = primitive(TypeId::kInt32)}});
  MadeBatch batch = ints({1, 2});
  batch.node(2).add("");
  batch.buffers.push_back(batch.buffers[1]);
  const std::vector<RecordBatch> batches = decode(made(schema) + made(batch));
  EXPECT_EQ(value_to_json(*batches[0].column(1), 1), "2");
}

TEST(BatchDecoder, BoundsWhatHasNoBytes) {
  const int64_t much = int64_t{1} << 40;
  const auto one = [&](DataTypePtr type, MadeBatch batch) {
    return error_of(made(Schema({{.name = "a", .type = std::move(type)}})) + made(batch), {});
  };
  const std::string expected = "without bytes behind them";
  EXPECT_THAT(one(primitive(TypeId::kNull), MadeBatch{.length = much}.node(much)), HasSubstr(expected));
  EXPECT_THAT(one(struct_({}), MadeBatch{.length = much}.node(much).add("")), HasSubstr(expected));
  EXPECT_THAT(one(fixed_size_binary(0), MadeBatch{.length = much}.node(much).add("").add("")), HasSubstr(expected));
  EXPECT_THAT(one(fixed_size_list({.name = "item", .type = primitive(TypeId::kInt8)}, 0),
                  MadeBatch{.length = much}.node(much).add("").node(0).add("").add("")),
              HasSubstr(expected));
  const DataTypePtr runs = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt64), .nullable = false},
                                           {.name = "values", .type = primitive(TypeId::kInt8)});
  EXPECT_THAT(one(runs, MadeBatch{.length = much}.node(much).node(0).add("").add("").node(0).add("").add("")),
              HasSubstr(expected));
  EXPECT_THAT(error_of(made(Schema({})) + made(MadeBatch{.length = much})), HasSubstr("rows without columns"));
  EXPECT_EQ(decode(made(Schema({})) + made(MadeBatch{.length = 5}))[0].row_count(), 5);
}

TEST(BatchDecoder, ChecksChildren) {
  const auto one = [&](DataTypePtr type, const MadeBatch& batch) {
    return error_of(made(Schema({{.name = "a", .type = std::move(type)}})) + made(batch), {});
  };
  const Field item{.name = "item", .type = primitive(TypeId::kInt8)};
  EXPECT_THAT(one(struct_({item}), MadeBatch{.length = 2}.node(2).add("").node(1).add("").add("x")),
              HasSubstr("a child of 1 values is too short for 2"));
  EXPECT_THAT(one(fixed_size_list(item, 2), MadeBatch{.length = 2}.node(2).add("").node(3).add("").add("xxx")),
              HasSubstr("a child of 3 values is too short for 2"));
  EXPECT_THAT(one(sparse_union({item}, {0}), MadeBatch{.length = 2}.node(2).add("\0\0").node(1).add("").add("x")),
              HasSubstr("too short"));
  const DataTypePtr runs = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                           {.name = "values", .type = primitive(TypeId::kInt8)});
  EXPECT_THAT(one(runs, MadeBatch{.length = 2}.node(2).node(0).add("").add("").node(0).add("").add("")),
              HasSubstr("0 run ends with 0 values for 2 values"));
  EXPECT_THAT(one(runs, MadeBatch{.length = 1}
                            .node(1)
                            .node(1, 1)
                            .add(std::string(1, '\0'))
                            .add(std::vector<int16_t>{1})
                            .node(1)
                            .add("")
                            .add("x")),
              HasSubstr("run ends"));
}

TEST(BatchDecoder, BoundsVariadicCounts) {
  const Schema schema({{.name = "a", .type = primitive(TypeId::kBinaryView)}});
  const auto with = [&](std::vector<int64_t> counts) {
    MadeBatch batch{.length = 0, .variadic = std::move(counts)};
    return error_of(made(schema) + made(batch.node(0).add("").add("").add("data")), {});
  };
  EXPECT_EQ(with({1}), "no error");
  EXPECT_EQ(with({0}), "no error");
  EXPECT_THAT(with({}), HasSubstr("0 variadic counts has more views"));
  EXPECT_THAT(with({2}), HasSubstr("a view with 2 buffers, of which 1 are left"));
  EXPECT_THAT(with({INT64_MAX}), HasSubstr("of which 1 are left"));
  EXPECT_THAT(with({-1}), HasSubstr("a view with -1 buffers"));
}

TEST(BatchDecoder, DropsTheValidityOfOldUnions) {
  const Schema schema({{.name = "a", .type = sparse_union({{.name = "i", .type = primitive(TypeId::kInt8)}}, {5})}});
  MadeBatch batch{.length = 2, .version = kMetadataV4};
  batch.node(2).add("\x03").add("\5\5").node(2).add("").add("\1\2");
  EXPECT_EQ(decode(made(schema) + made(batch)).size(), 1U);
  batch.nodes[0].null_count = 1;
  EXPECT_THAT(error_of(made(schema) + made(batch)), HasSubstr("nulls of its own"));
  batch.buffers[0].length = 0;
  EXPECT_EQ(decode(made(schema) + made(batch)).size(), 1U);
}

// ---- Compression ----

std::string compressed(Codec codec, std::string_view text, int64_t claimed) {
  MemoryPool pool;
  Compressor compressor(pool);
  std::string out(reinterpret_cast<const char*>(&claimed), sizeof(claimed));
  const MutableBuffer block = compressor.compress(codec, std::nullopt, std::as_bytes(std::span(text)));
  return out.append(reinterpret_cast<const char*>(block.data()), block.size());
}

TEST(BatchDecoder, DecompressesEachBufferAsItIs) {
  const std::string values("\1\0\0\0\2\0\0\0", 8);
  for (const auto& [number, codec] : {std::pair(0, Codec::kLz4Frame), std::pair(1, Codec::kZstd)}) {
    MadeBatch batch{.length = 2, .codec = number};
    batch.node(2).add("").add(compressed(codec, values, 8));
    EXPECT_THAT(first_columns(decode(made(kInts) + made(batch))), ElementsAre("1 2"));
    MadeBatch raw{.length = 2, .codec = number};
    raw.node(2).add("").add(std::string(8, '\xFF') + values);
    EXPECT_THAT(first_columns(decode(made(kInts) + made(raw))), ElementsAre("1 2"));
  }
}

TEST(BatchDecoder, ReadsTheCodecOfArrow017) {
  const std::string values("\1\0\0\0\2\0\0\0", 8);
  for (const auto& [name, codec] : {std::pair("ZSTD", Codec::kZstd), std::pair("lz4", Codec::kLz4Frame),
                                    std::pair("LZ4_FRAME", Codec::kLz4Frame)}) {
    MadeBatch batch{.length = 2, .metadata = {{"ARROW:experimental_compression", name}}, .version = kMetadataV4};
    batch.node(2).add("").add(compressed(codec, values, 8));
    EXPECT_THAT(first_columns(decode(made(kInts) + made(batch))), ElementsAre("1 2"));
  }
  MadeBatch other{.length = 2, .metadata = {{"ARROW:experimental_compression", "snappy"}}, .version = kMetadataV4};
  EXPECT_THAT(error_of(made(kInts) + made(other.node(2).add("").add(values))), HasSubstr("'snappy' is not read"));
}

TEST(BatchDecoder, StopsBombs) {
  const std::string zeros(size_t{1} << 20, '\0');
  for (const Codec codec : {Codec::kLz4Frame, Codec::kZstd}) {
    const auto with = [&](const std::string& bytes, ReadOptions options = {}) {
      MadeBatch batch{.length = 1 << 18, .codec = codec == Codec::kZstd ? 1 : 0};
      return error_of(made(kInts) + made(batch.node(1 << 18).add("").add(bytes)), std::move(options));
    };
    const std::string honest = compressed(codec, zeros, 1 << 20);
    EXPECT_EQ(with(honest), "no error");
    EXPECT_EQ(with(honest, {.max_decompressed_bytes = 1 << 20}), "no error");
    EXPECT_THAT(with(honest, {.max_decompressed_bytes = (1 << 20) - 1}), HasSubstr("become more than 1048575 bytes"));
    EXPECT_THAT(with(compressed(codec, zeros, int64_t{1} << 33)), HasSubstr("cannot become 8589934592"));
    EXPECT_THAT(with(compressed(codec, zeros, (1 << 20) + 1)), HasSubstr("buffer 1 of a message"));
    EXPECT_THAT(with(compressed(codec, zeros, (1 << 20) - 1)), HasSubstr("buffer 1 of a message"));
    EXPECT_THAT(with(compressed(codec, zeros, 8)), HasSubstr("buffer 1 of a message"));
    EXPECT_THAT(with(compressed(codec, zeros, -2)), HasSubstr("-2 bytes before it was compressed"));
    EXPECT_THAT(with("1234567"), HasSubstr("a compressed buffer of 7 bytes"));
    EXPECT_THAT(with(std::string(8, '\0')), HasSubstr("too short: 0 < 1048576"));
    EXPECT_THAT(with(honest.substr(0, honest.size() - 1)), HasSubstr("buffer 1 of a message"));
  }
  // The bound is that of all buffers of a message together.
  const Schema two(
      {{.name = "a", .type = primitive(TypeId::kInt32)}, {.name = "b", .type = primitive(TypeId::kInt32)}});
  MadeBatch both{.length = 1 << 18, .codec = 1};
  for (int i = 0; i < 2; ++i) both.node(1 << 18).add("").add(compressed(Codec::kZstd, zeros, 1 << 20));
  EXPECT_EQ(error_of(made(two) + made(both), {.max_decompressed_bytes = 2 << 20}), "no error");
  EXPECT_THAT(error_of(made(two) + made(both), {.max_decompressed_bytes = (2 << 20) - 1}),
              HasSubstr("become more than"));
  MadeBatch unknown{.length = 0, .codec = 7};
  EXPECT_THAT(error_of(made(kInts) + made(unknown.node(0).add("").add(""))), HasSubstr("compression of kind 7"));
}

// ---- Dictionaries ----

TEST(DictionariesOfStreams, AreThoseOfTheMoment) {
  const std::string stream = made(kCodes) + made(texts({"a", "b"})) + made(codes({0, 1})) +
                             made(texts({"c", "d"}, true)) + made(codes({1, 3})) + made(texts({"X"})) +
                             made(codes({0})) + made(texts({"Y"}, true)) + made(texts({"Z"}, true)) +
                             made(codes({2, 1, 0}));
  const std::vector<RecordBatch> batches = decode(stream);
  EXPECT_THAT(first_columns(batches), ElementsAre(R"("a" "b")", R"("b" "d")", R"("X")", R"("Z" "Y" "X")"));
  EXPECT_EQ(batches[0].column(0)->dictionary->length, 2);
  // What nobody asked for before it was replaced leaves nothing behind.
  EXPECT_THAT(
      first_columns(decode(made(kCodes) + made(texts({"a"})) + made(texts({"b"}, true)) + made(texts({"c", "d"})) +
                           made(codes({1, 0})) + made(texts({"e"}, true)) + made(codes({2})))),
      ElementsAre(R"("d" "c")", R"("e")"));
  EXPECT_THAT(
      error_of(made(kCodes) + made(texts({"a"})) + made(texts({"b"}, true)) + made(texts({"c"})) + made(codes({1}))),
      HasSubstr("outside the dictionary of 1"));
}

TEST(DictionariesOfStreams, NeedNotBeThereForNulls) {
  MadeBatch nulls{.length = 2};
  nulls.node(2, 2).add(std::string(1, '\0')).add("\7\7");
  EXPECT_THAT(
      first_columns(decode(made(kCodes) + made(nulls) + made(codes({})) + made(texts({"a"})) + made(codes({0})))),
      ElementsAre("null null", "", R"("a")"));
  EXPECT_THAT(error_of(made(kCodes) + made(codes({0}))), HasSubstr("dictionary 0 is used and not there"));
  EXPECT_THAT(error_of(made(kCodes) + made(codes({0})), {.columns = std::vector<size_t>{}}), "no error");
}

TEST(DictionariesOfStreams, AreOfFieldsAndExtendWhatIsThere) {
  MadeBatch other = texts({"a"});
  other.id = 9;
  EXPECT_THAT(error_of(made(kCodes) + made(other)), HasSubstr("dictionary 9 is of no field"));
  EXPECT_THAT(error_of(made(kCodes) + made(texts({"a"}, true))),
              HasSubstr("a delta of dictionary 0, which is not there"));
  EXPECT_THAT(error_of(made(kCodes) + made(texts({"a"})) + made(codes({1}))), HasSubstr("outside the dictionary of 1"));
  const std::string damaged = made(kCodes) + made(texts({"\xFF"})) + made(codes({0}));
  EXPECT_THAT(error_of(damaged), HasSubstr("not UTF-8 at byte 0; reading dictionary 0"));
  EXPECT_EQ(error_of(damaged, {}), "no error");
  // What is joined is looked at, whatever the options say.
  MadeBatch broken = texts({"a", "b"}, true);
  broken.body[4] = 100;
  EXPECT_THAT(error_of(made(kCodes) + made(texts({"a"})) + made(broken) + made(codes({0})), {}), HasSubstr("offsets"));
}

TEST(DictionariesOfStreams, MayComeAfterThoseThatRefer) {
  // A dictionary of structs, in which is another.
  const DataTypePtr inner = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  const Schema schema(
      {{.name = "a", .type = dictionary(primitive(TypeId::kInt8), struct_({{.name = "s", .type = inner}}))}});
  MadeBatch structs{.length = 2, .is_dictionary = true, .id = 0};
  structs.node(2).add("").node(2).add("").add(std::vector<int16_t>{1});
  structs.buffers.back().length = 2;
  structs.body += std::string(1, '\0');
  MadeBatch values = texts({"x", "y"});
  values.id = 1;
  const std::vector<std::string> expected{R"({"s":"y"} {"s":"x"})"};
  EXPECT_EQ(first_columns(decode(made(schema) + made(structs) + made(values) + made(codes({0, 1})))), expected);
  EXPECT_EQ(first_columns(decode(made(schema) + made(values) + made(structs) + made(codes({0, 1})))), expected);
  EXPECT_THAT(error_of(made(schema) + made(structs) + made(codes({0, 1}))),
              HasSubstr("dictionary 1 is used and not there"));
}

}  // namespace
}  // namespace frazil::ipc
