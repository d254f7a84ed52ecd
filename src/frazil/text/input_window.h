// The part of a source that a reader of records looks at: from the start of the record at hand to the last byte read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "frazil/io/byte_source.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::text {

class InputWindow {
 public:
  // A record may be no longer than this: what makes the window larger is a single record, or a sample.
  static constexpr size_t kRecordBytesMax = size_t{64} << 20;

  InputWindow(std::unique_ptr<ByteSource> source, MemoryPool& pool) : source_(std::move(source)), pool_(&pool) {}

  // What is there and not consumed. Valid until the next call of more().
  std::string_view text() const { return {reinterpret_cast<const char*>(block_.data()) + begin_, end_ - begin_}; }
  bool at_end() const { return at_end_; }
  const ByteSource& source() const { return *source_; }
  // Of text(), in the decompressed source.
  uint64_t offset() const { return base_ + begin_; }

  // Reads further; false at the end of the source. Throws CorruptError if the text is kRecordBytesMax long and not consumed,
  // MemoryLimitError, what the source throws.
  bool more();
  // Drops the front of the text.
  void consume(size_t bytes) { begin_ += bytes; }

  // While a sample is taken nothing is dropped, so that rewind() makes text() start where the sample did.
  void begin_sample();
  void rewind();

 private:
  static constexpr size_t kReadBytes = size_t{256} << 10;

  std::unique_ptr<ByteSource> source_;
  MemoryPool* pool_;
  MutableBuffer block_;
  size_t kept_ = 0;   // bytes before it are free
  size_t begin_ = 0;  // text() is [begin_, end_)
  size_t end_ = 0;
  uint64_t base_ = 0;  // offset in the source of the block's first byte
  bool sampling_ = false;
  bool at_end_ = false;
};

}  // namespace frazil::text
