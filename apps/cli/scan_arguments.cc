#include "scan_arguments.h"

#include <string_view>

namespace frazil::cli {

void add_scan_arguments(Command& command, ScanArguments& arguments) {
  command.option("--select", arguments.select, "COLUMNS", "columns and their order: a,b.c (repeatable)");
  command.option("--where", arguments.where, "PREDICATE", "only rows for which it is true (docs/predicates.md)");
  add_snapshot_arguments(command, arguments.state);
  command
      .choice("--order", arguments.order, {"task", "arrival", "sequential"},
              "order of the rows: as planned, as they come, one file at a time")
      .option("--batch-rows", arguments.batch_rows, "N", "rows of a batch, at most (65536)");
}

std::vector<std::string> split_columns(const std::vector<std::string>& lists) {
  std::vector<std::string> columns;
  for (std::string_view list : lists) {
    while (true) {
      const size_t comma = list.find(',');
      if (const auto name = list.substr(0, comma); !name.empty()) columns.emplace_back(name);
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  return columns;
}

ScanOrder scan_order_of(const ScanArguments& arguments) {
  if (arguments.order == "arrival") return ScanOrder::kArrival;
  if (arguments.order == "sequential") return ScanOrder::kSequential;
  return ScanOrder::kTask;
}

ScanBuilder build_scan(const Table& table, const ScanArguments& arguments) {
  auto builder = table.scan();
  builder.select(split_columns(arguments.select)).order(scan_order_of(arguments));
  builder.snapshot(select_snapshot_of(arguments.state));
  if (arguments.where) builder.where(*arguments.where);
  if (arguments.batch_rows) builder.batch_rows(*arguments.batch_rows);
  return builder;
}

}  // namespace frazil::cli
