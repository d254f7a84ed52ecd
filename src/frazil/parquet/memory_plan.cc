#include "frazil/parquet/memory_plan.h"

#include <algorithm>
#include <limits>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/dictionary_array.h"
#include "frazil/parquet/page_header.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

namespace {

constexpr size_t kUnknown = std::numeric_limits<size_t>::max();
constexpr uint64_t kSharedGapMax = uint64_t{32} << 10;
constexpr uint64_t kSharedReadMax = uint64_t{1} << 20;

// Of one column, over all row groups that are read.
struct ColumnFacts {
  size_t window = 0;             // bytes of the block that chunks pass through
  size_t page = 0;               // decompressed
  size_t dictionary = 0;         // what ValueDecoder makes of it
  size_t dictionary_kept = 0;    // the page, where its values are used as they lie there
  size_t dictionary_window = 0;  // of a dictionary page, only while it is loaded
  size_t dictionary_page = 0;    // decompressed, only while it is converted
  size_t previous = 0;           // the value before, of DELTA_BYTE_ARRAY pages
  size_t data = 0;               // of a batch's variable values
  size_t value = 0;              // the longest variable value: no longer than what it lies in
  size_t levels = 0;             // of a row group, of columns with lists

  void raise_to(const ColumnFacts& other) {
    window = std::max(window, other.window);
    page = std::max(page, other.page);
    dictionary = std::max(dictionary, other.dictionary);
    dictionary_kept = std::max(dictionary_kept, other.dictionary_kept);
    dictionary_window = std::max(dictionary_window, other.dictionary_window);
    dictionary_page = std::max(dictionary_page, other.dictionary_page);
    previous = std::max(previous, other.previous);
    data = std::max(data, other.data);
    value = std::max(value, other.value);
    levels = std::max(levels, other.levels);
  }
};

// What the plan has to know of a leaf's reader.
struct Leaf {
  size_t leaf = 0;
  const Conversion& conversion;
  bool is_variable = false;
  bool is_repeated = false;
};

std::vector<Leaf> leaves_of(const ColumnTree& tree) {
  std::vector<Leaf> leaves;
  for (const ColumnReader& column : tree.columns()) {
    leaves.push_back({column.leaf(), column.conversion(), column.is_variable(), false});
  }
  for (const RepeatedColumn& column : tree.repeated()) {
    for (const auto& leaf : column.leaves) {
      leaves.push_back({leaf->leaf(), leaf->conversion(), leaf->is_variable(), true});
    }
  }
  return leaves;
}

size_t times(size_t left, size_t right) {
  size_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? kUnknown : product;
}

size_t plus(size_t left, size_t right) {
  size_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? kUnknown : sum;
}

size_t block_bytes(size_t size) {
  return size == 0 ? 0 : MemoryPool::block_bytes(size);
}

size_t to_size(int64_t value) {
  return value < 0 ? 0 : static_cast<size_t>(value);
}

// Bytes of all BYTE_ARRAY values of the chunk, where the writer told them (SizeStatistics); else unknown.
size_t unencoded_bytes(const ColumnChunk& chunk) {
  if (chunk.size_statistics.empty()) return kUnknown;
  ThriftReader reader(chunk.size_statistics);
  for (ThriftFields fields(reader); fields.next();) {
    if (fields.id() == 1) return to_size(fields.i64());
    fields.skip();
  }
  return kUnknown;
}

// A dictionary page of `page_bytes`, `count` values of it known or not.
void add_dictionary(const Leaf& column, const ColumnChunk& chunk, size_t page_bytes, size_t count, ColumnFacts& facts) {
  const Conversion& conversion = column.conversion;
  const auto source = static_cast<size_t>(conversion.source_width);
  count = std::min(count, page_bytes / (source > 0 ? source : 4));
  if (!conversion.keeps_dictionary_page()) {
    const size_t bytes = conversion.to_indices ? DictionaryArray::bytes_bound(page_bytes, count)
                                               : times(count, static_cast<size_t>(conversion.target_width));
    facts.dictionary = std::max(facts.dictionary, bytes);
    if (chunk.codec != CompressionCodec::kUncompressed) {
      facts.dictionary_page = std::max(facts.dictionary_page, page_bytes);
    }
    return;
  }
  facts.dictionary_kept = std::max(facts.dictionary_kept, page_bytes);
  if (column.is_variable) facts.dictionary = std::max(facts.dictionary, times(count, sizeof(uint32_t)));
}

// Some writers left it 0 (DuckDB before 0.3), or wrote the compressed size (hyparquet).
bool uncompressed_size_lies(const ColumnChunk& chunk) {
  if (chunk.codec == CompressionCodec::kUncompressed) return chunk.total_uncompressed_size <= 0;
  return chunk.total_uncompressed_size <= chunk.total_compressed_size;
}

bool may_have_dictionary(const ColumnChunk& chunk) {
  return chunk.dictionary_page_offset > 0 || chunk.declares(Encoding::kPlainDictionary) ||
         chunk.declares(Encoding::kRleDictionary) || chunk.encodings == 0;
}

// Bytes of all values of a variable column's chunk, as the footer tells them; else unknown.
size_t value_bytes_of(const Leaf& column, const ColumnChunk& chunk, size_t values) {
  if (column.conversion.source_width > 0) return times(values, static_cast<size_t>(column.conversion.source_width));
  const size_t unencoded = unencoded_bytes(chunk);
  const bool may_repeat = may_have_dictionary(chunk) || chunk.declares(Encoding::kDeltaByteArray);
  return may_repeat ? unencoded : std::min(unencoded, to_size(chunk.total_uncompressed_size));
}

void add_footer_facts(const Leaf& column, const ColumnChunk& chunk, size_t group_rows, ColumnFacts& facts) {
  const size_t compressed = to_size(chunk.total_compressed_size);
  const size_t uncompressed = to_size(chunk.total_uncompressed_size);
  facts.window = std::max(facts.window, compressed);
  if (chunk.codec != CompressionCodec::kUncompressed) facts.page = std::max(facts.page, uncompressed);
  const bool dictionary = may_have_dictionary(chunk);
  if (dictionary) add_dictionary(column, chunk, uncompressed, kUnknown, facts);
  const size_t values = column.is_repeated ? to_size(chunk.value_count) : group_rows;
  if (column.is_repeated) facts.levels = std::max(facts.levels, values);
  const bool prefixes = chunk.declares(Encoding::kDeltaByteArray) || chunk.encodings == 0;
  if (prefixes) facts.previous = std::max(facts.previous, uncompressed);
  if (!column.is_variable) return;
  facts.data = std::max(facts.data, value_bytes_of(column, chunk, values));
  facts.value = std::max(facts.value, uncompressed);
}

// ---- Walking page headers ----

struct PageFacts {
  size_t rows = 0;
  size_t data = 0;  // bytes of variable values
};

// The most bytes of variable values that `rows` consecutive rows touch, wherever they start.
size_t most_bytes(std::span<const PageFacts> pages, size_t rows) {
  size_t most = 0;
  size_t first = 0;
  size_t sum = 0;
  size_t inner_rows = 0;  // of pages first + 1 .. last - 1, which lie inside of the rows
  for (size_t last = 0; last < pages.size(); ++last) {
    sum = plus(sum, pages[last].data);
    if (last > first + 1) inner_rows += pages[last - 1].rows;
    // One row of the first page, one of the last, and all between.
    while (first < last && inner_rows + 2 > rows) {
      sum = sum == kUnknown ? kUnknown : sum - pages[first].data;
      ++first;
      if (first < last) inner_rows -= std::min(inner_rows, pages[first].rows);
    }
    most = std::max(most, sum);
  }
  return most;
}

PageHeader read_page_header(const InputFile& file, uint64_t position, uint64_t end) {
  std::byte first[256];
  for (size_t size = sizeof(first);; size *= 16) {
    const auto given = static_cast<size_t>(std::min<uint64_t>({size, end - position, kPageHeaderBytesMax}));
    std::vector<std::byte> more;
    std::span<std::byte> bytes(first, std::min(given, sizeof(first)));
    if (given > sizeof(first)) {
      more.resize(given);
      bytes = more;
    }
    file.read_at(position, bytes);
    try {
      return parse_page_header(bytes, position);
    } catch (const CorruptError&) {
      if (given == end - position || given == kPageHeaderBytesMax) throw;
    }
  }
}

void add_page_facts(const InputFile& file, const Leaf& column, const ColumnChunk& chunk, ChunkRange range,
                    size_t group_rows, size_t rows_max, ColumnFacts& facts) {
  const bool is_variable = column.is_variable;
  const auto source_width = static_cast<size_t>(column.conversion.source_width);
  std::vector<PageFacts> pages;
  size_t dictionary_page = 0;
  uint64_t position = range.begin;
  uint64_t rows = 0;
  while (position < range.end && (column.is_repeated || rows < group_rows)) {
    const PageHeader header = read_page_header(file, position, range.end);
    const auto compressed = to_size(header.compressed_size);
    const auto uncompressed = to_size(header.uncompressed_size);
    const auto count = to_size(header.value_count);
    const bool is_dictionary = header.type == PageType::kDictionary;
    // A window made for a dictionary page that is kept and not compressed becomes the dictionary.
    const bool is_kept =
        is_dictionary && chunk.codec == CompressionCodec::kUncompressed && column.conversion.keeps_dictionary_page();
    size_t& window = is_dictionary ? facts.dictionary_window : facts.window;
    window = std::max(window, std::max<size_t>(is_kept ? 0 : compressed, header.header_size));
    if (is_dictionary) {
      dictionary_page = uncompressed;
      add_dictionary(column, chunk, uncompressed, count, facts);
    } else if (header.type == PageType::kData || header.type == PageType::kDataV2) {
      rows += count;
      if (chunk.codec != CompressionCodec::kUncompressed) facts.page = std::max(facts.page, uncompressed);
      const bool prefixes = header.encoding == Encoding::kDeltaByteArray;
      if (prefixes) facts.previous = std::max(facts.previous, uncompressed);
      if (is_variable) {
        const bool indexed =
            header.encoding == Encoding::kPlainDictionary || header.encoding == Encoding::kRleDictionary;
        size_t data = uncompressed;
        if (source_width > 0) {
          data = times(count, source_width);
        } else if (indexed) {
          data = times(count, dictionary_page);
        } else if (prefixes) {
          data = times(count, uncompressed);
        }
        pages.push_back({count, data});
        facts.value = std::max({facts.value, uncompressed, indexed ? dictionary_page : 0});
      }
    }
    position += header.header_size + compressed;
    if (position > range.end) throw_corrupt(position, "page exceeds its column chunk");
  }
  if (column.is_repeated) {
    // How many rows a page has, or a batch levels, is not told.
    facts.levels = std::max<size_t>(facts.levels, rows);
    rows_max = kUnknown;
  }
  if (is_variable) {
    facts.data = std::max(facts.data, std::min(most_bytes(pages, rows_max), unencoded_bytes(chunk)));
  }
}

// The context of a codec.
size_t context_bytes(CompressionCodec codec, size_t page) {
  constexpr size_t kContextBytes = size_t{160} << 10;  // zstd's has 94 KiB, deflate's 16
  switch (codec) {
    case CompressionCodec::kGzip:
    case CompressionCodec::kZstd:
      return kContextBytes;
    case CompressionCodec::kBrotli:  // with a window of up to 16 MiB
      return kContextBytes * 5 + 4 * std::min(page, size_t{16} << 20);
    default:
      return 0;
  }
}

// Blocks of a batch.
struct BatchBuffers {
  size_t exact = 0;        // made once, with the size that they need
  size_t growing = 0;      // at their largest
  size_t growing_sum = 0;  // of what is in them
  size_t growing_max = 0;
  size_t growing_count = 0;
  size_t tails = 0;  // of rows that are decoded and belong to the next batch

