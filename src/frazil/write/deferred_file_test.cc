#include "frazil/write/deferred_file.h"

#include <string>

#include <gtest/gtest.h>

#include "frazil/io/memory_file_system.h"
#include "frazil/testing/faulty_file_system.h"

namespace frazil::write {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(DeferredFile, OpensLateAndHoldsTheSameBytes) {
  for (size_t in_memory : {0, 1, 10, 1'000'000}) {
    MemoryFileSystem files;
    MemoryPool pool;
    DeferredFiles shared;
    shared.files = &files;
    shared.pool = &pool;
    shared.file_bytes_max = in_memory;
    std::string content;
    {
      DeferredFile file("/f", shared);
      for (int i = 0; i < 300; ++i) {
        const std::string part(static_cast<size_t>(i * 7 % 50), static_cast<char>('a' + i % 26));
        content += part;
        file.write(bytes_of(part));
      }
      EXPECT_EQ(file.is_open(), in_memory < 100'000);
      EXPECT_EQ(file.bytes_written(), content.size());
      EXPECT_EQ(shared.bytes, file.memory_bytes());
      EXPECT_EQ(files.file_count(), 0);
      file.publish();
    }
    EXPECT_EQ(files.get("/f").text(), content);
    EXPECT_EQ(shared.bytes, 0);
    EXPECT_EQ(shared.open, 0);
  }
}

TEST(DeferredFile, KeepsMoreInMemoryRatherThanOpenTooMany) {
  MemoryFileSystem files;
  MemoryPool pool;
  DeferredFiles shared;
  shared.files = &files;
  shared.pool = &pool;
  shared.open_max = 1;
  DeferredFile first("/a", shared);
  DeferredFile second("/b", shared);
  first.write(bytes_of("one"));
  second.write(bytes_of("two"));
  EXPECT_TRUE(first.is_open());
  EXPECT_FALSE(second.is_open());
  first.publish();
  second.write(bytes_of("three"));
  EXPECT_TRUE(second.is_open());
  second.abort();
  EXPECT_EQ(files.file_count(), 1);
  EXPECT_EQ(shared.open, 0);
}

TEST(DeferredFile, AbortsAfterAFailedOpen) {
  MemoryFileSystem inner;
  FaultyFileSystem files(inner);
  MemoryPool pool;
  DeferredFiles shared;
  shared.files = &files;
  shared.pool = &pool;
  shared.file_bytes_max = 100;
  files.inject({.index = 0, .call = FileCall::kOpenOutput});
  {
    DeferredFile file("/a", shared);
    file.write(bytes_of("one"));
    EXPECT_THROW(file.publish(), std::exception);
  }
  EXPECT_EQ(shared.bytes, 0);
  EXPECT_EQ(inner.file_count(), 0);
}

}  // namespace
}  // namespace frazil::write
