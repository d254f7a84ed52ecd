#include "frazil/write/conform.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/checked.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/half_float.h"
#include "frazil/base/int128.h"
#include "frazil/base/message.h"
#include "frazil/base/time_unit.h"
#include "frazil/base/utf8.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/parallel.h"

namespace frazil::write {

namespace {

using spec::NestedField;
using spec::TypeKind;

// Where a value stands, for messages: rows of lists are found by their offsets, in the cold path only.
struct Place {
  const Place* parent = nullptr;
  const Array* list = nullptr;  // whose elements these are; nullptr: rows stay rows
  int64_t first_row = 0;        // of a struct's or list's slice
  std::string name = {};

  std::string path() const {
    if (parent == nullptr) return name;
    const std::string above = parent->path();
    return above.empty() ? name : above + "." + name;
  }
  int64_t row(int64_t index) const {
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
};

[[noreturn]] void throw_at(const Place& place, int64_t index, std::string_view what) {
  throw_error(ErrorKind::kInvalidArgument, "column '{}', row {}: {}", place.path(), place.row(index), what);
}

[[noreturn]] void throw_type(const Place& place, const NestedField& field, const DataType& type,
                             std::string_view why = "") {
  throw_error(ErrorKind::kInvalidArgument, "column '{}' of type {} cannot take {}{}", place.path(),
              field.type->to_string(), type.to_string(), why);
}

// ---- Conversions of values; nulls stay where they are.

std::shared_ptr<Array> like(const Array& source, DataTypePtr type) {
  auto result = std::make_shared<Array>();
  result->type = std::move(type);
  result->length = source.length;
  result->null_count = source.has_validity() ? source.count_nulls() : 0;
  return result;
}

// The validity of `source` from bit 0 on.
Buffer validity_of(const Array& source, MemoryPool& pool) {
  if (!source.has_validity() || source.count_nulls() == 0) return {};
  const auto count = static_cast<size_t>(source.length);
  MutableBuffer bits = pool.allocate_zeroed(bytes_for_bits(count));
  bits.set_size(bytes_for_bits(count));
  copy_bits(source.buffers[0].as<uint8_t>(), static_cast<size_t>(source.offset), bits.as<uint8_t>(), 0, count);
  return std::move(bits).freeze();
}

class Converter {
 public:
  Converter(MemoryPool& pool, const ConformOptions& options) : pool_(pool), options_(options) {}

  // `source` as the type of `field`; dictionaries of text stay if `may_be_dictionary`.
  ArrayPtr convert(const ArrayPtr& source, const NestedField& field, const Place& place, bool may_be_dictionary) {
    const DataType& type = *source->type;
    const DataTypePtr target = spec::to_arrow_type(*field.type);
    switch (type.id()) {
      case TypeId::kNull:
        return make_null_array(target, source->length, pool_);
      case TypeId::kDictionary:
        return convert_dictionary(source, field, place, may_be_dictionary);
      case TypeId::kRunEndEncoded: {
        const ArrayPtr decoded =
            by_positions(*source->children[1], source->length, [&](int64_t i) { return run_value_index(*source, i); });
        return convert(decoded, field, place, false);
      }
      default:
        break;
    }
    switch (field.type->kind()) {
      case TypeKind::kStruct:
      case TypeKind::kVariant:
        return convert_struct(source, field, place);
      case TypeKind::kList:
        return convert_list(source, field, place);
      case TypeKind::kMap:
        return convert_map(source, field, place);
      default:
        break;
    }
    if (type.equals(*target)) return source;
    return convert_flat(source, target, field, place);
  }

  ArrayPtr missing(const NestedField& field, int64_t length, const Place& place) {
    if (field.write_default != nullptr) return spec::make_constant_array(*field.write_default, length, pool_);
    if (field.required) {
      throw_error(ErrorKind::kInvalidArgument, "required column '{}' is missing, and the table has no default for it",
                  place.path());
    }
    if (!options_.fill_missing_columns) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' is missing", place.path());
    }
    return make_null_array(spec::to_arrow_type(*field.type), length, pool_);
  }

