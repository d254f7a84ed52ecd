// What the fuzzers of Arrow IPC share: what comes of bytes is an error of bad input, or contents that are valid and the same
// after they were written and read again.
#pragma once

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "frazil/base/error.h"
#include "frazil/ipc/read_options.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/testing/ipc_contents.h"

namespace frazil::testing {

inline constexpr size_t kFuzzBudgetBytes = size_t{256} << 20;
// Inputs are independent of each other.
inline constexpr ipc::ReadOptions kFuzzOptions = {.validation = ipc::Validation::kFull, .schema_cache = nullptr};

inline void check(bool holds, const std::string& text) {
  if (holds) return;
  std::cerr << text << "\n";
  std::abort();
}

struct IpcOutcome {
  IpcContents contents;  // up to an error
  std::optional<ErrorKind> error;
  std::string error_text;
};

// Of `read(contents)`.
template <typename Read>
IpcOutcome outcome_of(Read read) {
  IpcOutcome outcome;
  try {
    read(outcome.contents);
  } catch (const Error& error) {
    const ErrorKind kind = error.kind();
    check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported || kind == ErrorKind::kMemoryLimit,
          error.what());
    outcome.error = kind;
    outcome.error_text = error.what();
  }
  return outcome;
}

inline void check_after_writing(const IpcContents& contents, MemoryPool& pool) {
  const size_t choice = contents.batches.size();
  const ipc::WriteOptions options = {.alignment = choice % 2 == 0 ? 8U : 64U,
                                     .codec = choice % 3 == 1 ? Codec::kLz4Frame : Codec::kNone};
  std::string text;
  try {
    text = difference_after_writing(contents, pool, options);
  } catch (const MemoryLimitError&) {
    return;  // the contents may share bytes that are written each for itself
  } catch (const Error& error) {
    text = error.what();
  }
  check(text.empty(), text);
}

}  // namespace frazil::testing
