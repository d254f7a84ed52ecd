#include "frazil/io/byte_source.h"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace frazil {
namespace {

std::string made_up(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 >> 7);
  return text;
}

std::string read_all(ByteSource& source) {
  std::string text;
  std::vector<std::byte> bytes(100'000);
  while (const size_t got = source.read(bytes)) text.append(reinterpret_cast<const char*>(bytes.data()), got);
  EXPECT_EQ(source.bytes_read(), text.size());
  return text;
}

// What came through a pipe, and what it holds then.
std::pair<std::string, int> through_pipe(const std::string& text) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::thread producer([&text, end = ends[1]] {
    for (size_t at = 0; at < text.size();) {
      const ssize_t count = ::write(end, text.data() + at, text.size() - at);
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
    ::close(end);
  });
  const std::string read = read_all(*descriptor_source(ends[0], "a pipe"));
  const int held = ::fcntl(ends[0], F_GETPIPE_SZ);
  producer.join();
  ::close(ends[0]);
  return {read, held};
}

TEST(DescriptorSource, WidensAPipeThroughWhichMuchComes) {
  const std::string little = made_up(30'000);
  const auto [little_read, little_held] = through_pipe(little);
  EXPECT_EQ(little_read, little);
  EXPECT_LE(little_held, 64 << 10);
  const std::string much = made_up(3'000'000);
  const auto [much_read, much_held] = through_pipe(much);
  EXPECT_EQ(much_read, much);
  EXPECT_GE(much_held, little_held);
  // A system may allow less than usual.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int most = ::fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
  ::close(ends[0]);
  ::close(ends[1]);
  if (most < 1 << 20) GTEST_SKIP() << "pipes of 1 MiB are not allowed";
  EXPECT_EQ(much_held, 1 << 20);
}

TEST(DescriptorSource, ReadsWhatIsNoPipe) {
  char path[] = "/tmp/frazil_byte_source_XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ::unlink(path);
  const std::string text = made_up(200'000);
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(file, 0, SEEK_SET);
  EXPECT_EQ(read_all(*descriptor_source(file, "a file")), text);
  ::close(file);
}

}  // namespace
}  // namespace frazil
