#include "progress.h"

#include <string>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "output.h"

namespace frazil::cli {
namespace {

TEST(Progress, ShowsABarWhenTheTotalIsKnown) {
  EXPECT_EQ(Progress::line("scanning t", 4100000, 10000000, 1288490189, 4.0, 200),
            "scanning t  [########------------]  41 %  4,100,000 rows  1.2 GiB  307.2 MiB/s");
  EXPECT_EQ(Progress::line("scanning t", 5, 4, 0, 0, 200), "scanning t  [####################] 100 %  5 rows");
}

TEST(Progress, ShowsRatesWithoutATotal) {
  EXPECT_EQ(Progress::line("x", 3000, 0, 0, 2.0, 200), "x  3,000 rows  1,500 rows/s");
}

// A line that wraps could not be erased.
TEST(Progress, NeverWraps) {
  for (size_t columns = 0; columns < 60; ++columns) {
    std::string line = Progress::line("é日本 t", 123, 1000, 1 << 20, 1.0, columns);
    EXPECT_LE(display_width(line), columns);
  }
}

TEST(Progress, IsQuietWithoutATerminal) {
  Progress progress("x", {.delay = std::chrono::milliseconds(0), .descriptor = -1});
  progress.add(1, 1);
  progress.finish();
  progress.finish();
}

TEST(Progress, DrawsOnATerminalAndErasesItsLine) {
  int terminal = -1;
  int screen = -1;
  if (openpty(&terminal, &screen, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no terminal can be had here";
  std::string seen;
  {
    Progress progress(
        "work",
        {.delay = std::chrono::milliseconds(0), .interval = std::chrono::milliseconds(1), .descriptor = screen});
    progress.set_total_rows(4);
    progress.add(1, 100);
    char bytes[1000];
    while (seen.find("25 %") == std::string::npos) {
      ssize_t count = read(terminal, bytes, sizeof(bytes));
      ASSERT_GT(count, 0);
      seen.append(bytes, static_cast<size_t>(count));
    }
    // Draws on, also when nobody reads for a while.
    progress.add(3, 100);
    while (seen.find("100 %") == std::string::npos) {
      ssize_t count = read(terminal, bytes, sizeof(bytes));
      ASSERT_GT(count, 0);
      seen.append(bytes, static_cast<size_t>(count));
    }
    progress.finish();
    close(screen);
    for (ssize_t count; (count = read(terminal, bytes, sizeof(bytes))) > 0;) {
      seen.append(bytes, static_cast<size_t>(count));
    }
  }
  EXPECT_TRUE(seen.ends_with("\r\x1b[2K")) << "the line is gone at the end";
  EXPECT_EQ(seen.find('\n'), std::string::npos);
  close(terminal);
}

}  // namespace
}  // namespace frazil::cli
