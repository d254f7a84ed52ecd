#include "frazil/columnar/filter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "frazil/base/bits.h"
#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

// Runs shorter than this on average are copied value by value.
constexpr int64_t kRunMin = 12;

// Which values: ranges that ascend, are not empty and do not touch. Those of a bitmap are made when they are asked for: where
// they would be many, positions are enough for most layouts.
class Choice {
 public:
  Choice(std::vector<IndexRange> ranges, MemoryPool& pool)
      : pool_(pool), ranges_(std::move(ranges)), run_count_(static_cast<int64_t>(ranges_.size())) {
    for (const IndexRange& range : ranges_) count_ += range.end - range.begin;
    if (!ranges_.empty()) length_ = ranges_.back().end;
  }
  // Borrows the bits.
  Choice(const uint8_t* bits, size_t bit_offset, int64_t length, MemoryPool& pool)
      : pool_(pool), bits_(bits), bit_offset_(bit_offset), length_(length) {
    uint64_t before = 0;  // 1: the bit in front of the word is 1
    for (size_t start = 0; start < static_cast<size_t>(length); start += 64) {
      const uint64_t word =
          load_bits(bits, bit_offset + start, std::min<size_t>(static_cast<size_t>(length) - start, 64));
      if (word != 0) {
        count_ += std::popcount(word);
        run_count_ += std::popcount(word & ~(word << 1 | before));
      }
      before = word >> 63;
    }
  }

  std::span<const IndexRange> ranges() {
    if (ranges_.empty() && bits_ != nullptr) {
      for_each_set_run(bits_, bit_offset_, static_cast<size_t>(length_), [&](size_t start, size_t count) {
        ranges_.push_back({static_cast<int64_t>(start), static_cast<int64_t>(start + count)});
      });
    }
    return ranges_;
  }
  int64_t count() const { return count_; }
  int64_t run_count() const { return run_count_; }
  // Whether value by value is the faster way. Positions are 32 bits wide.
  bool is_scattered() const {
    return run_count_ > 0 && count_ / run_count_ < kRunMin && length_ <= INT64_C(0xFFFFFFFF);
  }
  // Of each value, made at the first call. Requires is_scattered().
  std::span<const uint32_t> positions() {
    if (positions_.size() == 0) {
      positions_ = pool_.allocate(static_cast<size_t>(count_) * sizeof(uint32_t));
      positions_.set_size(static_cast<size_t>(count_) * sizeof(uint32_t));
      auto* target = positions_.as<uint32_t>();
      if (bits_ != nullptr) {
        for_each_set_bit(bits_, bit_offset_, static_cast<size_t>(length_),
                         [&](size_t i) { *target++ = static_cast<uint32_t>(i); });
      } else {
        for (const IndexRange& range : ranges_) {
          for (int64_t i = range.begin; i < range.end; ++i) *target++ = static_cast<uint32_t>(i);
        }
      }
    }
    return {positions_.as<uint32_t>(), static_cast<size_t>(count_)};
  }

 private:
  MemoryPool& pool_;
  const uint8_t* bits_ = nullptr;  // nullptr: ranges_ were given
  size_t bit_offset_ = 0;
  int64_t length_ = 0;  // no chosen value is behind it
  std::vector<IndexRange> ranges_;
  int64_t run_count_ = 0;
  int64_t count_ = 0;
  MutableBuffer positions_;
};

void append_range(std::vector<IndexRange>& ranges, int64_t begin, int64_t end) {
  if (begin == end) return;
  if (!ranges.empty() && ranges.back().end == begin) {
    ranges.back().end = end;
  } else {
    ranges.push_back({begin, end});
  }
}

template <typename T>
void copy_scattered(const T* source, std::span<const uint32_t> positions, T* target) noexcept {
  for (size_t i = 0; i < positions.size(); ++i) target[i] = source[positions[i]];
}

struct Bytes16 {
  std::byte bytes[16];
};

ArrayPtr choose(const ArrayPtr& array, Choice& choice, MemoryPool& pool);

// One array, its offset already part of the positions.
class Chooser {
 public:
  Chooser(const Array& array, Choice& choice, MemoryPool& pool) : array_(array), choice_(choice), pool_(pool) {}

