// Any bytes as the data of any codec (the first byte chooses): decompression gives bytes or an error of a known kind,
// within its maximum and its budget; what the unsized call gives, the sized call gives too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  constexpr size_t kBytesMax = 1 << 20;
  if (size == 0) return 0;
  const Codec codec = static_cast<Codec>(data[0] % (static_cast<int>(Codec::kLz4Hadoop) + 1));
  const std::span<const std::byte> input = std::as_bytes(std::span(data + 1, size - 1));
  MemoryPool pool({.budget_bytes = 8 << 20});
  try {
    Decompressor decompressor(pool);
    const MutableBuffer output = decompressor.decompress_unsized(codec, input, kBytesMax);
    if (output.size() > kBytesMax) std::abort();
    std::vector<std::byte> again(output.size());
    decompressor.decompress(codec, input, again);
    if (!again.empty() && std::memcmp(again.data(), output.data(), again.size()) != 0) std::abort();
  } catch (const CorruptError&) {
  } catch (const MemoryLimitError&) {
  }
  return 0;
}
