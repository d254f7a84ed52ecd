#include "all_types.h"

#include <string>
#include <utility>
#include <vector>

#include "frazil/columnar/random_arrays_test.h"
#include "frazil/columnar/type.h"

namespace frazil::testing {
namespace {

// Of every type, with the layouts that nest.
std::vector<Field> all_fields() {
  std::vector<DataTypePtr> types;
  for (int id = 0; id <= static_cast<int>(TypeId::kDouble); ++id) types.push_back(primitive(static_cast<TypeId>(id)));
  for (const TypeId id : {TypeId::kDate32, TypeId::kDate64, TypeId::kIntervalMonths, TypeId::kIntervalDayTime,
                          TypeId::kIntervalMonthDayNano, TypeId::kUtf8, TypeId::kLargeUtf8, TypeId::kUtf8View,
                          TypeId::kBinary, TypeId::kLargeBinary, TypeId::kBinaryView}) {
    types.push_back(primitive(id));
  }
  types.insert(types.end(), {decimal(5, 2, TypeId::kDecimal32), decimal(18, 0, TypeId::kDecimal64), decimal(38, 9),
                             decimal(76, 20, TypeId::kDecimal256), fixed_size_binary(0), fixed_size_binary(7),
                             time32(TimeUnit::kSecond), time32(TimeUnit::kMilli), time64(TimeUnit::kMicro),
                             time64(TimeUnit::kNano)});
  for (const TimeUnit unit : {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
    types.insert(types.end(), {timestamp(unit), timestamp(unit, "Europe/Berlin"), duration(unit)});
  }
  for (int id = static_cast<int>(TypeId::kInt8); id <= static_cast<int>(TypeId::kUInt64); ++id) {
    types.push_back(dictionary(primitive(static_cast<TypeId>(id)), primitive(TypeId::kUtf8), id % 2 == 0));
  }
  types.push_back(dictionary(primitive(TypeId::kInt32), primitive(TypeId::kBinaryView)));
  const Field words = {.name = "words", .type = types.back(), .metadata = {{"in", "side"}}};
  const Field text = {.name = "text", .type = primitive(TypeId::kUtf8View)};
  const Field number = {.name = "number", .type = primitive(TypeId::kInt64), .nullable = false};
  for (const TypeId id : {TypeId::kList, TypeId::kLargeList, TypeId::kListView, TypeId::kLargeListView}) {
    types.push_back(list(words, id));
    types.push_back(list({.name = "item", .type = list(text, id)}, id));
  }
  types.insert(types.end(),
               {fixed_size_list(text, 3), fixed_size_list(words, 2), fixed_size_list(number, 0),
                struct_({words, number}), struct_({}), map({.name = "key", .type = primitive(TypeId::kUtf8)}, words),
                dense_union({words, text, number}, {3, 0, 127}), sparse_union({text, words}, {9, 8}),
                run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                {.name = "values", .type = list(words)}),
                run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt64), .nullable = false},
                                {.name = "values", .type = primitive(TypeId::kInt32)})});
  std::vector<Field> fields;
  for (const DataTypePtr& type : types) {
    fields.push_back({.name = "c" + std::to_string(fields.size()), .type = type});
    if (fields.size() % 3 == 0) fields.back().metadata = {{"ARROW:extension:name", "unknown"}, {"k", ""}};
  }
  return fields;
}

}  // namespace

IpcContents batches_of_all_types(uint64_t seed, MemoryPool& pool) {
  RandomArrays random(seed, pool);
  IpcContents contents;
  contents.schema = Schema::make(all_fields(), {{"origin", "test"}, {"empty", ""}});
  contents.file_metadata = {{"of", "the file"}, {"of", "twice"}};
  for (const int64_t rows : {int64_t{20}, int64_t{0}, int64_t{1}, int64_t{65}}) {
    std::vector<ArrayPtr> columns;
    for (const Field& field : contents.schema->fields()) {
      columns.push_back(random.array(field.type, rows));
      if (random.coin(3)) columns.back() = random.with_offsets(*columns.back());
    }
    contents.batches.emplace_back(contents.schema, rows, std::move(columns));
    contents.batch_metadata.push_back(rows == 1 ? Metadata{{"batch", "one"}} : Metadata{});
  }
  return contents;
}

}  // namespace frazil::testing
