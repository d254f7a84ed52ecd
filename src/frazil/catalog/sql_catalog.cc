#include "frazil/catalog/sql_catalog.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/catalog/metadata_files.h"
#include "frazil/catalog/retry.h"
#include "frazil/catalog/sql_tables.h"
#include "frazil/io/uri.h"
#include "frazil/runtime/context.h"

namespace frazil::catalog {

namespace {

constexpr int kMaxLoadAttempts = 10;

}  // namespace

class SqlCatalog::State {
 public:
  State(std::string catalog_name, Properties catalog_properties, std::shared_ptr<FileSystem> catalog_files,
        MemoryPool& memory_pool)
      : name(std::move(catalog_name)),
        properties(std::move(catalog_properties)),
        files(std::move(catalog_files)),
        pool(memory_pool),
        tables(name, properties) {}

  spec::TableMetadataPtr read_metadata(const std::string& location) const {
    return read_table_metadata(*files, location, pool, metadata_max_bytes(properties));
  }
  static LoadedTable load(const std::shared_ptr<State>& state, const TableIdentifier& identifier);
  // Everything of a loaded table but its metadata.
  static LoadedTable describe(const std::shared_ptr<State>& state, const TableIdentifier& identifier);
  std::string default_location(Context& context, const TableIdentifier& identifier);

  const std::string name;
  const Properties properties;
  const std::shared_ptr<FileSystem> files;
  MemoryPool& pool;
  SqlTables tables;
};

// A table's row.
class SqlCatalog::Store final : public TableStore {
 public:
  Store(std::shared_ptr<State> state, TableIdentifier identifier)
      : state_(std::move(state)), identifier_(std::move(identifier)) {}

  LoadedTable load() override { return State::load(state_, identifier_); }

  LoadedTable commit(Context& context, const LoadedTable& base, std::span<const spec::TableRequirement> requirements,
                     std::span<const spec::TableUpdate> updates, const CommitOptions& options) override {
    spec::check_requirements(base.metadata.get(), requirements);
    if (updates.empty()) return base;
    auto next = std::make_shared<const spec::TableMetadata>(spec::apply_updates(
        *base.metadata, updates, {.now_ms = context.clock().system_ms(), .base_location = base.metadata_location}));
    // A table whose properties cannot be read is not committed to.
    const RetryPolicy status_checks = status_check_policy(base.metadata->properties);
    LoadedTable committed = base;
    committed.metadata = next;
    committed.metadata_location = next_metadata_location(*next, base.metadata_location, context.random());
    const Buffer content = spec::metadata_file_bytes(*next, spec::writes_gzip_metadata(*next), state_->pool);
    PendingFile file(base.files, committed.metadata_location, content, publish_options(options));
    if (!replace(context, status_checks, base.metadata_location, committed.metadata_location, options, file)) {
      throw ConflictError(message("table '{}' of catalog '{}' has changed since {} was read", to_string(identifier_),
                                  state_->name, base.metadata_location));
    }
    file.keep();
    delete_logged_metadata(*base.files, *base.metadata, *next);
    return committed;
  }

 private:
  enum class Outcome : uint8_t {
    kCommitted,
    kNotCommitted,
    kSuperseded,
    kForgotten,  // others have committed since, and the log does not go back so far
    kUnreadable,
  };

  // False if somebody else was first.
  bool replace(Context& context, const RetryPolicy& status_checks, const std::string& expected,
               const std::string& location, const CommitOptions& options, PendingFile& file) {
    try {
      return state_->tables.replace_location(identifier_, expected, location, options.durability == Durability::kFull);
    } catch (const SqliteLockedError&) {
      throw;  // nothing was done
    } catch (const std::exception& error) {
      Outcome outcome = find_outcome(expected, location);
      for (Backoff backoff(context, status_checks); outcome == Outcome::kUnreadable && backoff.wait({});) {
        outcome = find_outcome(expected, location);
      }
      switch (outcome) {
        case Outcome::kCommitted:
          return true;
        case Outcome::kSuperseded:
          return false;
        case Outcome::kNotCommitted:
          throw;
        case Outcome::kForgotten:
        case Outcome::kUnreadable:
          break;
      }
      file.keep();
      CommitStateUnknownError unknown(
          message("whether {} became the metadata of table '{}' in catalog '{}' is not known: {}", location,
                  to_string(identifier_), state_->name, error.what()));
      unknown.set_hint("nothing was deleted; look at the table before writing the same rows again");
      throw unknown;
    }
  }

