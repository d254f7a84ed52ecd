// Bytes in order, whose end is found by reading: files, pipes, sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frazil/io/file_system.h"

namespace frazil {

// One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // For messages: a path, "standard input".
  virtual const std::string& name() const = 0;
  // Fills the front of `out`, at least a byte of it, and returns how many; 0 at the end. Requires `out` not to be empty.
  // Throws IoError, CorruptError.
  virtual size_t read(std::span<std::byte> out) = 0;
  // Bytes taken of the file or pipe so far, compressed as they are.
  virtual uint64_t bytes_read() const = 0;
};

std::unique_ptr<ByteSource> file_source(std::shared_ptr<const InputFile> file);
// Of an open file descriptor, which is borrowed. A pipe through which more than 64 KiB come is made to hold 1 MiB, where the
// system allows it.
std::unique_ptr<ByteSource> descriptor_source(int descriptor, std::string name);
// What was read of `rest` to see what it is, and then `rest`.
std::unique_ptr<ByteSource> resumed_source(Buffer beginning, std::unique_ptr<ByteSource> rest);
// Reads until `out` is full or the end has come. Returns how many bytes there are.
size_t read_up_to(ByteSource& source, std::span<std::byte> out);

}  // namespace frazil