  // For each of `wanted` the index in `given`, -1 if it is not there. Throws for what nobody wants.
  static std::vector<int> match(std::span<const NestedField> wanted, std::span<const Field> given,
                                const Place* parent) {
    std::vector<int> places(wanted.size(), -1);
    std::vector<char> is_used(given.size(), 0);
    const auto path_of = [&](std::string_view name) {
      Place place;
      place.parent = parent;
      place.name = std::string(name);
      return place.path();
    };
    for (size_t w = 0; w < wanted.size(); ++w) {
      for (size_t g = 0; g < given.size(); ++g) {
        if (given[g].name != wanted[w].name) continue;
        if (places[w] >= 0) {
          throw_error(ErrorKind::kInvalidArgument, "column '{}' is there twice", path_of(given[g].name));
        }
        places[w] = static_cast<int>(g);
        is_used[g] = 1;
      }
    }
    for (size_t g = 0; g < given.size(); ++g) {
      if (is_used[g]) continue;
      const std::optional<std::string_view> text = find_metadata(given[g].metadata, spec::kFieldIdKey);
      int32_t id = -1;
      if (text) std::from_chars(text->data(), text->data() + text->size(), id);
      const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const NestedField& f) { return f.id == id; });
      if (id < 0 || found == wanted.end() || places[static_cast<size_t>(found - wanted.begin())] >= 0) {
        throw_error(ErrorKind::kInvalidArgument, "the table has no column '{}'", path_of(given[g].name));
      }
      places[static_cast<size_t>(found - wanted.begin())] = static_cast<int>(g);
      is_used[g] = 1;
    }
    return places;
  }

 private:
  template <typename PositionOf>
  ArrayPtr by_positions(const Array& values, int64_t count, const PositionOf& position_of) {
    MutableBuffer block = pool_.allocate(static_cast<size_t>(count) * sizeof(uint32_t));
    auto* positions = block.as<uint32_t>();
    for (int64_t i = 0; i < count; ++i) {
      positions[i] = narrow_or_throw<uint32_t>(position_of(i), "a place in an array");
    }
    return take(values, {positions, static_cast<size_t>(count)}, pool_);
  }

  ArrayPtr convert_dictionary(const ArrayPtr& source, const NestedField& field, const Place& place,
                              bool may_be_dictionary) {
    const Array& values = *source->dictionary;
    const TypeKind kind = field.type->kind();
    if (may_be_dictionary && (kind == TypeKind::kString || kind == TypeKind::kBinary)) {
      auto result = std::make_shared<Array>(*source);
      result->dictionary = convert(source->dictionary, field, place, false);
      result->type = dictionary(source->type->index_type(), result->dictionary->type);
      return result;
    }
    if (source->count_nulls() == source->length) {
      return make_null_array(spec::to_arrow_type(*field.type), source->length, pool_);
    }
    const ArrayPtr decoded = by_positions(values, source->length, [&](int64_t i) {
      return source->is_valid(i) ? dictionary_index(*source, i) : int64_t{0};
    });
    ArrayPtr plain = decoded;
    if (Buffer outer = validity_of(*source, pool_); !outer.empty()) {
      auto masked = std::make_shared<Array>(*decoded);
      if (decoded->has_validity()) {
        MutableBuffer both = pool_.allocate_zeroed(outer.size());
        both.set_size(outer.size());
        and_bits(outer.as<uint8_t>(), 0, decoded->buffers[0].as<uint8_t>(), 0, both.as<uint8_t>(), 0,
                 static_cast<size_t>(source->length));
        outer = std::move(both).freeze();
      }
      masked->buffers[0] = std::move(outer);
      masked->null_count = kUnknownNullCount;
      plain = masked;
    }
    return convert(plain, field, place, false);
  }

  // ---- Flat

