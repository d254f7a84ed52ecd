// Random types and arrays for the property tests of this layer, from a seed, so that RapidCheck can print and repeat
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"

namespace frazil {

class RandomArrays {
 public:
  explicit RandomArrays(uint64_t seed, MemoryPool& pool) : random_(seed), pool_(pool) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool coin(int one_in) { return below(one_in) == 0; }

  std::string text() {
    static const char* const kPieces[] = {"a", "Zz", "0", " ", "\"", "\\", "\n", "\u00e9", "\u20ac", "\U0001F9CA"};
    std::string out;
    for (int64_t i = below(8); i > 0; --i) out += kPieces[below(10)];
    return out;
  }

  DataTypePtr type(int depth = 3) {
    const auto id = static_cast<TypeId>(below(kTypeIdCount));
    switch (id) {
      case TypeId::kDecimal32:
        return decimal(5, 2, id);
      case TypeId::kDecimal64:
        return decimal(18, 0, id);
      case TypeId::kDecimal128:
        return decimal(38, 9, id);
      case TypeId::kDecimal256:
        return decimal(76, 20, id);
      case TypeId::kTime32:
        return time32(coin(2) ? TimeUnit::kSecond : TimeUnit::kMilli);
      case TypeId::kTime64:
        return time64(coin(2) ? TimeUnit::kMicro : TimeUnit::kNano);
      case TypeId::kTimestamp:
        return timestamp(unit(), coin(2) ? "UTC" : "");
      case TypeId::kDuration:
        return duration(unit());
      case TypeId::kFixedSizeBinary:
        return fixed_size_binary(static_cast<int32_t>(below(5)));
      case TypeId::kDictionary: {
        static const TypeId kValues[] = {TypeId::kUtf8, TypeId::kInt64, TypeId::kBinaryView, TypeId::kLargeUtf8};
        return dictionary(primitive(static_cast<TypeId>(static_cast<int>(TypeId::kInt8) + below(8))),
                          primitive(kValues[below(4)]), coin(2));
      }
      case TypeId::kList:
      case TypeId::kLargeList:
      case TypeId::kListView:
      case TypeId::kLargeListView:
        return depth == 0 ? primitive(TypeId::kInt32) : list(field("item", depth), id);
      case TypeId::kFixedSizeList:
        return depth == 0 ? primitive(TypeId::kInt8)
                          : fixed_size_list(field("item", depth), static_cast<int32_t>(below(4)));
      case TypeId::kStruct:
        return depth == 0 ? primitive(TypeId::kUtf8) : struct_(fields(depth));
      case TypeId::kMap:
        return depth == 0 ? primitive(TypeId::kUtf8)
                          : map({.name = "key", .type = primitive(TypeId::kUtf8)}, field("value", depth), coin(2));
      case TypeId::kDenseUnion:
      case TypeId::kSparseUnion: {
        if (depth == 0) return primitive(TypeId::kDouble);
        std::vector<Field> children = fields(depth);
        std::vector<int8_t> ids;
        for (size_t i = 0; i < children.size(); ++i) ids.push_back(static_cast<int8_t>(5 + 3 * i));
        return id == TypeId::kDenseUnion ? dense_union(std::move(children), std::move(ids))
                                         : sparse_union(std::move(children), std::move(ids));
      }
      case TypeId::kRunEndEncoded: {
        static const TypeId kEnds[] = {TypeId::kInt16, TypeId::kInt32, TypeId::kInt64};
        return depth == 0 ? primitive(TypeId::kFloat)
                          : run_end_encoded({.name = "run_ends", .type = primitive(kEnds[below(3)]), .nullable = false},
                                            field("values", depth));
      }
      default:
        return primitive(id);
    }
  }

