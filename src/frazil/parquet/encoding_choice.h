// Which encoding a column chunk gets, from the values of its first page.
//
// Candidates, by what the profile allows (legacy: PLAIN and the dictionary alone):
//
//   BOOLEAN               PLAIN
//   INT32, INT64          PLAIN, DELTA_BINARY_PACKED, dictionary
//   FLOAT, DOUBLE         PLAIN, BYTE_STREAM_SPLIT, dictionary
//   BYTE_ARRAY            PLAIN, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, dictionary
//   FIXED_LEN_BYTE_ARRAY  PLAIN, dictionary
//
// What is left out, and why, from reading files with each encoding (x = refuses it):
//
//                                pyarrow 26  DuckDB 1.5.5  2.0.1  Polars 2.1  Iceberg Java 1.12 (vectorized)  Spark 4.1
//   RLE of BOOLEAN                                                                  x
//   BYTE_STREAM_SPLIT of ints                    x                                                               x
//   BYTE_STREAM_SPLIT of fixed bytes             x           x       x                                           x
//   DELTA_BYTE_ARRAY of fixed bytes                                  x
//   BYTE_STREAM_SPLIT of floats                                                                                  (x)
//
// (x): Spark's own reader before 4.2 (SPARK-56894) where it reads Parquet files by their path; as Iceberg tables it takes
// Iceberg's reader. That has DELTA_BINARY_PACKED since 2025 (apache/iceberg#13391), the other DELTA encodings and
// BYTE_STREAM_SPLIT since 2026 (#15362, #15373); 1.12 was looked at. Older ones read them with vectorized reads off. Who
// has such readers asks for the legacy profile.
//
// A required leaf below a nullable struct or a list gets PLAIN or the dictionary in every profile: Polars 2.1 panics on any
// other encoding of it, whoever wrote it, where some pages have nulls ("validity mask length must match the number of
// values"; with pyarrow's files too). So does text that is a dictionary in the Arrow schema: pyarrow 26 restores dictionaries
// from PLAIN and indices, and refuses the file with other encodings ("DecodeArrow of DictAccumulator").
//
// Each candidate encodes a sample of 512 to 2,048 values, which is compressed as the chunk will be, and the cheapest wins:
//
//   cost of a value = bytes in the file + 0.1 byte a nanosecond of reading it
//
// A byte is worth 10 ns: storage that gives 100 MB/s to a core. The nanoseconds are constants, measured once, so that the
// same data gives the same file on every machine. Job R, 500,000 "row_i" with zstd: DELTA_BYTE_ARRAY 38 kB and 6.9 ns a
// value, PLAIN 186 kB and 8.4 ns for us, but 100 against 14 ns for Polars 2.1; PLAIN it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "frazil/codec/compressor.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/value_dictionary.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

// The codec of Compressor that a chunk's codec is. Throws Error(kUnsupported) for LZO and unknown ones.
Codec compressor_codec(CompressionCodec codec);

// Buffers and contexts that a choice needs; contents are lost.
struct ChoiceScratch {
  Compressor& compressor;
  EncodeBuffer& encoded;
  EncodeBuffer& lengths;
  EncodeBuffer& compressed;
};

// The values of a page in either form.
struct PageView {
  FixedValues fixed;
  BytesValues bytes;
  bool is_bytes = false;

  size_t count() const { return is_bytes ? bytes.count : fixed.count; }
  size_t plain_bytes() const { return is_bytes ? bytes.byte_size() + 4 * bytes.count : fixed.count * fixed.width; }
  PageView slice(size_t from, size_t size) const {
    return is_bytes ? PageView{{}, bytes.slice(from, size), true} : PageView{fixed.slice(from, size), {}, false};
  }
};

struct Choice {
  Encoding encoding = Encoding::kPlain;
  double cost = 0;  // of a value
};

// The best encoding without a dictionary. Deterministic. Requires at least one value.
Choice choose_direct(PhysicalType type, const ChunkOptions& options, bool plain_only, const PageView& page,
                     ChoiceScratch scratch);

// Whether it is worth the time to number the values at all: not for one value a stride (a running number, an even clock).
bool may_have_dictionary(PhysicalType type, const PageView& page);

// Whether more than half of the values, about, are distinct: counted by marks in a table of hashes (linear counting), in
// 1.5 ns a value where numbering them takes 10. Of 4 and 8 bytes; false for other widths, which are compared as bytes.
// What is in `marks` is lost.
bool is_mostly_distinct(const FixedValues& values, EncodeBuffer& marks);

// Whether a dictionary of so few entries needs no weighing: its numbers take at most 4 bits, its entries little beside
// them, and what costs less (a step that repeats, bits that hardly change) compresses as numbers too.
bool is_small_dictionary(size_t entries, size_t values);

// The cost of a value with a dictionary, from the numbers of the page's values: its entries at the end of the page's
// third quarter and at the end tell how it goes on growing.
double dictionary_cost(const ChunkOptions& options, std::span<const uint32_t> numbers, size_t entries_before,
                       const ValueDictionary& dictionary, bool is_bytes, ChoiceScratch scratch);

}  // namespace frazil::parquet
