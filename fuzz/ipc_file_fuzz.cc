// Files of Arrow IPC: valid batches that survive writing, or an error of bad input; of memory as by ranges.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc_check.h"

#include "frazil/io/memory_file_system.h"
#include "frazil/ipc/file_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  MemoryPool pool({.budget_bytes = testing::kFuzzBudgetBytes});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const testing::IpcOutcome whole = testing::outcome_of([&](testing::IpcContents& contents) {
    ipc::FileReader reader(Buffer::borrow(bytes), pool, testing::kFuzzOptions);
    contents = testing::contents_of(reader);
  });
  MemoryFileSystem files;
  write_file(files, "/file", bytes, {});
  const testing::IpcOutcome by_ranges = testing::outcome_of([&](testing::IpcContents& contents) {
    ipc::FileReader reader(files.open_input("/file"), pool, testing::kFuzzOptions);
    contents = testing::contents_of(reader);
  });
  if (whole.error == ErrorKind::kMemoryLimit || by_ranges.error == ErrorKind::kMemoryLimit) return 0;
  testing::check(whole.error == by_ranges.error, whole.error_text + " or " + by_ranges.error_text);
  if (whole.error) return 0;
  const std::string text = testing::difference(whole.contents, by_ranges.contents);
  testing::check(text.empty(), text);
  testing::check_after_writing(whole.contents, pool);
  return 0;
}
