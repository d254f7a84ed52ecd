#include "frazil/predicate/narrow.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"
#include "frazil/predicate/narrow_fixed.h"
#include "frazil/predicate/value_set.h"

namespace frazil::predicate {

namespace {

// Calls test(row) for each set bit and clears those where it is false.
template <typename Test>
void narrow_each(int64_t row_count, uint64_t* words, Test&& test) {
  const size_t count = words_for(row_count);
  for (size_t w = 0; w < count; ++w) {
    uint64_t kept = words[w];
    for (uint64_t left = kept; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      if (!test(static_cast<int64_t>(w * 64) + bit)) kept &= ~(uint64_t{1} << bit);
    }
    words[w] = kept;
  }
}

void and_bits_at(const uint8_t* bits, size_t offset, int64_t row_count, uint64_t* words) {
  const size_t count = words_for(row_count);
  for (size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    const size_t rows = std::min<size_t>(64, static_cast<size_t>(row_count) - w * 64);
    words[w] &= load_bits(bits, offset + w * 64, rows);
  }
}

// ---- Dictionaries: each value that rows refer to is tested once ----

// A bitmap over the values of a dictionary, which narrow() clears; then the rows that point to cleared ones.
class DictionaryBits {
 public:
  DictionaryBits(const ArrayRange& range, const uint64_t* words, MemoryPool& pool)
      : range_(range), length_(range.array->dictionary->length), bits_(pool.allocate_zeroed(words_for(length_) * 8)) {
    // Words of values that nobody refers to are skipped by the test.
    visit([&](auto at) {
      const size_t count = words_for(range_.row_count);
      for (size_t w = 0; w < count; ++w) {
        for (uint64_t left = words[w]; left != 0; left &= left - 1) {
          const uint64_t index = at(static_cast<int64_t>(w * 64) + std::countr_zero(left));
          this->words()[index >> 6] |= uint64_t{1} << (index & 63);
        }
      }
    });
  }
  ArrayRange values() const { return {range_.array->dictionary.get(), 0, length_}; }
  uint64_t* words() { return bits_.as<uint64_t>(); }
  void gather(uint64_t* words) {
    const uint64_t* bits = bits_.as<uint64_t>();
    visit([&](auto at) {
      narrow_each(range_.row_count, words, [&](int64_t row) {
        const uint64_t index = at(row);
        return ((bits[index >> 6] >> (index & 63)) & 1) != 0;
      });
    });
  }

 private:
  template <typename T, typename Visit>
  void visit_as(Visit&& visit) {
    const T* indices = range_.array->values<T>() + range_.first;
    visit([indices](int64_t row) { return static_cast<uint64_t>(indices[row]); });
  }
  template <typename Visit>
  void visit(Visit&& visit) {
    switch (range_.array->type->byte_width()) {
      case 1:
        return visit_as<uint8_t>(visit);
      case 2:
        return visit_as<uint16_t>(visit);
      case 4:
        return visit_as<uint32_t>(visit);
      default:
        return visit_as<uint64_t>(visit);
    }
  }

