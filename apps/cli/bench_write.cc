// How fast, and in how much memory, does a batch become the files of a partitioned table and one commit?
//
// The rows are those of a public benchmark (BenchmarkPartitionedWriteThroughput of iceberg-go): id = i, ts = 2024-01-01 + i mod 10
// days, host one of 3 by i mod 3, status = 200 + i mod 5, bytes = 1000 + i mod 5000, user agent one of 3; partitions day(ts) and
// host: 30. With --partitions N there is a column "part" of N values instead, and the table is partitioned by it. Each round
// appends to a new table of a new SQLite catalog; making the rows is outside of the time.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "bench.h"
#include "bench_rounds.h"
#include "figures.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/commit/append.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/manifest/data_file.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/ddl.h"
#include "frazil/write/data_writer.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::optional<int64_t> rows;
  std::optional<int64_t> partitions;
  std::optional<std::string> order;
  std::optional<std::string> folder;
  std::optional<std::string> durability;
  std::vector<std::string> properties;
  bool nested = false;
  bool keep = false;
  BenchRounds rounds;
};

constexpr int64_t kDayMicroseconds = int64_t{86'400} * 1'000'000;
constexpr int64_t kFirstOf2024 = 19'723 * kDayMicroseconds;

std::string columns_of(const Arguments& arguments) {
  std::string columns =
      "id long not null, ts timestamptz not null, host string not null, status_code int not null, bytes_sent long not "
      "null, "
      "user_agent string not null";
  if (arguments.partitions) columns += ", part int not null";
  if (arguments.nested) {
    columns += ", tags list<string>, point struct<x: double, y: double>, counts map<string, long>";
  }
  return columns;
}

// The rows as the generator of the i-th row has them, in this order of i.
std::vector<int64_t> row_order(const Arguments& arguments, int64_t rows, int64_t partitions) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) order[static_cast<size_t>(i)] = i;
  if (arguments.order == "random") {
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  } else if (arguments.order == "clustered") {
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return std::pair(a % partitions, a) < std::pair(b % partitions, b); });
  }
  return order;
}

RecordBatch make_rows(const Arguments& arguments, const spec::Schema& table, int64_t rows, MemoryPool& pool) {
  static constexpr std::array<std::string_view, 3> kHosts = {"example.com", "foo.test.org", "demo.net"};
  static constexpr std::array<std::string_view, 3> kAgents = {"Mozilla/5.0", "curl/7.68.0", "python-requests/2.25.1"};
  const SchemaPtr schema = spec::to_arrow_schema(table);
  std::vector<std::unique_ptr<ArrayBuilder>> builders;
  for (const Field& field : schema->fields()) builders.push_back(make_builder(field.type, pool));
  const int64_t partitions = arguments.partitions.value_or(30);
  auto& ids = builders[0]->as<FixedWidthBuilder>();
  auto& times = builders[1]->as<FixedWidthBuilder>();
  auto& hosts = builders[2]->as<BytesBuilder>();
  auto& statuses = builders[3]->as<FixedWidthBuilder>();
  auto& bytes = builders[4]->as<FixedWidthBuilder>();
  auto& agents = builders[5]->as<BytesBuilder>();
  const size_t nested_at = arguments.partitions ? 7 : 6;
  for (const int64_t i : row_order(arguments, rows, partitions)) {
    ids.append<int64_t>(i);
    times.append<int64_t>(kFirstOf2024 + (i % 10) * kDayMicroseconds);
    hosts.append(kHosts[static_cast<size_t>(i % 3)]);
    statuses.append<int32_t>(static_cast<int32_t>(200 + i % 5));
    bytes.append<int64_t>(1000 + i % 5000);
    agents.append(kAgents[static_cast<size_t>(i % 3)]);
    if (arguments.partitions)
      builders[6]->as<FixedWidthBuilder>().append<int32_t>(static_cast<int32_t>(i % partitions));
    if (!arguments.nested) continue;
    auto& tags = builders[nested_at]->as<ListBuilder>();
    tags.append();
    for (int64_t tag = 0; tag < i % 4; ++tag)
      tags.values().as<BytesBuilder>().append(kAgents[static_cast<size_t>(tag)]);
    auto& points = builders[nested_at + 1]->as<StructBuilder>();
    points.append();
    points.child(0).as<FixedWidthBuilder>().append<double>(static_cast<double>(i) * 0.1);
    points.child(1).as<FixedWidthBuilder>().append<double>(static_cast<double>(i) * 0.2);
    auto& counts = builders[nested_at + 2]->as<ListBuilder>();
    counts.append();
    for (int64_t entry = 0; entry < i % 3; ++entry) {
      counts.keys().as<BytesBuilder>().append(kHosts[static_cast<size_t>(entry)]);
      counts.items().as<FixedWidthBuilder>().append<int64_t>(i + entry);
      counts.end_entry();
    }
  }
  std::vector<ArrayPtr> columns;
  for (const auto& builder : builders) columns.push_back(builder->finish());
  return RecordBatch(schema, rows, std::move(columns));
}

