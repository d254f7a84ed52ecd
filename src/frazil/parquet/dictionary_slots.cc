#include "frazil/parquet/dictionary_slots.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"
#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

constexpr uint32_t kUnmapped = UINT32_MAX;

template <typename Visit>
void with_index_type(const Array& array, Visit&& visit) {
  switch (array.type->index_type()->id()) {
    case TypeId::kInt8:
    case TypeId::kUInt8:
      return visit(array.values<uint8_t>());
    case TypeId::kInt16:
    case TypeId::kUInt16:
      return visit(array.values<uint16_t>());
    case TypeId::kInt32:
    case TypeId::kUInt32:
      return visit(array.values<uint32_t>());
    default:
      return visit(array.values<uint64_t>());
  }
}

size_t run_of(const uint8_t* values, size_t count) {
  return encode_kernels().run1(values, count);
}
size_t run_of(const uint16_t* values, size_t count) {
  size_t run = 1;
  while (run < count && values[run] == values[0]) ++run;
  return run;
}
size_t run_of(const uint32_t* values, size_t count) {
  return encode_kernels().run4(values, count);
}
size_t run_of(const uint64_t* values, size_t count) {
  return encode_kernels().run8(values, count);
}

// An index below `size`, whatever its type: negative ones are large as unsigned.
template <typename Index>
size_t checked_index(const Index* indices, size_t slot, size_t size) {
  const auto index = static_cast<size_t>(indices[slot]);
  if (index >= size) {
    throw_error(ErrorKind::kInvalidArgument, "dictionary index {} of {} entries", index, size);
  }
  return index;
}

void require_valid(const Array& dictionary, size_t index) {
  if (dictionary.is_valid(static_cast<int64_t>(index))) return;
  throw_error(ErrorKind::kInvalidArgument, "a null in the dictionary where the levels tell of a value");
}

template <typename Visit>
void for_each_valid(const SlotRange& range, Visit&& visit) {
  if (range.valid.bits == nullptr) {
    for (size_t i = 0; i < range.count; ++i) visit(range.from + i);
  } else {
    for_each_set_bit(range.valid.bits, range.valid.offset, range.count, [&](size_t i) { visit(range.from + i); });
  }
}

}  // namespace

ValidBits logical_valid(const Array& array, size_t from, size_t count, EncodeBuffer& bits, size_t& null_count) {
  null_count = 0;
  const bool has_null_entries = array.dictionary != nullptr && array.dictionary->count_nulls() != 0;
  if (!has_null_entries && (!array.has_validity() || array.null_count == 0)) return {};
  const ValidBits own{array.has_validity() ? array.buffers[0].as<uint8_t>() : nullptr,
                      static_cast<size_t>(array.offset) + from};
  if (!has_null_entries) {
    null_count = count - count_set_bits(own.bits, own.offset, count);
    return null_count == 0 ? ValidBits{} : own;
  }
  bits.clear();
  auto* const target = reinterpret_cast<uint8_t*>(bits.extend(bytes_for_bits(count)));
  std::memset(target, 0, bytes_for_bits(count));
  const Array& dictionary = *array.dictionary;
  with_index_type(array, [&](const auto* indices) {
    for_each_valid({0, count, own.bits == nullptr ? ValidBits{} : own}, [&](size_t i) {
      const size_t index = checked_index(indices, from + i, static_cast<size_t>(dictionary.length));
      if (dictionary.is_valid(static_cast<int64_t>(index))) set_bit(target, i);
    });
  });
  null_count = count - count_set_bits(target, 0, count);
  return null_count == 0 ? ValidBits{} : ValidBits{target, 0};
}

// Of all entries; nullptr if that is not worth the memory.
const uint32_t* DictionarySlots::map_entries(const Array& array) {
  const auto size = static_cast<size_t>(array.dictionary->length);
  if (array_dictionary_ != array.dictionary) {
    constexpr size_t kEntriesPerSlot = 8;
    if (size / kEntriesPerSlot > static_cast<size_t>(array.length)) return nullptr;
    numbers_.clear();
    if (size > 0) std::memset(numbers_.extend(size * sizeof(uint32_t)), 0xFF, size * sizeof(uint32_t));
    array_dictionary_ = array.dictionary;
  }
  return numbers_.as<uint32_t>();
}

void DictionarySlots::append_numbers(const Array& array, const SlotRange& range, ValueDictionary& dictionary,
                                     EncodeBuffer& numbers) {
  const auto size = static_cast<size_t>(array.dictionary->length);
  const uint32_t* const map = map_entries(array);
  const auto number_of = [&](size_t index) {
    uint32_t number = map != nullptr ? map[index] : kUnmapped;
    if (number == kUnmapped) {
      require_valid(*array.dictionary, index);
      number = dictionary.number_of(LeafSource(leaf_, *array.dictionary).value(index));
      if (map != nullptr) numbers_.as<uint32_t>()[index] = number;
    }
    return number;
  };
  auto* const start = reinterpret_cast<uint32_t*>(numbers.reserve(range.count * sizeof(uint32_t)));
  uint32_t* target = start;
  with_index_type(array, [&](const auto* indices) {
    if (range.valid.bits != nullptr) {
      for_each_valid(range, [&](size_t slot) { *target++ = number_of(checked_index(indices, slot, size)); });
      return;
    }
    // Runs are found once; elsewhere they are looked for every 16 slots.
    constexpr size_t kRun = 16;
    const size_t end = range.from + range.count;
    for (size_t slot = range.from; slot < end;) {
      size_t run = run_of(indices + slot, end - slot);
      if (run >= kRun) {
        std::fill_n(target, run, number_of(checked_index(indices, slot, size)));
        target += run;
        slot += run;
        continue;
      }
      run = std::min(kRun, end - slot);
      for (size_t i = 0; i < run; ++i) target[i] = number_of(checked_index(indices, slot + i, size));
      target += run;
      slot += run;
    }
  });
  numbers.advance(static_cast<size_t>(target - start) * sizeof(uint32_t));
}

void DictionarySlots::append_values(const Array& array, const SlotRange& range, PageValues& page) const {
  const auto size = static_cast<size_t>(array.dictionary->length);
  LeafSource source(leaf_, *array.dictionary);
  with_index_type(array, [&](const auto* indices) {
    for_each_valid(range, [&](size_t slot) {
      const size_t index = checked_index(indices, slot, size);
      require_valid(*array.dictionary, index);
      if (source.is_bytes()) {
        page.append(source.bytes_at(index));
      } else {
        const std::string_view value = source.value(index);
        page.fixed.append(value.data(), value.size());
        ++page.count;
      }
    });
  });
}

void DictionarySlots::release() {
  array_dictionary_.reset();
  numbers_.release();
}

}  // namespace frazil::parquet
