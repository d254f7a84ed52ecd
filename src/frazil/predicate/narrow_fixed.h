// Tests of fixed-width values: integers, floats, decimals, dates and times.
#pragma once

#include <cstdint>

#include "frazil/base/error.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/narrow.h"

namespace frazil::predicate {

// As narrow_to_true, for Layout::kFixedWidth but fixed-size binary.
void narrow_fixed(const ArrayRange& range, const BoundTest& test, uint64_t* words);

// Comparisons in the order of predicate.h. With a right side that is not NaN, a left one that is NaN (and so compares
// false with everything) is greater.
struct IsEqual {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return left == right;
  }
};
struct IsNotEqual {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return !(left == right);
  }
};
struct IsLess {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return left < right;
  }
};
struct IsLessOrEqual {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return left <= right;
  }
};
struct IsGreater {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return !(left <= right);
  }
};
struct IsGreaterOrEqual {
  template <typename T>
  bool operator()(const T& left, const T& right) const {
    return !(left < right);
  }
};

// Calls use() with the function object of a comparing test.
template <typename Use>
void with_comparison(TestKind kind, Use&& use) {
  switch (kind) {
    case TestKind::kEqual:
      return use(IsEqual{});
    case TestKind::kNotEqual:
      return use(IsNotEqual{});
    case TestKind::kLess:
      return use(IsLess{});
    case TestKind::kLessOrEqual:
      return use(IsLessOrEqual{});
    case TestKind::kGreater:
      return use(IsGreater{});
    case TestKind::kGreaterOrEqual:
      return use(IsGreaterOrEqual{});
    default:
      throw_error(ErrorKind::kInternal, "test {} is no comparison", static_cast<int>(kind));
  }
}

}  // namespace frazil::predicate
