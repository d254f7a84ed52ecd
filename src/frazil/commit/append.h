// The append action: data files that are written already become rows of the table, in one snapshot.
//
//   new files --> manifests, written once         +  manifests of the branch's snapshot (merged, if the table says so)
//             --> a manifest list each attempt    -->  snapshot  -->  updates and requirements  -->  TableStore::commit
//
// Of a conflict it is the manifest list that is written anew, on the refreshed table: the new files' manifests are used
// again (a table upgraded meanwhile gets new ones). Waits between attempts grow from commit.retry.min-wait-ms to
// max-wait-ms and are random in their upper half, so that writers that met do not meet again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "frazil/catalog/catalog.h"
#include "frazil/spec/snapshot.h"

namespace frazil {
class Context;
}

namespace frazil::manifest {
struct DataFile;
}

namespace frazil::commit {

struct AppendOptions {
  // An existing branch; main need not exist.
  std::string branch = std::string(spec::kMainBranch);
  // Goes into the snapshot's summary: "engine-name", "wap.id", whatever. What append() itself writes there wins.
  spec::Summary summary = {};
  // Instead of the table's commit.manifest-merge.enabled.
  std::optional<bool> merge_manifests = std::nullopt;
  // Sync manifests, lists and metadata too; whoever wrote the data files synced those.
  catalog::Durability durability = catalog::Durability::kProcess;
  // Looked at between attempts and while waiting, never during the commit itself.
  std::stop_token stop = {};
};

// Commits a snapshot with `files`, which exist and belong to one of the table's partition specs each; without files a
// snapshot that adds nothing. Gives the table as committed.
//
// On an error nothing has changed and everything is deleted: manifests, lists, and the data files. Only with
// CommitStateUnknownError nothing is: the snapshot may be there, and the message names what to look at. Throws
// ConflictError when the retries are used up, Error(kInvalidArgument) for files that do not fit the table,
// Error(kNotFound) for a branch that does not exist, CancelledError.
catalog::LoadedTable append(Context& context, const catalog::LoadedTable& base, std::vector<manifest::DataFile> files,
                            const AppendOptions& options = {});

}  // namespace frazil::commit
