// Any text: parse() gives a tree or an error that shows the place; a tree survives its own text, means the same without
// NOT, and where it binds to the columns of a small batch, its rows and the rows of its negation share none, and pruning
// by the batch's true statistics agrees with them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/predicate/evaluate.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/pruning.h"

namespace {

using namespace frazil;

// Names of one letter, so that texts reach them.
const RecordBatch& batch() {
  static const RecordBatch kBatch = [] {
    const DataTypePtr inner = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}});
    return make_batch({
        {"i", make_int64({0, 1, -1, std::nullopt, INT64_MAX, INT64_MIN, 7, 8})},
        {"d", make_double({0.0, -0.0, NAN, 1.5, std::nullopt, INFINITY, -INFINITY, 1e300})},
        {"s", make_utf8({"", "a", "ab", std::nullopt, "abc", "\xC3\xA9", "z", "aaaaaaaaaaaaaaaa"})},
        {"m", make_fixed<Int128>(decimal(9, 2), {0, 1, -1, 1420, std::nullopt, 999999999, 100, -100})},
        {"t", make_fixed<int64_t>(timestamp(TimeUnit::kMicro), {0, 1, -1, std::nullopt, INT64_MAX, 86400000000, 5, 6})},
        {"u", make_bytes(fixed_size_binary(2), {"ab", "aa", "zz", std::nullopt, "ab", "ab", "ab", "ab"})},
        {"b", make_bool({true, false, std::nullopt, true, true, false, false, true})},
        {"o", make_struct(inner, {make_int32({1, 2, 3, 4, std::nullopt, 6, 7, 8})},
                          {true, false, true, true, true, true, false, true})},
    });
  }();
  return kBatch;
}

class TrueStatistics final : public predicate::ColumnStatisticsSource {
 public:
  predicate::ColumnStatistics statistics(const predicate::BoundColumn& column) override {
    predicate::ColumnStatistics out{.row_count = batch().row_count(), .null_count = {}, .nan_count = {}};
    if (column.path.size() > 1 || column.field.type->id() == TypeId::kStruct) return out;
    const Array& array = *batch().column(column.path[0]);
    out.null_count = array.count_nulls();
    for (int64_t i = 0; i < array.length; ++i) {
      const auto value = predicate::value_at(array, i);
      if (!value || predicate::is_nan(*value)) continue;
      if (!out.lower || predicate::compare(*value, *out.lower) < 0) out.lower = value;
      if (!out.upper || predicate::compare(*value, *out.upper) > 0) out.upper = value;
    }
    return out;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  predicate::Predicate parsed;
  try {
    parsed = predicate::parse(text);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) std::abort();
    return 0;
  }
  if (!(predicate::parse(parsed.to_text()) == parsed)) std::abort();
  MemoryPool pool({.budget_bytes = 1 << 20});
  try {
    const auto bound = predicate::bind_predicate(parsed, batch().schema());
    const auto rows = predicate::evaluate(bound, batch(), pool);
    const auto simple =
        predicate::evaluate(predicate::bind_predicate(predicate::simplify(parsed), batch().schema()), batch(), pool);
    // not_() may pass the depth that the tree itself reaches.
    const auto others =
        parsed.node().depth == predicate::kMaxDepth
            ? predicate::Selection::none(batch().row_count(), pool)
            : predicate::evaluate(predicate::bind_predicate(predicate::not_(parsed), batch().schema()), batch(), pool);
    for (int64_t row = 0; row < batch().row_count(); ++row) {
      if (rows.is_selected(row) && others.is_selected(row)) std::abort();
      if (rows.is_selected(row) != simple.is_selected(row)) std::abort();
    }
    TrueStatistics source;
    const auto pruning = predicate::may_match(bound, source, pool);
    if (pruning == predicate::Pruning::kNoRow && rows.selected_count() != 0) std::abort();
    if (pruning == predicate::Pruning::kAllRows && rows.selected_count() != rows.row_count()) std::abort();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal || error.kind() == ErrorKind::kMemoryLimit) std::abort();
  }
  return 0;
}
