// Random columns and predicates for the property tests of this layer, and the slow and obvious meaning of a predicate
// for one row: three-valued logic by its tables, numbers as decimal text, times as nanoseconds. It shares nothing with
// bind_predicate() and evaluate() but the tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/civil_time.h"
#include "frazil/base/decimal.h"
#include "frazil/base/half_float.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"
#include "frazil/predicate/predicate.h"

namespace frazil::predicate::test {

// ---- Kleene's logic ----

enum class Truth : uint8_t { kFalse, kUnknown, kTrue };

inline Truth truth(bool value) {
  return value ? Truth::kTrue : Truth::kFalse;
}
inline Truth negate(Truth value) {
  return value == Truth::kUnknown ? value : truth(value == Truth::kFalse);
}

// ---- Numbers as text ----

// -1, 0, 1 for two numbers of the literal grammar: their digits are written one below the other and compared as text.
inline int compare_number_texts(const std::string& left, const std::string& right) {
  struct Plain {
    bool negative;
    std::string whole;
    std::string fraction;
  };
  auto plain = [](const std::string& text) {
    const size_t e = std::min(text.find_first_of("eE"), text.size());
    const long power = e == text.size() ? 0 : std::strtol(text.c_str() + e + 1, nullptr, 10);
    std::string mantissa = text.substr(0, e);
    const bool negative = mantissa[0] == '-';
    if (mantissa[0] == '-' || mantissa[0] == '+') mantissa.erase(0, 1);
    const size_t point = std::min(mantissa.find('.'), mantissa.size());
    std::string whole = mantissa.substr(0, point);
    std::string fraction = point == mantissa.size() ? "" : mantissa.substr(point + 1);
    for (long i = 0; i < power; ++i) {
      whole += fraction.empty() ? '0' : fraction[0];
      if (!fraction.empty()) fraction.erase(0, 1);
    }
    for (long i = 0; i > power; --i) {
      fraction.insert(0, 1, whole.empty() ? '0' : whole.back());
      if (!whole.empty()) whole.pop_back();
    }
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    return Plain{negative && !(whole.empty() && fraction.empty()), whole, fraction};
  };
  const Plain a = plain(left);
  const Plain b = plain(right);
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  int order = 0;
  if (a.whole.size() != b.whole.size()) {
    order = a.whole.size() < b.whole.size() ? -1 : 1;
  } else if (a.whole != b.whole) {
    order = a.whole < b.whole ? -1 : 1;
  } else if (a.fraction != b.fraction) {
    order = a.fraction < b.fraction ? -1 : 1;
  }
  return a.negative ? -order : order;
}

// ---- Floats ----

inline int compare_floats(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return (std::isnan(left) ? 1 : 0) - (std::isnan(right) ? 1 : 0);
  return left < right ? -1 : left > right ? 1 : 0;
}

// The nearest half float by looking at all of them; the even one of two.
inline double nearest_half(double value) {
  static std::map<double, double> known;  // of few literals asked for often
  if (const auto found = known.find(value); found != known.end() && value != 0) return found->second;
  double best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const double candidate = half_to_float(static_cast<uint16_t>(bits));
    const double away = std::fabs(std::fabs(value) - candidate);
    if (away < distance || (away == distance && (bits & 1) == 0)) {
      best = candidate;
      distance = away;
    }
  }
  if (std::fabs(value) >= 65520) best = std::numeric_limits<double>::infinity();
  best = std::copysign(best, value);
  known[value] = best;
  return best;
}

// Of a cell with a finite literal's text in a float column. Literals that round to infinity lie just inside it.
inline int compare_with_rounded(double cell, const std::string& literal, TypeId id) {
  double value = std::strtod(literal.c_str(), nullptr);
  if (id == TypeId::kFloat) value = double{std::strtof(literal.c_str(), nullptr)};
  if (id == TypeId::kHalfFloat) value = nearest_half(value);
  if (!std::isinf(value)) return compare_floats(cell, value);
  if (std::isnan(cell)) return 1;
  if (value > 0) return std::isinf(cell) && cell > 0 ? 1 : -1;
  return std::isinf(cell) && cell < 0 ? -1 : 1;
}

