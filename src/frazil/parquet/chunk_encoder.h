// Encodes one column chunk: values and levels in, encoded and compressed pages, statistics and indexes out.
//
//   EncoderScratch scratch(pool);                       // one a thread
//   ChunkEncoder encoder(leaf, options, pool);          // one a leaf of a row group
//   encoder.write({.values = &array}, scratch);         // as often as wanted
//   EncodedChunk chunk = encoder.finish(scratch);
//
// The encoding is chosen when the first page is full (or at the end), from that page's values: see encoding_choice.h.
// The same pieces, however cut, the same options and library versions give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/format.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/page_index.h"

namespace frazil::parquet {

// Which encodings the writer may choose by itself. An encoding that is asked for by name is not held to it.
enum class EncodingProfile : uint8_t {
  kLegacy,      // PLAIN and PLAIN_DICTIONARY, version 1 pages: readers of 2013
  kCompatible,  // what every reader of today takes: see encoding_choice.h for the list and the facts
};

struct ChunkOptions {
  CompressionCodec codec = CompressionCodec::kZstd;
  std::optional<int> level = {};     // the codec's standard
  bool may_skip_compression = true;  // chunks that the codec hardly shrinks are left UNCOMPRESSED
  size_t page_bytes = size_t{1} << 20;
  size_t page_rows = 20'000;
  bool page_v2 = false;  // but not of the legacy profile
  EncodingProfile profile = EncodingProfile::kCompatible;
  bool dictionary = true;                     // may be chosen
  size_t dictionary_bytes = size_t{2} << 20;  // PLAIN bytes of a dictionary; past them other encodings follow
  std::optional<Encoding> encoding = {};  // this one, whatever the data. kRleDictionary: as long as it is small enough
  bool statistics = true;                 // bounds, of the chunk and of pages; counts are always there
  size_t statistics_length = 64;          // bounds of BYTE_ARRAY are cut to so many
  size_t column_index_length = 64;        // bytes. 0: never
  bool page_histograms = false;           // levels counted a page too, in the column index
  bool bloom_filter = false;
  uint64_t bloom_ndv = 0;  // distinct values to make room for; 0: those that are there
  double bloom_fpp = 0.01;
  size_t bloom_bytes_max = size_t{1} << 20;
  bool checksums = false;  // CRC-32 of each page
};

// Some rows of one leaf, in order. A piece begins with a row.
struct LeafPiece {
  // The leaf's Arrow array: of LeafDescription::type, or a dictionary array of it (any index type; entries may be
  // unused, repeated, or null). Nulls by its validity. Borrowed for the call.
  const Array* values = nullptr;
  // Without levels each value is a row: its level is the maximum, or one less if it is null. Else one level an entry.
  // Both or only the definition levels (no repetition above), of equal size.
  std::span<const uint8_t> definition_levels = {};
  std::span<const uint8_t> repetition_levels = {};
  // An entry with this definition level or more has a slot in `values`, in order. One with less has none.
  uint8_t slot_definition = 0;
};

// The bounds of values as PLAIN bytes (BYTE_ARRAY without length), in the column's type order. Zeros of floats are -0.0
// as minimum and +0.0 as maximum; NaNs are not counted.
struct ValueBounds {
  std::string min;
  std::string max;
  bool is_min_exact = true;
  bool is_max_exact = true;
};

struct ChunkStatistics {
  std::optional<ValueBounds> bounds;  // nothing: no value that is ordered, type without order, or not asked for
  int64_t null_count = 0;
  std::optional<int64_t> nan_count;       // of floats
  std::optional<int64_t> distinct_count;  // where a dictionary held all values
};

struct EncodedPage {
  uint64_t offset = 0;           // of its header, from the chunk's first byte (that of the dictionary page, if any)
  uint32_t compressed_size = 0;  // header included
  uint64_t first_row = 0;        // in the chunk
  uint32_t row_count = 0;
  uint32_t value_count = 0;     // nulls included
  int64_t unencoded_bytes = 0;  // BYTE_ARRAY: of its values without lengths
  std::optional<ValueBounds> bounds;
  int64_t null_count = 0;
  int64_t nan_count = 0;  // of floats
  // As SizeStatistics has them, if they were asked for.
  std::vector<int64_t> repetition_histogram;
  std::vector<int64_t> definition_histogram;
};

// parquet.thrift, GeospatialStatistics.
struct GeospatialBounds {
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
  std::optional<std::pair<double, double>> z, m;  // min, max
};
struct ChunkGeospatialStatistics {
  std::optional<GeospatialBounds> bounds;
  std::vector<int32_t> types;  // WKB codes, ascending; empty: not known
};

struct EncodedChunk {
  // The pages one after the other, headers included, the dictionary page first. Buffers may end within a page.
  std::vector<Buffer> bytes;
  uint64_t byte_size = 0;                                    // of all: total_compressed_size
  uint64_t uncompressed_size = 0;                            // the same before compression: total_uncompressed_size
  uint64_t dictionary_page_size = 0;                         // 0: none. The first data page follows
  CompressionCodec codec = CompressionCodec::kUncompressed;  // of the chunk; not always the one asked for
  int64_t row_count = 0;
  int64_t value_count = 0;          // nulls included
  std::vector<Encoding> encodings;  // of pages and levels, each once
  struct EncodingCount {
    PageType page = PageType::kData;
    Encoding encoding = Encoding::kPlain;
    int32_t count = 0;
  };
  std::vector<EncodingCount> encoding_stats;
  ChunkStatistics statistics;
  SizeStatistics sizes;  // histograms only for levels above 0 (repetition) and 1 (definition), as the format advises
  std::vector<EncodedPage> pages;  // data pages: the offset index and the column index
  // Whether `pages` can make a column index: bounds wherever a page has values, no page of only NaN.
  bool has_column_index = false;
  BoundaryOrder boundary_order = BoundaryOrder::kUnordered;
  Buffer bloom_filter;  // the blocks, without header; empty: none
  std::optional<ChunkGeospatialStatistics> geospatial;
};

// What encoders use while they run and nobody needs between calls: the codec's contexts and buffers. One thread at a
// time, any number of encoders. Memory from the pool, which outlives it.
class EncoderScratch {
 public:
  explicit EncoderScratch(MemoryPool& pool);
  ~EncoderScratch();
  EncoderScratch(EncoderScratch&&) noexcept;
  EncoderScratch& operator=(EncoderScratch&&) noexcept;
  size_t buffered_bytes() const;

