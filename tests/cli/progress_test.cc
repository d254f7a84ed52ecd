#include "progress.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace frazil::cli
