#include "frazil/testing/faulty_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string get(FileSystem& files, std::string_view path) {
  MemoryPool pool;
  return std::string(read_file(files, path, pool, 1 << 20).text());
}

TEST(FaultyFileSystem, CountsEveryCallAndChangesNothingWhileHealthy) {
  MemoryFileSystem memory;
  FaultyFileSystem files(memory);
  write_file(files, "/a", bytes_of("content"), {});
  EXPECT_EQ(get(files, "/a"), "content");
  EXPECT_EQ(files.list("/").size(), 1u);
  files.walk("/", [](const FileInfo&) {});
  EXPECT_TRUE(files.stat("/a").has_value());
  EXPECT_EQ(files.open_input("/a")->map()->text(), "content");
  EXPECT_TRUE(files.remove("/a"));
  EXPECT_EQ(files.call_count(), 11u);
  EXPECT_EQ(files.call_count(FileCall::kOpenInput), 2u);
  EXPECT_EQ(files.call_count(FileCall::kWrite), 1u);
  EXPECT_EQ(files.fault_count(), 0u);
}

TEST(FaultyFileSystem, FailsTheCallThatWasChosenWithItsErrno) {
  MemoryFileSystem memory;
  memory.put("/a", "content");
  FaultyFileSystem files(memory);
  files.inject({.index = 1, .call = FileCall::kRead, .error_number = EACCES});
  EXPECT_EQ(get(files, "/a"), "content");
  try {
    get(files, "/a");
    ADD_FAILURE();
  } catch (const IoError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPermission);
    EXPECT_THAT(error.message(), testing::HasSubstr("injected: reading '/a'"));
  }
  EXPECT_EQ(get(files, "/a"), "content");
  EXPECT_EQ(files.fault_count(), 1u);
  EXPECT_EQ(files.last_fault(), "reading /a");
  files.inject({.index = 1, .lasting = true});
  const auto input = files.open_input("/a");
  for (int time = 0; time < 3; ++time) EXPECT_THROW(input->read_at(0, {}), IoError);
  files.heal();
  input->read_at(0, {});
}

TEST(FaultyFileSystem, FailsShortAndAfterTheWork) {
  MemoryFileSystem memory;
  memory.put("/a", "12345678");
  FaultyFileSystem files(memory);
  const auto input = files.open_input("/a");
  std::string out(8, '.');
  files.inject({.kind = FaultKind::kShort});
  EXPECT_THROW(input->read_at(0, std::as_writable_bytes(std::span(out))), CorruptError);
  EXPECT_EQ(out, "1234....");
  files.inject({.call = FileCall::kPublish, .kind = FaultKind::kAfterward});
  EXPECT_THROW(write_file(files, "/b", bytes_of("whole"), {}), IoError);
  EXPECT_EQ(get(memory, "/b"), "whole");
  files.inject({.call = FileCall::kWrite, .kind = FaultKind::kShort, .error_number = ENOSPC});
  const auto output = files.open_output("/c");
  EXPECT_THROW(output->write(bytes_of("1234")), IoError);
  EXPECT_THROW(output->publish(), Error);
  EXPECT_FALSE(memory.stat("/c").has_value());
}

// Replaces a file by a longer one, in two writes; every failure leaves the old one or the new one, whole.
TEST(ForEachFailingCall, VisitsEveryCallOfTheWork) {
  for (FaultKind kind : {FaultKind::kError, FaultKind::kShort, FaultKind::kAfterward}) {
    for (bool lasting : {false, true}) {
      int failures = 0;
      const uint64_t struck = for_each_failing_call({
          .prepare = [](FileSystem& files) { write_file(files, "/x", bytes_of("old"), {}); },
          .run =
              [](FaultyFileSystem& files) {
                const std::string old = get(files, "/x");
                const auto output = files.open_output("/x");
                output->write(bytes_of(old));
                output->write(bytes_of(" and new"));
                output->publish({.if_exists = OutputFile::IfExists::kReplace});
              },
          .check =
              [&](FileSystem& files, bool failed) {
                failures += failed ? 1 : 0;
                const std::string content = get(files, "/x");
                EXPECT_TRUE(content == "old" || content == "old and new") << content;
                if (!failed) {
                  EXPECT_EQ(content, "old and new");
                }
                EXPECT_EQ(files.list("/").size(), 1u);
              },
          .kind = kind,
          .lasting = lasting,
      });
      EXPECT_EQ(struck, 6u);
      EXPECT_EQ(failures, 6);
    }
  }
}

TEST(ForEachFailingCall, LetsErrorsThroughThatItDidNotCause) {
  EXPECT_THROW(for_each_failing_call({.run = [](FaultyFileSystem& files) { files.open_input("/nothing"); }}), IoError);
}

}  // namespace
}  // namespace frazil
