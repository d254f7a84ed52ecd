// Random columns that Parquet can hold, for the tests of writing: types with required and optional fields at every
// level, values in their types' ranges, hidden values under nulls, slices, dictionaries, runs and list views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/decimal.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"

namespace frazil::parquet::testing {

class RandomColumns {
 public:
  RandomColumns(uint64_t seed, MemoryPool& pool) : random_(seed), pool_(pool) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool coin(int one_in) { return below(one_in) == 0; }

  Field field(std::string name, int depth) {
    Field made{.name = std::move(name), .type = type(depth), .nullable = coin(2)};
    if (made.type->id() == TypeId::kNull) made.nullable = true;
    if (coin(2)) made.metadata.emplace_back("PARQUET:field_id", std::to_string(++last_id_));
    return made;
  }

  DataTypePtr type(int depth) {
    if (depth > 0 && coin(2)) return nested(depth);
    switch (below(24)) {
      case 0:
        return primitive(TypeId::kBool);
      case 1:
        return primitive(TypeId::kInt8);
      case 2:
        return primitive(TypeId::kUInt16);
      case 3:
      case 4:
        return primitive(TypeId::kInt32);
      case 5:
        return primitive(TypeId::kUInt32);
      case 6:
      case 7:
        return primitive(TypeId::kInt64);
      case 8:
        return primitive(TypeId::kUInt64);
      case 9:
        return primitive(TypeId::kHalfFloat);
      case 10:
        return primitive(TypeId::kFloat);
      case 11:
        return primitive(TypeId::kDouble);
      case 12: {
        static const std::pair<int32_t, TypeId> kDecimals[] = {
            {5, TypeId::kDecimal32},   {9, TypeId::kDecimal128},  {12, TypeId::kDecimal64}, {18, TypeId::kDecimal128},
            {19, TypeId::kDecimal128}, {38, TypeId::kDecimal128}, {9, TypeId::kDecimal256}, {50, TypeId::kDecimal256}};
        const auto [precision, id] = kDecimals[below(8)];
        return decimal(precision, static_cast<int32_t>(below(precision + 1)), id);
      }
      case 13:
        return primitive(TypeId::kDate32);
      case 14:
        return time64(coin(2) ? TimeUnit::kMicro : TimeUnit::kNano);
      case 15:
        return time32(TimeUnit::kMilli);
      case 16:
        return timestamp(static_cast<TimeUnit>(1 + below(3)), coin(2) ? "UTC" : "");
      case 17:
        return primitive(coin(2) ? TypeId::kLargeUtf8 : TypeId::kUtf8View);
      case 18:
        return primitive(coin(2) ? TypeId::kBinary : coin(2) ? TypeId::kLargeBinary : TypeId::kBinaryView);
      case 19:
        return fixed_size_binary(static_cast<int32_t>(1 + below(20)));
      case 20:
        return coin(3) ? primitive(TypeId::kNull) : primitive(TypeId::kIntervalMonthDayNano);
      case 21: {
        static const TypeId kValues[] = {TypeId::kUtf8, TypeId::kInt64, TypeId::kBinaryView, TypeId::kDouble};
        return dictionary(primitive(coin(2) ? TypeId::kInt32 : TypeId::kUInt8), primitive(kValues[below(4)]));
      }
      default:
        return primitive(TypeId::kUtf8);
    }
  }

  // Nulls only where the field may have them.
  ArrayPtr array(const Field& column, int64_t length) {
    ArrayPtr made = build(column, length);
    if (coin(2)) made = hide(column, *made, true);
    if (column.type->id() != TypeId::kDictionary && coin(8)) made = as_dictionary_or_runs(made);
    return made;
  }

  RecordBatch batch(const SchemaPtr& schema, int64_t rows) {
    std::vector<ArrayPtr> columns;
    std::vector<Field> fields;
    for (const Field& column : schema->fields()) {
      // A slice from the middle of a longer array.
      const int64_t before = coin(2) ? below(20) : 0;
      columns.push_back(array(column, before + rows + (coin(2) ? below(20) : 0))->slice(before, rows));
      fields.push_back({.name = column.name, .type = columns.back()->type, .nullable = column.nullable});
    }
    return {std::make_shared<const Schema>(std::move(fields)), rows, std::move(columns)};
  }

