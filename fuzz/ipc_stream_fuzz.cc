// Streams of Arrow IPC: valid batches that survive writing, or an error of bad input.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc_check.h"

#include "frazil/ipc/stream_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  MemoryPool pool({.budget_bytes = testing::kFuzzBudgetBytes});
  const Buffer bytes = Buffer::borrow(std::as_bytes(std::span(data, size)));
  const testing::IpcOutcome outcome = testing::outcome_of([&](testing::IpcContents& contents) {
    ipc::StreamReader reader(bytes, pool, testing::kFuzzOptions);
    contents = testing::contents_of(reader);
  });
  if (!outcome.error) testing::check_after_writing(outcome.contents, pool);
  return 0;
}
