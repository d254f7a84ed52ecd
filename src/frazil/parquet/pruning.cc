#include "frazil/parquet/pruning.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/dictionary_page.h"

namespace frazil::parquet {

namespace {

using predicate::BoundAnd;
using predicate::BoundColumn;
using predicate::BoundNode;
using predicate::BoundOr;
using predicate::BoundPredicate;
using predicate::BoundTest;
using predicate::ColumnStatistics;
using predicate::Pruning;
using predicate::TestKind;
using predicate::Value;

// Columns that = or IN are asked of.
void find_equalities(const BoundNode& node, std::vector<bool>& columns) {
  if (const auto* test = std::get_if<BoundTest>(&node.form)) {
    if (test->kind == TestKind::kEqual || test->kind == TestKind::kIn) columns[test->column] = true;
  } else if (const auto* all = std::get_if<BoundAnd>(&node.form)) {
    for (const BoundNode& operand : all->operands) find_equalities(operand, columns);
  } else if (const auto* any = std::get_if<BoundOr>(&node.form)) {
    for (const BoundNode& operand : any->operands) find_equalities(operand, columns);
  }
}

}  // namespace

std::vector<std::optional<size_t>> predicate_leaves(const BoundPredicate& predicate, const FileSchema& schema) {
  std::vector<std::optional<size_t>> leaves;
  for (const BoundColumn& column : predicate.columns()) {
    uint32_t index = 0;
    bool found = true;
    for (size_t place : column.path) {
      const SchemaNode& parent = schema.node(index);
      found = parent.is_group && parent.max_repetition == 0 && place < parent.child_count;
      if (!found) break;
      ++index;
      for (size_t i = 0; i < place; ++i) index += schema.node(index).subtree_size;
    }
    const SchemaNode& node = schema.node(index);
    found = found && !node.is_group && node.max_repetition == 0;
    leaves.push_back(found ? std::optional<size_t>(node.first_leaf) : std::nullopt);
  }
  return leaves;
}

// What the chunks of one row group say; Bloom filters and dictionaries only when they are switched on, and each is read
// once.
class RowGroupPruner::Source final : public predicate::ColumnStatisticsSource {
 public:
  Source(RowGroupPruner& pruner, size_t row_group, MemoryPool& pool)
      : pruner_(pruner), row_group_(row_group), pool_(pool) {
    const auto& columns = pruner.predicate_.columns();
    statistics_.resize(columns.size());
    filters_.resize(columns.size());
    values_.resize(columns.size());
  }

  void use_bloom_filters() { with_filters_ = true; }
  void use_dictionaries() { with_dictionaries_ = true; }

  ColumnStatistics statistics(const BoundColumn& column) override {
    const size_t index = index_of(column);
    std::optional<ColumnStatistics>& known = statistics_[index];
    if (!known) known = read_statistics(index);
    return *known;
  }

  bool may_contain(const BoundColumn& column, const Value& value) override {
    if (!with_filters_) return true;
    const size_t index = index_of(column);
    const auto& decoder = pruner_.decoders_[index];
    if (!decoder) return true;
    std::optional<std::optional<BloomFilter>>& filter = filters_[index];
    if (!filter) {
      filter.emplace(BloomFilter::open(pruner_.file_, chunk(index), pool_));
      if (*filter) pruner_.counters_.bytes_read += (*filter)->bytes_read();
    }
    if (!*filter) return true;
    const std::optional<std::vector<std::string>> forms = decoder->plain_forms(value);
    if (!forms) return true;
    return std::any_of(forms->begin(), forms->end(), [&](const std::string& form) {
      const uint64_t before = (*filter)->bytes_read();
      const bool found = (*filter)->may_contain(std::as_bytes(std::span(form)));
      pruner_.counters_.bytes_read += (*filter)->bytes_read() - before;
      return found;
    });
  }

