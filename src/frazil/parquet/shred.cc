#include "frazil/parquet/shred.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/filter.h"
#include "frazil/columnar/layout.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

// Levels and values of so many entries stay in the second-level cache.
constexpr int64_t kPieceEntries = 32'768;

// Bytes that are overwritten as a whole, piece after piece.
class LevelBuffer {
 public:
  // The contents are undefined afterwards.
  uint8_t* resize(size_t size, MemoryPool& pool) {
    if (block_.capacity() < size || block_.data() == nullptr) {
      block_ = MutableBuffer();
      block_ = pool.allocate(size + size / 4);
    }
    block_.set_size(std::max(size, block_.size()));
    return block_.as<uint8_t>();
  }

 private:
  MutableBuffer block_;
};

// One byte a bit: byte i of the product has all bits of `bits`, of which the mask leaves bit i; the addition carries it
// to the top.
uint64_t spread_bits(uint64_t bits) noexcept {
  const uint64_t each = (bits * 0x0101010101010101U) & 0x8040201008040201U;
  return ((each + 0x00406070787C7E7FU) >> 7) & 0x0101010101010101U;
}

// Writes up to 7 bytes more. Reads no byte that has none of the bits.
void spread(const uint8_t* bits, size_t bit_offset, size_t count, uint8_t* out) noexcept {
  const uint8_t* source = bits + bit_offset / 8;
  const unsigned shift = bit_offset & 7;
  size_t i = 0;
  for (; i + 16 <= count; i += 8, ++source) {  // the byte behind has bits that are wanted
    const unsigned both = source[0] | static_cast<unsigned>(source[1]) << 8;
    store(reinterpret_cast<std::byte*>(out + i), spread_bits((both >> shift) & 0xFF));
  }
  for (size_t bit = shift; i < count; ++i, ++bit) out[i] = (source[bit >> 3] >> (bit & 7)) & 1;
}

// Entries at one node, before it is said whether the node itself is null there. Views on buffers of the levels above.
struct Frame {
  std::span<const uint8_t> definition;  // empty: each entry has `constant`, and there are no lists above
  std::span<const uint8_t> repetition;  // empty: no lists above
  uint8_t constant = 0;
  uint8_t slot_definition = 0;  // entries with that level or more have a slot in the node's array
  bool has_gaps = false;        // some entries have no slot

  bool is_constant() const { return definition.empty(); }
};

struct LevelBuffers {
  LevelBuffer definition;  // with the node's own nullness
  LevelBuffer element_definition;
  LevelBuffer element_repetition;
};

// Which elements of the child a piece of lists refers to.
struct Elements {
  bool in_order = true;  // they are [first, first + count) of the child, before its offset
  int64_t first = 0;
  int64_t count = 0;
  bool has_gaps = false;
};

ArrayPtr slice_all(const ArrayPtr& child, int64_t first, int64_t count) {
  return first == 0 && count == child->length ? child : child->slice(first, count);
}

Array plain_array(DataTypePtr type, int64_t length) {
  Array array;
  array.type = std::move(type);
  array.length = length;
  return array;
}

// Value by value, for forms that are rare and have no buffers of their own to point to.
ArrayPtr gather(const ArrayPtr& values, const Array& source, int64_t (*place)(const Array&, int64_t),
                MemoryPool& pool) {
  std::vector<ArrayPtr> parts;
  for (int64_t i = 0; i < source.length;) {
    if (source.is_null(i)) {
      int64_t count = 1;
      while (i + count < source.length && source.is_null(i + count)) ++count;
      parts.push_back(make_null_array(values->type, count, pool));
      i += count;
      continue;
    }
    const int64_t at = place(source, i);
    if (at < 0 || at >= values->length)
      throw_error(ErrorKind::kInvalidArgument, "index {} of {} values", at, values->length);
    int64_t count = 1;
    while (i + count < source.length && !source.is_null(i + count) && at + count < values->length &&
           place(source, i + count) == at + count) {
      ++count;
    }
    parts.push_back(values->slice(at, count));
    i += count;
  }
  if (parts.empty()) return values->slice(0, 0);
  return concatenate(parts, pool);
}

