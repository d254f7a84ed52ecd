// What to read of a table and how: for every verb that scans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "snapshot_arguments.h"

#include "frazil/table/table.h"

namespace frazil::cli {

struct ScanArguments {
  std::vector<std::string> select;
  std::optional<std::string> where;
  SnapshotArguments state;
  std::optional<std::string> order;
  std::optional<int64_t> batch_rows;
};

void add_scan_arguments(Command& command, ScanArguments& arguments);

// "a,b.c" -> {"a", "b.c"}
std::vector<std::string> split_columns(const std::vector<std::string>& lists);
ScanOrder scan_order_of(const ScanArguments& arguments);
ScanBuilder build_scan(const Table& table, const ScanArguments& arguments);

}  // namespace frazil::cli
