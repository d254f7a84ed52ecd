#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file_arguments.h"
#include "file_problem.h"
#include "parallel.h"
#include "parquet.h"
#include "parquet_claims.h"
#include "parquet_files.h"
#include "parquet_page_headers.h"
#include "parquet_variants.h"
#include "progress.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/page_index.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Report {
  std::string path;
  int64_t row_groups = 0;
  int64_t rows = 0;
  int64_t pages = 0;
  std::optional<FileProblem> problem;
};

// Holds the headers of a chunk's pages against the footer and the chunk's index, and counts them.
int64_t check_pages(const ParquetFile& file, size_t leaf, const parquet::RowGroup& group, PageHeaders& headers,
                    const parquet::PageIndex& index) {
  const parquet::ColumnChunk& chunk = group.columns[leaf];
  for (const int64_t offset : {chunk.offset_index.offset, chunk.column_index.offset, chunk.bloom_filter.offset}) {
    if (offset < 0) throw_corrupt(CorruptError::kNoOffset, "the footer has a page index or Bloom filter at {}", offset);
  }
  const parquet::PageIndex::Column& column = *index.find(leaf);
  if (!column.defect.empty()) throw_corrupt(CorruptError::kNoOffset, "the page index is damaged: {}", column.defect);
  const parquet::OffsetIndex* offsets = index.offsets(leaf);
  const bool is_flat = file.schema().leaf(leaf).max_repetition == 0;
  int64_t pages = 0;
  size_t data_pages = 0;
  int64_t values = 0;
  std::optional<uint64_t> row = 0;  // nothing: only the levels would tell
  headers.for_each(chunk, [&](const parquet::Page& page) {
    ++pages;
    if (page.header.type == parquet::PageType::kDictionary) {
      if (pages > 1) throw_corrupt(page.offset, "a dictionary page stands behind another page of its chunk");
      return;
    }
    values += page.header.value_count;
    if (offsets != nullptr) {
      if (data_pages == offsets->page_count()) {
        throw_corrupt(page.offset, "the page index has {} pages, and the chunk more", data_pages);
      }
      const parquet::PageLocation& location = offsets->pages[data_pages];
      const uint64_t size = page.header.header_size + static_cast<uint64_t>(page.header.compressed_size);
      if (location.offset != page.offset || location.compressed_size != size) {
        throw_corrupt(page.offset, "page {} has {} bytes here, and by the page index {} bytes at {}", data_pages, size,
                      location.compressed_size, location.offset);
      }
      if (row && location.first_row != *row) {
        throw_corrupt(page.offset, "page {} begins with row {}, and by the page index with row {}", data_pages, *row,
                      location.first_row);
      }
    }
    ++data_pages;
    if (page.header.type == parquet::PageType::kDataV2) {
      if (row) *row += static_cast<uint64_t>(page.header.row_count);
    } else if (is_flat) {
      if (row) *row += static_cast<uint64_t>(page.header.value_count);
    } else {
      row.reset();
    }
  });
  if (offsets != nullptr && data_pages != offsets->page_count()) {
    throw_corrupt(CorruptError::kNoOffset, "the page index has {} pages, and the chunk {}", offsets->page_count(),
                  data_pages);
  }
  if (values != chunk.value_count) {
    throw_corrupt(CorruptError::kNoOffset, "the pages of a column chunk have {} values, and the footer says {}", values,
                  chunk.value_count);
  }
  // Below lists parquet-cpp-arrow 8 wrote the number of values as that of rows into headers of version 2.
  if (is_flat && row && *row != static_cast<uint64_t>(group.row_count)) {
    throw_corrupt(CorruptError::kNoOffset, "the pages of a column chunk have {} rows, and its row group {}", *row,
                  group.row_count);
  }
  return pages;
}

struct RowGroupFigures {
  int64_t rows = 0;
  int64_t pages = 0;
};

