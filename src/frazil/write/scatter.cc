#include "frazil/write/scatter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"

namespace frazil::write {

namespace {

struct Bytes16 {
  std::byte bytes[16];
};

MutableBuffer allocate(int64_t count, size_t width, MemoryPool& pool) {
  const size_t size = multiply_or_throw(static_cast<size_t>(count), width, "size of an array");
  MutableBuffer block = pool.allocate(size);
  block.set_size(size);
  return block;
}

// ---- The loops: cursors move on by what is written.

template <typename T, typename Code>
void scatter_values(const T* values, const Code* partitions, int64_t count, T** cursors) noexcept {
  for (int64_t i = 0; i < count; ++i) *cursors[partitions[i]]++ = values[i];
}

template <typename From, typename To, typename Code>
void scatter_widened(const From* values, const Code* partitions, int64_t count, To** cursors) noexcept {
  for (int64_t i = 0; i < count; ++i) *cursors[partitions[i]]++ = static_cast<To>(values[i]);
}

template <typename Code>
void scatter_wide(const std::byte* values, size_t width, const Code* partitions, int64_t count,
                  std::byte** cursors) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(cursors[partitions[i]], values + static_cast<size_t>(i) * width, width);
    cursors[partitions[i]] += width;
  }
}

class ColumnScatter {
 public:
  ColumnScatter(std::span<const StagedBatch> batches, size_t column, const Placement& placement, MemoryPool& pool)
      : batches_(batches), column_(column), placement_(placement), pool_(pool) {
    rows_ = {placement.first_rows(), placement.rows() - placement.first_rows()};
  }

  std::array<ArrayPtr, 2> run(std::span<const uint32_t> positions) {
    type_ = value_type();
    if (is_gathered(*type_)) return gather(positions);
    const bool is_coded = share_dictionary();
    if (is_coded) type_ = widest_dictionary();
    for (size_t side = 0; side < 2; ++side) {
      if (rows_[side] == 0) continue;
      results_[side] = std::make_shared<Array>();
      results_[side]->type = type_;
      results_[side]->length = rows_[side];
      results_[side]->null_count = 0;
    }
    switch (layout_of(type_->id())) {
      case Layout::kNull:
        for (auto& result : results_) {
          if (result != nullptr) result->null_count = result->length;
        }
        break;
      case Layout::kBool:
        split_bits(1, scatter_bits([](const Array& array) { return array.buffers[1].as<uint8_t>(); }));
        break;
      case Layout::kBytes:
        scatter_bytes();
        break;
      case Layout::kDictionary:
        scatter_codes();
        break;
      default:
        scatter_fixed(static_cast<size_t>(type_->byte_width()));
    }
    scatter_validity();
    return {std::move(results_[0]), std::move(results_[1])};
  }

 private:
  const ArrayPtr& array(const StagedBatch& batch) const { return batch.columns[column_]; }

  DataTypePtr value_type() const {
    const DataTypePtr& type = array(batches_.front())->type;
    return type->id() == TypeId::kDictionary ? type->value_type() : type;
  }
  bool share_dictionary() const {
    const uint64_t id = batches_.front().dictionary_ids[column_];
    return id != 0 && std::all_of(batches_.begin(), batches_.end(),
                                  [&](const StagedBatch& batch) { return batch.dictionary_ids[column_] == id; });
  }
  DataTypePtr widest_dictionary() const {
    DataTypePtr widest = array(batches_.front())->type;
    for (const StagedBatch& batch : batches_) {
      if (array(batch)->type->byte_width() > widest->byte_width()) widest = array(batch)->type;
    }
    return widest;
  }

  // Pointers to the first place of each partition, `width` bytes a row, in blocks for both sides.
  template <typename T>
  std::vector<T*> cursors(std::array<MutableBuffer, 2>& blocks, size_t units_a_row = 1, size_t first_unit = 0) const {
    const std::span<const int64_t> starts = placement_.starts();
    std::vector<T*> out(starts.size(), nullptr);
    for (size_t p = 0; p < starts.size(); ++p) {
      if (starts[p] < 0) continue;
      const size_t side = starts[p] >= placement_.first_rows() ? 1 : 0;
      const auto row = static_cast<size_t>(starts[p] - (side == 0 ? 0 : placement_.first_rows()));
      if (blocks[side].data() == nullptr) continue;
      out[p] = blocks[side].as<T>() + first_unit + row * units_a_row;
    }
    return out;
  }

