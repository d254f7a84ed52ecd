// The loops around read and write calls that may be interrupted or do less than asked. Templates, so that tests can
// give them calls that misbehave in every way.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/types.h>
#include <sys/uio.h>

namespace frazil {

// Linux moves at most 0x7FFFF000 bytes a call, macOS fails beyond INT_MAX.
inline constexpr size_t kCallBytesMax = size_t{1} << 30;

// read(data, size, offset) -> bytes, 0 at the end, -1 with errno. Returns how many bytes of `out` were filled: fewer
// than asked at the end of the file, with errno 0, or after an error, with its errno.
template <typename Read>
size_t read_fully(Read read, uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const size_t size = std::min(out.size() - done, kCallBytesMax);
    const ssize_t got = read(out.data() + done, size, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return done;
    if (got == 0) {
      errno = 0;
      return done;
    }
    done += static_cast<size_t>(got);
  }
  return done;
}

// write(data, size) -> bytes, -1 with errno. True if all was written, false with errno.
template <typename Write>
bool write_fully(Write write, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(bytes.data(), std::min(bytes.size(), kCallBytesMax));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    if (put == 0) {  // no file system should, and trying forever would hang
      errno = EIO;
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

// write(vectors, count) -> bytes, -1 with errno. True if all pieces were written, one behind the other; false with errno.
template <typename Write>
bool write_pieces_fully(Write write, std::span<const std::span<const std::byte>> pieces) {
  constexpr size_t kVectorsMax = 256;  // a call: Linux takes 1,024, POSIX promises 16 but nobody has so few
  std::array<iovec, kVectorsMax> vectors;
  size_t skipped = 0;  // of the first piece
  while (!pieces.empty()) {
    int count = 0;
    size_t size = 0;
    for (size_t i = 0; i < pieces.size() && static_cast<size_t>(count) < kVectorsMax && size < kCallBytesMax; ++i) {
      const std::span<const std::byte> rest = i == 0 ? pieces[i].subspan(skipped) : pieces[i];
      if (rest.empty()) continue;
      const size_t taken = std::min(rest.size(), kCallBytesMax - size);
      vectors[static_cast<size_t>(count++)] = {const_cast<std::byte*>(rest.data()), taken};
      size += taken;
    }
    if (count == 0) return true;
    const ssize_t put = write(vectors.data(), count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    if (put == 0) {
      errno = EIO;
      return false;
    }
    for (auto left = static_cast<size_t>(put); left != 0;) {
      const size_t first = pieces[0].size() - skipped;
      if (left < first) {
        skipped += left;
        break;
      }
      left -= first;
      pieces = pieces.subspan(1);
      skipped = 0;
    }
  }
  return true;
}

}  // namespace frazil
