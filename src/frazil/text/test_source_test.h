// A source of text that gives it in pieces of chosen sizes. For tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frazil/io/byte_source.h"

namespace frazil::text {

class PieceSource final : public ByteSource {
 public:
  // Sizes are taken in turn, over and over.
  explicit PieceSource(std::string text, std::vector<size_t> sizes = {SIZE_MAX})
      : text_(std::move(text)), sizes_(std::move(sizes)) {}

  const std::string& name() const override { return name_; }
  uint64_t bytes_read() const override { return at_; }
  size_t read(std::span<std::byte> out) override {
    const size_t size = std::min({out.size(), text_.size() - at_, sizes_[turn_++ % sizes_.size()]});
    std::copy_n(reinterpret_cast<const std::byte*>(text_.data()) + at_, size, out.data());
    at_ += size;
    return size;
  }

 private:
  std::string name_ = "test.csv";
  std::string text_;
  std::vector<size_t> sizes_;
  size_t at_ = 0;
  size_t turn_ = 0;
};

}  // namespace frazil::text
