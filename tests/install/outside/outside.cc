// Counts the rows of a table; prints what is wrong with a table that is not there.
#include <cstdint>
#include <cstdio>

#include <frazil/frazil.h>

int main(int, char** arguments) try {
  frazil::Context context({.memory_budget_bytes = 16 << 20});
  auto stream = frazil::open_table(context, arguments[1]).scan().execute();
  int64_t rows = 0;
  while (auto batch = stream->next()) rows += batch->row_count();
  std::printf("%lld rows\n", static_cast<long long>(rows));
} catch (const frazil::Error& error) {
  std::printf("error: %s\n", error.what());
  return 3;
}
