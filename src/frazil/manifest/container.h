// Opening the Avro files of this layer, and reading their small ones whole.
#pragma once

#include <memory>
#include <string_view>

#include "frazil/avro/container.h"
#include "frazil/avro/schema.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::manifest {

// Throws Error(kUnsupported) for a file that is encrypted as a whole (Iceberg's AES GCM stream, "AGS1").
std::unique_ptr<avro::ContainerReader> open_container(const std::shared_ptr<const InputFile>& file, MemoryPool& pool);

// An integer in the container's metadata: nothing if it is absent, empty or no number ("null").
std::optional<int64_t> header_integer(const avro::Header& header, std::string_view key);

// A field of a reader schema: `aliases` are older names.
avro::Field reader_field(std::string name, int32_t field_id, avro::NodePtr type, std::vector<std::string> aliases = {},
                         avro::Output output = avro::Output::kValue);

// The field of that id; without ids in the record, of that name. nullptr if there is none.
const avro::Field* find_field(const avro::Node& record, int32_t field_id, std::string_view name);

}  // namespace frazil::manifest
