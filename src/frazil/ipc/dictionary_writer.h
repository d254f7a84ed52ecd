// Which dictionaries must be written before a batch, as whole ones or deltas, and how the batch's indices change where one
// dictionary grows for all batches (DictionaryChanges).
//
// A dictionary inside of another one comes before it, and an outer one is written whole again when an inner one was replaced:
// its indices mean what the inner one holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/ipc/write_options.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

class DictionaryWriter {
 public:
  using Emit = std::function<void(int64_t id, const Array& values, bool is_delta)>;
  enum class Format : uint8_t { kStream, kFile };

  // `pool` outlives it.
  DictionaryWriter(const Schema& schema, DictionaryChanges changes, Format format, MemoryPool& pool);
  ~DictionaryWriter();

  // Emits what the batch needs. Returns its columns, with other indices where dictionaries were unified; valid until the next
  // call. A dictionary that is the array of the last batch costs nothing, another one is compared: O(its values). Throws
  // CorruptError for an index outside of its dictionary where indices change, Error(kUnsupported) where they no longer fit.
  std::span<const ArrayPtr> prepare(const RecordBatch& batch, const Emit& emit);
  // At the end of a file: whole dictionaries in the place of those that have grown.
  void finish(const Emit& emit);

 private:
  struct Slot;
  // A part of the schema, rewritten if dictionaries in it were unified.
  struct Walked {
    ArrayPtr array;
    bool has_replaced = false;  // a dictionary was, in it or below
  };

  Walked walk(const ArrayPtr& array, size_t& next_slot, const Emit& emit);
  Walked walk_dictionary(const ArrayPtr& array, size_t& next_slot, const Emit& emit);
  // Writes what is missing for `values`. Returns new indices for those of `values`, valid until the next call for the slot;
  // empty if they stay.
  std::span<const int64_t> settle(Slot& slot, const ArrayPtr& values, bool must_replace, bool& is_replaced,
                                  const Emit& emit);
  std::span<const int64_t> unify(Slot& slot, const ArrayPtr& values, const Emit& emit);
  ArrayPtr with_indices(const Array& array, std::span<const int64_t> indices, const ArrayPtr& dictionary) const;
  // The same array, where the dictionaries in it are those that were written last.
  ArrayPtr with_last_dictionaries(const ArrayPtr& array, size_t& next_slot);

  const DictionaryChanges changes_;
  const Format format_;
  MemoryPool& pool_;
  std::vector<std::unique_ptr<Slot>> slots_;     // by id
  std::vector<size_t> dictionaries_of_columns_;  // how many each has, nested ones included
  std::vector<ArrayPtr> columns_;
};

}  // namespace frazil::ipc
