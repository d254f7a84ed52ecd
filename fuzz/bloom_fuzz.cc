// Bloom filters: a filter or none, and probes that stay inside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "frazil/base/error.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/file_builder_test.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

void probe(const InputFile& file, int64_t length, MemoryPool& pool) {
  ColumnChunk chunk;
  chunk.bloom_filter = {4, length};
  const std::optional<BloomFilter> filter = BloomFilter::open(file, chunk, pool);
  if (!filter) return;
  if (filter->byte_size() + 4 > file.size()) std::abort();
  for (uint64_t hash : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 63, uint64_t{0x123456789ABCDEF}}) {
    filter->may_contain(hash);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryPool pool({.budget_bytes = size_t{4} << 20});
  const testing::StringFile file("PAR1" + std::string(reinterpret_cast<const char*>(data), size));
  for (const int64_t length : {int64_t{0}, static_cast<int64_t>(size), int64_t{47}, INT64_MAX}) {
    try {
      probe(file, length, pool);
    } catch (const MemoryLimitError&) {
    }
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
