#include "frazil/runtime/context.h"

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/runtime/fake_clock.h"

namespace frazil {
namespace {

using namespace std::chrono_literals;

TEST(Clock, TheSystemsMovesOn) {
  SystemClock clock;
  auto steady = clock.steady_now();
  EXPECT_TRUE(clock.sleep(2ms));
  EXPECT_GE(clock.steady_now() - steady, 2ms);
  EXPECT_GT(clock.system_ms(), 1'750'000'000'000);
  EXPECT_GE(clock.system_us(), clock.system_ms() * 1000 - 1'000'000);
}

TEST(Clock, AStopEndsASleep) {
  SystemClock clock;
  std::stop_source source;
  std::thread sleeper([&] { EXPECT_FALSE(clock.sleep(std::chrono::nanoseconds::max(), source.get_token())); });
  std::this_thread::sleep_for(2ms);
  source.request_stop();
  sleeper.join();
  EXPECT_FALSE(clock.sleep(1h, source.get_token()));
  EXPECT_TRUE(clock.sleep(-1s));
}

TEST(FakeClock, PassesWhenTold) {
  FakeClock clock(1'000'000'123us);
  EXPECT_EQ(clock.system_us(), 1'000'000'123);
  EXPECT_EQ(clock.system_ms(), 1'000'000);
  EXPECT_TRUE(clock.sleep(1h));
  clock.advance(1ms);
  EXPECT_EQ(clock.steady_now(), 1h + 1ms);
  EXPECT_EQ(clock.system_us(), 1'000'000'123 + 3'600'001'000);
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(clock.sleep(1h, source.get_token()));
  EXPECT_EQ(clock.steady_now(), 1h + 1ms);
}

TEST(Clock, RoundsTimesBefore1970Down) {
  FakeClock clock(-1ns);
  EXPECT_EQ(clock.system_us(), -1);
  EXPECT_EQ(clock.system_ms(), -1);
}

// The test vector of Vigna's splitmix64.c for the seed 1234567.
TEST(SeededRandom, GivesTheNumbersOfSplitmix64) {
  SeededRandom random(1234567);
  for (uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                            16408922859458223821u}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(SystemRandom, DoesNotRepeat) {
  SystemRandom random;
  std::set<uint64_t> seen;
  for (int index = 0; index < 1000; ++index) EXPECT_TRUE(seen.insert(random.next()).second);
}

RC_GTEST_PROP(Random, BelowStaysBelow, (uint64_t seed, uint64_t bound)) {
  RC_PRE(bound > 0);
  SeededRandom random(seed);
  for (int index = 0; index < 10; ++index) RC_ASSERT(random.below(bound) < bound);
}

TEST(Random, BelowIsUniform) {
  SeededRandom random(7);
  std::map<uint64_t, int> counts;
  for (int index = 0; index < 60'000; ++index) ++counts[random.below(6)];
  ASSERT_EQ(counts.size(), 6u);
  for (auto [value, count] : counts) EXPECT_NEAR(count, 10'000, 500) << value;
  // 2^64 is 4/3 of this bound: a plain remainder would give every second number from the lowest third.
  int lowest_third = 0;
  for (int index = 0; index < 30'000; ++index)
    lowest_third += random.below(uint64_t{3} << 62) < uint64_t{1} << 62 ? 1 : 0;
  EXPECT_NEAR(lowest_third, 10'000, 500);
}

TEST(Random, MakesUuids) {
  SeededRandom random(1);
  std::set<std::string> seen;
  for (int index = 0; index < 100; ++index) {
    std::string v4 = to_string(random.uuid_v4());
    EXPECT_EQ(v4[14], '4');
    EXPECT_NE(std::string("89ab").find(v4[19]), std::string::npos);
    EXPECT_TRUE(seen.insert(v4).second);
    // RFC 9562 appendix A.6: 2022-02-22 19:22:22 UTC is 017f22e2-79b0-7...
    std::string v7 = to_string(random.uuid_v7(1645557742000ms));
    EXPECT_EQ(v7.substr(0, 15), "017f22e2-79b0-7");
    EXPECT_TRUE(seen.insert(v7).second);
  }
}

TEST(Context, HasTheBudgetAndThreadsThatWereAskedFor) {
  FakeClock clock;
  SeededRandom random(1);
  Context context({.memory_budget_bytes = 64 << 20, .threads = 3, .clock = &clock, .random = &random});
  EXPECT_EQ(context.memory_pool().budget_bytes(), size_t{64} << 20);
  EXPECT_EQ(context.thread_count(), 3u);
  EXPECT_EQ(&context.clock(), &clock);
  EXPECT_EQ(&context.random(), &random);
  EXPECT_EQ(&context.thread_pool(), &context.thread_pool());
  EXPECT_EQ(context.thread_pool().thread_count(), 3u);
}

TEST(Context, TakesTheSystemsByDefault) {
  Context context;
  EXPECT_EQ(context.memory_pool().budget_bytes(), size_t{256} << 20);
  EXPECT_EQ(context.thread_count(), ThreadPool::default_thread_count());
  EXPECT_GT(context.clock().system_ms(), 0);
  EXPECT_NE(context.random().next(), context.random().next());
}

}  // namespace
}  // namespace frazil
