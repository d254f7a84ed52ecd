#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include "frazil/base/error.h"
#include "frazil/json/json_generators.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::json {
namespace {

std::optional<uint64_t> error_offset(std::string_view text, const ParseOptions& options = {}) {
  try {
    parse(text, options);
    return std::nullopt;
  } catch (const CorruptError& error) {
    return error.offset();
  }
}

// RFC 8259: texts that every reader must accept, and what they say in compact form.
TEST(JsonParse, AcceptsWhatTheGrammarAllows) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"null", "null"},
      {"true", "true"},
      {"false", "false"},
      {" \t\r\n1\n ", "1"},
      {"0", "0"},
      {"-0", "-0"},
      {"-1", "-1"},
      {"10", "10"},
      {"1.0", "1.0"},
      {"0.0000001", "0.0000001"},
      {"1e5", "1e5"},
      {"1E+5", "1E+5"},
      {"1e-005", "1e-005"},
      {"0e0", "0e0"},
      {"-0.0e-0", "-0.0e-0"},
      {"1e400", "1e400"},
      {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
      {"1.7976931348623157e309", "1.7976931348623157e309"},
      {"[]", "[]"},
      {"[ ]", "[]"},
      {"{}", "{}"},
      {"{\n}", "{}"},
      {"[[],[[]],{}]", "[[],[[]],{}]"},
      {"[1 , 2,\t3]", "[1,2,3]"},
      {R"({"a":1})", R"({"a":1})"},
      {R"( { "b" : 1 , "a" : [ { } ] } )", R"({"b":1,"a":[{}]})"},
      {R"({"":0})", R"({"":0})"},
      {R"({"a":{"a":1},"b":{"a":1}})", R"({"a":{"a":1},"b":{"a":1}})"},
      {R"("")", R"("")"},
      {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
      {R"("\u0041\u00e9\u20AC\uD83D\uDE00")", "\"A\u00e9\u20ac\U0001F600\""},
      {R"("\u0000x")", R"("\u0000x")"},
      {R"("\u001F\u007f")", "\"\\u001f\x7F\""},
      {R"("\uFFFF\uDBFF\uDFFF")", "\"\uFFFF\U0010FFFF\""},
      {R"("\\u0041")", R"("\\u0041")"},
      {R"("\ud7ff\ue000")", "\"\ud7ff\ue000\""},
      {"\"\u00e9\u20ac\U0001F600\x7F\"", "\"\u00e9\u20ac\U0001F600\x7F\""},
      {"\xEF\xBB\xBF[1]", "[1]"},
  };
  for (const auto& [text, compact] : cases) {
    try {
      EXPECT_EQ(write(parse(text)), compact) << text;
    } catch (const Error& error) {
      ADD_FAILURE() << text << ": " << error.what();
    }
  }
}

