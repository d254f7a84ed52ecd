// Decodes the values of one column, page after page, straight into Arrow buffers. Nulls are not its business: values
// stand one after the other in a page, and so they are written; who knows the levels moves them to their rows.
//
//   PLAIN                    BOOLEAN: bits;  BYTE_ARRAY: (length:u32 bytes)*;  others: fixed width, little-endian
//   RLE                      BOOLEAN: length:u32 hybrid of width 1
//   dictionary               width:u8 hybrid of indices into the values of the dictionary page, which are PLAIN
//   DELTA_BINARY_PACKED      INT32, INT64: see delta.h
//   DELTA_LENGTH_BYTE_ARRAY  BYTE_ARRAY: delta-packed lengths, then the bytes of all values
//   DELTA_BYTE_ARRAY         BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY: delta-packed lengths of the prefix shared with the value
//                            before, then the rests as DELTA_LENGTH_BYTE_ARRAY
//   BYTE_STREAM_SPLIT        FLOAT, DOUBLE, INT32, INT64, FIXED_LEN_BYTE_ARRAY: the first bytes of all values, then
//                            their second bytes ...
//
// Pages must be readable for kBlockPadding bytes behind their end, targets writable for as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/base/byte_reader.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/delta.h"
#include "frazil/parquet/format.h"
#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/kernels.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/unread_page.h"

namespace frazil::parquet {

// Where values of a page belong: `bytes` at `target`; the `before` bytes in front of it can be written if they are put back.
struct ValuePlace {
  std::byte* target = nullptr;
  size_t bytes = 0;
  size_t before = 0;
};

class ValueDecoder {
 public:
  ValueDecoder(const Conversion& conversion, PhysicalType type, bool validate_utf8)
      : conversion_(conversion), kernels_(&kernels()), type_(type), validate_utf8_(validate_utf8) {}

  // ---- Dictionary ----

  // The size of dictionary_storage() that set_dictionary needs, 0 where indices alone are wanted. Throws CorruptError if
  // `page` is not `count` plain values.
  size_t dictionary_bytes(std::span<const std::byte> page, size_t count) const;
  // Values that need no conversion are used where they lie: `page` must outlive the dictionary then. Others go into the
  // storage, and the page is not needed afterwards.
  bool keeps_dictionary_page() const { return conversion_.keeps_dictionary_page(); }
  // `page`: what dictionary_bytes() has seen.
  void set_dictionary(std::span<const std::byte> page, size_t count);
  // A row group starts: there is no dictionary. What it takes stays until it is freed.
  void clear_dictionary();
  // Frees it, between pages, and returns how many bytes of the pool that were.
  size_t free_dictionary(MemorySource& memory);
  Block& dictionary_storage() { return dictionary_; }
  // Where whoever has the block of a page that is kept puts it.
  Block& dictionary_page() { return dictionary_page_; }
  bool has_dictionary() const { return has_dictionary_; }
  // Of BYTE_ARRAY, for guesses.
  size_t dictionary_value_bytes_mean() const {
    return dictionary_count_ == 0 ? 0 : dictionary_data_bytes_ / dictionary_count_;
  }

  // ---- Pages ----

  // Starts a page; borrows its bytes. Throws CorruptError for a damaged start, and false if the encoding is not read
  // for this type. The lengths of DELTA_BYTE_ARRAY are walked and checked here, all of them.
  [[nodiscard]] bool start(Encoding encoding, std::span<const std::byte> values);
  // The same for PLAIN values that are wanted as they are (Conversion::takes_plain) and not in memory: bytes begin to end
  // of the page. Borrows it. They are read by decode_fixed().
  void start_unread(UnreadPage& page, size_t begin, size_t end);
  // After start and before anything below: takes what the page needs beside its target (DELTA_BYTE_ARRAY: the value
  // before, as long as the longest of the page). False for want of memory; then it is called again.
  [[nodiscard]] bool prepare(MemorySource& memory);
  // Whoever passes over a page without start() says so: nothing of the page before is left for the next one.
  void forget_previous() { previous_size_ = 0; }

  // Each throws CorruptError unless `count` more values are there and right.
  void decode_fixed(size_t count, std::byte* target);
  void decode_bits(size_t count, uint8_t* target, size_t bit_offset);
  // Writes the end offset of each value to ends[0..], the bytes behind data[used], and returns how many values it did:
  // fewer than `count` only where the next one would not fit in `capacity`. `used` grows.
  size_t decode_bytes(size_t count, int32_t* ends, std::byte* data, size_t capacity, size_t& used);
  size_t decode_bytes(size_t count, int64_t* ends, std::byte* data, size_t capacity, size_t& used);
  // The same as views, 16 bytes each, of buffer 0: only what is longer than 12 bytes stays in `data`. The others pass
  // through it: there must be room for the next one, whatever its length. `capacity` is at most INT32_MAX.
  size_t decode_views(size_t count, std::byte* views, std::byte* data, size_t capacity, size_t& used);
  // Dictionary indices, booleans, fixed widths and split streams are passed over without a look at them; BYTE_ARRAY costs
  // its lengths, DELTA_BINARY_PACKED its sums unless they are the last of the page, DELTA_BYTE_ARRAY its rests.
  void skip(size_t count);

