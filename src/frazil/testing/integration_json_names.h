// Words of the integration test JSON that its reader and its writer share.
#pragma once

#include <array>
#include <string_view>

#include "frazil/columnar/type.h"

namespace frazil::testing {

// By TimeUnit.
inline constexpr std::array<std::string_view, 4> kTimeUnitNames = {"SECOND", "MILLISECOND", "MICROSECOND",
                                                                   "NANOSECOND"};

struct NamedType {
  TypeId id;
  std::string_view name;
};

// Types whose name says all: no parameters, no children.
inline constexpr NamedType kPlainTypes[] = {
    {TypeId::kNull, "null"},
    {TypeId::kBool, "bool"},
    {TypeId::kUtf8, "utf8"},
    {TypeId::kLargeUtf8, "largeutf8"},
    {TypeId::kUtf8View, "utf8view"},
    {TypeId::kBinary, "binary"},
    {TypeId::kLargeBinary, "largebinary"},
    {TypeId::kBinaryView, "binaryview"},
};

// Lists of one element field without parameters.
inline constexpr NamedType kListTypes[] = {
    {TypeId::kList, "list"},
    {TypeId::kLargeList, "largelist"},
    {TypeId::kListView, "listview"},
    {TypeId::kLargeListView, "largelistview"},
};

struct NumberType {
  TypeId id;
  int bits;
  bool is_signed;
};

inline constexpr NumberType kIntegerTypes[] = {
    {TypeId::kInt8, 8, true},     {TypeId::kInt16, 16, true},   {TypeId::kInt32, 32, true},
    {TypeId::kInt64, 64, true},   {TypeId::kUInt8, 8, false},   {TypeId::kUInt16, 16, false},
    {TypeId::kUInt32, 32, false}, {TypeId::kUInt64, 64, false},
};

// By the word of their precision, unit or width.
inline constexpr NamedType kFloatingTypes[] = {
    {TypeId::kHalfFloat, "HALF"}, {TypeId::kFloat, "SINGLE"}, {TypeId::kDouble, "DOUBLE"}};
inline constexpr NamedType kIntervalTypes[] = {{TypeId::kIntervalMonths, "YEAR_MONTH"},
                                               {TypeId::kIntervalDayTime, "DAY_TIME"},
                                               {TypeId::kIntervalMonthDayNano, "MONTH_DAY_NANO"}};
inline constexpr NamedType kDateTypes[] = {{TypeId::kDate32, "DAY"}, {TypeId::kDate64, "MILLISECOND"}};

struct DecimalType {
  TypeId id;
  int bits;
};
inline constexpr DecimalType kDecimalTypes[] = {
    {TypeId::kDecimal32, 32}, {TypeId::kDecimal64, 64}, {TypeId::kDecimal128, 128}, {TypeId::kDecimal256, 256}};

}  // namespace frazil::testing