  ArrayRange range_;
  int64_t length_;
  MutableBuffer bits_;
};

// ---- Runs: each value once, then its rows ----

template <typename Narrow>
void narrow_runs(const ArrayRange& range, uint64_t* words, MemoryPool& pool, Narrow&& narrow) {
  if (range.row_count == 0) return;
  const Array& array = *range.array;
  const int64_t first_run = run_value_index(array, range.first);
  const int64_t runs = run_value_index(array, range.first + range.row_count - 1) - first_run + 1;
  MutableBuffer bits = pool.allocate_zeroed(words_for(runs) * 8);
  fill_bits(bits.as<uint8_t>(), 0, static_cast<size_t>(runs), true);
  narrow(ArrayRange{array.children[1].get(), first_run, runs}, bits.as<uint64_t>());
  int64_t row = 0;
  for (int64_t run = 0; run < runs; ++run) {
    const int64_t end = std::min(run_end(array, first_run + run) - array.offset - range.first, range.row_count);
    if (!get_bit(bits.as<uint8_t>(), static_cast<size_t>(run))) {
      fill_bits(reinterpret_cast<uint8_t*>(words), static_cast<size_t>(row), static_cast<size_t>(end - row), false);
    }
    row = end;
  }
}

// ---- Booleans ----

void narrow_bool(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  bool of_true = false;
  bool of_false = false;
  if (test.set != nullptr) {
    const ValueSet::Index& index = test.set->index();
    of_true = index.has_true == (test.kind == TestKind::kIn);
    of_false = index.has_false == (test.kind == TestKind::kIn);
  } else {
    with_comparison(test.kind, [&](auto holds) {
      const int value = std::get<bool>(test.value) ? 1 : 0;
      of_true = holds(1, value);
      of_false = holds(0, value);
    });
  }
  const Array& array = *range.array;
  const auto offset = static_cast<size_t>(array.offset + range.first);
  const size_t count = words_for(range.row_count);
  for (size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    const size_t rows = std::min<size_t>(64, static_cast<size_t>(range.row_count) - w * 64);
    const uint64_t values = load_bits(array.buffers[1].as<uint8_t>(), offset + w * 64, rows);
    words[w] &= (of_true ? values : 0) | (of_false ? ~values : 0);
  }
}

// ---- Bytes ----

// Calls test(bytes) for the rows with a set bit.
template <typename Test>
void narrow_bytes_each(const ArrayRange& range, uint64_t* words, Test&& test) {
  const Array& array = *range.array;
  const int64_t first = array.offset + range.first;
  switch (layout_of(array.type->id())) {
    case Layout::kView: {
      const std::byte* views = array.buffers[1].data() + first * 16;
      return narrow_each(range.row_count, words, [&](int64_t row) {
        const auto view = load<BinaryView>(views + row * 16);
        if (view.size <= BinaryView::kInlineMax) {
          return test(std::string_view(view.inlined, static_cast<size_t>(view.size)));
        }
        const Buffer& buffer = array.variadic_buffers[static_cast<size_t>(view.reference.buffer_index)];
        return test(std::string_view(buffer.as<char>() + view.reference.offset, static_cast<size_t>(view.size)));
      });
    }
    case Layout::kBytes: {
      const char* data = array.buffers[2].as<char>();
      auto narrow_offsets = [&](const auto* offsets) {
        narrow_each(range.row_count, words, [&](int64_t row) {
          return test(std::string_view(data + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])));
        });
      };
      if (offset_width(array.type->id()) == 4) return narrow_offsets(array.buffers[1].as<int32_t>() + first);
      return narrow_offsets(array.buffers[1].as<int64_t>() + first);
    }
    default: {
      const auto width = static_cast<size_t>(array.type->fixed_size());
      const char* data = array.buffers[1].as<char>() + first * array.type->fixed_size();
      return narrow_each(range.row_count, words, [&](int64_t row) {
        return test(std::string_view(data + static_cast<size_t>(row) * width, width));
      });
    }
  }
}

// Whether bytes begin with, or are, a value: its ends are compared as words before anything is called.
class Beginning {
 public:
  explicit Beginning(std::string_view value) : value_(value) {
    if (value.size() >= 8) {
      head_ = load<uint64_t>(value.data());
      tail_ = load<uint64_t>(value.data() + value.size() - 8);
    } else if (value.size() >= 4) {
      head_ = load<uint32_t>(value.data());
      tail_ = load<uint32_t>(value.data() + value.size() - 4);
    }
  }
  bool begins(std::string_view each) const { return each.size() >= value_.size() && same(each); }
  bool is(std::string_view each) const { return each.size() == value_.size() && same(each); }

 private:
  bool same(std::string_view each) const {  // at least as long as the value
    const char* data = each.data();
    const size_t size = value_.size();
    if (size < 4) return std::memcmp(data, value_.data(), size) == 0;
    if (size < 8) return load<uint32_t>(data) == head_ && load<uint32_t>(data + size - 4) == tail_;
    if (load<uint64_t>(data) != head_ || load<uint64_t>(data + size - 8) != tail_) return false;
    return size <= 16 || std::memcmp(data + 8, value_.data() + 8, size - 16) == 0;
  }
  std::string_view value_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
};

// Equality with views: size and first four bytes are compared as one word before anything is fetched.
void narrow_view_equal(const ArrayRange& range, std::string_view value, bool equal, uint64_t* words) {
  BinaryView wanted;
  wanted.size = static_cast<int32_t>(value.size());
  std::memcpy(wanted.inlined, value.data(), std::min<size_t>(value.size(), 4));
  const auto head = load<uint64_t>(&wanted);
  const Beginning beginning(value);
  const Array& array = *range.array;
  const std::byte* views = array.buffers[1].data() + (array.offset + range.first) * 16;
  narrow_each(range.row_count, words, [&](int64_t row) {
    if (load<uint64_t>(views + row * 16) != head) return !equal;
    const auto view = load<BinaryView>(views + row * 16);
    const char* data = view.size <= BinaryView::kInlineMax
                           ? view.inlined
                           : array.variadic_buffers[static_cast<size_t>(view.reference.buffer_index)].as<char>() +
                                 view.reference.offset;
    return beginning.is({data, value.size()}) == equal;
  });
}

