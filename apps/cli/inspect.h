// The tables about a table: `frazil inspect TABLE NAME`, and verbs that are short forms of it. Columns have the names
// of Iceberg's metadata tables.
#pragma once

#include <span>
#include <string_view>

#include "frazil/catalog/catalog.h"

namespace frazil::cli {

class Session;

struct MetadataTable {
  std::string_view name;
  std::string_view summary;
  void (*print)(Session& session, const catalog::LoadedTable& table);
};

std::span<const MetadataTable> metadata_tables();

void print_files(Session& session, const catalog::LoadedTable& table);
void print_history(Session& session, const catalog::LoadedTable& table);
void print_manifests(Session& session, const catalog::LoadedTable& table);
void print_metadata_log(Session& session, const catalog::LoadedTable& table);
void print_partitions(Session& session, const catalog::LoadedTable& table);
void print_refs(Session& session, const catalog::LoadedTable& table);
void print_snapshots(Session& session, const catalog::LoadedTable& table);

}  // namespace frazil::cli
