#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

#include "frazil/base/error.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"
#include "frazil/scan/filter.h"
#include "frazil/scan/planner.h"
#include "frazil/scan/scan.h"

namespace frazil::scan {

namespace {

int64_t stated_rows(Context& context, const Planner& planner) {
  std::atomic<uint64_t> rows = 0;
  TaskGroup group(context.thread_pool());
  for (size_t i = 0; i < planner.manifest_count(); ++i) {
    group.run([&, i] {
      for (const Task& task : planner.read_manifest(i)) rows += static_cast<uint64_t>(task.record_count);
    });
  }
  group.wait();
  return static_cast<int64_t>(std::min<uint64_t>(rows, std::numeric_limits<int64_t>::max()));
}

}  // namespace

int64_t count_rows(Context& context, const Source& source, const Options& options) {
  const int64_t limit = options.limit.value_or(std::numeric_limits<int64_t>::max());
  if (options.where == predicate::Predicate()) {
    MemoryPool pool({.budget_bytes = std::min(options.memory_budget_bytes, context.memory_pool().budget_bytes()),
                     .parent = &context.memory_pool()});
    return std::min(limit, stated_rows(context, Planner(source, options, pool)));
  }
  Options counting = options;
  counting.no_columns = true;
  counting.order = options.order == Order::kSequential ? Order::kSequential : Order::kArrival;
  const auto stream = open(context, source, counting);
  int64_t rows = 0;
  while (const auto batch = stream->next()) rows += batch->row_count();
  return rows;
}

}  // namespace frazil::scan