// ---- One cell ----

struct Cell {
  const Array* array;
  int64_t index;
};

// Through dictionaries and runs.
inline Cell stored_cell(Cell cell) {
  if (cell.array->type->id() == TypeId::kDictionary) {
    return stored_cell({cell.array->dictionary.get(), dictionary_index(*cell.array, cell.index)});
  }
  if (cell.array->type->id() == TypeId::kRunEndEncoded) {
    return stored_cell({cell.array->children[1].get(), run_value_index(*cell.array, cell.index)});
  }
  return cell;
}

inline double float_cell(const Cell& cell) {
  switch (cell.array->type->id()) {
    case TypeId::kHalfFloat:
      return half_to_float(cell.array->values<uint16_t>()[cell.index]);
    case TypeId::kFloat:
      return cell.array->values<float>()[cell.index];
    default:
      return cell.array->values<double>()[cell.index];
  }
}

inline Int128 nanoseconds_of(const Cell& cell) {
  const DataType& type = *cell.array->type;
  const std::byte* place = cell.array->buffers[1].data() + (cell.array->offset + cell.index) * type.byte_width();
  const Int128 value = type.byte_width() == 4 ? Int128{load<int32_t>(place)} : Int128{load<int64_t>(place)};
  if (type.id() == TypeId::kDate32) return value * 86'400 * 1'000'000'000;
  if (type.id() == TypeId::kDate64) return value * 1'000'000;
  return value * (1'000'000'000 / units_per_second(type.unit()));
}

inline int sign(Int128 difference) {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

// A cell that is not null with a literal: -1, 0, 1.
inline int compare_cell(const Cell& cell, const Literal& literal) {
  const TypeId id = cell.array->type->id();
  if (const auto* value = std::get_if<bool>(&literal)) return int{cell.array->bool_value(cell.index)} - int{*value};
  if (const auto* value = std::get_if<Number>(&literal)) {
    if (is_floating(id)) return compare_with_rounded(float_cell(cell), value->text, id);
    return compare_number_texts(value_to_text(*cell.array, cell.index), value->text);
  }
  if (const auto* value = std::get_if<Double>(&literal)) {
    if (!std::isfinite(value->value)) {
      return is_floating(id) ? compare_floats(float_cell(cell), value->value) : value->value < 0 ? 1 : -1;
    }
    char text[400];
    const bool whole = std::fabs(value->value) >= 0x1p53;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.17g", value->value);
    for (int digits = 1; !whole && digits < 17; ++digits) {  // the shortest text
      std::snprintf(text, sizeof text, "%.*g", digits, value->value);
      if (std::strtod(text, nullptr) == value->value) break;
    }
    if (is_floating(id)) {
      std::snprintf(text, sizeof text, "%.17g", value->value);
      return compare_with_rounded(float_cell(cell), text, id);
    }
    return compare_number_texts(value_to_text(*cell.array, cell.index), text);
  }
  if (const auto* value = std::get_if<Date>(&literal)) {
    return sign(nanoseconds_of(cell) - Int128{value->days} * 86'400 * 1'000'000'000);
  }
  if (const auto* value = std::get_if<Time>(&literal)) return sign(nanoseconds_of(cell) - value->nanoseconds);
  if (const auto* value = std::get_if<Timestamp>(&literal)) {
    return sign(nanoseconds_of(cell) - (Int128{value->seconds} * 1'000'000'000 + value->nanoseconds));
  }
  if (const auto* value = std::get_if<std::string>(&literal)) {
    if (is_decimal(id)) return compare_number_texts(value_to_text(*cell.array, cell.index), *value);
    return sign(Int128{cell.array->bytes_value(cell.index).compare(*value)});
  }
  if (const auto* value = std::get_if<Binary>(&literal)) {
    return sign(Int128{cell.array->bytes_value(cell.index).compare(value->bytes)});
  }
  const auto& uuid = std::get<Uuid>(literal);
  return sign(Int128{cell.array->bytes_value(cell.index)
                         .compare({reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()})});
}

inline bool holds(int order, Comparator comparator) {
  switch (comparator) {
    case Comparator::kEqual:
      return order == 0;
    case Comparator::kNotEqual:
      return order != 0;
    case Comparator::kLess:
      return order < 0;
    case Comparator::kLessOrEqual:
      return order <= 0;
    case Comparator::kGreater:
      return order > 0;
    case Comparator::kGreaterOrEqual:
      return order >= 0;
  }
  return false;
}

// ---- One row ----

// The cell of a column; nothing where it, or a struct around it, is null.
inline std::optional<Cell> find_cell(const RecordBatch& batch, const ColumnName& name, int64_t row) {
  ArrayPtr array = batch.column(batch.schema()->index_of(name.parts[0]).value());
  int64_t index = row;
  for (size_t depth = 1; depth < name.parts.size(); ++depth) {
    if (array->is_null(index)) return std::nullopt;
    index += array->offset;
    const auto& fields = array->type->children();
    size_t child = 0;
    while (fields[child].name != name.parts[depth]) ++child;
    array = array->children[child];
  }
  if (is_logical_null(*array, index)) return std::nullopt;
  // The caller compares with it while the batch lives, which owns the array.
  return stored_cell({array.get(), index});
}

inline Truth evaluate_row(const Predicate& predicate, const RecordBatch& batch, int64_t row) {
  const auto& form = predicate.node().form;
  if (const auto* constant = std::get_if<Constant>(&form)) return truth(constant->value);
  if (const auto* group = std::get_if<Conjunction>(&form)) {
    Truth result = Truth::kTrue;
    for (const Predicate& operand : group->operands) result = std::min(result, evaluate_row(operand, batch, row));
    return result;
  }
  if (const auto* group = std::get_if<Disjunction>(&form)) {
    Truth result = Truth::kFalse;
    for (const Predicate& operand : group->operands) result = std::max(result, evaluate_row(operand, batch, row));
    return result;
  }
  if (const auto* negation = std::get_if<Negation>(&form)) return negate(evaluate_row(negation->operand, batch, row));
  if (const auto* test = std::get_if<IsNull>(&form)) {
    return truth(find_cell(batch, test->column, row).has_value() == test->negated);
  }
  if (const auto* test = std::get_if<IsNan>(&form)) {
    const auto cell = find_cell(batch, test->column, row);
    return truth((cell && std::isnan(float_cell(*cell))) != test->negated);
  }
  if (const auto* test = std::get_if<Comparison>(&form)) {
    const auto cell = find_cell(batch, test->column, row);
    return cell ? truth(holds(compare_cell(*cell, test->value), test->comparator)) : Truth::kUnknown;
  }
  if (const auto* test = std::get_if<InList>(&form)) {
    if (test->values.empty()) return truth(test->negated);
    const auto cell = find_cell(batch, test->column, row);
    if (!cell) return Truth::kUnknown;
    const bool found = std::any_of(test->values.begin(), test->values.end(),
                                   [&](const Literal& value) { return compare_cell(*cell, value) == 0; });
    return truth(found != test->negated);
  }
  const auto& test = std::get<StartsWith>(form);
  const auto cell = find_cell(batch, test.column, row);
  if (!cell) return Truth::kUnknown;
  const std::string_view value = cell->array->bytes_value(cell->index);
  return truth((value.substr(0, test.prefix.size()) == test.prefix) != test.negated);
}

// ---- Generators ----

class RandomPredicates {
 public:
  explicit RandomPredicates(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool coin(int one_in) { return below(one_in) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

  // ---- Columns ----

  Field plain_field(const std::string& name) {
    using enum TypeId;
    static const std::vector<TypeId> kIds = {
        kBool,       kInt8,       kInt16,     kInt32,  kInt64,       kUInt8,      kUInt16,
        kUInt32,     kUInt64,     kHalfFloat, kFloat,  kDouble,      kDecimal32,  kDecimal64,
        kDecimal128, kDecimal256, kDate32,    kDate64, kTime32,      kTime64,     kTimestamp,
        kUtf8,       kLargeUtf8,  kUtf8View,  kBinary, kLargeBinary, kBinaryView, kFixedSizeBinary};
    Field field{.name = name};
    const TypeId id = pick(kIds);
    switch (id) {
      case kDecimal32:
        field.type = decimal(9, 2, id);
        break;
      case kDecimal64:
        field.type = decimal(18, static_cast<int32_t>(below(4)), id);
        break;
      case kDecimal128:
        field.type = decimal(38, coin(2) ? 0 : 9, id);
        break;
      case kDecimal256:
        field.type = decimal(76, coin(2) ? 2 : 20, id);
        break;
      case kTime32:
        field.type = time32(coin(2) ? TimeUnit::kSecond : TimeUnit::kMilli);
        break;
      case kTime64:
        field.type = time64(coin(2) ? TimeUnit::kMicro : TimeUnit::kNano);
        break;
      case kTimestamp:
        field.type = timestamp(static_cast<TimeUnit>(below(4)), coin(2) ? "UTC" : "");
        break;
      case kFixedSizeBinary:
        field.type = fixed_size_binary(coin(2) ? 16 : 3);
        if (field.type->fixed_size() == 16) field.metadata = {{"ARROW:extension:name", "arrow.uuid"}};
        break;
      default:
        field.type = primitive(id);
        break;
    }
    return field;
  }

  Field field(const std::string& name, int depth = 2) {
    if (depth > 0 && coin(5)) {
      Field parent{.name = name};
      parent.type = struct_({field("a", depth - 1), field("b", depth - 1)});
      return parent;
    }
    Field out = plain_field(name);
    if (coin(4)) {
      using enum TypeId;
      static const std::vector<TypeId> kIndices = {kInt8, kUInt8, kInt16, kUInt16, kInt32, kUInt32, kInt64, kUInt64};
      if (layout_of(out.type->id()) != Layout::kBool) out.type = dictionary(primitive(pick(kIndices)), out.type);
    } else if (coin(8)) {
      out.type = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt32), .nullable = false},
                                 {.name = "values", .type = out.type});
    }
    return out;
  }

  // Values that repeat, that literals hit, and the ends of each type.
  void append(ArrayBuilder& builder) {
    if (coin(6)) return builder.append_null();
    const DataType& type = *builder.type();
    switch (layout_of(type.id())) {
      case Layout::kBool:
        return builder.as<BoolBuilder>().append(coin(2));
      case Layout::kBytes:
      case Layout::kView:
        return builder.as<BytesBuilder>().append(text());
      case Layout::kStruct: {
        auto& structs = builder.as<StructBuilder>();
        structs.append();
        for (size_t i = 0; i < type.children().size(); ++i) append(structs.child(i));
        return;
      }
      case Layout::kDictionary:
        return builder.as<DictionaryBuilder>().append_bytes(
            is_bytes(type.value_type()->id()) ? text() : fixed(*type.value_type()));
      case Layout::kRunEnd:
        append(builder.as<RunEndBuilder>().values());
        return builder.as<RunEndBuilder>().append_run(1);
      default:
        return builder.as<FixedWidthBuilder>().append_bytes(fixed(type));
    }
  }

  ArrayPtr array(const DataTypePtr& type, int64_t length) {
    auto builder = make_builder(type, pool_);
    const int64_t before = coin(2) ? 0 : below(70);
    while (builder->length() < before + length) append(*builder);
    return builder->finish()->slice(before, length);
  }

  RecordBatch batch(int64_t rows) {
    std::vector<Field> fields;
    for (int64_t i = 1 + below(4); i > 0; --i) fields.push_back(field(std::string(1, static_cast<char>('p' + i))));
    std::vector<ArrayPtr> columns;
    for (const Field& each : fields) columns.push_back(array(each.type, rows));
    return {Schema::make(std::move(fields)), rows, std::move(columns)};
  }

  // ---- Predicates over a schema ----

  Predicate predicate(const Schema& schema, int depth = 3) {
    if (depth == 0 || coin(3)) return test(schema);
    switch (below(3)) {
      case 0:
        return not_(predicate(schema, depth - 1));
      case 1:
        return all_of(operands(schema, depth));
      default:
        return any_of(operands(schema, depth));
    }
  }

  Predicate test(const Schema& schema) {
    if (coin(30)) return always(coin(2));
    ColumnName name;
    const std::vector<Field>* fields = &schema.fields();
    const Field* found = nullptr;
    do {
      found = &pick(*fields);
      name.parts.push_back(found->name);
      fields = &found->type->children();
    } while (found->type->id() == TypeId::kStruct && !coin(6));
    const bool negated = coin(2);
    const DataType* type = found->type.get();
    if (type->id() == TypeId::kDictionary) type = type->value_type().get();
    if (type->id() == TypeId::kRunEndEncoded) type = type->children()[1].type.get();
    if (type->id() == TypeId::kStruct || coin(8)) return is_null(name, negated);
    if (is_floating(type->id()) && coin(4)) return is_nan(name, negated);
    const bool is_text =
        type->id() == TypeId::kUtf8 || type->id() == TypeId::kLargeUtf8 || type->id() == TypeId::kUtf8View;
    if (is_text && coin(3)) return starts_with(name, text(), negated);
    if (coin(4)) {
      std::vector<Literal> values;
      for (int64_t i = coin(10) ? below(200) : below(5); i > 0; --i) values.push_back(literal(*type, *found));
      return is_in(name, std::move(values), negated);
    }
    return compare(name, static_cast<Comparator>(below(6)), literal(*type, *found));
  }

  Literal literal(const DataType& type, const Field& field) {
    switch (type.id()) {
      case TypeId::kBool:
        return coin(2);
      case TypeId::kDate32:
      case TypeId::kDate64:
      case TypeId::kTimestamp: {
        if (coin(3)) return Date{static_cast<int32_t>(pick(integers()))};
        Timestamp value{pick(integers()), 0, !type.timezone().empty() && coin(2)};
        if (coin(2)) value.seconds *= 86'400 / (1 + below(3));
        if (coin(3)) value.nanoseconds = pick(std::vector<int32_t>{1, 1'000, 5'000'000, 999'999'999, 500'000'000});
        return value;
      }
      case TypeId::kTime32:
      case TypeId::kTime64:
        return Time{
            pick(std::vector<int64_t>{0, 1, 1'000, 1'000'000, 1'000'000'000, 2'000'000'000, 86'399'999'999'999})};
      case TypeId::kUtf8:
      case TypeId::kLargeUtf8:
      case TypeId::kUtf8View:
        return text();
      case TypeId::kBinary:
      case TypeId::kLargeBinary:
      case TypeId::kBinaryView:
        return Binary{text()};
      case TypeId::kFixedSizeBinary:
        if (field.extension_name() && coin(2)) {
          const std::string bytes = fixed(type);
          return uuid_from_bytes(std::as_bytes(std::span(bytes)));
        }
        return Binary{fixed(type)};
      default:
        break;
    }
    if (is_decimal(type.id()) && coin(6)) return pick(numbers());
    if (coin(5)) return Double{pick(doubles())};
    return number(pick(numbers()));
  }

  std::string text() {
    static const std::vector<std::string> kTexts = {
        "",           "a",      "ab", "abc", "b", "\u00e9", "abcdefghijkl", "abcdefghijklm", "abcdefghijkln",
        "\U0001F9CA", "ab\x7f", "zz"};
    return pick(kTexts);
  }

 private:
  std::vector<Predicate> operands(const Schema& schema, int depth) {
    std::vector<Predicate> out;
    for (int64_t i = below(4); i >= 0; --i) out.push_back(predicate(schema, depth - 1));
    return out;
  }

  static const std::vector<int64_t>& integers() {
    static const std::vector<int64_t> kIntegers = {
        0,     1,     -1,        2,         5,          -128,  127,    128,      255,     -32768, 32767,
        65535, 86400, INT32_MIN, INT32_MAX, 4294967295, 20000, -20000, 16777217, 1000000, -3,     -1000000};
    return kIntegers;
  }
  static const std::vector<std::string>& numbers() {
    static const std::vector<std::string> kNumbers = {"0",
                                                      "-0",
                                                      "1",
                                                      "1.0",
                                                      "1.5",
                                                      "-1",
                                                      "-1.5",
                                                      "127",
                                                      "127.5",
                                                      "-128",
                                                      "-128.5",
                                                      "128",
                                                      "255.000",
                                                      "256",
                                                      "0.1",
                                                      "2.50",
                                                      "0.02",
                                                      "-0.01",
                                                      "0.005",
                                                      "1e30",
                                                      "-1e30",
                                                      "1e-40",
                                                      "1e78",
                                                      "-1e78",
                                                      "9223372036854775807",
                                                      "9223372036854775808",
                                                      "-9223372036854775809",
                                                      "18446744073709551615",
                                                      "18446744073709551616",
                                                      "65504",
                                                      "65519",
                                                      "65520",
                                                      "-65520",
                                                      "3.4028235e38",
                                                      "3.4028236e38",
                                                      "1e39",
                                                      "-1e39",
                                                      "1e400",
                                                      "-1e400",
                                                      "16777217",
                                                      "9007199254740993",
                                                      "20000",
                                                      "1e2",
                                                      "100E-2",
                                                      "99999999999999999999999999999999999999",
                                                      "0.33333333333333333333",
                                                      "5.",
                                                      ".5"};
    return kNumbers;
  }
  static const std::vector<double>& doubles() {
    static const std::vector<double> kDoubles = {
        0.0,    -0.0,    1.0,    1.5,      0.1,          -0.1,     1e300,
        -1e300, 1e-300,  65504,  65519.99, std::nan(""), INFINITY, -INFINITY,
        0x1p63, -0x1p63, 0x1p64, 3.5e38,   0.02,         16777217, 9007199254740993.0};
    return kDoubles;
  }

  // Bytes of one fixed-width value.
  std::string fixed(const DataType& type) {
    auto bytes = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
    const int64_t value = pick(integers());
    switch (type.id()) {
      case TypeId::kHalfFloat:
        return bytes(pick(std::vector<uint16_t>{0, 0x8000, 0x3C00, 0x3E00, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7BFF,
                                                0xFBFF, 1, 0x2E66, 0x7BFE}));
      case TypeId::kFloat:
        return bytes(coin(2) ? static_cast<float>(pick(std::vector<double>{0.1, 0.02, 1.5, 0, -0.0, 1e-45, 16777216}))
                             : pick(std::vector<float>{NAN, -NAN, INFINITY, -INFINITY, 3.4028235e38F, -3.4028235e38F}));
      case TypeId::kDouble:
        return bytes(pick(doubles()));
      case TypeId::kDecimal32:
        return bytes(static_cast<int32_t>(value));
      case TypeId::kDecimal64:
        return bytes(coin(3) ? INT64_MAX - 5 + value % 5 : value);
      case TypeId::kDecimal128:
        return bytes(coin(4) ? power_of_ten(38) - 1 : coin(4) ? -power_of_ten(30) : Int128{value});
      case TypeId::kDecimal256: {
        std::string out = bytes(Int128{value});
        out += bytes(coin(4) ? Int128{value} : Int128{value < 0 ? -1 : 0});
        return out;
      }
      case TypeId::kFixedSizeBinary: {
        std::string out(static_cast<size_t>(type.fixed_size()), pick(std::vector<char>{0, 1, '\x7f', '\x90'}));
        if (coin(2)) out.back() = static_cast<char>(below(3));
        return out;
      }
      case TypeId::kDate64:
        return bytes(value * 86'400'000);
      case TypeId::kTime32:
      case TypeId::kTime64: {
        const int64_t time = value < 0 || value > 86'399 ? 86'399 : value;
        return type.byte_width() == 4 ? bytes(static_cast<int32_t>(time)) : bytes(time * (coin(2) ? 1 : 1'000'000));
      }
      case TypeId::kTimestamp:
        return bytes(coin(2) ? value : value * units_per_second(type.unit()));
      default:
        break;
    }
    return bytes(coin(8) ? (coin(2) ? INT64_MIN : INT64_MAX) : value).substr(0, static_cast<size_t>(type.byte_width()));
  }

  std::mt19937_64 random_;
  MemoryPool pool_;
};

}  // namespace frazil::predicate::test
