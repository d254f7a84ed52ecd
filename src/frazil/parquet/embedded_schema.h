// The Arrow schema that Arrow's writers leave in the footer: key "ARROW:schema", a schema message of Arrow IPC in base64.
//
// It is honoured where it only refines what the Parquet schema says, as Arrow C++ does:
//
//   Parquet schema                  Arrow schema                      read as
//   timestamp adjusted to UTC       timestamp with zone Z             timestamp with zone Z, in the file's unit
//   int64                           duration                          duration
//   utf8, binary                    large or view form                that form
//   decimal128(p, s)                decimal256(p, s)                  decimal256(p, s)
//   list                            large_list, list views            that form (views: list_forms.h)
//   list                            fixed_size_list                   that form, up to 65,536 elements
//   text, binary, fixed-size binary dictionary                        dictionary<int32, ...>, where all pages are dictionary-
//                                                                     encoded (dictionary_columns.h)
//   anything                        metadata; an extension whose      the same, with the metadata
//                                   storage it is
//
// Where Parquet and Arrow disagree, Parquet's schema is right: writers change it and copy the other along. A key that
// cannot be decoded, or fields that the file does not have, say nothing. What only the rows can tell is an error when they
// do: a list of another size where the Arrow schema has fixed_size_list (use_embedded_schema = false reads it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/ipc/schema_message.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

inline constexpr std::string_view kEmbeddedSchemaKey = "ARROW:schema";

// The value of that key. Throws Error(kUnsupported) for what a schema message cannot say.
std::string embedded_schema_text(const Schema& schema);

class EmbeddedSchema {
 public:
  // Row groups that are read, if dictionaries are wanted.
  struct DictionaryGroups {
    size_t first = 0;
    size_t end = 0;
  };

  // Nothing if the file has none that can be decoded. Decodes base64, no field.
  static std::optional<EmbeddedSchema> of(const FileMetadata& metadata);

  // Refines requests as request_column() and request_named() make them: leaves whose type is the one of the Parquet schema,
  // metadata everywhere. Costs what the top-level columns of the requests have.
  void refine(std::vector<ColumnRequest>& requests, const FileMetadata& metadata,
              std::optional<DictionaryGroups> dictionaries) const;
  // Of the schema itself.
  Metadata metadata() const;

 private:
  EmbeddedSchema(std::unique_ptr<const std::string> bytes, const ipc::SchemaMessage& message)
      : bytes_(std::move(bytes)), message_(message) {}

  // The field, if it can be decoded and has that name.
  std::optional<Field> find_field(size_t index, std::string_view name) const;

  std::unique_ptr<const std::string> bytes_;  // stays where it is: the message borrows it
  ipc::SchemaMessage message_;
};

}  // namespace frazil::parquet
