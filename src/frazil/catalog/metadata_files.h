// Metadata files of tables in catalogs: names, and what happens to those that a commit leaves behind.
//
//   name := version "-" uuid (".gz")? ".metadata.json"          // "00003-f79c3e09-677c-4bbd-a479-3f349cb785e7.metadata.json"
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frazil/catalog/catalog.h"
#include "frazil/memory/buffer.h"

namespace frazil {
class Random;
}

namespace frazil::catalog {

// Where the metadata that follows the file `base_location` goes (empty: a new table's). The version counts on from the
// base's name, from 0 if that has none.
std::string next_metadata_location(const spec::TableMetadata& next, std::string_view base_location, Random& random);

OutputFile::PublishOptions publish_options(const CommitOptions& options);

// Removes a file that nothing names, if it can: what went wrong before is what the user should know.
void remove_quietly(FileSystem& files, std::string_view location) noexcept;

// A file that is written, but that no table names yet. Removed when this is destroyed without keep().
class PendingFile {
 public:
  PendingFile(std::shared_ptr<FileSystem> files, std::string location, const Buffer& content,
              OutputFile::PublishOptions options);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  void keep() noexcept { location_.clear(); }

 private:
  std::shared_ptr<FileSystem> files_;
  std::string location_;
};

// With write.metadata.delete-after-commit.enabled: deletes the metadata files that `base` has in its log and `next` does
// not. What cannot be deleted stays: the commit is done.
void delete_logged_metadata(FileSystem& files, const spec::TableMetadata& base,
                            const spec::TableMetadata& next) noexcept;

}  // namespace frazil::catalog
