// One function a verb, each in a file of its own: it adds the verb to the command line.
#pragma once

#include "arguments.h"

namespace frazil::cli {

void add_bench(Command& root);
void add_completion(Command& root, const CommandLine& command_line);
void add_create(Command& root);
void add_describe(Command& root);
void add_drop(Command& root);
void add_files(Command& root);
void add_history(Command& root);
void add_inspect(Command& root);
void add_ipc(Command& root);
void add_list(Command& root);
void add_load(Command& root);
void add_location(Command& root);
void add_manifests(Command& root);
void add_namespace(Command& root);
void add_parquet(Command& root);
void add_partitions(Command& root);
void add_properties(Command& root);
void add_refs(Command& root);
void add_rename(Command& root);
void add_scan(Command& root);
void add_schema(Command& root);
void add_snapshots(Command& root);
void add_spec(Command& root);
void add_uuid(Command& root);
void add_version(Command& root);

}  // namespace frazil::cli
