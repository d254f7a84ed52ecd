#include "bench.h"

#include "verbs.h"

namespace frazil::cli {

void add_bench(Command& root) {
  Command bench = root.add("bench", "Measure Frazil on your own data");
  add_bench_read(bench);
}

}  // namespace frazil::cli