  // What it holds of the pool.
  size_t bytes_in_use() const {
    return dictionary_.bytes_in_use() + dictionary_page_.bytes_in_use() + previous_.bytes_in_use();
  }
  // Frees it.
  void close();

  // ---- Looking ahead, values of any length only ----

  // No `count` values of this page have more bytes.
  size_t value_bytes_bound(size_t count) const;
  // A place in the page. Walking it does not move the decoder.
  struct Cursor {
    const std::byte* plain = nullptr;  // the next value, or the bytes of the next one's rest
    HybridReader indices;
    DeltaReader deltas;    // values; lengths of values or rests
    DeltaReader prefixes;  // DELTA_BYTE_ARRAY
    size_t position = 0;   // bit of a byte of booleans; value of split streams; byte of an unread page
  };
  Cursor cursor() const { return cursor_; }
  // The byte lengths of the next `count` <= kScratch values at `at`, which moves behind them. Throws CorruptError as
  // the decoding would.
  void lengths(Cursor& at, size_t count, uint32_t* lengths) const;

  // Values are handled in parts of this many: their indices stay in the first-level cache.
  static constexpr size_t kScratch = 1024;

 private:
  enum class Method : uint8_t {
    kNone,
    kPlain,
    kUnread,
    kPlainBits,
    kRleBits,
    kDictionary,
    kDelta,
    kDeltaLength,
    kDeltaPrefix,
    kSplit,
  };
  // Where the values of a dictionary of bytes are.
  struct DictionaryBytes {
    const std::byte* page;
    const uint32_t* offsets;  // of the bytes of each
    uint32_t width;           // of all; 0: it stands before the bytes
    const std::byte* bytes(uint32_t index) const { return page + offsets[index]; }
    uint32_t length(const std::byte* value) const { return width > 0 ? width : load<uint32_t>(value - 4); }
    uint32_t length(uint32_t index) const { return length(bytes(index)); }
  };

  DictionaryBytes dictionary_of_bytes() const {
    return {dictionary_values_, dictionary_.as<uint32_t>(), static_cast<uint32_t>(conversion_.source_width)};
  }
  bool to_bytes() const { return conversion_.is_of_bytes(); }
  size_t plain_left(const Cursor& at) const { return static_cast<size_t>(end_ - at.plain); }

  void start_delta_prefix(std::span<const std::byte> values);
  void decode_plain_fixed(size_t count, std::byte* target);
  void decode_unread(size_t count, std::byte* target);
  void decode_plain_converted_bytes(size_t count, std::byte* target);
  void decode_dictionary_fixed(size_t count, std::byte* target);
  void decode_indices(size_t count, uint32_t* target);
  template <typename T>
  void decode_delta_fixed(size_t count, std::byte* target);
  void decode_split_fixed(size_t count, std::byte* target);
  void decode_delta_length_converted(size_t count, std::byte* target);
  void decode_delta_prefix_fixed(size_t count, std::byte* target);
  template <typename Visit>
  void visit_delta_prefix(size_t count, Visit&& visit);
  void convert_fixed(const std::byte* source, size_t count, std::byte* target) const;
  void convert_one(const std::byte* source, size_t size, std::byte* target) const;
  void gather(const uint32_t* indices, size_t count, std::byte* target) const;
  void fill(uint32_t index, size_t count, std::byte* target) const;
  void check_indices(const uint32_t* indices, size_t count) const;
  void check_index(uint32_t index) const;
  template <typename Offset>
  size_t decode_any_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  template <typename Offset>
  size_t decode_plain_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  template <typename Offset>
  size_t decode_fixed_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  template <typename Offset>
  size_t decode_dictionary_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  template <typename Offset>
  size_t decode_delta_length_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  template <typename Offset>
  size_t decode_delta_prefix_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used);
  uint64_t read_lengths(DeltaReader& reader, size_t count, uint32_t* lengths) const;
  void require_fixed(const Cursor& at, size_t count) const;
  template <typename Offset>
  void check_text(const std::byte* data, size_t from, const Offset* ends, size_t count) const;

  Conversion conversion_;
  const Kernels* kernels_;
  PhysicalType type_;
  bool validate_utf8_;
  bool has_dictionary_ = false;
  bool lengths_vary_ = false;  // of plain BYTE_ARRAY values, lately
  Method method_ = Method::kNone;
  Cursor cursor_;
  const std::byte* end_ = nullptr;
  const std::byte* dictionary_values_ = nullptr;  // in dictionary_page_, or borrowed, or in dictionary_
  Block dictionary_page_;
  Block dictionary_;  // converted values; of bytes: the offsets of values
  size_t dictionary_count_ = 0;
  size_t dictionary_value_bytes_max_ = 0;
  size_t dictionary_data_bytes_ = 0;
  size_t split_count_ = 0;  // values of a BYTE_STREAM_SPLIT page
  UnreadPage* unread_ = nullptr;
  size_t unread_end_ = 0;
  // DELTA_BYTE_ARRAY
  Block previous_;  // the value before the next one
  size_t previous_size_ = 0;
  size_t longest_ = 0;       // value of the page
  size_t prefix_bytes_ = 0;  // of all values of the page that are left
};

}  // namespace frazil::parquet
