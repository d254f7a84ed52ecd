#include "parquet_claims.h"

#include <algorithm>
#include <span>
#include <string_view>
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

// Bytes of a value in PLAIN form; nothing if they may be as many as it likes.
std::optional<size_t> plain_width(const parquet::SchemaNode& leaf) {
  switch (leaf.type) {
    case parquet::PhysicalType::kBoolean:
      return 1;
    case parquet::PhysicalType::kInt32:
    case parquet::PhysicalType::kFloat:
      return 4;
    case parquet::PhysicalType::kInt64:
    case parquet::PhysicalType::kDouble:
      return 8;
    case parquet::PhysicalType::kInt96:
      return 12;
    case parquet::PhysicalType::kFixedLenByteArray:
      return static_cast<size_t>(leaf.type_length);
    default:
      return std::nullopt;
  }
}

// Some writers leave them empty where they have none.
void check_width(const parquet::SchemaNode& leaf, std::string_view what, uint64_t offset,
                 const parquet::Statistics& statistics) {
  const std::optional<size_t> width = plain_width(leaf);
  if (!width) return;
  for (const auto& bound : {statistics.min_value, statistics.max_value}) {
    if (!bound || bound->empty() || bound->size() == *width) continue;
    throw_corrupt(offset, "{} have a bound of {} bytes, where values have {}", what, bound->size(), *width);
  }
}

// Whether values lie in Arrow's arrays as PLAIN has them.
bool is_plain(const parquet::SchemaNode& leaf, const DataType& type) {
  switch (leaf.type) {
    case parquet::PhysicalType::kInt32:
    case parquet::PhysicalType::kInt64:
      return !is_decimal(type.id()) && plain_width(leaf) == static_cast<size_t>(type.byte_width());
    case parquet::PhysicalType::kFloat:
    case parquet::PhysicalType::kDouble:
      return true;
    case parquet::PhysicalType::kByteArray:
      return type.id() == TypeId::kUtf8 || type.id() == TypeId::kBinary;
    case parquet::PhysicalType::kFixedLenByteArray:
      return type.id() == TypeId::kFixedSizeBinary;
    default:
      return false;
  }
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
  const parquet::SchemaNode& node = file.schema().leaf(leaf);
  if (chunk.bloom_filter.present()) {
    auto filter = parquet::BloomFilter::open(*file.input, chunk, pool);
    if (!filter) throw_corrupt(static_cast<uint64_t>(chunk.bloom_filter.offset), "the Bloom filter cannot be read");
    if (is_plain(node, *field.type)) bloom_filter_ = std::move(filter);
  }
  const parquet::Statistics statistics = statistics_of(chunk);
  check_width(node, "the statistics", CorruptError::kNoOffset, statistics);
  chunk_ =
      make_claim("the statistics", CorruptError::kNoOffset, UINT64_MAX, decoder_.decode(statistics, group.row_count));
  if (!index_.bounds) return;
  for (size_t page = 0; page < index_.bounds->page_count(); ++page) {
    check_width(node, message("the bounds of page {} in the page index", page), index_.offsets->pages[page].offset,
                index_.bounds->statistics(page));
  }
  check_order();
}

// Pages without bounds stand anywhere.
void ColumnClaims::check_order() const {
  const parquet::BoundaryOrder order = index_.bounds->order;
  if (order == parquet::BoundaryOrder::kUnordered) return;
  std::optional<predicate::ColumnStatistics> before;
  for (size_t page = 0; page < index_.bounds->page_count(); ++page) {
    predicate::ColumnStatistics bounds = decoder_.decode(*index_.bounds, *index_.offsets, page);
    if (!bounds.lower || !bounds.upper) continue;
    if (before) {
      const bool is_ascending = order == parquet::BoundaryOrder::kAscending;
      const predicate::ColumnStatistics& first = is_ascending ? *before : bounds;
      const predicate::ColumnStatistics& second = is_ascending ? bounds : *before;
      if (compare(*first.lower, *second.lower) > 0 || compare(*first.upper, *second.upper) > 0) {
        throw_corrupt(index_.offsets->pages[page].offset,
                      "the page index says that pages are in {} order, and page {} is not",
                      is_ascending ? "ascending" : "descending", page);
      }
    }
    before = std::move(bounds);
  }
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

void ColumnClaims::check_bloom_filter(const Array& values) const {
  const bool is_text = is_bytes(values.type->id());
  const auto width = static_cast<size_t>(values.type->byte_width());
  for (int64_t row = 0; row < values.length; ++row) {
    if (values.is_null(row)) continue;
    const auto value = is_text
                           ? std::as_bytes(std::span(values.bytes_value(row)))
                           : values.buffers[1].span().subspan(static_cast<size_t>(values.offset + row) * width, width);
    if (!bloom_filter_->may_contain(value)) {
      throw_corrupt(CorruptError::kNoOffset, "the Bloom filter lacks a value that the column has");
    }
  }
}

void ColumnClaims::check(const ArrayPtr& values) {
  check_claim(chunk_, values);
  if (bloom_filter_) check_bloom_filter(*values);
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
