#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "frazil/base/bits.h"
#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

namespace {

using Parts = std::vector<ArrayPtr>;

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

class Concatenation {
 public:
  Concatenation(std::span<const ArrayPtr> parts, MemoryPool& pool)
      : parts_(parts), type_(*parts[0]->type), pool_(pool) {}

  ArrayPtr run();

 private:
  void join_validity();
  void join_bools();
  void join_fixed(int width);
  void join_bytes();
  void join_views();
  void join_lists();
  void join_list_views();
  void join_unions();
  void join_dictionaries();
  void join_runs();

  // The children `c` of all parts, each cut to what range(part) says: {first, count} in the child's own indices.
  template <typename Range>
  ArrayPtr join_children(size_t c, Range range) {
    Parts pieces;
    pieces.reserve(parts_.size());
    for (const ArrayPtr& part : parts_) {
      auto [first, count] = range(*part);
      pieces.push_back(part->children[c]->slice(first, count));
    }
    return concatenate(pieces, pool_);
  }

  // The first and the last offset in use.
  std::pair<int64_t, int64_t> offset_ends(const Array& part) const {
    if (part.length == 0) return {0, 0};
    const int width = offset_width(type_.id());
    return {offset_at(part.buffers[1], width, part.offset),
            offset_at(part.buffers[1], width, part.offset + part.length)};
  }
  // Offsets of all parts, each shifted so that it starts where the one before ends. Returns the last one.
  int64_t join_offsets();
  template <typename Offset>
  int64_t write_offsets(Offset* target) const;

  MutableBuffer allocate(int64_t count, int width) const {
    return pool_.allocate(
        multiply_or_throw(static_cast<size_t>(count), static_cast<size_t>(width), "size of an array"));
  }

  std::span<const ArrayPtr> parts_;
  const DataType& type_;
  MemoryPool& pool_;
  std::shared_ptr<Array> result_ = std::make_shared<Array>();
};

ArrayPtr Concatenation::run() {
  result_->type = parts_[0]->type;
  for (const ArrayPtr& part : parts_)
    result_->length = add_or_throw(result_->length, part->length, "length of an array");
  if (result_->length == 0) return parts_[0]->slice(0, 0);
  if (type_.id() != TypeId::kDictionary) join_validity();
  switch (layout_of(type_.id())) {
    case Layout::kNull:
      break;
    case Layout::kBool:
      join_bools();
      break;
    case Layout::kFixedWidth:
      join_fixed(type_.byte_width());
      break;
    case Layout::kBytes:
      join_bytes();
      break;
    case Layout::kView:
      join_views();
      break;
    case Layout::kList:
      join_lists();
      break;
    case Layout::kListView:
      join_list_views();
      break;
    case Layout::kFixedSizeList: {
      const int64_t size = type_.fixed_size();
      result_->children.push_back(
          join_children(0, [size](const Array& part) { return std::pair(part.offset * size, part.length * size); }));
      break;
    }
    case Layout::kStruct:
      for (size_t c = 0; c < type_.children().size(); ++c) {
        result_->children.push_back(
            join_children(c, [](const Array& part) { return std::pair(part.offset, part.length); }));
      }
      break;
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      join_unions();
      break;
    case Layout::kDictionary:
      join_dictionaries();
      break;
    case Layout::kRunEnd:
      join_runs();
      break;
  }
  return result_;
}

void Concatenation::join_validity() {
  result_->null_count = 0;
  for (const ArrayPtr& part : parts_) result_->null_count += part->count_nulls();
  if (result_->null_count == 0 || !has_validity_buffer(type_.id())) return;
  MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(static_cast<size_t>(result_->length)));
  size_t position = 0;
  for (const ArrayPtr& part : parts_) {
    const auto count = static_cast<size_t>(part->length);
    if (part->has_validity()) {
      copy_bits(part->buffers[0].as<uint8_t>(), static_cast<size_t>(part->offset), bits.as<uint8_t>(), position, count);
    } else {
      fill_bits(bits.as<uint8_t>(), position, count, true);
    }
    position += count;
  }
  result_->buffers[0] = std::move(bits).freeze();
}