  ArrayPtr distinct_values(const BoundColumn& column) override {
    const size_t index = index_of(column);
    if (!with_dictionaries_ || !pruner_.leaves_[index] || !pruner_.asks_equality_[index]) return nullptr;
    std::optional<ArrayPtr>& values = values_[index];
    if (!values) {
      values = read_distinct_values(pruner_.file_, pruner_.metadata_, row_group_, *pruner_.leaves_[index],
                                    column.field.type, pruner_.options_.dictionary_bytes_max, *pruner_.decompressor_,
                                    pool_, pruner_.counters_.bytes_read);
    }
    return *values;
  }

 private:
  size_t index_of(const BoundColumn& column) const {
    return static_cast<size_t>(&column - pruner_.predicate_.columns().data());
  }
  const ColumnChunk& chunk(size_t index) const {
    return pruner_.metadata_.row_groups()[row_group_].columns[*pruner_.leaves_[index]];
  }

  ColumnStatistics read_statistics(size_t index) const {
    const auto& decoder = pruner_.decoders_[index];
    const RowGroup& group = pruner_.metadata_.row_groups()[row_group_];
    if (!decoder || !pruner_.options_.use_statistics) return {};
    const ColumnChunk& column = chunk(index);
    if (column.encrypted || column.statistics.empty() || column.value_count != group.row_count) return {};
    try {
      return decoder->decode(parse_statistics(column.statistics), group.row_count);
    } catch (const CorruptError&) {
      return {};
    }
  }

  RowGroupPruner& pruner_;
  size_t row_group_;
  MemoryPool& pool_;
  bool with_filters_ = false;
  bool with_dictionaries_ = false;
  std::vector<std::optional<ColumnStatistics>> statistics_;
  std::vector<std::optional<std::optional<BloomFilter>>> filters_;
  std::vector<std::optional<ArrayPtr>> values_;
};

// What one page says about the column of one test.
class RowGroupPruner::PageSource final : public predicate::ColumnStatisticsSource {
 public:
  PageSource(const StatisticsDecoder& decoder, const ColumnIndex& bounds, const OffsetIndex& offsets)
      : decoder_(decoder), bounds_(bounds), offsets_(offsets) {}
  void turn_to(size_t page) { page_ = page; }
  ColumnStatistics statistics(const BoundColumn&) override { return decoder_.decode(bounds_, offsets_, page_); }

 private:
  const StatisticsDecoder& decoder_;
  const ColumnIndex& bounds_;
  const OffsetIndex& offsets_;
  size_t page_ = 0;
};

RowGroupPruner::RowGroupPruner(const InputFile& file, const FileMetadata& metadata, BoundPredicate predicate,
                               std::vector<std::optional<size_t>> leaves, const PruningOptions& options,
                               Decompressor* decompressor, MemoryPool& pool)
    : file_(file),
      metadata_(metadata),
      predicate_(std::move(predicate)),
      leaves_(std::move(leaves)),
      options_(options),
      decompressor_(decompressor),
      pool_(pool) {
  if (leaves_.size() != predicate_.columns().size()) {
    throw_error(ErrorKind::kInvalidArgument, "{} leaves for {} columns of a predicate", leaves_.size(),
                predicate_.columns().size());
  }
  decoders_.resize(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[i]) continue;
    decoders_[i].emplace(metadata_, *leaves_[i], predicate_.columns()[i].field.type);
    indexed_leaves_.push_back(*leaves_[i]);
  }
  asks_equality_.resize(leaves_.size(), false);
  find_equalities(predicate_.root(), asks_equality_);
}

RowGroupPruner::~RowGroupPruner() = default;

RowSelection RowGroupPruner::matching_pages(const BoundTest& test, const PageIndex& index, uint64_t row_count,
                                            MemoryPool& pool) {
  const std::optional<size_t>& leaf = leaves_[test.column];
  const PageIndex::Column* column = leaf ? index.find(*leaf) : nullptr;
  if (column == nullptr || !column->bounds) return RowSelection::all(row_count);
  PageSource source(*decoders_[test.column], *column->bounds, *column->offsets);
  const BoundPredicate alone(predicate_.schema(), predicate_.columns(), {test});
  RowSelection rows;
  for (size_t page = 0; page < column->offsets->page_count(); ++page) {
    source.turn_to(page);
    ++counters_.pages;
    if (predicate::may_match(alone, source, pool) == Pruning::kNoRow) {
      ++counters_.pages_pruned;
    } else {
      rows.add(column->offsets->rows(page));
    }
  }
  return rows;
}

