#include "frazil/io/descriptor_output_file.h"

#include <cerrno>
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(DescriptorOutput, WritesToAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto file = open_descriptor_output(ends[1], "standard output");
  file->write(bytes_of("abc"));
  file->write(bytes_of("de"));
  EXPECT_EQ(file->bytes_written(), 5U);
  file->publish({.sync = true});
  EXPECT_THROW(file->write(bytes_of("f")), Error);
  ::close(ends[1]);
  char text[8];
  ASSERT_EQ(::read(ends[0], text, sizeof(text)), 5);
  EXPECT_EQ(std::string(text, 5), "abcde");
  ::close(ends[0]);
}

TEST(DescriptorOutput, SaysThatNobodyReads) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto file = open_descriptor_output(ends[1], "standard output");
  try {
    file->write(bytes_of("abc"));
    ADD_FAILURE() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.error_number(), EPIPE);
  }
  EXPECT_THROW(file->publish(), Error);
  ::close(ends[1]);
  ::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace frazil
