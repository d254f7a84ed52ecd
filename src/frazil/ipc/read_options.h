// What readers of Arrow IPC are asked for, and how far they trust what they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace frazil::ipc {

class SchemaCache;

// One for all readers of the process, of SchemaCache::kBytesMax at most.
SchemaCache& shared_schema_cache();

enum class Validation : uint8_t {
  // In constant time a buffer, always: each buffer is inside of its body and long enough for the values that are
  // counted, lengths and counts agree, dictionaries are there. Bytes of the body are not looked at, so that a mapped
  // file is not touched: offsets and indices are believed.
  kBasic,
  // And all that validate_full() checks (offsets, UTF-8, indices, null counts, run ends), in O(values). What passes is
  // safe to look at whoever wrote it.
  kFull,
};

struct ReadOptions {
  // Top-level columns by index, in the order wanted, none twice; nothing: all. What other columns need is not read
  // (file), not kept (stream), not decompressed and not checked.
  std::optional<std::vector<size_t>> columns = {};
  Validation validation = Validation::kBasic;
  // FileReader and open(): maps files that can be (InputFile::map()) instead of reading ranges. A mapped file that
  // somebody shortens raises SIGBUS on access; reading survives it with an error.
  bool map_files = false;

  // Larger messages are refused before anything is allocated for them. Metadata are those of one message, or a file's
  // footer.
  uint64_t max_metadata_bytes = uint64_t{256} << 20;
  uint64_t max_body_bytes = UINT64_MAX;
  // What the compressed buffers of one message may become. The pool's budget holds besides.
  uint64_t max_decompressed_bytes = uint64_t{16} << 30;

  // Schemas decoded before, which an input of the same schema need not decode again. Outlives the readers; nullptr: every
  // schema is decoded.
  SchemaCache* schema_cache = &shared_schema_cache();
};

}  // namespace frazil::ipc
