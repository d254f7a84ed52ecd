#include "frazil/parquet/dictionary_array.h"

#include <algorithm>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {

DictionaryArray::DictionaryArray(const SchemaNode& leaf, DataTypePtr type, bool validate_utf8)
    : conversion_(*find_conversion(leaf, *type)),
      type_(std::move(type)),
      decoder_(conversion_, leaf.type, validate_utf8) {}

bool DictionaryArray::load(std::span<const std::byte> page, size_t count, MemorySource& memory) {
  if (count == 0) {
    clear();
    return true;
  }
  if (!values_) {
    // No block is made for a forged count.
    const auto source_width = static_cast<size_t>(conversion_.source_width);
    const size_t value_bytes = source_width > 0 ? source_width : 4;
    if (count > page.size() / value_bytes) {
      throw_corrupt(CorruptError::kNoOffset, "a dictionary of {} values in a page of {} bytes", count, page.size());
    }
    clear();
    static_cast<void>(decoder_.start(Encoding::kPlain, page));
    // Its bytes are known: one block, which needs no trimming.
    const size_t data_bytes = source_width > 0 ? count * source_width : page.size() - 4 * count;
    values_.emplace(conversion_, data_bytes);
    values_->guess_data_bytes(static_cast<double>(data_bytes) / static_cast<double>(std::max<size_t>(count, 1)));
    values_->start_stride(count, count);
  }
  if (!values_->reserve(count, memory) || !values_->decode(decoder_, memory)) return false;
  const size_t bytes = values_->bytes_in_use();
  std::shared_ptr<Array> array = values_->finish(type_, count, memory);
  array_ = std::move(array);
  array_bytes_ = bytes;
  values_.reset();
  return true;
}

void DictionaryArray::clear() {
  values_.reset();
  array_.reset();
  array_bytes_ = 0;
}

ArrayPtr DictionaryArray::array() const {
  if (array_ != nullptr) return array_;
  auto empty = std::make_shared<Array>();
  empty->type = type_;
  empty->null_count = 0;
  return empty;
}

size_t DictionaryArray::bytes_bound(size_t page_bytes, size_t count) {
  return MemoryPool::block_bytes((count + 1) * 16) + MemoryPool::block_bytes(std::max(kDataBytesMin, page_bytes));
}

}  // namespace frazil::parquet
