// What the two parts of ValueDecoder share: copying short values, and the length in front of a plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::parquet {

[[noreturn]] void throw_values_end(size_t wanted);

// Copies in steps of 16 bytes, up to 15 behind the end on both sides: short values take one load and one store. The target
// may lie in what is read too far.
inline void copy_padded(std::byte* target, const std::byte* source, size_t size) {
  struct Step {
    uint64_t words[2];
  };
  store(target, load<Step>(source));
  for (size_t done = 16; done < size; done += 16) store(target + done, load<Step>(source + done));
}

// The length of the value at `source`; throws unless it and its bytes are there.
inline uint32_t checked_length(const std::byte* source, const std::byte* end, size_t wanted) {
  const auto left = static_cast<size_t>(end - source);
  if (left < 4) throw_values_end(wanted);
  const auto length = load<uint32_t>(source);
  if (length > left - 4) {
    throw_corrupt(CorruptError::kNoOffset, "a value of {} bytes in the last {} of the page", length, left - 4);
  }
  return length;
}

}  // namespace frazil::parquet
