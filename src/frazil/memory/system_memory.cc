#include "frazil/memory/system_memory.h"

#include <cstdint>

#include <sys/mman.h>

#include "frazil/memory/size_class.h"

namespace frazil {

namespace {

std::byte* map_pages(size_t size) noexcept {
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

}  // namespace

std::byte* map_memory(size_t size, bool huge) noexcept {
  if (!huge) return map_pages(size);
  // Map enough that an aligned range is inside, then give back what is around it. Nothing of it was touched.
  std::byte* mapped = map_pages(size + kHugePageBytes);
  if (mapped == nullptr) return nullptr;
  size_t before = (kHugePageBytes - reinterpret_cast<uintptr_t>(mapped) % kHugePageBytes) % kHugePageBytes;
  std::byte* data = mapped + before;
  if (before > 0) ::munmap(mapped, before);
  if (before < kHugePageBytes) ::munmap(data + size, kHugePageBytes - before);
  ::madvise(data, size, MADV_HUGEPAGE);  // a wish: kernels without huge pages refuse, and all works as before
  return data;
}

void unmap_memory(std::byte* data, size_t size) noexcept {
  // munmap fails only when it would split a mapping and the process has too many of them. The pages go back then, only
  // their addresses stay taken.
  if (::munmap(data, size) != 0) ::madvise(data, size, MADV_DONTNEED);
}

}  // namespace frazil
