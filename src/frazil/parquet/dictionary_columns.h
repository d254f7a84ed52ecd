// Columns as Arrow dictionaries: text that repeats stays as small in memory as it is in the file.
//
// A column can be given out as dictionary<int32, T> where each of its pages refers to the dictionary of its row group.
// That is known before anything is read, from the footer (encoding_stats, see is_wholly_dictionary), so a stream has one
// type from its first batch to its last: a column with one row group that fell back to another encoding is read as T.
// Where the footer says nothing sure it is read as T too; where it lies, CorruptError.
#pragma once

#include <cstddef>
#include <vector>

#include "frazil/parquet/column_request.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

// Whether all pages of the leaf in row groups [first, end) refer to dictionaries. Row groups without rows do not matter.
bool has_dictionaries(const FileMetadata& metadata, size_t leaf, size_t first_row_group, size_t row_group_end);

// Asks for dictionaries of each leaf of text, binary or fixed-size binary, in lists and structs too, that has them in
// these row groups. Not of extension types, whose storage is another, and not of variants.
void request_dictionaries(std::vector<ColumnRequest>& requests, const FileMetadata& metadata, size_t first_row_group,
                          size_t row_group_end);

}  // namespace frazil::parquet