// Texts outside of the grammar, and the byte where that becomes certain.
TEST(JsonParse, RefusesEverythingElseWithTheOffset) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, uint64_t> cases[] = {
      {"", 0},
      {"  ", 2},
      {"\xEF\xBB\xBF", 3},
      {"\xEF\xBB", 0},
      {"\xEF\xBB\xBF\xEF\xBB\xBF[]", 3},
      {"\xFF\xFE[\0]\0"sv, 0},
      {"nul", 3},
      {"nulL", 3},
      {"True", 0},
      {"truee", 4},
      {"NaN", 0},
      {"Infinity", 0},
      {"-Infinity", 1},
      {"undefined", 0},
      {"'a'", 0},
      {"+1", 0},
      {"-", 1},
      {"--1", 1},
      {"- 1", 1},
      {"01", 1},
      {"-01", 2},
      {"00", 1},
      {".5", 0},
      {"1.", 2},
      {"1.e5", 2},
      {"1e", 2},
      {"1e+", 3},
      {"1e5.5", 3},
      {"1,2", 1},
      {"1 2", 2},
      {"0x10", 1},
      {"1_000", 1},
      {"1a", 1},
      {"[", 1},
      {"[1", 2},
      {"[1,", 3},
      {"[1,]", 3},
      {"[,1]", 1},
      {"[1 2]", 3},
      {"[1:2]", 2},
      {"[1}", 2},
      {"]", 0},
      {"[]]", 2},
      {"[][]", 2},
      {"[1] x", 4},
      {"{", 1},
      {"{]", 1},
      {"{1:2}", 1},
      {"{a:1}", 1},
      {"{'a':1}", 1},
      {R"({"a")", 4},
      {R"({"a":)", 5},
      {R"({"a":})", 5},
      {R"({"a" 1})", 5},
      {R"({"a",1})", 4},
      {R"({"a"::1})", 5},
      {R"({"a":1)", 6},
      {R"({"a":1,)", 7},
      {R"({"a":1,})", 7},
      {R"({,"a":1})", 1},
      {R"({"a":1 "b":2})", 7},
      {R"({"a":1]})", 6},
      {R"({"a":1}})", 7},
      {R"({"a":1}//c)", 7},
      {"/*c*/1", 0},
      {"[1,#c\n2]", 3},
      {"\"", 1},
      {"\"a", 2},
      {"\"\\", 2},
      {"\"\\\"", 3},
      {R"("\x")", 2},
      {R"("\U0041")", 2},
      {R"("\a")", 2},
      {R"("\u")", 3},
      {R"("\u12")", 5},
      {R"("\u12G4")", 5},
      {R"("\u+123")", 3},
      {"\"a\nb\"", 2},
      {"\"a\tb\"", 2},
      {"\"a\0b\""sv, 2},
      {"[1]\0"sv, 3},
      {"\0"sv, 0},
      {"[\f1]", 1},
      {"[\u00a0"
       "1]",
       1},
      {"[\u2028"
       "1]",
       1},
  };
  for (const auto& [text, offset] : cases) EXPECT_EQ(error_offset(text), offset) << text;
}

TEST(JsonParse, RefusesTextThatIsNotUtf8) {
  const std::pair<std::string_view, uint64_t> cases[] = {
      {"\"\x80\"", 1},                  // a continuation alone
      {"\"ab\xC3\"", 3},                // cut
      {"\"\xC0\xAF\"", 1},              // overlong '/'
      {"\"\xE0\x80\xAF\"", 1},          // overlong in three
      {"\"\xED\xA0\x80\"", 1},          // a surrogate
      {"\"\xF4\x90\x80\x80\"", 1},      // above U+10FFFF
      {"\"\xF8\x88\x80\x80\x80\"", 1},  // five bytes
      {"\"\xE9\"", 1},                  // Latin-1
      {"{\"\xFF\":1}", 2},              // in a key
      {"\"\xE2\x82\\u0041\"", 1},       // cut by an escape
      {R"("\uD800")", 7},               // unpaired surrogates, escaped
      {R"("\uD800\uD800")", 13},
      {R"("\uDC00")", 7},
      {R"("\uD800x")", 7},
      {R"("\uD800\n")", 7},
      {R"("\uD800\u0041")", 13},
  };
  for (const auto& [text, offset] : cases) EXPECT_EQ(error_offset(text), offset) << text;
}

TEST(JsonParse, RefusesARepeatedKeyAtItsSecondPlace) {
  EXPECT_EQ(error_offset(R"({"a":1,"b":2,"a":3})"), 13);
  EXPECT_EQ(error_offset(R"({"a":1,"\u0061":3})"), 7);
  EXPECT_EQ(error_offset(R"([{"x":{"k":1,"k":1}}])"), 13);
  EXPECT_EQ(error_offset(R"({"a":1,"A":2,"a ":3,"":4})"), std::nullopt);
  // More keys than are compared pair by pair.
  std::string text = "{";
  for (int index = 0; index < 1000; ++index) text += quote("key" + std::to_string(index)) + ":0,";
  const size_t repeated = text.size();
  EXPECT_EQ(error_offset(text + R"("key1000":0})"), std::nullopt);
  EXPECT_EQ(error_offset(text + R"("key500":0})"), repeated);
}

