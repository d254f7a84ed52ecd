// Where a value of a batch stands, for messages about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frazil/columnar/array.h"

namespace frazil::write {

// A column, and what of it: fields of structs, elements of lists, keys and values of maps. Borrows what is around it.
// Rows of lists are found by their offsets, in the cold path only.
struct ValuePlace {
  const ValuePlace* parent = nullptr;
  const Array* list = nullptr;  // whose elements these are; nullptr: rows stay rows
  int64_t first_row = 0;        // of value 0: fields of a slice are converted from their beginning on
  std::string name = {};

  // "point.x"
  std::string path() const;
  // Of the batch, for value `index` here.
  int64_t row(int64_t index) const;
};

// "column 'a', row 7: what"
[[noreturn]] void throw_at(const ValuePlace& place, int64_t index, std::string_view what);

}  // namespace frazil::write
