#include "bench.h"

#include "verbs.h"

namespace frazil::cli {

void add_bench(Command& root) {
  Command bench = root.add("bench", "Measure Frazil, on your own data and on made-up rows");
  add_bench_read(bench);
  add_bench_write(bench);
  add_bench_ipc(bench);
}

}  // namespace frazil::cli
