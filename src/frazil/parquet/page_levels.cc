#include "frazil/parquet/page_levels.h"

#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/hybrid_encoder.h"

namespace frazil::parquet {

void PageLevels::fill_definition() {
  const size_t missing = size_ - definition_.size();
  if (missing > 0) std::memset(definition_.extend(missing), max_definition_, missing);
}

void PageLevels::append_valid(size_t count, ValidBits valid, size_t null_count) {
  if (null_count > 0 && max_definition_ == 0) throw_error(ErrorKind::kInvalidArgument, "nulls in a required column");
  if (null_count > 0 || !definition_.empty()) {
    fill_definition();
    auto* const levels = reinterpret_cast<uint8_t*>(definition_.extend(count));
    if (null_count == 0) {
      std::memset(levels, max_definition_, count);
    } else {
      unpack_bools(valid.bits, valid.offset, count, levels);
      for (size_t i = 0; i < count; ++i) levels[i] = static_cast<uint8_t>(levels[i] + max_definition_ - 1);
    }
  }
  size_ += count;
  null_count_ += null_count;
}

void PageLevels::append_nulls(size_t count) {
  if (max_definition_ == 0) throw_error(ErrorKind::kInvalidArgument, "nulls in a required column");
  fill_definition();
  std::memset(definition_.extend(count), max_definition_ - 1, count);
  size_ += count;
  null_count_ += count;
}

void PageLevels::append(std::span<const uint8_t> definition, std::span<const uint8_t> repetition, size_t value_count) {
  for (uint8_t level : repetition) {
    if (level > max_repetition_) {
      throw_error(ErrorKind::kInvalidArgument, "repetition level {} of {}", level, max_repetition_);
    }
  }
  if (value_count != definition.size() || !definition_.empty()) {
    fill_definition();
    definition_.append(definition.data(), definition.size());
  }
  repetition_.append(repetition.data(), repetition.size());
  size_ += definition.size();
  null_count_ += definition.size() - value_count;
}

uint32_t PageLevels::append_levels(const EncodeBuffer& levels, uint8_t max_level, bool with_length,
                                   EncodeBuffer& body) const {
  if (max_level == 0) return 0;
  const size_t at = body.size();
  if (with_length) body.append(uint32_t{0});
  const size_t start = body.size();
  const int width = bit_width_of(max_level);
  if (levels.empty()) {
    append_hybrid_run(size_, max_level, width, body);
  } else {
    append_hybrid(levels.items<uint8_t>(), width, body);
  }
  const auto size = static_cast<uint32_t>(body.size() - start);
  if (with_length) store(body.data() + at, size);
  return size;
}

uint32_t PageLevels::append_repetition(bool with_length, EncodeBuffer& body) const {
  return append_levels(repetition_, max_repetition_, with_length, body);
}

uint32_t PageLevels::append_definition(bool with_length, EncodeBuffer& body) const {
  return append_levels(definition_, max_definition_, with_length, body);
}

void PageLevels::count(std::vector<int64_t>& repetition_histogram, std::vector<int64_t>& definition_histogram) const {
  if (!repetition_histogram.empty()) {
    for (uint8_t level : repetition_.items<uint8_t>()) ++repetition_histogram[level];
  }
  if (definition_histogram.empty()) return;
  if (definition_.empty()) {
    definition_histogram.back() += static_cast<int64_t>(size_);
  } else {
    for (uint8_t level : definition_.items<uint8_t>()) ++definition_histogram[level];
  }
}

void PageLevels::clear() {
  definition_.clear();
  repetition_.clear();
  size_ = 0;
  null_count_ = 0;
}

}  // namespace frazil::parquet
