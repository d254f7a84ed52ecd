// The files of a table that was moved or copied after it was written.
//
// Its metadata names files by absolute locations below the recorded one. A location L is looked for, in this order, at
//
//   1. found/rest                 if L = recorded/rest
//   2. L itself                   a part that was not moved, another storage location
//   3. found_root/rest            if L = recorded_root/rest: the roots are what remains of recorded and found without the
//                                 folders that both end in (data/w/db/t found at /x/w/db/t: data/ is at /x/)
//   4. found/tail                 the longest tail of L's segments that is there: writers that record relative names, or
//                                 another location than the table's
//
// and the first that exists is taken. If none exists, 1 or else L is what errors name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frazil/io/file_system.h"

namespace frazil::catalog {

class RelocatedFiles final : public FileSystem {
 public:
  RelocatedFiles(std::shared_ptr<FileSystem> files, std::string recorded, std::string found);

  // Where L is now.
  std::string locate(std::string_view location);

  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  // New files go where the table is now: found/rest.
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;

 private:
  bool exists(std::string_view location);
  std::string below_found(std::string_view location) const;

  std::shared_ptr<FileSystem> files_;
  std::string recorded_;
  std::string found_;
  std::string recorded_root_;  // empty: recorded and found end alike in nothing
  std::string found_root_;
};

}  // namespace frazil::catalog
