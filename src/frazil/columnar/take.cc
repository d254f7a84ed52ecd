#include "frazil/columnar/take.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "frazil/base/bits.h"
#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

template <typename T>
void gather(const std::byte* source, std::span<const uint32_t> positions, std::byte* target) noexcept {
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(target + i * sizeof(T), source + size_t{positions[i]} * sizeof(T), sizeof(T));
  }
}

class Taker {
 public:
  Taker(const Array& array, std::span<const uint32_t> positions, MemoryPool& pool)
      : array_(array), positions_(positions), pool_(pool) {}

  ArrayPtr run() {
    result_->type = array_.type;
    result_->length = static_cast<int64_t>(positions_.size());
    if (has_validity_buffer(array_.type->id())) take_validity();
    switch (layout_of(array_.type->id())) {
      case Layout::kNull:
        result_->null_count = result_->length;
        break;
      case Layout::kBool:
        result_->buffers[1] = take_bits(array_.buffers[1], nullptr);
        break;
      case Layout::kFixedWidth:
        take_fixed(1, static_cast<size_t>(array_.type->byte_width()));
        break;
      case Layout::kDictionary:
        take_fixed(1, static_cast<size_t>(array_.type->byte_width()));
        result_->dictionary = array_.dictionary;
        break;
      case Layout::kView:
        take_fixed(1, sizeof(BinaryView));
        result_->variadic_buffers = array_.variadic_buffers;
        break;
      case Layout::kBytes:
        if (offset_width(array_.type->id()) == 4) {
          take_bytes<int32_t>();
        } else {
          take_bytes<int64_t>();
        }
        break;
      case Layout::kList:
        if (offset_width(array_.type->id()) == 4) {
          take_lists<int32_t>();
        } else {
          take_lists<int64_t>();
        }
        break;
      case Layout::kListView: {
        const auto width = static_cast<size_t>(offset_width(array_.type->id()));
        take_fixed(1, width);
        take_fixed(2, width);
        result_->children = array_.children;
        break;
      }
      case Layout::kFixedSizeList:
        take_fixed_size_lists();
        break;
      case Layout::kStruct:
      case Layout::kSparseUnion:
        if (array_.type->id() == TypeId::kSparseUnion) take_fixed(0, 1);
        for (const ArrayPtr& child : array_.children) {
          ArrayPtr part = array_.offset == 0 ? child : child->slice(array_.offset, array_.length);
          result_->children.push_back(take(*part, positions_, pool_));
        }
        break;
      case Layout::kDenseUnion:
        take_fixed(0, 1);
        take_fixed(1, sizeof(int32_t));
        result_->children = array_.children;
        break;
      case Layout::kRunEnd:
        take_runs();
        break;
    }
    return std::move(result_);
  }

 private:
  MutableBuffer allocate(size_t count, size_t width) {
    const size_t size = multiply_or_throw(count, width, "size of an array");
    MutableBuffer block = pool_.allocate(size);
    block.set_size(size);
    return block;
  }

  Buffer take_bits(const Buffer& source, int64_t* ones) {
    const size_t count = positions_.size();
    if (count == 0) return Buffer();
    MutableBuffer target = allocate(bytes_for_bits(count), 1);
    auto* bits = target.as<uint8_t>();
    bits[bytes_for_bits(count) - 1] = 0;
    const auto* from = source.as<uint8_t>();
    const auto offset = static_cast<size_t>(array_.offset);
    for (size_t start = 0; start < count; start += 64) {
      const size_t part = std::min<size_t>(64, count - start);
      uint64_t word = 0;
      for (size_t i = 0; i < part; ++i) word |= uint64_t{get_bit(from, offset + positions_[start + i])} << i;
      store_bits(bits, start, part, word);
    }
    if (ones != nullptr) *ones = static_cast<int64_t>(count_set_bits(bits, 0, count));
    return std::move(target).freeze();
  }

  void take_validity() {
    result_->null_count = 0;
    if (!array_.has_validity() || array_.null_count == 0) return;
    int64_t valid = 0;
    Buffer validity = take_bits(array_.buffers[0], &valid);
    result_->null_count = result_->length - valid;
    if (result_->null_count > 0) result_->buffers[0] = std::move(validity);
  }

  void take_fixed(size_t buffer, size_t width) {
    MutableBuffer target = allocate(positions_.size(), width);
    const std::byte* source = array_.buffers[buffer].data() + static_cast<size_t>(array_.offset) * width;
    switch (width) {
      case 1:
        gather<uint8_t>(source, positions_, target.data());
        break;
      case 2:
        gather<uint16_t>(source, positions_, target.data());
        break;
      case 4:
        gather<uint32_t>(source, positions_, target.data());
        break;
      case 8:
        gather<uint64_t>(source, positions_, target.data());
        break;
      default:
        for (size_t i = 0; i < positions_.size(); ++i) {
          std::memcpy(target.data() + i * width, source + positions_[i] * width, width);
        }
    }
    result_->buffers[buffer] = std::move(target).freeze();
  }

