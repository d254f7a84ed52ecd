// Where data files lie, as Iceberg Java's LocationProviders have it, and what they are called.
//
//   file     := "00000-" task "-" operation id "-" count:%05d ".parquet"
//   data     := write.data.path | write.folder-storage.path | location "/data"
//   plain    := data "/" [partition path "/"] file
//   object   := data "/" hash "/" [context "/"] partition path "/" file        // write.object-storage.enabled
//             | data "/" hash "/" context "/" file | data "/" hash "-" file    // ...partitioned-paths = false
//   hash     := 4 bits "/" 4 bits "/" 4 bits "/" 8 bits                        // murmur3 of what follows it but the context
//   context  := the last two folders of the table's location, if `data` lies outside of it
//
// Names and values in partition paths are encoded as java.net.URLEncoder does.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "frazil/spec/literal.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::write {

class DataPaths {
 public:
  // Borrows the metadata. Throws Error(kInvalidArgument) for a property that is neither true nor false.
  DataPaths(const spec::TableMetadata& metadata, int64_t task_id, std::string operation_id);

  // Of a new file. `partition`: one value for each field of the default spec.
  std::string path(std::span<const spec::Literal> partition, uint64_t file_count) const;

 private:
  const spec::PartitionSpec* spec_;
  int64_t task_id_;
  std::string operation_id_;
  std::string folder_;
  bool is_object_storage_ = false;
  bool has_partition_paths_ = true;
  std::string context_;
};

// "0101/0110/1001/10110010" of the hash of `text`.
std::string object_storage_hash(std::string_view text);

}  // namespace frazil::write
