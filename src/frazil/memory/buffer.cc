#include "frazil/memory/buffer.h"

#include <memory>

#include "frazil/base/error.h"

namespace frazil {

namespace {

class StringOwner final : public BufferOwner {
 public:
  explicit StringOwner(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class ForeignOwner final : public BufferOwner {
 public:
  explicit ForeignOwner(std::function<void()> release) : release_(std::move(release)) {}

 private:
  void destroy() noexcept override {
    if (release_ != nullptr) release_();
    delete this;
  }
  std::function<void()> release_;
};

}  // namespace

Buffer Buffer::from_string(std::string text) {
  auto owner = std::make_unique<StringOwner>(std::move(text));
  const std::string& owned = owner->text();
  return adopt(reinterpret_cast<const std::byte*>(owned.data()), owned.size(), owner.release());
}

Buffer Buffer::foreign(const void* data, size_t size, std::function<void()> release) {
  return adopt(static_cast<const std::byte*>(data), size, new ForeignOwner(std::move(release)));
}

Buffer Buffer::borrow(std::span<const std::byte> data) noexcept {
  return adopt(data.data(), data.size(), nullptr);
}

Buffer Buffer::slice(size_t offset, size_t length) const {
  if (offset > size_ || length > size_ - offset) {
    throw_error(ErrorKind::kInvalidArgument, "slice is outside of its buffer: {} + {} > {}", offset, length, size_);
  }
  Buffer part = *this;
  part.data_ += offset;
  part.size_ = length;
  return part;
}

Buffer Buffer::slice(size_t offset) const {
  return slice(offset, offset > size_ ? 0 : size_ - offset);
}

}  // namespace frazil