  std::array<MutableBuffer, 2> allocate_both(size_t width, int64_t extra_rows = 0) const {
    std::array<MutableBuffer, 2> blocks;
    for (size_t side = 0; side < 2; ++side) {
      if (rows_[side] != 0) blocks[side] = allocate(rows_[side] + extra_rows, width, pool_);
    }
    return blocks;
  }

  void set_buffer(size_t index, std::array<MutableBuffer, 2> blocks) {
    for (size_t side = 0; side < 2; ++side) {
      if (results_[side] != nullptr) results_[side]->buffers[index] = std::move(blocks[side]).freeze();
    }
  }

  // ---- Fixed width

  template <typename T>
  void scatter_typed() {
    std::array<MutableBuffer, 2> blocks = allocate_both(sizeof(T));
    std::vector<T*> places = cursors<T>(blocks);
    for (const StagedBatch& batch : batches_) {
      const T* values = array(batch)->template values<T>();
      if (batch.is_runs()) {
        for (const RowRun& run : batch.runs) {
          std::memcpy(places[run.partition], values + run.begin, static_cast<size_t>(run.count) * sizeof(T));
          places[run.partition] += run.count;
        }
      } else {
        visit_codes(batch.partitions, [&](const auto* partitions) {
          scatter_values(values, partitions, batch.row_count, places.data());
        });
      }
    }
    set_buffer(1, std::move(blocks));
  }

  void scatter_fixed(size_t width) {
    switch (width) {
      case 1:
        return scatter_typed<uint8_t>();
      case 2:
        if (is_aligned(2)) return scatter_typed<uint16_t>();
        break;
      case 4:
        if (is_aligned(4)) return scatter_typed<uint32_t>();
        break;
      case 8:
        if (is_aligned(8)) return scatter_typed<uint64_t>();
        break;
      case 16:
        return scatter_typed<Bytes16>();
      default:
        break;
    }
    std::array<MutableBuffer, 2> blocks = allocate_both(width);
    std::vector<std::byte*> places = cursors<std::byte>(blocks, width);
    for (const StagedBatch& batch : batches_) {
      const Array& source = *array(batch);
      const std::byte* values = source.buffers[1].data() + static_cast<size_t>(source.offset) * width;
      if (batch.is_runs()) {
        for (const RowRun& run : batch.runs) {
          const size_t bytes = static_cast<size_t>(run.count) * width;
          if (bytes != 0) {
            std::memcpy(places[run.partition], values + static_cast<size_t>(run.begin) * width, bytes);
          }
          places[run.partition] += bytes;
        }
      } else {
        visit_codes(batch.partitions, [&](const auto* partitions) {
          scatter_wide(values, width, partitions, batch.row_count, places.data());
        });
      }
    }
    set_buffer(1, std::move(blocks));
  }

  // Fixed-size binary of 2, 4 or 8 bytes has no alignment.
  bool is_aligned(size_t width) const {
    return std::all_of(batches_.begin(), batches_.end(), [&](const StagedBatch& batch) {
      return reinterpret_cast<uintptr_t>(array(batch)->buffers[1].data()) % width == 0;
    });
  }

  // ---- Codes of a shared dictionary

  template <typename To>
  void scatter_codes_as() {
    std::array<MutableBuffer, 2> blocks = allocate_both(sizeof(To));
    std::vector<To*> places = cursors<To>(blocks);
    for (const StagedBatch& batch : batches_) {
      const Array& source = *array(batch);
      switch (source.type->byte_width()) {
        case 1:
          scatter_codes_from(source.values<uint8_t>(), batch, places.data());
          break;
        case 2:
          scatter_codes_from(source.values<uint16_t>(), batch, places.data());
          break;
        default:
          scatter_codes_from(source.values<uint32_t>(), batch, places.data());
      }
    }
    set_buffer(1, std::move(blocks));
  }

