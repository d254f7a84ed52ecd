// The files that an action has written and that no snapshot names yet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frazil/io/file_system.h"

namespace frazil::commit {

// Does nothing when destroyed: whether they may be removed is the action's to know.
class WrittenFiles {
 public:
  explicit WrittenFiles(std::shared_ptr<FileSystem> files) : files_(std::move(files)) {}

  // Before the file is opened, so that what a failed publish leaves behind is known.
  void add(std::string path) { paths_.push_back(std::move(path)); }
  const std::vector<std::string>& paths() const { return paths_; }
  // Those at and after `first`; what cannot be removed stays.
  void remove_from(size_t first) noexcept {
    while (paths_.size() > first) {
      remove_one(paths_.back());
      paths_.pop_back();
    }
  }
  void remove_all() noexcept { remove_from(0); }
  // All but `kept`.
  template <typename IsKept>
  void remove_unless(const IsKept& is_kept) noexcept {
    for (const std::string& path : paths_) {
      if (!is_kept(path)) remove_one(path);
    }
    paths_.clear();
  }

 private:
  void remove_one(const std::string& path) noexcept {
    try {
      files_->remove(path);
    } catch (...) {
      return;
    }
  }

  std::shared_ptr<FileSystem> files_;
  std::vector<std::string> paths_;
};

}  // namespace frazil::commit