RowGroupFigures verify_row_group(Session& session, const ParquetFile& file,
                                 const std::vector<parquet::ColumnRequest>& requests, size_t group,
                                 Progress& progress) {
  MemoryPool& pool = session.context().memory_pool();
  const parquet::RowGroup& facts = file.metadata->row_groups()[group];
  RowGroupFigures figures;
  std::vector<size_t> leaves(file.schema().leaf_count());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) leaves[leaf] = leaf;
  const auto in_group = [&](const auto& work) {
    try {
      work();
    } catch (Error& error) {
      error.add_context(message("row group {} of {}", group, file.path));
      throw;
    }
  };
  const auto in_column = [&](size_t leaf, const auto& work) {
    in_group([&] {
      try {
        work();
      } catch (Error& error) {
        error.add_context(message("column '{}'", file.column(leaf)));
        throw;
      }
    });
  };

  const auto index = parquet::PageIndex::read(*file.input, *file.metadata, group, leaves, leaves, pool);
  PageHeaders headers(file, pool);
  for (size_t leaf : leaves) {
    in_column(leaf, [&] { figures.pages += check_pages(file, leaf, facts, headers, index); });
  }

  std::vector<std::pair<size_t, ColumnClaims>> claims;  // by request
  const auto leaf_of = [&](size_t request) { return file.schema().node(requests[request].node).first_leaf; };
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].kind != parquet::ColumnRequest::Kind::kLeaf) continue;
    in_column(leaf_of(i), [&] {
      claims.emplace_back(i, ColumnClaims(file, group, leaf_of(i), arrow_field(requests[i]), index, pool));
    });
  }
  std::vector<std::pair<size_t, VariantCheck>> variants;  // by request
  for (size_t i = 0; i < requests.size(); ++i) {
    VariantCheck check(file.schema(), requests[i]);
    if (check.has_variants()) variants.emplace_back(i, std::move(check));
  }
  parquet::ReadOptions options;
  options.columns = requests;
  options.first_row_group = static_cast<int>(group);
  options.row_group_count = 1;
  options.batch_bytes_max = reader_batch_bytes(pool);
  options.verify_checksums = parquet::ChecksumPolicy::kAlways;
  options.validate_utf8 = true;
  parquet::BatchReader reader(file.input, file.metadata, std::move(options), pool);
  while (const auto batch = reader.next()) {
    if (session.stop().stop_requested()) throw CancelledError();
    for (auto& [request, column] : claims) {
      in_column(leaf_of(request), [&, &checked = column, i = request] { checked.check(batch->column(i)); });
    }
    for (const auto& [request, column] : variants) {
      in_group([&, &checked = column, i = request] { checked.check(batch->column(i), figures.rows, pool); });
    }
    figures.rows += batch->row_count();
    progress.add(batch->row_count(), static_cast<int64_t>(batch->buffer_bytes()));
  }
  for (const auto& [request, column] : claims) {
    in_column(leaf_of(request), [&checked = column] { checked.finish(); });
  }
  if (figures.rows != facts.row_count) {
    throw_corrupt(CorruptError::kNoOffset, "row group {} has {} rows and should have {}", group, figures.rows,
                  facts.row_count);
  }
  return figures;
}

// Readers begin at the end and do not need it, but what stands there was not written as a Parquet file.
void check_magic(const InputFile& file) {
  std::array<char, 4> magic{};
  file.read_at(0, std::as_writable_bytes(std::span(magic)));
  if (std::string_view(magic.data(), magic.size()) != "PAR1") throw_corrupt(0, "the file does not begin with PAR1");
}