 private:
  friend class ChunkEncoder;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// One thread at a time; which one may change between calls. Memory from the pool, which outlives it: the pages that are
// finished, and the values of the open one. After an exception only destruction is allowed.
class ChunkEncoder {
 public:
  // Borrows `leaf`. Throws Error(kInvalidArgument) for options that cannot be: an encoding that the type does not have, a
  // level that the codec does not have, no page bytes.
  ChunkEncoder(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool);
  ~ChunkEncoder();
  ChunkEncoder(ChunkEncoder&&) noexcept;
  ChunkEncoder& operator=(ChunkEncoder&&) noexcept;

  // Throws Error(kInvalidArgument), which names the column, for an array of another type or levels that do not fit it, for
  // nulls where max_definition has none, and for values that the file type cannot hold (an interval of nanoseconds, a
  // timestamp in seconds past the range of milliseconds, a decimal beyond its precision, a value of 2 GiB); MemoryLimitError.
  void write(const LeafPiece& piece, EncoderScratch& scratch);

  int64_t row_count() const;
  // What it holds of the pool: finished pages and the open one.
  size_t buffered_bytes() const;
  // Gives back what the open page does not need: before rows are waited for, with many encoders.
  void shrink();
  // Finished pages, and a guess for the open one: what finish() will give.
  size_t encoded_bytes_estimate() const;

  // Once; only destruction is allowed afterwards.
  EncodedChunk finish(EncoderScratch& scratch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::parquet
