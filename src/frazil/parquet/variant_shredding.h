// Shredded variants (format/VariantShredding.md), put together again.
//
// A file may keep parts of a column's variants in columns of their own:
//
//   variant := struct<metadata: binary, value: binary?, typed_value: typed?>
//   element := struct<value: binary?, typed_value: typed?>                      // at least one of them
//   typed   := a primitive type | list<element> | struct<name: element, ...>    // an array, an object
//
//   value     typed_value   the variant is
//   null      null          missing: no such field; null where there must be a value
//   present   null          value
//   null      present       typed_value
//   present   object        the fields of both; a field that has columns is taken from them
//   present   other         CorruptError
//
// What comes out is struct<metadata: binary not null, value: binary not null>, the extension type
// "arrow.parquet.variant", whether the file was shredded or not. Metadata stays as it is: all names must be in it.
#pragma once

#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

// Variants of one type of shredding.
class VariantAssembler {
 public:
  // `stored`: a struct as above, fields in any order, as a BatchReader gives it. Throws CorruptError for a struct that
  // is none, Error(kUnsupported) for a typed_value of a type that variants do not have.
  explicit VariantAssembler(const DataType& stored);
  ~VariantAssembler();
  VariantAssembler(VariantAssembler&&) noexcept;
  VariantAssembler& operator=(VariantAssembler&&) noexcept;

  // struct<metadata, value>.
  static const DataTypePtr& type();
  // As many variants, null where `stored` is; shares the metadata, and the values too if none is shredded. `stored` is
  // a validated array of the type. What is in `value` is not looked at but for the fields of objects that are joined
  // (validate_variant() does). Memory comes from the pool, at most a small multiple of what `stored` has. Throws
  // CorruptError that names the row, Error(kUnsupported) past 2^31 - 1 bytes.
  ArrayPtr assemble(const Array& stored, MemoryPool& pool) const;

 private:
  struct Node;
  class Writer;
  std::unique_ptr<const Node> root_;
};

// A column with variants in it, or without.
class VariantColumn {
 public:
  // Finds the variants of a request: groups with that annotation which are asked for as a whole. One that is asked for
  // in parts stays as it is stored. Throws as the assembler does, with the column's path.
  VariantColumn(const FileSchema& schema, const ColumnRequest& request);
  ~VariantColumn();
  VariantColumn(VariantColumn&&) noexcept;
  VariantColumn& operator=(VariantColumn&&) noexcept;

  bool has_variants() const { return has_variants_; }
  // arrow_field(request), variants being what comes out.
  const Field& field() const { return field_; }
  // `stored` is a column that the request was read as. Without variants it is returned as it is.
  ArrayPtr assemble(const ArrayPtr& stored, MemoryPool& pool) const;

 private:
  struct Node;
  static std::unique_ptr<Node> compile(const FileSchema& schema, const ColumnRequest& request, Field& field);
  static ArrayPtr assemble_node(const Node* node, const ArrayPtr& stored, MemoryPool& pool);

  std::unique_ptr<Node> root_;
  Field field_;
  bool has_variants_ = false;
};

}  // namespace frazil::parquet
