#include "frazil/columnar/content_hash.h"

#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include <xxhash.h>

#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

// The bytes of one row. Nearly every row fits into the block and is hashed at once; what is longer goes through it
// into a streaming state, so that a row of any length takes the same memory.
class RowBytes {
 public:
  template <typename T>
  void put(T value) {
    if (sizeof(T) > block_.size() - size_) flush();
    store(block_.data() + size_, value);
    size_ += sizeof(T);
  }

  void put_bytes(const void* bytes, size_t count) {
    if (count > block_.size() - size_) {
      flush();
      if (count > block_.size()) {
        XXH64_update(state_.get(), bytes, count);
        return;
      }
    }
    if (count != 0) std::memcpy(block_.data() + size_, bytes, count);
    size_ += count;
  }

  // The hash of the row, which ends here.
  uint64_t finish() {
    if (!streaming_) {
      const uint64_t hash = XXH64(block_.data(), size_, 0);
      size_ = 0;
      return hash;
    }
    flush();
    streaming_ = false;
    return XXH64_digest(state_.get());
  }

 private:
  struct FreeState {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };

  void flush() {
    if (!streaming_) {
      if (!state_) state_.reset(XXH64_createState());
      if (!state_) throw std::bad_alloc();
      XXH64_reset(state_.get(), 0);
      streaming_ = true;
    }
    XXH64_update(state_.get(), block_.data(), size_);
    size_ = 0;
  }

  std::array<std::byte, 2048> block_;
  size_t size_ = 0;
  bool streaming_ = false;
  std::unique_ptr<XXH64_state_t, FreeState> state_;
};

uint32_t as_u32(uint64_t count) {
  if (count > UINT32_MAX) throw_error(ErrorKind::kUnsupported, "a value of {} bytes or elements has no hash", count);
  return static_cast<uint32_t>(count);
}

void put_fixed_width(RowBytes& row, const std::byte* values, int64_t position, int32_t width) {
  const std::byte* const value = values + position * width;
  switch (width) {
    case 1:
      return row.put(load<uint8_t>(value));
    case 4:
      return row.put(load<uint32_t>(value));
    case 8:
      return row.put(load<uint64_t>(value));
    default:
      return row.put_bytes(value, static_cast<size_t>(width));
  }
}

void put_nullable(RowBytes& row, const Array& array, int64_t index);

// Requires a value that is not null by what it stands for. Recurses as deep as the type, at most kMaxTypeDepth.
void put_value(RowBytes& row, const Array& array, int64_t index) {
  const auto put_text = [&] {
    const std::string_view text = array.bytes_value(index);
    row.put(as_u32(text.size()));
    row.put_bytes(text.data(), text.size());
  };
  switch (layout_of(array.type->id())) {
    case Layout::kNull:
      return;
    case Layout::kBool:
      return row.put(static_cast<uint8_t>(array.bool_value(index)));
    case Layout::kFixedWidth:
      if (array.type->id() == TypeId::kFixedSizeBinary) return put_text();
      return put_fixed_width(row, array.buffers[1].data(), array.offset + index, array.type->byte_width());
    case Layout::kBytes:
    case Layout::kView:
      return put_text();
    case Layout::kList:
    case Layout::kListView:
    case Layout::kFixedSizeList: {
      const auto [first, count] = array.list_range(index);
      const Array& elements = *array.children[0];
      row.put(as_u32(static_cast<uint64_t>(count)));
      for (int64_t i = first; i < first + count; ++i) {
        if (array.type->id() == TypeId::kMap) {
          put_value(row, elements, i);
        } else {
          put_nullable(row, elements, i);
        }
      }
      return;
    }
    case Layout::kStruct:
      for (const ArrayPtr& field : array.children) put_nullable(row, *field, array.offset + index);
      return;
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      row.put(array.buffers[0].as<int8_t>()[array.offset + index]);
      return put_value(row, *array.children[static_cast<size_t>(union_child(array, index))],
                       union_child_index(array, index));
    case Layout::kDictionary:
      return put_value(row, *array.dictionary, dictionary_index(array, index));
    case Layout::kRunEnd:
      return put_value(row, *array.children[1], run_value_index(array, index));
  }
}

void put_nullable(RowBytes& row, const Array& array, int64_t index) {
  const bool null = is_logical_null(array, index);
  row.put(static_cast<uint8_t>(null));
  if (!null) put_value(row, array, index);
}

}  // namespace

void ContentHash::add(const RecordBatch& batch) {
  RowBytes row;
  for (int64_t r = 0; r < batch.row_count(); ++r) {
    uint32_t index = 0;
    for (const ArrayPtr& column : batch.columns()) {
      row.put(index++);
      put_nullable(row, *column, r);
    }
    sum_ += row.finish();
  }
  rows_ += batch.row_count();
}

void ContentHash::add(const ContentHash& other) {
  sum_ += other.sum_;
  rows_ += other.rows_;
}

std::string ContentHash::to_string() const {
  return message("{:016x}", sum_);
}

}  // namespace frazil