  template <typename From, typename To, typename Convert>
  ArrayPtr map_values(const Array& source, const DataTypePtr& type, const Convert& convert_value) {
    auto result = like(source, type);
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer block = pool_.allocate(count * sizeof(To));
    block.set_size(count * sizeof(To));
    const std::byte* from = source.buffers[1].data() + static_cast<size_t>(source.offset) * sizeof(From);
    for (size_t i = 0; i < count; ++i) {
      const To value = convert_value(load<From>(from + i * sizeof(From)), static_cast<int64_t>(i));
      std::memcpy(block.data() + i * sizeof(To), &value, sizeof(To));
    }
    result->buffers[0] = validity_of(source, pool_);
    result->buffers[1] = std::move(block).freeze();
    return result;
  }
  template <typename From, typename To>
  ArrayPtr widen(const Array& source, const DataTypePtr& type) {
    return map_values<From, To>(source, type, [](From value, int64_t) { return static_cast<To>(value); });
  }

  template <typename To>
  ArrayPtr widen_integer(const Array& source, const DataTypePtr& type) {
    switch (source.type->id()) {
      case TypeId::kInt8:
        return widen<int8_t, To>(source, type);
      case TypeId::kInt16:
        return widen<int16_t, To>(source, type);
      case TypeId::kUInt8:
        return widen<uint8_t, To>(source, type);
      case TypeId::kUInt16:
        return widen<uint16_t, To>(source, type);
      case TypeId::kInt32:
        return sizeof(To) == 8 ? widen<int32_t, To>(source, type) : nullptr;
      case TypeId::kUInt32:
        return sizeof(To) == 8 ? widen<uint32_t, To>(source, type) : nullptr;
      default:
        return nullptr;
    }
  }

  template <typename To>
  ArrayPtr widen_float(const Array& source, const DataTypePtr& type) {
    if (source.type->id() == TypeId::kHalfFloat) {
      return map_values<uint16_t, To>(source, type,
                                      [](uint16_t bits, int64_t) { return static_cast<To>(half_to_float(bits)); });
    }
    if (source.type->id() == TypeId::kFloat && sizeof(To) == 8) return widen<float, To>(source, type);
    return nullptr;
  }

  ArrayPtr widen_decimal(const Array& source, const DataTypePtr& type) {
    const DataType& from = *source.type;
    if (!is_decimal(from.id()) || from.scale() != type->scale() || from.precision() > type->precision()) return nullptr;
    switch (from.id()) {
      case TypeId::kDecimal32:
        return widen<int32_t, Int128>(source, type);
      case TypeId::kDecimal64:
        return widen<int64_t, Int128>(source, type);
      case TypeId::kDecimal128: {
        auto result = std::make_shared<Array>(source);  // a lower precision, the same values
        result->type = type;
        return result;
      }
      default: {
        // Of a precision up to 38 the low half is the value.
        struct Wide {
          Int128 low;
          Int128 high;
        };
        return map_values<Wide, Int128>(source, type, [](Wide value, int64_t) { return value.low; });
      }
    }
  }

  ArrayPtr convert_times(const Array& source, const DataTypePtr& type, const Place& place) {
    const DataType& from = *source.type;
    const auto scaled = [&](int64_t factor) {
      return [&source, &place, factor](int64_t value, int64_t row) {
        int64_t result = 0;
        if (__builtin_mul_overflow(value, factor, &result)) {
          if (source.is_valid(row)) throw_at(place, row, message("{} is out of range in the table's unit", value));
          return int64_t{0};
        }
        return result;
      };
    };
    switch (type->id()) {
      case TypeId::kDate32:
        if (from.id() != TypeId::kDate64) return nullptr;
        return map_values<int64_t, int32_t>(source, type, [&](int64_t value, int64_t row) {
          constexpr int64_t kDay = 86'400'000;
          if (value % kDay != 0 || value / kDay < INT32_MIN || value / kDay > INT32_MAX) {
            if (source.is_valid(row)) throw_at(place, row, message("{} ms since 1970 are no date", value));
            return int32_t{0};
          }
          return static_cast<int32_t>(value / kDay);
        });
      case TypeId::kTime64: {
        if (from.id() != TypeId::kTime32) return nullptr;
        const int64_t factor = 1'000'000 / units_per_second(from.unit());
        return map_values<int32_t, int64_t>(source, type, [=](int32_t value, int64_t) { return value * factor; });
      }
      case TypeId::kTimestamp: {
        if (from.id() != TypeId::kTimestamp || from.timezone().empty() != type->timezone().empty() ||
            units_per_second(from.unit()) > units_per_second(type->unit())) {
          return nullptr;
        }
        const int64_t factor = units_per_second(type->unit()) / units_per_second(from.unit());
        if (factor == 1) {  // another zone: the same instants
          auto result = std::make_shared<Array>(source);
          result->type = type;
          return result;
        }
        return map_values<int64_t, int64_t>(source, type, scaled(factor));
      }
      default:
        return nullptr;
    }
  }

