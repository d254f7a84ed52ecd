#include "frazil/io/byte_sink.h"

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/temporary_folder.h"

namespace frazil {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(MemorySink, KeepsPiecesInOrderAcrossBlocks) {
  MemoryPool pool;
  MemorySink sink(pool);
  std::string expected;
  for (size_t size : {0, 1, 10, 5000, 3, 100'000, 0, 1'000'000}) {
    const std::string first(size, static_cast<char>('a' + size % 26));
    const std::array pieces = {bytes_of(first), bytes_of(""), bytes_of("|")};
    sink.write(pieces);
    expected += first + "|";
    EXPECT_EQ(sink.size(), expected.size());
  }
  sink.finish();
  EXPECT_EQ(sink.take().text(), expected);
  EXPECT_EQ(sink.size(), 0U);
  sink.write(bytes_of("again"));
  EXPECT_EQ(sink.take().text(), "again");
}

TEST(MemorySink, TakesWhatItNeedsWhereTheBudgetHasNoMore) {
  const std::string first(1 << 20, 'x');
  const std::string second(300 << 10, 'y');
  const size_t both = first.size() + second.size();
  MemoryPool pool({.budget_bytes = MemoryPool::block_bytes(first.size() + (4 << 10)) + MemoryPool::block_bytes(both)});
  MemorySink sink(pool);
  sink.write(bytes_of(first));
  sink.write(bytes_of(second));  // twice the block would be more
  EXPECT_EQ(sink.size(), both);
  EXPECT_THROW(sink.write(bytes_of(first)), MemoryLimitError);
}

TEST(OutputFileSink, PublishesAtItsEndAlone) {
  const TemporaryFolder folder;
  LocalFileSystem files;
  const std::string path = folder.path() + "/a/b.arrow";
  const std::array pieces = {bytes_of("one"), bytes_of(""), bytes_of("two")};
  {
    const auto sink = output_file_sink(files.open_output(path));
    sink->write(pieces);
  }
  EXPECT_FALSE(files.stat(path));
  const auto sink = output_file_sink(files.open_output(path));
  EXPECT_EQ(sink->name(), path);
  sink->write(pieces);
  sink->write(bytes_of("three"));
  EXPECT_FALSE(files.stat(path));
  sink->finish();
  MemoryPool pool;
  EXPECT_EQ(read_file(files, path, pool, 100).text(), "onetwothree");
}

TEST(DescriptorSink, GathersThroughAPipeThatIsSlow) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  // Non-blocking, as a terminal may be that another program shares.
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  std::string expected;
  std::vector<std::string> parts;
  for (size_t i = 0; i < 2000; ++i) parts.emplace_back(i * 7 % 1000, static_cast<char>('a' + i % 26));
  std::vector<std::span<const std::byte>> pieces;
  for (const std::string& part : parts) {
    expected += part;
    pieces.push_back(bytes_of(part));
  }
  std::string got;
  std::thread reader([&] {
    std::array<char, 1000> block;
    for (;;) {
      const ssize_t size = ::read(ends[0], block.data(), block.size());
      if (size <= 0) break;
      got.append(block.data(), static_cast<size_t>(size));
    }
  });
  const auto sink = descriptor_sink(ends[1], "a pipe");
  sink->write(pieces);
  sink->finish();
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(got == expected);
}

TEST(DescriptorSink, NamesAPipeThatNobodyReads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  const auto sink = descriptor_sink(ends[1], "standard output");
  try {
    sink->write(bytes_of("x"));
    ADD_FAILURE() << "written";
  } catch (const IoError& error) {
    EXPECT_EQ(error.error_number(), EPIPE);
    EXPECT_THAT(error.what(), HasSubstr("standard output"));
  }
  std::signal(SIGPIPE, previous);
  ::close(ends[1]);
}

}  // namespace
}  // namespace frazil