  // What became of the statement, from the row as it is now: it has the location, or the one before, or that of a later
  // commit, whose metadata log tells.
  Outcome find_outcome(const std::string& expected, const std::string& location) noexcept {
    try {
      state_->tables.reconnect();
      const std::string now = state_->tables.find_table(identifier_);
      if (now == location) return Outcome::kCommitted;
      if (now == expected) return Outcome::kNotCommitted;
      const spec::TableMetadataPtr metadata = state_->read_metadata(now);
      const auto logged = [&](const std::string& file) {
        return std::any_of(metadata->metadata_log.begin(), metadata->metadata_log.end(),
                           [&](const auto& entry) { return entry.metadata_file == file; });
      };
      if (logged(location)) return Outcome::kCommitted;
      return logged(expected) ? Outcome::kSuperseded : Outcome::kForgotten;
    } catch (...) {
      return Outcome::kUnreadable;
    }
  }

  const std::shared_ptr<State> state_;
  const TableIdentifier identifier_;
};

// The place of a table that has no row yet.
class SqlCatalog::StagedStore final : public TableStore {
 public:
  StagedStore(std::shared_ptr<State> state, TableIdentifier identifier)
      : state_(std::move(state)), identifier_(std::move(identifier)) {}

  LoadedTable load() override {
    throw_error(ErrorKind::kNotFound, "table '{}' is not created before its first commit", to_string(identifier_));
  }

  LoadedTable commit(Context& context, const LoadedTable& base, std::span<const spec::TableRequirement> requirements,
                     std::span<const spec::TableUpdate> updates, const CommitOptions& options) override {
    spec::check_requirements(base.metadata.get(), requirements);
    LoadedTable created = State::describe(state_, identifier_);
    created.metadata =
        updates.empty() ? base.metadata
                        : std::make_shared<const spec::TableMetadata>(spec::apply_updates(
                              *base.metadata, updates, {.now_ms = context.clock().system_ms(), .base_location = {}}));
    created.metadata_location = next_metadata_location(*created.metadata, {}, context.random());
    const Buffer content =
        spec::metadata_file_bytes(*created.metadata, spec::writes_gzip_metadata(*created.metadata), state_->pool);
    PendingFile file(state_->files, created.metadata_location, content, publish_options(options));
    insert(created.metadata_location, options, file);
    file.keep();
    return created;
  }

 private:
  void insert(const std::string& location, const CommitOptions& options, PendingFile& file) {
    try {
      state_->tables.insert_table(identifier_, location, options.durability == Durability::kFull);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kIo || dynamic_cast<const SqliteLockedError*>(&error) != nullptr) throw;
      std::string found;
      try {
        state_->tables.reconnect();
        found = state_->tables.find_table(identifier_);
      } catch (const Error& after) {
        if (after.kind() != ErrorKind::kNotFound) {
          file.keep();
          throw CommitStateUnknownError(message("whether table '{}' was created with {} is not known: {}",
                                                to_string(identifier_), location, error.what()));
        }
      }
      if (found != location) throw;
    }
  }

  const std::shared_ptr<State> state_;
  const TableIdentifier identifier_;
};

LoadedTable SqlCatalog::State::describe(const std::shared_ptr<State>& state, const TableIdentifier& identifier) {
  LoadedTable table;
  table.name = to_string(identifier);
  table.identifier = identifier;
  table.properties = state->properties;
  table.files = state->files;
  table.store = std::make_shared<Store>(state, identifier);
  return table;
}

LoadedTable SqlCatalog::State::load(const std::shared_ptr<State>& state, const TableIdentifier& identifier) {
  LoadedTable table = describe(state, identifier);
  table.metadata_location = state->tables.find_table(identifier);
  for (int attempt = 1; table.metadata == nullptr; ++attempt) {
    try {
      table.metadata = state->read_metadata(table.metadata_location);
    } catch (Error& error) {
      // While others commit, metadata that was current a moment ago can be deleted already.
      if (error.kind() == ErrorKind::kNotFound && attempt < kMaxLoadAttempts) {
        std::string now = state->tables.find_table(identifier);
        if (now != table.metadata_location) {
          table.metadata_location = std::move(now);
          continue;
        }
      }
      error.add_context(message("loading table '{}' of catalog '{}'", table.name, state->name));
      if (error.kind() == ErrorKind::kNotFound && error.hint().empty()) {
        error.set_hint("if the files were moved, say where: --map-location OLD=NEW");
      }
      throw;
    }
  }
  return table;
}

