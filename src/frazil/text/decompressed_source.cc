#include "frazil/text/decompressed_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/codec/stream_decompressor.h"

namespace frazil::text {
namespace {

class DecompressedSource final : public ByteSource {
 public:
  DecompressedSource(std::unique_ptr<ByteSource> source, MemoryPool& pool)
      : source_(std::move(source)), input_(pool.allocate(kInputBytes)) {
    // Enough for every magic number; a short text ends earlier.
    while (end_ < 4 && fill()) {
    }
    const auto codec = detect_stream_codec(input_.span().subspan(0, end_));
    if (codec) stream_.emplace(*codec, pool);
  }

  const std::string& name() const override { return source_->name(); }
  uint64_t bytes_read() const override { return source_->bytes_read(); }
  size_t read(std::span<std::byte> out) override {
    if (!stream_) {
      if (begin_ == end_) return source_->read(out);
      const size_t size = std::min(out.size(), end_ - begin_);
      std::copy_n(input_.data() + begin_, size, out.data());
      begin_ += size;
      return size;
    }
    while (true) {
      if (begin_ == end_) {
        begin_ = end_ = 0;
        // The decompressor may still have output of what it took.
        if (!fill() && stream_->at_boundary()) return 0;
      }
      const auto step = stream_->step(input_.span().subspan(begin_, end_ - begin_), out);
      begin_ += step.consumed;
      if (step.produced > 0) return step.produced;
      if (step.consumed == 0 && begin_ == end_) {
        throw_corrupt(bytes_read(), "the compressed stream is cut: {}", name());
      }
    }
  }

 private:
  static constexpr size_t kInputBytes = size_t{128} << 10;

  // More input behind what is there; false at its end.
  bool fill() {
    const size_t got = source_->read(input_.span().subspan(end_));
    end_ += got;
    return got > 0;
  }

  std::unique_ptr<ByteSource> source_;
  MutableBuffer input_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::optional<StreamDecompressor> stream_;
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, MemoryPool& pool) {
  return std::make_unique<DecompressedSource>(std::move(source), pool);
}

}  // namespace frazil::text
