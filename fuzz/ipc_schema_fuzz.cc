// Schema messages of Arrow IPC: types or an error of bad input, of a size that the bytes justify; the same after they were
// written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "frazil/base/error.h"
#include "frazil/ipc/schema_message.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/memory/memory_pool.h"

namespace {

using namespace frazil;

void check(bool holds) {
  if (!holds) std::abort();
}

size_t count_fields(const DataType& type) {
  size_t count = type.children().size();
  for (const Field& child : type.children()) count += count_fields(*child.type);
  if (type.value_type() != nullptr) count += count_fields(*type.value_type());
  return count;
}

void check_after_writing(const Schema& schema) {
  MemoryPool pool;
  Buffer written;
  try {
    written = ipc::schema_message(schema, pool);
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::kUnsupported);  // a dictionary whose values are encoded themselves
    return;
  }
  check(ipc::SchemaMessage(written.span()).schema()->equals(schema, true));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const ipc::SchemaMessage message(std::as_bytes(std::span(data, size)));
    const SchemaPtr schema = message.schema();
    check(schema->field_count() == message.field_count());
    size_t count = schema->field_count();
    for (size_t i = 0; i < schema->field_count(); ++i) {
      check(message.field(i).equals(schema->field(i), true));
      message.dictionary_ids(i);
      count += count_fields(*schema->field(i).type);
    }
    check(count <= size);
    check(schema->to_string().size() <= 100 * size + 1000);
    check(message.metadata() == schema->metadata());
    check_after_writing(*schema);
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::kInternal);
  }
  return 0;
}
