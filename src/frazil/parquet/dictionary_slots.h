// Slots of Arrow dictionary arrays as a chunk has them: numbers in the chunk's own dictionary, or values. Indices may have
// any type; entries may be unused, repeated or null.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/value_dictionary.h"

namespace frazil::parquet {

// Some slots of an array, and which of them have a value.
struct SlotRange {
  size_t from = 0;
  size_t count = 0;
  ValidBits valid;
};

// The bits of slots whose value is there and, in a dictionary array, not null in the dictionary; made in `bits` where the
// array does not have them. Counts the nulls. Throws Error(kInvalidArgument) for an index that is no entry's.
ValidBits logical_valid(const Array& array, size_t from, size_t count, EncodeBuffer& bits, size_t& null_count);

// One thread at a time.
class DictionarySlots {
 public:
  // Borrows both.
  DictionarySlots(const LeafDescription& leaf, MemoryPool& pool) : leaf_(leaf), numbers_(pool) {}

  // The numbers that the valid slots' values have in `dictionary`, which gets those that it lacks, behind `numbers`. An
  // entry is looked up once as long as arrays share their dictionary. Throw Error(kInvalidArgument) for an index that is no
  // entry's, and for an entry that is null where `range` tells of a value.
  void append_numbers(const Array& array, const SlotRange& range, ValueDictionary& dictionary, EncodeBuffer& numbers);
  // The values themselves behind what `page` has.
  void append_values(const Array& array, const SlotRange& range, PageValues& page) const;

  size_t memory_bytes() const { return numbers_.capacity(); }
  // Forgets what was looked up: the dictionary is another one now.
  void release();

 private:
  const uint32_t* map_entries(const Array& array);

  const LeafDescription& leaf_;
  ArrayPtr array_dictionary_;  // of the last array
  EncodeBuffer numbers_;       // uint32_t: of its entries, where they were used
};

}  // namespace frazil::parquet
