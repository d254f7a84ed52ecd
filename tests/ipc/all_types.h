// Batches of every type, for tests that lead them through readers and writers.
#pragma once

#include <cstdint>

#include "frazil/memory/memory_pool.h"
#include "frazil/testing/ipc_contents.h"

namespace frazil::testing {

// Four, one of them without rows, with metadata wherever some can be: a column of each type, and of the layouts that nest.
IpcContents batches_of_all_types(uint64_t seed, MemoryPool& pool);

}  // namespace frazil::testing