// Runs as a dictionary: the indices are the runs' numbers.
ArrayPtr runs_as_dictionary(const Array& runs, MemoryPool& pool) {
  MutableBuffer indices = pool.allocate(static_cast<size_t>(runs.length) * sizeof(int32_t));
  indices.set_size(static_cast<size_t>(runs.length) * sizeof(int32_t));
  auto* out = indices.as<int32_t>();
  int64_t run = runs.length > 0 ? run_value_index(runs, 0) : 0;
  for (int64_t i = 0; i < runs.length; ++i) {
    while (run_end(runs, run) <= runs.offset + i) ++run;
    out[i] = static_cast<int32_t>(run);
  }
  auto array =
      std::make_shared<Array>(plain_array(dictionary(primitive(TypeId::kInt32), runs.children[1]->type), runs.length));
  array->null_count = 0;
  array->buffers[1] = std::move(indices).freeze();
  array->dictionary = runs.children[1];
  return array;
}

// The same values with a validity of their own, where dictionaries and runs have a null for a value. Runs become
// dictionaries; those of nested values, and dictionaries of dictionaries, become their values.
ArrayPtr without_runs(const ArrayPtr& array, MemoryPool& pool) {
  ArrayPtr at = array;
  for (;;) {
    if (at->type->id() == TypeId::kRunEndEncoded) {
      const Array& values = *at->children[1];
      const Layout layout = layout_of(values.type->id());
      const bool is_leaf = layout == Layout::kBool || layout == Layout::kFixedWidth || layout == Layout::kBytes ||
                           layout == Layout::kView || layout == Layout::kNull;
      at = is_leaf ? runs_as_dictionary(*at, pool) : gather(at->children[1], *at, run_value_index, pool);
    } else if (at->type->id() == TypeId::kDictionary) {
      const Layout layout = layout_of(at->dictionary->type->id());
      const bool is_leaf = layout == Layout::kBool || layout == Layout::kFixedWidth || layout == Layout::kBytes ||
                           layout == Layout::kView || layout == Layout::kNull;
      if (is_leaf) return at;
      at = gather(at->dictionary, *at, dictionary_index, pool);
    } else {
      return at;
    }
  }
}

int64_t list_length(const Array& lists, int64_t index) {
  return lists.list_range(index).second;
}

}  // namespace

class Shredder::Impl {
 public:
  Impl(const WriteSchema& schema, MemoryPool& pool) : schema_(schema), pool_(pool) {}

  void shred(size_t column, const Array& array, const Sink& sink, int64_t first_row) {
    const auto node = static_cast<uint32_t>(&schema_.column_node(column) - schema_.file_schema().nodes().data());
    sink_ = &sink;
    bool has_lists = false;
    for (size_t leaf = 0; leaf < schema_.file_schema().node(node).leaf_count; ++leaf) {
      has_lists = has_lists ||
                  schema_.file_schema().leaf(schema_.file_schema().node(node).first_leaf + leaf).max_repetition > 0;
    }
    const bool is_leaf = !schema_.file_schema().node(node).is_group;
    for (int64_t row = 0; row < array.length;) {
      const int64_t rows = is_leaf     ? array.length
                           : has_lists ? piece_rows(array, row)
                                       : std::min(kPieceEntries, array.length - row);
      first_row_ = first_row + row;
      ArrayPtr piece = array.slice(row, rows);
      shred_node(node, piece, Frame{}, 0);
      row += rows;
    }
  }

 private:
  const SchemaNode& node(uint32_t index) const { return schema_.file_schema().node(index); }

  // ---- Pieces ----

