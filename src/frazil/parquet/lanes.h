// Lanes: threads that work on different columns of one reader at the same time, where there are fewer files than threads.
// The thread that steps the reader is the first of them; whoever has the threads lends the others.
#pragma once

#include <cstddef>
#include <functional>

namespace frazil::parquet {

class LaneRunner {
 public:
  virtual ~LaneRunner() = default;
  // Calls work(0) .. work(count - 1), each once, on any threads, and returns when all have ended. `work` does not throw.
  virtual void run(size_t count, const std::function<void(size_t)>& work) = 0;
};

struct Lanes {
  LaneRunner* runner = nullptr;  // outlives the steps that use it; nullptr: one lane
  size_t count = 1;
  // Work on fewer bytes of values is done by the first lane alone: waking the others takes as long.
  size_t bytes_min = size_t{256} << 10;

  bool several() const { return runner != nullptr && count > 1; }
};

}  // namespace frazil::parquet
