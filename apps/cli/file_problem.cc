#include "file_problem.h"

#include <utility>

#include "output.h"

namespace frazil::cli {

FileProblem FileProblem::of(const Error& error) {
  FileProblem problem{error.kind(), error.message(), error.context(), std::nullopt};
  const auto* corrupt = dynamic_cast<const CorruptError*>(&error);
  if (corrupt != nullptr && corrupt->offset() != CorruptError::kNoOffset) problem.offset = corrupt->offset();
  return problem;
}

std::string to_text(const FileProblem& problem) {
  std::string text = printable(problem.message);
  for (const std::string& context : problem.context) text += "; " + printable(context);
  return text;
}

json::Value to_json(const std::optional<FileProblem>& problem) {
  if (!problem) return {};
  json::Array context;
  for (const std::string& line : problem->context) context.emplace_back(line);
  json::Object members;
  members.emplace_back("kind", json::Value(to_string(problem->kind)));
  members.emplace_back("message", json::Value(problem->message));
  members.emplace_back("context", json::Value(std::move(context)));
  members.emplace_back("offset", problem->offset ? json::Value(static_cast<int64_t>(*problem->offset)) : json::Value());
  return json::Value(std::move(members));
}

void throw_if_any(std::span<const std::optional<FileProblem>> problems) {
  std::optional<ErrorKind> kind;
  int64_t failed = 0;
  for (const std::optional<FileProblem>& problem : problems) {
    if (!problem) continue;
    ++failed;
    if (!kind || problem->kind == ErrorKind::kCorrupt) kind = problem->kind;
  }
  if (!kind) return;
  throw_error(*kind, "{} of {} files {}", failed, problems.size(),
              *kind == ErrorKind::kCorrupt ? "are not whole" : "could not be verified");
}

}  // namespace frazil::cli
