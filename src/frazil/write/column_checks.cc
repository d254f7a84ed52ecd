#include "frazil/write/column_checks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/int128.h"
#include "frazil/base/message.h"
#include "frazil/base/utf8.h"
#include "frazil/columnar/layout.h"

namespace frazil::write {

namespace {

using spec::NestedField;
using spec::TypeKind;

class Checker {
 public:
  explicit Checker(MemoryPool& pool) : pool_(pool) {}

  // Of the values that count: `live` has a bit for each, from bit 0 on; nullptr: all.
  void check(const Array& array, const NestedField& field, const uint8_t* live, const ValuePlace& place) {
    const bool has_nulls = array.has_validity() && array.count_nulls() != 0;
    if (field.required && (has_nulls || array.type->id() == TypeId::kNull)) check_required(array, live, place);
    switch (array.type->id()) {
      case TypeId::kUtf8:
        return check_text(array, live, place);
      case TypeId::kDictionary:
        return check_dictionary(array, field, place);
      case TypeId::kTime64:
        return check_time(array, live, place);
      case TypeId::kDecimal128:
        return check_decimal(array, live, place);
      case TypeId::kStruct:
        if (field.type->is_struct()) check_struct(array, field, live, place);
        return;
      case TypeId::kList:
      case TypeId::kMap:
        return check_elements(array, field, live, place);
      default:
        return;
    }
  }

 private:
  static bool counts(const uint8_t* live, int64_t i) {
    return live == nullptr || get_bit(live, static_cast<size_t>(i));
  }

  static void check_required(const Array& array, const uint8_t* live, const ValuePlace& place) {
    for (int64_t i = 0; i < array.length; ++i) {
      if (array.is_null(i) && counts(live, i)) throw_at(place, i, "null in a required column");
    }
  }

  static void check_text(const Array& array, const uint8_t* live, const ValuePlace& place) {
    if (array.length == 0) return;
    const int32_t* offsets = array.buffers[1].as<int32_t>() + array.offset;
    // Mostly it is ASCII altogether, hidden bytes included: one look at all of it.
    const std::string_view all(array.buffers[2].as<char>() + offsets[0],
                               static_cast<size_t>(offsets[array.length] - offsets[0]));
    if (is_ascii(all)) return;
    for (int64_t i = 0; i < array.length; ++i) {
      if (!array.is_valid(i) || !counts(live, i)) continue;
      const std::string_view text = array.bytes_value(i);
      const size_t prefix = valid_utf8_prefix(text);
      if (prefix != text.size()) throw_at(place, i, message("not UTF-8 at byte {} of {}", prefix, excerpt(text)));
    }
  }

  void check_dictionary(const Array& array, const NestedField& field, const ValuePlace& place) {
    const Array& values = *array.dictionary;
    bool is_doubtful = values.count_nulls() != 0;
    if (field.type->kind() == TypeKind::kString) {
      for (int64_t v = 0; v < values.length && !is_doubtful; ++v) {
        is_doubtful = values.is_valid(v) && !is_valid_utf8(values.bytes_value(v));
      }
    }
    if (!is_doubtful) return;
    for (int64_t i = 0; i < array.length; ++i) {
      if (!array.is_valid(i)) continue;
      const int64_t entry = dictionary_index(array, i);
      if (values.is_null(entry)) {
        if (field.required) throw_at(place, i, "null in a required column");
      } else if (field.type->kind() == TypeKind::kString && !is_valid_utf8(values.bytes_value(entry))) {
        throw_at(place, i, message("not UTF-8: {}", excerpt(values.bytes_value(entry))));
      }
    }
  }

  static void check_time(const Array& array, const uint8_t* live, const ValuePlace& place) {
    constexpr int64_t kDay = 86'400'000'000;
    const auto* values = array.values<int64_t>();
    uint64_t largest = 0;
    for (int64_t i = 0; i < array.length; ++i) largest = std::max(largest, static_cast<uint64_t>(values[i]));
    if (largest < static_cast<uint64_t>(kDay)) return;
    for (int64_t i = 0; i < array.length; ++i) {
      if (array.is_valid(i) && counts(live, i) && (values[i] < 0 || values[i] >= kDay)) {
        throw_at(place, i, message("{} us is no time of a day", values[i]));
      }
    }
  }

