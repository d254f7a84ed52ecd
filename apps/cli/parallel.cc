#include "parallel.h"

#include <algorithm>
#include <atomic>

#include "session.h"

#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"

namespace frazil::cli {

void for_each_index(Session& session, size_t threads, size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  TaskGroup group(session.context().thread_pool(), session.stop());
  for (size_t thread = 0; thread < std::min(threads, count); ++thread) {
    group.run([&] {
      for (size_t index = next++; index < count && !group.stop_requested(); index = next++) work(index);
    });
  }
  group.wait();
}

}  // namespace frazil::cli
