// Small numbers, one a row, as narrow as the largest of them allows: partition numbers and codes of dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::write {

struct RowCodes {
  Buffer bytes;  // uint8_t, uint16_t or uint32_t
  int width = 1;
  int64_t count = 0;

  uint32_t at(int64_t row) const {
    switch (width) {
      case 1:
        return bytes.as<uint8_t>()[row];
      case 2:
        return bytes.as<uint16_t>()[row];
      default:
        return bytes.as<uint32_t>()[row];
    }
  }
};

// Calls visit(const uint8_t* | const uint16_t* | const uint32_t*).
template <typename Visit>
decltype(auto) visit_codes(const RowCodes& codes, Visit&& visit) {
  switch (codes.width) {
    case 1:
      return visit(codes.bytes.as<uint8_t>());
    case 2:
      return visit(codes.bytes.as<uint16_t>());
    default:
      return visit(codes.bytes.as<uint32_t>());
  }
}

// Takes the codes of a known number of rows, a block at a time. Starts with a byte each and widens all when it must.
class RowCodesBuilder {
 public:
  RowCodesBuilder(int64_t row_count, MemoryPool& pool);
  // Requires no more codes than rows.
  void append(std::span<const uint32_t> codes) {
    put(done_, codes);
    done_ += codes.size();
  }
  // The codes of the rows from `begin` on, in any order of blocks. From several threads, for rows of their own, while all
  // codes are below what make_room_for() was called with.
  void put(size_t begin, std::span<const uint32_t> codes);
  void make_room_for(uint32_t code_count);
  // Every row has its code.
  RowCodes finish();

 private:
  void widen(int width);

  MemoryPool* pool_;
  size_t row_count_;
  size_t done_ = 0;  // by append()
  int width_ = 1;
  MutableBuffer bytes_;
};

// The codes as an array of uint8, uint16 or uint32, with the validity of `nulls_of`, which has as many values.
ArrayPtr codes_array(const RowCodes& codes, const Array& nulls_of, MemoryPool& pool);

}  // namespace frazil::write
