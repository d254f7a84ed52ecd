// Counts what passes through a file system: the figures of --stats.
#pragma once

#include <atomic>
#include <memory>

#include "frazil/io/file_system.h"

namespace frazil {

// Readable at any time from any thread.
struct IoCounters {
  std::atomic<uint64_t> files_opened{0};
  std::atomic<uint64_t> files_open{0};  // now
  std::atomic<uint64_t> reads{0};       // read_at, and each range of read_ranges
  std::atomic<uint64_t> bytes_read{0};  // by these; a mapping counts whole when it is made
  std::atomic<uint64_t> files_published{0};
  std::atomic<uint64_t> bytes_written{0};
};

// Borrows `inner`, which outlives it. The counters outlive both: files keep them.
class CountingFileSystem final : public FileSystem {
 public:
  explicit CountingFileSystem(FileSystem& inner) : inner_(&inner), counters_(std::make_shared<IoCounters>()) {}

  const IoCounters& counters() const { return *counters_; }

  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;

 private:
  FileSystem* inner_;
  std::shared_ptr<IoCounters> counters_;
};

}  // namespace frazil
