#include "frazil/ipc/body_encoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"

namespace frazil::ipc {

namespace {

// What a compressed buffer begins with instead of its uncompressed size when it is not compressed after all.
constexpr int64_t kNotCompressed = -1;

std::span<const std::byte> padding(size_t bytes) {
  return {kEmptyBytes, bytes};
}

// The first `bytes` from `from` on. Arrays of length 0 may have empty buffers.
std::span<const std::byte> part_of(const Buffer& buffer, int64_t from, int64_t bytes) {
  if (bytes == 0) return {};
  return buffer.span().subspan(static_cast<size_t>(from), static_cast<size_t>(bytes));
}

// The range of places that values refer to.
struct UsedRange {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = 0;
  bool empty() const { return first > last; }
  void add(int64_t from, int64_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  }
  int64_t begin() const { return empty() ? 0 : first; }
  int64_t size() const { return empty() ? 0 : last - first; }
};

int64_t null_count_of(const Array& array, int64_t from, int64_t count) {
  if (array.type->id() == TypeId::kNull) return count;
  if (count == 0 || array.null_count == 0 || !array.has_validity() || !has_validity_buffer(array.type->id())) return 0;
  if (from == 0 && count == array.length && array.null_count != kUnknownNullCount) return array.null_count;
  const size_t valid = count_set_bits(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset + from),
                                      static_cast<size_t>(count));
  return count - static_cast<int64_t>(valid);
}

// Whether `buffer` has more than `count` values of `width` bytes: the array may be a part of what it was.
bool is_part(const Buffer& buffer, int64_t begin, int64_t count, int width) {
  return begin != 0 || buffer.size() > static_cast<size_t>(count) * static_cast<size_t>(width);
}

bool is_null_at(const Array& array, int64_t index) {
  return array.has_validity() && !get_bit(array.buffers[0].as<uint8_t>(), static_cast<size_t>(index));
}

template <typename Offset>
void rebase(const Offset* source, size_t count, Offset base, Offset* target) {
  for (size_t i = 0; i < count; ++i) target[i] = static_cast<Offset>(source[i] - base);
}

// The first run that ends behind `position`.
int64_t run_behind(const Array& array, int64_t position) {
  int64_t low = 0;
  int64_t high = array.children[0]->length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (run_end(array, middle) > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <typename RunEnd>
void cut_runs(const Array& array, int64_t first_run, size_t runs, int64_t begin, int64_t count, std::byte* target) {
  for (size_t i = 0; i < runs; ++i) {
    const int64_t end = std::min(run_end(array, first_run + static_cast<int64_t>(i)) - begin, count);
    const auto value = static_cast<RunEnd>(end);
    std::memcpy(target + i * sizeof(RunEnd), &value, sizeof(RunEnd));
  }
}

}  // namespace

BodyEncoder::BodyEncoder(MemoryPool& pool, const WriteOptions& options) : pool_(pool), options_(options) {
  if (options.codec != Codec::kNone) compressor_.emplace(pool);
}

void BodyEncoder::begin(size_t columns) {
  nodes_.clear();
  buffers_.clear();
  variadic_counts_.clear();
  pieces_.clear();
  // What columns without children have.
  nodes_.reserve(columns);
  buffers_.reserve(3 * columns);
  pieces_.reserve(4 * columns);
  body_bytes_ = 0;
  // Several blocks become one, as large as all of them, when one is next asked for.
  if (blocks_.size() > 1) blocks_.clear();
  block_used_ = 0;
}

void BodyEncoder::add(const Array& array, int64_t from, int64_t count) {
  const int64_t null_count = null_count_of(array, from, count);
  const int64_t begin = array.offset + from;
  const DataType& type = *array.type;
  nodes_.push_back({.length = count, .null_count = null_count});
  if (has_validity_buffer(type.id())) add_validity(array, begin, count, null_count);
  switch (layout_of(type.id())) {
    case Layout::kNull:
      return;
    case Layout::kBool:
      return add_bits(array.buffers[1], begin, count);
    case Layout::kFixedWidth:
    case Layout::kDictionary:
      return add_values(array, 1, begin, count, type.byte_width());
    case Layout::kBytes: {
      int64_t first = 0;
      int64_t last = 0;
      add_offsets(array, begin, count, first, last);
      return add_buffer(part_of(array.buffers[2], first, last - first));
    }
    case Layout::kView:
      return add_views(array, begin, count);
    case Layout::kList: {
      int64_t first = 0;
      int64_t last = 0;
      add_offsets(array, begin, count, first, last);
      return add(*array.children[0], first, last - first);
    }
    case Layout::kListView:
      return add_list_views(array, begin, count);
    case Layout::kFixedSizeList:
      return add(*array.children[0], begin * type.fixed_size(), count * type.fixed_size());
    case Layout::kStruct:
      for (const ArrayPtr& child : array.children) add(*child, begin, count);
      return;
    case Layout::kSparseUnion:
      // Until V4 all but null had a validity buffer; one without bytes says that nothing is null.
      if (options_.metadata_v4) add_buffer({});
      add_values(array, 0, begin, count, 1);
      for (const ArrayPtr& child : array.children) add(*child, begin, count);
      return;
    case Layout::kDenseUnion:
      if (options_.metadata_v4) add_buffer({});
      return add_dense_union(array, begin, count);
    case Layout::kRunEnd:
      if (options_.metadata_v4) add_buffer({});
      return add_runs(array, begin, count);
  }
}

void BodyEncoder::add_validity(const Array& array, int64_t begin, int64_t count, int64_t null_count) {
  if (null_count == 0) return add_buffer({});
  add_bits(array.buffers[0], begin, count);
}

void BodyEncoder::add_bits(const Buffer& bits, int64_t begin, int64_t count) {
  const size_t bytes = bytes_for_bits(static_cast<size_t>(count));
  if (begin % 8 == 0 || count == 0) return add_buffer(part_of(bits, begin / 8, static_cast<int64_t>(bytes)));
  std::byte* target = scratch(bytes);
  target[bytes - 1] = std::byte{0};
  copy_bits(bits.as<uint8_t>(), static_cast<size_t>(begin), reinterpret_cast<uint8_t*>(target), 0,
            static_cast<size_t>(count));
  keep(bytes);
  add_buffer({target, bytes});
}

void BodyEncoder::add_values(const Array& array, size_t index, int64_t begin, int64_t count, int width) {
  add_buffer(part_of(array.buffers[index], begin * width, count * width));
}

void BodyEncoder::add_offsets(const Array& array, int64_t begin, int64_t count, int64_t& first, int64_t& last) {
  const int width = offset_width(array.type->id());
  if (count == 0) return add_buffer({kEmptyBytes, static_cast<size_t>(width)});
  const Buffer& offsets = array.buffers[1];
  first = offset_at(offsets, width, begin);
  last = offset_at(offsets, width, begin + count);
  const std::span<const std::byte> part = part_of(offsets, begin * width, (count + 1) * width);
  if (first == 0) return add_buffer(part);
  std::byte* target = scratch(part.size());
  const size_t offset_count = static_cast<size_t>(count) + 1;
  if (width == 4) {
    rebase(offsets.as<int32_t>() + begin, offset_count, static_cast<int32_t>(first),
           reinterpret_cast<int32_t*>(target));
  } else {
    rebase(offsets.as<int64_t>() + begin, offset_count, first, reinterpret_cast<int64_t*>(target));
  }
  keep(part.size());
  add_buffer({target, part.size()});
}

void BodyEncoder::add_views(const Array& array, int64_t begin, int64_t count) {
  constexpr int kViewBytes = sizeof(BinaryView);
  variadic_counts_.push_back(static_cast<int64_t>(array.variadic_buffers.size()));
  if (!is_part(array.buffers[1], begin, count, kViewBytes)) {
    add_values(array, 1, begin, count, kViewBytes);
    for (const Buffer& data : array.variadic_buffers) add_buffer(data.span());
    return;
  }
  std::vector<UsedRange> used(array.variadic_buffers.size());
  for (int64_t i = begin; i < begin + count; ++i) {
    const BinaryView view = view_at(array, i);
    if (view.size <= BinaryView::kInlineMax || is_null_at(array, i)) continue;
    const auto& reference = view.reference;
    if (reference.buffer_index < 0 || static_cast<size_t>(reference.buffer_index) >= used.size() ||
        reference.offset < 0 ||
        static_cast<size_t>(reference.offset) + static_cast<size_t>(view.size) >
            array.variadic_buffers[static_cast<size_t>(reference.buffer_index)].size()) {
      throw_corrupt(CorruptError::kNoOffset, "view {} leads outside of its array's {} buffers", i, used.size());
    }
    used[static_cast<size_t>(reference.buffer_index)].add(reference.offset, int64_t{reference.offset} + view.size);
  }
  const bool is_rebased = std::any_of(used.begin(), used.end(), [](const auto& range) { return range.begin() != 0; });
  if (!is_rebased) {
    add_values(array, 1, begin, count, kViewBytes);
  } else {
    const size_t bytes = static_cast<size_t>(count) * kViewBytes;
    std::byte* target = scratch(bytes);
    for (int64_t i = 0; i < count; ++i) {
      BinaryView view = is_null_at(array, begin + i) ? BinaryView{} : view_at(array, begin + i);
      if (view.size > BinaryView::kInlineMax) {
        const UsedRange& range = used[static_cast<size_t>(view.reference.buffer_index)];
        view.reference.offset = static_cast<int32_t>(view.reference.offset - range.first);
      }
      std::memcpy(target + i * kViewBytes, &view, kViewBytes);
    }
    keep(bytes);
    add_buffer({target, bytes});
  }
  // Buffers that nothing refers to stay in the count, so that the others keep their numbers.
  for (size_t i = 0; i < used.size(); ++i) {
    add_buffer(part_of(array.variadic_buffers[i], used[i].begin(), used[i].size()));
  }
}

template <typename Offset>
std::pair<int64_t, int64_t> BodyEncoder::add_rebased_list_views(const Array& array, int64_t begin, int64_t count) {
  const int64_t limit = array.children[0]->length;
  const auto value_count = static_cast<size_t>(count);
  const Offset* offsets = array.buffers[1].as<Offset>() + begin;
  const Offset* sizes = array.buffers[2].as<Offset>() + begin;
  UsedRange used;
  for (size_t i = 0; i < value_count; ++i) {
    if (sizes[i] == 0 || is_null_at(array, begin + static_cast<int64_t>(i))) continue;
    if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > limit || sizes[i] > limit - offsets[i]) {
      throw_corrupt(CorruptError::kNoOffset, "list view {} is outside its {} elements: {} + {}", i, limit, offsets[i],
                    sizes[i]);
    }
    used.add(offsets[i], int64_t{offsets[i]} + sizes[i]);
  }
  const size_t bytes = value_count * sizeof(Offset);
  auto* new_offsets = reinterpret_cast<Offset*>(scratch(2 * round_up(bytes, 8)));
  Offset* new_sizes = new_offsets + round_up(bytes, 8) / sizeof(Offset);
  keep(2 * round_up(bytes, 8));
  for (size_t i = 0; i < value_count; ++i) {
    const bool is_empty = sizes[i] == 0 || is_null_at(array, begin + static_cast<int64_t>(i));
    new_offsets[i] = is_empty ? Offset{0} : static_cast<Offset>(offsets[i] - used.first);
    new_sizes[i] = is_empty ? Offset{0} : sizes[i];
  }
  add_buffer(std::as_bytes(std::span(new_offsets, value_count)));
  add_buffer(std::as_bytes(std::span(new_sizes, value_count)));
  return {used.begin(), used.size()};
}

void BodyEncoder::add_list_views(const Array& array, int64_t begin, int64_t count) {
  const int width = offset_width(array.type->id());
  if (!is_part(array.buffers[1], begin, count, width) && count != 0) {
    add_values(array, 1, begin, count, width);
    add_values(array, 2, begin, count, width);
    return add(*array.children[0]);
  }
  const auto [first, elements] = width == 4 ? add_rebased_list_views<int32_t>(array, begin, count)
                                            : add_rebased_list_views<int64_t>(array, begin, count);
  add(*array.children[0], first, elements);
}

void BodyEncoder::add_dense_union(const Array& array, int64_t begin, int64_t count) {
  add_values(array, 0, begin, count, 1);
  if (!is_part(array.buffers[1], begin, count, sizeof(int32_t)) && count != 0) {
    add_values(array, 1, begin, count, sizeof(int32_t));
    for (const ArrayPtr& child : array.children) add(*child);
    return;
  }
  constexpr uint8_t kNoChild = UINT8_MAX;
  std::array<uint8_t, 128> child_of;
  child_of.fill(kNoChild);
  const std::vector<int8_t>& ids = array.type->union_type_ids();
  for (size_t child = 0; child < ids.size(); ++child) {
    child_of[static_cast<uint8_t>(ids[child])] = static_cast<uint8_t>(child);
  }
  const int8_t* types = array.buffers[0].as<int8_t>() + begin;
  const int32_t* offsets = array.buffers[1].as<int32_t>() + begin;
  const auto value_count = static_cast<size_t>(count);
  std::vector<UsedRange> used(ids.size());
  for (size_t i = 0; i < value_count; ++i) {
    const uint8_t child = types[i] < 0 ? kNoChild : child_of[static_cast<uint8_t>(types[i])];
    if (child == kNoChild || offsets[i] < 0 || offsets[i] >= array.children[child]->length) {
      throw_corrupt(CorruptError::kNoOffset, "value {} of a union leads outside: type id {}, offset {}", i, types[i],
                    offsets[i]);
    }
    used[child].add(offsets[i], int64_t{offsets[i]} + 1);
  }
  const size_t bytes = value_count * sizeof(int32_t);
  auto* target = reinterpret_cast<int32_t*>(scratch(bytes));
  for (size_t i = 0; i < value_count; ++i) {
    const uint8_t child = child_of[static_cast<uint8_t>(types[i])];
    target[i] = static_cast<int32_t>(offsets[i] - used[child].first);
  }
  keep(bytes);
  add_buffer(std::as_bytes(std::span(target, value_count)));
  for (size_t child = 0; child < used.size(); ++child) {
    add(*array.children[child], used[child].begin(), used[child].size());
  }
}

void BodyEncoder::add_runs(const Array& array, int64_t begin, int64_t count) {
  const Array& ends = *array.children[0];
  const Array& values = *array.children[1];
  const int64_t last = ends.length == 0 ? 0 : run_end(array, ends.length - 1);
  if (begin == 0 && last == count) {
    add(ends);
    return add(values, 0, ends.length);
  }
  const int64_t first_run = run_behind(array, begin);
  const int64_t run_count =
      count == 0 ? 0 : std::min(run_behind(array, begin + count - 1) + 1, ends.length) - first_run;
  if (run_count < 0 || (run_count == 0 && count != 0)) {
    throw_corrupt(CorruptError::kNoOffset, "run ends do not rise");
  }
  const int width = ends.type->byte_width();
  const auto runs = static_cast<size_t>(run_count);
  const size_t bytes = runs * static_cast<size_t>(width);
  std::byte* target = scratch(bytes);
  if (width == 2) {
    cut_runs<int16_t>(array, first_run, runs, begin, count, target);
  } else if (width == 4) {
    cut_runs<int32_t>(array, first_run, runs, begin, count, target);
  } else {
    cut_runs<int64_t>(array, first_run, runs, begin, count, target);
  }
  keep(bytes);
  nodes_.push_back({.length = run_count, .null_count = 0});
  add_buffer({});
  add_buffer({target, bytes});
  add(values, first_run, run_count);
}

void BodyEncoder::add_piece(std::span<const std::byte> bytes) {
  pieces_.push_back(bytes);
  body_bytes_ += bytes.size();
}

void BodyEncoder::add_buffer(std::span<const std::byte> bytes) {
  const uint64_t begin = body_bytes_;
  if (!bytes.empty()) {
    if (options_.codec == Codec::kNone) {
      add_piece(bytes);
    } else {
      // The output has no room for what would not pay, so that trying ends early.
      const auto limit = static_cast<size_t>(static_cast<double>(bytes.size()) * (1 - options_.min_space_savings));
      const size_t room = std::min(limit, bytes.size() - 1);
      std::byte* target = scratch(sizeof(int64_t) + room);
      const std::optional<size_t> compressed =
          compressor_->compress(options_.codec, options_.level, bytes, {target + sizeof(int64_t), room});
      const int64_t size = compressed ? static_cast<int64_t>(bytes.size()) : kNotCompressed;
      std::memcpy(target, &size, sizeof(size));
      keep(sizeof(size) + compressed.value_or(0));
      add_piece({target, sizeof(size) + compressed.value_or(0)});
      if (!compressed) add_piece(bytes);
    }
  }
  buffers_.push_back({.offset = static_cast<int64_t>(begin), .length = static_cast<int64_t>(body_bytes_ - begin)});
  const size_t missing = round_up(body_bytes_, options_.alignment) - body_bytes_;
  if (missing != 0) add_piece(padding(missing));
}

std::byte* BodyEncoder::scratch(size_t size) {
  if (blocks_.empty() || blocks_.back().size() - block_used_ < size) {
    constexpr size_t kBlockBytes = 64 << 10;
    const size_t bytes = std::max({size, kBlockBytes, blocks_bytes_});
    if (blocks_.empty()) blocks_bytes_ = 0;
    blocks_.push_back(pool_.allocate(bytes));
    blocks_bytes_ += bytes;
    block_used_ = 0;
  }
  return blocks_.back().data() + block_used_;
}

void BodyEncoder::keep(size_t size) {
  block_used_ = std::min(round_up(block_used_ + size, 8), blocks_.back().size());
}

}  // namespace frazil::ipc
