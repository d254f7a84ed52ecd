// Files that other projects wrote, against what fastavro reads from them (testdata/make_expected.py), random values against
// an encoder of our own, and damage of both.
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/avro/decoder.h"
#include "frazil/avro/test_support.h"
#include "frazil/base/error.h"

namespace frazil::avro {
namespace {

using testing::HasSubstr;

json::Array read_rows(std::string bytes, StreamOptions options = {}) {
  MemoryPool pool({.budget_bytes = 256 << 20});
  json::Array rows;
  {
    auto stream = open_stream(memory_file(std::move(bytes)), pool, std::move(options));
    while (auto batch = stream->next()) {
      validate_full(*batch);
      for (int64_t i = 0; i < batch->row_count(); ++i) rows.push_back(stored_row(*batch, i));
    }
    EXPECT_FALSE(stream->next());
  }
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u);
  return rows;
}

json::Value expected() {
  return json::parse(read_text(std::string(FRAZIL_TEST_CORPORA) + "/../../src/frazil/avro/testdata/expected.json"));
}

TEST(AvroCorpus, ReadsWhatFastavroReads) {
  const json::Value all = expected();
  int compared = 0;
  for (const auto& [path, rows] : all.at("files").as_object()) {
    SCOPED_TRACE(path);
    if (path.find(".bzip2.") != std::string::npos || path.find(".xz.") != std::string::npos) {
      try {
        read_rows(read_corpus(path));
        ADD_FAILURE() << "read";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      }
      continue;
    }
    for (const size_t batch_rows : {size_t{1}, size_t{3}, size_t{65536}}) {
      const json::Array read = read_rows(
          read_corpus(path),
          {.reader_schema = nullptr, .batch_rows = batch_rows, .batch_bytes = 64 << 20, .container = {}, .decode = {}});
      EXPECT_EQ(json_difference(json::Value(read), rows), "");
    }
    ++compared;
  }
  EXPECT_GE(compared, 41);
}

TEST(AvroCorpus, ReadsTheWeatherOfApacheAvro) {
  const std::string lines = read_corpus("avro/apache-avro/weather.json");
  json::Array rows;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    if (end > at) rows.push_back(json::parse(lines.substr(at, end - at)));
    at = end + 1;
  }
  ASSERT_EQ(rows.size(), 5u);
  for (const char* name : {"weather.avro", "weather-deflate.avro", "weather-snappy.avro", "weather-zstd.avro"}) {
    EXPECT_EQ(json_difference(json::Value(read_rows(read_corpus(std::string("avro/apache-avro/") + name))),
                              json::Value(rows)),
              "")
        << name;
  }
  EXPECT_EQ(read_rows(read_corpus("avro/apache-avro/weather-sorted.avro")).size(), rows.size());
}

TEST(AvroCorpus, ReadsAFileWhoseMetadataHoldsItsSyncMarker) {
  EXPECT_EQ(read_rows(read_corpus("avro/apache-avro/syncInMeta.avro")).size(), 6001u);
}

TEST(AvroCorpus, RefusesTheBadFilesOfApacheAvroC) {
  const std::string folder = "avro/apache-avro-c/";
  const auto failure = [&](const std::string& name) -> std::string {
    try {
      read_rows(read_corpus(folder + name));
    } catch (const CorruptError& error) {
      return error.what();
    }
    return "no CorruptError";
  };
  EXPECT_THAT(failure("avro-1237-bad-union-discriminant.avro"), HasSubstr("no such branch"));
  EXPECT_THAT(failure("avro-1238-truncated.avro"), HasSubstr("exceed the file"));
  EXPECT_EQ(read_rows(read_corpus(folder + "avro-1237-good.avro")).size(), 2u);
  EXPECT_EQ(read_rows(read_corpus(folder + "avro-1238-good.avro")).size(), 2u);
}

// Two general unions: the columns that are none still read.
TEST(AvroCorpus, NamesAUnionAndReadsTheRest) {
  const std::string bytes = read_corpus("avro/apache-avro/schemas/withUnion/data.avro");
  try {
    read_rows(bytes);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("column 'data1' is a union of string, int"));
  }
  StreamOptions options;
  options.reader_schema = parse_schema(R"({"type":"record","name":"r","fields":[]})");
  EXPECT_EQ(read_rows(bytes, options).size(), 3u);
}

