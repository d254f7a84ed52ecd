// How the values of a column become the values of an Arrow buffer: chosen once when a reader is made, run on each page.
// Conversions are fused into the decode: plain values go from the page through the conversion into the final buffer,
// and a dictionary is converted once, so that its values are only looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frazil/columnar/type.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

// What a column's values buffer holds.
enum class ValueForm : uint8_t {
  kBits,        // booleans
  kFixed,       // target_width bytes a value
  kBytes,       // int32 offsets and bytes
  kLargeBytes,  // int64 offsets and bytes
  kViews,       // 16-byte views, and the bytes of what is longer than 12
  kNone,        // nothing: all values are null
};

struct ConvertParameters {
  int64_t factor = 1;        // multiply by it, or divide where the conversion says so
  int32_t source_width = 0;  // FIXED_LEN_BYTE_ARRAY
};

// Converts `count` values that lie one after the other. False if one of them is not in the target's range; what is
// written then is undefined.
using ConvertFixed = bool (*)(const std::byte* source, size_t count, std::byte* target,
                              const ConvertParameters& parameters) noexcept;
// Converts one value of a BYTE_ARRAY.
using ConvertBytes = bool (*)(const std::byte* source, size_t size, std::byte* target) noexcept;

struct Conversion {
  ValueForm form = ValueForm::kFixed;
  int32_t source_width = 0;              // bytes of a plain value; 0: BOOLEAN, BYTE_ARRAY
  int32_t target_width = 0;              // kFixed, kViews: bytes of a value
  ConvertFixed convert = nullptr;        // nullptr: the bytes as they are
  ConvertBytes convert_bytes = nullptr;  // BYTE_ARRAY to kFixed
  ConvertParameters parameters;
  bool is_text = false;  // UTF-8 is expected
  // kFixed: a value becomes its index in the chunk's dictionary (int32), whose values are converted apart. Pages without
  // a dictionary cannot be read so.
  bool to_indices = false;

  bool is_identity() const { return convert == nullptr && convert_bytes == nullptr; }
  bool is_of_bytes() const {
    return form == ValueForm::kBytes || form == ValueForm::kLargeBytes || form == ValueForm::kViews;
  }
  // PLAIN values of the page are those of the buffer.
  bool takes_plain() const { return form == ValueForm::kFixed && is_identity() && !to_indices; }
  // Values of a dictionary are looked up where they lie in its page.
  bool keeps_dictionary_page() const { return is_of_bytes() || takes_plain(); }
};

// Nothing if values of `leaf` cannot be read as `type`: see can_read_as.
std::optional<Conversion> find_conversion(const SchemaNode& leaf, const DataType& type);

}  // namespace frazil::parquet
