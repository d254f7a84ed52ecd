#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parquet.h"
#include "parquet_files.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/pruning.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/parse.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  ParquetArguments files;
  std::optional<std::string> contains;
};

// What the Bloom filters alone say about a test of one column.
class Probe {
 public:
  Probe(Session& session, const ParquetFile& file, const std::string& test) {
    const auto bound = predicate::bind_predicate(predicate::parse(test), parquet::arrow_schema(file.schema()));
    auto leaves = parquet::predicate_leaves(bound, file.schema());
    if (leaves.size() != 1 || !leaves[0]) {
      Error error(ErrorKind::kInvalidArgument, message("--contains must test one column, not '{}'", test));
      throw error.set_hint("COLUMN = VALUE, or COLUMN IN (VALUE, ...)");
    }
    leaf_ = *leaves[0];
    pruner_.emplace(
        *file.input, *file.metadata, bound, std::move(leaves),
        parquet::PruningOptions{.use_statistics = false, .use_page_index = false, .use_dictionaries = false}, nullptr,
        session.context().memory_pool());
  }
  size_t leaf() const { return leaf_; }
  bool may_contain(size_t row_group) { return !pruner_->prune(row_group).rows.empty(); }

 private:
  size_t leaf_ = 0;
  std::optional<parquet::RowGroupPruner> pruner_;
};

void print_bloom(Session& session, const Arguments& arguments) {
  std::vector<ListingColumn> columns = {{"row_group"}, {"column"}, {"offset", true}, {"bytes", true}};
  if (arguments.contains) columns.push_back({"may_contain"});
  std::optional<FileListing> listing;
  for_each_parquet(session, arguments.files.files, [&](const ParquetFile& file, size_t, size_t count) {
    if (!listing) listing.emplace(session, count, columns);
    std::optional<Probe> probe;
    std::vector<size_t> leaves;
    if (arguments.contains) {
      probe.emplace(session, file, *arguments.contains);
      leaves = {probe->leaf()};
    } else {
      leaves = selected_leaves(file, arguments.files.select);
    }
    for_each_chunk(session, file, leaves, [&](size_t group, size_t leaf, const parquet::ColumnChunk& chunk) {
      if (!chunk.bloom_filter.present()) return;
      const auto filter = parquet::BloomFilter::open(*file.input, chunk, session.context().memory_pool());
      if (!filter) throw_corrupt(static_cast<uint64_t>(chunk.bloom_filter.offset), "the Bloom filter cannot be read");
      std::vector<Cell> cells = {static_cast<int64_t>(group), file.column(leaf), chunk.bloom_filter.offset,
                                 int64_t{filter->byte_size()}};
      if (probe) cells.emplace_back(probe->may_contain(group));
      listing->row(file, std::move(cells));
    });
  });
  if (listing) listing->finish("no Bloom filters");
}

}  // namespace

void add_parquet_bloom(Command& parquet) {
  auto arguments = std::make_shared<Arguments>();
  Command command = parquet.add("bloom", "List the Bloom filters of columns, and ask them for values");
  add_parquet_files(command, arguments->files, "only of these columns");
  command
      .option("--contains", arguments->contains, "COLUMN=VALUE",
              "which row groups may have the value: false is certain, as far as the filters go")
      .exclude("--select", "--contains")
      .example("frazil parquet bloom hits.parquet --contains \"host = 'api-7'\"")
      .action([arguments](Session& session) { print_bloom(session, *arguments); });
}

}  // namespace frazil::cli
