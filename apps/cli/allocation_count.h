// How often the program asks the C++ heap for memory: all calls of operator new, on every thread, once somebody wants to
// know. Threads that count share one counter; others pay for a look at a flag alone.
#pragma once

#include <cstdint>
#include <optional>

namespace frazil::cli {

// From now on.
void count_heap_allocations() noexcept;
// Since then. Nothing under sanitizers, whose own operator new must stay.
std::optional<uint64_t> heap_allocations() noexcept;

}  // namespace frazil::cli
