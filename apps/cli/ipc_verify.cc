#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file_arguments.h"
#include "file_problem.h"
#include "ipc.h"
#include "ipc_files.h"
#include "progress.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

struct Report {
  std::string path;
  std::string format;
  int64_t rows = 0;
  int64_t batches = 0;
  std::optional<FileProblem> problem;
};

void verify_file(Session& session, Report& report, Progress& progress) {
  try {
    const std::unique_ptr<ipc::Reader> reader = open_ipc(session, report.path);
    report.format = ipc_format_name(reader->format());
    while (const auto batch = reader->next()) {
      if (session.stop().stop_requested()) throw CancelledError();
      reader->custom_metadata();
      report.rows += batch->row_count();
      ++report.batches;
      progress.add(batch->row_count(), static_cast<int64_t>(batch->buffer_bytes()));
    }
    reader->file_metadata();
  } catch (const CancelledError&) {
    throw;
  } catch (Error& error) {
    add_file_context(error, report.path == "-" ? "standard input" : report.path);
    report.problem = FileProblem::of(error);
  }
}

json::Value report_json(const Report& report) {
  json::Object object;
  object.emplace_back("file", json::Value(report.path));
  object.emplace_back("whole", json::Value(!report.problem));
  object.emplace_back("format", report.format.empty() ? json::Value() : json::Value(report.format));
  object.emplace_back("rows", report.problem ? json::Value() : json::Value(report.rows));
  object.emplace_back("batches", report.problem ? json::Value() : json::Value(report.batches));
  object.emplace_back("problem", to_json(report.problem));
  return json::Value(std::move(object));
}

std::string report_text(const Report& report) {
  if (report.problem) return printable(report.path) + ": " + to_text(*report.problem);
  return message("{}: whole, {} rows, {} batches, {}", printable(report.path), report.rows, report.batches,
                 report.format);
}

void verify_files(Session& session, const std::vector<std::string>& files) {
  Progress progress("verifying", {.enabled = !session.options().quiet});
  std::vector<std::optional<FileProblem>> problems;
  json::Array all;
  for (std::string& path : expand_patterns(files)) {
    Report report{.path = std::move(path), .format = {}, .problem = {}};
    verify_file(session, report, progress);
    if (session.is_json()) {
      all.push_back(report_json(report));
    } else {
      progress.finish();
      session.print_line(report_text(report));
    }
    problems.push_back(std::move(report.problem));
  }
  progress.finish();
  if (session.is_json()) session.print_json(json::Value(std::move(all)));
  session.out().flush();
  throw_if_any(problems);
}

}  // namespace

void add_ipc_verify(Command& ipc) {
  auto files = std::make_shared<std::vector<std::string>>();
  Command command = ipc.add("verify", "Read everything and check every value: exit code 0 if the files are whole");
  add_ipc_files(command, *files);
  command.example("frazil ipc verify 'parts/*.arrow'").action([files](Session& session) {
    verify_files(session, *files);
  });
}

}  // namespace frazil::cli
