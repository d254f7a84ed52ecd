#include "frazil/catalog/path_table_store.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/metadata_files.h"
#include "frazil/catalog/path_table_versions.h"
#include "frazil/catalog/retry.h"
#include "frazil/io/uri.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/runtime/context.h"

namespace frazil::catalog {
namespace {

// How often a writer looks whether somebody went on while it wrote the hint. More than there are writers at once.
constexpr int kMaxHintRounds = 1000;

// While others commit, versions that were found can be gone before they are read.
constexpr int kMaxLoadAttempts = 10;

std::string version_name(uint64_t version, bool gzip) {
  return message("v{}{}.metadata.json", version, gzip ? ".gz" : "");
}

bool has_version(FileSystem& files, const std::string& folder, uint64_t version) {
  const std::string names[] = {version_name(version, false), version_name(version, true),
                               version_name(version, false) + ".gz"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const std::string& name) { return files.stat(join_location(folder, name)).has_value(); });
}

enum class Found : uint8_t { kNothing, kThisContent, kOtherContent, kUnreadable };

Found look_at(const PathTable& place, const std::string& location, const Buffer& content) noexcept {
  try {
    const std::optional<FileInfo> info = place.files->stat(location);
    if (!info) return Found::kNothing;
    if (info->size != content.size()) return Found::kOtherContent;
    const Buffer found = read_file(*place.files, location, *place.pool, content.size());
    return found.text() == content.text() ? Found::kThisContent : Found::kOtherContent;
  } catch (...) {
    return Found::kUnreadable;
  }
}

// Gives the file its name if nothing has it. False if something has, which is not this content. Throws
// CommitStateUnknownError if it cannot be said whether it has the name for good; another error: it has not.
bool publish_version(Context& context, const RetryPolicy& status_checks, const PathTable& place,
                     const std::string& location, const Buffer& content, const CommitOptions& options) {
  const std::unique_ptr<OutputFile> output = place.files->open_output(location);
  output->write(content.span());
  try {
    output->publish(publish_options(options));
    return true;
  } catch (const Error& error) {
    // A network file system may have done it and lost the answer, or have done it twice ("already exists").
    Found found = look_at(place, location, content);
    for (Backoff backoff(context, status_checks); found == Found::kUnreadable && backoff.wait({});) {
      found = look_at(place, location, content);
    }
    if (found == Found::kNothing) throw;
    if (found == Found::kOtherContent) return false;
    if (found == Found::kThisContent && options.durability == Durability::kProcess) return true;
    CommitStateUnknownError unknown(
        message("whether {} was committed is not known, {}: {}", location,
                found == Found::kUnreadable ? "it cannot be looked at" : "it is there but may not survive a power cut",
                error.what()));
    unknown.set_hint("nothing was deleted; look at the table before writing the same rows again");
    throw unknown;
  }
}

// Tells readers of the version. A writer of the next one may be faster: the last word must not be an older version.
// What cannot be written is removed, so that nobody reads an old version for the current one; if even that fails, a
// notice for the user comes back.
std::string write_hint(FileSystem& files, const std::string& folder, uint64_t version, const CommitOptions& options) {
  const std::string location = join_location(folder, kHintName);
  OutputFile::PublishOptions publish = publish_options(options);
  publish.if_exists = OutputFile::IfExists::kReplace;
  std::string failure;
  for (int failures = 0, rounds = 0; failures < 2 && rounds < kMaxHintRounds; ++rounds) {
    try {
      const std::string text = std::to_string(version);
      write_file(files, location, std::as_bytes(std::span(text)), publish);
      const FoundVersions found = list_versions(files, folder);
      const Candidate* newest = newest_after(found, version);
      if (newest == nullptr || path_version(newest->name) == version) return {};
      version = *path_version(newest->name);
    } catch (const Error& error) {
      failure = error.what();
      ++failures;
    }
  }
  if (failure.empty()) return {};
  try {
    files.remove(location);
    return {};
  } catch (const Error&) {
    return message("version {} is committed, but {} could not be written: readers that go by it see an older one ({})",
                   version, location, failure);
  }
}

// The commit is done, whatever becomes of the hint: it must not look like a failure.
void tell_readers(LoadedTable& committed, FileSystem& files, const std::string& folder, uint64_t version,
                  const CommitOptions& options) {
  try {
    std::string notice = write_hint(files, folder, version, options);
    if (!notice.empty()) committed.notices.push_back(std::move(notice));
  } catch (const std::bad_alloc&) {
    return;
  }
}

class PathTableStore final : public TableStore {
 public:
  PathTableStore(PathTable place, std::string why_read_only)
      : place_(std::move(place)), why_read_only_(std::move(why_read_only)) {}