// A folder for one round, removed at its end unless it is to be kept.
class RoundFolder {
 public:
  RoundFolder(const std::string& parent, bool keep) : path_(parent + "/frazil-bench-XXXXXX"), keep_(keep) {
    if (::mkdtemp(path_.data()) == nullptr) throw IoError(errno, message("cannot make a folder in {}", parent));
  }
  RoundFolder(const RoundFolder&) = delete;
  RoundFolder& operator=(const RoundFolder&) = delete;
  ~RoundFolder() {
    if (keep_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool keep_;
};

Figures append_once(Session& session, const Arguments& arguments, const spec::NewTable& definition,
                    const RecordBatch& rows) {
  const RoundFolder folder(arguments.folder.value_or(std::filesystem::temp_directory_path().string()), arguments.keep);
  const auto catalog = catalog::open_catalog(
      catalog::Configuration(), "default", session.files(), session.context().memory_pool(),
      {.overrides = {{"uri", "sqlite:///" + folder.path() + "/catalog.db"}, {"warehouse", folder.path()}}});
  catalog->create_namespace({"bench"});
  const catalog::LoadedTable table =
      catalog->create_table(session.context(), {.levels = {"bench"}, .name = "t"}, definition);
  const bool full = arguments.durability == "full";
  const uint64_t allocations = session.context().memory_pool().stats().allocations;

  Figures figures;
  const auto start = std::chrono::steady_clock::now();
  const auto files = std::make_shared<CountingFileSystem>(*table.files);
  write::DataWriter writer(session.context(), table.metadata, files, {.sync = full});
  writer.write(rows);
  std::vector<manifest::DataFile> written = writer.finish();
  figures.files = written.size();
  commit::append(session.context(), table, std::move(written),
                 {.durability = full ? catalog::Durability::kFull : catalog::Durability::kProcess});
  figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  figures.rows = rows.row_count();
  figures.bytes_written = files->counters().bytes_written.load();
  figures.set_pool(session.context().memory_pool().stats());
  figures.allocations -= allocations;
  figures.threads = session.context().thread_count();
  return figures;
}

void bench_write(Session& session, const Arguments& arguments) {
  const int64_t rows = arguments.rows.value_or(2'500'000);
  if (rows < 0 || arguments.partitions.value_or(1) < 1) {
    throw_error(ErrorKind::kInvalidArgument, "--rows must be at least 0, --partitions at least 1");
  }
  spec::NewTable definition{.schema = spec::parse_schema(columns_of(arguments))};
  definition.spec = spec::parse_partition_spec(*definition.schema, arguments.partitions ? "part" : "day(ts), host");
  definition.properties = split_properties(arguments.properties);
  // The input counts in no budget: it is the caller's.
  MemoryPool input_pool;
  const RecordBatch batch = make_rows(arguments, *definition.schema, rows, input_pool);
  run_rounds(session, arguments.rounds, [&] {
    BenchRound round;
    round.figures = append_once(session, arguments, definition, batch);
    return round;
  });
}

}  // namespace

void add_bench_write(Command& bench) {
  auto arguments = std::make_shared<Arguments>();
  Command command = bench.add("write", "Time appending made-up rows to a partitioned table");
  command.option("--rows", arguments->rows, "N", "rows of the one batch (2500000)")
      .option("--partitions", arguments->partitions, "N", "values of an int column, instead of 10 days by 3 hosts")
      .choice("--order", arguments->order, {"round-robin", "random", "clustered"}, "of the rows (round-robin)")
      .flag("--nested", arguments->nested, "with a list, a struct and a map beside the flat columns")
      .option("--folder", arguments->folder, "PATH",
              "where the tables are made and removed again, else the temporary folder")
      .flag("--keep", arguments->keep, "leave the tables there")
      .choice("--durability", arguments->durability, {"process", "full"}, "full: files and folders are synced")
      .option("--property", arguments->properties, "K=V", "a property of the table");
  add_rounds(command, arguments->rounds);
  command.example("frazil bench write --rows 100000")
      .example("frazil bench write --partitions 1000 --order random --rounds 7 --output json")
      .action([arguments](Session& session) { bench_write(session, *arguments); });
}

}  // namespace frazil::cli
