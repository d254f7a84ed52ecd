// From what a Parquet writer knows of a file's columns to the metrics of its manifest entry (Iceberg spec, "Manifests",
// data_file; the rules that readers of bounds rely on: "Appendix D", "Bound Serialization").
//
//   column_sizes        every leaf
//   value_counts,       leaves outside of lists and maps; nulls of the structs above count too
//   null_value_counts
//   nan_value_counts    of float and double, if the writer counted them
//   lower_bounds,       the same leaves, but variant; none if there are only nulls and NaN. Geometry and geography: the
//   upper_bounds        corners of the box around them
//
// Bounds are no longer than what the writer kept of them: MetricsMode::bound_bytes() says how much that should be
// (parquet::ChunkOptions::statistics_length; its default is enough for truncate(16)).
//
// They are right for every reader's order of values: zero is -0.0 as lower and +0.0 as upper bound; a uuid bound that
// Iceberg Java's signed order might not take for one is moved until it is one in both orders, or left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frazil/manifest/data_file.h"
#include "frazil/spec/schema.h"
#include "frazil/write/metrics_config.h"

namespace frazil::parquet {
struct FileSummary;
}

namespace frazil::write {

// Sets the record count, file size, metrics and split offsets of `file`. Leaves that are not in the schema (by field id)
// have no metrics. Throws Error(kInternal) if a leaf's statistics do not fit its type.
void add_metrics(manifest::DataFile& file, const parquet::FileSummary& summary, const spec::Schema& schema,
                 const MetricsConfig& config);

// The bound of valid UTF-8 text cut to `code_points`: the text itself if it is no longer; else its prefix as lower bound,
// and as upper bound the smallest prefix successor, its last code points incremented past the surrogates. Nothing if
// there is none (U+10FFFF throughout).
std::string truncate_text_lower(std::string_view text, int32_t code_points);
std::optional<std::string> truncate_text_upper(std::string_view text, int32_t code_points);
// The same of bytes (FF throughout has no successor).
std::string truncate_bytes_lower(std::string_view bytes, int32_t length);
std::optional<std::string> truncate_bytes_upper(std::string_view bytes, int32_t length);

}  // namespace frazil::write
