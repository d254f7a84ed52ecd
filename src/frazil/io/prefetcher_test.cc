#include "frazil/io/prefetcher.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

std::string content_of(size_t size) {
  std::string content(size, '\0');
  for (size_t index = 0; index < size; ++index) content[index] = static_cast<char>(index * 31 + (index >> 8));
  return content;
}

// A file in memory that can be slow and can fail.
class TestFile final : public InputFile {
 public:
  explicit TestFile(std::string content) : content_(std::move(content)) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return content_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    const int now = ++reading;
    int seen = most_reading;
    while (now > seen && !most_reading.compare_exchange_weak(seen, now)) {
    }
    if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    --reading;
    uint64_t expected = offset;
    if (fail_at.compare_exchange_strong(expected, UINT64_MAX)) throw IoError(EIO, "no luck");
    std::copy_n(reinterpret_cast<const std::byte*>(content_.data()) + offset, out.size(), out.begin());
  }

  mutable std::atomic<int> reads{0};
  mutable std::atomic<int> reading{0};
  mutable std::atomic<int> most_reading{0};
  mutable std::atomic<uint64_t> fail_at{UINT64_MAX};
  int delay_us = 0;

 private:
  const std::string content_;
  const std::string path_ = "test";
};

std::vector<ByteRange> equal_ranges(size_t count, uint64_t length) {
  std::vector<ByteRange> ranges;
  for (size_t index = 0; index < count; ++index) ranges.push_back({index * length, length});
  return ranges;
}

TEST(Prefetcher, GivesTheRangesInOrder) {
  const std::string content = content_of(200000);
  ThreadPool threads(2);
  MemoryPool pool;
  const auto file = std::make_shared<TestFile>(content);
  const std::vector<ByteRange> ranges = {{100, 5000}, {0, 0}, {0, 100}, {150000, 50000}, {100, 5000}, {200000, 0}};
  Prefetcher prefetcher(file, ranges, threads, pool.reserve(1 << 20));
  for (const ByteRange& range : ranges) {
    const std::optional<Buffer> buffer = prefetcher.next();
    ASSERT_TRUE(buffer.has_value());
    EXPECT_TRUE(buffer->text() == std::string_view(content).substr(range.offset, range.length));
  }
  EXPECT_FALSE(prefetcher.next().has_value());
  EXPECT_FALSE(prefetcher.next().has_value());
}

TEST(Prefetcher, ReadsAheadWithinItsBudget) {
  constexpr size_t kRangeBytes = 64 << 10;
  const std::string content = content_of(64 * kRangeBytes);
  const auto file = std::make_shared<TestFile>(content);
  ThreadPool threads(2);
  const size_t budget = 4 * MemoryPool::block_bytes(kRangeBytes);
  MemoryPool pool({.budget_bytes = budget + MemoryPool::block_bytes(kRangeBytes)});
  Prefetcher prefetcher(file, equal_ranges(64, kRangeBytes), threads, pool.reserve(budget));
  // Without anybody asking, four ranges are read and no more.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (file->reads < 4 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(file->reads, 4);
  size_t taken = 0;
  while (std::optional<Buffer> buffer = prefetcher.next()) {
    EXPECT_TRUE(buffer->text() == std::string_view(content).substr(taken * kRangeBytes, kRangeBytes));
    ++taken;
  }
  EXPECT_EQ(taken, 64u);
  EXPECT_LE(pool.stats().held_peak_bytes, pool.budget_bytes());
}

TEST(Prefetcher, GoesOnWhenTheConsumerKeepsEverything) {
  constexpr size_t kRangeBytes = 64 << 10;
  const size_t block = MemoryPool::block_bytes(kRangeBytes);
  const auto file = std::make_shared<TestFile>(content_of(8 * kRangeBytes));
  ThreadPool threads(1);
  MemoryPool pool({.budget_bytes = 6 * block});
  Prefetcher prefetcher(file, equal_ranges(8, kRangeBytes), threads, pool.reserve(3 * block));
  std::vector<Buffer> kept;
  for (int index = 0; index < 6; ++index) kept.push_back(*prefetcher.next());
  // Nothing is left: an error that says so, and after a release the same range again.
  EXPECT_THROW(prefetcher.next(), MemoryLimitError);
  EXPECT_THROW(prefetcher.next(), MemoryLimitError);
  kept.clear();
  EXPECT_TRUE(prefetcher.next().has_value());
  EXPECT_TRUE(prefetcher.next().has_value());
  EXPECT_FALSE(prefetcher.next().has_value());
}

TEST(Prefetcher, ReadsARangeBeyondTheBudgetAtTheHeadOfTheLine) {
  const auto file = std::make_shared<TestFile>(content_of(1 << 20));
  ThreadPool threads(1);
  MemoryPool pool;
  Prefetcher prefetcher(file, {{0, 100}, {100, 900000}, {0, 10}}, threads, pool.reserve(8192));
  EXPECT_EQ(prefetcher.next()->size(), 100u);
  EXPECT_EQ(prefetcher.next()->size(), 900000u);
  EXPECT_EQ(prefetcher.next()->size(), 10u);
  MemoryPool small({.budget_bytes = 100000});
  Prefetcher failing(file, {{0, 900000}}, threads, small.reserve(8192));
  EXPECT_THROW(failing.next(), MemoryLimitError);
}