  ArrayPtr convert_bytes(const Array& source, const DataTypePtr& type, const Place& place) {
    const TypeId from = source.type->id();
    const bool is_text = from == TypeId::kUtf8 || from == TypeId::kLargeUtf8 || from == TypeId::kUtf8View;
    if (!is_bytes(from) || is_text != (type->id() == TypeId::kUtf8)) return nullptr;
    auto result = like(source, type);
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer offsets = pool_.allocate((count + 1) * sizeof(int32_t));
    offsets.set_size((count + 1) * sizeof(int32_t));
    auto* ends = offsets.as<int32_t>();
    int64_t end = 0;
    ends[0] = 0;
    for (size_t i = 0; i < count; ++i) {
      if (source.is_valid(static_cast<int64_t>(i))) {
        end += static_cast<int64_t>(source.bytes_value(static_cast<int64_t>(i)).size());
      }
      if (end > INT32_MAX) {
        throw_error(ErrorKind::kUnsupported, "column '{}' of one batch has more than 2^31 - 1 bytes", place.path());
      }
      ends[i + 1] = static_cast<int32_t>(end);
    }
    MutableBuffer data = pool_.allocate(static_cast<size_t>(end));
    data.set_size(static_cast<size_t>(end));
    for (size_t i = 0; i < count; ++i) {
      if (ends[i + 1] == ends[i]) continue;
      const std::string_view value = source.bytes_value(static_cast<int64_t>(i));
      std::memcpy(data.data() + ends[i], value.data(), value.size());
    }
    result->buffers[0] = validity_of(source, pool_);
    result->buffers[1] = std::move(offsets).freeze();
    result->buffers[2] = std::move(data).freeze();
    return result;
  }

  ArrayPtr convert_flat(const ArrayPtr& source, const DataTypePtr& type, const NestedField& field, const Place& place) {
    ArrayPtr result;
    switch (type->id()) {
      case TypeId::kInt32:
        result = widen_integer<int32_t>(*source, type);
        break;
      case TypeId::kInt64:
        result = widen_integer<int64_t>(*source, type);
        break;
      case TypeId::kFloat:
        result = widen_float<float>(*source, type);
        break;
      case TypeId::kDouble:
        result = widen_float<double>(*source, type);
        break;
      case TypeId::kDecimal128:
        result = widen_decimal(*source, type);
        break;
      case TypeId::kUtf8:
      case TypeId::kBinary:
        result = convert_bytes(*source, type, place);
        break;
      default:
        result = convert_times(*source, type, place);
    }
    if (result == nullptr) {
      const bool is_zone = type->id() == TypeId::kTimestamp && source->type->id() == TypeId::kTimestamp &&
                           source->type->timezone().empty() != type->timezone().empty();
      throw_type(place, field, *source->type, is_zone ? ": one has a time zone, the other has none" : "");
    }
    return result;
  }

  // ---- Nested

