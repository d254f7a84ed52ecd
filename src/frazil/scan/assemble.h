// What was decoded of a data file, made into the columns of the scan: fields in the table's order, constants for those
// that the file lacks, in structs, lists and maps too.
//
//   table                      file                decoded             assembled
//   s: struct<a, b = 7, c>     s: struct<c, a>     s: struct<a, c>     s: struct<a, [7...], c>, null where it was
//   t: struct<d>               t: struct<e>        t: struct<e>        t: struct<[null...]>, null where it was
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/scan/resolve.h"

namespace frazil::scan {

// One thread at a time. Keeps the constants that it made; batches share them.
class Assembler {
 public:
  // `schema`: the scan's, a field for each source.
  Assembler(std::vector<ColumnSource> sources, SchemaPtr schema);

  // An upper bound of the pool's bytes for the constants of `rows` rows; those in lists are counted as if there were one
  // list element a row.
  size_t constant_bytes(int64_t rows) const;
  // Of the constants that it holds.
  size_t bytes_in_use() const { return bytes_in_use_; }
  // Makes the constants outside of lists ahead. Strong guarantee, as assemble() has it: it may be called again after a
  // MemoryLimitError.
  void make_constants(int64_t rows, MemoryPool& pool);
  // `decoded` has the sources that are no constants at their places.
  RecordBatch assemble(const RecordBatch& decoded, MemoryPool& pool);

 private:
  struct Node {
    ColumnSource::Kind kind = ColumnSource::Kind::kConstant;
    size_t place = 0;
    spec::Literal constant;
    DataTypePtr type;
    ArrayPtr values;  // of the constant, as many as were needed at most
    std::vector<Node> children;
  };

  static Node compile(const ColumnSource& source, const DataTypePtr& type);
  static size_t constant_bytes(const Node& node, int64_t count);
  void make_constants(Node& node, int64_t count, MemoryPool& pool);
  ArrayPtr constant(Node& node, int64_t count, MemoryPool& pool);
  ArrayPtr assemble(Node& node, const ArrayPtr& stored, MemoryPool& pool);
  std::vector<ArrayPtr> assemble_fields(std::vector<Node>& nodes, const std::vector<ArrayPtr>& stored, int64_t count,
                                        MemoryPool& pool);

  SchemaPtr schema_;
  std::vector<Node> columns_;
  size_t bytes_in_use_ = 0;
};

}  // namespace frazil::scan