TEST(Prefetcher, NeedsNoThreadOfThePool) {
  const std::string content = content_of(100000);
  const auto file = std::make_shared<TestFile>(content);
  std::atomic<bool> release{false};
  std::atomic<bool> blocked{false};
  ThreadPool threads(1);  // after what its task uses
  threads.submit([&] {
    blocked = true;
    while (!release) std::this_thread::yield();
  });
  while (!blocked) std::this_thread::yield();
  MemoryPool pool;
  {
    Prefetcher prefetcher(file, equal_ranges(10, 10000), threads, pool.reserve(1 << 20));
    size_t count = 0;
    while (prefetcher.next()) ++count;
    EXPECT_EQ(count, 10u);
  }
  {
    // Dropped with everything still in the queue: neither the file nor memory stays behind.
    Prefetcher dropped(file, equal_ranges(10, 10000), threads, pool.reserve(1 << 20));
    EXPECT_GT(file.use_count(), 1);
  }
  EXPECT_EQ(file.use_count(), 1);
  const MemoryPoolStats stats = pool.stats();
  EXPECT_EQ(stats.held_bytes - stats.idle_bytes, 0u);
  EXPECT_EQ(stats.promised_bytes, 0u);
  release = true;
}

TEST(Prefetcher, ThrowsWhatReadingThrewAndTriesAgain) {
  const std::string content = content_of(50000);
  for (int threads_count : {1, 4}) {
    const auto file = std::make_shared<TestFile>(content);
    file->fail_at = 20000;
    ThreadPool threads(static_cast<size_t>(threads_count));
    MemoryPool pool;
    Prefetcher prefetcher(file, equal_ranges(5, 10000), threads, pool.reserve(1 << 20));
    EXPECT_TRUE(prefetcher.next().has_value());
    EXPECT_TRUE(prefetcher.next().has_value());
    EXPECT_THROW(prefetcher.next(), IoError);
    EXPECT_TRUE(prefetcher.next()->text() == content.substr(20000, 10000));
    EXPECT_TRUE(prefetcher.next()->text() == content.substr(30000, 10000));
    EXPECT_TRUE(prefetcher.next()->text() == content.substr(40000, 10000));
    EXPECT_FALSE(prefetcher.next().has_value());
  }
}

TEST(Prefetcher, RefusesRangesPastTheEndBeforeItAllocates) {
  const auto file = std::make_shared<TestFile>(content_of(100));
  ThreadPool threads(1);
  MemoryPool pool;
  for (const ByteRange range :
       {ByteRange{0, 101}, ByteRange{101, 0}, ByteRange{UINT64_MAX, 2}, ByteRange{1, UINT64_MAX}}) {
    EXPECT_THROW(Prefetcher(file, {range}, threads, pool.reserve(1000)), CorruptError);
  }
  EXPECT_EQ(pool.stats().allocations, 0u);
}

TEST(Prefetcher, CanBeDroppedAtAnyMoment) {
  const auto file = std::make_shared<TestFile>(content_of(1 << 20));
  file->delay_us = 20;
  ThreadPool threads(4);
  MemoryPool pool;
  for (size_t round = 0; round < 200; ++round) {
    Prefetcher prefetcher(file, equal_ranges(64, 1000), threads, pool.reserve(20000));
    for (size_t index = 0; index < round % 10; ++index) prefetcher.next();
  }
  EXPECT_EQ(file->reading, 0);
  EXPECT_EQ(file.use_count(), 1);
  const MemoryPoolStats stats = pool.stats();
  EXPECT_EQ(stats.held_bytes - stats.idle_bytes + stats.promised_bytes, 0u);
}

RC_GTEST_PROP(Prefetcher, GivesTheSameBytesAsReadingDirectly, ()) {
  const std::string content = content_of(5000);
  const auto ends = *rc::gen::container<std::vector<std::pair<uint64_t, uint64_t>>>(
      rc::gen::pair(rc::gen::inRange<uint64_t>(0, 5001), rc::gen::inRange<uint64_t>(0, 5001)));
  std::vector<ByteRange> ranges;
  for (const auto& [a, b] : ends) ranges.push_back({std::min(a, b), std::max(a, b) - std::min(a, b)});
  const auto file = std::make_shared<TestFile>(content);
  ThreadPool threads(2);
  MemoryPool pool;
  Prefetcher prefetcher(file, ranges, threads, pool.reserve(*rc::gen::inRange<size_t>(0, 20000)),
                        *rc::gen::inRange<size_t>(0, 5));
  for (const ByteRange& range : ranges) {
    const std::optional<Buffer> buffer = prefetcher.next();
    RC_ASSERT(buffer.has_value());
    RC_ASSERT(buffer->text() == std::string_view(content).substr(range.offset, range.length));
  }
  RC_ASSERT(!prefetcher.next().has_value());
  RC_ASSERT(file->reads == static_cast<int>(ranges.size()));
}

}  // namespace
}  // namespace frazil
