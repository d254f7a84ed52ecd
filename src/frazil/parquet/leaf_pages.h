// The data pages of one leaf of the schema, one row group after the other: each opened at its levels and its values, with
// the dictionary that it needs. What comes of the levels is the business of who reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/dictionary_array.h"
#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

struct OffsetIndex;

class LeafPages {
 public:
  // Levels of a page whose values come past the page's block to where they belong. One run that says that all values are
  // there takes less.
  static constexpr size_t kPlacedLevelBytesMax = 32;

  struct Options {
    ChunkPages::Options pages;
    bool validate_utf8 = false;
    // Of the first row group's dictionary, if that is large, only the front is loaded at first, and all of it once a page
    // asks for more: the first rows are there sooner. Writers number values as they come.
    bool fronts_first = false;
  };

  // Borrows file, metadata and decompressor. Requires that values of the leaf can be `type` (require_conversion).
  LeafPages(const InputFile& file, const FileMetadata& metadata, size_t leaf, const DataTypePtr& type,
            Decompressor& decompressor, const Options& options);

  size_t leaf() const { return leaf_; }
  const SchemaNode& node() const { return metadata_->schema().leaf(leaf_); }
  const std::string& path() const { return path_; }
  const ColumnChunk& chunk() const { return *chunk_; }

  void use(Decompressor& decompressor) { pages_.use(decompressor); }
  // Starts a row group. `whole`: the bytes of its chunk if somebody holds them in memory, else nullptr.
  void open(size_t row_group, const std::byte* whole);
  // Says behind open() that the pages will be loaded by load_plain().
  void expect_plain();
  // Frees what it holds.
  void close();

  using Status = ChunkPages::Status;
  // Makes the current page a data page with at least one level, and starts it unless it was. Repeatable.
  Status load(MemorySource& memory);
  // load() for a page that load_header() found, of a leaf without repetition whose plain values are wanted as they are
  // (Conversion::takes_plain). Spares copies of PLAIN values with few levels: if they are not compressed, they stay in the
  // file until values.decode_fixed() reads them. If they are, all of them belong to `place`, and none is null, they lie
  // there afterwards, and values.decode_fixed() has nothing to copy.
  Status load_plain(const std::optional<ValuePlace>& place, MemorySource& memory);
  // The same by its header alone: levels and values cannot be read then, but advance() passes over the page.
  Status load_header(MemorySource& memory);
  const PageHeader& header() const { return pages_.page().header; }
  size_t level_count() const { return static_cast<size_t>(header().value_count); }
  // Leaves the page.
  void advance();
  // Goes on at the page whose header stands at `offset`, behind the current one. The dictionary has been loaded, by one
  // of the calls above.
  void jump(uint64_t offset);

  // Of the current page, behind load(): both stand at the first level and move as they are read.
  HybridReader definition_levels;
  HybridReader repetition_levels;
  ValueDecoder values;

  // Where in the file it is, for errors.
  uint64_t offset() const { return pages_.position(); }
  size_t bytes_in_use() const {
    return pages_.bytes_in_use() + values.bytes_in_use() + (dictionary_ ? dictionary_->bytes_in_use() : 0);
  }

  // What the dictionary of this row group took, once its last page has been read and it is freed.
  size_t spared_bytes() const { return spared_bytes_; }

  // Gives an array of indices, if that is what was asked for, the row group's dictionary: one for all of its batches.
  void add_dictionary(Array& array) const {
    if (dictionary_) array.dictionary = dictionary_->array();
  }

 private:
  Status load_unread(MemorySource& memory);
  Status load_to(const ValuePlace& place, MemorySource& memory);
  bool load_dictionary(MemorySource& memory);
  bool load_dictionary(std::span<const std::byte> page_values, size_t count, MemorySource& memory);
  Status load_front_or_whole(MemorySource& memory);
  Status load_whole_dictionary(MemorySource& memory);
  bool is_behind_front() const;
  void free_spent_dictionary(MemorySource& memory);
  void start_page();
  void start_levels(std::span<const std::byte>& values_left);
  void start_values(std::span<const std::byte> bytes);
  HybridReader take_levels(const char* kind, Encoding encoding, uint32_t max_level, std::span<const std::byte>& values);

  const FileMetadata* metadata_;
  const InputFile* file_;
  size_t leaf_;
  std::string path_;
  ChunkPages pages_;
  std::unique_ptr<DictionaryArray> dictionary_;  // where indices are asked for, which is rare
  const ColumnChunk* chunk_ = nullptr;
  bool has_old_dictionary_ = false;     // of the row group before
  int64_t dictionary_pages_left_ = -1;  // data pages that refer to the dictionary; -1: not known
  size_t spared_bytes_ = 0;
  // While the dictionary is its front alone: where its page stands, and how many values it has.
  struct Front {
    uint64_t offset = 0;
    size_t count = 0;
    bool is_too_short = false;          // for the current page
    std::optional<uint64_t> return_to;  // while the whole is being loaded: where the current page stands
  };
  std::optional<Front> front_;
  bool fronts_first_ = false;  // in this row group
  bool had_data_pages_ = false;
  bool is_started_ = false;
  std::byte levels_[kPlacedLevelBytesMax + kBlockPadding] = {};  // of a page from load_plain()
};

}  // namespace frazil::parquet
