#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parquet.h"
#include "parquet_files.h"
#include "parquet_page_headers.h"
#include "session.h"

#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/page_index.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

std::string_view page_type_text(parquet::PageType type) {
  switch (type) {
    case parquet::PageType::kData:
      return "data";
    case parquet::PageType::kDataV2:
      return "data_v2";
    case parquet::PageType::kDictionary:
      return "dictionary";
    default:
      return "unknown";
  }
}

// The entry of the index for the page at `offset`; pages come in its order. `next` is where to look first.
std::optional<size_t> indexed_page(const parquet::OffsetIndex* index, uint64_t offset, size_t& next) {
  if (index == nullptr) return std::nullopt;
  while (next < index->page_count() && index->pages[next].offset < offset) ++next;
  if (next == index->page_count() || index->pages[next].offset != offset) return std::nullopt;
  return next++;
}

class PageLister {
 public:
  PageLister(Session& session, const ParquetFile& file, FileListing& listing)
      : pool_(session.context().memory_pool()), file_(file), listing_(listing), headers_(file, pool_) {}

  void list(size_t group, size_t leaf, const parquet::ColumnChunk& chunk) {
    const std::vector<size_t> leaves = {leaf};
    const auto index = parquet::PageIndex::read(*file_.input, *file_.metadata, group, leaves, leaves, pool_);
    int64_t data_pages = 0;
    size_t next_indexed = 0;
    headers_.for_each(chunk, [&](const parquet::Page& page) {
      const bool is_data = page.header.type != parquet::PageType::kDictionary;
      const auto indexed = indexed_page(index.offsets(leaf), page.offset, next_indexed);
      print(group, leaf, page, is_data ? std::optional(data_pages++) : std::nullopt, *index.find(leaf), indexed);
    });
  }

 private:
  void print(size_t group, size_t leaf, const parquet::Page& page, std::optional<int64_t> number,
             const parquet::PageIndex::Column& index, std::optional<size_t> indexed) {
    const parquet::PageHeader& header = page.header;
    std::optional<int64_t> rows;
    std::optional<int64_t> nulls;
    std::optional<int64_t> first_row;
    if (header.type == parquet::PageType::kDataV2) {
      rows = header.row_count;
      nulls = header.null_count;
    } else if (number && file_.schema().leaf(leaf).max_repetition == 0) {
      rows = header.value_count;
    }
    if (indexed) {
      const parquet::RowRange range = index.offsets->rows(*indexed);
      first_row = static_cast<int64_t>(range.begin);
      if (!rows) rows = static_cast<int64_t>(range.row_count());
      if (!nulls && index.bounds) nulls = index.bounds->statistics(*indexed).null_count;
    }
    listing_.row(file_,
                 {static_cast<int64_t>(group), file_.column(leaf), optional_cell(number),
                  std::string(page_type_text(header.type)), std::string(to_string(header.encoding)),
                  static_cast<int64_t>(page.offset), static_cast<int64_t>(header.header_size),
                  int64_t{header.compressed_size}, int64_t{header.uncompressed_size}, int64_t{header.value_count},
                  optional_cell(rows), optional_cell(nulls), optional_cell(first_row), header.crc.has_value()});
  }

  MemoryPool& pool_;
  const ParquetFile& file_;
  FileListing& listing_;
  PageHeaders headers_;
};

void print_pages(Session& session, const ParquetArguments& arguments) {
  std::optional<FileListing> listing;
  for_each_parquet(session, arguments.files, [&](const ParquetFile& file, size_t, size_t count) {
    if (!listing) {
      listing.emplace(session, count,
                      std::vector<ListingColumn>{{"row_group"},
                                                 {"column"},
                                                 {"page", true},
                                                 {"type"},
                                                 {"encoding"},
                                                 {"offset", true},
                                                 {"header_bytes", true},
                                                 {"compressed_bytes", true},
                                                 {"uncompressed_bytes", true},
                                                 {"values", true},
                                                 {"rows", true},
                                                 {"nulls", true},
                                                 {"first_row", true},
                                                 {"checksum"}});
    }
    PageLister lister(session, file, *listing);
    for_each_chunk(
        session, file, selected_leaves(file, arguments.select),
        [&](size_t group, size_t leaf, const parquet::ColumnChunk& chunk) { lister.list(group, leaf, chunk); });
  });
  if (listing) listing->finish("no pages");
}

}  // namespace

void add_parquet_pages(Command& parquet) {
  auto arguments = std::make_shared<ParquetArguments>();
  Command command = parquet.add("pages", "List the pages of column chunks, from their headers and the page index");
  add_parquet_files(command, *arguments, "only of these columns");
  command.example("frazil parquet pages hits.parquet --select url").action([arguments](Session& session) {
    print_pages(session, *arguments);
  });
}

}  // namespace frazil::cli
