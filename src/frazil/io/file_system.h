// Files as the formats see them: bytes by range in, bytes in order out. Local files and in-memory files are here,
// object stores in net/. Paths are the strings that Iceberg metadata holds; each FileSystem says which it understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/memory/buffer.h"

namespace frazil {

class MemoryPool;

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// An open file for reading. All calls are thread-safe. Errors: IoError, or CorruptError when the file is shorter than
// asked (it may have been cut since its size was taken). Messages name the path.
class InputFile {
 public:
  virtual ~InputFile() = default;
  virtual const std::string& path() const = 0;
  virtual uint64_t size() const = 0;
  // Fills `out` completely from `offset`.
  virtual void read_at(uint64_t offset, std::span<std::byte> out) const = 0;
  // Fills outs[i] from offsets[i]; the default reads one after the other. Overlaps are allowed.
  virtual void read_ranges(std::span<const uint64_t> offsets, std::span<const std::span<std::byte>> outs) const;
  // The whole file as memory if that is free (a mapping, memory itself), else nothing. A mapped file that somebody
  // shortens raises SIGBUS on access: map only what the caller trusts.
  virtual std::optional<Buffer> map() const { return std::nullopt; }
};

// A file being written, in order. Nothing is visible under its final name before publish(); destroyed without publish()
// or abort(), it is removed.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual const std::string& path() const = 0;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // One behind the other, in one call of the system where that is possible; the default writes them one by one.
  virtual void write_pieces(std::span<const std::span<const std::byte>> pieces);
  virtual uint64_t bytes_written() const = 0;
  enum class IfExists : uint8_t { kFail, kReplace };
  struct PublishOptions {
    IfExists if_exists = IfExists::kFail;
    bool sync = false;  // fsync of the file and its folder before returning
  };
  // Makes the file visible under path() at once and whole. Throws IoError of kind kAlreadyExists if something is there
  // and if_exists is kFail.
  virtual void publish(PublishOptions options) = 0;
  void publish() { publish(PublishOptions{}); }
  // Removes what was written. Idempotent.
  virtual void abort() noexcept = 0;
};

struct FileInfo {
  std::string path;
  uint64_t size = 0;
  bool is_folder = false;
  int64_t modified_ms = 0;  // since 1970-01-01 UTC
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // `size`, where the caller knows it (a manifest does), saves asking for it; it is trusted only as far as reads past
  // the real end are errors.
  virtual std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) = 0;
  // Creates missing folders above it.
  virtual std::unique_ptr<OutputFile> open_output(std::string_view path) = 0;
  // Direct children of a folder, sorted by path. Throws IoError of kind kNotFound if there is none.
  virtual std::vector<FileInfo> list(std::string_view folder) = 0;
  // Calls `visit` for every file below `folder`, depth first.
  virtual void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) = 0;
  virtual std::optional<FileInfo> stat(std::string_view path) = 0;
  // False if nothing was there. Folders must be empty.
  virtual bool remove(std::string_view path) = 0;
};

// The whole file, in a block of the pool. Throws CorruptError if it is longer than `max_bytes`, before anything is
// allocated.
Buffer read_file(FileSystem& files, std::string_view path, MemoryPool& pool, uint64_t max_bytes);
// Writes and publishes a whole file.
void write_file(FileSystem& files, std::string_view path, std::span<const std::byte> content,
                OutputFile::PublishOptions options);

}  // namespace frazil
