// Arrow types as the Schema table of IPC metadata: the reverse of schema_message.h.
#pragma once

#include <cstdint>

#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer_builder.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// Appends the table. The dictionary-encoded fields get the ids 0, 1, 2, ... depth first, a field
// before those inside of its dictionary. Throws Error(kUnsupported) for a dictionary of dictionary-encoded values, which the
// format cannot say.
FlatPlace add_schema(FlatBuilder& builder, const Schema& schema);

// Appends the vector of pairs.
FlatBuilder::Position add_metadata(FlatBuilder& builder, const Metadata& metadata);

// A whole schema message with its prefix, as a stream begins and the value of ARROW:schema in a Parquet footer is.
Buffer schema_message(const Schema& schema, MemoryPool& pool);

}  // namespace frazil::ipc
