#include "frazil/write/conform.h"

#include <span>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/column_checks.h"
#include "frazil/write/column_conversion.h"
#include "frazil/write/parallel.h"

namespace frazil::write {

class Conformer::Impl {
 public:
  Impl(spec::SchemaPtr schema, ConformOptions options, MemoryPool& pool)
      : schema_(std::move(schema)), options_(options), pool_(pool) {
    for (const spec::NestedField& field : schema_->fields()) spec::to_arrow_type(*field.type);
  }

  std::vector<ArrayPtr> conform(const RecordBatch& batch, ThreadPool* threads) const {
    try {
      validate(batch);
    } catch (CorruptError& error) {
      throw Error(ErrorKind::kInvalidArgument, error.what());
    }
    const std::span<const spec::NestedField> wanted = schema_->fields();
    const std::vector<int> places = match_fields(wanted, batch.schema()->fields(), nullptr);
    std::vector<ArrayPtr> columns(wanted.size());
    for_each_index(threads, wanted.size(), [&](size_t i) {
      ValuePlace place;
      place.name = wanted[i].name;
      if (places[i] < 0) {
        columns[i] = missing_column(wanted[i], batch.row_count(), place, options_, pool_);
        return;
      }
      const ArrayPtr& given = batch.column(static_cast<size_t>(places[i]));
      check_structure(*given, wanted[i].name);
      columns[i] = convert_column(given, wanted[i], place, options_, pool_);
      check_column(*columns[i], wanted[i], place, pool_);
    });
    return columns;
  }

 private:
  spec::SchemaPtr schema_;
  ConformOptions options_;
  MemoryPool& pool_;
};

Conformer::Conformer(spec::SchemaPtr schema, ConformOptions options, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(std::move(schema), options, pool)) {}
Conformer::~Conformer() = default;
std::vector<ArrayPtr> Conformer::conform(const RecordBatch& batch, ThreadPool* threads) const {
  return impl_->conform(batch, threads);
}

}  // namespace frazil::write
