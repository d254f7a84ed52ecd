#include "parquet.h"

#include "verbs.h"

namespace frazil::cli {

void add_parquet(Command& root) {
  Command parquet = root.add("parquet", "Look into Parquet files: footers, pages, statistics, rows");
  add_parquet_meta(parquet);
  add_parquet_schema(parquet);
  add_parquet_pages(parquet);
  add_parquet_stats(parquet);
  add_parquet_bloom(parquet);
  add_parquet_rows(parquet);
  add_parquet_count(parquet);
  add_parquet_verify(parquet);
}

}  // namespace frazil::cli
