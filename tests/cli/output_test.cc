#include "output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "completion.h"
#include "errors.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

using ::testing::HasSubstr;

TEST(OutputStream, EndsAtAClosedPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  signal(SIGPIPE, SIG_IGN);
  close(ends[0]);
  OutputStream out(ends[1], 10);
  EXPECT_THROW(out.write("more than ten bytes"), ClosedPipe);
  close(ends[1]);
}

TEST(OutputStream, ReportsAFullDisk) {
  int descriptor = open("/dev/full", O_WRONLY);
  if (descriptor < 0) GTEST_SKIP() << "no /dev/full";
  OutputStream out(descriptor);
  out.write("x");
  EXPECT_THROW(out.flush(), IoError);
  close(descriptor);
}

TEST(Printable, LeavesNothingForATerminalToObey) {
  EXPECT_EQ(printable("plain é 日本"), "plain é 日本");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m");  // CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "\\u202ex");                                         // right-to-left override
  EXPECT_EQ(printable("\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd");  // damaged UTF-8
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Sizes, AreReadByPeople) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1023), "1023 bytes");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes((uint64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(-1234567), "-1,234,567");
  EXPECT_EQ(human_count(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Sizes, AreParsedWithTheUnitsOfTheConventions) {
  struct Case {
    const char* text;
    uint64_t bytes;
  };
  for (Case c : std::initializer_list<Case>{{"0", 0},
                                            {"1000", 1000},
                                            {"64MiB", 64u << 20},
                                            {"64 mib", 64u << 20},
                                            {"1.5GiB", 3u << 29},
                                            {"2KB", 2000},
                                            {"2KiB", 2048},
                                            {"3MB", 3000000},
                                            {"1GB", 1000000000},
                                            {"7B", 7}}) {
    EXPECT_EQ(parse_size(c.text, "--memory"), c.bytes) << c.text;
  }
  for (const char* text : {"", "MiB", "-1", "1XB", "1e3MiB", "nan", "1..5MiB", "99999999999TiB", "0x10", "1 2KB"}) {
    EXPECT_THROW(parse_size(text, "--memory"), Error) << text;
  }
}

TEST(Errors, HaveOneLineAndOneObject) {
  Error error(ErrorKind::kCorrupt, "page\nis damaged");
  error.add_context("reading column 'a'").add_context("reading file:/x").set_hint("write it anew");
  EXPECT_EQ(error_line(error, false),
            "frazil: page\\nis damaged; reading column 'a'; reading file:/x (write it anew)\n");
  Error excerpt(ErrorKind::kInvalidArgument, "column 3: no value\n  a = \x1b\n    ^");
  excerpt.add_context("a.parquet");
  EXPECT_EQ(error_line(excerpt, false), "frazil: column 3: no value; a.parquet\n  a = \\x1b\n    ^\n");
  json::Value object = json::parse(error_json(error));
  EXPECT_EQ(object.at("kind").as_string(), "corrupt");
  EXPECT_EQ(object.at("message").as_string(), "page\nis damaged");
  EXPECT_EQ(object.at("context").as_array().size(), 2u);
  EXPECT_EQ(object.at("hint").as_string(), "write it anew");
}

TEST(Errors, HaveTheExitCodesOfTheConventions) {
  struct Case {
    ErrorKind kind;
    int code;
  };
  for (Case c : std::initializer_list<Case>{{ErrorKind::kInternal, 1},
                                            {ErrorKind::kInvalidArgument, 2},
                                            {ErrorKind::kNotFound, 3},
                                            {ErrorKind::kCorrupt, 4},
                                            {ErrorKind::kUnsupported, 5},
                                            {ErrorKind::kConflict, 6},
                                            {ErrorKind::kCommitStateUnknown, 7},
                                            {ErrorKind::kIo, 8},
                                            {ErrorKind::kMemoryLimit, 9},
                                            {ErrorKind::kPermission, 10},
                                            {ErrorKind::kCancelled, 130}}) {
    EXPECT_EQ(exit_code(c.kind), c.code) << to_string(c.kind);
  }
}

TEST(Listing, PrintsTablesAndJson) {
  auto print = [](OutputFormat format, bool rows) {
    int descriptor = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    OutputStream out(descriptor);
    Listing listing(out, format, false, {{"name"}, {"n", true}, {"list"}});
    if (rows) {
      listing.row({std::string("a\n\"b\""), int64_t{7}, JsonText{"[1]"}});
      listing.row({Null{}, int64_t{1234}, Null{}});
    }
    listing.finish("nothing here");
    out.flush();
    std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
    EXPECT_GE(pread(descriptor, text.data(), text.size(), 0), 0);
    close(descriptor);
    return text;
  };
  EXPECT_EQ(print(OutputFormat::kText, true), "name       n  list\na\\n\"b\"     7  [1]\n        1234\n");
  EXPECT_EQ(print(OutputFormat::kText, false), "nothing here\n");
  EXPECT_EQ(
      print(OutputFormat::kJson, true),
      "[{\"name\": \"a\\n\\\"b\\\"\", \"n\": 7, \"list\": [1]},\n {\"name\": null, \"n\": 1234, \"list\": null}]\n");
  EXPECT_EQ(print(OutputFormat::kJson, false), "[]\n");
}

TEST(Completion, KnowsVerbsAndOptions) {
  CompletionVerb root{"", "", {{"--output", "how", {"text", "json"}}}, {{"list", "it's a list", {}, {}}}};
  EXPECT_THAT(make_completion_script(root, "bash"), HasSubstr("'list --output --help'"));
  EXPECT_THAT(make_completion_script(root, "fish"), HasSubstr("-a list -d 'it'\\''s a list'"));
  EXPECT_THAT(make_completion_script(root, "zsh"), HasSubstr("bashcompinit"));
  EXPECT_THROW(make_completion_script(root, "csh"), Error);
}

}  // namespace
}  // namespace frazil::cli
