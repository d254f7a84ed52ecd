#include "frazil/codec/front.h"

#include <algorithm>
#include <cstring>

// ZSTD_decompressContinue, block by block into one buffer, is exported by every shared libzstd since 1.0.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "frazil/base/byte_reader.h"

namespace frazil {

size_t zstd_front(ZSTD_DCtx* context, Bytes input, std::span<std::byte> output) {
  const auto check = [](size_t result) {
    if (ZSTD_isError(result)) throw_damaged("zstd", ZSTD_getErrorName(result));
    return result;
  };
  check(ZSTD_decompressBegin(context));
  size_t size = 0;
  while (output.size() - size >= kFrontBlockBytes) {
    const size_t next = ZSTD_nextSrcSizeToDecompress(context);
    if (next == 0) break;  // the frame ends
    if (next > input.size()) break;
    size += check(ZSTD_decompressContinue(context, output.data() + size, output.size() - size, input.data(), next));
    input = input.subspan(next);
  }
  return size;
}

size_t snappy_front(Bytes input, std::span<std::byte> output) {
  const auto take_number = [&input](size_t bytes) {
    size_t number = 0;
    for (size_t i = 0; i < bytes; ++i) number |= std::to_integer<size_t>(input[i]) << (8 * i);
    input = input.subspan(bytes);
    return number;
  };
  size_t size_bytes = 0;
  while (size_bytes < input.size() && std::to_integer<unsigned>(input[size_bytes++]) >= 0x80) {
    if (size_bytes == 5) throw_damaged("snappy", "its size is not readable");
  }
  input = input.subspan(size_bytes);
  constexpr size_t kTagBytesMax = 5;
  size_t size = 0;
  // What ends in a tag, or in its bytes, ends there for the caller too.
  while (size < output.size() && input.size() >= kTagBytesMax) {
    const size_t tag = take_number(1);
    const size_t room = output.size() - size;
    size_t length = (tag >> 2) + 1;
    size_t distance = 0;
    switch (tag & 3) {
      case 0: {
        if (length > 60) length = take_number(length - 60) + 1;
        const size_t count = std::min({length, room, input.size()});
        std::memcpy(output.data() + size, input.data(), count);
        input = input.subspan(count);
        size += count;
        continue;
      }
      case 1:
        length = ((tag >> 2) & 7) + 4;
        distance = (tag >> 5) << 8 | take_number(1);
        break;
      case 2:
        distance = take_number(2);
        break;
      default:
        distance = take_number(4);
    }
    if (distance == 0 || distance > size) throw_damaged("snappy", "a copy from before its start");
    const size_t count = std::min(length, room);
    for (size_t i = 0; i < count; ++i) output[size + i] = output[size + i - distance];
    size += count;
  }
  return size;
}

}  // namespace frazil
