#include "frazil/predicate/value_set.h"

#include <algorithm>
#include <bit>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::predicate {

namespace {

// A bitmap of this many bits costs no more cache than the loop's other data; larger ones must earn it by their density.
constexpr uint64_t kSmallBitmapBits = 1 << 16;
constexpr uint64_t kBitsPerKeyMax = 256;  // what a hash table takes

// A quarter full at most: most values of a column are in no list, and find a vacant slot at once.
size_t table_size(size_t count) {
  return std::bit_ceil(std::max<size_t>(4 * count, 2));
}

int shift_for(size_t slots) {
  return 64 - std::countr_zero(slots);
}

}  // namespace

KeySet::KeySet(std::vector<uint64_t> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  // Signed keys around zero lie close together too, if the numbers are taken as a circle: the range begins behind the
  // widest gap.
  size_t start = 0;
  uint64_t widest = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t gap = keys[i] - keys[i == 0 ? keys.size() - 1 : i - 1];
    if (gap > widest) {
      widest = gap;
      start = i;
    }
  }
  const uint64_t range = keys.empty() ? 0 : keys[start == 0 ? keys.size() - 1 : start - 1] - keys[start];
  if (range < std::max<uint64_t>(kSmallBitmapBits, kBitsPerKeyMax * keys.size())) {
    least_ = keys.empty() ? 0 : keys[start];
    bit_count_ = keys.empty() ? 0 : range + 1;
    bitmap_.assign(range / 64 + 1, 0);
    for (uint64_t key : keys) bitmap_[(key - least_) >> 6] |= uint64_t{1} << ((key - least_) & 63);
    return;
  }
  while (std::binary_search(keys.begin(), keys.end(), vacant_)) ++vacant_;
  slots_.assign(table_size(keys.size()), vacant_);
  mask_ = slots_.size() - 1;
  shift_ = shift_for(slots_.size());
  for (uint64_t key : keys) {
    size_t slot = (key * kMultiplier) >> shift_;
    while (slots_[slot] != vacant_) slot = (slot + 1) & mask_;
    slots_[slot] = key;
  }
}

uint64_t BytesSet::hash_of(std::string_view value) noexcept {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = value.size();
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
  };
  // Whole words, the last one overlapping the one before.
  const char* data = value.data();
  const size_t size = value.size();
  if (size >= 8) {
    for (size_t i = 0; i + 8 < size; i += 8) mix(load<uint64_t>(data + i));
    mix(load<uint64_t>(data + size - 8));
  } else if (size >= 4) {
    mix(load<uint32_t>(data) | (uint64_t{load<uint32_t>(data + size - 4)} << 32));
  } else {
    for (size_t i = 0; i < size; ++i) mix(static_cast<unsigned char>(data[i]));
  }
  return hash * kMultiplier;
}

BytesSet::BytesSet(const std::vector<std::string_view>& values) {
  slots_.assign(table_size(values.size()), std::string_view());
  mask_ = slots_.size() - 1;
  shift_ = shift_for(slots_.size());
  for (std::string_view value : values) {
    lengths_ |= uint64_t{1} << length_class(value.size());
    size_t slot = hash_of(value) >> shift_;
    while (slots_[slot].data() != nullptr) slot = (slot + 1) & mask_;
    slots_[slot] = value;
  }
}

ValueSet::ValueSet(std::vector<Value> values) : values_(std::move(values)) {
  if (values_.empty()) throw_error(ErrorKind::kInternal, "a set without values");
  kind_ = kind_of(values_[0]);
  contains_nan_ = std::erase_if(values_, [](const Value& value) { return is_nan(value); }) != 0;
  std::sort(values_.begin(), values_.end(), [](const Value& a, const Value& b) { return compare(a, b) < 0; });
  values_.erase(
      std::unique(values_.begin(), values_.end(), [](const Value& a, const Value& b) { return compare(a, b) == 0; }),
      values_.end());
  auto index = std::make_unique<Index>();
  std::vector<uint64_t> keys;
  std::vector<std::string_view> bytes;
  for (const Value& value : values_) {
    switch (kind_of(value)) {
      case ValueKind::kBool:
        (std::get<bool>(value) ? index->has_true : index->has_false) = true;
        break;
      case ValueKind::kSigned:
        keys.push_back(static_cast<uint64_t>(std::get<int64_t>(value)));
        break;
      case ValueKind::kUnsigned:
        keys.push_back(std::get<uint64_t>(value));
        break;
      case ValueKind::kFloating:
        keys.push_back(double_key(std::get<double>(value)));
        break;
      case ValueKind::kDecimal:
        index->decimals.push_back(std::get<Int128>(value));
        break;
      case ValueKind::kWideDecimal:
        index->wide_decimals.push_back(std::get<Int256>(value));
        break;
      default:
        bytes.push_back(std::get<std::string>(value));
        break;
    }
  }
  index->keys = KeySet(std::move(keys));
  index->bytes = BytesSet(bytes);
  index_ = std::move(index);
}

ValueSet::~ValueSet() = default;

bool ValueSet::contains(const Value& value) const {
  if (is_nan(value)) return contains_nan_;
  return overlaps(value, value);
}

bool ValueSet::overlaps(const Value& low, const Value& high) const {
  const auto first = std::lower_bound(values_.begin(), values_.end(), low,
                                      [](const Value& a, const Value& b) { return compare(a, b) < 0; });
  return first != values_.end() && compare(*first, high) <= 0;
}

}  // namespace frazil::predicate
