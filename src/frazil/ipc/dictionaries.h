// The dictionaries of a stream or a file, by their numbers in the schema (Columnar format, "Dictionary Messages").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/read_schema.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

class BatchDecoder;

enum class DictionaryRules : uint8_t {
  kStream,  // what comes later replaces what was there
  kFile,    // nothing is replaced
};

// Messages are kept as they came until a batch asks for their values: then those of inner dictionaries are there, in whatever
// order a writer sent them, and what nobody asks for costs nothing.
class Dictionaries {
 public:
  // Borrows the schema.
  Dictionaries(const ReadSchema& schema, DictionaryRules rules)
      : schema_(schema), rules_(rules), entries_(schema.dictionaries.size()) {}

  // The number of the dictionary that the message is of. Throws CorruptError if the schema has none of its id.
  uint32_t number_of(const Message& message) const;
  // `metadata` without prefix and `body` are kept. Throws CorruptError if it replaces another in a file, or extends none.
  void add(const Message& message, Buffer metadata, Buffer body, uint64_t body_offset);

  // The values as of now. `is_unused`: nothing refers to them, so that they need not be there. Throws CorruptError if they are
  // not there, and what decoding them throws.
  const ArrayPtr& values(uint32_t number, bool is_unused, BatchDecoder& decoder);

 private:
  struct Part {
    Buffer metadata;
    Buffer body;
    uint64_t metadata_offset;
    uint64_t body_offset;
  };
  struct Entry {
    // What came and was not asked for: a whole dictionary, unless `values` is one, and deltas behind either.
    std::optional<Part> whole;
    std::vector<Part> deltas;
    ArrayPtr values;
    bool is_validated = false;  // values
    ArrayPtr none;

    bool is_there() const { return whole || values != nullptr; }
    bool is_up_to_date() const { return !whole && deltas.empty(); }
  };

  static ArrayPtr decoded(const Part& part, const ReadSchema::Dictionary& dictionary, BatchDecoder& decoder);
  // Makes values of what came.
  void join(Entry& entry, const ReadSchema::Dictionary& dictionary, BatchDecoder& decoder);

  const ReadSchema& schema_;
  const DictionaryRules rules_;
  std::vector<Entry> entries_;
};

}  // namespace frazil::ipc
