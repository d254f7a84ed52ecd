// Parts of Parquet files as text.
#pragma once

#include <string>
#include <string_view>

#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/format.h"
#include "frazil/parquet/schema.h"
#include "frazil/predicate/value.h"

namespace frazil::cli {

// "int32", "fixed_len_byte_array(16)": as in a message.
std::string physical_text(const parquet::SchemaNode& leaf);
// "DECIMAL(9,2)", "TIMESTAMP(MICROS,true)"; empty: none.
std::string logical_text(const parquet::LogicalType& type);
std::string_view repetition_text(parquet::Repetition repetition);
// The schema in the form of the format's specification and of Parquet's Java tools: message name { ... }.
std::string message_text(const parquet::FileSchema& schema);

// Like a cell of a row: columnar/pretty.h. `field`: of the column.
std::string value_text(const Field& field, const predicate::Value& value, MemoryPool& pool);

}  // namespace frazil::cli