void Concatenation::join_bools() {
  MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(static_cast<size_t>(result_->length)));
  size_t position = 0;
  for (const ArrayPtr& part : parts_) {
    const auto count = static_cast<size_t>(part->length);
    copy_bits(part->buffers[1].as<uint8_t>(), static_cast<size_t>(part->offset), bits.as<uint8_t>(), position, count);
    position += count;
  }
  result_->buffers[1] = std::move(bits).freeze();
}

void Concatenation::join_fixed(int width) {
  MutableBuffer values = allocate(result_->length, width);
  std::byte* target = values.data();
  for (const ArrayPtr& part : parts_) {
    const size_t bytes = static_cast<size_t>(part->length) * static_cast<size_t>(width);
    std::copy_n(part->buffers[1].data() + static_cast<size_t>(part->offset) * static_cast<size_t>(width), bytes,
                target);
    target += bytes;
  }
  result_->buffers[1] = std::move(values).freeze();
}

template <typename Offset>
int64_t Concatenation::write_offsets(Offset* target) const {
  int64_t base = 0;
  for (const ArrayPtr& part : parts_) {
    if (part->length == 0) continue;
    const Offset* offsets = part->values<Offset>();
    for (int64_t i = 0; i < part->length; ++i) *target++ = static_cast<Offset>(base + (offsets[i] - offsets[0]));
    base += offsets[part->length] - offsets[0];
  }
  *target = static_cast<Offset>(base);
  return base;
}

int64_t Concatenation::join_offsets() {
  const int width = offset_width(type_.id());
  int64_t total = 0;
  for (const ArrayPtr& part : parts_) {
    auto [first, last] = offset_ends(*part);
    total = add_or_throw(total, last - first, "size of an array");
  }
  if (width == 4 && total > kInt32Max) {
    throw_error(ErrorKind::kUnsupported, "{} is more than the 32-bit offsets of {} can hold", total, type_.to_string());
  }
  MutableBuffer offsets = allocate(result_->length + 1, width);
  if (width == 4) {
    write_offsets(offsets.as<int32_t>());
  } else {
    write_offsets(offsets.as<int64_t>());
  }
  result_->buffers[1] = std::move(offsets).freeze();
  return total;
}

void Concatenation::join_bytes() {
  const int64_t total = join_offsets();
  if (total == 0) return;
  MutableBuffer data = allocate(total, 1);
  std::byte* target = data.data();
  for (const ArrayPtr& part : parts_) {
    auto [first, last] = offset_ends(*part);
    target = std::copy_n(part->buffers[2].data() + first, last - first, target);
  }
  result_->buffers[2] = std::move(data).freeze();
}

// The data buffers are shared; only their numbers change.
void Concatenation::join_views() {
  MutableBuffer views = allocate(result_->length, 16);
  std::byte* target = views.data();
  for (const ArrayPtr& part : parts_) {
    const auto base = narrow_or_throw<int32_t>(result_->variadic_buffers.size(), "number of view buffers");
    for (int64_t i = 0; i < part->length; ++i, target += 16) {
      BinaryView view = part->is_valid(i) ? view_at(*part, part->offset + i) : BinaryView();
      if (view.size > BinaryView::kInlineMax) {
        view.reference.buffer_index = add_or_throw(view.reference.buffer_index, base, "number of view buffers");
      }
      store(target, view);
    }
    result_->variadic_buffers.insert(result_->variadic_buffers.end(), part->variadic_buffers.begin(),
                                     part->variadic_buffers.end());
  }
  result_->buffers[1] = std::move(views).freeze();
}

void Concatenation::join_lists() {
  join_offsets();
  result_->children.push_back(join_children(0, [this](const Array& part) {
    auto [first, last] = offset_ends(part);
    return std::pair(first, last - first);
  }));
}

