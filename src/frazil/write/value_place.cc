#include "frazil/write/value_place.h"

#include "frazil/base/error.h"

namespace frazil::write {

std::string ValuePlace::path() const {
  if (parent == nullptr) return name;
  const std::string above = parent->path();
  return above.empty() ? name : above + "." + name;
}

int64_t ValuePlace::row(int64_t index) const {
  index += first_row;
  if (list != nullptr) {
    int64_t found = 0;
    for (int64_t i = 0; i < list->length; ++i) {
      auto [first, count] = list->list_range(i);
      if (index >= first && index < first + count) found = i;
    }
    index = found;
  }
  return parent == nullptr ? index : parent->row(index);
}

void throw_at(const ValuePlace& place, int64_t index, std::string_view what) {
  throw_error(ErrorKind::kInvalidArgument, "column '{}', row {}: {}", place.path(), place.row(index), what);
}

}  // namespace frazil::write