// --- Damage --------------------------------------------------------------------------------------------------------

// Reading gives rows or an Error of a kind that damage may have; sanitizers watch the rest.
void read_damaged(const std::string& bytes) {
  try {
    read_rows(bytes);
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
                error.kind() == ErrorKind::kMemoryLimit)
        << error.what();
    EXPECT_THAT(error.what(), HasSubstr("memory.avro")) << "the file is named";
  }
}

std::vector<std::string> small_files() {
  std::vector<std::string> files;
  const json::Value all = expected();
  for (const auto& [path, rows] : all.at("files").as_object()) {
    std::string bytes = read_corpus(path);
    if (bytes.size() < 700) files.push_back(std::move(bytes));
  }
  return files;
}

TEST(AvroCorpus, SurvivesEveryTruncation) {
  for (const std::string& bytes : small_files()) {
    for (size_t size = 0; size < bytes.size(); ++size) read_damaged(bytes.substr(0, size));
  }
}

TEST(AvroCorpus, SurvivesEveryFlippedByte) {
  for (const std::string& bytes : small_files()) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int mask : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ mask);
        read_damaged(damaged);
      }
    }
  }
}

// --- Bombs ---------------------------------------------------------------------------------------------------------

std::string failure_of(std::string_view schema, int64_t count, const std::string& block) {
  try {
    read_rows(make_container(schema, {{count, block}}));
  } catch (const CorruptError& error) {
    return error.what();
  }
  return "no CorruptError";
}

TEST(AvroBombs, CountsAreCheckedAgainstTheBytesThatAreLeft) {
  const int64_t huge = INT64_MAX;
  EXPECT_THAT(failure_of("\"int\"", huge, "\x02"), HasSubstr("claims 9223372036854775807 records"));
  EXPECT_THAT(failure_of("\"int\"", 3, "\x02\x02"), HasSubstr("claims 3 records"));
  EXPECT_THAT(failure_of("\"int\"", 1, "\x02\x02"), HasSubstr("1 bytes after its last record"));
  EXPECT_THAT(failure_of("\"int\"", 0, "\x02"), HasSubstr("no records and 1 bytes"));
  EXPECT_THAT(failure_of(R"({"type":"array","items":"int"})", 1, Encoder().long_(huge).long_(0).str()),
              HasSubstr("a list claims"));
  EXPECT_THAT(failure_of(R"({"type":"array","items":"int"})", 1, Encoder().long_(INT64_MIN).long_(0).long_(0).str()),
              HasSubstr("out of range"));
  EXPECT_THAT(failure_of(R"({"type":"array","items":"int"})", 1, Encoder().long_(-2).long_(-5).long_(0).str()),
              HasSubstr("-5 bytes"));
  EXPECT_THAT(failure_of(R"({"type":"map","values":"null"})", 1, Encoder().long_(huge).long_(0).str()),
              HasSubstr("a list claims"));
  EXPECT_THAT(failure_of("\"string\"", 1, Encoder().long_(huge).str()), HasSubstr("claims 9223372036854775807 bytes"));
  EXPECT_THAT(failure_of("\"bytes\"", 1, Encoder().long_(-1).str()), HasSubstr("claims -1 bytes"));
  EXPECT_THAT(failure_of(R"({"type":"fixed","name":"f","size":9})", 1, "12345678"),
              HasSubstr("claims 1 records, and has 8 bytes"));
}

TEST(AvroBombs, ValuesWithoutBytesAreBounded) {
  EXPECT_THAT(failure_of("\"null\"", int64_t{1} << 60, ""), HasSubstr("claims 1152921504606846976 records"));
  EXPECT_THAT(failure_of(R"({"type":"array","items":"null"})", 1, Encoder().long_(int64_t{1} << 60).long_(0).str()),
              HasSubstr("take no bytes"));
  // Many small bombs are one large one.
  Encoder many;
  for (int i = 0; i < 3; ++i) many.long_(1 << 19).long_(0);
  EXPECT_THAT(failure_of(R"({"type":"array","items":"null"})", 3, many.str()), HasSubstr("take no bytes"));
  EXPECT_EQ(read_rows(make_container("\"null\"", {{1000, ""}, {24, ""}})).size(), 1024u);
}