  LoadedTable load() override {
    for (int attempt = 1;; ++attempt) {
      try {
        return open_path_table(place_, PathVersion::kNewest);
      } catch (const Error& error) {
        // The version that was newest when it was looked for is deleted already.
        if (error.kind() != ErrorKind::kNotFound || attempt == kMaxLoadAttempts) throw;
      }
    }
  }

  LoadedTable commit(Context& context, const LoadedTable& base, std::span<const spec::TableRequirement> requirements,
                     std::span<const spec::TableUpdate> updates, const CommitOptions& options) override {
    const std::string name(location_name(base.metadata_location));
    const std::optional<uint64_t> version = path_version(name);
    if (!why_read_only_.empty() || !version || *version == UINT64_MAX) {
      throw_error(ErrorKind::kUnsupported, "table {} cannot be written: {}", place_.path,
                  why_read_only_.empty() ? "its version is no v<N>" : why_read_only_);
    }
    spec::check_requirements(base.metadata.get(), requirements);
    if (updates.empty()) return base;

    auto next = std::make_shared<const spec::TableMetadata>(
        spec::apply_updates(*base.metadata, updates,
                            {.now_ms = context.clock().system_ms(),
                             .base_location = join_location(spec::metadata_folder(*base.metadata), name)}));
    check_stays(*base.metadata, *next);

    const std::string folder(parent_location(base.metadata_location));
    // All who began from this version take the same name, whatever they change.
    const bool gzip = spec::writes_gzip_metadata(*base.metadata);
    // A table whose properties cannot be read is not committed to.
    const RetryPolicy status_checks = status_check_policy(base.metadata->properties);
    LoadedTable committed = base;
    committed.metadata = next;
    committed.metadata_location = join_location(folder, version_name(*version + 1, gzip));
    const Buffer content = spec::metadata_file_bytes(*next, gzip, *place_.pool);
    if (newest_version(folder) > *version ||
        !publish_version(context, status_checks, place_, committed.metadata_location, content, options) ||
        !is_in_line(folder, *version, *next, committed.metadata_location)) {
      throw ConflictError(message("table {} has moved on from version {}", place_.path, *version));
    }
    tell_readers(committed, *place_.files, folder, *version + 1, options);
    delete_logged_metadata(*base.files, *base.metadata, *next);
    return committed;
  }

 private:
  uint64_t newest_version(const std::string& folder) const {
    uint64_t newest = 0;
    for (const Candidate& candidate : list_versions(*place_.files, folder).candidates) {
      newest = std::max(newest, path_version(candidate.name).value_or(0));
    }
    return newest;
  }

  // Where old versions are deleted, the name after a version can be free again: what was published under it would be a
  // branch that the table does not have. Versions go the oldest first, so as long as the one before is there nobody has
  // deleted its successor. If it is not, what is newest says whether ours is among its ancestors; if not, ours goes.
  bool is_in_line(const std::string& folder, uint64_t version, const spec::TableMetadata& ours,
                  const std::string& location) const {
    try {
      if (has_version(*place_.files, folder, version)) return true;
      const FoundVersions found = list_versions(*place_.files, folder);
      const Candidate* newest = nullptr;
      for (const Candidate& candidate : found.candidates) {
        const uint64_t number = path_version(candidate.name).value_or(0);
        if (number > version + 1 && (newest == nullptr || number > *path_version(newest->name))) newest = &candidate;
      }
      if (newest == nullptr) return true;
      const spec::TableMetadataPtr metadata =
          read_table_metadata(*place_.files, newest->location, *place_.pool, place_.metadata_max_bytes);
      for (const spec::MetadataLogEntry& entry : metadata->metadata_log) {
        if (path_version(location_name(entry.metadata_file)) != version + 1) continue;
        if (entry.timestamp_ms == ours.last_updated_ms) return true;
        place_.files->remove(location);
        return false;
      }
      // So far back that the log has forgotten it: then it was deleted, too, if it was one of the table's.
      if (!place_.files->stat(location)) return true;
      place_.files->remove(location);
      return false;
    } catch (const Error& error) {
      CommitStateUnknownError unknown(
          message("{} is written, but whether it is a version of the table is not known: {}", location, error.what()));
      unknown.set_hint("nothing was deleted; look at the table before writing the same rows again");
      throw unknown;
    }
  }