  ArrayPtr convert_struct(const ArrayPtr& source, const NestedField& field, const Place& place) {
    if (source->type->id() != TypeId::kStruct) throw_type(place, field, *source->type);
    const DataTypePtr target = spec::to_arrow_type(*field.type);
    if (field.type->kind() == TypeKind::kVariant) {
      if (!source->type->equals(*target)) throw_type(place, field, *source->type);
      return source;
    }
    const std::span<const NestedField> wanted = field.type->fields();
    const std::vector<int> places = match(wanted, source->type->children(), &place);
    auto result = std::make_shared<Array>(*source);
    result->type = target;
    result->children.clear();
    for (size_t i = 0; i < wanted.size(); ++i) {
      Place child_place;
      child_place.parent = &place;
      child_place.first_row = -source->offset;
      child_place.name = wanted[i].name;
      if (places[i] < 0) {
        result->children.push_back(missing(wanted[i], source->offset + source->length, child_place));
      } else {
        result->children.push_back(
            convert(source->children[static_cast<size_t>(places[i])], wanted[i], child_place, false));
      }
    }
    return result;
  }

  ArrayPtr convert_list(const ArrayPtr& source, const NestedField& field, const Place& place) {
    const TypeId id = source->type->id();
    if (!is_list(id) || id == TypeId::kMap) throw_type(place, field, *source->type);
    Place element_place;
    element_place.parent = &place;
    element_place.list = source.get();
    element_place.name = "element";
    const ArrayPtr plain = id == TypeId::kList ? source : plain_list(*source, place);
    auto result = std::make_shared<Array>(*plain);
    result->type = spec::to_arrow_type(*field.type);
    result->children = {convert(plain->children[0], field.type->element(), element_place, false)};
    return result;
  }

  // Any kind of list as a list, its elements in order.
  ArrayPtr plain_list(const Array& source, const Place& place) {
    auto result = like(source, list(source.type->children()[0]));
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer offsets = pool_.allocate((count + 1) * sizeof(int32_t));
    offsets.set_size((count + 1) * sizeof(int32_t));
    auto* ends = offsets.as<int32_t>();
    int64_t end = 0;
    ends[0] = 0;
    for (size_t i = 0; i < count; ++i) {
      if (source.is_valid(static_cast<int64_t>(i))) end += source.list_range(static_cast<int64_t>(i)).second;
      if (end > INT32_MAX) {
        throw_error(ErrorKind::kUnsupported, "column '{}' of one batch has more than 2^31 - 1 elements", place.path());
      }
      ends[i + 1] = static_cast<int32_t>(end);
    }
    MutableBuffer block = pool_.allocate(static_cast<size_t>(end) * sizeof(uint32_t));
    auto* positions = block.as<uint32_t>();
    for (size_t i = 0; i < count; ++i) {
      const int64_t first = source.list_range(static_cast<int64_t>(i)).first;
      for (int32_t e = 0; e < ends[i + 1] - ends[i]; ++e) {
        *positions++ = narrow_or_throw<uint32_t>(first + e, "a place in a list");
      }
    }
    result->buffers[0] = validity_of(source, pool_);
    result->buffers[1] = std::move(offsets).freeze();
    result->children = {take(*source.children[0], {block.as<uint32_t>(), static_cast<size_t>(end)}, pool_)};
    return result;
  }

  ArrayPtr convert_map(const ArrayPtr& source, const NestedField& field, const Place& place) {
    if (source->type->id() != TypeId::kMap) throw_type(place, field, *source->type);
    Place entry_place;
    entry_place.parent = &place;
    entry_place.list = source.get();
    Place key_place;
    key_place.parent = &entry_place;
    key_place.name = "key";
    Place value_place;
    value_place.parent = &entry_place;
    value_place.name = "value";
    const Array& entries = *source->children[0];
    auto converted = std::make_shared<Array>(entries);
    auto result = std::make_shared<Array>(*source);
    result->type = spec::to_arrow_type(*field.type);
    converted->type = result->type->children()[0].type;
    converted->children = {convert(entries.children[0], field.type->key(), key_place, false),
                           convert(entries.children[1], field.type->value(), value_place, false)};
    result->children = {std::move(converted)};
    return result;
  }

