#include "frazil/parquet/leaf_source.h"

#include <algorithm>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/columnar/layout.h"

namespace frazil::parquet {

namespace {

constexpr int64_t kMillisPerDay = 86'400'000;

template <typename T>
T load_at(const std::byte* values, size_t slot) {
  return load<T>(values + slot * sizeof(T));
}

}  // namespace

void PageValues::clear() {
  fixed.clear();
  offsets.clear();
  bytes.clear();
  count = 0;
}

void PageValues::swap_memory(PageValues& other) {
  clear();
  other.clear();
  fixed.swap_memory(other.fixed);
  offsets.swap_memory(other.offsets);
  bytes.swap_memory(other.bytes);
}

void PageValues::append(std::string_view value) {
  if (offsets.empty()) offsets.append(int32_t{0});
  bytes.append(value.data(), value.size());
  offsets.append(static_cast<int32_t>(bytes.size()));
  ++count;
}

size_t physical_width(const LeafType& type) {
  switch (type.physical) {
    case PhysicalType::kBoolean:
      return 1;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
      return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble:
      return 8;
    case PhysicalType::kInt96:
      return 12;
    case PhysicalType::kByteArray:
      return 0;
    case PhysicalType::kFixedLenByteArray:
      return static_cast<size_t>(type.type_length);
  }
  return 0;
}

struct LeafSource::Conversions {
  static void copy(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    std::memcpy(target, source.values_ + from * source.width_, count * source.width_);
  }

  static void booleans(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    unpack_bools(source.array_->buffers[1].as<uint8_t>(), static_cast<size_t>(source.array_->offset) + from, count,
                 reinterpret_cast<uint8_t*>(target));
  }

  template <typename From>
  static void widen(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      store(target + 4 * i, static_cast<int32_t>(load_at<From>(source.values_, from + i)));
    }
  }

