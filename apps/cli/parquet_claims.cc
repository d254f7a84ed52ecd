#include "parquet_claims.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/predicate/evaluate.h"

namespace frazil::cli {

using predicate::BoundNode;
using predicate::BoundPredicate;
using predicate::BoundTest;
using predicate::TestKind;

namespace {

BoundNode test(TestKind kind, predicate::Value value = {}) {
  return {BoundTest{.column = 0, .kind = kind, .value = std::move(value), .set = nullptr}};
}

BoundPredicate bound_to(const SchemaPtr& schema, BoundNode root) {
  return {schema, {{.path = {0}, .name = schema->field(0).name, .field = schema->field(0)}}, std::move(root)};
}

std::optional<BoundPredicate> outside_of(const SchemaPtr& schema, const predicate::ColumnStatistics& statistics) {
  const auto& lower = statistics.lower;
  const auto& upper = statistics.upper;
  if (lower && upper && compare(*lower, *upper) > 0) return std::nullopt;  // no reader believes such bounds
  std::vector<BoundNode> tests;
  if (lower && !is_nan(*lower)) tests.push_back(test(TestKind::kLess, *lower));
  if (upper && !is_nan(*upper)) tests.push_back(test(TestKind::kGreater, *upper));
  if (tests.empty()) return std::nullopt;
  BoundNode outside = tests.size() == 1 ? std::move(tests[0]) : BoundNode{predicate::BoundOr{std::move(tests)}};
  // Bounds are of numbers alone.
  if (predicate::value_kind(*schema->field(0).type) == predicate::ValueKind::kFloating) {
    std::vector<BoundNode> both;
    both.push_back(test(TestKind::kNotNan));
    both.push_back(std::move(outside));
    outside = {predicate::BoundAnd{std::move(both)}};
  }
  return bound_to(schema, std::move(outside));
}

parquet::Statistics statistics_of(const parquet::ColumnChunk& chunk) {
  return chunk.statistics.empty() ? parquet::Statistics() : parquet::parse_statistics(chunk.statistics);
}

}  // namespace

ColumnClaims::ColumnClaims(const ParquetFile& file, size_t row_group, size_t leaf, const Field& field,
                           const parquet::PageIndex& index, MemoryPool& pool)
    : schema_(Schema::make({field})),
      pool_(pool),
      decoder_(*file.metadata, leaf, field.type),
      index_(*index.find(leaf)) {
  const parquet::RowGroup& group = file.metadata->row_groups()[row_group];
  const parquet::ColumnChunk& chunk = group.columns[leaf];
  chunk_ = make_claim("the statistics", CorruptError::kNoOffset, UINT64_MAX,
                      decoder_.decode(statistics_of(chunk), group.row_count));
}

ColumnClaims::Claim ColumnClaims::make_claim(std::string what, uint64_t offset, uint64_t end,
                                             const predicate::ColumnStatistics& statistics) const {
  Claim claim;
  claim.what = std::move(what);
  claim.offset = offset;
  claim.end = end;
  claim.null_count = statistics.null_count;
  const bool can_be_compared = predicate::value_kind(*schema_->field(0).type) != predicate::ValueKind::kNone;
  if (can_be_compared) claim.outside = outside_of(schema_, statistics);
  if (predicate::value_kind(*schema_->field(0).type) == predicate::ValueKind::kFloating && statistics.nan_count) {
    claim.nan_count = statistics.nan_count;
    claim.not_number = bound_to(schema_, test(TestKind::kNan));
  }
  return claim;
}

ColumnClaims::Claim ColumnClaims::page_claim(size_t page) const {
  const parquet::RowRange rows = index_.offsets->rows(page);
  return make_claim(message("the bounds of page {} in the page index", page), index_.offsets->pages[page].offset,
                    rows.end, decoder_.decode(*index_.bounds, *index_.offsets, page));
}

void ColumnClaims::check_claim(Claim& claim, const ArrayPtr& values) const {
  const RecordBatch batch(schema_, values->length, {values});
  claim.nulls += values->count_nulls();
  if (claim.outside && predicate::evaluate(*claim.outside, batch, pool_).selected_count() > 0) {
    throw_corrupt(claim.offset, "{} say bounds that a value is outside of", claim.what);
  }
  if (claim.not_number) claim.nans += predicate::evaluate(*claim.not_number, batch, pool_).selected_count();
}

void ColumnClaims::check_counts(const Claim& claim) {
  if (claim.null_count && *claim.null_count != claim.nulls) {
    throw_corrupt(claim.offset, "{} say {} nulls, and there are {}", claim.what, *claim.null_count, claim.nulls);
  }
  if (claim.nan_count && *claim.nan_count != claim.nans) {
    throw_corrupt(claim.offset, "{} say {} NaNs, and there are {}", claim.what, *claim.nan_count, claim.nans);
  }
}

void ColumnClaims::check(const ArrayPtr& values) {
  check_claim(chunk_, values);
  if (!index_.bounds) return;
  const uint64_t first = row_;
  const uint64_t end = first + static_cast<uint64_t>(values->length);
  while (page_ < index_.bounds->page_count() && row_ < end) {
    if (!current_) current_ = page_claim(page_);
    const uint64_t part_end = std::min(end, current_->end);
    if (part_end > row_) {
      check_claim(*current_, values->slice(static_cast<int64_t>(row_ - first), static_cast<int64_t>(part_end - row_)));
      row_ = part_end;
    }
    if (row_ < current_->end) break;
    check_counts(*current_);
    current_.reset();
    ++page_;
  }
}

void ColumnClaims::finish() const {
  check_counts(chunk_);
}

}  // namespace frazil::cli
