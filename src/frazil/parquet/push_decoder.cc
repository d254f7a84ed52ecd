#include "frazil/parquet/push_decoder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/parquet/file_reader_impl.h"

namespace frazil::parquet {

namespace {

// Leaves the reader through its layers, which are in a state from which they can start again.
class MissingBytes final : public Error {
 public:
  MissingBytes() : Error(ErrorKind::kInternal, "bytes are not supplied yet") {}
};

}  // namespace

class PushDecoder::SuppliedFile final : public InputFile {
 public:
  SuppliedFile(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}

  const std::string& path() const override { return name_; }
  uint64_t size() const override { return size_; }

  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset) {
      throw_corrupt(offset, "{} ends before {} + {}", name_, offset, out.size());
    }
    const ByteRange range{offset, out.size()};
    require({&range, 1});
    while (!out.empty()) {
      const auto& [start, bytes] = *covering(offset);
      const auto skipped = static_cast<size_t>(offset - start);
      const size_t count = std::min(out.size(), bytes.size() - skipped);
      std::memcpy(out.data(), bytes.data() + skipped, count);
      out = out.subspan(count);
      offset += count;
    }
  }

  // Throws MissingBytes, with missing() set, unless all ranges are there.
  void require(std::span<const ByteRange> ranges) const {
    missing_.clear();
    for (const ByteRange& range : ranges) {
      if (!is_covered(range)) missing_.push_back(range);
    }
    if (missing_.empty()) return;
    std::sort(missing_.begin(), missing_.end(),
              [](const ByteRange& left, const ByteRange& right) { return left.offset < right.offset; });
    throw MissingBytes();
  }
  std::vector<ByteRange> missing() const { return missing_; }

  void supply(uint64_t offset, Buffer bytes) {
    if (offset > size_ || bytes.size() > size_ - offset) {
      throw_error(ErrorKind::kInvalidArgument, "bytes at {} + {} of a file of {}", offset, bytes.size(), size_);
    }
    if (!bytes.empty()) parts_.emplace(offset, std::move(bytes));
  }

  void keep_only(std::span<const ByteRange> ranges) {
    std::erase_if(parts_, [&](const auto& part) {
      return std::none_of(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
        return part.first < range.offset + range.length && range.offset < part.first + part.second.size();
      });
    });
  }

  uint64_t held_bytes() const {
    uint64_t bytes = 0;
    for (const auto& [offset, part] : parts_) bytes += part.size();
    return bytes;
  }

 private:
  using Parts = std::multimap<uint64_t, Buffer>;

  // A part that has the byte at `offset`, or the end. Parts are few.
  Parts::const_iterator covering(uint64_t offset) const {
    return std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) {
      return part.first <= offset && offset - part.first < part.second.size();
    });
  }
  bool is_covered(const ByteRange& range) const {
    for (uint64_t offset = range.offset; offset < range.offset + range.length;) {
      const auto part = covering(offset);
      if (part == parts_.end()) return false;
      offset = part->first + part->second.size();
    }
    return true;
  }

  const std::string name_;
  const uint64_t size_;
  Parts parts_;
  mutable std::vector<ByteRange> missing_;
};

PushDecoder::PushDecoder(std::string name, uint64_t file_size, FileReaderOptions options, MemoryPool& pool)
    : file_(std::make_shared<SuppliedFile>(std::move(name), file_size)), options_(std::move(options)), pool_(&pool) {}
PushDecoder::~PushDecoder() = default;
PushDecoder::PushDecoder(PushDecoder&&) noexcept = default;
PushDecoder& PushDecoder::operator=(PushDecoder&&) noexcept = default;

PushDecoder::Step PushDecoder::step(std::optional<RecordBatch>& out) {
  out.reset();
  try {
    if (reader_ == nullptr) {
      // The hook outlives moves of this object: it holds the file itself.
      reader_ = std::make_unique<FileReader::Impl>(file_, options_, *pool_,
                                                   [file = file_.get()](std::span<const ByteRange> ranges) {
                                                     file->require(ranges);
                                                     file->keep_only(ranges);  // the phase before is over
                                                   });
    }
    out = reader_->next();
  } catch (const MissingBytes&) {
    needed_ = file_->missing();
    return Step::kNeedBytes;
  }
  needed_.clear();
  return out ? Step::kBatch : Step::kEnd;
}

std::span<const ByteRange> PushDecoder::needed() const {
  return needed_;
}

void PushDecoder::supply(uint64_t offset, Buffer bytes) {
  file_->supply(offset, std::move(bytes));
}

uint64_t PushDecoder::supplied_bytes() const {
  return file_->held_bytes();
}

SchemaPtr PushDecoder::schema() const {
  return reader_ == nullptr ? nullptr : reader_->schema();
}

}  // namespace frazil::parquet
