// The verbs of `frazil bench`: each measures Frazil at one job of bench/, on a user's own data.
#pragma once

#include "arguments.h"

namespace frazil::cli {

void add_bench_read(Command& bench);
void add_bench_write(Command& bench);
void add_bench_ipc(Command& bench);

}  // namespace frazil::cli