  // One random value at the end of `builder`, one of eight null.
  void append(ArrayBuilder& builder, bool may_be_null = true) {
    if (may_be_null && coin(8)) return builder.append_null();
    const DataType& type = *builder.type();
    switch (layout_of(type.id())) {
      case Layout::kNull:
        return builder.append_null();
      case Layout::kBool:
        return builder.as<BoolBuilder>().append(coin(2));
      case Layout::kFixedWidth:
        return builder.as<FixedWidthBuilder>().append_bytes(fixed(type));
      case Layout::kBytes:
      case Layout::kView:
        return builder.as<BytesBuilder>().append(text());
      case Layout::kList:
      case Layout::kListView:
      case Layout::kFixedSizeList: {
        auto& lists = builder.as<ListBuilder>();
        lists.append();
        const int64_t count = type.id() == TypeId::kFixedSizeList ? type.fixed_size() : below(4);
        for (int64_t i = 0; i < count; ++i) append(lists.values(), type.id() != TypeId::kMap);
        return;
      }
      case Layout::kStruct: {
        auto& structs = builder.as<StructBuilder>();
        structs.append();
        for (size_t c = 0; c < type.children().size(); ++c) append(structs.child(c), type.children()[c].nullable);
        return;
      }
      case Layout::kSparseUnion:
      case Layout::kDenseUnion: {
        auto child = static_cast<size_t>(below(static_cast<int64_t>(type.children().size())));
        builder.as<UnionBuilder>().append(child);
        return append(builder.as<UnionBuilder>().child(child));
      }
      case Layout::kDictionary:
        return builder.as<DictionaryBuilder>().append_bytes(dictionary_value(*type.value_type()));
      case Layout::kRunEnd: {
        auto& runs = builder.as<RunEndBuilder>();
        append(runs.values());
        // Nested builders count values one by one, so runs are longer than 1 only at the top.
        return runs.append_run(1);
      }
    }
  }

  ArrayPtr array(const DataTypePtr& type, int64_t length) {
    auto builder = make_builder(type, pool_);
    for (int64_t i = 0; i < length; ++i) append(*builder);
    return builder->finish();
  }

  // The same values, with an offset at every level that can have one, and with an unknown null count.
  ArrayPtr with_offsets(const Array& source) {
    auto builder = make_builder(source.type, pool_);
    const int64_t before = 1 + below(9);
    for (int64_t i = 0; i < before; ++i) append(*builder);
    for (int64_t i = 0; i < source.length; ++i) builder->append_from(source, i);
    for (int64_t i = below(3); i > 0; --i) append(*builder);
    auto whole = std::make_shared<Array>(*builder->finish());
    // Run ends have no use for an offset of their own; keys of a map must not get nulls in front.
    const bool keep = whole->type->id() == TypeId::kRunEndEncoded || whole->type->id() == TypeId::kMap;
    for (ArrayPtr& child : whole->children) {
      if (!keep) child = with_offsets(*child);
    }
    return whole->slice(before, source.length);
  }

 private:
  TimeUnit unit() { return static_cast<TimeUnit>(below(4)); }
  Field field(std::string name, int depth) { return {.name = std::move(name), .type = type(depth - 1)}; }
  std::vector<Field> fields(int depth) {
    std::vector<Field> out;
    for (int64_t i = 1 + below(3); i > 0; --i) out.push_back(field(std::string(1, static_cast<char>('a' + i)), depth));
    return out;
  }
  // No more distinct ones than the smallest type of indices can count.
  std::string dictionary_value(const DataType& type) {
    const int64_t number = below(100);
    if (is_bytes(type.id())) return std::string(static_cast<size_t>(number % 20), '_') + std::to_string(number);
    return {reinterpret_cast<const char*>(&number), sizeof(number)};
  }
  std::string fixed(const DataType& type) {
    std::string bytes;
    const bool small = coin(2);  // repeated and realistic values, besides arbitrary ones
    const auto width = static_cast<size_t>(type.byte_width());
    for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(small && i != 0 ? 0 : below(256));
    if (is_decimal(type.id())) std::fill(bytes.begin() + 2, bytes.end(), bytes[1] < 0 ? '\xFF' : '\0');
    return bytes;
  }

  std::mt19937_64 random_;
  MemoryPool& pool_;
};

}  // namespace frazil
