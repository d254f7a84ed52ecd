// The content hash (frazil/columnar/content_hash.h) for runners of other engines: a shared library with a plain C
// interface, libfrazil_content_hash.so, that Python loads with ctypes and any other language as it likes.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ArrowArrayStream;

#ifdef __cplusplus
extern "C" {
#endif

// Reads all of `stream` (Arrow C stream interface), which is released at the end, also on failure. Returns 0 and fills
// `hash` and `rows`; or not 0, with the reason as text in `error`, cut to `error_size` bytes with the ending zero.
// Thread-safe.
int frazil_content_hash_stream(struct ArrowArrayStream* stream, uint64_t* hash, int64_t* rows, char* error,
                               size_t error_size);

#ifdef __cplusplus
}
#endif
