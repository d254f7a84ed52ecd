#include "frazil/catalog/metadata_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/io/uri.h"
#include "frazil/runtime/random.h"
#include "frazil/spec/table_properties.h"

namespace frazil::catalog {
namespace {

constexpr size_t kVersionDigits = 5;

// "00012-<anything>" is version 12; nothing for other names.
std::optional<uint64_t> version_of(std::string_view location) {
  const std::string_view name = location_name(location);
  const size_t dash = name.find('-');
  return dash == std::string_view::npos ? std::nullopt : parse_uint64(name.substr(0, dash));
}

}  // namespace

void remove_quietly(FileSystem& files, std::string_view location) noexcept {
  try {
    files.remove(location);
  } catch (...) {
    return;
  }
}

std::string next_metadata_location(const spec::TableMetadata& next, std::string_view base_location, Random& random) {
  const std::optional<uint64_t> base_version = version_of(base_location);
  std::string version = std::to_string(base_version ? *base_version + 1 : 0);
  if (version.size() < kVersionDigits) version.insert(0, kVersionDigits - version.size(), '0');
  return message("{}/{}-{}{}.metadata.json", spec::metadata_folder(next), version, to_string(random.uuid_v4()),
                 spec::writes_gzip_metadata(next) ? ".gz" : "");
}

OutputFile::PublishOptions publish_options(const CommitOptions& options) {
  return {.if_exists = OutputFile::IfExists::kFail, .sync = options.durability == Durability::kFull};
}

PendingFile::PendingFile(std::shared_ptr<FileSystem> files, std::string location, const Buffer& content,
                         OutputFile::PublishOptions options)
    : files_(std::move(files)) {
  try {
    write_file(*files_, location, content.span(), options);
  } catch (const Error& error) {
    // It may have got its name before the error: a folder that cannot be synced.
    if (error.kind() != ErrorKind::kAlreadyExists) remove_quietly(*files_, location);
    throw;
  }
  location_ = std::move(location);
}

PendingFile::~PendingFile() {
  if (!location_.empty()) remove_quietly(*files_, location_);
}

void delete_logged_metadata(FileSystem& files, const spec::TableMetadata& base,
                            const spec::TableMetadata& next) noexcept {
  try {
    if (!spec::property_bool(next.properties, "write.metadata.delete-after-commit.enabled", false)) return;
    for (const spec::MetadataLogEntry& old : base.metadata_log) {
      const bool kept = std::any_of(next.metadata_log.begin(), next.metadata_log.end(),
                                    [&](const auto& entry) { return entry.metadata_file == old.metadata_file; });
      if (!kept) remove_quietly(files, old.metadata_file);
    }
  } catch (...) {
    return;
  }
}

}  // namespace frazil::catalog