  void add_exact(size_t bytes) { exact = plus(exact, block_bytes(bytes)); }
  void add_growing(size_t bytes) {
    ++growing_count;
    growing_sum = plus(growing_sum, bytes);
    growing = plus(growing, block_bytes(bytes));
    growing_max = std::max(growing_max, block_bytes(bytes));
  }
  void add_tail(size_t bytes) { tails = plus(tails, block_bytes(bytes)); }
};

void add_repeated_buffers(const RepeatedReader& leaf, size_t levels, size_t data_bytes, size_t rows, size_t bytes_max,
                          BatchBuffers& buffers) {
  constexpr size_t kTail = RepeatedReader::kLevels;
  const auto add_structure = [&](const Structure& structure, bool nullable) {
    // Slots of the outermost are rows, and room for them is made at once.
    const size_t most = RepeatedReader::slots_max(structure.slot_bits() + (nullable ? 1 : 0), levels, bytes_max);
    const size_t slots = std::max(most, std::min(rows, levels));
    if (structure.is_list()) buffers.add_growing(structure.fixed_bytes(slots));
    if (structure.is_list()) buffers.add_tail(structure.fixed_bytes(std::min(slots, kTail)));
    if (!nullable) return;
    buffers.add_growing(bytes_for_bits(slots));
    buffers.add_tail(bytes_for_bits(std::min(slots, kTail)));
  };
  for (const RepeatedReader::ListLevel& level : leaf.lists()) {
    if (level.teller == nullptr) add_structure(*level.structure, level.nullable);
  }
  for (const RepeatedReader::StructLevel& level : leaf.structs()) add_structure(*level.structure, true);
  const size_t slots = RepeatedReader::slots_max(leaf.slot_bits(), levels, bytes_max);
  buffers.add_growing(leaf.values().fixed_bytes(slots));
  buffers.add_tail(leaf.values().fixed_bytes(std::min(slots, kTail)));
  if (leaf.is_nullable()) {
    buffers.add_growing(bytes_for_bits(slots));
    buffers.add_tail(bytes_for_bits(std::min(slots, kTail)));
  }
  if (!leaf.is_variable()) return;
  buffers.add_growing(std::max(data_bytes, kDataBytesMin));
  buffers.add_tail(std::min(data_bytes, RepeatedReader::kPieceDataBytes));
}

}  // namespace

