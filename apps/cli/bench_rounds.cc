#include "bench_rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

void print_json_line(Session& session, const BenchRound& round) {
  json::Object line = to_json(round.figures);
  if (round.operations) {
    line.emplace_back("operations", json::Value(static_cast<int64_t>(*round.operations)));
    line.emplace_back("microseconds_median", json::Value(round.figures.seconds * 1e6));
  }
  if (round.content) line.emplace_back("content_hash", json::Value(round.content->to_string()));
  session.print_line(json::write(json::Value(std::move(line))));
  session.out().flush();
}

// Of files, read or written.
uint64_t bytes_moved(const Figures& figures) {
  return figures.bytes_read + figures.bytes_written;
}

// Each round; of several the median and range of each column.
void print_table(Session& session, const std::vector<BenchRound>& rounds) {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  struct Column {
    const char* name;
    std::function<double(const Figures&)> value;
    std::function<std::string(double)> text;
  };
  const auto tenths = [](double value) { return std::isnan(value) ? "-" : message("{:.1f}", value); };
  const auto bytes = [](double value) { return human_bytes(static_cast<uint64_t>(value)); };
  const std::vector<Column> of_operations = {
      {"us", [](const Figures& f) { return f.seconds * 1e6; }, [](double value) { return message("{:.2f}", value); }},
      {"allocations", [](const Figures& f) { return static_cast<double>(f.allocations); },
       [](double value) { return message("{:.0f}", value); }},
      {"bytes moved", [](const Figures& f) { return static_cast<double>(bytes_moved(f)); }, bytes},
      {"pool peak", [](const Figures& f) { return static_cast<double>(f.pool_peak_bytes); }, bytes},
      {"RSS peak", [](const Figures& f) { return static_cast<double>(f.rss_peak_bytes); }, bytes},
  };
  const std::vector<Column> of_rows = {
      {"seconds", [](const Figures& f) { return f.seconds; }, [](double value) { return message("{:.3f}", value); }},
      {"M rows/s", [](const Figures& f) { return static_cast<double>(f.rows) / f.seconds / 1e6; },
       [](double value) { return message("{:.3g}", value); }},
      {"MB/s", [](const Figures& f) { return static_cast<double>(bytes_moved(f)) / f.seconds / 1e6; }, tenths},
      {"first batch ms", [](const Figures& f) { return f.seconds_to_first_batch.value_or(kUnknown) * 1e3; }, tenths},
      {"pool peak", [](const Figures& f) { return static_cast<double>(f.pool_peak_bytes); }, bytes},
      {"RSS peak", [](const Figures& f) { return static_cast<double>(f.rss_peak_bytes); }, bytes},
  };
  const std::vector<Column>& columns = rounds.front().operations ? of_operations : of_rows;
  std::vector<ListingColumn> heads = {{"round"}};
  for (const Column& column : columns) heads.push_back({column.name, true});
  Listing listing = session.listing(std::move(heads));
  for (size_t r = 0; r < rounds.size(); ++r) {
    std::vector<Cell> cells = {std::to_string(r + 1)};
    for (const Column& column : columns) cells.emplace_back(column.text(column.value(rounds[r].figures)));
    listing.row(std::move(cells));
  }
  if (rounds.size() > 1) {
    std::vector<Cell> lowest = {"lowest"};
    std::vector<Cell> median = {"median"};
    std::vector<Cell> highest = {"highest"};
    for (const Column& column : columns) {
      std::vector<double> values;
      for (const BenchRound& round : rounds) values.push_back(column.value(round.figures));
      std::sort(values.begin(), values.end());
      const size_t half = values.size() / 2;
      lowest.emplace_back(column.text(values.front()));
      median.emplace_back(column.text(values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2));
      highest.emplace_back(column.text(values.back()));
    }
    for (auto* cells : {&lowest, &median, &highest}) listing.row(std::move(*cells));
  }
  listing.finish();

  const Figures& last = rounds.back().figures;
  session.print_line(message("{}, {}, {}, {}{}", human_count(last.rows, "row"),
                             human_count(static_cast<int64_t>(last.files), "file"), human_bytes(bytes_moved(last)),
                             static_cast<int64_t>(last.threads),
                             last.order ? message(", {} order", order_name(*last.order)) : ""));
  if (rounds.back().content) session.print_line("content hash " + rounds.back().content->to_string());
}

// The rounds are of the same rows.
void check_same_rows(const BenchRound& first, const BenchRound& other) {
  if (first.figures.rows != other.figures.rows || (first.content && first.content->sum() != other.content->sum())) {
    throw_error(ErrorKind::kInternal, "two rounds gave different rows: {} and {}, content hashes {} and {}",
                first.figures.rows, other.figures.rows, first.content ? first.content->to_string() : "none",
                other.content ? other.content->to_string() : "none");
  }
}

}  // namespace

void add_rounds(Command& command, BenchRounds& rounds) {
  command.option("--rounds", rounds.rounds, "N", "how often (3)")
      .option("--warm-up", rounds.warm_up, "N", "rounds before that, not reported (0)");
}

void run_rounds(Session& session, const BenchRounds& rounds, const std::function<BenchRound()>& run) {
  const int64_t count = rounds.rounds.value_or(3);
  const int64_t warm_up = rounds.warm_up.value_or(0);
  if (count < 1 || warm_up < 0) throw_error(ErrorKind::kInvalidArgument, "--rounds must be at least 1");
  const auto run_one = [&] {
    session.context().memory_pool().trim();
    reset_rss_peak();
    BenchRound round = run();
    if (session.stop().stop_requested()) throw CancelledError();
    round.figures.rss_peak_bytes = rss_peak_bytes();
    return round;
  };
  for (int64_t r = 0; r < warm_up; ++r) run_one();
  std::vector<BenchRound> done;
  for (int64_t r = 0; r < count; ++r) {
    done.push_back(run_one());
    check_same_rows(done.front(), done.back());
    if (session.is_json()) print_json_line(session, done.back());
  }
  if (!session.is_json()) print_table(session, done);
}

}  // namespace frazil::cli
