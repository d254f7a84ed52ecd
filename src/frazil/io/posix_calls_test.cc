#include "frazil/io/posix_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace frazil {
namespace {

constexpr std::string_view kContent = "the loose ice that forms in fast-flowing water";

// A pread over kContent that answers by a script: positive = at most so many bytes, negative = this errno, then all.
struct ScriptedRead {
  std::deque<int> script;
  int calls = 0;
  ssize_t operator()(void* data, size_t size, off_t offset) {
    ++calls;
    int answer = 1000;
    if (!script.empty()) {
      answer = script.front();
      script.pop_front();
    }
    if (answer < 0) {
      errno = -answer;
      return -1;
    }
    const size_t at = std::min(static_cast<size_t>(offset), kContent.size());
    const size_t count = std::min({size, static_cast<size_t>(answer), kContent.size() - at});
    std::memcpy(data, kContent.data() + at, count);
    return static_cast<ssize_t>(count);
  }
};

TEST(PosixCalls, GoOnAfterShortAndInterruptedReads) {
  ScriptedRead read{{1, -EINTR, 2, -EINTR, -EINTR, 3}};
  std::array<std::byte, 20> out{};
  EXPECT_EQ(read_fully(std::ref(read), 4, out), out.size());
  EXPECT_EQ(std::memcmp(out.data(), kContent.data() + 4, out.size()), 0);
  EXPECT_EQ(read.calls, 7);
}

TEST(PosixCalls, TellTheEndOfAFileFromAnError) {
  std::array<std::byte, 20> out{};
  errno = EBADF;
  EXPECT_EQ(read_fully(ScriptedRead{{}}, kContent.size() - 5, out), 5u);
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(read_fully(ScriptedRead{{3, -EIO}}, 0, out), 3u);
  EXPECT_EQ(errno, EIO);
}

TEST(PosixCalls, GoOnAfterShortAndInterruptedWrites) {
  std::string written;
  std::deque<int> script = {1, -EINTR, 5, -EINTR};
  const auto write = [&](const void* data, size_t size) -> ssize_t {
    int answer = 1000;
    if (!script.empty()) {
      answer = script.front();
      script.pop_front();
    }
    if (answer < 0) {
      errno = -answer;
      return -1;
    }
    const size_t count = std::min(size, static_cast<size_t>(answer));
    written.append(static_cast<const char*>(data), count);
    return static_cast<ssize_t>(count);
  };
  EXPECT_TRUE(write_fully(write, {reinterpret_cast<const std::byte*>(kContent.data()), kContent.size()}));
  EXPECT_EQ(written, kContent);
  script = {2, -ENOSPC};
  EXPECT_FALSE(write_fully(write, {reinterpret_cast<const std::byte*>(kContent.data()), kContent.size()}));
  EXPECT_EQ(errno, ENOSPC);
  script = {0};
  EXPECT_FALSE(write_fully(write, {reinterpret_cast<const std::byte*>(kContent.data()), kContent.size()}));
  EXPECT_EQ(errno, EIO);
}

TEST(PosixCalls, GoOnAfterShortAndInterruptedWritesOfPieces) {
  // Cut at every byte, with empty pieces, and more of them than one call takes.
  std::vector<std::string> parts = {"", "a", "", "bcd", "e"};
  for (int i = 0; i < 600; ++i) parts.emplace_back(static_cast<size_t>(i % 3), static_cast<char>('f' + i % 20));
  parts.emplace_back();
  std::string expected;
  std::vector<std::span<const std::byte>> pieces;
  for (const std::string& part : parts) {
    expected += part;
    pieces.push_back(std::as_bytes(std::span(part)));
  }
  for (size_t most : {1, 2, 3, 7, 300, 10'000}) {
    std::string written;
    int calls = 0;
    const auto write = [&](const iovec* vectors, int count) -> ssize_t {
      if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
      }
      size_t left = most;
      for (int i = 0; i < count; ++i) {
        EXPECT_NE(vectors[i].iov_len, 0U);
        const size_t taken = std::min(left, vectors[i].iov_len);
        written.append(static_cast<const char*>(vectors[i].iov_base), taken);
        left -= taken;
      }
      return static_cast<ssize_t>(most - left);
    };
    EXPECT_TRUE(write_pieces_fully(write, pieces));
    EXPECT_EQ(written, expected) << most;
  }
  const auto fail = [](const iovec*, int) -> ssize_t {
    errno = ENOSPC;
    return -1;
  };
  EXPECT_FALSE(write_pieces_fully(fail, pieces));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_FALSE(write_pieces_fully([](const iovec*, int) -> ssize_t { return 0; }, pieces));
  EXPECT_EQ(errno, EIO);
  EXPECT_TRUE(write_pieces_fully(fail, {}));
}

TEST(PosixCalls, ReportAFullDevice) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  const auto write = [&](const void* data, size_t size) { return ::write(full, data, size); };
  EXPECT_FALSE(write_fully(write, {reinterpret_cast<const std::byte*>(kContent.data()), kContent.size()}));
  EXPECT_EQ(errno, ENOSPC);
  ::close(full);
}

}  // namespace
}  // namespace frazil