  static void days_of_millis(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      const int64_t days = floor_divide(load_at<int64_t>(source.values_, from + i), kMillisPerDay);
      if (days != static_cast<int32_t>(days)) {
        throw_error(ErrorKind::kInvalidArgument, "a date of {} days is out of the range of 32 bits", days);
      }
      store(target + 4 * i, static_cast<int32_t>(days));
    }
  }

  template <typename T>
  static void millis_of_seconds(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      const T seconds = load_at<T>(source.values_, from + i);
      T millis = 0;
      if (__builtin_mul_overflow(seconds, T{1000}, &millis)) {
        throw_error(ErrorKind::kInvalidArgument, "{} seconds are out of the range of milliseconds, which the file has",
                    seconds);
      }
      store(target + sizeof(T) * i, millis);
    }
  }

  // Little-endian two's complement of source_width_ bytes, to width_ bytes, little-endian or turned around.
  template <bool kBigEndian>
  static void decimals(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    const size_t wide = source.source_width_;
    const size_t width = source.width_;
    for (size_t i = 0; i < count; ++i) {
      const std::byte* const value = source.values_ + (from + i) * wide;
      const std::byte extension = (value[width - 1] & std::byte{0x80}) != std::byte{0} ? std::byte{0xFF} : std::byte{0};
      for (size_t j = width; j < wide; ++j) {
        if (value[j] != extension) {
          throw_error(ErrorKind::kInvalidArgument, "a value of {} has more than {} digits",
                      source.array_->type->to_string(), source.array_->type->precision());
        }
      }
      std::byte* const out = target + i * width;
      if constexpr (kBigEndian) {
        for (size_t j = 0; j < width; ++j) out[j] = value[width - 1 - j];
      } else {
        std::memcpy(out, value, width);
      }
    }
  }

  // months, days, milliseconds: three u32.
  static void store_interval(std::byte* target, int64_t months, int64_t days, int64_t millis) {
    const auto part = [](int64_t value, std::string_view name) {
      if (value < 0 || value > UINT32_MAX) {
        throw_error(ErrorKind::kInvalidArgument, "an interval of {} {} is none of Parquet's, which are not negative",
                    value, name);
      }
      return static_cast<uint32_t>(value);
    };
    store(target, part(months, "months"));
    store(target + 4, part(days, "days"));
    store(target + 8, part(millis, "milliseconds"));
  }
  static void interval_months(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      store_interval(target + 12 * i, load_at<int32_t>(source.values_, from + i), 0, 0);
    }
  }
  static void interval_day_time(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      const std::byte* const value = source.values_ + (from + i) * 8;
      store_interval(target + 12 * i, 0, load<int32_t>(value), load<int32_t>(value + 4));
    }
  }
  static void interval_month_day_nano(const LeafSource& source, size_t from, size_t count, std::byte* target) {
    for (size_t i = 0; i < count; ++i) {
      const std::byte* const value = source.values_ + (from + i) * 16;
      const auto nanos = load<int64_t>(value + 8);
      if (nanos % 1'000'000 != 0) {
        throw_error(ErrorKind::kInvalidArgument, "an interval of {} nanoseconds: Parquet's have milliseconds", nanos);
      }
      store_interval(target + 12 * i, load<int32_t>(value), load<int32_t>(value + 4), nanos / 1'000'000);
    }
  }

  // nullptr: the values are as the file has them.
  static Convert of(const DataType& type, PhysicalType physical) {
    switch (type.id()) {
      case TypeId::kBool:
        return booleans;
      case TypeId::kInt8:
        return widen<int8_t>;
      case TypeId::kInt16:
        return widen<int16_t>;
      case TypeId::kUInt8:
        return widen<uint8_t>;
      case TypeId::kUInt16:
        return widen<uint16_t>;
      case TypeId::kDate64:
        return days_of_millis;
      case TypeId::kTime32:
        return type.unit() == TimeUnit::kSecond ? millis_of_seconds<int32_t> : copy;
      case TypeId::kTimestamp:
        return type.unit() == TimeUnit::kSecond ? millis_of_seconds<int64_t> : copy;
      case TypeId::kDecimal32:
      case TypeId::kDecimal64:
      case TypeId::kDecimal128:
      case TypeId::kDecimal256:
        return physical == PhysicalType::kFixedLenByteArray ? decimals<true> : decimals<false>;
      case TypeId::kIntervalMonths:
        return interval_months;
      case TypeId::kIntervalDayTime:
        return interval_day_time;
      case TypeId::kIntervalMonthDayNano:
        return interval_month_day_nano;
      default:
        return copy;
    }
  }
};

LeafSource::LeafSource(const LeafDescription& leaf, const Array& array)
    : array_(&array), width_(physical_width(leaf.file_type)) {
  const DataType& type = *array.type;
  if (!type.equals(*leaf.type)) {
    throw_error(ErrorKind::kInvalidArgument, "an array of {} for a column of {}", type.to_string(),
                leaf.type->to_string());
  }
  const auto offset = static_cast<size_t>(array.offset);
  switch (layout_of(type.id())) {
    case Layout::kBytes: {
      kind_ = offset_width(type.id()) == 4 ? Kind::kOffsets4 : Kind::kOffsets8;
      values_ = array.buffers[1].data() + offset * (kind_ == Kind::kOffsets4 ? 4 : 8);
      data_ = array.buffers[2].data();
      // An empty array may have no offsets at all.
      if (array.length == 0) values_ = kEmptyBytes;
      return;
    }
    case Layout::kView:
      kind_ = Kind::kView;
      values_ = array.buffers[1].data() + offset * 16;
      return;
    case Layout::kNull:
      convert_ = Conversions::copy;
      return;
    default:
      source_width_ = static_cast<size_t>(type.byte_width());
      values_ = array.buffers[1].data() + offset * source_width_;
      convert_ = Conversions::of(type, leaf.file_type.physical);
      is_copy_ = convert_ == Conversions::copy;
      if (is_decimal(type.id()) && source_width_ == width_ &&
          leaf.file_type.physical != PhysicalType::kFixedLenByteArray) {
        convert_ = Conversions::copy;
        is_copy_ = true;
      }
      return;
  }
}

