#include "frazil/parquet/value_dictionary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

constexpr size_t kFirstSlots = 64;

// The high half of the product depends on every bit of the value.
inline size_t hash_word(uint64_t value) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(value ^ 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
  return static_cast<size_t>(static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product));
}

size_t run_of(const EncodeKernels& kernels, const uint32_t* values, size_t count) {
  return kernels.run4(values, count);
}
size_t run_of(const EncodeKernels& kernels, const uint64_t* values, size_t count) {
  return kernels.run8(values, count);
}

}  // namespace

ValueDictionary::ValueDictionary(const LeafType& type, MemoryPool& pool)
    : pool_(&pool),
      width_(physical_width(type)),
      length_bytes_(type.physical == PhysicalType::kByteArray ? 4 : 0),
      values_(pool) {
  if (width_ != 4 && width_ != 8) memo_.emplace(pool);
}

size_t ValueDictionary::memory_bytes() const {
  return memo_ ? memo_->memory_bytes() : slots_.size() + values_.capacity();
}

template <typename T>
void ValueDictionary::grow() {
  const size_t count = slots_.size() == 0 ? kFirstSlots : 2 * (mask_ + 1);
  slots_ = {};
  MutableBuffer larger = pool_->allocate(count * sizeof(uint32_t));
  std::memset(larger.data(), 0xFF, larger.size());
  mask_ = count - 1;
  auto* const slots = larger.as<uint32_t>();
  const T* const values = values_.as<T>();
  for (uint32_t number = 0; number < size_; ++number) {
    size_t slot = hash_word(values[number]) & mask_;
    while (slots[slot] != kNone) slot = (slot + 1) & mask_;
    slots[slot] = number;
  }
  slots_ = std::move(larger);
}

template <typename T>
uint32_t ValueDictionary::number_word(T value) {
  if (2 * size_t{size_} + 2 > slots_.size() / sizeof(uint32_t)) grow<T>();
  uint32_t number = 0;
  number_words(&value, 1, kNone, &number);
  return number;
}

template <typename T>
size_t ValueDictionary::number_words(const T* values, size_t count, uint32_t size_max, uint32_t* numbers) {
  constexpr size_t kRun = 16;
  const EncodeKernels& kernels = encode_kernels();
  size_t at = 0;
  // The state stays in registers until a value is new.
  while (at < count) {
    if (2 * size_t{size_} + 2 > slots_.size() / sizeof(uint32_t)) grow<T>();
    const auto* const slots = slots_.as<uint32_t>();
    const T* const known = values_.as<T>();
    const size_t mask = mask_;
    size_t slot = 0;
    bool is_new = false;
    for (; at < count; ++at) {
      const T value = values[at];
      slot = hash_word(value) & mask;
      uint32_t number = slots[slot];
      while (number != kNone && known[number] != value) {
        slot = (slot + 1) & mask;
        number = slots[slot];
      }
      if (number == kNone) {
        is_new = true;
        break;
      }
      numbers[at] = number;
      if (at % kRun == 0 && at + kRun < count && values[at + 1] == value) {
        const size_t run = run_of(kernels, values + at, count - at);
        std::fill_n(numbers + at, run, number);
        at += run - 1;
      }
    }
    if (!is_new) break;
    if (size_ >= size_max) return at;
    slots_.as<uint32_t>()[slot] = size_;
    values_.append(values[at]);
    numbers[at++] = size_++;
  }
  return count;
}

size_t ValueDictionary::number(const FixedValues& values, uint32_t size_max, EncodeBuffer& numbers) {
  auto* const target = reinterpret_cast<uint32_t*>(numbers.reserve(values.count * sizeof(uint32_t)));
  size_t done = 0;
  if (width_ == 4) {
    done = number_words(values.as<uint32_t>(), values.count, size_max, target);
  } else if (width_ == 8) {
    done = number_words(values.as<uint64_t>(), values.count, size_max, target);
  } else {
    for (; done < values.count && size_ < size_max; ++done) {
      target[done] = memo_->number_of({values.as<char>() + done * width_, width_});
      size_ = memo_->size();
    }
  }
  numbers.advance(done * sizeof(uint32_t));
  return done;
}

size_t ValueDictionary::number(const BytesValues& values, uint32_t size_max, EncodeBuffer& numbers) {
  auto* const target = reinterpret_cast<uint32_t*>(numbers.reserve(values.count * sizeof(uint32_t)));
  size_t done = 0;
  for (; done < values.count && size_ < size_max; ++done) {
    target[done] = memo_->number_of(values.value(done));
    size_ = memo_->size();
  }
  numbers.advance(done * sizeof(uint32_t));
  return done;
}

uint32_t ValueDictionary::number_of(std::string_view plain) {
  if (width_ == 4) return number_word(load<uint32_t>(reinterpret_cast<const std::byte*>(plain.data())));
  if (width_ == 8) return number_word(load<uint64_t>(reinterpret_cast<const std::byte*>(plain.data())));
  const uint32_t number = memo_->number_of(plain);
  size_ = memo_->size();
  return number;
}

void ValueDictionary::append_plain(EncodeBuffer& out) const {
  if (!memo_) return out.append(values_.data(), values_.size());
  out.reserve(plain_bytes());
  for (uint32_t number = 0; number < size_; ++number) {
    if (length_bytes_ != 0) {
      parquet::append_plain(memo_->value(number), out);
    } else {
      out.append(memo_->value(number).data(), width_);
    }
  }
}

void ValueDictionary::append_values(std::span<const uint32_t> numbers, PageValues& page) const {
  if (width_ == 0) {
    for (uint32_t number : numbers) page.append(value(number));
    return;
  }
  std::byte* target = page.fixed.extend(numbers.size() * width_);
  for (uint32_t number : numbers) {
    std::memcpy(target, value(number).data(), width_);
    target += width_;
  }
  page.count += numbers.size();
}

}  // namespace frazil::parquet
