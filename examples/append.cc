// Makes a partitioned table in a SQLite catalog and appends rows to it, in one commit: examples_append FOLDER ROWS
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frazil/frazil.h"

namespace {

using frazil::spec::NestedField;
using frazil::spec::TypeKind;

NestedField column(int32_t id, std::string name, TypeKind kind) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = frazil::spec::primitive(kind);
  field.required = true;
  return field;
}

frazil::spec::PartitionField partition(int32_t source, std::string name, frazil::spec::Transform transform) {
  frazil::spec::PartitionField field;
  field.source_ids = {source};
  field.name = std::move(name);
  field.transform = std::move(transform);
  return field;
}

// id, ts, host: one row an hour, three hosts in turn.
frazil::RecordBatch make_rows(int64_t count, frazil::MemoryPool& pool) {
  using namespace frazil;
  FixedWidthBuilder ids(primitive(TypeId::kInt64), pool);
  FixedWidthBuilder times(timestamp(TimeUnit::kMicro, "UTC"), pool);
  BytesBuilder hosts(primitive(TypeId::kUtf8), pool);
  const char* const names[] = {"example.com", "foo.test.org", "demo.net"};
  for (int64_t i = 0; i < count; ++i) {
    ids.append(i);
    times.append(int64_t{1'704'067'200'000'000} + i * 3'600'000'000);
    hosts.append(names[i % 3]);
  }
  return make_batch({{"id", ids.finish()}, {"ts", times.finish()}, {"host", hosts.finish()}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER ROWS\n", argv[0]);
    return 2;
  }
  try {
    const std::string folder = argv[1];
    frazil::Context context;
    const auto catalog = frazil::open_catalog(
        context, {.uri = "sqlite:///" + folder + "/catalog.db", .warehouse = "file://" + folder + "/warehouse"});
    catalog->create_namespace({"web"});
    frazil::spec::NewTable table;
    table.schema = std::make_shared<const frazil::spec::Schema>(
        std::vector<NestedField>{column(1, "id", TypeKind::kLong), column(2, "ts", TypeKind::kTimestampTz),
                                 column(3, "host", TypeKind::kString)});
    table.spec.fields = {partition(2, "day", frazil::spec::Transform::day()),
                         partition(3, "host", frazil::spec::Transform::identity())};
    catalog->create_table(context, frazil::catalog::parse_identifier("web.hits"), table);

    auto append = catalog.load_table("web.hits").append({.snapshot_properties = {{"engine-name", "example"}}});
    append.write(make_rows(std::atoll(argv[2]), context.memory_pool()));
    const frazil::Table written = append.commit();

    long long rows = 0;
    for (auto stream = written.scan().execute(); auto batch = stream->next();) rows += batch->row_count();
    std::printf("%lld rows in snapshot %lld\n", rows,
                static_cast<long long>(written.metadata().current_snapshot_id.value_or(-1)));
    return 0;
  } catch (const frazil::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
