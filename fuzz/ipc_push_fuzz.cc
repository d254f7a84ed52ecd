// The push decoder: however the bytes are split, the same batches come, and the same end or error.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "ipc_check.h"

#include "frazil/ipc/push_decoder.h"

namespace {

using namespace frazil;

testing::IpcOutcome at_once(std::span<const std::byte> bytes, MemoryPool& pool) {
  return testing::outcome_of([&](testing::IpcContents& contents) {
    ipc::PushDecoder decoder(pool, testing::kFuzzOptions);
    decoder.push(bytes);
    testing::take_batches(decoder, contents);
    decoder.finish();
  });
}

testing::IpcOutcome in_pieces(std::span<const std::byte> bytes, uint32_t seed, MemoryPool& pool) {
  return testing::outcome_of([&](testing::IpcContents& contents) {
    std::mt19937 random(seed);
    ipc::PushDecoder decoder(pool, testing::kFuzzOptions);
    testing::take_batches(decoder, contents);
    while (!bytes.empty() && !decoder.at_end()) {
      // Small, large, or just what is asked for.
      const size_t wanted =
          std::array<size_t, 3>{1 + random() % 16, 1 + random() % 4096, decoder.next_required_size()}[random() % 3];
      testing::check(wanted != 0, "nothing is required before the end");
      const std::span<const std::byte> piece = bytes.first(std::min(wanted, bytes.size()));
      if (random() % 3 == 0) {
        const std::span<std::byte> room = decoder.room();
        const size_t count = std::min(room.size(), piece.size());
        testing::check(count != 0, "no room before the end");
        std::memcpy(room.data(), piece.data(), count);
        decoder.filled(count);
        bytes = bytes.subspan(count);
      } else if (random() % 2 == 0) {
        decoder.push(Buffer::borrow(piece));
        bytes = bytes.subspan(piece.size());
      } else {
        decoder.push(piece);
        bytes = bytes.subspan(piece.size());
      }
      testing::take_batches(decoder, contents);
    }
    decoder.finish();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryPool pool({.budget_bytes = testing::kFuzzBudgetBytes});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  uint32_t seed = 0;
  if (size >= sizeof(seed)) std::memcpy(&seed, data + size - sizeof(seed), sizeof(seed));
  const testing::IpcOutcome whole = at_once(bytes, pool);
  const testing::IpcOutcome pieces = in_pieces(bytes, seed, pool);
  if (whole.error == ErrorKind::kMemoryLimit || pieces.error == ErrorKind::kMemoryLimit) return 0;
  testing::check(whole.error == pieces.error, whole.error_text + " at once, " + pieces.error_text + " in pieces");
  testing::check((whole.contents.schema == nullptr) == (pieces.contents.schema == nullptr), "a schema in one of two");
  if (whole.contents.schema == nullptr) return 0;
  const std::string text = testing::difference(whole.contents, pieces.contents);
  testing::check(text.empty(), text);
  if (!whole.error) testing::check_after_writing(whole.contents, pool);
  return 0;
}