void Concatenation::join_list_views() {
  const int width = offset_width(type_.id());
  MutableBuffer offsets = allocate(result_->length, width);
  MutableBuffer sizes = allocate(result_->length, width);
  int64_t base = 0;
  int64_t position = 0;
  for (const ArrayPtr& part : parts_) {
    for (int64_t i = 0; i < part->length; ++i, ++position) {
      auto [first, count] = part->is_valid(i) ? part->list_range(i) : std::pair<int64_t, int64_t>();
      first = add_or_throw(first, base, "offset of a list view");
      if (width == 8) {
        offsets.as<int64_t>()[position] = first;
        sizes.as<int64_t>()[position] = count;
      } else {
        if (first > kInt32Max) {
          throw_error(ErrorKind::kUnsupported, "{} elements are more than {} can count", first, type_.to_string());
        }
        offsets.as<int32_t>()[position] = static_cast<int32_t>(first);
        sizes.as<int32_t>()[position] = static_cast<int32_t>(count);
      }
    }
    base = add_or_throw(base, part->children[0]->length, "number of elements");
  }
  result_->buffers[1] = std::move(offsets).freeze();
  result_->buffers[2] = std::move(sizes).freeze();
  result_->children.push_back(
      join_children(0, [](const Array& part) { return std::pair(int64_t{0}, part.children[0]->length); }));
}

void Concatenation::join_unions() {
  MutableBuffer ids = allocate(result_->length, 1);
  std::byte* target = ids.data();
  for (const ArrayPtr& part : parts_)
    target = std::copy_n(part->buffers[0].data() + part->offset, part->length, target);
  result_->buffers[0] = std::move(ids).freeze();
  const bool dense = type_.id() == TypeId::kDenseUnion;
  for (size_t c = 0; c < type_.children().size(); ++c) {
    result_->children.push_back(join_children(c, [&](const Array& part) {
      return dense ? std::pair(int64_t{0}, part.children[c]->length) : std::pair(part.offset, part.length);
    }));
    if (dense && result_->children.back()->length > kInt32Max) {
      throw_error(ErrorKind::kUnsupported, "{} values are more than {} can count", result_->children.back()->length,
                  type_.to_string());
    }
  }
  if (!dense) return;
  MutableBuffer offsets = allocate(result_->length, 4);
  std::vector<int64_t> bases(type_.children().size());
  int64_t position = 0;
  for (const ArrayPtr& part : parts_) {
    for (int64_t i = 0; i < part->length; ++i) {
      auto child = static_cast<size_t>(union_child(*part, i));
      offsets.as<int32_t>()[position++] = static_cast<int32_t>(bases[child] + union_child_index(*part, i));
    }
    for (size_t c = 0; c < bases.size(); ++c) bases[c] += part->children[c]->length;
  }
  result_->buffers[1] = std::move(offsets).freeze();
}

// One dictionary of the values that are referred to, in order of appearance; values that have no cheap key (nested
// ones) are all kept, one dictionary behind the other.
class DictionaryUnion {
 public:
  DictionaryUnion(const DataTypePtr& value_type, MemoryPool& pool) : pool_(pool) {
    const Layout layout = layout_of(value_type->id());
    keyed_ = layout == Layout::kFixedWidth || layout == Layout::kBytes || layout == Layout::kView;
    if (keyed_) values_ = make_builder(value_type, pool);
  }

  // Starts with the next part's dictionary.
  void enter(const ArrayPtr& dictionary) {
    if (!keyed_) {
      base_ = kept_length_;
      kept_length_ += dictionary->length;
      kept_.push_back(dictionary);
    }
    current_ = dictionary.get();
    positions_.assign(keyed_ ? static_cast<size_t>(dictionary->length) : 0, -1);
  }

  // The new index of index `index` of the current dictionary, a valid value.
  int64_t map(int64_t index) {
    if (!keyed_) return base_ + index;
    int64_t& position = positions_[static_cast<size_t>(index)];
    if (position < 0) {
      auto [found, inserted] = known_.try_emplace(key(index), values_->length());
      if (inserted) values_->append_from(*current_, index);
      position = found->second;
    }
    return position;
  }

  ArrayPtr finish() { return keyed_ ? values_->finish() : concatenate(kept_, pool_); }

