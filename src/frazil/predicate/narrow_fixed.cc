#include "frazil/predicate/narrow_fixed.h"

#include <algorithm>
#include <cmath>

#include "frazil/base/byte_reader.h"
#include "frazil/base/half_float.h"
#include "frazil/predicate/compare_kernels.h"
#include "frazil/predicate/value_set.h"

namespace frazil::predicate {

namespace {

// 64 rows at a time, where any of them is wanted: values under nulls may be tested, they are in the buffer.
template <typename Test>
void narrow_words(int64_t row_count, uint64_t* words, Test&& test) {
  const size_t full = static_cast<size_t>(row_count) / 64;
  for (size_t w = 0; w < full; ++w) {
    if (words[w] == 0) continue;
    uint64_t bits = 0;
    for (size_t i = 0; i < 64; ++i) bits |= static_cast<uint64_t>(test(w * 64 + i)) << i;
    words[w] &= bits;
  }
  const size_t rest = static_cast<size_t>(row_count) % 64;
  if (rest == 0 || words[full] == 0) return;
  uint64_t bits = 0;
  for (size_t i = 0; i < rest; ++i) bits |= static_cast<uint64_t>(test(full * 64 + i)) << i;
  words[full] &= bits;
}

// A value as its buffer holds it, and as tests see it.
template <typename T>
struct Plain {
  using Stored = T;
  static T get(T stored) { return stored; }
};
struct Half {
  using Stored = uint16_t;
  static float get(uint16_t stored) { return half_to_float(stored); }
};

template <typename Access>
auto getter(const ArrayRange& range) {
  using Stored = typename Access::Stored;
  const std::byte* data =
      range.array->buffers[1].data() + (range.array->offset + range.first) * int64_t{sizeof(Stored)};
  return [data](size_t row) { return Access::get(load<Stored>(data + row * sizeof(Stored))); };
}

template <typename Access, typename T>
void narrow_comparison(const ArrayRange& range, TestKind kind, T value, uint64_t* words) {
  auto get = getter<Access>(range);
  with_comparison(kind, [&](auto holds) {
    narrow_words(range.row_count, words, [=](size_t row) { return holds(static_cast<T>(get(row)), value); });
  });
}

struct KernelChoice {
  CompareOp op;
  bool inverted;
};
KernelChoice kernel_choice(TestKind kind) {
  switch (kind) {
    case TestKind::kEqual:
      return {CompareOp::kEqual, false};
    case TestKind::kNotEqual:
      return {CompareOp::kEqual, true};
    case TestKind::kLess:
      return {CompareOp::kLess, false};
    case TestKind::kGreaterOrEqual:
      return {CompareOp::kLess, true};
    case TestKind::kLessOrEqual:
      return {CompareOp::kLessOrEqual, false};
    case TestKind::kGreater:
      return {CompareOp::kLessOrEqual, true};
    default:
      throw_error(ErrorKind::kInternal, "test {} is no comparison", static_cast<int>(kind));
  }
}

// The types that have kernels: whole words by them, the last rows one by one.
template <typename T>
void narrow_comparison_wide(const ArrayRange& range, TestKind kind, T value, const CompareKernels::Table<T>& table,
                            uint64_t* words) {
  const auto [op, inverted] = kernel_choice(kind);
  const auto full = range.row_count / 64;
  const std::byte* data = range.array->buffers[1].data() + (range.array->offset + range.first) * int64_t{sizeof(T)};
  table[static_cast<size_t>(op)](data, static_cast<size_t>(full), value, inverted ? ~uint64_t{0} : 0, words);
  const ArrayRange rest{range.array, range.first + full * 64, range.row_count - full * 64};
  narrow_comparison<Plain<T>>(rest, kind, value, words + full);
}

void narrow_comparison_of(const ArrayRange& range, TestKind kind, int32_t value, uint64_t* words) {
  narrow_comparison_wide(range, kind, value, compare_kernels().of_int32, words);
}
void narrow_comparison_of(const ArrayRange& range, TestKind kind, int64_t value, uint64_t* words) {
  narrow_comparison_wide(range, kind, value, compare_kernels().of_int64, words);
}

template <typename Access>
void narrow_integers(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  using T = typename Access::Stored;
  if (test.set != nullptr) {
    const KeySet& keys = test.set->index().keys;
    const bool wanted = test.kind == TestKind::kIn;
    auto get = getter<Access>(range);
    return narrow_words(range.row_count, words, [&](size_t row) {
      using Wide = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
      return keys.contains(static_cast<uint64_t>(static_cast<Wide>(get(row)))) == wanted;
    });
  }
  if constexpr (std::is_unsigned_v<T>) {
    narrow_comparison<Access>(range, test.kind, static_cast<T>(std::get<uint64_t>(test.value)), words);
  } else {
    const auto value = static_cast<T>(std::get<int64_t>(test.value));
    if constexpr (sizeof(T) >= 4) {
      narrow_comparison_of(range, test.kind, value, words);
    } else {
      narrow_comparison<Access>(range, test.kind, value, words);
    }
  }
}

// The value of the test is one of the column's own, so the narrower type compares as the double does.
template <typename Access, typename T>
void narrow_floats(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  auto get = getter<Access>(range);
  if (test.kind == TestKind::kNan) {
    return narrow_words(range.row_count, words, [=](size_t row) { return std::isnan(get(row)); });
  }
  if (test.set == nullptr) {
    const auto value = static_cast<T>(std::get<double>(test.value));
    if constexpr (std::is_same_v<Access, Plain<float>>) {
      return narrow_comparison_wide(range, test.kind, value, compare_kernels().of_float, words);
    } else if constexpr (std::is_same_v<Access, Plain<double>>) {
      return narrow_comparison_wide(range, test.kind, value, compare_kernels().of_double, words);
    } else {
      return narrow_comparison<Access>(range, test.kind, value, words);
    }
  }
  const KeySet& keys = test.set->index().keys;
  const bool nan_is_in = test.set->contains_nan();
  const bool wanted = test.kind == TestKind::kIn;
  narrow_words(range.row_count, words, [&](size_t row) {
    const double value = get(row);
    return (std::isnan(value) ? nan_is_in : keys.contains(double_key(value))) == wanted;
  });
}

template <typename Access, typename T>
void narrow_decimals(const ArrayRange& range, const BoundTest& test, const std::vector<T>& sorted, uint64_t* words) {
  auto get = getter<Access>(range);
  const bool wanted = test.kind == TestKind::kIn;
  narrow_words(range.row_count, words, [&](size_t row) {
    return std::binary_search(sorted.begin(), sorted.end(), static_cast<T>(get(row))) == wanted;
  });
}

template <typename Access>
void narrow_decimals(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  if (test.set != nullptr) {
    return narrow_decimals<Access, Int128>(range, test, test.set->index().decimals, words);
  }
  using T = typename Access::Stored;
  narrow_comparison<Access>(range, test.kind, static_cast<T>(std::get<Int128>(test.value)), words);
}

void narrow_wide_decimals(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  if (test.set != nullptr) {
    return narrow_decimals<Plain<Int256>, Int256>(range, test, test.set->index().wide_decimals, words);
  }
  narrow_comparison<Plain<Int256>>(range, test.kind, std::get<Int256>(test.value), words);
}

}  // namespace

void narrow_fixed(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  switch (range.array->type->id()) {
    case TypeId::kInt8:
      return narrow_integers<Plain<int8_t>>(range, test, words);
    case TypeId::kInt16:
      return narrow_integers<Plain<int16_t>>(range, test, words);
    case TypeId::kInt32:
    case TypeId::kDate32:
    case TypeId::kTime32:
      return narrow_integers<Plain<int32_t>>(range, test, words);
    case TypeId::kInt64:
    case TypeId::kDate64:
    case TypeId::kTime64:
    case TypeId::kTimestamp:
      return narrow_integers<Plain<int64_t>>(range, test, words);
    case TypeId::kUInt8:
      return narrow_integers<Plain<uint8_t>>(range, test, words);
    case TypeId::kUInt16:
      return narrow_integers<Plain<uint16_t>>(range, test, words);
    case TypeId::kUInt32:
      return narrow_integers<Plain<uint32_t>>(range, test, words);
    case TypeId::kUInt64:
      return narrow_integers<Plain<uint64_t>>(range, test, words);
    case TypeId::kHalfFloat:
      return narrow_floats<Half, float>(range, test, words);
    case TypeId::kFloat:
      return narrow_floats<Plain<float>, float>(range, test, words);
    case TypeId::kDouble:
      return narrow_floats<Plain<double>, double>(range, test, words);
    case TypeId::kDecimal32:
      return narrow_decimals<Plain<int32_t>>(range, test, words);
    case TypeId::kDecimal64:
      return narrow_decimals<Plain<int64_t>>(range, test, words);
    case TypeId::kDecimal128:
      return narrow_decimals<Plain<Int128>>(range, test, words);
    case TypeId::kDecimal256:
      return narrow_wide_decimals(range, test, words);
    default:
      throw_error(ErrorKind::kInternal, "a test of values on {}", range.array->type->to_string());
  }
}

}  // namespace frazil::predicate
