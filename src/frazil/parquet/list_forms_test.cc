#include "frazil/parquet/list_forms.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"
#include "frazil/columnar/take.h"

namespace frazil::parquet {
namespace {

using ListForm = ColumnRequest::ListForm;

ColumnRequest request_of(const Field& element, ListForm form, int32_t size = 0, bool is_large = false) {
  ColumnRequest request{.field = {.name = "c"}, .kind = ColumnRequest::Kind::kList};
  request.children.push_back({.field = element});
  request.is_large = is_large;
  request.list_form = form;
  request.list_size = size;
  return request;
}

ListForms forms_of(const ColumnRequest& request) {
  return {request, arrow_field(request)};
}

// The lists as a BatchReader gives them: a null one has no elements.
ArrayPtr stored_lists(const Array& lists, MemoryPool& pool) {
  std::vector<uint32_t> positions;
  std::vector<int32_t> offsets(1);
  for (int64_t i = 0; i < lists.length; ++i) {
    const auto [first, count] = lists.list_range(i);
    for (int64_t k = 0; k < count && lists.is_valid(i); ++k) positions.push_back(static_cast<uint32_t>(first + k));
    offsets.push_back(static_cast<int32_t>(positions.size()));
  }
  auto array = std::make_shared<Array>();
  array->type = list(lists.type->children()[0]);
  array->length = lists.length;
  MutableBuffer validity = pool.allocate_zeroed(bytes_for_bits(static_cast<size_t>(lists.length)));
  validity.set_size(bytes_for_bits(static_cast<size_t>(lists.length)));
  for (int64_t i = 0; i < lists.length; ++i) {
    if (lists.is_valid(i)) set_bit(validity.as<uint8_t>(), static_cast<size_t>(i));
  }
  array->buffers[0] = std::move(validity).freeze();
  MutableBuffer bytes = pool.allocate(offsets.size() * sizeof(int32_t));
  bytes.set_size(offsets.size() * sizeof(int32_t));
  std::copy(offsets.begin(), offsets.end(), bytes.as<int32_t>());
  array->buffers[1] = std::move(bytes).freeze();
  array->children = {take(*lists.children[0], positions, pool)};
  return array;
}

void expect_same(const Array& made, const Array& wanted) {
  validate_full(made);
  RC_ASSERT(made.length == wanted.length);
  for (int64_t row = 0; row < made.length; ++row) RC_ASSERT(value_to_json(made, row) == value_to_json(wanted, row));
}

RC_GTEST_PROP(ListForms, FixedSizeListsComeBackFromTheElementsOfThoseThatAreThere, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  const Field element{.name = "element", .type = random.type(2)};
  const auto size = static_cast<int32_t>(random.below(4));
  const ArrayPtr wanted = random.array(fixed_size_list(element, size), random.below(40));
  const ArrayPtr stored = stored_lists(*wanted, pool);
  const ListForms forms = forms_of(request_of(element, ListForm::kFixedSize, size));
  RC_ASSERT(forms.field().type->equals(*wanted->type));
  expect_same(*forms.convert(stored, pool), *wanted);
  const int64_t from = random.below(wanted->length + 1);
  const int64_t count = random.below(wanted->length - from + 1);
  expect_same(*forms.convert(stored->slice(from, count), pool), *wanted->slice(from, count));
}

RC_GTEST_PROP(ListForms, ViewsHaveTheSameLists, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  const Field element{.name = "element", .type = random.type(2)};
  const bool is_large = random.coin(2);
  const ArrayPtr stored = random.array(list(element, is_large ? TypeId::kLargeList : TypeId::kList), random.below(40));
  const ListForms forms = forms_of(request_of(element, ListForm::kView, 0, is_large));
  RC_ASSERT(forms.field().type->id() == (is_large ? TypeId::kLargeListView : TypeId::kListView));
  expect_same(*forms.convert(stored, pool), *stored);
  const int64_t from = random.below(stored->length + 1);
  const int64_t count = random.below(stored->length - from + 1);
  expect_same(*forms.convert(stored->slice(from, count), pool), *stored->slice(from, count));
}

TEST(ListForms, OfAnotherSizeAreAnErrorThatNamesBoth) {
  MemoryPool pool;
  const Field element{.name = "element", .type = primitive(TypeId::kInt32)};
  RandomArrays random(7, pool);
  const ArrayPtr stored = stored_lists(*random.array(fixed_size_list(element, 3), 20), pool);
  const ListForms forms = forms_of(request_of(element, ListForm::kFixedSize, 2));
  try {
    static_cast<void>(forms.convert(stored, pool));
    FAIL() << "lists of 3 are no lists of 2";
  } catch (const CorruptError& error) {
    EXPECT_NE(std::string(error.what()).find("a list has 3 elements, and each has 2"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("column 'c'"), std::string::npos) << error.what();
  }
}

TEST(ListForms, NullsTakeTheBytesThatTheyAreSaidToTake) {
  const Field number{.name = "element", .type = primitive(TypeId::kFloat)};
  EXPECT_EQ(forms_of(request_of(number, ListForm::kFixedSize, 768)).null_row_bytes(), 768U * 5);
  EXPECT_EQ(forms_of(request_of(number, ListForm::kView)).null_row_bytes(), 0U);
  MemoryPool pool({.budget_bytes = size_t{1} << 20});
  auto nulls = std::make_shared<Array>(*make_null_array(list(number), 1000, pool));
  EXPECT_THROW(static_cast<void>(forms_of(request_of(number, ListForm::kFixedSize, 768)).convert(nulls, pool)),
               MemoryLimitError);
}

}  // namespace
}  // namespace frazil::parquet
