// What verbs that look at whole files find wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {

// The first of all in a file.
struct FileProblem {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::vector<std::string> context;
  std::optional<uint64_t> offset;

  static FileProblem of(const Error& error);
};

std::string to_text(const FileProblem& problem);
// null if there is none.
json::Value to_json(const std::optional<FileProblem>& problem);

// One a file. Throws Error if a file has one: of the kind of damage if any is damaged, else of the first.
void throw_if_any(std::span<const std::optional<FileProblem>> problems);

}  // namespace frazil::cli
