#include "frazil/table/table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/c_data.h"
#include "frazil/runtime/context.h"

namespace frazil {
namespace {

const std::string kOrders = std::string(FRAZIL_TEST_CORPORA) + "/iceberg-tables/dremio/v2/orders";

TEST(Table, OpensByPathAndScansWhatTheBuilderSays) {
  Context context({.memory_budget_bytes = size_t{64} << 20, .threads = 2});
  const Table table = open_table(context, kOrders);
  EXPECT_THAT(table.notices(), testing::SizeIs(1)) << "the table is not where its metadata says";
  auto stream = table.scan().select({"order_id", "amount"}).limit(7).order(ScanOrder::kSequential).execute();
  ASSERT_EQ(stream->schema()->field_count(), 2u);
  EXPECT_EQ(stream->schema()->field(0).name, "order_id");
  int64_t rows = 0;
  while (auto batch = stream->next()) rows += batch->row_count();
  EXPECT_EQ(rows, 7);
  EXPECT_EQ(stream->stats().rows, 7);
  EXPECT_GT(table.io_counters().bytes_read.load(), 0u);
}

TEST(Table, AStreamOutlivesItsTable) {
  Context context({.memory_budget_bytes = size_t{64} << 20, .threads = 2});
  auto stream = open_table(context, kOrders).scan().execute();
  int64_t rows = 0;
  while (auto batch = stream->next()) rows += batch->row_count();
  EXPECT_EQ(rows, 600);
}

TEST(Table, ReadsAStreamThroughTheArrowCInterface) {
  Context context({.memory_budget_bytes = size_t{64} << 20, .threads = 2});
  ArrowArrayStream exported;
  export_stream(open_table(context, kOrders).scan().execute(), &exported);
  auto imported = import_stream(&exported, {.pool = &context.memory_pool()});
  int64_t rows = 0;
  while (auto batch = imported->next()) {
    validate_full(*batch);
    rows += batch->row_count();
  }
  EXPECT_EQ(rows, 600);
}

TEST(OpenCatalog, SaysThatADatabaseIsMissing) {
  Context context;
  try {
    open_catalog(context, {.uri = "sqlite:////nowhere/catalog.db"}).load_table("web.hits");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), testing::HasSubstr("/nowhere/catalog.db"));
  }
}

}  // namespace
}  // namespace frazil