  template <typename From, typename To>
  static void scatter_codes_from(const From* values, const StagedBatch& batch, To** places) {
    if (batch.is_runs()) {
      for (const RowRun& run : batch.runs) {
        for (int64_t i = 0; i < run.count; ++i) *places[run.partition]++ = static_cast<To>(values[run.begin + i]);
      }
    } else {
      visit_codes(batch.partitions,
                  [&](const auto* partitions) { scatter_widened(values, partitions, batch.row_count, places); });
    }
  }

  void scatter_codes() {
    switch (type_->byte_width()) {
      case 1:
        scatter_codes_as<uint8_t>();
        break;
      case 2:
        scatter_codes_as<uint16_t>();
        break;
      default:
        scatter_codes_as<uint32_t>();
    }
    for (auto& result : results_) {
      if (result != nullptr) result->dictionary = array(batches_.back())->dictionary;
    }
  }

  // ---- Text and bytes

  template <typename Visit>
  static void for_each_row(const StagedBatch& batch, Visit&& visit) {
    if (batch.is_runs()) {
      for (const RowRun& run : batch.runs) {
        for (int64_t i = run.begin; i < run.begin + run.count; ++i) visit(i, run.partition);
      }
    } else {
      visit_codes(batch.partitions, [&](const auto* partitions) {
        for (int64_t i = 0; i < batch.row_count; ++i) visit(i, uint32_t{partitions[i]});
      });
    }
  }

  // The bytes of a row, none for a null.
  static std::string_view text_at(const Array& source, int64_t row) {
    if (source.type->id() != TypeId::kDictionary) return source.bytes_value(row);
    const int64_t entry = dictionary_index(source, row);
    return source.dictionary->is_valid(entry) ? source.dictionary->bytes_value(entry) : std::string_view();
  }

  void scatter_bytes() {
    std::array<MutableBuffer, 2> offsets = allocate_both(sizeof(int32_t), 1);
    std::vector<int32_t*> lengths = cursors<int32_t>(offsets, 1, 1);
    for (const StagedBatch& batch : batches_) {
      const Array& source = *array(batch);
      const bool has_nulls = source.has_validity() && source.count_nulls() != 0;
      if (source.type->id() == TypeId::kDictionary || has_nulls) {
        for_each_row(batch, [&](int64_t row, uint32_t partition) {
          const std::string_view text = source.is_valid(row) ? text_at(source, row) : std::string_view();
          *lengths[partition]++ = static_cast<int32_t>(text.size());
        });
      } else {
        const int32_t* ends = source.buffers[1].as<int32_t>() + source.offset;
        for_each_row(batch,
                     [&](int64_t row, uint32_t partition) { *lengths[partition]++ = ends[row + 1] - ends[row]; });
      }
    }
    std::array<MutableBuffer, 2> data;
    for (size_t side = 0; side < 2; ++side) {
      if (rows_[side] == 0) continue;
      auto* ends = offsets[side].as<int32_t>();
      int64_t end = 0;
      ends[0] = 0;
      for (int64_t i = 1; i <= rows_[side]; ++i) {
        end += ends[i];
        ends[i] = static_cast<int32_t>(end);
      }
      if (end > std::numeric_limits<int32_t>::max()) {
        throw_error(ErrorKind::kUnsupported, "more than 2^31 - 1 bytes of text in the rows being distributed: {}", end);
      }
      data[side] = allocate(end, 1, pool_);
    }
    std::vector<std::byte*> places(placement_.starts().size(), nullptr);
    for (size_t p = 0; p < places.size(); ++p) {
      const int64_t start = placement_.starts()[p];
      if (start < 0) continue;
      const size_t side = start >= placement_.first_rows() ? 1 : 0;
      if (rows_[side] == 0) continue;
      places[p] = data[side].data() + offsets[side].as<int32_t>()[start - (side == 0 ? 0 : placement_.first_rows())];
    }
    const auto copy = [&](uint32_t partition, std::string_view text) {
      if (text.empty()) return;
      std::memcpy(places[partition], text.data(), text.size());
      places[partition] += text.size();
    };
    for (const StagedBatch& batch : batches_) {
      const Array& source = *array(batch);
      if (source.type->id() == TypeId::kDictionary) {
        for_each_row(batch, [&](int64_t row, uint32_t partition) {
          if (source.is_valid(row)) copy(partition, text_at(source, row));
        });
      } else {
        const int32_t* ends = source.buffers[1].as<int32_t>() + source.offset;
        const char* bytes = source.buffers[2].as<char>();
        for_each_row(batch, [&](int64_t row, uint32_t partition) {
          if (source.is_valid(row))
            copy(partition, {bytes + ends[row], static_cast<size_t>(ends[row + 1] - ends[row])});
        });
      }
    }
    set_buffer(1, std::move(offsets));
    set_buffer(2, std::move(data));
  }

