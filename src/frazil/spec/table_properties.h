// Reading a table's properties (Iceberg docs, "Configuration"): texts that should be numbers or switches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frazil/spec/statistics.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::spec {

// The value of `key`, or `standard` if it is not set. Throws Error(kInvalidArgument), naming key and value, for what is
// no whole number of at least `minimum`.
int64_t property_int(const Properties& properties, std::string_view key, int64_t standard, int64_t minimum = 0);
// In lower case: names of codecs and the like.
std::string property_word(const Properties& properties, std::string_view key, std::string_view standard);
// "true" or "false" in any case.
bool property_bool(const Properties& properties, std::string_view key, bool standard);

// Replaces or appends; removes.
void set_property(Properties& properties, std::string_view key, std::string_view value);
void remove_property(Properties& properties, std::string_view key);

}  // namespace frazil::spec