  ArrayPtr run() {
    result_->type = array_.type;
    result_->length = choice_.count();
    if (has_validity_buffer(array_.type->id())) choose_validity();
    switch (layout_of(array_.type->id())) {
      case Layout::kNull:
        result_->null_count = result_->length;
        break;
      case Layout::kBool:
        result_->buffers[1] = choose_bits(array_.buffers[1], nullptr);
        break;
      case Layout::kFixedWidth:
        choose_fixed(1, static_cast<size_t>(array_.type->byte_width()));
        break;
      case Layout::kDictionary:
        choose_fixed(1, static_cast<size_t>(array_.type->byte_width()));
        result_->dictionary = array_.dictionary;
        break;
      case Layout::kView:
        choose_fixed(1, sizeof(BinaryView));
        result_->variadic_buffers = array_.variadic_buffers;
        break;
      case Layout::kBytes:
        if (offset_width(array_.type->id()) == 4) {
          choose_bytes<int32_t>();
        } else {
          choose_bytes<int64_t>();
        }
        break;
      case Layout::kList:
        if (offset_width(array_.type->id()) == 4) {
          choose_lists<int32_t>();
        } else {
          choose_lists<int64_t>();
        }
        break;
      case Layout::kListView: {
        const auto width = static_cast<size_t>(offset_width(array_.type->id()));
        choose_fixed(1, width);
        choose_fixed(2, width);
        result_->children = array_.children;
        break;
      }
      case Layout::kFixedSizeList: {
        std::vector<IndexRange> elements;
        const int64_t size = array_.type->fixed_size();
        for (const IndexRange& range : choice_.ranges()) {
          append_range(elements, (array_.offset + range.begin) * size, (array_.offset + range.end) * size);
        }
        Choice inner(std::move(elements), pool_);
        result_->children.push_back(choose(array_.children[0], inner, pool_));
        break;
      }
      case Layout::kStruct:
      case Layout::kSparseUnion: {
        if (array_.type->id() == TypeId::kSparseUnion) choose_fixed(0, 1);
        for (const ArrayPtr& child : array_.children) {
          const bool is_shifted = array_.offset != 0 || child->length != array_.length;
          result_->children.push_back(
              choose(is_shifted ? child->slice(array_.offset, array_.length) : child, choice_, pool_));
        }
        break;
      }
      case Layout::kDenseUnion:
        choose_fixed(0, 1);
        choose_fixed(1, sizeof(int32_t));
        result_->children = array_.children;
        break;
      case Layout::kRunEnd:
        choose_runs();
        break;
    }
    return std::move(result_);
  }

 private:
  MutableBuffer allocate(int64_t count, size_t width) {
    const size_t size = multiply_or_throw(static_cast<size_t>(count), width, "size of an array");
    MutableBuffer block = pool_.allocate(size);
    block.set_size(size);
    return block;
  }

  // The chosen bits of `source`, counted from the array's offset; `ones` counts them.
  Buffer choose_bits(const Buffer& source, int64_t* ones) {
    const auto count = static_cast<size_t>(choice_.count());
    if (count == 0) return Buffer();
    MutableBuffer target = pool_.allocate(bytes_for_bits(count));
    target.set_size(bytes_for_bits(count));
    auto* bits = target.as<uint8_t>();
    bits[bytes_for_bits(count) - 1] = 0;
    const auto* from = source.as<uint8_t>();
    const auto offset = static_cast<size_t>(array_.offset);
    if (choice_.is_scattered()) {
      const std::span<const uint32_t> positions = choice_.positions();
      for (size_t start = 0; start < count; start += 64) {
        const size_t part = std::min<size_t>(64, count - start);
        uint64_t word = 0;
        for (size_t i = 0; i < part; ++i) {
          word |= uint64_t{get_bit(from, offset + positions[start + i])} << i;
        }
        store_bits(bits, start, part, word);
      }
    } else {
      size_t done = 0;
      for (const IndexRange& range : choice_.ranges()) {
        const auto size = static_cast<size_t>(range.end - range.begin);
        copy_bits(from, offset + static_cast<size_t>(range.begin), bits, done, size);
        done += size;
      }
    }
    if (ones != nullptr) *ones = static_cast<int64_t>(count_set_bits(bits, 0, count));
    return std::move(target).freeze();
  }

  void choose_validity() {
    result_->null_count = 0;
    if (!array_.has_validity() || array_.null_count == 0) return;
    int64_t valid = 0;
    Buffer validity = choose_bits(array_.buffers[0], &valid);
    result_->null_count = choice_.count() - valid;
    if (result_->null_count > 0) result_->buffers[0] = std::move(validity);
  }

