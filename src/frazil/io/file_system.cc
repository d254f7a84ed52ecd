#include "frazil/io/file_system.h"

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

void InputFile::read_ranges(std::span<const uint64_t> offsets, std::span<const std::span<std::byte>> outs) const {
  for (size_t index = 0; index < outs.size(); ++index) read_at(offsets[index], outs[index]);
}

void OutputFile::write_pieces(std::span<const std::span<const std::byte>> pieces) {
  for (const auto piece : pieces) write(piece);
}

Buffer read_file(FileSystem& files, std::string_view path, MemoryPool& pool, uint64_t max_bytes) {
  const std::shared_ptr<InputFile> file = files.open_input(path);
  const uint64_t size = file->size();
  if (size > max_bytes) {
    throw_corrupt(CorruptError::kNoOffset, "'{}' has {} bytes, at most {} are read", file->path(), size, max_bytes);
  }
  MutableBuffer content = pool.allocate(static_cast<size_t>(size));
  file->read_at(0, content.span());
  return std::move(content).freeze();
}

void write_file(FileSystem& files, std::string_view path, std::span<const std::byte> content,
                OutputFile::PublishOptions options) {
  const std::unique_ptr<OutputFile> file = files.open_output(path);
  file->write(content);
  file->publish(options);
}

}  // namespace frazil
