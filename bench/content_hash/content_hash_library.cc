#include "content_hash_library.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "frazil/columnar/c_data.h"
#include "frazil/columnar/content_hash.h"
#include "frazil/memory/memory_pool.h"

__attribute__((visibility("default"))) int frazil_content_hash_stream(struct ArrowArrayStream* stream, uint64_t* hash,
                                                                      int64_t* rows, char* error, size_t error_size) {
  try {
    frazil::MemoryPool pool;
    frazil::ContentHash content;
    const auto batches = frazil::import_stream(stream, {.pool = &pool});
    while (auto batch = batches->next()) content.add(*batch);
    *hash = content.sum();
    *rows = content.rows();
    return 0;
  } catch (const std::exception& failure) {
    const std::string_view text = failure.what();
    const size_t kept = error_size == 0 ? 0 : std::min(text.size(), error_size - 1);
    if (kept != 0) std::memcpy(error, text.data(), kept);
    if (error_size != 0) error[kept] = '\0';
    return 1;
  }
}
