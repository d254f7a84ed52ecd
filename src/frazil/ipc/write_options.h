// What writers of Arrow IPC leave to their caller.
#pragma once

#include <cstdint>
#include <optional>

#include "frazil/codec/codec.h"

namespace frazil::ipc {

// What becomes of a dictionary that differs from the one written before. One that is equal is not written again, whichever
// is chosen. A dictionary that has a replaced one inside is written whole.
enum class DictionaryChanges : uint8_t {
  // The new one whole, in the place of the old one. Streams only: the file format knows no replacement.
  kReplace,
  // What it has behind the old one, where it begins with the old one. Otherwise streams replace, and files append the values
  // that are new and change the indices.
  kDelta,
  // One dictionary, which grows: new values are appended and indices changed. Streams send them as deltas. A file has its
  // first dictionary before the first batch and, if it has grown, the last one before the footer, which names that one alone:
  // no reader needs to know deltas.
  kUnify,
};

struct WriteOptions {
  // Of buffers and messages: 8 or 64 bytes.
  uint32_t alignment = 8;
  // kNone, kLz4Frame or kZstd.
  Codec codec = Codec::kNone;
  // Of the codec, if there is one. Arrow's other writers have 1 too: for zstd half the time of its standard level, or less.
  int level = 1;
  // A buffer stays as it is unless compression saves more than this share of its bytes, 0 to 1.
  double min_space_savings = 0;
  // Streams: kReplace; files: kUnify.
  std::optional<DictionaryChanges> dictionaries = std::nullopt;
  // The fourth version (Arrow 0.8 to 0.17), for readers of that age: no codec.
  bool metadata_v4 = false;
};

}  // namespace frazil::ipc
