// What partition fields and sort fields share: a transform of one source column, or of several (v3).
//
//   source := "source-id": I | "source-ids": [I...]        // one argument: only the first; several: only the second
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/transform.h"

namespace frazil::spec {

// "source-ids" if it is there, else "source-id". Throws CorruptError if neither is, or the list is empty.
std::vector<int32_t> read_source_ids(ObjectReader& reader, std::string_view what);
void write_source_ids(json::Object& object, const std::vector<int32_t>& source_ids);
// "ts" for identity, "day(ts)", "bucket[16](user.id)"; ids for columns that are gone.
std::string describe_term(const Transform& transform, const std::vector<int32_t>& source_ids, const Schema& schema);

}  // namespace frazil::spec