  // As many rows as have kPieceEntries entries below them, about.
  int64_t piece_rows(const Array& array, int64_t from) {
    int64_t rows = std::min({kPieceEntries, array.length - from, rows_before_ * 2});
    while (rows > 1 && entries_below(array, from, rows) > kPieceEntries) rows /= 2;
    rows_before_ = rows;
    return rows;
  }

  static int64_t entries_below(const Array& array, int64_t from, int64_t count) {
    int64_t most = count;
    switch (layout_of(array.type->id())) {
      case Layout::kStruct:
        for (const ArrayPtr& child : array.children) {
          most = std::max(most, entries_below(*child, array.offset + from, count));
          if (most > kPieceEntries) break;
        }
        return most;
      case Layout::kList: {
        const int width = offset_width(array.type->id());
        const int64_t first = offset_at(array.buffers[1], width, array.offset + from);
        const int64_t end = offset_at(array.buffers[1], width, array.offset + from + count);
        if (end - first > kPieceEntries || end == first) return std::max(count, end - first);
        return std::max(count, entries_below(*array.children[0], first, end - first));
      }
      case Layout::kFixedSizeList: {
        const int64_t size = array.type->fixed_size();
        if (size == 0 || count > kPieceEntries / size) return size == 0 ? count : kPieceEntries + 1;
        return std::max(count, entries_below(*array.children[0], (array.offset + from) * size, count * size));
      }
      case Layout::kListView: {
        int64_t sum = 0;
        for (int64_t i = 0; i < count && sum <= kPieceEntries; ++i) {
          const auto [first, length] = array.list_range(from + i);
          if (length > 0) sum += std::max<int64_t>(1, entries_below(*array.children[0], first, length));
        }
        return std::max(count, sum);
      }
      default:
        return count;
    }
  }

  // ---- Nodes ----

  void shred_node(uint32_t index, const ArrayPtr& stored, const Frame& frame, size_t depth) {
    const SchemaNode& at = node(index);
    if (buffers_.size() <= depth) buffers_.emplace_back();
    const ArrayPtr array = without_runs(stored, pool_);
    const Layout layout = layout_of(array->type->id());
    if (!at.is_group) {
      if (layout == Layout::kStruct || is_list(array->type->id())) throw_shape(index, *array);
      return shred_leaf(index, array, frame, depth);
    }
    const Frame own = apply_nulls(index, *array, frame, depth);
    if (at.logical.kind == Kind::kList || at.logical.kind == Kind::kMap) {
      if (!is_list(array->type->id()) || array->children.size() != 1) throw_shape(index, *array);
      return shred_list(index, *array, own, depth);
    }
    if (layout != Layout::kStruct || array->children.size() != at.child_count) throw_shape(index, *array);
    shred_fields(index, *array, own, depth);
  }

  void shred_fields(uint32_t group, const Array& array, const Frame& frame, size_t depth) {
    uint32_t child = group + 1;
    for (const ArrayPtr& field : array.children) {
      shred_node(child, slice_all(field, array.offset, array.length), frame, depth + 1);
      child += node(child).subtree_size;
    }
  }

  void shred_leaf(uint32_t index, const ArrayPtr& array, const Frame& frame, size_t depth) {
    const SchemaNode& at = node(index);
    const uint8_t present = above(at);
    LeafPiece piece;
    piece.values = array.get();
    piece.slot_definition = frame.slot_definition;
    if (frame.is_constant() && frame.constant == present) {
      if (at.repetition == Repetition::kRequired) check_no_nulls(index, *array, frame);
      (*sink_)(at.first_leaf, piece);
      return;
    }
    Frame own = apply_nulls(index, *array, frame, depth);
    if (own.is_constant()) {  // a group above is null everywhere
      uint8_t* levels = buffers_[depth].definition.resize(static_cast<size_t>(array->length), pool_);
      std::memset(levels, own.constant, static_cast<size_t>(array->length));
      own.definition = {levels, static_cast<size_t>(array->length)};
    }
    piece.definition_levels = own.definition;
    piece.repetition_levels = own.repetition;
    (*sink_)(at.first_leaf, piece);
  }

