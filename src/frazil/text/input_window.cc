#include "frazil/text/input_window.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/error.h"

namespace frazil::text {

bool InputWindow::more() {
  if (at_end_) return false;
  if (!sampling_) kept_ = begin_;
  const size_t size = end_ - kept_;
  if (size >= kRecordBytesMax) throw_corrupt(offset(), "a record is longer than {} bytes", kRecordBytesMax);
  // What is kept goes to the front, of a larger block if it fills half of this one.
  if (block_.size() - end_ < kReadBytes) {
    MutableBuffer target;
    if (size + kReadBytes > block_.size()) {
      target = pool_->allocate(std::max(2 * size, 2 * kReadBytes));
      target.set_size(target.capacity());
    }
    MutableBuffer& to = target.size() > 0 ? target : block_;
    if (size > 0) std::memmove(to.data(), block_.data() + kept_, size);
    if (&to == &target) block_ = std::move(target);
    base_ += kept_;
    begin_ -= kept_;
    end_ = size;
    kept_ = 0;
  }
  const size_t got = source_->read(block_.span().subspan(end_, std::min(block_.size() - end_, kReadBytes)));
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

void InputWindow::begin_sample() {
  kept_ = begin_;
  sampling_ = true;
}

void InputWindow::rewind() {
  begin_ = kept_;
  sampling_ = false;
}

}  // namespace frazil::text