std::vector<SharedRead> plan_shared_reads(std::span<const ChunkRange> chunks, size_t window_bytes) {
  std::vector<size_t> order;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].end - chunks[i].begin <= window_bytes) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return chunks[a].begin != chunks[b].begin ? chunks[a].begin < chunks[b].begin : a < b;
  });
  std::vector<SharedRead> reads;
  for (size_t i : order) {
    const ChunkRange& chunk = chunks[i];
    if (!reads.empty()) {
      SharedRead& last = reads.back();
      const uint64_t end = std::max(chunk.end, last.range.end);
      if (chunk.begin <= last.range.end + kSharedGapMax && end - last.range.begin <= kSharedReadMax) {
        last.range.end = end;
        last.columns.push_back(i);
        continue;
      }
    }
    reads.push_back({chunk, {i}});
  }
  std::erase_if(reads, [](const SharedRead& read) { return read.columns.size() < 2; });
  return reads;
}

size_t batch_data_bytes_max(const ColumnTree& tree, const RowGroup& row_group, const BatchLimits& limits) {
  const size_t group_rows = to_size(row_group.row_count);
  size_t total = 0;
  for (const ColumnReader& column : tree.columns()) {
    if (!column.is_variable()) continue;
    const ColumnChunk& chunk = row_group.columns[column.leaf()];
    const size_t bytes = uncompressed_size_lies(chunk)
                             ? kUnknown
                             : value_bytes_of({column.leaf(), column.conversion(), true, false}, chunk, group_rows);
    total = plus(total, bytes);
  }
  if (total == kUnknown || group_rows == 0) return limits.bytes_max;
  const double rows = static_cast<double>(std::min(limits.rows_max, group_rows));
  const double likely = 1.25 * static_cast<double>(total) / static_cast<double>(group_rows) * rows;
  const size_t least = limits.bytes_max / 4;
  return likely < static_cast<double>(limits.bytes_max) ? std::max(static_cast<size_t>(likely), least)
                                                        : limits.bytes_max;
}