  // The level at which what is above the node is not null.
  static uint8_t above(const SchemaNode& at) {
    return static_cast<uint8_t>(at.max_definition - (at.repetition == Repetition::kRequired ? 0 : 1));
  }

  // The frame with the nullness of the node itself: entries above() that are not null rise by one.
  Frame apply_nulls(uint32_t index, const Array& array, const Frame& frame, size_t depth) {
    const SchemaNode& at = node(index);
    if (at.repetition == Repetition::kRequired) {
      check_no_nulls(index, array, frame);
      return frame;
    }
    const uint8_t present = above(at);
    Frame own = frame;
    const uint8_t* valid = validity(array);
    const auto slots = static_cast<size_t>(array.length);
    if (frame.is_constant()) {
      if (frame.constant != present) return own;
      if (valid == nullptr) {
        own.constant = at.max_definition;
        return own;
      }
      uint8_t* levels = buffers_[depth].definition.resize(slots, pool_);
      for (size_t i = 0; i < slots; ++i) levels[i] = static_cast<uint8_t>(present + valid[i]);
      own.definition = {levels, slots};
      return own;
    }
    const uint8_t* from = frame.definition.data();
    const size_t count = frame.definition.size();
    uint8_t* levels = buffers_[depth].definition.resize(count, pool_);
    own.definition = {levels, count};
    if (valid == nullptr) {
      for (size_t i = 0; i < count; ++i) levels[i] = static_cast<uint8_t>(from[i] + (from[i] == present));
    } else if (!frame.has_gaps) {
      for (size_t i = 0; i < count; ++i) {
        levels[i] = static_cast<uint8_t>(from[i] + (static_cast<unsigned>(from[i] == present) & valid[i]));
      }
    } else {
      size_t slot = 0;  // stays below `slots` + 1, and `valid` has a byte more
      for (size_t i = 0; i < count; ++i) {
        levels[i] = static_cast<uint8_t>(from[i] + (static_cast<unsigned>(from[i] == present) & valid[slot]));
        slot += from[i] >= frame.slot_definition;
      }
    }
    return own;
  }

