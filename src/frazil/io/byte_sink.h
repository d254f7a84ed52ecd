// Where bytes go in order: memory, a file that is published at its end, an open descriptor. The counterpart of a source of
// bytes; whoever writes hands over pieces as they lie, so that nothing need be put together first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frazil/io/file_system.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

// One thread at a time. After an exception of write() nothing more may be written.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // For messages: a path, "standard output", "memory".
  virtual const std::string& name() const = 0;
  // All pieces, one behind the other; they may be empty. Borrows them for the call. Throws IoError, MemoryLimitError.
  virtual void write(std::span<const std::span<const std::byte>> pieces) = 0;
  void write(std::span<const std::byte> bytes) { write(std::span(&bytes, 1)); }
  // The end: what was written becomes visible where the sink is a file. Nothing may be written afterwards.
  virtual void finish() = 0;

 protected:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
};

// A block of the pool, which outlives the sink. Each byte is copied once while the block is large enough: a first write gets
// what it needs and a few KiB, a block that is full is doubled.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(MemoryPool& pool) : pool_(pool) {}
  const std::string& name() const override;
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>> pieces) override;
  void finish() override {}
  size_t size() const { return block_.size(); }
  // What was written. The sink is empty afterwards and may be written again.
  Buffer take();

 private:
  MemoryPool& pool_;
  MutableBuffer block_;
};

// Publishes the file at finish(); destroyed without, the file is removed.
std::unique_ptr<ByteSink> output_file_sink(std::unique_ptr<OutputFile> file, OutputFile::PublishOptions options = {});

// Of an open descriptor (pipe, socket, file), which is borrowed and not closed: pieces are gathered by writev. A pipe whose
// reader has gone gives IoError with EPIPE where SIGPIPE is ignored.
std::unique_ptr<ByteSink> descriptor_sink(int descriptor, std::string name);

}  // namespace frazil
