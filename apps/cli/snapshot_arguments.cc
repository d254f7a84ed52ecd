#include "snapshot_arguments.h"

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil::cli {

void add_snapshot_arguments(Command& command, SnapshotArguments& arguments) {
  command.option("--snapshot", arguments.snapshot, "ID", "the state of this snapshot")
      .option("--as-of", arguments.as_of, "TIME", "the state at this time: 2026-11-30T12:00:00Z, or ms since 1970")
      .option("--ref", arguments.ref, "NAME", "the state of this branch or tag")
      .exclude("--snapshot", "--as-of")
      .exclude("--snapshot", "--ref")
      .exclude("--as-of", "--ref");
}

spec::SnapshotSelection select_snapshot_of(const SnapshotArguments& arguments) {
  if (arguments.snapshot) return spec::SnapshotById{*arguments.snapshot};
  if (arguments.ref) return spec::SnapshotByRef{*arguments.ref};
  if (!arguments.as_of) return spec::CurrentSnapshot{};
  if (auto ms = parse_int64(*arguments.as_of)) return spec::SnapshotAsOf{*ms};
  // A date alone is its first moment; without a zone it is UTC.
  std::string text = *arguments.as_of;
  if (try_parse_date(text)) text += "T00:00:00";
  // Nanoseconds, for any number of digits up to them; snapshots have milliseconds.
  auto ns = try_parse_timestamp(text, TimeUnit::kNano, ZoneRule::kOptional);
  if (!ns) {
    Error error(ErrorKind::kInvalidArgument, message("--as-of must be a time, not '{}'", *arguments.as_of));
    throw error.set_hint("2026-11-30, 2026-11-30T12:00:00+01:00, or milliseconds since 1970");
  }
  return spec::SnapshotAsOf{*convert_timestamp(*ns, TimeUnit::kNano, TimeUnit::kMilli)};
}

}  // namespace frazil::cli
