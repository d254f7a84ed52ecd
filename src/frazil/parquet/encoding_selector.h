// What the pages of a chunk hold, from page to page: numbers in a dictionary, or values, in which encoding. How the values
// of one page are weighed is in encoding_choice.h; here is what follows for the next pages.
//
//   undecided   -> dictionary   a page is full, and a dictionary is the best for it
//               -> direct       the same of another encoding
//               -> dictionary   an Arrow dictionary comes in first: it is weighed when its first page is full
//   dictionary  -> undecided    it is too large, or a page's values hardly come again: from here on without
//               -> direct       an Arrow dictionary was weighed and found wanting
//   direct      -> undecided    a page takes a third more a value than the first one did
//
// Values of a page are kept while undecided and direct, their numbers with a dictionary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/dictionary_slots.h"
#include "frazil/parquet/encoder_scratch.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/open_page.h"
#include "frazil/parquet/value_dictionary.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

// What a full page holds.
struct SelectedEncoding {
  Encoding encoding = Encoding::kPlain;
  const ValueDictionary* dictionary = nullptr;  // the page has numbers in it; nullptr: it has `values`
  PageView values;
  size_t value_count = 0;  // nulls left out
};

// Owns the dictionary, in memory of the pool, which outlives it. One thread at a time.
class EncodingSelector {
 public:
  // Borrows both.
  EncodingSelector(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool);

  // ---- While a page is filled ----

  bool takes_numbers() const { return state_ == State::kDictionary; }
  // To be asked before a step's slots are taken: an Arrow dictionary may become the chunk's.
  void begin_given_dictionary(const Array& array, const OpenPage& page);
  // The numbers of values behind what `page` has. Where it takes numbers.
  void append_numbers(const FixedValues& values, OpenPage& page);
  void append_numbers(const BytesValues& values, OpenPage& page);
  // Numbers or values of slots of a dictionary array, whichever `page` takes. Throws Error(kInvalidArgument) as
  // DictionarySlots.
  void append_dictionary_slots(const Array& array, const SlotRange& range, OpenPage& page);

  // ---- When it is full ----

  // Decides, if need be, what it holds. `values` may lie outside of it, if it has none itself: they are numbered into it
  // where a dictionary is chosen. The result borrows both until the page or the selector changes.
  SelectedEncoding select(const PageView& values, OpenPage& page, ScratchBuffers& scratch);
  // `page` was written and cleared: `encoded_bytes` of what `selected` told of.
  void end_page(const SelectedEncoding& selected, size_t encoded_bytes, OpenPage& page);
  // Pages so far keep their numbers, those to come have values. Requires a dictionary and an empty page.
  void leave_dictionary(OpenPage& page);

  // ---- The dictionary ----

  // That pages have numbers in, though it may be left; nullptr: there is none.
  const ValueDictionary* dictionary() const { return dictionary_ ? &*dictionary_ : nullptr; }
  size_t dictionary_bytes() const { return dictionary_ ? dictionary_->plain_bytes() : 0; }
  size_t memory_bytes() const {
    return dictionary_slots_.memory_bytes() + (dictionary_ ? dictionary_->memory_bytes() : 0);
  }

 private:
  enum class State : uint8_t { kUndecided, kDictionary, kDirect };

  void decide(const PageView& values, OpenPage& page, ScratchBuffers& scratch);
  bool try_dictionary(const PageView& values, OpenPage& page, ScratchBuffers& scratch);
  void review_given_dictionary(OpenPage& page, ScratchBuffers& scratch);
  void begin_direct();
  bool dictionary_is_wanted() const {
    return options_->encoding == Encoding::kPlainDictionary || options_->encoding == Encoding::kRleDictionary;
  }
  bool dictionary_is_allowed() const {
    return !is_dictionary_left_ && leaf_->file_type.physical != PhysicalType::kBoolean &&
           (dictionary_is_wanted() || (options_->dictionary && !options_->encoding));
  }

  const LeafDescription* leaf_;
  const ChunkOptions* options_;
  MemoryPool* pool_;
  bool is_plain_only_;  // PLAIN and the dictionary are all that may be chosen

  State state_ = State::kUndecided;
  Encoding direct_encoding_ = Encoding::kPlain;
  double direct_cost_ = 0;            // bytes a value of the first page after direct_encoding_ was chosen; 0: not known
  bool is_dictionary_given_ = false;  // numbers came from a dictionary array and were not weighed yet
  bool is_dictionary_left_ = false;
  std::optional<ValueDictionary> dictionary_;
  uint32_t dictionary_size_before_ = 0;  // when the open page began
  DictionarySlots dictionary_slots_;
};

}  // namespace frazil::parquet
