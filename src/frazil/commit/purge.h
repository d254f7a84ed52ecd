// Deleting the files of a table that was dropped.
//
//   purge := snapshots' manifest lists -> manifests -> data and delete files; then these, statistics, metadata files
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frazil/catalog/catalog.h"

namespace frazil {
class Context;
}

namespace frazil::commit {

struct PurgeResult {
  int64_t deleted_files = 0;
  // Files that are named but could not be deleted or read, with the reason, at most a hundred.
  std::vector<std::string> failures;
  int64_t failure_count = 0;
};

// Drops the table from its catalog and then deletes every file that any of its snapshots names, and nothing else: the
// order makes a crash leave files without a table, never a table without files. With gc.enabled=false the data may be
// shared with other tables: then Error(kInvalidArgument), before anything is dropped.
PurgeResult drop_and_purge(Context& context, catalog::Catalog& catalog, const catalog::TableIdentifier& identifier);

}  // namespace frazil::commit
