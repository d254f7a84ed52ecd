// Any bytes: parse() gives a value or CorruptError, stays within the budget of the pool, and a value survives writing
// and reading again, compact and indented.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  MemoryPool pool({.budget_bytes = 4 << 20});
  try {
    const json::Value value = json::parse({reinterpret_cast<const char*>(data), size}, {.pool = &pool});
    const std::string compact = json::write(value);
    if (!(json::parse(compact) == value) || json::write(json::parse(compact)) != compact) std::abort();
    if (!(json::parse(json::write(value, 2)) == value)) std::abort();
  } catch (const CorruptError& error) {
    if (error.offset() > size) std::abort();
  } catch (const MemoryLimitError&) {
  }
  if (pool.stats().held_bytes != 0) std::abort();
  return 0;
}