  static void check_stays(const spec::TableMetadata& base, const spec::TableMetadata& next) {
    if (next.location != base.location) {
      throw_error(ErrorKind::kInvalidArgument, "a table by its path cannot be given another location");
    }
    if (next.property("write.metadata.path")) {
      throw_error(ErrorKind::kInvalidArgument, "a table by its path cannot have write.metadata.path");
    }
  }

  const PathTable place_;
  const std::string why_read_only_;
};

[[noreturn]] void throw_exists(const PathTable& place) {
  throw_error(ErrorKind::kAlreadyExists, "{} holds an Iceberg table already", place.path);
}

void require_no_table(const PathTable& place) {
  const bool has_folder = place.files->stat(join_location(place.path, "metadata")).has_value();
  if (has_folder && !list_versions(*place.files, place.path).candidates.empty()) throw_exists(place);
}

// The place of a table that has no version yet.
class StagedPathStore final : public TableStore {
 public:
  explicit StagedPathStore(PathTable place) : place_(std::move(place)) {}

  LoadedTable load() override {
    throw_error(ErrorKind::kNotFound, "table {} is not created before its first commit", place_.path);
  }

  LoadedTable commit(Context& context, const LoadedTable& base, std::span<const spec::TableRequirement> requirements,
                     std::span<const spec::TableUpdate> updates, const CommitOptions& options) override {
    spec::check_requirements(base.metadata.get(), requirements);
    const spec::TableMetadataPtr metadata =
        updates.empty() ? base.metadata
                        : std::make_shared<const spec::TableMetadata>(spec::apply_updates(
                              *base.metadata, updates, {.now_ms = context.clock().system_ms(), .base_location = {}}));
    require_no_table(place_);
    const std::string folder = join_location(place_.path, "metadata");
    const bool gzip = spec::writes_gzip_metadata(*metadata);
    const Buffer content = spec::metadata_file_bytes(*metadata, gzip, *place_.pool);
    const RetryPolicy status_checks = status_check_policy(metadata->properties);
    const std::string location = join_location(folder, version_name(1, gzip));
    if (!publish_version(context, status_checks, place_, location, content, options)) throw_exists(place_);
    LoadedTable created = base;
    created.metadata = metadata;
    created.metadata_location = location;
    created.store = make_path_table_store(place_, {});
    tell_readers(created, *place_.files, folder, 1, options);
    return created;
  }

 private:
  const PathTable place_;
};

}  // namespace

std::shared_ptr<TableStore> make_path_table_store(PathTable place, std::string why_read_only) {
  return std::make_shared<PathTableStore>(std::move(place), std::move(why_read_only));
}

std::string find_version_after(FileSystem& files, std::string_view folder, const std::string& location) {
  const std::optional<uint64_t> version = path_version(location_name(location));
  if (!version) return location;
  const FoundVersions found = list_versions(files, folder);
  const Candidate* newest = newest_after(found, *version);
  return newest == nullptr ? location : newest->location;
}

LoadedTable stage_path_table(PathTable place, spec::TableMetadataPtr metadata) {
  require_no_table(place);
  if (metadata->property("write.metadata.path")) {
    throw_error(ErrorKind::kInvalidArgument, "a table by its path cannot have write.metadata.path");
  }
  LoadedTable staged;
  staged.name = place.path;
  staged.metadata = std::move(metadata);
  staged.files = place.files;
  staged.store = std::make_shared<StagedPathStore>(std::move(place));
  return staged;
}

}  // namespace frazil::catalog