  // ---- Bits

  // One bit a row over both sides: of the buffer that `bits_of` gives, all ones where it gives none.
  template <typename BitsOf>
  MutableBuffer scatter_bits(const BitsOf& bits_of) {
    const size_t bytes = bytes_for_bits(static_cast<size_t>(placement_.rows()));
    MutableBuffer block = pool_.allocate_zeroed(bytes);
    block.set_size(bytes);
    auto* out = block.template as<uint8_t>();
    std::vector<int64_t> rows(placement_.starts().begin(), placement_.starts().end());
    for (const StagedBatch& batch : batches_) {
      const Array& source = *array(batch);
      const uint8_t* bits = bits_of(source);
      const auto offset = static_cast<size_t>(source.offset);
      if (batch.is_runs()) {
        for (const RowRun& run : batch.runs) {
          const auto count = static_cast<size_t>(run.count);
          const auto target = static_cast<size_t>(rows[run.partition]);
          if (bits == nullptr) {
            fill_bits(out, target, count, true);
          } else {
            copy_bits(bits, offset + static_cast<size_t>(run.begin), out, target, count);
          }
          rows[run.partition] += run.count;
        }
      } else {
        for_each_row(batch, [&](int64_t row, uint32_t partition) {
          const auto target = static_cast<size_t>(rows[partition]++);
          const bool bit = bits == nullptr || get_bit(bits, offset + static_cast<size_t>(row));
          out[target >> 3] = static_cast<uint8_t>(out[target >> 3] | unsigned{bit} << (target & 7));
        });
      }
    }
    return block;
  }

  void split_bits(size_t index, MutableBuffer block) {
    if (rows_[1] != 0) {
      const auto count = static_cast<size_t>(rows_[1]);
      MutableBuffer second = pool_.allocate_zeroed(bytes_for_bits(count));
      second.set_size(bytes_for_bits(count));
      copy_bits(block.as<uint8_t>(), static_cast<size_t>(rows_[0]), second.as<uint8_t>(), 0, count);
      results_[1]->buffers[index] = std::move(second).freeze();
    }
    if (rows_[0] != 0) results_[0]->buffers[index] = std::move(block).freeze();
  }

  // What a row stands for: a null entry of a dictionary is a null of a plain array.
  Buffer logical_validity(const Array& source) const {
    const auto count = static_cast<size_t>(source.length);
    MutableBuffer bits = pool_.allocate_zeroed(bytes_for_bits(count));
    bits.set_size(bytes_for_bits(count));
    for (size_t i = 0; i < count; ++i) {
      assign_bit(bits.as<uint8_t>(), i, !is_logical_null(source, static_cast<int64_t>(i)));
    }
    return std::move(bits).freeze();
  }

  void scatter_validity() {
    if (!has_validity_buffer(type_->id())) return;
    const bool is_plain = type_->id() != TypeId::kDictionary;
    bool has_nulls = false;
    std::vector<Buffer> logical(batches_.size());
    for (size_t b = 0; b < batches_.size(); ++b) {
      const Array& source = *array(batches_[b]);
      has_nulls = has_nulls || (source.has_validity() && source.count_nulls() != 0);
      if (is_plain && source.type->id() == TypeId::kDictionary && source.dictionary->count_nulls() != 0) {
        logical[b] = logical_validity(source);
        has_nulls = true;
      }
    }
    if (!has_nulls) return;
    size_t b = 0;
    MutableBuffer block = scatter_bits([&](const Array& source) -> const uint8_t* {
      const Buffer& own = logical[b++];
      // scatter_bits adds the array's offset.
      if (!own.empty()) return shifted(own, source);
      return source.has_validity() ? source.buffers[0].as<uint8_t>() : nullptr;
    });
    split_bits(0, std::move(block));
    for (auto& result : results_) {
      if (result == nullptr) continue;
      result->null_count = kUnknownNullCount;
      result->null_count = result->count_nulls();
    }
  }

