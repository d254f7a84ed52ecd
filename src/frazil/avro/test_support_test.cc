#include "frazil/avro/test_support.h"

#include <cmath>

#include <gtest/gtest.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    out.push_back("0123456789abcdef"[value >> 4]);
    out.push_back("0123456789abcdef"[value & 15]);
  }
  return out;
}

json::Value number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return json::Value(value);
}

}  // namespace

json::Value stored_value(const Array& array, int64_t index) {
  if (array.is_null(index)) return nullptr;
  const auto bytes_at = [&](size_t width) {
    return std::string_view(
        reinterpret_cast<const char*>(array.buffers[1].data()) + static_cast<size_t>(array.offset + index) * width,
        width);
  };
  switch (array.type->id()) {
    case TypeId::kBool:
      return json::Value(array.bool_value(index));
    case TypeId::kInt32:
    case TypeId::kDate32:
    case TypeId::kTime32:
      return json::Value(int64_t{array.values<int32_t>()[index]});
    case TypeId::kInt64:
    case TypeId::kTime64:
    case TypeId::kTimestamp:
      return json::Value(array.values<int64_t>()[index]);
    case TypeId::kFloat:
      return number(static_cast<double>(array.values<float>()[index]));
    case TypeId::kDouble:
      return number(array.values<double>()[index]);
    case TypeId::kDecimal128:
      return hex_of(bytes_at(16));
    case TypeId::kDecimal256:
      return hex_of(bytes_at(32));
    case TypeId::kFixedSizeBinary:
      return hex_of(bytes_at(static_cast<size_t>(array.type->fixed_size())));
    case TypeId::kBinary:
    case TypeId::kBinaryView:
      return hex_of(array.bytes_value(index));
    case TypeId::kUtf8:
    case TypeId::kUtf8View:
      return std::string(array.bytes_value(index));
    case TypeId::kIntervalMonthDayNano: {
      const std::string_view bytes = bytes_at(16);
      return json::Array{json::Value(int64_t{load<int32_t>(bytes.data())}),
                         json::Value(int64_t{load<int32_t>(bytes.data() + 4)}),
                         json::Value(load<int64_t>(bytes.data() + 8))};
    }
    case TypeId::kDictionary:
      return stored_value(*array.dictionary, array.values<int32_t>()[index]);
    case TypeId::kList: {
      json::Array items;
      const auto [first, count] = array.list_range(index);
      for (int64_t i = 0; i < count; ++i) items.push_back(stored_value(*array.children[0], first + i));
      return items;
    }
    case TypeId::kMap: {
      json::Array items;
      const auto [first, count] = array.list_range(index);
      for (int64_t i = 0; i < count; ++i) {
        const Array& entries = *array.children[0];
        items.push_back(
            json::Array{stored_value(*entries.children[0], first + i), stored_value(*entries.children[1], first + i)});
      }
      return items;
    }
    case TypeId::kStruct: {
      json::Object members;
      for (size_t i = 0; i < array.children.size(); ++i) {
        members.emplace_back(array.type->children()[i].name, stored_value(*array.children[i], index));
      }
      return members;
    }
    default:
      throw_error(ErrorKind::kInternal, "no JSON for {}", array.type->to_string());
  }
}

json::Value stored_row(const RecordBatch& batch, int64_t index) {
  json::Object members;
  for (size_t i = 0; i < batch.columns().size(); ++i) {
    members.emplace_back(batch.schema()->field(i).name, stored_value(*batch.column(i), index));
  }
  return members;
}

std::string json_difference(const json::Value& left, const json::Value& right) {
  using Kind = json::Value::Kind;
  const auto both = [&] { return ": " + json::write(left) + " and " + json::write(right); };
  if (left.kind() != right.kind()) return both();
  if (left.kind() == Kind::kNumber) {
    if (left.number_text() == right.number_text()) return "";
    const double a = left.as_double();
    const double b = right.as_double();
    return a == b || static_cast<float>(a) == static_cast<float>(b) ? "" : both();
  }
  if (left.kind() == Kind::kArray) {
    if (left.as_array().size() != right.as_array().size()) return both();
    for (size_t i = 0; i < left.as_array().size(); ++i) {
      const std::string inner = json_difference(left.as_array()[i], right.as_array()[i]);
      if (!inner.empty()) return "[" + std::to_string(i) + "]" + inner;
    }
    return "";
  }
  if (left.kind() == Kind::kObject) {
    if (left.as_object().size() != right.as_object().size()) return both();
    for (const auto& [key, value] : left.as_object()) {
      const json::Value* other = right.find(key);
      if (other == nullptr) return "." + key + " is missing in " + json::write(right);
      const std::string inner = json_difference(value, *other);
      if (!inner.empty()) return "." + key + inner;
    }
    return "";
  }
  return left == right ? "" : both();
}

TEST(JsonDifference, NamesThePlaceWhereValuesDiffer) {
  EXPECT_EQ(json_difference(json::parse("{\"a\":[1,{\"b\":2.5}]}"), json::parse("{\"a\":[1.0,{\"b\":2.5}]}")), "");
  EXPECT_EQ(json_difference(json::parse("{\"a\":[1,{\"b\":2.5}]}"), json::parse("{\"a\":[1,{\"b\":3}]}")),
            ".a[1].b: 2.5 and 3");
  EXPECT_NE(json_difference(json::parse("{\"a\":1}"), json::parse("{\"b\":1}")), "");
  EXPECT_NE(json_difference(json::parse("[1]"), json::parse("[1,2]")), "");
}

}  // namespace frazil::avro