 private:
  DataTypePtr nested(int depth) {
    switch (below(6)) {
      case 0: {
        static const TypeId kLists[] = {TypeId::kLargeList, TypeId::kListView, TypeId::kLargeListView};
        return list(field("item", depth - 1), kLists[below(3)]);
      }
      case 1:
        return fixed_size_list(field("item", depth - 1), static_cast<int32_t>(below(4)));
      case 2:
        return map({.name = "k", .type = primitive(coin(2) ? TypeId::kUtf8 : TypeId::kInt32), .nullable = false},
                   field("v", depth - 1));
      case 3:
        return list(field("item", depth - 1));
      default: {
        std::vector<Field> fields;
        for (int64_t i = 1 + below(3); i > 0; --i) {
          fields.push_back(field(std::string(1, static_cast<char>('a' + i)), depth - 1));
        }
        return struct_(std::move(fields));
      }
    }
  }

  ArrayPtr build(const Field& column, int64_t length) {
    auto builder = make_builder(column.type, pool_);
    const int null_share = coin(4) ? 1 : coin(2) ? 3 : 40;
    const int64_t distinct = coin(2) ? 5 : 100'000;
    for (int64_t i = 0; i < length; ++i) append(*builder, column, null_share, distinct);
    return builder->finish();
  }

  void append(ArrayBuilder& builder, const Field& column, int null_share, int64_t distinct) {
    if (column.nullable && below(null_share + 1) == 0) return builder.append_null();
    const DataType& type = *column.type;
    switch (layout_of(type.id())) {
      case Layout::kNull:
        return builder.append_null();
      case Layout::kBool:
        return builder.as<BoolBuilder>().append(coin(2));
      case Layout::kFixedWidth:
        return builder.as<FixedWidthBuilder>().append_bytes(fixed(type, distinct));
      case Layout::kBytes:
      case Layout::kView:
        return builder.as<BytesBuilder>().append(text(distinct));
      case Layout::kList:
      case Layout::kListView:
      case Layout::kFixedSizeList: {
        auto& lists = builder.as<ListBuilder>();
        lists.append();
        const int64_t count = type.id() == TypeId::kFixedSizeList ? type.fixed_size() : coin(50) ? below(60) : below(4);
        for (int64_t i = 0; i < count; ++i) append(lists.values(), type.children()[0], null_share, distinct);
        return;
      }
      case Layout::kStruct: {
        auto& structs = builder.as<StructBuilder>();
        structs.append();
        for (size_t c = 0; c < type.children().size(); ++c) {
          append(structs.child(c), type.children()[c], null_share, distinct);
        }
        return;
      }
      default:
        return builder.as<DictionaryBuilder>().append_bytes(dictionary_value(*type.value_type()));
    }
  }

  // The same array with more nulls: what was there is hidden under them now.
  ArrayPtr hide(const Field& column, const Array& source, bool may_be_null) {
    auto made = std::make_shared<Array>(source);
    const bool is_map = source.type->id() == TypeId::kMap;
    for (size_t i = 0; i < made->children.size(); ++i) {
      made->children[i] = hide(column.type->children()[i], *made->children[i], !is_map);
    }
    if (!may_be_null || !column.nullable || !has_validity_buffer(source.type->id()) || coin(3)) return made;
    BitBuilder bits(pool_);
    for (int64_t i = 0; i < source.offset; ++i) bits.append(true);
    for (int64_t i = 0; i < source.length; ++i) bits.append(source.is_valid(i) && !coin(5));
    made->buffers[0] = bits.freeze();
    made->null_count = kUnknownNullCount;
    return made;
  }

