// DeferredFile: an OutputFile that keeps its first bytes in memory and opens the real one late: when they are many, or to
// publish. Thousands of partitions then have a file each without thousands of descriptors, and a small file is one write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::write {

// What the deferred files of a writer share. Thread-safe.
struct DeferredFiles {
  FileSystem* files = nullptr;  // outlives them
  MemoryPool* pool = nullptr;
  size_t open_max = 256;          // real files at once; files over it are kept in memory as long as need be
  size_t file_bytes_max = 0;      // of one file in memory, unless open_max says otherwise
  std::atomic<size_t> bytes = 0;  // in memory
  std::atomic<size_t> open = 0;
};

class DeferredFile final : public OutputFile {
 public:
  // `shared` outlives it. Opens nothing.
  DeferredFile(std::string path, DeferredFiles& shared) : path_(std::move(path)), shared_(shared) {}
  ~DeferredFile() override;

  const std::string& path() const override { return path_; }
  void write(std::span<const std::byte> bytes) override;
  uint64_t bytes_written() const override { return bytes_written_; }
  void publish(PublishOptions options) override;
  using OutputFile::publish;
  void abort() noexcept override;

  size_t memory_bytes() const { return memory_bytes_; }
  bool is_open() const { return file_ != nullptr; }
  // Opens the real file, whatever open_max says, and writes what is in memory.
  void open();

 private:
  void keep(std::span<const std::byte> bytes);
  void drop_memory() noexcept;
  void drop_file() noexcept;

  std::string path_;
  DeferredFiles& shared_;
  std::unique_ptr<OutputFile> file_;
  std::vector<MutableBuffer> blocks_;
  size_t memory_bytes_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace frazil::write
