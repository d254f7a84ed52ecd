// What check_c_data.py calls: every function takes addresses of C data structures that pyarrow made or will take over.
// 0 is success; after -1 frazil_last_error() has the text.
#include <memory>
#include <string>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/pretty.h"
#include "frazil/memory/memory_pool.h"

#define FRAZIL_TEST_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using frazil::ArrayPtr;

std::string last_error;

// Outlives everything that is imported or made; its figures show what the other side still holds.
frazil::MemoryPool& pool() {
  static frazil::MemoryPool instance;
  return instance;
}

frazil::ImportOptions options() {
  return {.pool = &pool(), .validate_full = true};
}

template <typename Body>
int guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return -1;
  }
}

struct Imported {
  frazil::Field field;
  ArrayPtr array;
};

Imported import(ArrowSchema* schema, ArrowArray* array) {
  Imported imported;
  imported.field = frazil::import_field(schema);
  imported.array = frazil::import_array(array, imported.field.type, options());
  return imported;
}

// Batches of another stream, one by one, so that import and export of streams are both on the way.
class Relay final : public frazil::BatchStream {
 public:
  Relay(std::unique_ptr<frazil::BatchStream> source, int64_t fail_after)
      : source_(std::move(source)), left_(fail_after) {}
  const frazil::SchemaPtr& schema() const override { return source_->schema(); }
  std::optional<frazil::RecordBatch> next() override {
    if (left_-- == 0) frazil::throw_error(frazil::ErrorKind::kUnsupported, "the relay fails as it was told");
    return source_->next();
  }
  void close() noexcept override { source_->close(); }

 private:
  std::unique_ptr<frazil::BatchStream> source_;
  int64_t left_;
};

}  // namespace

FRAZIL_TEST_EXPORT const char* frazil_last_error() {
  return last_error.c_str();
}

// Bytes that blocks of Frazil's pool hold, idle ones not counted.
FRAZIL_TEST_EXPORT int64_t frazil_bytes_in_use() {
  frazil::MemoryPoolStats stats = pool().stats();
  return static_cast<int64_t>(stats.held_bytes - stats.idle_bytes);
}

FRAZIL_TEST_EXPORT int frazil_round_trip(ArrowSchema* schema, ArrowArray* array, ArrowSchema* out_schema,
                                         ArrowArray* out_array) {
  return guarded([&] {
    Imported imported = import(schema, array);
    frazil::export_field(imported.field, out_schema);
    frazil::export_array(imported.array, out_array);
  });
}

FRAZIL_TEST_EXPORT int frazil_round_trip_batch(ArrowSchema* schema, ArrowArray* array, ArrowSchema* out_schema,
                                               ArrowArray* out_array) {
  return guarded([&] {
    frazil::SchemaPtr imported = frazil::import_schema(schema);
    frazil::RecordBatch batch = frazil::import_record_batch(array, imported, options());
    frazil::export_schema(*imported, out_schema);
    frazil::export_record_batch(batch, out_array);
  });
}

// Fails at batch `fail_after`; never if negative.
FRAZIL_TEST_EXPORT int frazil_relay_stream(ArrowArrayStream* stream, int64_t fail_after, ArrowArrayStream* out) {
  return guarded([&] {
    frazil::export_stream(std::make_unique<Relay>(frazil::import_stream(stream, options()), fail_after), out);
  });
}

// The values copied one by one into memory of our own: nothing of the source is kept.
FRAZIL_TEST_EXPORT int frazil_rebuild(ArrowSchema* schema, ArrowArray* array, ArrowSchema* out_schema,
                                      ArrowArray* out_array) {
  return guarded([&] {
    Imported imported = import(schema, array);
    auto builder = frazil::make_builder(imported.field.type, pool());
    for (int64_t i = 0; i < imported.array->length; ++i) builder->append_from(*imported.array, i);
    ArrayPtr rebuilt = builder->finish();
    frazil::validate_full(*rebuilt);
    frazil::export_field(imported.field, out_schema);
    frazil::export_array(rebuilt, out_array);
  });
}

FRAZIL_TEST_EXPORT int frazil_nulls(ArrowSchema* schema, int64_t length, ArrowSchema* out_schema,
                                    ArrowArray* out_array) {
  return guarded([&] {
    frazil::Field field = frazil::import_field(schema);
    ArrayPtr nulls = frazil::make_null_array(field.type, length, pool());
    frazil::validate_full(*nulls);
    frazil::export_field(field, out_schema);
    frazil::export_array(nulls, out_array);
  });
}

// Takes over all `count` arrays, also when one of them fails.
FRAZIL_TEST_EXPORT int frazil_concatenate(ArrowSchema* schema, ArrowArray** arrays, int64_t count,
                                          ArrowSchema* out_schema, ArrowArray* out_array) {
  return guarded([&] {
    frazil::Field field = frazil::import_field(schema);
    std::vector<ArrayPtr> parts;
    for (int64_t i = 0; i < count; ++i) parts.push_back(frazil::import_array(arrays[i], field.type, options()));
    ArrayPtr whole = frazil::concatenate(parts, pool());
    frazil::validate_full(*whole);
    frazil::export_field(field, out_schema);
    frazil::export_array(whole, out_array);
  });
}

// 1 if equal, 0 if not (frazil_last_error() has the difference), -1 on error.
FRAZIL_TEST_EXPORT int frazil_equals(ArrowSchema* left_schema, ArrowArray* left, ArrowSchema* right_schema,
                                     ArrowArray* right) {
  int result = -1;
  guarded([&] {
    Imported a = import(left_schema, left);
    Imported b = import(right_schema, right);
    last_error = frazil::difference(*a.array, *b.array);
    result = frazil::equals(*a.array, *b.array) ? 1 : 0;
    if ((result == 1) != last_error.empty()) result = -1;
  });
  return result;
}

// The JSON of every value, one a line, in `*text`; valid until the next call.
FRAZIL_TEST_EXPORT int frazil_json_lines(ArrowSchema* schema, ArrowArray* array, const char** text) {
  static std::string lines;
  return guarded([&] {
    Imported imported = import(schema, array);
    lines.clear();
    for (int64_t i = 0; i < imported.array->length; ++i) {
      frazil::append_value_json(lines, imported.field, *imported.array, i);
      lines += '\n';
    }
    *text = lines.c_str();
  });
}
