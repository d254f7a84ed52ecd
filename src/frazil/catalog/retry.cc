#include "frazil/catalog/retry.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/table_properties.h"

namespace frazil::catalog {
namespace {

constexpr int64_t kDayMs = 86'400'000;

std::chrono::milliseconds milliseconds_of(const spec::Properties& properties, std::string_view key,
                                          std::chrono::milliseconds standard) {
  // Java's "for ever" is more than fits into nanoseconds.
  return std::chrono::milliseconds(std::min(spec::property_int(properties, key, standard.count()), 365 * kDayMs));
}

RetryPolicy read_policy(const spec::Properties& properties, const std::string& prefix, RetryPolicy policy) {
  policy.retries_max = spec::property_int(properties, prefix + "num-retries", policy.retries_max);
  policy.wait_min = milliseconds_of(properties, prefix + "min-wait-ms", policy.wait_min);
  policy.wait_max = milliseconds_of(properties, prefix + "max-wait-ms", policy.wait_max);
  policy.total_max = milliseconds_of(properties, prefix + "total-timeout-ms", policy.total_max);
  return policy;
}

}  // namespace

RetryPolicy retry_policy(const spec::Properties& properties) {
  return read_policy(properties, "commit.retry.", RetryPolicy());
}

RetryPolicy status_check_policy(const spec::Properties& properties) {
  return read_policy(properties, "commit.status-check.",
                     {.retries_max = 3, .wait_min = std::chrono::milliseconds(1'000)});
}

Backoff::Backoff(Context& context, const RetryPolicy& policy)
    : context_(&context), policy_(policy), started_(context.clock().steady_now()) {}

bool Backoff::wait(const std::stop_token& stop) {
  if (retries_ >= policy_.retries_max) return false;
  std::chrono::nanoseconds longest = policy_.wait_min;
  for (int64_t i = 0; i < retries_ && longest < policy_.wait_max; ++i) longest *= 2;
  longest = std::min<std::chrono::nanoseconds>(longest, policy_.wait_max);
  const auto half = static_cast<uint64_t>(longest.count() / 2);
  const std::chrono::nanoseconds wait(static_cast<int64_t>(half + context_->random().below(half + 1)));
  if (context_->clock().steady_now() - started_ + wait > policy_.total_max) return false;
  ++retries_;
  if (!context_->clock().sleep(wait, stop)) throw CancelledError();
  return true;
}

}  // namespace frazil::catalog
