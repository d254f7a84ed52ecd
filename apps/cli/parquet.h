// The verbs of `frazil parquet`: what is in Parquet files, without a table around them.
#pragma once

#include "arguments.h"

namespace frazil::cli {

void add_parquet_bloom(Command& parquet);
void add_parquet_count(Command& parquet);
void add_parquet_meta(Command& parquet);
void add_parquet_pages(Command& parquet);
void add_parquet_rows(Command& parquet);  // head, cat
void add_parquet_schema(Command& parquet);
void add_parquet_stats(Command& parquet);
void add_parquet_verify(Command& parquet);

}  // namespace frazil::cli
