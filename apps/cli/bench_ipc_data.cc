#include "bench_ipc_data.h"

#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/byte_sink.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/stream_writer.h"

namespace frazil::cli {
namespace {

constexpr uint64_t kSeed = 29;
constexpr int64_t kColumnsMax = 1'000'000;

ArrayPtr random_column(const DataTypePtr& type, int64_t rows, std::mt19937_64& random, MemoryPool& pool) {
  const auto builder = make_builder(type, pool);
  for (int64_t row = 0; row < rows; ++row) {
    if (type->id() == TypeId::kUInt32) {
      builder->as<FixedWidthBuilder>().append<uint32_t>(static_cast<uint32_t>(random()));
      continue;
    }
    const std::array<uint64_t, 2> bits = {random(), random()};
    builder->as<BytesBuilder>().append({reinterpret_cast<const char*>(bits.data()), random() % 10});
  }
  return builder->finish();
}

}  // namespace

Buffer make_ipc(const IpcShape& shape, MemoryPool& pool) {
  if (shape.columns < 1 || shape.columns > kColumnsMax || shape.rows < 0 || shape.batches < 1) {
    throw_error(ErrorKind::kInvalidArgument, "--columns must be 1 to {}, --rows at least 0, --batches at least 1",
                kColumnsMax);
  }
  std::vector<Field> fields;
  for (int64_t column = 0; column < shape.columns; ++column) {
    fields.push_back(
        {.name = "c" + std::to_string(column), .type = primitive(column % 2 == 0 ? TypeId::kUInt32 : TypeId::kBinary)});
  }
  const SchemaPtr schema = Schema::make(std::move(fields));
  MemorySink sink(pool);
  std::unique_ptr<ipc::BatchWriter> writer;
  if (shape.file) {
    writer = std::make_unique<ipc::FileWriter>(sink, schema, pool, ipc::WriteOptions{.codec = shape.codec});
  } else {
    writer = std::make_unique<ipc::StreamWriter>(sink, schema, pool, ipc::WriteOptions{.codec = shape.codec});
  }
  std::mt19937_64 random(kSeed);
  for (int64_t batch = 0; batch < shape.batches; ++batch) {
    const int64_t rows = shape.rows * (batch + 1) / shape.batches - shape.rows * batch / shape.batches;
    std::vector<ArrayPtr> columns;
    for (const Field& field : schema->fields()) columns.push_back(random_column(field.type, rows, random, pool));
    writer->write(RecordBatch(schema, rows, std::move(columns)));
  }
  writer->finish();
  return sink.take();
}

}  // namespace frazil::cli