  MemoryPool& pool_;
  const ConformOptions& options_;
};

// ---- Checks

class Checker {
 public:
  explicit Checker(MemoryPool& pool) : pool_(pool) {}

  // Of the values that count: `live` has a bit for each, from bit 0 on; nullptr: all.
  void check(const Array& array, const NestedField& field, const uint8_t* live, const Place& place) {
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

  static void check_required(const Array& array, const uint8_t* live, const Place& place) {
    for (int64_t i = 0; i < array.length; ++i) {
      if (array.is_null(i) && counts(live, i)) throw_at(place, i, "null in a required column");
    }
  }

  static void check_text(const Array& array, const uint8_t* live, const Place& place) {
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

  void check_dictionary(const Array& array, const NestedField& field, const Place& place) {
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

  static void check_time(const Array& array, const uint8_t* live, const Place& place) {
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

  static void check_decimal(const Array& array, const uint8_t* live, const Place& place) {
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

  void check_struct(const Array& array, const NestedField& field, const uint8_t* live, const Place& place) {
    const Buffer below = live_below(array, live);
    for (size_t c = 0; c < array.children.size(); ++c) {
      Place child_place;
      child_place.parent = &place;
      child_place.name = field.type->fields()[c].name;
      check(*array.children[c]->slice(array.offset, array.length), field.type->fields()[c],
            below.empty() ? nullptr : below.as<uint8_t>(), child_place);
    }
  }

  void check_elements(const Array& array, const NestedField& field, const uint8_t* live, const Place& place) {
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
    Place element_place;
    element_place.parent = &place;
    element_place.list = &array;
    if (field.type->is_list()) {
      element_place.name = "element";
      return check(child, field.type->element(), element_bits, element_place);
    }
    for (size_t c = 0; c < 2; ++c) {
      Place entry_place;
      entry_place.parent = &element_place;
      entry_place.name = c == 0 ? "key" : "value";
      check(*child.children[c]->slice(child.offset, child.length), c == 0 ? field.type->key() : field.type->value(),
            element_bits, entry_place);
    }
  }

  MemoryPool& pool_;
};

// Offsets rise, and indices are in their dictionary: what the loops above and those behind rely on.
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

}  // namespace

class Conformer::Impl {
 public:
  Impl(spec::SchemaPtr schema, ConformOptions options, MemoryPool& pool)
      : schema_(std::move(schema)), options_(options), pool_(pool) {
    for (const NestedField& field : schema_->fields()) spec::to_arrow_type(*field.type);
  }

  std::vector<ArrayPtr> conform(const RecordBatch& batch, ThreadPool* threads) const {
    try {
      validate(batch);
    } catch (CorruptError& error) {
      throw Error(ErrorKind::kInvalidArgument, error.what());
    }
    const std::span<const NestedField> wanted = schema_->fields();
    const std::vector<int> places = Converter::match(wanted, batch.schema()->fields(), nullptr);
    std::vector<ArrayPtr> columns(wanted.size());
    for_each_index(threads, wanted.size(), [&](size_t i) {
      Place place;
      place.name = wanted[i].name;
      Converter converter(pool_, options_);
      if (places[i] < 0) {
        columns[i] = converter.missing(wanted[i], batch.row_count(), place);
        return;
      }
      const ArrayPtr& given = batch.column(static_cast<size_t>(places[i]));
      check_structure(*given, wanted[i].name);
      columns[i] = converter.convert(given, wanted[i], place, true);
      Checker(pool_).check(*columns[i], wanted[i], nullptr, place);
    });
    return columns;
  }

 private:
  spec::SchemaPtr schema_;
  ConformOptions options_;
  MemoryPool& pool_;
};

Conformer::Conformer(spec::SchemaPtr schema, ConformOptions options, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(std::move(schema), options, pool)) {}
Conformer::~Conformer() = default;
std::vector<ArrayPtr> Conformer::conform(const RecordBatch& batch, ThreadPool* threads) const {
  return impl_->conform(batch, threads);
}

}  // namespace frazil::write