  void choose_fixed(size_t buffer, size_t width) {
    MutableBuffer target = allocate(choice_.count(), width);
    const std::byte* source = array_.buffers[buffer].data() + static_cast<size_t>(array_.offset) * width;
    if (!choice_.is_scattered() || !copy_positions(source, width, target.data())) {
      std::byte* out = target.data();
      for (const IndexRange& range : choice_.ranges()) {
        const size_t size = static_cast<size_t>(range.end - range.begin) * width;
        std::memcpy(out, source + static_cast<size_t>(range.begin) * width, size);
        out += size;
      }
    }
    result_->buffers[buffer] = std::move(target).freeze();
  }

  // False for widths without a loop of their own. Values may lie unaligned, but then only wide ones do.
  bool copy_positions(const std::byte* source, size_t width, std::byte* target) {
    switch (width) {
      case 1:
        copy_scattered(reinterpret_cast<const uint8_t*>(source), choice_.positions(),
                       reinterpret_cast<uint8_t*>(target));
        return true;
      case 2:
        if (reinterpret_cast<uintptr_t>(source) % 2 != 0) return false;  // fixed-size binary has no alignment
        copy_scattered(reinterpret_cast<const uint16_t*>(source), choice_.positions(),
                       reinterpret_cast<uint16_t*>(target));
        return true;
      case 4:
        if (reinterpret_cast<uintptr_t>(source) % 4 != 0) return false;
        copy_scattered(reinterpret_cast<const uint32_t*>(source), choice_.positions(),
                       reinterpret_cast<uint32_t*>(target));
        return true;
      case 8:
        if (reinterpret_cast<uintptr_t>(source) % 8 != 0) return false;
        copy_scattered(reinterpret_cast<const uint64_t*>(source), choice_.positions(),
                       reinterpret_cast<uint64_t*>(target));
        return true;
      case 16:
        copy_scattered(reinterpret_cast<const Bytes16*>(source), choice_.positions(),
                       reinterpret_cast<Bytes16*>(target));
        return true;
      default:
        return false;
    }
  }

  // Offsets of the chosen values from 0 on; `elements` become the ranges that they cover.
  template <typename Offset>
  Buffer choose_offsets(std::vector<IndexRange>& elements) {
    MutableBuffer target = allocate(add_or_throw(choice_.count(), int64_t{1}, "length of an array"), sizeof(Offset));
    auto* ends = target.as<Offset>();
    *ends++ = 0;
    const Offset* source = array_.buffers[1].as<Offset>() + array_.offset;
    Offset end = 0;
    for (const IndexRange& range : choice_.ranges()) {
      const Offset shift = end - source[range.begin];
      for (int64_t i = range.begin; i < range.end; ++i) *ends++ = source[i + 1] + shift;
      end = source[range.end] + shift;
      append_range(elements, source[range.begin], source[range.end]);
    }
    return std::move(target).freeze();
  }

  // Value by value: most are short, and a copy of 16 bytes is a load and a store.
  template <typename Offset>
  void choose_scattered_bytes() {
    const std::span<const uint32_t> positions = choice_.positions();
    MutableBuffer offsets = allocate(add_or_throw(choice_.count(), int64_t{1}, "length of an array"), sizeof(Offset));
    const Offset* source = array_.buffers[1].as<Offset>() + array_.offset;
    auto* ends = offsets.as<Offset>();
    *ends++ = 0;
    Offset size = 0;
    for (size_t i = 0; i < positions.size(); ++i) ends[i] = size += source[positions[i] + 1] - source[positions[i]];
    if (size > 0) {
      MutableBuffer target = allocate(size, 1);
      std::byte* out = target.data();
      const std::byte* data = array_.buffers[2].data();
      const auto data_size = static_cast<Offset>(array_.buffers[2].size());
      for (const uint32_t position : positions) {
        const Offset begin = source[position];
        const auto length = static_cast<size_t>(source[position + 1] - begin);
        // What is behind the data of others cannot be read; what is behind the target's can be written.
        if (length <= sizeof(Bytes16) && data_size - begin >= static_cast<Offset>(sizeof(Bytes16))) {
          std::memcpy(out, data + begin, sizeof(Bytes16));
        } else {
          std::memcpy(out, data + begin, length);
        }
        out += length;
      }
      result_->buffers[2] = std::move(target).freeze();
    }
    result_->buffers[1] = std::move(offsets).freeze();
  }

  template <typename Offset>
  void choose_bytes() {
    if (choice_.is_scattered()) return choose_scattered_bytes<Offset>();
    std::vector<IndexRange> ranges;
    result_->buffers[1] = choose_offsets<Offset>(ranges);
    int64_t size = 0;
    for (const IndexRange& range : ranges) size += range.end - range.begin;
    if (size == 0) return;
    MutableBuffer target = allocate(size, 1);
    std::byte* out = target.data();
    const std::byte* source = array_.buffers[2].data();
    for (const IndexRange& range : ranges) {
      const auto bytes = static_cast<size_t>(range.end - range.begin);
      std::memcpy(out, source + range.begin, bytes);
      out += bytes;
    }
    result_->buffers[2] = std::move(target).freeze();
  }

