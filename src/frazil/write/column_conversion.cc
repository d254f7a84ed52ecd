#include "frazil/write/column_conversion.h"

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
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::write {

namespace {

using spec::NestedField;
using spec::TypeKind;

[[noreturn]] void throw_type(const ValuePlace& place, const NestedField& field, const DataType& type,
                             std::string_view why = "") {
  throw_error(ErrorKind::kInvalidArgument, "column '{}' of type {} cannot take {}{}", place.path(),
              field.type->to_string(), type.to_string(), why);
}

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
  ArrayPtr convert(const ArrayPtr& source, const NestedField& field, const ValuePlace& place, bool may_be_dictionary) {
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

  ArrayPtr missing(const NestedField& field, int64_t length, const ValuePlace& place) {
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

  ArrayPtr convert_dictionary(const ArrayPtr& source, const NestedField& field, const ValuePlace& place,
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

  ArrayPtr convert_times(const Array& source, const DataTypePtr& type, const ValuePlace& place) {
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

  // Ends of values or lists one behind the other, from 0 on; `size_of` a value that is not null. `what`: "bytes".
  template <typename SizeOf>
  MutableBuffer make_offsets(const Array& source, const ValuePlace& place, std::string_view what,
                             const SizeOf& size_of) {
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer offsets = pool_.allocate((count + 1) * sizeof(int32_t));
    offsets.set_size((count + 1) * sizeof(int32_t));
    auto* ends = offsets.as<int32_t>();
    int64_t end = 0;
    ends[0] = 0;
    for (size_t i = 0; i < count; ++i) {
      if (source.is_valid(static_cast<int64_t>(i))) end += size_of(static_cast<int64_t>(i));
      if (end > INT32_MAX) {
        throw_error(ErrorKind::kUnsupported, "column '{}' of one batch has more than 2^31 - 1 {}", place.path(), what);
      }
      ends[i + 1] = static_cast<int32_t>(end);
    }
    return offsets;
  }

  ArrayPtr convert_bytes(const Array& source, const DataTypePtr& type, const ValuePlace& place) {
    const TypeId from = source.type->id();
    const bool is_text = from == TypeId::kUtf8 || from == TypeId::kLargeUtf8 || from == TypeId::kUtf8View;
    if (!is_bytes(from) || is_text != (type->id() == TypeId::kUtf8)) return nullptr;
    auto result = like(source, type);
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer offsets = make_offsets(source, place, "bytes",
                                         [&](int64_t i) { return static_cast<int64_t>(source.bytes_value(i).size()); });
    const auto* ends = offsets.as<int32_t>();
    const int32_t end = ends[count];
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

  ArrayPtr convert_flat(const ArrayPtr& source, const DataTypePtr& type, const NestedField& field,
                        const ValuePlace& place) {
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

  ArrayPtr convert_struct(const ArrayPtr& source, const NestedField& field, const ValuePlace& place) {
    if (source->type->id() != TypeId::kStruct) throw_type(place, field, *source->type);
    const DataTypePtr target = spec::to_arrow_type(*field.type);
    if (field.type->kind() == TypeKind::kVariant) {
      if (!source->type->equals(*target)) throw_type(place, field, *source->type);
      return source;
    }
    const std::span<const NestedField> wanted = field.type->fields();
    const std::vector<int> places = match_fields(wanted, source->type->children(), &place);
    auto result = std::make_shared<Array>(*source);
    result->type = target;
    result->children.clear();
    for (size_t i = 0; i < wanted.size(); ++i) {
      ValuePlace child_place;
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

  ArrayPtr convert_list(const ArrayPtr& source, const NestedField& field, const ValuePlace& place) {
    const TypeId id = source->type->id();
    if (!is_list(id) || id == TypeId::kMap) throw_type(place, field, *source->type);
    ValuePlace element_place;
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
  ArrayPtr plain_list(const Array& source, const ValuePlace& place) {
    auto result = like(source, list(source.type->children()[0]));
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer offsets =
        make_offsets(source, place, "elements", [&](int64_t i) { return source.list_range(i).second; });
    const auto* ends = offsets.as<int32_t>();
    const int32_t end = ends[count];
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

  ArrayPtr convert_map(const ArrayPtr& source, const NestedField& field, const ValuePlace& place) {
    if (source->type->id() != TypeId::kMap) throw_type(place, field, *source->type);
    ValuePlace entry_place;
    entry_place.parent = &place;
    entry_place.list = source.get();
    ValuePlace key_place;
    key_place.parent = &entry_place;
    key_place.name = "key";
    ValuePlace value_place;
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

}  // namespace

std::vector<int> match_fields(std::span<const NestedField> wanted, std::span<const Field> given,
                              const ValuePlace* parent) {
  std::vector<int> places(wanted.size(), -1);
  std::vector<char> is_used(given.size(), 0);
  const auto path_of = [&](std::string_view name) {
    ValuePlace place;
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

ArrayPtr convert_column(const ArrayPtr& source, const NestedField& field, const ValuePlace& place,
                        const ConformOptions& options, MemoryPool& pool) {
  return Converter(pool, options).convert(source, field, place, true);
}

ArrayPtr missing_column(const NestedField& field, int64_t length, const ValuePlace& place,
                        const ConformOptions& options, MemoryPool& pool) {
  return Converter(pool, options).missing(field, length, place);
}

}  // namespace frazil::write