// Of ten bytes the bits over 64 are dropped: iceberg-tables/duckdb/equality_delete_extra_column has a snapshot id over 2^63.
TEST(AvroBombs, NumbersEndAfterTenBytes) {
  EXPECT_THAT(failure_of("\"long\"", 1, std::string(10, '\xff') + "\x01"), HasSubstr("longer than 10 bytes"));
  EXPECT_EQ(json::write(read_rows(make_container("\"long\"", {{1, std::string(9, '\xff') + "\x03"}}))[0]),
            R"({"value":-9223372036854775808})");
  EXPECT_THAT(failure_of("\"long\"", 1, std::string(9, '\xff')), HasSubstr("ends inside"));
  EXPECT_EQ(json::write(read_rows(make_container("\"long\"", {{1, std::string(9, '\xff') + "\x01"}}))[0]),
            R"({"value":-9223372036854775808})");
  EXPECT_THAT(failure_of("\"int\"", 1, Encoder().long_(int64_t{INT32_MAX} + 1).str()), HasSubstr("more than 32 bits"));
  EXPECT_THAT(failure_of("\"boolean\"", 1, "\x02"), HasSubstr("neither 0 nor 1"));
}

TEST(AvroBombs, ASchemaThatExpandsIsRefused) {
  // 30 records, each with two fields of the one before: a billion columns in 3 KB.
  std::string text = R"({"type":"record","name":"R0","fields":[{"name":"v","type":"int"}]})";
  for (int i = 1; i <= 30; ++i) {
    const std::string before = "R" + std::to_string(i - 1);
    text = R"({"type":"record","name":"R)" + std::to_string(i) + R"(","fields":[{"name":"a","type":)" + text +
           R"(},{"name":"b","type":")" + before + R"("}]})";
  }
  for (const bool skip : {false, true}) {
    StreamOptions options;
    if (skip) options.reader_schema = parse_schema(R"({"type":"record","name":"r","fields":[]})");
    try {
      read_rows(make_container(text, {{1, "x"}}), options);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
    }
  }
}

TEST(AvroBombs, ABudgetIsAnErrorAndNothingStays) {
  MemoryPool pool({.budget_bytes = 1 << 20});
  Encoder block;
  for (int i = 0; i < 3000; ++i) block.bytes(std::string(1000, 'x'));
  auto stream = open_stream(memory_file(make_container("\"string\"", {{3000, block.str()}})), pool);
  EXPECT_THROW((void)stream->next(), MemoryLimitError);
  EXPECT_FALSE(stream->next());
  stream.reset();
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u);
}

// --- Random values -------------------------------------------------------------------------------------------------

