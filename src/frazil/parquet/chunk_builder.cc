#include "frazil/parquet/chunk_builder.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/chunk_bytes.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/encode_kernels.h"
#include "frazil/parquet/hybrid_encoder.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

ChunkBuilder::ChunkBuilder(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
    : leaf_(&leaf),
      options_(&options),
      pool_(&pool),
      order_(value_order(leaf.file_type)),
      is_legacy_(options.profile == EncodingProfile::kLegacy),
      is_v2_(options.page_v2 && !is_legacy_),
      writer_(options, pool),
      chunk_bounds_(order_) {
  const PhysicalType type = leaf.file_type.physical;
  if (options.bloom_filter && type != PhysicalType::kBoolean) {
    bloom_.emplace(options.bloom_ndv, options.bloom_fpp, options.bloom_bytes_max, pool);
  }
  const LogicalType::Kind kind = leaf.file_type.logical.kind;
  if (options.statistics && (kind == LogicalType::Kind::kGeometry || kind == LogicalType::Kind::kGeography)) {
    geospatial_.emplace(kind);
  }
  SizeStatistics& sizes = chunk_.sizes;
  if (type == PhysicalType::kByteArray) sizes.unencoded_byte_array_bytes = 0;
  if (leaf.max_repetition > 0) sizes.repetition_histogram.resize(size_t{leaf.max_repetition} + 1);
  if (leaf.max_definition > 1) sizes.definition_histogram.resize(size_t{leaf.max_definition} + 1);
}

size_t ChunkBuilder::encoded_bytes_estimate(size_t open_bytes) const {
  const size_t written = writer_.byte_size() + writer_.kept_bytes();
  // What is open shrinks like what was written, or by half.
  const double ratio = writer_.uncompressed_size() == 0 ? 0.5
                                                        : static_cast<double>(writer_.byte_size()) /
                                                              static_cast<double>(writer_.uncompressed_size());
  return written + static_cast<size_t>(static_cast<double>(open_bytes) * ratio);
}

// ---- What a page holds ----

// The bounds of the values that the page's numbers stand for.
void ChunkBuilder::bound_numbers(const OpenPage& page, const ValueDictionary& dictionary, BoundsBuilder& bounds,
                                 ScratchBuffers& scratch) {
  const std::span<const uint32_t> numbers = page.numbers.items<uint32_t>();
  if (numbers.empty() || order_ == ValueOrder::kNone) return;
  if (is_float_order(order_)) {
    for (; nans_sought_ < dictionary.size(); ++nans_sought_) {
      if (is_nan(order_, dictionary.value(nans_sought_))) nan_numbers_.push_back(nans_sought_);
    }
  }
  const auto is_nan_number = [&](uint32_t number) {
    return std::find(nan_numbers_.begin(), nan_numbers_.end(), number) != nan_numbers_.end();
  };
  if (!nan_numbers_.empty()) {
    for (uint32_t number : numbers) bounds.add_nans(is_nan_number(number) ? 1 : 0);
  }
  if (encode_kernels().run4(numbers.data(), numbers.size()) == numbers.size()) {
    if (!is_nan_number(numbers[0])) bounds.add_value(dictionary.value(numbers[0]));
    return;
  }
  // Each entry that is used, once. Of fixed width they are compared side by side.
  const uint32_t size = dictionary.size();
  scratch.marks.clear();
  auto* const marks = reinterpret_cast<uint8_t*>(scratch.marks.extend(size));
  std::memset(marks, 0, size);
  for (uint32_t number : numbers) marks[number] = 1;
  for (uint32_t number : nan_numbers_) marks[number] = 0;
  const size_t width = page.width;
  if (width == 4 || width == 8) {
    scratch.encoded.clear();
    std::byte* target = scratch.encoded.reserve(size_t{size} * width + 8);
    const std::byte* const start = target;
    for (uint32_t number = 0; number < size; ++number) {
      std::memcpy(target, dictionary.value(number).data(), width);
      target += marks[number] != 0 ? width : 0;
    }
    bounds.add(FixedValues{start, width, static_cast<size_t>(target - start) / width});
    return;
  }
  for (uint32_t number = 0; number < size; ++number) {
    if (marks[number] != 0) bounds.add_value(dictionary.value(number));
  }
}

void ChunkBuilder::bound(const OpenPage& page, const SelectedEncoding& selected, BoundsBuilder& bounds,
                         ScratchBuffers& scratch) {
  if (!options_->statistics && !is_float_order(order_)) return;
  if (selected.dictionary != nullptr) {
    bound_numbers(page, *selected.dictionary, bounds, scratch);
  } else if (page.is_bytes) {
    bounds.add(selected.values.bytes);
  } else {
    bounds.add(selected.values.fixed);
  }
}

void ChunkBuilder::count_encoding(PageType type, Encoding encoding) {
  for (EncodedChunk::EncodingCount& known : chunk_.encoding_stats) {
    if (known.page == type && known.encoding == encoding) {
      ++known.count;
      return;
    }
  }
  chunk_.encoding_stats.push_back({type, encoding, 1});
}

void ChunkBuilder::count_levels(const OpenPage& page, EncodedPage& encoded) {
  SizeStatistics& sizes = chunk_.sizes;
  if (!options_->page_histograms) return page.levels.count(sizes.repetition_histogram, sizes.definition_histogram);
  encoded.repetition_histogram.resize(sizes.repetition_histogram.size());
  encoded.definition_histogram.resize(sizes.definition_histogram.size());
  page.levels.count(encoded.repetition_histogram, encoded.definition_histogram);
  const auto add = [](std::vector<int64_t>& sums, const std::vector<int64_t>& counts) {
    for (size_t level = 0; level < sums.size(); ++level) sums[level] += counts[level];
  };
  add(sizes.repetition_histogram, encoded.repetition_histogram);
  add(sizes.definition_histogram, encoded.definition_histogram);
}

// ---- Pages ----

size_t ChunkBuilder::add_page(const OpenPage& page, const SelectedEncoding& selected, bool is_last,
                              ScratchBuffers& scratch) {
  const PageView& values = selected.values;
  const PageLevels& levels = page.levels;
  const size_t value_count = selected.value_count;
  const bool is_numbered = selected.dictionary != nullptr;
  if (value_count != levels.size() - levels.null_count()) {
    throw_error(ErrorKind::kInternal, "a page of {} values for {} levels, {} of them without", value_count,
                levels.size(), levels.null_count());
  }

  BoundsBuilder bounds(order_);
  bound(page, selected, bounds, scratch);
  // Of values with numbers, finish() adds the dictionary's.
  if (bloom_ && !is_numbered) {
    if (page.is_bytes) {
      bloom_->add(values.bytes);
    } else {
      bloom_->add(values.fixed);
    }
  }
  if (geospatial_ && !is_numbered) {
    for (size_t i = 0; i < value_count; ++i) geospatial_->add(values.bytes.value(i));
  }

  RawPage raw;
  raw.type = is_v2_ ? PageType::kDataV2 : PageType::kData;
  raw.encoding = selected.encoding;
  raw.value_count = static_cast<uint32_t>(levels.size());
  raw.null_count = static_cast<uint32_t>(levels.null_count());
  raw.row_count = static_cast<uint32_t>(page.rows);
  EncodeBuffer& body = scratch.body;
  body.clear();
  raw.repetition_size = levels.append_repetition(!is_v2_, body);
  raw.definition_size = levels.append_definition(!is_v2_, body);
  const size_t values_start = body.size();
  if (is_numbered) {
    // At least 1, as parquet-cpp has it: readers that take 0 for an error were seen.
    const int width = std::max(1, bit_width_of(selected.dictionary->size() - 1));
    body.append(static_cast<uint8_t>(width));
    append_hybrid(page.numbers.items<uint32_t>(), width, body);
  } else if (value_count > 0) {
    if (page.is_bytes) {
      append_values(raw.encoding, values.bytes, scratch.lengths, body);
    } else {
      append_values(leaf_->file_type.physical, raw.encoding, values.fixed, scratch.lengths, body);
    }
  }
  const size_t encoded_bytes = body.size() - values_start;

  EncodedPage encoded;
  encoded.first_row = static_cast<uint64_t>(chunk_.row_count);
  encoded.row_count = raw.row_count;
  encoded.value_count = raw.value_count;
  encoded.null_count = static_cast<int64_t>(levels.null_count());
  encoded.nan_count = static_cast<int64_t>(bounds.nan_count());
  if (page.is_bytes) {
    encoded.unencoded_bytes = is_numbered ? page.unencoded_bytes : static_cast<int64_t>(values.bytes.byte_size());
    *chunk_.sizes.unencoded_byte_array_bytes += encoded.unencoded_bytes;
  }
  if (wants_column_index()) {
    encoded.bounds = bounds.finish(leaf_->file_type, options_->column_index_length);
    has_page_of_nans_ = has_page_of_nans_ || (value_count > 0 && !encoded.bounds);
  }
  chunk_bounds_.add(bounds);
  count_levels(page, encoded);
  count_encoding(raw.type, raw.encoding);
  has_page_with_numbers_ = has_page_with_numbers_ || is_numbered;
  chunk_.row_count += static_cast<int64_t>(page.rows);
  chunk_.value_count += static_cast<int64_t>(levels.size());
  chunk_.statistics.null_count += encoded.null_count;
  chunk_.pages.push_back(std::move(encoded));
  writer_.write(raw, body.span(), chunk_.pages.size() - 1, chunk_.pages,
                is_numbered ? selected.dictionary->plain_bytes() : 0, is_last, scratch.page());
  return encoded_bytes;
}

// The dictionary page, and what its entries tell of the values behind numbers.
void ChunkBuilder::finish_dictionary(const ValueDictionary& dictionary, ScratchBuffers& scratch) {
  if (bloom_) bloom_->add(dictionary);
  for (uint32_t number = 0; geospatial_ && number < dictionary.size(); ++number) {
    geospatial_->add(dictionary.value(number));
  }
  scratch.body.clear();
  dictionary.append_plain(scratch.body);
  RawPage raw;
  raw.type = PageType::kDictionary;
  raw.encoding = is_legacy_ ? Encoding::kPlainDictionary : Encoding::kPlain;
  raw.value_count = dictionary.size();
  ChunkBytes bytes(*pool_);
  writer_.write_dictionary(raw, scratch.body.span(), bytes, scratch.page());
  chunk_.dictionary_page_size = bytes.size();
  bytes.finish(chunk_.bytes);
  chunk_.encoding_stats.insert(chunk_.encoding_stats.begin(), {PageType::kDictionary, raw.encoding, 1});
  for (EncodedPage& page : chunk_.pages) page.offset += chunk_.dictionary_page_size;
}

EncodedChunk ChunkBuilder::finish(const ValueDictionary* dictionary, ScratchBuffers& scratch) {
  writer_.flush(chunk_.pages, dictionary != nullptr ? dictionary->plain_bytes() : 0, scratch.page());
  if (has_page_with_numbers_) finish_dictionary(*dictionary, scratch);
  chunk_.byte_size = chunk_.dictionary_page_size + writer_.byte_size();
  chunk_.uncompressed_size = writer_.uncompressed_size();
  writer_.finish(chunk_.bytes);
  chunk_.codec = writer_.codec();
  const auto add_encoding = [&](Encoding encoding) {
    if (std::find(chunk_.encodings.begin(), chunk_.encodings.end(), encoding) == chunk_.encodings.end()) {
      chunk_.encodings.push_back(encoding);
    }
  };
  for (const auto& known : chunk_.encoding_stats) add_encoding(known.encoding);
  if (leaf_->max_definition > 0 || leaf_->max_repetition > 0) add_encoding(Encoding::kRle);

  ChunkStatistics& statistics = chunk_.statistics;
  if (options_->statistics) statistics.bounds = chunk_bounds_.finish(leaf_->file_type, options_->statistics_length);
  if (is_float_order(order_)) {
    statistics.nan_count = static_cast<int64_t>(chunk_bounds_.nan_count());
  } else if (has_page_with_numbers_ && chunk_.encoding_stats.size() == 2) {
    // One kind of data pages: all have numbers, but for pages of nothing but nulls.
    statistics.distinct_count = dictionary->size();
  }
  chunk_.has_column_index =
      wants_column_index() && order_ != ValueOrder::kNone && !has_page_of_nans_ && !chunk_.pages.empty();
  if (chunk_.has_column_index) chunk_.boundary_order = order_of_bounds(order_, chunk_.pages);
  if (bloom_) chunk_.bloom_filter = bloom_->finish();
  if (geospatial_) chunk_.geospatial = geospatial_->finish();
  return std::move(chunk_);
}

}  // namespace frazil::parquet
