// TextCodes: one column of text or bytes, numbered while its values repeat. Batches come back as dictionary arrays that
// share one dictionary, so that everything behind (partition keys, distribution, encoders) handles numbers and touches
// each distinct text once a round, not once a row and partition.
//
// Numbering stops for the round when values hardly repeat: in the first 4,096 rows every second one is new, later one of
// four; or when the dictionary gets as large as the encoders' own. Such batches stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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
  // A value of 8 bytes or more that came lately. Up to 32 bytes its words are all of it, so that nothing is hashed and no
  // other memory is looked at.
  struct Recent {
    uint64_t first = 0;  // 8 bytes each; in a longer value these four do not overlap
    uint64_t second = 0;
    uint64_t last_but_one = 0;
    uint64_t last = 0;
    uint32_t size = 0;  // 0: none
    uint32_t number = 0;
  };

  bool is_worthless() const;
  uint32_t number_of(std::string_view value);
  // The calls of it, kept out of its loops.
  [[gnu::noinline]] uint32_t number_of_short(std::string_view value);
  [[gnu::noinline]] uint32_t number_and_note(std::string_view value, Recent& note);
  // The numbers of rows [begin, begin + numbers.size()) of an array of text or bytes; 0 for nulls.
  void number_rows(const Array& array, int64_t begin, std::span<uint32_t> numbers);
  // Likewise of a dictionary array. `entry_numbers`: of the entries of its dictionary that have one already.
  void number_entries(const Array& array, int64_t begin, std::span<uint32_t> entry_numbers,
                      std::span<uint32_t> numbers);

  MemoryPool* pool_;
  BytesMemo memo_;
  std::array<Recent, 64> recent_;
  uint64_t id_ = 1;
  bool is_stopped_ = false;
  int64_t row_count_ = 0;  // of the round
  ArrayPtr dictionary_;    // of the memo, as large as it was at the last encode()
};

}  // namespace frazil::write
