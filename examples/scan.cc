// Streams a table within 64 MiB: examples_scan PATH COLUMN...
#include <cstdio>
#include <string>
#include <vector>

#include "frazil/frazil.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PATH [COLUMN...]\n", argv[0]);
    return 2;
  }
  try {
    frazil::Context context({.memory_budget_bytes = size_t{64} << 20});
    const auto table = frazil::open_table(context, argv[1]);
    auto stream =
        table.scan().select(std::vector<std::string>(argv + 2, argv + argc)).order(frazil::ScanOrder::kTask).execute();
    std::printf("%s\n", stream->schema()->to_string().c_str());
    long long rows = 0;
    while (auto batch = stream->next()) rows += batch->row_count();
    std::printf("%lld rows, %zu bytes at most\n", rows, stream->stats().pool.held_peak_bytes);
    return 0;
  } catch (const frazil::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