// A random schema, and values of it in both forms: encoded, and as the JSON that must come out.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

  std::string make_type(int depth) {
    static const char* const leaves[] = {"\"null\"",  "\"boolean\"", "\"int\"",   "\"long\"",
                                         "\"float\"", "\"double\"",  "\"bytes\"", "\"string\""};
    switch (below(depth > 0 ? 13 : 9)) {
      case 8:
        return R"({"type":"fixed","name":"f)" + fresh() + R"(","size":)" + std::to_string(below(20)) + "}";
      case 9:
        return R"(["null",)" + make_nonnull(depth - 1) + "]";
      case 10:
        return R"({"type":"array","items":)" + make_type(depth - 1) + "}";
      case 11:
        return R"({"type":"map","values":)" + make_type(depth - 1) + "}";
      case 12:
        return make_record(depth - 1, below(4));
      default:
        return leaves[below(8)];
    }
  }

  std::string make_record(int depth, size_t fields) {
    std::string text = R"({"type":"record","name":"r)" + fresh() + R"(","fields":[)";
    for (size_t i = 0; i < fields; ++i) {
      text += (i == 0 ? "" : ",") + (R"({"name":"c)" + std::to_string(i) + R"(","type":)") + make_type(depth) + "}";
    }
    return text + "]}";
  }

  json::Value make_value(const Node& node, Encoder& out) {
    switch (node.kind) {
      case Kind::kNull:
        return nullptr;
      case Kind::kBoolean: {
        const bool value = below(2) == 0;
        out.bool_(value);
        return json::Value(value);
      }
      case Kind::kInt: {
        const auto value = static_cast<int32_t>(number() >> 32);
        out.long_(value);
        return json::Value(int64_t{value});
      }
      case Kind::kLong: {
        const int64_t value = number();
        out.long_(value);
        return json::Value(value);
      }
      case Kind::kFloat: {
        const auto value = static_cast<float>(number() % 100000) / 8;
        out.float_(value);
        return json::Value(static_cast<double>(value));
      }
      case Kind::kDouble: {
        const auto value = static_cast<double>(number()) / 7;
        out.double_(value);
        return json::Value(value);
      }
      case Kind::kBytes:
      case Kind::kString: {
        const std::string value(below(below(10) == 0 ? 200 : 20), static_cast<char>('a' + below(26)));
        out.bytes(value);
        return node.kind == Kind::kString ? value : hex(value);
      }
      case Kind::kFixed: {
        const std::string value(static_cast<size_t>(node.fixed_size), static_cast<char>('a' + below(26)));
        out.raw(value);
        return hex(value);
      }
      case Kind::kRecord: {
        json::Object members;
        for (const Field& field : node.fields) members.emplace_back(field.name, make_value(*field.type, out));
        return members;
      }
      case Kind::kArray:
      case Kind::kMap: {
        json::Array items;
        for (size_t block = below(3); block > 0; --block) {
          const size_t count = 1 + below(4);
          Encoder body;
          for (size_t i = 0; i < count; ++i) {
            if (node.kind == Kind::kArray) {
              items.push_back(make_value(*node.element, body));
            } else {
              const std::string key = "k" + std::to_string(below(100));
              body.bytes(key);
              json::Value value = make_value(*node.element, body);
              items.push_back(json::Array{json::Value(key), std::move(value)});
            }
          }
          const auto signed_count = static_cast<int64_t>(count);
          if (below(2) == 0) {
            out.long_(signed_count).raw(body.str());
          } else {
            out.long_(-signed_count).bytes(body.str());
          }
        }
        out.long_(0);
        return items;
      }
      case Kind::kUnion: {
        const size_t branch = below(node.branches.size());
        out.long_(static_cast<int64_t>(branch));
        return make_value(*node.branches[branch], out);
      }
      case Kind::kEnum:
        break;
    }
    throw_error(ErrorKind::kInternal, "no value");
  }

 private:
  std::string make_nonnull(int depth) {
    for (;;) {
      const std::string type = make_type(depth);
      if (type != "\"null\"" && type[0] != '[') return type;
    }
  }
  int64_t number() { return static_cast<int64_t>(random_()) >> below(63); }
  std::string fresh() { return std::to_string(names_++); }
  static std::string hex(const std::string& bytes) {
    std::string out;
    for (const char c : bytes) {
      out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
      out.push_back("0123456789abcdef"[c & 15]);
    }
    return out;
  }

  std::mt19937_64 random_;
  int names_ = 0;
};

// Whatever the types: all columns come back as they were written, and any choice of columns, in any order, gives the same
// values as reading them all, so that what lies between is skipped exactly.
RC_GTEST_PROP(AvroProperty, ReadsAndSkipsRandomValues, (uint64_t seed)) {
  Maker maker(seed);
  const std::string schema = maker.make_record(3, 1 + maker.below(6));
  const NodePtr node = parse_schema(schema);
  std::vector<TestBlock> blocks;
  json::Array rows;
  for (size_t block = 0; block < 3; ++block) {
    Encoder bytes;
    const size_t count = maker.below(8);
    for (size_t i = 0; i < count; ++i) rows.push_back(maker.make_value(*node, bytes));
    if (count != 0) blocks.push_back({static_cast<int64_t>(count), bytes.str()});
  }
  const std::string file = make_container(schema, blocks);
  RC_ASSERT(json_difference(json::Value(read_rows(file)), json::Value(rows)) == "");

  std::vector<Field> chosen;
  for (const Field& field : node->fields) {
    if (maker.below(2) == 0)
      chosen.insert(chosen.begin() + static_cast<std::ptrdiff_t>(maker.below(chosen.size() + 1)), field);
  }
  StreamOptions options;
  options.reader_schema = record("chosen", chosen);
  options.batch_rows = 1 + maker.below(9);
  const json::Array read = read_rows(file, options);
  RC_ASSERT(read.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    json::Object wanted;
    for (const Field& field : chosen) wanted.emplace_back(field.name, *rows[i].find(field.name));
    RC_ASSERT(json_difference(read[i], json::Value(wanted)) == "");
  }
}

}  // namespace
}  // namespace frazil::avro
