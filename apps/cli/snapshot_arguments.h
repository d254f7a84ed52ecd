// --snapshot ID | --as-of TIME | --ref NAME, for every verb that reads one state of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arguments.h"

#include "frazil/spec/table_metadata.h"

namespace frazil::cli {

struct SnapshotArguments {
  std::optional<int64_t> snapshot;
  std::optional<std::string> as_of;
  std::optional<std::string> ref;
};

void add_snapshot_arguments(Command& command, SnapshotArguments& arguments);

// Throws Error(kInvalidArgument) for a time that is none.
spec::SnapshotSelection select_snapshot_of(const SnapshotArguments& arguments);

}  // namespace frazil::cli
