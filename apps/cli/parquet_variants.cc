#include "parquet_variants.h"

#include "frazil/base/error.h"
#include "frazil/parquet/variant.h"

namespace frazil::cli {
namespace {

// Value `row` of an array and what is in it.
void check_value(const Field& field, const Array& array, int64_t row) {
  if (array.is_null(row)) return;
  const std::vector<Field>& fields = field.type->children();
  if (field.extension_name() == "arrow.parquet.variant") {
    const int64_t at = array.offset + row;
    const parquet::VariantMetadata metadata(array.children[0]->bytes_value(at));
    validate_variant(parquet::Variant(metadata, array.children[1]->bytes_value(at)));
  } else if (field.type->id() == TypeId::kStruct) {
    for (size_t i = 0; i < fields.size(); ++i) check_value(fields[i], *array.children[i], array.offset + row);
  } else if (is_list(field.type->id())) {
    const auto [first, count] = array.list_range(row);
    for (int64_t i = first; i < first + count; ++i) check_value(fields[0], *array.children[0], i);
  }
}

}  // namespace

void VariantCheck::check(const ArrayPtr& stored, int64_t first_row, MemoryPool& pool) const {
  const ArrayPtr variants = column_.assemble(stored, pool);
  for (int64_t row = 0; row < variants->length; ++row) {
    try {
      check_value(column_.field(), *variants, row);
    } catch (Error& error) {
      error.add_context(message("row {}", first_row + row));
      error.add_context(message("column '{}'", column_.field().name));
      throw;
    }
  }
}

}  // namespace frazil::cli