  template <typename Offset>
  void choose_lists() {
    std::vector<IndexRange> ranges;
    result_->buffers[1] = choose_offsets<Offset>(ranges);
    Choice elements(std::move(ranges), pool_);
    result_->children.push_back(choose(array_.children[0], elements, pool_));
  }

  // Runs end where the chosen part of them does. A run that none is chosen of goes.
  void choose_runs() {
    std::vector<IndexRange> values;
    std::vector<int64_t> ends;
    int64_t done = 0;
    for (const IndexRange& range : choice_.ranges()) {
      int64_t run = run_value_index(array_, range.begin);
      for (int64_t at = range.begin; at < range.end; ++run) {
        const int64_t end = std::min(run_end(array_, run) - array_.offset, range.end);
        done += end - at;
        at = end;
        if (!values.empty() && values.back().end == run + 1) {
          ends.back() = done;  // the same run goes on behind a gap
        } else {
          append_range(values, run, run + 1);
          ends.push_back(done);
        }
      }
    }
    const DataTypePtr& ends_type = array_.children[0]->type;
    const auto width = static_cast<size_t>(ends_type->byte_width());
    MutableBuffer block = allocate(static_cast<int64_t>(ends.size()), width);
    for (size_t i = 0; i < ends.size(); ++i) std::memcpy(block.data() + i * width, &ends[i], width);  // little-endian
    auto ends_array = std::make_shared<Array>();
    ends_array->type = ends_type;
    ends_array->length = static_cast<int64_t>(ends.size());
    ends_array->null_count = 0;
    ends_array->buffers[1] = std::move(block).freeze();
    Choice chosen(std::move(values), pool_);
    result_->children = {std::move(ends_array), choose(array_.children[1], chosen, pool_)};
  }

  const Array& array_;
  Choice& choice_;
  MemoryPool& pool_;
  std::shared_ptr<Array> result_ = std::make_shared<Array>();
};

ArrayPtr choose(const ArrayPtr& array, Choice& choice, MemoryPool& pool) {
  if (choice.count() == array->length) return array;
  if (choice.run_count() == 1 && choice.count() >= array->length - choice.count()) {
    return array->slice(choice.ranges().front().begin, choice.count());
  }
  return Chooser(*array, choice, pool).run();
}

RecordBatch choose(const RecordBatch& batch, Choice& choice, MemoryPool& pool) {
  std::vector<ArrayPtr> columns;
  columns.reserve(batch.columns().size());
  for (const ArrayPtr& column : batch.columns()) columns.push_back(choose(column, choice, pool));
  return {batch.schema(), choice.count(), std::move(columns)};
}

Choice choice_of(std::span<const IndexRange> ranges, int64_t length, MemoryPool& pool) {
  std::vector<IndexRange> joined;
  int64_t end = 0;
  for (const IndexRange& range : ranges) {
    if (range.begin < end || range.end < range.begin || range.end > length) {
      throw_error(ErrorKind::kInvalidArgument, "range [{}, {}) of an array of {} values behind one that ends at {}",
                  range.begin, range.end, length, end);
    }
    append_range(joined, range.begin, range.end);
    end = range.end;
  }
  return {std::move(joined), pool};
}

}  // namespace

ArrayPtr filter(const ArrayPtr& array, const uint8_t* bits, size_t bit_offset, MemoryPool& pool) {
  Choice choice(bits, bit_offset, array->length, pool);
  return choose(array, choice, pool);
}

RecordBatch filter(const RecordBatch& batch, const uint8_t* bits, size_t bit_offset, MemoryPool& pool) {
  Choice choice(bits, bit_offset, batch.row_count(), pool);
  return choose(batch, choice, pool);
}

ArrayPtr take_ranges(const ArrayPtr& array, std::span<const IndexRange> ranges, MemoryPool& pool) {
  Choice choice = choice_of(ranges, array->length, pool);
  return choose(array, choice, pool);
}

RecordBatch take_ranges(const RecordBatch& batch, std::span<const IndexRange> ranges, MemoryPool& pool) {
  Choice choice = choice_of(ranges, batch.row_count(), pool);
  return choose(batch, choice, pool);
}

}  // namespace frazil