RowSelection RowGroupPruner::matching_rows(const BoundNode& node, const PageIndex& index, uint64_t row_count,
                                           MemoryPool& pool) {
  if (const auto* constant = std::get_if<bool>(&node.form)) {
    return *constant ? RowSelection::all(row_count) : RowSelection();
  }
  if (const auto* test = std::get_if<BoundTest>(&node.form)) return matching_pages(*test, index, row_count, pool);
  if (const auto* all = std::get_if<BoundAnd>(&node.form)) {
    RowSelection rows = RowSelection::all(row_count);
    for (const BoundNode& operand : all->operands) {
      rows = rows.intersect(matching_rows(operand, index, row_count, pool));
      if (rows.empty()) break;
    }
    return rows;
  }
  RowSelection rows;
  for (const BoundNode& operand : std::get<BoundOr>(node.form).operands) {
    rows = rows.unite(matching_rows(operand, index, row_count, pool));
    if (rows.is_all(row_count)) break;
  }
  return rows;
}

RowGroupPruner::Verdict RowGroupPruner::prune(size_t row_group, MemoryPool& pool) {
  const PruningCounters before = counters_;
  try {
    return prune_group(row_group, pool);
  } catch (...) {
    counters_ = before;  // it may be asked again
    throw;
  }
}

RowGroupPruner::Verdict RowGroupPruner::prune_group(size_t row_group, MemoryPool& pool) {
  if (row_group >= metadata_.row_groups().size()) {
    throw_error(ErrorKind::kInvalidArgument, "row group {} of a file that has {}", row_group,
                metadata_.row_groups().size());
  }
  const auto row_count = static_cast<uint64_t>(std::max<int64_t>(0, metadata_.row_groups()[row_group].row_count));
  ++counters_.row_groups;
  counters_.rows += row_count;
  Verdict verdict;
  verdict.rows = RowSelection::all(row_count);
  if (row_count == 0) return verdict;
  const auto skip = [&](uint64_t& counter) {
    ++counter;
    counters_.rows_pruned += row_count;
    verdict.rows = RowSelection();
    return verdict;
  };
  const auto accept = [&] {
    ++counters_.row_groups_certain;
    verdict.all_match = true;
    counters_.rows_pruned += row_count - verdict.rows.row_count();
    return verdict;
  };

  Source source(*this, row_group, pool);
  Pruning outcome = predicate::may_match(predicate_, source, pool);
  if (outcome == Pruning::kNoRow) return skip(counters_.row_groups_by_statistics);
  if (outcome == Pruning::kAllRows) return accept();

  if (options_.use_page_index && !indexed_leaves_.empty()) {
    auto index = std::make_shared<const PageIndex>(
        PageIndex::read(file_, metadata_, row_group, indexed_leaves_, indexed_leaves_, pool));
    counters_.bytes_read += index->bytes_read();
    for (size_t leaf : indexed_leaves_) counters_.defects += !index->find(leaf)->defect.empty();
    verdict.rows = matching_rows(predicate_.root(), *index, row_count, pool);
    verdict.page_index = std::move(index);
    if (verdict.rows.empty()) return skip(counters_.row_groups_by_page_index);
  }
  const bool asks_equality = std::find(asks_equality_.begin(), asks_equality_.end(), true) != asks_equality_.end();
  if (asks_equality && options_.use_bloom_filters) {
    source.use_bloom_filters();
    if (predicate::may_match(predicate_, source, pool) == Pruning::kNoRow) {
      return skip(counters_.row_groups_by_bloom_filter);
    }
  }
  if (asks_equality && options_.use_dictionaries && decompressor_ != nullptr) {
    source.use_dictionaries();
    outcome = predicate::may_match(predicate_, source, pool);
    if (outcome == Pruning::kNoRow) return skip(counters_.row_groups_by_dictionary);
    if (outcome == Pruning::kAllRows) return accept();
  }
  counters_.rows_pruned += row_count - verdict.rows.row_count();
  return verdict;
}

}  // namespace frazil::parquet
