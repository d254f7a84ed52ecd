#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parquet.h"
#include "parquet_files.h"
#include "parquet_text.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/parquet/page_index.h"
#include "frazil/parquet/statistics.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  ParquetArguments files;
  bool pages = false;
};

// Prints the statistics of one leaf.
class LeafStatistics {
 public:
  LeafStatistics(Session& session, const ParquetFile& file, size_t leaf, FileListing& listing)
      : pool_(session.context().memory_pool()), file_(file), leaf_(leaf), listing_(listing) {
    const parquet::SchemaNode& node = file.schema().leaf(leaf);
    try {
      field_ = {.name = std::string(node.name), .type = parquet::arrow_leaf_type(node)};
      parquet::add_extension(node, field_.metadata);
      decoder_.emplace(*file.metadata, leaf, field_.type);
    } catch (const CorruptError&) {
      decoder_.reset();  // an annotation that the type cannot have: its bounds mean nothing
    }
  }

  void print_chunk(size_t group, const parquet::ColumnChunk& chunk) {
    if (chunk.statistics.empty()) return print(group, std::nullopt, chunk.value_count, {}, {});
    const parquet::Statistics statistics = parquet::parse_statistics(chunk.statistics);
    print(group, std::nullopt, chunk.value_count, statistics,
          decoder_ ? decoder_->decode(statistics, chunk.value_count) : predicate::ColumnStatistics());
  }

  void print_pages(size_t group) {
    const std::vector<size_t> leaves = {leaf_};
    const auto index = parquet::PageIndex::read(*file_.input, *file_.metadata, group, leaves, leaves, pool_);
    const parquet::PageIndex::Column& column = *index.find(leaf_);
    if (!column.defect.empty()) throw_corrupt(CorruptError::kNoOffset, "the page index is damaged: {}", column.defect);
    if (!column.bounds) return;
    for (size_t page = 0; page < column.bounds->page_count(); ++page) {
      print(group, static_cast<int64_t>(page), static_cast<int64_t>(column.offsets->rows(page).row_count()),
            column.bounds->statistics(page),
            decoder_ ? decoder_->decode(*column.bounds, *column.offsets, page) : predicate::ColumnStatistics());
    }
  }

  static std::vector<ListingColumn> columns(bool of_pages) {
    std::vector<ListingColumn> columns = {{"row_group"}, {"column"}};
    if (of_pages) columns.push_back({"page", true});
    columns.insert(columns.end(), {{of_pages ? "rows" : "values", true},
                                   {"null_count", true},
                                   {"nan_count", true},
                                   {"distinct_count", true},
                                   {"min"},
                                   {"max"},
                                   {"min_exact"},
                                   {"max_exact"},
                                   {"believed"}});
    return columns;
  }

 private:
  void print(size_t group, std::optional<int64_t> page, int64_t count, const parquet::Statistics& raw,
             const predicate::ColumnStatistics& decoded) {
    const auto bound = [&](const std::optional<predicate::Value>& value) {
      return value ? Cell(value_text(field_, *value, pool_)) : Cell(Null{});
    };
    const bool has_min = raw.min_value || raw.min;
    const bool has_max = raw.max_value || raw.max;
    std::vector<Cell> cells = {static_cast<int64_t>(group), file_.column(leaf_)};
    if (page) cells.emplace_back(*page);
    cells.insert(
        cells.end(),
        {Cell(count), optional_cell(raw.null_count), optional_cell(raw.nan_count), optional_cell(raw.distinct_count),
         bound(decoded.lower), bound(decoded.upper), raw.min_value ? Cell(raw.is_min_value_exact) : Cell(Null{}),
         raw.max_value ? Cell(raw.is_max_value_exact) : Cell(Null{}),
         has_min || has_max ? Cell((!has_min || decoded.lower) && (!has_max || decoded.upper)) : Cell(Null{})});
    listing_.row(file_, std::move(cells));
  }

  MemoryPool& pool_;
  const ParquetFile& file_;
  size_t leaf_;
  FileListing& listing_;
  Field field_;
  std::optional<parquet::StatisticsDecoder> decoder_;
};

void print_stats(Session& session, const Arguments& arguments) {
  std::optional<FileListing> listing;
  for_each_parquet(session, arguments.files.files, [&](const ParquetFile& file, size_t, size_t count) {
    if (!listing) listing.emplace(session, count, LeafStatistics::columns(arguments.pages));
    for_each_chunk(session, file, selected_leaves(file, arguments.files.select),
                   [&](size_t group, size_t leaf, const parquet::ColumnChunk& chunk) {
                     LeafStatistics statistics(session, file, leaf, *listing);
                     if (arguments.pages) {
                       statistics.print_pages(group);
                     } else {
                       statistics.print_chunk(group, chunk);
                     }
                   });
  });
  if (listing) listing->finish(arguments.pages ? "no page index" : "no row groups");
}

}  // namespace

void add_parquet_stats(Command& parquet) {
  auto arguments = std::make_shared<Arguments>();
  Command command = parquet.add("stats", "Print the statistics of columns: bounds, nulls, NaNs, distinct values");
  add_parquet_files(command, arguments->files, "only of these columns");
  command.flag("--pages", arguments->pages, "of each page, from the page index")
      .example("frazil parquet stats hits.parquet --select ts --pages")
      .action([arguments](Session& session) { print_stats(session, *arguments); });
}

}  // namespace frazil::cli