void narrow_bytes(const ArrayRange& range, const BoundTest& test, uint64_t* words) {
  if (test.set != nullptr) {
    const BytesSet& set = test.set->index().bytes;
    const bool wanted = test.kind == TestKind::kIn;
    return narrow_bytes_each(range, words, [&](std::string_view value) { return set.contains(value) == wanted; });
  }
  const std::string_view value = std::get<std::string>(test.value);
  const Beginning beginning(value);
  switch (test.kind) {
    case TestKind::kStartsWith:
      return narrow_bytes_each(range, words, [&](std::string_view each) { return beginning.begins(each); });
    case TestKind::kNotStartsWith:
      return narrow_bytes_each(range, words, [&](std::string_view each) { return !beginning.begins(each); });
    case TestKind::kEqual:
    case TestKind::kNotEqual: {
      const bool equal = test.kind == TestKind::kEqual;
      if (value.size() > INT32_MAX && layout_of(range.array->type->id()) == Layout::kView) break;
      if (layout_of(range.array->type->id()) == Layout::kView) return narrow_view_equal(range, value, equal, words);
      return narrow_bytes_each(range, words, [&](std::string_view each) { return beginning.is(each) == equal; });
    }
    default:
      break;
  }
  with_comparison(test.kind, [&](auto holds) {
    narrow_bytes_each(range, words, [&](std::string_view each) { return holds(each.compare(value), 0); });
  });
}

}  // namespace

void narrow_to_valid(const ArrayRange& range, uint64_t* words, MemoryPool& pool) {
  const Array& array = *range.array;
  switch (layout_of(array.type->id())) {
    case Layout::kNull:
      std::fill_n(words, words_for(range.row_count), 0);
      return;
    case Layout::kRunEnd:
      return narrow_runs(range, words, pool,
                         [&](const ArrayRange& values, uint64_t* bits) { narrow_to_valid(values, bits, pool); });
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      return narrow_each(range.row_count, words,
                         [&](int64_t row) { return !is_logical_null(array, range.first + row); });
    default:
      break;
  }
  if (array.has_validity() && array.null_count != 0) {
    and_bits_at(array.buffers[0].as<uint8_t>(), static_cast<size_t>(array.offset + range.first), range.row_count,
                words);
  }
  if (layout_of(array.type->id()) == Layout::kDictionary) {
    const Array& values = *array.dictionary;
    const bool may_hold_nulls = (values.has_validity() && values.null_count != 0) ||
                                !has_validity_buffer(values.type->id()) ||
                                layout_of(values.type->id()) == Layout::kDictionary;
    if (!may_hold_nulls) return;
    DictionaryBits bits(range, words, pool);
    narrow_to_valid(bits.values(), bits.words(), pool);
    bits.gather(words);
  }
}

void narrow_to_true(const ArrayRange& range, const BoundTest& test, uint64_t* words, MemoryPool& pool) {
  if (range.row_count == 0) return;
  switch (layout_of(range.array->type->id())) {
    case Layout::kNull:
      std::fill_n(words, words_for(range.row_count), 0);
      return;
    case Layout::kDictionary: {
      DictionaryBits bits(range, words, pool);
      narrow_to_true(bits.values(), test, bits.words(), pool);
      return bits.gather(words);
    }
    case Layout::kRunEnd:
      return narrow_runs(range, words, pool,
                         [&](const ArrayRange& values, uint64_t* bits) { narrow_to_true(values, test, bits, pool); });
    case Layout::kBool:
      return narrow_bool(range, test, words);
    case Layout::kBytes:
    case Layout::kView:
      return narrow_bytes(range, test, words);
    case Layout::kFixedWidth:
      if (range.array->type->id() == TypeId::kFixedSizeBinary) return narrow_bytes(range, test, words);
      return narrow_fixed(range, test, words);
    default:
      throw_error(ErrorKind::kInternal, "a test of values on {}", range.array->type->to_string());
  }
}

}  // namespace frazil::predicate
