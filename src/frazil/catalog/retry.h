// Trying again: how often, how long to wait, when to give up. A commit after a conflict (table properties commit.retry.*),
// and the look at a commit whose answer was lost (commit.status-check.*).
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "frazil/spec/statistics.h"

namespace frazil {
class Context;
}

namespace frazil::catalog {

struct RetryPolicy {
  int64_t retries_max = 4;
  std::chrono::milliseconds wait_min{100};
  std::chrono::milliseconds wait_max{60'000};
  std::chrono::milliseconds total_max{1'800'000};
};

// Throw Error(kInvalidArgument) for a property that is no number. Statuses are looked at 3 times more, a second apart at
// first, if the table does not say otherwise.
RetryPolicy retry_policy(const spec::Properties& properties);
RetryPolicy status_check_policy(const spec::Properties& properties);

// The waits of one commit. They double from wait_min to wait_max, and each is random in its upper half, so that writers
// that met once do not meet again.
class Backoff {
 public:
  // The context outlives it. Time counts from here.
  Backoff(Context& context, const RetryPolicy& policy);

  // Waits; false, without waiting, if the retries are used up or the time would be. Throws CancelledError.
  [[nodiscard]] bool wait(const std::stop_token& stop);
  int64_t retries() const { return retries_; }

 private:
  Context* context_;
  RetryPolicy policy_;
  std::chrono::nanoseconds started_;
  int64_t retries_ = 0;
};

}  // namespace frazil::catalog
