#include "frazil/memory/buffer.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

void expect_empty(const Buffer& buffer) {
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.owner(), nullptr);
  ASSERT_NE(buffer.data(), nullptr);
  EXPECT_EQ(std::accumulate(buffer.data(), buffer.data() + 64, 0,
                            [](int sum, std::byte b) { return sum + static_cast<int>(b); }),
            0);
}

TEST(Buffer, IsEmptyAtFirstAndWhenMovedFrom) {
  Buffer buffer;
  expect_empty(buffer);
  buffer = Buffer::from_string("text");
  Buffer moved = std::move(buffer);
  expect_empty(buffer);  // NOLINT(bugprone-use-after-move): empty afterwards
  expect_empty(buffer.slice(0, 0));
  expect_empty(Buffer::borrow({}));
  expect_empty(Buffer::adopt(nullptr, 10, nullptr));
}

TEST(Buffer, KeepsAString) {
  for (std::string text : {std::string(), std::string("short"), std::string(1000, 'x')}) {
    Buffer buffer = Buffer::from_string(text);
    EXPECT_EQ(buffer.text(), text);
    Buffer copy = buffer;
    buffer = Buffer();
    EXPECT_EQ(copy.text(), text);
  }
}

TEST(Buffer, ReleasesForeignMemoryOnceAfterTheLastSlice) {
  auto memory = std::make_unique<std::string>("0123456789");
  int released = 0;
  Buffer buffer = Buffer::foreign(memory->data(), memory->size(), [&] {
    memory.reset();
    ++released;
  });
  EXPECT_EQ(buffer.data(), reinterpret_cast<const std::byte*>(memory->data()));
  Buffer slice = buffer.slice(3, 4);
  Buffer copy = slice;
  Buffer inner = slice.slice(1);
  buffer = Buffer();
  slice = std::move(copy);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(slice.text(), "3456");
  EXPECT_EQ(inner.text(), "456");
  slice = Buffer();
  EXPECT_EQ(released, 0);
  inner = Buffer();
  EXPECT_EQ(released, 1);
}

TEST(Buffer, ReleasesForeignMemoryOnceUnderManyThreads) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> released = 0;
    {
      static const char kByte = 'x';
      Buffer buffer = Buffer::foreign(&kByte, 1, [&] { ++released; });
      std::vector<std::thread> threads;
      for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([mine = buffer] {
          for (int copy = 0; copy < 100; ++copy) {
            Buffer other = mine.slice(0, 1);
            Buffer another = std::move(other);
          }
        });
      }
      buffer = Buffer();
      for (auto& thread : threads) thread.join();
    }
    ASSERT_EQ(released, 1);
  }
}

TEST(Buffer, ReleasesForeignMemoryWithoutData) {
  int released = 0;
  {
    Buffer buffer = Buffer::foreign(nullptr, 0, [&] { ++released; });
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, AssignsToItself) {
  Buffer buffer = Buffer::from_string("some text that is on the heap, surely");
  Buffer& same = buffer;
  buffer = same;
  EXPECT_EQ(buffer.text().substr(0, 9), "some text");
  buffer = buffer.slice(5);
  EXPECT_EQ(buffer.text().substr(0, 4), "text");
}

TEST(Buffer, RefusesSlicesWhoseEndOverflows) {
  Buffer buffer = Buffer::from_string("text");
  EXPECT_THROW(buffer.slice(2, SIZE_MAX), Error);
  EXPECT_THROW(buffer.slice(2, SIZE_MAX - 1), Error);
  EXPECT_THROW(buffer.slice(SIZE_MAX, 2), Error);
  EXPECT_THROW(buffer.slice(SIZE_MAX), Error);
}

RC_GTEST_PROP(Buffer, SlicesLikeStringsAndRefusesWhatIsOutside,
              (const std::string& text, size_t offset, size_t length)) {
  Buffer buffer = Buffer::from_string(text);
  for (size_t from : {offset % (text.size() + 2), offset}) {
    for (size_t count : {length % (text.size() + 2), length, SIZE_MAX - from}) {
      if (from <= text.size() && count <= text.size() - from) {
        RC_ASSERT(buffer.slice(from, count).text() == text.substr(from, count));
        RC_ASSERT(buffer.slice(from).text() == text.substr(from));
      } else {
        RC_ASSERT_THROWS_AS(buffer.slice(from, count), Error);
      }
    }
  }
  RC_ASSERT_THROWS_AS(buffer.slice(text.size() + 1), Error);
}

}  // namespace
}  // namespace frazil
