// Any bytes: as a metadata file they give a value, or an error that damage may have, within the budget of the pool. What
// was read can be written, and reading that gives the same again; every snapshot and reference of it can be selected or
// says why not. Nothing stays behind.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/table_metadata.h"

namespace {

using namespace frazil;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_expected(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kCorrupt:
    case ErrorKind::kUnsupported:
    case ErrorKind::kMemoryLimit:
      return true;
    default:
      return false;
  }
}

template <typename Action>
void expect_value_or(ErrorKind other, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    require(is_expected(error) || error.kind() == other);
  }
}

void use(const spec::TableMetadata& metadata) {
  json::Value written = spec::table_metadata_to_json(metadata);
  std::string text = json::write(written);
  json::ParseOptions options;
  options.max_depth = 1000;
  require(json::write(spec::table_metadata_to_json(spec::table_metadata_from_json(json::parse(text, options)))) ==
          text);

  for (const spec::Snapshot& snapshot : metadata.snapshots) {
    expect_value_or(ErrorKind::kNotFound,
                    [&] { spec::select_snapshot(metadata, spec::SnapshotById{snapshot.snapshot_id}); });
    expect_value_or(ErrorKind::kNotFound,
                    [&] { spec::select_snapshot(metadata, spec::SnapshotAsOf{snapshot.timestamp_ms}); });
  }
  for (const spec::SnapshotRef& ref : metadata.refs) {
    expect_value_or(ErrorKind::kNotFound, [&] { spec::select_snapshot(metadata, spec::SnapshotByRef{ref.name}); });
  }
  for (const spec::SchemaPtr& schema : metadata.schemas) {
    expect_value_or(ErrorKind::kInvalidArgument, [&] { spec::to_arrow_schema(*schema); });
    for (const spec::NestedField& field : schema->fields()) {
      expect_value_or(ErrorKind::kInvalidArgument, [&] { require(schema->find(field.name) != nullptr); });
    }
  }
  metadata.all_partition_fields();
  expect_value_or(ErrorKind::kCorrupt, [&] { spec::validate(metadata); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryPool pool({.budget_bytes = 16 << 20});
  try {
    spec::TableMetadataPtr metadata =
        spec::parse_metadata_file(std::as_bytes(std::span(data, size)), pool, {.max_bytes = 4 << 20});
    use(*metadata);
  } catch (const Error& error) {
    require(is_expected(error));
  }
  require(pool.stats().held_bytes == pool.stats().idle_bytes);
  return 0;
}
