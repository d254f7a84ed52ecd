// Scans of tables whose files have one row group, or many: whatever is read side by side, the rows come in the order of the
// files, in the same batches, within the budget.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/catalog/path_table.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/new_table.h"
#include "frazil/table/table.h"

namespace frazil {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

spec::NewTable new_table(int64_t row_group_rows) {
  std::vector<spec::NestedField> fields(3);
  const char* const names[] = {"id", "noise", "label"};
  const spec::TypeKind kinds[] = {spec::TypeKind::kLong, spec::TypeKind::kLong, spec::TypeKind::kString};
  for (size_t i = 0; i < fields.size(); ++i) {
    fields[i].id = static_cast<int32_t>(i) + 1;
    fields[i].name = names[i];
    fields[i].type = spec::primitive(kinds[i]);
    fields[i].required = true;
  }
  spec::NewTable table;
  table.schema = std::make_shared<const spec::Schema>(std::move(fields));
  table.properties = {{"write.parquet.row-group-limit", std::to_string(row_group_rows)}};
  return table;
}

int64_t noise_of(int64_t id) {
  uint64_t bits = static_cast<uint64_t>(id) * 0x9E37'79B9'7F4A'7C15;
  bits = (bits ^ (bits >> 29)) * 0xBF58'476D'1CE4'E5B9;
  return static_cast<int64_t>(bits ^ (bits >> 32));
}

// Running ids, so that order shows; noise, so that bytes do not vanish.
RecordBatch make_rows(int64_t first, int64_t count) {
  std::vector<std::optional<int64_t>> ids;
  std::vector<std::optional<int64_t>> noise;
  std::vector<std::optional<std::string>> labels;
  for (int64_t i = first; i < first + count; ++i) {
    ids.emplace_back(i);
    noise.emplace_back(noise_of(i));
    labels.emplace_back("row_" + std::to_string(i));
  }
  std::vector<ArrayPtr> columns = {make_int64(ids), make_int64(noise), make_utf8(labels)};
  SchemaPtr schema = Schema::make({{.name = "id", .type = columns[0]->type},
                                   {.name = "noise", .type = columns[1]->type},
                                   {.name = "label", .type = columns[2]->type}});
  return {std::move(schema), count, std::move(columns)};
}

// Returns the parts that were read of each file on average.
double check_scans(uint64_t seed) {
  const auto below = [&seed](uint64_t limit) {
    seed = seed * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return (seed >> 33) % limit;
  };
  Context context({.memory_budget_bytes = 512 * kMiB, .threads = 4});
  auto memory = std::make_shared<MemoryFileSystem>();
  FileSystems files;
  files.add("memory", memory);
  const auto row_group_rows = static_cast<int64_t>(1'000 << below(8));
  Table table(context, catalog::create_table_by_path(context, "memory:/t", files, context.memory_pool(),
                                                     new_table(row_group_rows)));
  // A snapshot's new manifest comes before the older ones.
  std::vector<std::pair<int64_t, int64_t>> appended;
  int64_t total = 0;
  for (uint64_t file = 0; file <= below(3); ++file) {
    const auto rows = static_cast<int64_t>(1 + below(150'000));
    Append append = table.append();
    append.write(make_rows(total, rows));
    table = append.commit();
    appended.insert(appended.begin(), {total, rows});
    total += rows;
  }
  std::vector<int64_t> expected;
  for (const auto& [first, rows] : appended) {
    for (int64_t i = first; i < first + rows; ++i) expected.push_back(i);
  }

  const auto batch_rows = static_cast<int64_t>(500 << below(8));
  const std::optional<std::string> where = below(2) == 0 ? std::nullopt : std::optional<std::string>("noise > 0");
  if (where) {
    std::erase_if(expected, [](int64_t id) { return noise_of(id) <= 0; });
  }
  const size_t budget = (8 + below(24)) * kMiB;
  std::vector<int64_t> boundaries;
  double parts = 0;
  for (const ScanOrder order : {ScanOrder::kSequential, ScanOrder::kTask, ScanOrder::kArrival}) {
    for (const size_t threads : {size_t{1}, size_t{2}, size_t{4}}) {
      ScanBuilder scan = table.scan();
      scan.order(order).threads(threads).batch_rows(batch_rows).memory_budget_bytes(budget);
      if (where) scan.where(*where);
      const auto stream = scan.execute();
      std::vector<int64_t> ids;
      std::vector<int64_t> sizes;
      while (const auto batch = stream->next()) {
        validate_full(*batch);
        sizes.push_back(batch->row_count());
        const auto* values = batch->column(0)->values<int64_t>();
        ids.insert(ids.end(), values, values + batch->row_count());
        for (const int64_t i : {int64_t{0}, batch->row_count() - 1}) {
          EXPECT_EQ(batch->column(2)->bytes_value(i), "row_" + std::to_string(values[i]));
        }
      }
      EXPECT_EQ(stream->stats().files, appended.size());
      EXPECT_LE(stream->stats().pool.held_peak_bytes, budget);
      parts = static_cast<double>(stream->stats().parts);
      if (order == ScanOrder::kArrival) {
        std::sort(ids.begin(), ids.end());
        std::vector<int64_t> sorted = expected;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_TRUE(ids == sorted);
        continue;
      }
      EXPECT_TRUE(ids == expected);
      if (boundaries.empty()) boundaries = sizes;
      EXPECT_EQ(sizes, boundaries);
    }
  }
  EXPECT_EQ(context.memory_pool().stats().promised_bytes, 0u);
  return parts / static_cast<double>(appended.size());
}

TEST(ScanUnits, ComeInOrderWithinTheBudgetWhateverIsReadSideBySide) {
  double parts = 0;
  constexpr uint64_t kSeeds = 30;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    parts += check_scans(seed);
  }
  EXPECT_GT(parts, 1.5 * kSeeds) << "too few files are split";
}

}  // namespace
}  // namespace frazil