 private:
  std::string_view key(int64_t index) const {
    if (is_bytes(current_->type->id())) return current_->bytes_value(index);
    auto width = static_cast<size_t>(current_->type->byte_width());
    return current_->buffers[1].text().substr(static_cast<size_t>(current_->offset + index) * width, width);
  }

  MemoryPool& pool_;
  bool keyed_;
  std::unique_ptr<ArrayBuilder> values_;
  std::unordered_map<std::string_view, int64_t> known_;  // into the parts' dictionaries
  std::vector<int64_t> positions_;
  const Array* current_ = nullptr;
  Parts kept_;
  int64_t kept_length_ = 0;
  int64_t base_ = 0;
};

void Concatenation::join_dictionaries() {
  const ArrayPtr& first = parts_[0]->dictionary;
  if (std::all_of(parts_.begin(), parts_.end(), [&](const ArrayPtr& part) { return part->dictionary == first; })) {
    join_validity();
    join_fixed(type_.byte_width());
    result_->dictionary = first;
    return;
  }
  const auto width = static_cast<size_t>(type_.byte_width());
  const size_t bits = 8 * width - (is_signed_integer(type_.index_type()->id()) ? 1 : 0);
  DictionaryUnion dictionaries(type_.value_type(), pool_);
  MutableBuffer indices = allocate(result_->length, type_.byte_width());
  BitBuilder validity(pool_);
  std::byte* target = indices.data();
  for (const ArrayPtr& part : parts_) {
    dictionaries.enter(part->dictionary);
    for (int64_t i = 0; i < part->length; ++i, target += width) {
      const bool valid = !is_logical_null(*part, i);
      const int64_t index = valid ? dictionaries.map(dictionary_index(*part, i)) : 0;
      if (bits < 63 && (index >> bits) != 0) {
        throw_error(ErrorKind::kUnsupported, "more distinct values than {} can count", type_.to_string());
      }
      std::memcpy(target, &index, width);  // little-endian: the low bytes are the index
      validity.append(valid);
    }
  }
  result_->null_count = validity.zero_count();
  if (result_->null_count != 0) result_->buffers[0] = validity.freeze();
  result_->buffers[1] = std::move(indices).freeze();
  result_->dictionary = dictionaries.finish();
}

void Concatenation::join_runs() {
  const int width = type_.children()[0].type->byte_width();
  const int64_t end_max = std::numeric_limits<int64_t>::max() >> (64 - 8 * width);
  if (result_->length > end_max) {
    throw_error(ErrorKind::kUnsupported, "{} values are more than {} can count", result_->length, type_.to_string());
  }
  GrowingBuffer ends(pool_);
  Parts values;
  int64_t base = 0;
  int64_t run_count = 0;
  for (const ArrayPtr& part : parts_) {
    if (part->length == 0) continue;
    const int64_t first = run_value_index(*part, 0);
    const int64_t last = run_value_index(*part, part->length - 1);
    for (int64_t run = first; run <= last; ++run) {
      const int64_t end = base + std::min(run_end(*part, run) - part->offset, part->length);
      ends.append(&end, static_cast<size_t>(width));
    }
    values.push_back(part->children[1]->slice(first, last - first + 1));
    run_count += last - first + 1;
    base += part->length;
  }
  auto run_ends = std::make_shared<Array>();
  run_ends->type = type_.children()[0].type;
  run_ends->length = run_count;
  run_ends->null_count = 0;
  run_ends->buffers[1] = ends.freeze();
  result_->children = {std::move(run_ends), concatenate(values, pool_)};
}

}  // namespace

ArrayPtr concatenate(std::span<const ArrayPtr> parts, MemoryPool& pool) {
  if (parts.empty()) throw_error(ErrorKind::kInvalidArgument, "nothing to concatenate");
  for (const ArrayPtr& part : parts.subspan(1)) {
    if (part->type != parts[0]->type && !part->type->equals(*parts[0]->type)) {
      throw_error(ErrorKind::kInvalidArgument, "arrays to concatenate differ in type: {} and {}",
                  parts[0]->type->to_string(), part->type->to_string());
    }
  }
  if (parts.size() == 1) return parts[0];
  return Concatenation(parts, pool).run();
}

}  // namespace frazil
