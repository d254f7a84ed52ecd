// The rounds of a verb of `frazil bench`, and how they are printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "arguments.h"
#include "figures.h"

#include "frazil/columnar/content_hash.h"

namespace frazil::cli {

class Session;

struct BenchRounds {
  std::optional<int64_t> rounds;
  std::optional<int64_t> warm_up;
};

void add_rounds(Command& command, BenchRounds& rounds);

struct BenchRound {
  Figures figures;
  // Of a round that is many operations: how many, figures.seconds being the median of one and the counts those of one.
  std::optional<size_t> operations;
  std::optional<ContentHash> content;
};

// Calls `run` for each round, with an empty cache of blocks and a new mark of peak memory, and prints its figures: a line of JSON
// a round, or a table with median and range. Throws Error(kInternal) if two rounds are not of the same rows.
void run_rounds(Session& session, const BenchRounds& rounds, const std::function<BenchRound()>& run);

}  // namespace frazil::cli
