// TextCodes: one column of text or bytes, numbered while its values repeat. Batches come back as dictionary arrays that
// share one dictionary, so that everything behind (partition keys, distribution, encoders) handles numbers and touches
// each distinct text once a round, not once a row and partition.
//
// Numbering stops for the round when values hardly repeat: in the first 4,096 rows every second one is new, later one of
// four; or when the dictionary gets as large as the encoders' own. Such batches stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "frazil/columnar/array.h"
#include "frazil/columnar/bytes_memo.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::write {

class TextCodes {
 public:
  static constexpr uint32_t kValuesMax = 65'536;
  static constexpr size_t kBytesMax = size_t{1} << 20;

  TextCodes(MemoryPool& pool, uint64_t seed) : pool_(&pool), memo_(pool, seed) {}

  // The same values: a dictionary array with uint8, uint16 or uint32 as indices, whose dictionary starts with those of
  // the arrays that encode() gave before under the same dictionary_id(); or `array` itself. `array`: utf8 or binary, or
  // a dictionary array of it.
  ArrayPtr encode(const ArrayPtr& array);
  // Whether the last encode() gave a dictionary array of its own.
  bool is_encoded() const { return !is_stopped_; }
  // Of the dictionary that grows now; not 0.
  uint64_t dictionary_id() const { return id_; }
  // Begins a new dictionary, unless rows that have the old one stay and it has room.
  void end_round(bool rows_stay);

 private:
  // A value of 8 bytes or more that came lately: its ends decide most comparisons, and nothing is hashed.
  struct Recent {
    uint64_t head = 0;
    uint64_t tail = 0;
    uint32_t size = 0;  // 0: none
    uint32_t number = 0;
  };

  bool is_worthless() const;
  uint32_t number_of(std::string_view value);

  MemoryPool* pool_;
  BytesMemo memo_;
  std::array<Recent, 64> recent_;
  uint64_t id_ = 1;
  bool is_stopped_ = false;
  int64_t row_count_ = 0;  // of the round
  ArrayPtr dictionary_;    // of the memo, as large as it was at the last encode()
};

}  // namespace frazil::write
