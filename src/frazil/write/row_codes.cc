#include "frazil/write/row_codes.h"

#include <utility>

#include "frazil/base/bits.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // the loops over codes become vectors
#endif

namespace frazil::write {

namespace {

template <typename From, typename To>
void convert(const From* from, size_t count, To* to) noexcept {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

template <typename From>
void convert_to(int width, const From* from, size_t count, std::byte* to) noexcept {
  switch (width) {
    case 1:
      return convert(from, count, reinterpret_cast<uint8_t*>(to));
    case 2:
      return convert(from, count, reinterpret_cast<uint16_t*>(to));
    default:
      return convert(from, count, reinterpret_cast<uint32_t*>(to));
  }
}

int width_for(uint32_t all_bits) noexcept {
  return all_bits <= UINT8_MAX ? 1 : all_bits <= UINT16_MAX ? 2 : 4;
}

}  // namespace

RowCodesBuilder::RowCodesBuilder(int64_t row_count, MemoryPool& pool)
    : pool_(&pool), row_count_(static_cast<size_t>(row_count)), bytes_(pool.allocate(row_count_)) {
  bytes_.set_size(row_count_);
}

void RowCodesBuilder::make_room_for(uint32_t code_count) {
  const int width = code_count == 0 ? 1 : width_for(code_count - 1);
  if (width > width_) widen(width);
}

void RowCodesBuilder::widen(int width) {
  MutableBuffer wider = pool_->allocate(row_count_ * static_cast<size_t>(width));
  wider.set_size(row_count_ * static_cast<size_t>(width));
  if (width_ == 1) {
    convert_to(width, bytes_.as<uint8_t>(), row_count_, wider.data());
  } else {
    convert_to(width, bytes_.as<uint16_t>(), row_count_, wider.data());
  }
  bytes_ = std::move(wider);
  width_ = width;
}

void RowCodesBuilder::put(size_t begin, std::span<const uint32_t> codes) {
  uint32_t all_bits = 0;
  for (uint32_t code : codes) all_bits |= code;
  if (width_for(all_bits) > width_) widen(width_for(all_bits));
  convert_to(width_, codes.data(), codes.size(), bytes_.data() + begin * static_cast<size_t>(width_));
}

RowCodes RowCodesBuilder::finish() {
  return {std::move(bytes_).freeze(), width_, static_cast<int64_t>(row_count_)};
}

ArrayPtr codes_array(const RowCodes& codes, const Array& nulls_of, MemoryPool& pool) {
  auto array = std::make_shared<Array>();
  array->type = primitive(codes.width == 1 ? TypeId::kUInt8 : codes.width == 2 ? TypeId::kUInt16 : TypeId::kUInt32);
  array->length = codes.count;
  array->null_count = nulls_of.count_nulls();
  array->buffers[1] = codes.bytes;
  if (array->null_count != 0) {
    const auto count = static_cast<size_t>(codes.count);
    MutableBuffer bits = pool.allocate_zeroed(bytes_for_bits(count));
    bits.set_size(bytes_for_bits(count));
    copy_bits(nulls_of.buffers[0].as<uint8_t>(), static_cast<size_t>(nulls_of.offset), bits.as<uint8_t>(), 0, count);
    array->buffers[0] = std::move(bits).freeze();
  }
  return array;
}

}  // namespace frazil::write
