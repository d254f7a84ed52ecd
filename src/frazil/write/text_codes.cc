#include "frazil/write/text_codes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "frazil/columnar/layout.h"
#include "frazil/write/number_tables.h"
#include "frazil/write/row_codes.h"

namespace frazil::write {

namespace {

constexpr int64_t kBlockRows = 1024;
constexpr int64_t kSampleRows = 4096;

}  // namespace

bool TextCodes::is_worthless() const {
  if (memo_.size() > kValuesMax || memo_.data_bytes() > kBytesMax) return true;
  if (row_count_ < kSampleRows) return false;
  return memo_.size() > row_count_ / (row_count_ < 16 * kSampleRows ? 2 : 4);
}

uint32_t TextCodes::number_of(std::string_view value) {
  const size_t size = value.size();
  if (size < sizeof(uint64_t)) return memo_.number_of(value);
  uint64_t head = 0;
  uint64_t tail = 0;
  std::memcpy(&head, value.data(), sizeof(head));
  std::memcpy(&tail, value.data() + size - sizeof(tail), sizeof(tail));
  static_assert(std::tuple_size_v<decltype(recent_)> == 64, "6 bits of the hash");
  Recent& recent = recent_[((head ^ (tail << 17 | tail >> 47)) + size) * 0x9E3779B97F4A7C15U >> 58];
  if (recent.head == head && recent.tail == tail && recent.size == size &&
      (size <= 2 * sizeof(uint64_t) || memo_.value(recent.number) == value)) {
    return recent.number;
  }
  const uint32_t number = memo_.number_of(value);
  recent = {.head = head, .tail = tail, .size = static_cast<uint32_t>(size), .number = number};
  return number;
}

void TextCodes::end_round(bool rows_stay) {
  if (rows_stay && !is_stopped_ && memo_.size() <= kValuesMax / 2 && memo_.data_bytes() <= kBytesMax / 2) return;
  memo_.clear();
  recent_.fill({});
  ++id_;
  is_stopped_ = false;
  row_count_ = 0;
  dictionary_ = nullptr;
}

ArrayPtr TextCodes::encode(const ArrayPtr& array) {
  if (is_stopped_) return array;
  const bool is_dictionary = array->type->id() == TypeId::kDictionary;
  const bool has_nulls = array->has_validity() && array->count_nulls() != 0;
  // Entries of the dictionary that are null have no number: such arrays stay.
  if (is_dictionary && array->dictionary->count_nulls() != 0) {
    is_stopped_ = true;
    return array;
  }
  std::vector<uint32_t> entry_numbers(is_dictionary ? static_cast<size_t>(array->dictionary->length) : 0, kNoNumber);
  const int32_t* offsets = is_dictionary ? nullptr : array->buffers[1].as<int32_t>() + array->offset;
  const char* data = array->buffers[2].as<char>();
  RowCodesBuilder codes(array->length, *pool_);
  std::array<uint32_t, kBlockRows> block;
  for (int64_t begin = 0; begin < array->length; begin += kBlockRows) {
    const int64_t count = std::min(kBlockRows, array->length - begin);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = begin + i;
      uint32_t& code = block[static_cast<size_t>(i)];
      if (has_nulls && !array->is_valid(row)) {
        code = 0;
      } else if (is_dictionary) {
        const int64_t entry = dictionary_index(*array, row);
        uint32_t& number = entry_numbers[static_cast<size_t>(entry)];
        if (number == kNoNumber) number = memo_.number_of(array->dictionary->bytes_value(entry));
        code = number;
      } else {
        code = number_of({data + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])});
      }
    }
    row_count_ += count;
    if (is_worthless()) {
      is_stopped_ = true;
      return array;
    }
    codes.append({block.data(), static_cast<size_t>(count)});
  }
  const DataTypePtr& value_type = is_dictionary ? array->type->value_type() : array->type;
  if (dictionary_ == nullptr || dictionary_->length != memo_.size()) dictionary_ = memo_.values(value_type);
  auto result = std::make_shared<Array>(*codes_array(codes.finish(), *array, *pool_));
  result->type = dictionary(result->type, value_type);
  result->dictionary = dictionary_;
  return result;
}

}  // namespace frazil::write