TEST(JsonParse, ChecksTheDepthWhileScanning) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(error_offset(nested(128)), std::nullopt);
  EXPECT_EQ(error_offset(nested(129)), 128);
  EXPECT_EQ(error_offset(nested(3), {.max_depth = 2}), 2);
  EXPECT_EQ(error_offset("1", {.max_depth = 0}), std::nullopt);
  EXPECT_EQ(error_offset("[]", {.max_depth = 0}), 0);
  std::string objects;
  for (int depth = 0; depth < 129; ++depth) objects += R"({"a":)";
  EXPECT_EQ(error_offset(objects), 128 * 5);
  // Depth is what is open at a time, not what was opened.
  std::string wide = "[";
  for (int index = 0; index < 1000; ++index) wide += "[],";
  EXPECT_EQ(error_offset(wide + "1]"), std::nullopt);
}

// One MiB of memory, mapped 1,024 times in a row.
class RepeatedText {
 public:
  static constexpr size_t kPageBytes = 1 << 20;
  static constexpr size_t kBytes = 1 << 30;

  explicit RepeatedText(char letter) : descriptor_(::memfd_create("frazil-json-test", 0)) {
    const std::string page(kPageBytes, letter);
    EXPECT_EQ(::write(descriptor_, page.data(), page.size()), static_cast<ssize_t>(page.size()));
    base_ = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t at = 0; at < kBytes; at += kPageBytes) {
      EXPECT_NE(::mmap(static_cast<char*>(base_) + at, kPageBytes, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor_, 0),
                MAP_FAILED);
    }
  }
  ~RepeatedText() {
    ::munmap(base_, kBytes);
    ::close(descriptor_);
  }
  std::string_view text() const { return {static_cast<const char*>(base_), kBytes}; }

 private:
  int descriptor_;
  void* base_;
};

TEST(JsonParse, FailsAtDepth129OfAGibibyteOfBrackets) {
  const RepeatedText brackets('[');
  MemoryPool pool({.budget_bytes = 64 << 10});
  EXPECT_EQ(error_offset(brackets.text(), {.max_bytes = size_t{2} << 30, .pool = &pool}), 128);
  EXPECT_LE(pool.stats().held_peak_bytes, 16u << 10);
  // With the usual limit it is not even looked at.
  EXPECT_EQ(error_offset(brackets.text()), CorruptError::kNoOffset);
}

TEST(JsonParse, RefusesALongTextBeforeScanning) {
  EXPECT_EQ(error_offset("[1]", {.max_bytes = 3}), std::nullopt);
  EXPECT_EQ(error_offset("[1]", {.max_bytes = 2}), CorruptError::kNoOffset);
}

TEST(JsonParse, FailsWhereverTheTextIsCut) {
  const std::string text = R"({"format-version":2,"schemas":[{"type":"struct","fields":[]}],"n":-1.5e+3,"s":"\u00e9)"
                           "\u00e9\"}";
  ASSERT_EQ(error_offset(text), std::nullopt);
  for (size_t size = 0; size < text.size(); ++size) {
    // Exactly as many bytes as there are, so that a read past the end shows under a sanitizer.
    const std::vector<char> cut(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(error_offset({cut.data(), cut.size()}).has_value()) << text.substr(0, size);
  }
}

TEST(JsonParse, SurvivesEveryFlippedByte) {
  const std::string text = R"({"a":[1,-2.5e3,true,null,"x\u00e9\n"],"b":{"c":"é"}})";
  for (size_t index = 0; index < text.size(); ++index) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[index] = static_cast<char>(changed[index] ^ (1 << bit));
      try {
        const Value value = parse(changed);
        EXPECT_EQ(parse(write(value)), value) << changed;
      } catch (const CorruptError& error) {
        EXPECT_LE(error.offset(), changed.size()) << changed;
      }
    }
  }
}

