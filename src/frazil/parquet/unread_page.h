// A page whose values stay in the file until somebody decodes them, and are read to where they belong then.
#pragma once

#include <cstddef>
#include <span>

namespace frazil::parquet {

class UnreadPage {
 public:
  // Fills `target` from byte `at` of the page's payload on, which has so many. Parts in rising order are read fastest.
  // Throws as InputFile::read_at; the same part can be read again then.
  virtual void read(size_t at, std::span<std::byte> target) = 0;

 protected:
  ~UnreadPage() = default;
};

}  // namespace frazil::parquet
