// Any bytes, as a manifest and as a manifest list: entries whose every getter works, or an error that damage may have, within
// the budget of the pool. Nothing stays behind.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "frazil/base/error.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"

namespace {

using namespace frazil;
using namespace frazil::manifest;

class BytesFile final : public InputFile {
 public:
  BytesFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset) throw_corrupt(offset, "file is shorter than asked");
    if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
  }

 private:
  const uint8_t* data_;
  size_t size_;
  std::string path_ = "fuzz";
};

bool is_expected(const Error& error) {
  return error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
         error.kind() == ErrorKind::kMemoryLimit;
}

// Getters that decode may find damage; the others must not.
void look_at(const Entry& entry) {
  (void)entry.snapshot_id();
  (void)entry.sequence_number();
  (void)entry.first_row_id();
  if (to_string(entry.content()).empty() || to_string(entry.status()).empty()) std::abort();
  if (entry.file_path().size() > (1U << 30)) std::abort();
  (void)entry.file_format();
  (void)entry.referenced_data_file();
  (void)entry.partition();
  (void)entry.split_offsets();
  try {
    (void)entry.equality_ids();
    for (const CountKind kind : {CountKind::kColumnSize, CountKind::kNanValueCount}) {
      for (const auto& [id, count] : entry.counts(kind)) {
        if (!entry.count(kind, id)) std::abort();
        (void)count;
        break;
      }
    }
    for (const BoundKind kind : {BoundKind::kLower, BoundKind::kUpper}) (void)entry.bounds(kind);
  } catch (const CorruptError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The way comes from the last byte: seeds are then files as they are.
  const uint8_t way = data[size - 1];
  MemoryPool pool({.budget_bytes = 16 << 20});
  const auto file = std::make_shared<BytesFile>(data, size);
  try {
    ManifestFile list_entry;
    list_entry.sequence_number = way & 1;
    if ((way & 2) != 0) list_entry.first_row_id = 100;
    if ((way & 4) != 0) list_entry.content = ManifestContent::kDeletes;
    ManifestOptions options;
    options.with_metrics = (way & 8) != 0;
    const Manifest manifest = read_manifest(file, list_entry, pool, options);
    (void)manifest.header().partition_spec();
    const size_t step = manifest.size() / 1000 + 1;
    for (size_t i = 0; i < manifest.size(); i += step) look_at(manifest[i]);
  } catch (const Error& error) {
    if (!is_expected(error)) std::abort();
  }
  try {
    for (const ManifestFile& manifest : read_manifest_list(file, pool)) (void)manifest.may_have_live_files();
  } catch (const Error& error) {
    if (!is_expected(error)) std::abort();
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
