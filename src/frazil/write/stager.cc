#include "frazil/write/stager.h"

#include <utility>

#include "frazil/runtime/context.h"
#include "frazil/write/parallel.h"

namespace frazil::write {

namespace {

ThreadPool* threads_for(Context& context, int64_t rows) {
  return rows < kParallelRowsMin ? nullptr : &context.thread_pool();
}

}  // namespace

Stager::Stager(Context& context, const spec::TableMetadata& metadata, ConformOptions options, MemoryPool& pool)
    : context_(context),
      conformer_(metadata.current_schema(), options, pool),
      keys_(metadata.default_spec(), *metadata.current_schema(), pool, context.random().next()) {
  for (const spec::NestedField& field : metadata.current_schema()->fields()) {
    const spec::TypeKind kind = field.type->kind();
    const bool is_text = kind == spec::TypeKind::kString || kind == spec::TypeKind::kBinary;
    text_codes_.push_back(is_text ? std::make_unique<TextCodes>(pool, context.random().next()) : nullptr);
  }
}

StagedBatch Stager::stage(const RecordBatch& batch) {
  ThreadPool* const threads = threads_for(context_, batch.row_count());
  StagedBatch staged;
  staged.columns = conformer_.conform(batch, threads);
  staged.row_count = batch.row_count();
  if (staged.row_count == 0) return staged;
  number_texts(staged);
  if (keys_.is_partitioned()) {
    staged.partitions = keys_.number_rows(staged.columns, staged.row_count, threads);
    staged.runs = find_runs(staged.partitions);
    if (staged.is_runs()) staged.partitions = RowCodes();
  } else {
    staged.runs.push_back({0, 0, staged.row_count});
  }
  for (const ArrayPtr& column : staged.columns) staged.bytes += row_bytes(*column);
  return staged;
}

void Stager::number_texts(StagedBatch& staged) {
  staged.dictionary_ids.assign(staged.columns.size(), 0);
  std::vector<size_t> texts;
  for (size_t i = 0; i < text_codes_.size(); ++i) {
    if (text_codes_[i] != nullptr) texts.push_back(i);
  }
  for_each_index(threads_for(context_, staged.row_count), texts.size(), [&](size_t i) {
    const size_t column = texts[i];
    TextCodes& codes = *text_codes_[column];
    staged.columns[column] = codes.encode(staged.columns[column]);
    if (codes.is_encoded()) staged.dictionary_ids[column] = codes.dictionary_id();
  });
}

void Stager::end_round(bool rows_stay) {
  for (auto& codes : text_codes_) {
    if (codes != nullptr) codes->end_round(rows_stay);
  }
}

}  // namespace frazil::write
