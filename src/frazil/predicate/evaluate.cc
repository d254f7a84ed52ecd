#include "frazil/predicate/evaluate.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/predicate/narrow.h"

namespace frazil::predicate {

namespace {

// `words` holds the rows that are still wanted, and in the end those of them where the predicate is true.
class Evaluation {
 public:
  Evaluation(const BoundPredicate& predicate, const RecordBatch& batch, MemoryPool& pool)
      : columns_(predicate.columns()), batch_(batch), pool_(pool), count_(words_for(batch.row_count())) {}

  void narrow(const BoundNode& node, uint64_t* words) {
    std::visit([&](const auto& form) { narrow_form(form, words); }, node.form);
  }

 private:
  bool any(const uint64_t* words) const {
    return std::any_of(words, words + count_, [](uint64_t word) { return word != 0; });
  }
  MutableBuffer copy(const uint64_t* words) {
    MutableBuffer buffer = pool_.allocate(count_ * 8);
    std::memcpy(buffer.data(), words, count_ * 8);
    return buffer;
  }
  void clear(uint64_t* words, const uint64_t* removed) const {
    for (size_t i = 0; i < count_; ++i) words[i] &= ~removed[i];
  }

  void narrow_form(bool value, uint64_t* words) const {
    if (!value) std::fill_n(words, count_, 0);
  }

  void narrow_form(const BoundAnd& group, uint64_t* words) {
    for (const BoundNode& operand : group.operands) {
      if (!any(words)) return;
      narrow(operand, words);
    }
  }

  void narrow_form(const BoundOr& group, uint64_t* words) {
    MutableBuffer undecided = copy(words);
    MutableBuffer taken = pool_.allocate(count_ * 8);
    for (const BoundNode& operand : group.operands) {
      if (!any(undecided.as<uint64_t>())) return;
      std::memcpy(taken.data(), undecided.data(), count_ * 8);
      narrow(operand, taken.as<uint64_t>());
      clear(undecided.as<uint64_t>(), taken.as<uint64_t>());
    }
    clear(words, undecided.as<uint64_t>());
  }

  // The column's own array, after the structs around it have taken their nulls away.
  ArrayRange narrow_to_parents(const BoundColumn& column, uint64_t* words) {
    ArrayRange range{batch_.column(column.path[0]).get(), 0, batch_.row_count()};
    for (size_t depth = 1; depth < column.path.size(); ++depth) {
      narrow_to_valid(range, words, pool_);
      // Values of a struct's children count from the struct's own buffers' start.
      range.first += range.array->offset;
      range.array = range.array->children.at(column.path[depth]).get();
    }
    return range;
  }

  void narrow_form(const BoundTest& test, uint64_t* words) {
    const BoundColumn& column = columns_[test.column];
    if (test.kind == TestKind::kNull || test.kind == TestKind::kNotNan) {
      MutableBuffer others = copy(words);
      ArrayRange range = narrow_to_parents(column, others.as<uint64_t>());
      narrow_to_valid(range, others.as<uint64_t>(), pool_);
      if (test.kind == TestKind::kNotNan) {
        narrow_to_true(range, {.column = test.column, .kind = TestKind::kNan, .value = {}, .set = {}},
                       others.as<uint64_t>(), pool_);
      }
      return clear(words, others.as<uint64_t>());
    }
    const ArrayRange range = narrow_to_parents(column, words);
    narrow_to_valid(range, words, pool_);
    if (test.kind != TestKind::kNotNull && any(words)) narrow_to_true(range, test, words, pool_);
  }

  const std::vector<BoundColumn>& columns_;
  const RecordBatch& batch_;
  MemoryPool& pool_;
  size_t count_;
};

// Only what the tests read need be as it was bound.
void check_schema(const BoundPredicate& predicate, const Schema& schema) {
  if (predicate.schema().get() == &schema) return;
  for (const BoundColumn& column : predicate.columns()) {
    const size_t index = column.path[0];
    if (index >= schema.field_count() || !schema.field(index).equals(predicate.schema()->field(index))) {
      throw_error(ErrorKind::kInvalidArgument, "the batch has another column {} than the predicate was bound to",
                  column.name);
    }
  }
}

Selection evaluate_among(MutableBuffer words, const BoundPredicate& predicate, const RecordBatch& batch,
                         MemoryPool& pool) {
  check_schema(predicate, *batch.schema());
  Evaluation(predicate, batch, pool).narrow(predicate.root(), words.as<uint64_t>());
  return {std::move(words).freeze(), batch.row_count()};
}

MutableBuffer ones(int64_t row_count, MemoryPool& pool) {
  MutableBuffer words = pool.allocate_zeroed(words_for(row_count) * 8);
  fill_bits(words.as<uint8_t>(), 0, static_cast<size_t>(row_count), true);
  return words;
}

}  // namespace

Selection::Selection(Buffer words, int64_t row_count)
    : words_(std::move(words)),
      row_count_(row_count),
      selected_count_(static_cast<int64_t>(count_set_bits(bits(), 0, static_cast<size_t>(row_count)))) {}

Selection Selection::all(int64_t row_count, MemoryPool& pool) {
  return {ones(row_count, pool).freeze(), row_count};
}

Selection Selection::none(int64_t row_count, MemoryPool& pool) {
  return {pool.allocate_zeroed(words_for(row_count) * 8).freeze(), row_count};
}

Selection evaluate(const BoundPredicate& predicate, const RecordBatch& batch, MemoryPool& pool) {
  return evaluate_among(ones(batch.row_count(), pool), predicate, batch, pool);
}

Selection evaluate(const BoundPredicate& predicate, const RecordBatch& batch, const Selection& candidates,
                   MemoryPool& pool) {
  if (candidates.row_count() != batch.row_count()) {
    throw_error(ErrorKind::kInvalidArgument, "a selection of {} rows for a batch of {}", candidates.row_count(),
                batch.row_count());
  }
  MutableBuffer words = pool.allocate(words_for(batch.row_count()) * 8);
  std::memcpy(words.data(), candidates.bits(), words.size());
  return evaluate_among(std::move(words), predicate, batch, pool);
}

}  // namespace frazil::predicate