MemoryPlan plan_memory(const InputFile& file, const FileMetadata& metadata, const ColumnTree& tree,
                       std::span<const size_t> row_groups, const ReadOptions& options, const BatchLimits& limits,
                       bool walk_page_headers) {
  MemoryPlan plan;
  const std::vector<Leaf> columns = leaves_of(tree);
  std::vector<ColumnFacts> facts(columns.size());
  size_t shared = 0;
  size_t contexts = 0;
  size_t rows = 0;
  size_t data_together = 0;  // of variable values in one batch
  for (size_t group : row_groups) {
    const RowGroup& row_group = metadata.row_groups()[group];
    if (row_group.row_count == 0) continue;
    const size_t data_max = batch_data_bytes_max(tree, row_group, limits);
    size_t group_row = 0;  // of one that is longer than data_max
    rows = std::max(rows, std::min(limits.rows_max, to_size(row_group.row_count)));
    std::vector<ChunkRange> ranges;
    std::vector<ColumnFacts> group_facts(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      const ColumnChunk& chunk = row_group.columns[columns[i].leaf];
      ColumnFacts& column = group_facts[i];
      ranges.push_back(chunk_range(chunk, metadata, file.size()));
      const size_t group_rows = to_size(row_group.row_count);
      if (walk_page_headers || uncompressed_size_lies(chunk)) {
        add_page_facts(file, columns[i], chunk, ranges.back(), group_rows, limits.rows_max, column);
      } else {
        add_footer_facts(columns[i], chunk, group_rows, column);
      }
      contexts =
          std::max(contexts,
                   context_bytes(chunk.codec, std::max({column.page, column.dictionary_page, column.dictionary_kept})));
      if (columns[i].is_variable && !columns[i].is_repeated) {
        const size_t longest = std::min({column.value, column.data, limits.bytes_max});
        if (longest > data_max) group_row = plus(group_row, block_bytes(longest));
        column.data = std::min(column.data, data_max);
      }
      // A window is at most the chunk, and at least what is read at a time.
      const size_t chunk_bytes = static_cast<size_t>(ranges.back().end - ranges.back().begin);
      column.window = std::max(column.window, std::min(chunk_bytes, options.window_bytes));
    }
    data_together = std::max(data_together, data_max);
    // Together too no more than bytes_max, as blocks.
    const size_t row_most = limits.bytes_max + limits.bytes_max / 4 + columns.size() * 8192;
    plan.needs.row_bytes = std::max(plan.needs.row_bytes, std::min(group_row, row_most));
    size_t group_shared = 0;
    for (const SharedRead& read : plan_shared_reads(ranges, options.window_bytes)) {
      group_shared += block_bytes(static_cast<size_t>(read.range.end - read.range.begin));
      for (size_t i : read.columns) {
        group_facts[i].window = group_facts[i].dictionary_window = 0;
        if (row_group.columns[columns[i].leaf].codec == CompressionCodec::kUncompressed) {
          group_facts[i].dictionary_kept = 0;
        }
      }
    }
    shared = std::max(shared, group_shared);
    for (size_t i = 0; i < columns.size(); ++i) facts[i].raise_to(group_facts[i]);
  }

  size_t working = plus(shared, contexts);
  size_t given_out = 0;         // dictionaries that a batch shares with the reader, and may outlive it with
  size_t dictionary_extra = 0;  // a lane loads one dictionary after the other
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t bytes :
         {facts[i].window, facts[i].page, facts[i].dictionary, facts[i].dictionary_kept, facts[i].previous}) {
      working = plus(working, block_bytes(bytes));
    }
    if (columns[i].conversion.to_indices) given_out = plus(given_out, block_bytes(facts[i].dictionary));
    size_t extra = block_bytes(facts[i].dictionary_page);
    if (facts[i].dictionary_window > facts[i].window) extra = plus(extra, block_bytes(facts[i].dictionary_window));
    dictionary_extra = std::max(dictionary_extra, extra);
    plan.data_bytes.push_back(std::min(facts[i].data, limits.bytes_max));
  }
  BatchBuffers buffers;
  size_t next = 0;
  for (const ColumnReader& column : tree.columns()) {
    if (rows > 0) buffers.add_exact(column.fixed_bytes(rows));
    for (size_t k = 0; k < column.validity_count(); ++k) buffers.add_exact(bytes_for_bits(rows));
    if (column.is_variable()) buffers.add_growing(std::max(plan.data_bytes[next], kDataBytesMin));
    ++next;
  }
  for (const RepeatedColumn& column : tree.repeated()) {
    for (const auto& leaf : column.leaves) {
      add_repeated_buffers(*leaf, facts[next].levels, plan.data_bytes[next], rows, limits.bytes_max, buffers);
      ++next;
    }
  }
  // Together what grows has at most so much in a batch; a block adds a quarter and a page to what is in it.
  size_t growing = buffers.growing;
  const size_t growing_most = tree.repeated().empty() ? std::min(data_together, limits.bytes_max) : limits.bytes_max;
  if (buffers.growing_sum > growing_most) {
    const size_t trimmed = growing_most + growing_most / 4 + buffers.growing_count * 4096;
    growing = std::min(growing, trimmed + trimmed / 4 + buffers.growing_count * 8192);
  }
  plan.needs.batch_bytes = plus(plus(buffers.exact, growing), given_out);
  // While a batch is made, its blocks are not trimmed yet, and one of them may be on its way into a larger one; rows that
  // did not fit lie beside it. Dictionaries are loaded before that, in the room for the batch.
  const size_t making = plus(buffers.tails, plus(buffers.growing - growing, buffers.growing_max));
  const size_t loading = dictionary_extra - std::min(dictionary_extra, plus(buffers.exact, growing));
  plan.needs.working_bytes = plus(working, std::max(making, loading));
  plan.needs.lane_bytes = plus(contexts, std::max(dictionary_extra, buffers.growing_max));
  return plan;
}

}  // namespace frazil::parquet