  // What stands for the same values. A dictionary may have a null among its entries, and entries that nothing uses.
  ArrayPtr as_dictionary_or_runs(const ArrayPtr& values) {
    const Layout layout = layout_of(values->type->id());
    const bool is_leaf = layout == Layout::kFixedWidth || layout == Layout::kBytes || layout == Layout::kView;
    if (!is_leaf || values->length == 0) return values;
    auto made = std::make_shared<Array>();
    made->length = values->length;
    MutableBuffer numbers = pool_.allocate(static_cast<size_t>(values->length) * 4);
    numbers.set_size(static_cast<size_t>(values->length) * 4);
    if (coin(2)) {
      for (int64_t i = 0; i < values->length; ++i) numbers.as<int32_t>()[i] = static_cast<int32_t>(i);
      made->type = dictionary(primitive(TypeId::kInt32), values->type);
      made->dictionary = values;
      made->buffers[1] = std::move(numbers).freeze();
      return made;
    }
    for (int64_t i = 0; i < values->length; ++i) numbers.as<int32_t>()[i] = static_cast<int32_t>(i + 1);
    auto ends = std::make_shared<Array>();
    ends->type = primitive(TypeId::kInt32);
    ends->length = values->length;
    ends->null_count = 0;
    ends->buffers[1] = std::move(numbers).freeze();
    made->type = run_end_encoded({.name = "run_ends", .type = ends->type, .nullable = false},
                                 {.name = "values", .type = values->type});
    made->null_count = 0;
    made->children = {ends, values};
    return made;
  }

  std::string text(int64_t distinct) {
    static const char* const kPieces[] = {"a", "Zz", "0", " ", "\"", "\n", "\u00e9", "\u20ac", "\U0001F9CA", "prefix-"};
    const int64_t number = below(distinct);
    std::string out = kPieces[number % 10];
    if (number % 3 != 0) out += std::to_string(number) + kPieces[number / 10 % 10];
    return number % 7 == 0 ? std::string() : out;
  }

  std::string dictionary_value(const DataType& type) {
    const int64_t number = below(100);
    if (is_bytes(type.id())) return std::string(static_cast<size_t>(number % 20), '_') + std::to_string(number);
    if (type.id() == TypeId::kDouble) return bytes_of(static_cast<double>(number) / 3);
    return bytes_of(number);
  }

  template <typename T>
  static std::string bytes_of(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }

  // A number of `width` bytes, from a range that values of the type have.
  std::string fixed(const DataType& type, int64_t distinct) {
    const auto width = static_cast<size_t>(type.byte_width());
    const int64_t number = distinct > 1000 ? static_cast<int64_t>(random_()) : below(distinct) - distinct / 2;
    int64_t ranged = number;
    switch (type.id()) {
      case TypeId::kDecimal32:
      case TypeId::kDecimal64:
      case TypeId::kDecimal128:
      case TypeId::kDecimal256: {
        const Int128 limit = power_of_ten(std::min(type.precision(), 38));
        Int128 value = make_int128(number, random_()) % limit;
        if (distinct <= 1000) value = number % 100'000 % limit;
        std::string bytes = bytes_of(value);
        bytes.resize(std::max<size_t>(width, 16), value < 0 ? '\xFF' : '\0');
        return bytes.substr(0, width);
      }
      case TypeId::kDate32:
        return bytes_of(static_cast<int32_t>(number % 2'000'000));
      case TypeId::kTime32:
        return bytes_of(static_cast<int32_t>(number < 0 ? -(number + 1) % 86'400'000 : number % 86'400'000));
      case TypeId::kTime64:
        ranged = number < 0 ? -(number + 1) : number;
        return bytes_of(ranged % (type.unit() == TimeUnit::kMicro ? 86'400'000'000 : 86'400'000'000'000));
      case TypeId::kTimestamp:
        return bytes_of(number / (type.unit() == TimeUnit::kMilli   ? 100'000
                                  : type.unit() == TimeUnit::kMicro ? 100
                                                                    : 1));
      case TypeId::kIntervalMonthDayNano:
        return bytes_of(static_cast<int32_t>(below(1000))) + bytes_of(static_cast<int32_t>(below(1000))) +
               bytes_of(below(86'400'000) * 1'000'000);
      case TypeId::kFloat:
        return bytes_of(floating<float>(number));
      case TypeId::kDouble:
        return bytes_of(floating<double>(number));
      default: {
        std::string bytes = bytes_of(number);
        bytes.resize(width, number < 0 ? '\xFF' : '\0');
        return bytes;
      }
    }
  }

  template <typename T>
  T floating(int64_t number) {
    static const T kOdd[] = {T(0), -T(0), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()};
    return coin(20) ? kOdd[below(4)] : static_cast<T>(number) / 8;
  }

  std::mt19937_64 random_;
  MemoryPool& pool_;
  int last_id_ = 0;
};

}  // namespace frazil::parquet::testing