TEST(JsonParse, ReadsEveryMetadataFileOfTheCorporaAndWritesTheSameValue) {
  size_t count = 0;
  for (const char* folder : {"/iceberg-metadata", "/iceberg-tables"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(FRAZIL_TEST_CORPORA + std::string(folder))) {
      if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
      std::ostringstream content;
      content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      const std::string text = content.str();
      // gzip and zstd under a plain name; JSON lines that a table calls its metadata
      if (text.starts_with("\x1F\x8B") || text.starts_with("\x28\xB5\x2F\xFD")) continue;
      if (entry.path().parent_path().filename() == "bad_data") continue;
      SCOPED_TRACE(entry.path().string());
      try {
        const Value value = parse(text);
        EXPECT_EQ(parse(write(value)), value);
        EXPECT_EQ(parse(write(value, 2)), value);
        EXPECT_EQ(write(parse(write(value))), write(value));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      ++count;
    }
  }
  EXPECT_GE(count, 300u);
}

RC_GTEST_PROP(JsonParse, ReadsBackWhatIsWritten, ()) {
  const Value value = *gen_value(4);
  const int indent = *rc::gen::inRange(0, 4);
  const std::string text = write(value, indent);
  const Value back = parse(text);
  RC_ASSERT(back == value);
  RC_ASSERT(write(back, indent) == text);
}

RC_GTEST_PROP(JsonParse, NeverReadsPastTheEndOfAnyText, ()) {
  // Made of the letters that matter, so that many are nearly valid.
  const auto letters =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("[]{}:,\"\\u0123eE+-.tfn ad8\xC3\xA9\xED\xA0")));
  const std::vector<char> exact(letters.begin(), letters.end());
  try {
    const Value value = parse({exact.data(), exact.size()});
    RC_ASSERT(parse(write(value)) == value);
  } catch (const CorruptError& error) {
    RC_ASSERT(error.offset() <= letters.size());
  }
}

TEST(JsonParse, ChargesThePoolAtLeastWhatTheTreeHoldsAndGivesAllBack) {
  std::string text = "[";
  for (int index = 0; index < 2000; ++index) {
    text += R"({"file_path":"file:///warehouse/db/table/data/part-00000-)" + std::to_string(index) +
            R"(.parquet","record_count":12345678901234567890,"null":null,"tags":[true,"short",[],{}]},)";
  }
  text += "0]";
  MemoryPool pool;
  const Value value = parse(text, {.pool = &pool});
  const size_t tree_bytes = estimate_bytes(value);
  EXPECT_GT(tree_bytes, 2000 * (8 * sizeof(Value)));
  EXPECT_GE(pool.stats().held_peak_bytes, tree_bytes);
  EXPECT_LE(pool.stats().held_peak_bytes, tree_bytes * 2);
  EXPECT_EQ(pool.stats().held_bytes, 0u);
}

TEST(JsonParse, StopsAtTheBudgetOfThePool) {
  std::string text = "[";
  for (int index = 0; index < 100000; ++index) text += "1,";
  text += "1]";
  MemoryPool small({.budget_bytes = 1 << 20});
  EXPECT_THROW(parse(text, {.pool = &small}), MemoryLimitError);
  EXPECT_EQ(small.stats().held_bytes, 0u);
  EXPECT_LE(small.stats().held_peak_bytes, 1u << 20);
  MemoryPool text_alone({.budget_bytes = 1 << 20});
  EXPECT_THROW(parse(quote(std::string(2 << 20, 'x')), {.pool = &text_alone}), MemoryLimitError);
  EXPECT_EQ(text_alone.stats().held_bytes, 0u);
  MemoryPool enough({.budget_bytes = 32 << 20});
  EXPECT_EQ(parse(text, {.pool = &enough}).as_array().size(), 100001u);
}

}  // namespace
}  // namespace frazil::json
