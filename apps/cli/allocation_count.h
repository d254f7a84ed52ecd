// How often the program asks the C++ heap for memory. Counts all calls of operator new, on every thread.
#pragma once

#include <cstdint>
#include <optional>

namespace frazil::cli {

// Since the program began. Nothing under sanitizers, whose own operator new must stay.
std::optional<uint64_t> heap_allocations() noexcept;

}  // namespace frazil::cli