std::string_view LeafSource::bytes_at(size_t slot) const {
  const char* const data = reinterpret_cast<const char*>(data_);
  switch (kind_) {
    case Kind::kOffsets4: {
      const auto* const offsets = reinterpret_cast<const int32_t*>(values_) + slot;
      return {data + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
    }
    case Kind::kOffsets8: {
      const auto* const offsets = reinterpret_cast<const int64_t*>(values_) + slot;
      return {data + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
    }
    default:
      return array_->bytes_value(static_cast<int64_t>(slot));
  }
}

std::string_view LeafSource::value(size_t slot) {
  if (is_bytes()) return bytes_at(slot);
  if (is_copy_) return {reinterpret_cast<const char*>(values_) + slot * width_, width_};
  convert_(*this, slot, 1, one_);
  return {reinterpret_cast<const char*>(one_), width_};
}

void LeafSource::fit(size_t from, size_t count, size_t bytes_max, size_t& fitting, size_t& bytes) const {
  if (kind_ == Kind::kFixed) {
    fitting = std::min(count, bytes_max / width_);
    bytes = fitting * width_;
    return;
  }
  fitting = 0;
  bytes = 0;
  if (kind_ == Kind::kView) {
    for (; fitting < count; ++fitting) {
      const BinaryView view = view_at(*array_, array_->offset + static_cast<int64_t>(from + fitting));
      const size_t next = bytes + 4 + static_cast<size_t>(view.size);
      if (next > bytes_max) return;
      bytes = next;
    }
    return;
  }
  // Offsets rise: the last end that is not too far.
  const auto find = [&](const auto* offsets) {
    const auto bytes_of = [&](size_t values) { return static_cast<size_t>(offsets[values] - offsets[0]) + 4 * values; };
    size_t low = 0;
    size_t high = count;
    if (bytes_of(high) <= bytes_max) low = high;
    while (low < high) {
      const size_t middle = high - (high - low) / 2;
      if (bytes_of(middle) <= bytes_max) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    fitting = low;
    bytes = bytes_of(low);
  };
  if (kind_ == Kind::kOffsets4) {
    find(reinterpret_cast<const int32_t*>(values_) + from);
  } else {
    find(reinterpret_cast<const int64_t*>(values_) + from);
  }
}

size_t LeafSource::append(size_t from, size_t count, ValidBits valid, PageValues& page) const {
  const size_t before = page.count;
  const auto for_each_run = [&](auto&& append_run) {
    if (valid.bits == nullptr) {
      if (count > 0) append_run(size_t{0}, count);
    } else {
      for_each_set_run(valid.bits, valid.offset, count, append_run);
    }
  };
  if (kind_ == Kind::kFixed) {
    std::byte* const start = page.fixed.reserve(count * width_);
    std::byte* target = start;
    for_each_run([&](size_t at, size_t run) {
      convert_(*this, from + at, run, target);
      target += run * width_;
      page.count += run;
    });
    page.fixed.advance(static_cast<size_t>(target - start));
    return page.count - before;
  }
  if (page.offsets.empty()) page.offsets.append(int32_t{0});
  page.offsets.reserve(count * sizeof(int32_t));
  const auto append_range = [&](const auto* offsets, size_t run) {
    const auto first = offsets[0];
    const auto shift = static_cast<int32_t>(page.bytes.size());
    auto* const target = reinterpret_cast<int32_t*>(page.offsets.extend(run * sizeof(int32_t)));
    for (size_t i = 0; i < run; ++i) target[i] = static_cast<int32_t>(offsets[i + 1] - first) + shift;
    page.bytes.append(data_ + first, static_cast<size_t>(offsets[run] - first));
    page.count += run;
  };
  for_each_run([&](size_t at, size_t run) {
    if (kind_ == Kind::kOffsets4) {
      append_range(reinterpret_cast<const int32_t*>(values_) + from + at, run);
    } else if (kind_ == Kind::kOffsets8) {
      append_range(reinterpret_cast<const int64_t*>(values_) + from + at, run);
    } else {
      for (size_t i = 0; i < run; ++i) page.append(bytes_at(from + at + i));
    }
  });
  return page.count - before;
}

}  // namespace frazil::parquet
