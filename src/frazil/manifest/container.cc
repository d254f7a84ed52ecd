#include "frazil/manifest/container.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "frazil/base/error.h"

namespace frazil::manifest {

namespace {

// Manifests are written to be some 8 MB; one read beats many.
constexpr size_t kWholeFileBytes = 32 << 20;

bool is_encrypted(const InputFile& file) {
  std::array<std::byte, 4> magic;
  if (file.size() < magic.size()) return false;
  file.read_at(0, magic);
  return std::memcmp(magic.data(), "AGS1", magic.size()) == 0;
}

}  // namespace

std::unique_ptr<avro::ContainerReader> open_container(const std::shared_ptr<const InputFile>& file, MemoryPool& pool) {
  try {
    return std::make_unique<avro::ContainerReader>(file, pool,
                                                   avro::ContainerOptions{.whole_file_bytes = kWholeFileBytes});
  } catch (const CorruptError&) {
    if (is_encrypted(*file))
      throw_error(ErrorKind::kUnsupported, "{} is encrypted, which is not supported", file->path());
    throw;
  }
}

std::optional<int64_t> header_integer(const avro::Header& header, std::string_view key) {
  const auto text = header.find(key);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

avro::Field reader_field(std::string name, int32_t field_id, avro::NodePtr type, std::vector<std::string> aliases,
                         avro::Output output) {
  avro::Field field;
  field.name = std::move(name);
  field.aliases = std::move(aliases);
  field.field_id = field_id;
  field.type = std::move(type);
  field.output = output;
  return field;
}

const avro::Field* find_field(const avro::Node& record, int32_t field_id, std::string_view name) {
  const bool has_ids = std::any_of(record.fields.begin(), record.fields.end(),
                                   [](const avro::Field& field) { return field.field_id.has_value(); });
  for (const avro::Field& field : record.fields) {
    if (has_ids ? field.field_id == field_id : field.name == name) return &field;
  }
  return nullptr;
}

}  // namespace frazil::manifest
