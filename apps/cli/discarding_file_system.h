// A file system whose files go nowhere, for dry runs: everything is made, counted and forgotten.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "frazil/io/file_system.h"

namespace frazil::cli {

// Nothing can be read of it, and nothing is ever there.
class DiscardingFileSystem final : public FileSystem {
 public:
  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;
};

}  // namespace frazil::cli
