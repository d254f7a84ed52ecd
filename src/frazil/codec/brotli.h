// Brotli. Its state and window (up to 16 MiB) live for one call and are charged to the pool as they are allocated.
#pragma once

#include "frazil/codec/attempt.h"

namespace frazil {

class MemoryPool;

// Throws MemoryLimitError too.
std::optional<size_t> attempt_brotli(MemoryPool& pool, Bytes input, std::span<std::byte> output);

}  // namespace frazil
