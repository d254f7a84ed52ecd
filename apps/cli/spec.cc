#include <memory>
#include <optional>
#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/spec/partition_spec.h"

namespace frazil::cli {

void add_spec(Command& root) {
  struct Options {
    std::string table;
    std::optional<int64_t> spec_id;
  };
  auto options = std::make_shared<Options>();
  root.add("spec", "Print the partition spec of a table")
      .positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path")
      .option("--spec-id", options->spec_id, "ID", "an older spec")
      .example("frazil spec web.hits")
      .action([options](Session& session) {
        catalog::LoadedTable table = session.load_table(options->table);
        const spec::TableMetadata& metadata = *table.metadata;
        const spec::PartitionSpec* partition_spec = &metadata.default_spec();
        if (options->spec_id) {
          partition_spec = nullptr;
          for (const spec::PartitionSpec& other : metadata.partition_specs) {
            if (other.spec_id == *options->spec_id) partition_spec = &other;
          }
          if (partition_spec == nullptr) {
            throw_error(ErrorKind::kNotFound, "table '{}' has no partition spec {}", table.name, *options->spec_id);
          }
        }
        if (session.is_json()) {
          session.print_json(spec::partition_spec_to_json(*partition_spec));
          return;
        }
        const spec::Schema& schema = *metadata.current_schema();
        Listing listing = session.listing({{"field_id", true}, {"name"}, {"transform"}, {"source"}});
        for (const spec::PartitionField& field : partition_spec->fields) {
          std::string source;
          for (int32_t id : field.source_ids) {
            std::string name = schema.full_name(id);
            source += (source.empty() ? "" : ", ") + (name.empty() ? "dropped column " + std::to_string(id) : name);
          }
          listing.row({int64_t{field.field_id}, field.name, field.transform.to_string(), source});
        }
        listing.finish("unpartitioned");
      });
}

}  // namespace frazil::cli
