// For the tests of this layer and of those above: Avro bytes made by hand, files in memory, and values as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/json/value.h"

namespace frazil::avro {

class Encoder {
 public:
  Encoder& long_(int64_t value);
  Encoder& bytes(std::string_view value);  // with its length: bytes, string
  Encoder& raw(std::string_view value);    // as it is: fixed
  Encoder& bool_(bool value) { return raw(value ? "\x01" : std::string_view("\0", 1)); }
  Encoder& float_(float value);
  Encoder& double_(double value);
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

struct TestBlock {
  int64_t record_count;
  std::string bytes;  // as they stand in the file
};

inline constexpr std::string_view kTestSync = "0123456789abcdef";

// A container file. The codec only goes into the metadata.
std::string make_container(std::string_view schema, const std::vector<TestBlock>& blocks,
                           std::string_view codec = "null",
                           const std::vector<std::pair<std::string, std::string>>& metadata = {});

std::shared_ptr<InputFile> memory_file(std::string bytes, std::string path = "memory.avro");
// Of tests/corpora.
std::string read_corpus(const std::string& path);
std::string read_text(const std::string& path);

// A stored value: integers of dates, times and timestamps, bytes and decimals as hex, maps as lists of pairs, intervals
// as [months, days, nanoseconds], non-finite floats as text.
json::Value stored_value(const Array& array, int64_t index);
json::Value stored_row(const RecordBatch& batch, int64_t index);
// Where they differ, as a path; empty if they are equal. Numbers compare by value, as floats too.
std::string json_difference(const json::Value& left, const json::Value& right);

}  // namespace frazil::avro