// No two column chunks of a file have the same bytes.
void check_places(const ParquetFile& file) {
  struct Place {
    int64_t begin;
    int64_t end;
    size_t group;
    size_t leaf;
  };
  std::vector<Place> places;
  for (size_t group = 0; group < file.metadata->row_groups().size(); ++group) {
    const auto columns = file.metadata->row_groups()[group].columns;
    for (size_t leaf = 0; leaf < columns.size(); ++leaf) {
      const parquet::ColumnChunk& chunk = columns[leaf];
      if (chunk.encrypted || chunk.in_other_file || chunk.total_compressed_size <= 0) continue;
      if (chunk.value_count == 0) continue;  // parquet-cpp says that it has bytes, at 0
      int64_t end = 0;                       // one that cannot be is an error of whoever reads the chunk
      if (__builtin_add_overflow(chunk.start_offset(), chunk.total_compressed_size, &end)) continue;
      places.push_back({chunk.start_offset(), end, group, leaf});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < places.size(); ++i) {
    const Place& before = places[i - 1];
    const Place& place = places[i];
    if (place.begin >= before.end) continue;
    throw_corrupt(static_cast<uint64_t>(std::max<int64_t>(place.begin, 0)),
                  "column '{}' of row group {} begins within column '{}' of row group {}", file.column(place.leaf),
                  place.group, file.column(before.leaf), before.group);
  }
}

// Row groups on `threads` threads. The first problem is that of the first row group that has one.
void verify_file(Session& session, Report& report, size_t threads, Progress& progress) {
  try {
    const ParquetFile file = open_parquet(session, report.path);
    check_magic(*file.input);
    check_places(file);
    const std::vector<parquet::ColumnRequest> requests = parquet::request_columns(file.schema());
    const size_t count = file.metadata->row_groups().size();
    std::vector<RowGroupFigures> figures(count);
    std::vector<std::optional<FileProblem>> problems(count);
    for_each_index(session, threads, count, [&](size_t group) {
      try {
        figures[group] = verify_row_group(session, file, requests, group, progress);
      } catch (const CancelledError&) {
        throw;
      } catch (const Error& error) {
        problems[group] = FileProblem::of(error);
      }
    });
    for (size_t group = 0; group < count && !report.problem; ++group) {
      report.problem = std::move(problems[group]);
      report.rows += figures[group].rows;
      report.pages += figures[group].pages;
    }
    report.row_groups = static_cast<int64_t>(count);
    if (!report.problem && report.rows != file.metadata->row_count()) {
      throw_corrupt(CorruptError::kNoOffset, "the row groups have {} rows, and the footer says {}", report.rows,
                    file.metadata->row_count());
    }
  } catch (const CancelledError&) {
    throw;
  } catch (Error& error) {
    add_file_context(error, report.path);
    report.problem = FileProblem::of(error);
  }
}

void print_text(Session& session, const Report& report) {
  if (!report.problem) {
    session.print_line(message("{}: whole, {} rows, {} row groups, {} pages", printable(report.path), report.rows,
                               report.row_groups, report.pages));
    return;
  }
  session.print_line(printable(report.path) + ": " + to_text(*report.problem));
}

json::Value report_json(const Report& report) {
  json::Object object;
  object.emplace_back("file", json::Value(report.path));
  object.emplace_back("whole", json::Value(!report.problem));
  object.emplace_back("rows", report.problem ? json::Value() : json::Value(report.rows));
  object.emplace_back("row_groups", report.problem ? json::Value() : json::Value(report.row_groups));
  object.emplace_back("pages", report.problem ? json::Value() : json::Value(report.pages));
  object.emplace_back("problem", to_json(report.problem));
  return json::Value(std::move(object));
}

void verify_files(Session& session, const ParquetArguments& arguments) {
  std::vector<Report> reports;
  for (std::string& path : expand_patterns(arguments.files)) {
    reports.emplace_back();
    reports.back().path = std::move(path);
  }
  Progress progress("verifying", {.enabled = !session.options().quiet});
  const size_t threads = reader_threads(session);
  // Whole files side by side where there are enough of them, else the row groups of each.
  const bool by_file = reports.size() >= threads;
  for_each_index(session, by_file ? threads : 1, reports.size(),
                 [&](size_t file) { verify_file(session, reports[file], by_file ? 1 : threads, progress); });
  if (session.stop().stop_requested()) throw CancelledError();
  progress.finish();
  std::vector<std::optional<FileProblem>> problems;
  json::Array all;
  for (const Report& report : reports) {
    problems.push_back(report.problem);
    if (session.is_json()) {
      all.push_back(report_json(report));
    } else {
      print_text(session, report);
    }
  }
  if (session.is_json()) session.print_json(json::Value(std::move(all)));
  session.out().flush();
  throw_if_any(problems);
}

}  // namespace

void add_parquet_verify(Command& parquet) {
  auto arguments = std::make_shared<ParquetArguments>();
  Command command =
      parquet.add("verify", "Decode everything and check it: exit code 0 if the files are whole, 4 if not");
  add_parquet_files(command, *arguments);
  command.example("frazil parquet verify 'lake/*.parquet'").action([arguments](Session& session) {
    verify_files(session, *arguments);
  });
}

}  // namespace frazil::cli