  // One byte a slot, 1 where there is a value, and a byte more; nullptr if there is one everywhere.
  const uint8_t* validity(const Array& array) {
    const auto slots = static_cast<size_t>(array.length);
    if (array.type->id() == TypeId::kNull) {
      uint8_t* valid = valid_.resize(slots + 16, pool_);
      std::memset(valid, 0, slots + 1);
      return valid;
    }
    const bool has_null_entries =
        array.type->id() == TypeId::kDictionary &&
        (array.dictionary->type->id() == TypeId::kNull || array.dictionary->count_nulls() > 0);
    if (has_null_entries) {
      uint8_t* valid = valid_.resize(slots + 16, pool_);
      for (size_t i = 0; i < slots; ++i) valid[i] = !is_logical_null(array, static_cast<int64_t>(i));
      valid[slots] = 0;
      return valid;
    }
    if (!array.has_validity() || array.null_count == 0) return nullptr;
    uint8_t* valid = valid_.resize(slots + 16, pool_);
    spread(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset), slots, valid);
    valid[slots] = 0;
    return valid;
  }

  void check_no_nulls(uint32_t index, const Array& array, const Frame& frame) {
    const uint8_t present = above(node(index));
    if (frame.is_constant() && frame.constant != present) return;
    const uint8_t* valid = validity(array);
    if (valid == nullptr) return;
    if (frame.is_constant()) {
      const void* null = std::memchr(valid, 0, static_cast<size_t>(array.length));
      if (null != nullptr) throw_null(index, static_cast<const uint8_t*>(null) - valid);
      return;
    }
    int64_t row = -1;
    size_t slot = 0;
    for (size_t i = 0; i < frame.definition.size(); ++i) {
      row += frame.repetition.empty() || frame.repetition[i] == 0;
      if (frame.definition[i] == present && valid[slot] == 0) throw_null(index, row);
      slot += frame.definition[i] >= frame.slot_definition;
    }
  }

  // ---- Lists ----

  void shred_list(uint32_t index, const Array& lists, const Frame& frame, size_t depth) {
    const uint32_t repeated = index + 1;
    Frame inside;
    const Elements elements = expand(node(index).max_definition, node(repeated), lists, frame, depth, inside);
    ArrayPtr values = elements.in_order ? slice_all(lists.children[0], elements.first, elements.count)
                                        : copy_elements(node(index).max_definition, lists, frame);
    // Entries of a map are a struct of their own without a node: key and value stand in the repeated group.
    if (node(index).logical.kind == Kind::kMap) {
      if (layout_of(values->type->id()) != Layout::kStruct || values->children.size() != 2) throw_shape(index, *values);
      check_no_null_entries(index, *values, inside);
      return shred_fields(repeated, *values, inside, depth);
    }
    shred_node(repeated + 1, values, inside, depth + 1);
  }

  // One entry for each element, and one for each list without any. `present`: the level of a list that is not null.
  Elements expand(uint8_t present, const SchemaNode& repeated, const Array& lists, const Frame& frame, size_t depth,
                  Frame& inside) {
    // Enough for all elements of all slots, those of null lists too: the loop below needs no check.
    const size_t entries = frame.is_constant() ? static_cast<size_t>(lists.length) : frame.definition.size();
    const size_t most = entries + element_count_max(lists);
    uint8_t* definition = buffers_[depth].element_definition.resize(most + 1, pool_);
    uint8_t* repetition = buffers_[depth].element_repetition.resize(most + 1, pool_);
    std::memset(definition, repeated.max_definition, most + 1);
    std::memset(repetition, repeated.max_repetition, most + 1);

    Elements elements;
    size_t count = 0;
    const auto run = [&](auto range) {
      const bool constant = frame.is_constant();
      int64_t slot = 0;
      int64_t expected = -1;
      for (size_t i = 0; i < entries; ++i) {
        const uint8_t level = constant ? frame.constant : frame.definition[i];
        const bool has_slot = level >= frame.slot_definition;
        int64_t first = 0;
        int64_t length = 0;
        if (level == present) {
          std::tie(first, length) = range(slot);
          if (length > 0) {
            if (expected < 0) elements.first = first;
            elements.in_order = elements.in_order && (expected < 0 || first == expected);
            expected = first + length;
            elements.count += length;
          }
        }
        definition[count] = length > 0 ? repeated.max_definition : level;
        repetition[count] = frame.repetition.empty() ? 0 : frame.repetition[i];
        elements.has_gaps = elements.has_gaps || length == 0;
        count += static_cast<size_t>(std::max<int64_t>(length, 1));
        slot += has_slot;
      }
    };
    switch (layout_of(lists.type->id())) {
      case Layout::kList: {
        const auto by_offsets = [&](auto* offsets) {
          offsets += lists.offset;
          run([offsets](int64_t slot) {
            return std::pair<int64_t, int64_t>(offsets[slot], offsets[slot + 1] - offsets[slot]);
          });
        };
        // An array without values may have no offsets.
        if (lists.length == 0) {
          run([](int64_t) { return std::pair<int64_t, int64_t>(0, 0); });
        } else if (offset_width(lists.type->id()) == 4) {
          by_offsets(lists.buffers[1].as<int32_t>());
        } else {
          by_offsets(lists.buffers[1].as<int64_t>());
        }
        break;
      }
      default:
        run([&lists](int64_t slot) { return lists.list_range(slot); });
    }
    inside.definition = {definition, count};
    inside.repetition = {repetition, count};
    inside.slot_definition = repeated.max_definition;
    inside.has_gaps = elements.has_gaps;
    return elements;
  }

  static size_t element_count_max(const Array& lists) {
    if (lists.length == 0) return 0;
    if (layout_of(lists.type->id()) == Layout::kList) {
      const int width = offset_width(lists.type->id());
      return static_cast<size_t>(offset_at(lists.buffers[1], width, lists.offset + lists.length) -
                                 offset_at(lists.buffers[1], width, lists.offset));
    }
    if (layout_of(lists.type->id()) == Layout::kFixedSizeList) {
      return static_cast<size_t>(lists.length) * static_cast<size_t>(lists.type->fixed_size());
    }
    size_t sum = 0;
    for (int64_t i = 0; i < lists.length; ++i) sum += static_cast<size_t>(list_length(lists, i));
    return sum;
  }

  // The elements of all lists that are not null, one list after the other.
  ArrayPtr copy_elements(uint8_t present, const Array& lists, const Frame& frame) {
    std::vector<IndexRange> ranges;
    bool ascending = true;
    const size_t entries = frame.is_constant() ? static_cast<size_t>(lists.length) : frame.definition.size();
    int64_t slot = 0;
    for (size_t i = 0; i < entries; ++i) {
      const uint8_t level = frame.is_constant() ? frame.constant : frame.definition[i];
      if (level == present) {
        const auto [first, length] = lists.list_range(slot);
        if (length > 0 && !ranges.empty() && ranges.back().end == first) {
          ranges.back().end += length;
        } else if (length > 0) {
          ascending = ascending && (ranges.empty() || ranges.back().end <= first);
          ranges.push_back({first, first + length});
        }
      }
      slot += level >= frame.slot_definition;
    }
    const ArrayPtr& child = lists.children[0];
    if (ascending) return take_ranges(child, ranges, pool_);
    std::vector<ArrayPtr> parts;
    parts.reserve(ranges.size());
    for (const IndexRange& range : ranges) parts.push_back(child->slice(range.begin, range.end - range.begin));
    return concatenate(parts, pool_);
  }

  void check_no_null_entries(uint32_t index, const Array& entries, const Frame& frame) {
    if (!entries.has_validity() || entries.count_nulls() == 0) return;
    int64_t row = -1;
    int64_t slot = 0;
    for (size_t i = 0; i < frame.definition.size(); ++i) {
      row += frame.repetition[i] == 0;
      if (frame.definition[i] < frame.slot_definition) continue;
      if (entries.is_null(slot++)) throw_null(index, row);
    }
  }

  // ---- Errors ----

  [[noreturn]] void throw_null(uint32_t index, int64_t row) const {
    throw_error(ErrorKind::kInvalidArgument, "column '{}' is null in row {}, which it must not be",
                schema_.column_name(index), first_row_ + row);
  }

  [[noreturn]] void throw_shape(uint32_t index, const Array& array) const {
    throw_error(ErrorKind::kInvalidArgument, "column '{}' is given as {}, which is not of its type",
                schema_.column_name(index), array.type->to_string());
  }

  const WriteSchema& schema_;
  MemoryPool& pool_;
  const Sink* sink_ = nullptr;
  std::deque<LevelBuffers> buffers_;  // by depth
  LevelBuffer valid_;
  int64_t rows_before_ = kPieceEntries;
  int64_t first_row_ = 0;
};

Shredder::Shredder(const WriteSchema& schema, MemoryPool& pool) : impl_(std::make_unique<Impl>(schema, pool)) {}
Shredder::~Shredder() = default;
Shredder::Shredder(Shredder&&) noexcept = default;
Shredder& Shredder::operator=(Shredder&&) noexcept = default;

void Shredder::shred(size_t column, const Array& array, const Sink& sink, int64_t first_row) {
  impl_->shred(column, array, sink, first_row);
}

}  // namespace frazil::parquet