  // Bits from bit 0 on, moved to where the array's offset expects them.
  const uint8_t* shifted(const Buffer& bits, const Array& source) {
    if (source.offset == 0) return bits.as<uint8_t>();
    const auto offset = static_cast<size_t>(source.offset);
    const auto count = static_cast<size_t>(source.length);
    shifted_.push_back(pool_.allocate_zeroed(bytes_for_bits(offset + count)));
    shifted_.back().set_size(bytes_for_bits(offset + count));
    copy_bits(bits.as<uint8_t>(), 0, shifted_.back().as<uint8_t>(), offset, count);
    return shifted_.back().as<uint8_t>();
  }

  // ---- Nested

  std::array<ArrayPtr, 2> gather(std::span<const uint32_t> positions) {
    std::vector<ArrayPtr> parts;
    parts.reserve(batches_.size());
    for (const StagedBatch& batch : batches_) parts.push_back(array(batch));
    const ArrayPtr all = concatenate(parts, pool_);
    std::array<ArrayPtr, 2> results;
    const auto first = static_cast<size_t>(rows_[0]);
    if (rows_[0] != 0) results[0] = take(*all, positions.first(first), pool_);
    if (rows_[1] != 0) results[1] = take(*all, positions.subspan(first), pool_);
    return results;
  }

  std::span<const StagedBatch> batches_;
  size_t column_;
  const Placement& placement_;
  MemoryPool& pool_;
  DataTypePtr type_;
  std::array<int64_t, 2> rows_{};
  std::array<std::shared_ptr<Array>, 2> results_;
  std::vector<MutableBuffer> shifted_;
};

}  // namespace

Placement::Placement(std::span<const uint32_t> order, size_t first_count, std::span<const int64_t> row_counts)
    : starts_(row_counts.size(), -1) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == first_count) first_rows_ = rows_;
    starts_[order[i]] = rows_;
    rows_ += row_counts[order[i]];
  }
  if (first_count >= order.size()) first_rows_ = rows_;
}

Buffer gather_positions(std::span<const StagedBatch> batches, const Placement& placement, MemoryPool& pool) {
  if (placement.rows() > int64_t{UINT32_MAX}) {
    throw_error(ErrorKind::kUnsupported, "{} rows to be distributed at once", placement.rows());
  }
  MutableBuffer block = allocate(placement.rows(), sizeof(uint32_t), pool);
  auto* out = block.as<uint32_t>();
  std::vector<int64_t> rows(placement.starts().begin(), placement.starts().end());
  uint32_t position = 0;
  for (const StagedBatch& batch : batches) {
    if (batch.is_runs()) {
      for (const RowRun& run : batch.runs) {
        for (int64_t i = 0; i < run.count; ++i) out[rows[run.partition]++] = position++;
      }
    } else {
      visit_codes(batch.partitions, [&](const auto* partitions) {
        for (int64_t i = 0; i < batch.row_count; ++i) out[rows[partitions[i]]++] = position++;
      });
    }
  }
  return std::move(block).freeze();
}

std::array<ArrayPtr, 2> scatter(std::span<const StagedBatch> batches, size_t column, const Placement& placement,
                                std::span<const uint32_t> positions, MemoryPool& pool) {
  return ColumnScatter(batches, column, placement, pool).run(positions);
}

bool is_gathered(const DataType& type) {
  switch (layout_of(type.id())) {
    case Layout::kNull:
    case Layout::kBool:
    case Layout::kFixedWidth:
      return false;
    case Layout::kBytes:
      return offset_width(type.id()) != 4;
    case Layout::kDictionary:
      return is_gathered(*type.value_type());
    default:
      return true;
  }
}

}  // namespace frazil::write