  // A null's range may hold bytes or elements that nobody sees: they are left out.
  bool is_taken(size_t i) const { return result_->buffers[0].empty() || result_->is_valid(static_cast<int64_t>(i)); }

  // Offsets of what is taken, from 0 on, and where they end.
  template <typename Offset>
  int64_t take_offsets(const char* what) {
    MutableBuffer target = allocate(positions_.size() + 1, sizeof(Offset));
    auto* ends = target.as<Offset>();
    const Offset* source = array_.buffers[1].as<Offset>() + array_.offset;
    int64_t end = 0;
    *ends++ = 0;
    for (size_t i = 0; i < positions_.size(); ++i) {
      const uint32_t at = positions_[i];
      if (is_taken(i)) end = add_or_throw(end, int64_t{source[at + 1]} - source[at], what);
      *ends++ = static_cast<Offset>(end);
    }
    if (end > std::numeric_limits<Offset>::max()) {
      throw_error(ErrorKind::kUnsupported, "{} past the offsets of {}: {}", what, to_string(array_.type->id()), end);
    }
    result_->buffers[1] = std::move(target).freeze();
    return end;
  }

  template <typename Offset>
  void take_bytes() {
    const int64_t size = take_offsets<Offset>("bytes");
    if (size == 0) return;
    MutableBuffer target = allocate(static_cast<size_t>(size), 1);
    std::byte* out = target.data();
    const Offset* source = array_.buffers[1].as<Offset>() + array_.offset;
    const std::byte* data = array_.buffers[2].data();
    const auto* ends = result_->buffers[1].as<Offset>();
    for (size_t i = 0; i < positions_.size(); ++i) {
      const auto bytes = static_cast<size_t>(ends[i + 1] - ends[i]);
      if (bytes != 0) std::memcpy(out + ends[i], data + source[positions_[i]], bytes);
    }
    result_->buffers[2] = std::move(target).freeze();
  }

  // Appends the positions of `count` elements from `first` on, counted in the child.
  static uint32_t* append_elements(uint32_t* out, int64_t first, int64_t count) {
    if (count != 0 && first + count - 1 > int64_t{UINT32_MAX}) {
      throw_error(ErrorKind::kUnsupported, "lists of more than 2^32 elements");
    }
    for (int64_t e = 0; e < count; ++e) *out++ = static_cast<uint32_t>(first + e);
    return out;
  }

  template <typename Offset>
  void take_lists() {
    const int64_t count = take_offsets<Offset>("elements");
    MutableBuffer elements = allocate(static_cast<size_t>(count), sizeof(uint32_t));
    auto* out = elements.as<uint32_t>();
    const Offset* source = array_.buffers[1].as<Offset>() + array_.offset;
    const auto* ends = result_->buffers[1].as<Offset>();
    for (size_t i = 0; i < positions_.size(); ++i) {
      out = append_elements(out, source[positions_[i]], ends[i + 1] - ends[i]);
    }
    result_->children.push_back(
        take(*array_.children[0], {elements.as<uint32_t>(), static_cast<size_t>(count)}, pool_));
  }

  void take_fixed_size_lists() {
    const int64_t size = array_.type->fixed_size();
    const int64_t count = multiply_or_throw(result_->length, size, "elements");
    MutableBuffer elements = allocate(static_cast<size_t>(count), sizeof(uint32_t));
    auto* out = elements.as<uint32_t>();
    for (uint32_t at : positions_) out = append_elements(out, (array_.offset + at) * size, size);
    result_->children.push_back(
        take(*array_.children[0], {elements.as<uint32_t>(), static_cast<size_t>(count)}, pool_));
  }

  void take_runs() {
    const DataTypePtr& ends_type = array_.children[0]->type;
    const auto width = static_cast<size_t>(ends_type->byte_width());
    if (width < 8 && result_->length >= int64_t{1} << (8 * width - 1)) {
      throw_error(ErrorKind::kUnsupported, "{} values past the run ends of {}", result_->length,
                  to_string(ends_type->id()));
    }
    MutableBuffer runs = allocate(positions_.size(), sizeof(uint32_t));
    MutableBuffer ends = allocate(positions_.size(), width);
    for (size_t i = 0; i < positions_.size(); ++i) {
      runs.as<uint32_t>()[i] = static_cast<uint32_t>(run_value_index(array_, positions_[i]));
      const uint64_t end = i + 1;
      std::memcpy(ends.data() + i * width, &end, width);  // little-endian
    }
    auto ends_array = std::make_shared<Array>();
    ends_array->type = ends_type;
    ends_array->length = result_->length;
    ends_array->null_count = 0;
    ends_array->buffers[1] = std::move(ends).freeze();
    result_->children = {std::move(ends_array),
                         take(*array_.children[1], {runs.as<uint32_t>(), positions_.size()}, pool_)};
  }

  const Array& array_;
  std::span<const uint32_t> positions_;
  MemoryPool& pool_;
  std::shared_ptr<Array> result_ = std::make_shared<Array>();
};

}  // namespace

ArrayPtr take(const Array& array, std::span<const uint32_t> positions, MemoryPool& pool) {
  return Taker(array, positions, pool).run();
}

}  // namespace frazil
