#include "frazil/write/text_codes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <vector>

#include "frazil/base/byte_reader.h"
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

[[gnu::always_inline]] inline uint32_t TextCodes::number_of(std::string_view value) {
  const size_t size = value.size();
  if (size < sizeof(uint64_t)) return number_of_short(value);
  const char* const bytes = value.data();
  const auto first = load<uint64_t>(bytes);
  const auto last = load<uint64_t>(bytes + size - 8);
  static_assert(std::tuple_size_v<decltype(recent_)> == 64, "6 bits of the hash");
  Recent& recent = recent_[((first ^ (last << 17 | last >> 47)) + size) * 0x9E3779B97F4A7C15U >> 58];
  uint64_t difference = (recent.first ^ first) | (recent.last ^ last) | (recent.size ^ size);
  if (size > 16) {
    difference |=
        (recent.second ^ load<uint64_t>(bytes + 8)) | (recent.last_but_one ^ load<uint64_t>(bytes + size - 16));
  }
  if (difference == 0 && (size <= 32 || memo_.value(recent.number) == value)) [[likely]]
    return recent.number;
  return number_and_note(value, recent);
}

uint32_t TextCodes::number_of_short(std::string_view value) {
  return memo_.number_of(value);
}

uint32_t TextCodes::number_and_note(std::string_view value, Recent& note) {
  const char* const bytes = value.data();
  const size_t size = value.size();
  const size_t middle = size > 16 ? 8 : 0;  // else the words there are not looked at
  note = {.first = load<uint64_t>(bytes),
          .second = load<uint64_t>(bytes + middle),
          .last_but_one = load<uint64_t>(bytes + size - 8 - middle),
          .last = load<uint64_t>(bytes + size - 8),
          .size = static_cast<uint32_t>(size),
          .number = memo_.number_of(value)};
  return note.number;
}

void TextCodes::number_rows(const Array& array, int64_t begin, std::span<uint32_t> numbers) {
  const int32_t* offsets = array.buffers[1].as<int32_t>() + array.offset + begin;
  const char* data = array.buffers[2].as<char>();
  const auto number_at = [&](size_t i) __attribute__((always_inline)) {
    return number_of({data + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])});
  };
  if (array.has_validity() && array.count_nulls() != 0) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = array.is_valid(begin + static_cast<int64_t>(i)) ? number_at(i) : 0;
    }
  } else {
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_at(i);
  }
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

void TextCodes::number_entries(const Array& array, int64_t begin, std::span<uint32_t> entry_numbers,
                               std::span<uint32_t> numbers) {
  const bool has_nulls = array.has_validity() && array.count_nulls() != 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t row = begin + static_cast<int64_t>(i);
    if (has_nulls && !array.is_valid(row)) {
      numbers[i] = 0;
      continue;
    }
    const int64_t entry = dictionary_index(array, row);
    uint32_t& number = entry_numbers[static_cast<size_t>(entry)];
    if (number == kNoNumber) number = memo_.number_of(array.dictionary->bytes_value(entry));
    numbers[i] = number;
  }
}

ArrayPtr TextCodes::encode(const ArrayPtr& array) {
  if (is_stopped_) return array;
  const bool is_dictionary = array->type->id() == TypeId::kDictionary;
  // Entries of the dictionary that are null have no number: such arrays stay.
  if (is_dictionary && array->dictionary->count_nulls() != 0) {
    is_stopped_ = true;
    return array;
  }
  std::vector<uint32_t> entry_numbers(is_dictionary ? static_cast<size_t>(array->dictionary->length) : 0, kNoNumber);
  RowCodesBuilder codes(array->length, *pool_);
  std::array<uint32_t, kBlockRows> block;
  for (int64_t begin = 0; begin < array->length; begin += kBlockRows) {
    const int64_t count = std::min(kBlockRows, array->length - begin);
    if (is_dictionary) {
      number_entries(*array, begin, entry_numbers, {block.data(), static_cast<size_t>(count)});
    } else {
      number_rows(*array, begin, {block.data(), static_cast<size_t>(count)});
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