// As PyIceberg has it. (Iceberg Java puts the namespace a.b into the folder a/b, where it can lie inside of table a.b.)
std::string SqlCatalog::State::default_location(Context& context, const TableIdentifier& identifier) {
  const std::string joined = to_string(identifier.levels);
  for (const std::string* part : {&joined, &identifier.name}) {
    if (part->find('/') == std::string::npos && part->find('\\') == std::string::npos && *part != "." &&
        part->find("..") == std::string::npos) {
      continue;
    }
    Error error(ErrorKind::kInvalidArgument, message("'{}' cannot be the name of a folder", excerpt(*part)));
    throw error.set_hint("give the table a location");
  }
  std::string folder;
  const Properties of_namespace = tables.namespace_properties(identifier.levels);
  if (auto own = of_namespace.find("location"); own != of_namespace.end() && !own->second.empty()) {
    folder = canonical_location(own->second);
  } else if (auto warehouse = properties.find("warehouse");
             warehouse != properties.end() && !warehouse->second.empty()) {
    folder = join_location(canonical_location(warehouse->second), joined);
  } else {
    Error error(ErrorKind::kInvalidArgument,
                message("table '{}' needs a location: catalog '{}' has no warehouse", to_string(identifier), name));
    throw error.set_hint("--warehouse file:///data/lake, or a location for the table or its namespace");
  }
  std::string location = join_location(folder, identifier.name);
  if (files->stat(join_location(location, "metadata"))) {
    const Uuid uuid = context.random().uuid_v4();
    location += "-" + encode_hex(std::span(uuid.bytes).first(4));
  }
  return location;
}

SqlCatalog::SqlCatalog(std::string name, Properties properties, std::shared_ptr<FileSystem> files, MemoryPool& pool)
    : state_(std::make_shared<State>(std::move(name), std::move(properties), std::move(files), pool)) {}

SqlCatalog::~SqlCatalog() = default;

const std::string& SqlCatalog::name() const {
  return state_->name;
}

const Properties& SqlCatalog::properties() const {
  return state_->properties;
}

std::vector<Namespace> SqlCatalog::list_namespaces(const Namespace& parent) {
  return state_->tables.list_namespaces(parent);
}

Properties SqlCatalog::namespace_properties(const Namespace& levels) {
  return state_->tables.namespace_properties(levels);
}

std::vector<TableIdentifier> SqlCatalog::list_tables(const Namespace& levels) {
  return state_->tables.list_tables(levels);
}

LoadedTable SqlCatalog::load_table(const TableIdentifier& identifier) {
  return State::load(state_, identifier);
}

void SqlCatalog::create_namespace(const Namespace& levels, const Properties& properties) {
  state_->tables.create_namespace(levels, properties);
}

void SqlCatalog::drop_namespace(const Namespace& levels) {
  state_->tables.drop_namespace(levels);
}

void SqlCatalog::update_namespace_properties(const Namespace& levels, const Properties& updates,
                                             std::span<const std::string> removals) {
  state_->tables.update_namespace_properties(levels, updates, removals);
}

LoadedTable SqlCatalog::create_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table,
                                     const CommitOptions& options) {
  const LoadedTable staged = stage_table(context, identifier, table);
  return staged.store->commit(context, staged, {}, {}, options);
}

LoadedTable SqlCatalog::stage_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table) {
  state_->tables.require_absent(identifier);
  spec::NewTable located = table;
  located.location =
      table.location.empty() ? state_->default_location(context, identifier) : canonical_location(table.location);
  LoadedTable staged = State::describe(state_, identifier);
  staged.metadata = std::make_shared<const spec::TableMetadata>(
      spec::new_table_metadata(located, context.random().uuid_v4(), context.clock().system_ms()));
  staged.store = std::make_shared<StagedStore>(state_, identifier);
  return staged;
}

void SqlCatalog::drop_table(const TableIdentifier& identifier) {
  state_->tables.delete_table(identifier);
}

void SqlCatalog::rename_table(const TableIdentifier& from, const TableIdentifier& to) {
  state_->tables.rename_table(from, to);
}

}  // namespace frazil::catalog