  static void check_decimal(const Array& array, const uint8_t* live, const ValuePlace& place) {
    const auto limit = static_cast<UInt128>(power_of_ten(array.type->precision()));
    const std::byte* values = array.buffers[1].data() + static_cast<size_t>(array.offset) * sizeof(Int128);
    for (int64_t i = 0; i < array.length; ++i) {
      const auto value = load<Int128>(values + static_cast<size_t>(i) * sizeof(Int128));
      if (magnitude(value) < limit || !array.is_valid(i) || !counts(live, i)) continue;
      throw_at(place, i,
               message("{} has more than {} digits", decimal_to_string(value, array.type->scale()),
                       array.type->precision()));
    }
  }

  // The values of `array` that are valid and count; empty: all.
  Buffer live_below(const Array& array, const uint8_t* live) {
    const auto count = static_cast<size_t>(array.length);
    const bool has_nulls = array.has_validity() && array.count_nulls() != 0;
    if (count == 0 || (!has_nulls && live == nullptr)) return {};
    MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(count));
    bits.set_size(bytes_for_bits(count));
    auto* out = bits.as<uint8_t>();
    if (!has_nulls) {
      copy_bits(live, 0, out, 0, count);
    } else if (live == nullptr) {
      copy_bits(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset), out, 0, count);
    } else {
      and_bits(live, 0, array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset), out, 0, count);
    }
    return std::move(bits).freeze();
  }

  void check_struct(const Array& array, const NestedField& field, const uint8_t* live, const ValuePlace& place) {
    const Buffer below = live_below(array, live);
    for (size_t c = 0; c < array.children.size(); ++c) {
      ValuePlace child_place;
      child_place.parent = &place;
      child_place.name = field.type->fields()[c].name;
      check(*array.children[c]->slice(array.offset, array.length), field.type->fields()[c],
            below.empty() ? nullptr : below.as<uint8_t>(), child_place);
    }
  }

  void check_elements(const Array& array, const NestedField& field, const uint8_t* live, const ValuePlace& place) {
    if (array.length == 0) return;
    const Buffer below = live_below(array, live);
    const Array& child = *array.children[0];
    const auto count = static_cast<size_t>(child.length);
    // Elements that no list has do not count either, so there is always a bitmap unless all are had.
    Buffer elements;
    auto [first, size] = array.list_range(0);
    auto [last, last_size] = array.list_range(array.length - 1);
    if (!below.empty() || first != 0 || last + last_size != child.length) {
      MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(count));
      bits.set_size(bytes_for_bits(count));
      for (int64_t i = 0; i < array.length; ++i) {
        if (!below.empty() && !get_bit(below.as<uint8_t>(), static_cast<size_t>(i))) continue;
        auto [begin, length] = array.list_range(i);
        fill_bits(bits.as<uint8_t>(), static_cast<size_t>(begin), static_cast<size_t>(length), true);
      }
      elements = std::move(bits).freeze();
    }
    const uint8_t* element_bits = elements.empty() ? nullptr : elements.as<uint8_t>();
    if (elements.empty() && count != 0 && (!below.empty() || first != 0 || last + last_size != child.length)) return;
    ValuePlace element_place;
    element_place.parent = &place;
    element_place.list = &array;
    if (field.type->is_list()) {
      element_place.name = "element";
      return check(child, field.type->element(), element_bits, element_place);
    }
    for (size_t c = 0; c < 2; ++c) {
      ValuePlace entry_place;
      entry_place.parent = &element_place;
      entry_place.name = c == 0 ? "key" : "value";
      check(*child.children[c]->slice(child.offset, child.length), c == 0 ? field.type->key() : field.type->value(),
            element_bits, entry_place);
    }
  }

  MemoryPool& pool_;
};

// Offsets rise, and indices are in their dictionary: what the loops above and those behind rely on.

}  // namespace

void check_structure(const Array& array, const std::string& name) {
  try {
    if (layout_of(array.type->id()) == Layout::kFixedWidth || array.type->id() == TypeId::kBool) return;
    if (layout_of(array.type->id()) == Layout::kBytes && offset_width(array.type->id()) == 4) {
      const int32_t* offsets = array.buffers[1].as<int32_t>() + array.offset;
      bool falls = false;
      for (int64_t i = 0; i < array.length; ++i) falls |= offsets[i + 1] < offsets[i];
      if (falls) throw_error(ErrorKind::kInvalidArgument, "column '{}': its offsets fall", name);
      return;
    }
    validate_full(array);
  } catch (CorruptError& error) {
    throw Error(ErrorKind::kInvalidArgument, message("column '{}': {}", name, error.what()));
  }
}

void check_column(const Array& array, const NestedField& field, const ValuePlace& place, MemoryPool& pool) {
  Checker(pool).check(array, field, nullptr, place);
}

}  // namespace frazil::write
