#include "frazil/runtime/channel.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

TEST(Channel, GivesItemsInOrderAndThenTheEnd) {
  Channel<int> channel(100);
  EXPECT_TRUE(channel.push(1, 10));
  EXPECT_TRUE(channel.push(2, 20));
  EXPECT_EQ(channel.queued_bytes(), 30u);
  channel.close();
  EXPECT_FALSE(channel.push(3, 1));
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), 2);
  EXPECT_EQ(channel.queued_bytes(), 0u);
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, IsFullByBytes) {
  Channel<int> channel(100);
  int item = 1;
  EXPECT_TRUE(channel.try_push(item, 60));
  EXPECT_FALSE(channel.try_push(item, 41));
  EXPECT_TRUE(channel.try_push(item, 40));
  EXPECT_FALSE(channel.try_push(item, 1));
  EXPECT_TRUE(channel.try_push(item, 0));
  EXPECT_FALSE(channel.try_push(item, SIZE_MAX));
}

TEST(Channel, LetsAnItemLargerThanTheLimitPassAlone) {
  Channel<int> channel(100);
  EXPECT_TRUE(channel.push(1, 1000));
  int item = 2;
  EXPECT_FALSE(channel.try_push(item, 0));
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_TRUE(channel.push(2, SIZE_MAX));
  EXPECT_FALSE(channel.try_push(item, 1));
}

TEST(Channel, LeavesTheItemUntouchedWhenItIsFull) {
  Channel<std::unique_ptr<int>> channel(10);
  EXPECT_TRUE(channel.push(std::make_unique<int>(1), 10));
  auto item = std::make_unique<int>(2);
  EXPECT_FALSE(channel.try_push(item, 1));
  EXPECT_NE(item, nullptr);
  EXPECT_EQ(**channel.pop(), 1);
  EXPECT_TRUE(channel.try_push(item, 1));
  EXPECT_EQ(item, nullptr);
}

TEST(Channel, PushWaitsForRoom) {
  Channel<int> channel(10);
  EXPECT_TRUE(channel.push(1, 10));
  std::atomic<bool> pushed = false;
  std::thread producer([&] {
    EXPECT_TRUE(channel.push(2, 5));
    pushed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(pushed);
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), 2);
  producer.join();
}

TEST(Channel, OnePopMayMakeRoomForSeveral) {
  Channel<int> channel(10);
  EXPECT_TRUE(channel.push(0, 10));
  std::vector<std::thread> producers;
  for (int index = 0; index < 5; ++index) producers.emplace_back([&] { EXPECT_TRUE(channel.push(1, 2)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for all of them to wait
  EXPECT_EQ(channel.pop(), 0);
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(channel.queued_bytes(), 10u);
}

TEST(Channel, CloseWakesEverybody) {
  Channel<int> full(1);
  Channel<int> empty(1);
  EXPECT_TRUE(full.push(1, 1));
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index) {
    threads.emplace_back([&] { EXPECT_FALSE(full.push(2, 1)); });
    threads.emplace_back([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  full.close();
  empty.close();
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(full.closed());
  EXPECT_EQ(full.pop(), 1);
}

TEST(Channel, ThrowsItsErrorOnceAfterTheLastItem) {
  Channel<int> channel(10);
  EXPECT_TRUE(channel.push(1, 1));
  channel.close(std::make_exception_ptr(std::runtime_error("broken")));
  channel.close();  // comes too late
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_THROW(channel.pop(), std::runtime_error);
  EXPECT_THROW(channel.pop(), CancelledError);
  EXPECT_THROW(channel.try_pop(), CancelledError);
}

TEST(Channel, AStopWakesWaitersAndWins) {
  Channel<int> full(1);
  Channel<int> empty(1);
  EXPECT_TRUE(full.push(1, 1));
  std::stop_source source;
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index) {
    threads.emplace_back([&] { EXPECT_THROW((void)full.push(2, 1, source.get_token()), CancelledError); });
    threads.emplace_back([&] { EXPECT_THROW(empty.pop(source.get_token()), CancelledError); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  source.request_stop();
  for (auto& thread : threads) thread.join();
  EXPECT_THROW(full.pop(source.get_token()), CancelledError) << "even though an item is there";
  EXPECT_EQ(full.pop(), 1);
}

TEST(Channel, AnItemIsNotLostWithAStoppedConsumer) {
  for (int round = 0; round < 5; ++round) {
    Channel<int> channel(10);
    std::stop_source source;
    std::atomic<int> got = 0;
    std::thread first([&] { EXPECT_THROW(channel.pop(source.get_token()), CancelledError); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::thread second([&] {
      while (auto item = channel.pop()) got += *item;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Callbacks that came last run first: the push wakes the first consumer, which sees the stop before its own
    // callback, that would wake everybody, has run.
    std::stop_callback push(source.get_token(), [&] {
      EXPECT_TRUE(channel.push(1, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
    source.request_stop();
    first.join();
    while (got == 0) std::this_thread::yield();  // hangs if the wake-up went to the first one
    channel.close();
    second.join();
  }
}

TEST(Channel, AbortDropsWhatIsQueued) {
  Channel<std::shared_ptr<int>> channel(10);
  auto item = std::make_shared<int>(1);
  EXPECT_TRUE(channel.push(item, 3));
  EXPECT_TRUE(channel.push(item, 3));
  channel.abort();
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_EQ(channel.queued_bytes(), 0u);
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, CarriesEveryItemOnceBetweenManyThreads) {
  constexpr int kProducers = 3;
  constexpr int kItems = 5000;
  Channel<int> channel(100);
  std::vector<std::atomic<int>> seen(kProducers * kItems);
  std::latch done(kProducers);
  std::vector<std::thread> threads;
  for (int producer = 0; producer < kProducers; ++producer) {
    threads.emplace_back([&, producer] {
      for (int item = 0; item < kItems; ++item) {
        EXPECT_TRUE(channel.push(producer * kItems + item, static_cast<size_t>(item % 37)));
      }
      done.count_down();
    });
    threads.emplace_back([&] {
      std::vector<int> last(kProducers, -1);
      while (auto item = channel.pop()) {
        ++seen[static_cast<size_t>(*item)];
        EXPECT_GT(*item, last[static_cast<size_t>(*item / kItems)]) << "one producer's items come in order";
        last[static_cast<size_t>(*item / kItems)] = *item;
      }
    });
  }
  done.wait();
  channel.close();
  for (auto& thread : threads) thread.join();
  for (auto& count : seen) ASSERT_EQ(count, 1);
}

RC_GTEST_PROP(Channel, NeverHoldsMoreThanItsLimitUnlessItIsOneItem, (const std::vector<uint8_t>& steps)) {
  constexpr size_t kLimit = 300;
  Channel<size_t> channel(kLimit);
  std::deque<size_t> model;
  size_t model_bytes = 0;
  for (uint8_t step : steps) {
    if (step % 3 == 0) {
      auto item = channel.try_pop();
      RC_ASSERT(item.has_value() == !model.empty());
      if (!item) continue;
      RC_ASSERT(*item == model.front());
      model_bytes -= model.front();
      model.pop_front();
    } else {
      size_t bytes = size_t{step} * 2;
      bool fits = model.empty() || model_bytes + bytes <= kLimit;
      size_t item = bytes;
      RC_ASSERT(channel.try_push(item, bytes) == fits);
      if (!fits) continue;
      model.push_back(bytes);
      model_bytes += bytes;
    }
    RC_ASSERT(channel.queued_bytes() == model_bytes);
    RC_ASSERT(model_bytes <= kLimit || model.size() == 1);
  }
}

}  // namespace
}  // namespace frazil
