#include "frazil/base/error.h"

#include <cerrno>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace frazil {
namespace {

TEST(Error, TellsMessageContextAndHintFromTheInsideOut) {
  Error error(ErrorKind::kNotFound, "column 'x' does not exist");
  EXPECT_STREQ(error.what(), "column 'x' does not exist");
  error.add_context("reading file a").add_context("scanning table b").set_hint("columns are: y, z");
  EXPECT_STREQ(error.what(), "column 'x' does not exist; reading file a; scanning table b (columns are: y, z)");
  EXPECT_EQ(error.message(), "column 'x' does not exist");
  EXPECT_EQ(error.context(), (std::vector<std::string>{"reading file a", "scanning table b"}));
  EXPECT_EQ(error.hint(), "columns are: y, z");
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
}

TEST(Error, WhatFollowsChangesMadeAfterACallOfWhat) {
  Error error(ErrorKind::kInternal, "a");
  (void)error.what();
  error.add_context("b");
  EXPECT_STREQ(error.what(), "a; b");
}

TEST(Error, KeepsItsClassAndContextThroughRethrow) {
  try {
    try {
      throw_corrupt(17, "page {} is damaged", 3);
    } catch (Error& error) {
      error.add_context("reading column 'a'");
      throw;
    }
  } catch (const CorruptError& error) {
    EXPECT_EQ(error.offset(), 17U);
    EXPECT_STREQ(error.what(), "page 3 is damaged (at byte 17); reading column 'a'");
    return;
  }
  FAIL() << "expected CorruptError";
}

TEST(CorruptError, SaysNothingAboutAnUnknownOffset) {
  EXPECT_STREQ(CorruptError(CorruptError::kNoOffset, "bad").what(), "bad");
  EXPECT_STREQ(CorruptError(0, "bad").what(), "bad (at byte 0)");
}

TEST(IoError, ChoosesTheKindFromErrno) {
  struct Row {
    int error_number;
    ErrorKind kind;
  };
  for (auto [error_number, kind] :
       {Row{ENOENT, ErrorKind::kNotFound}, Row{ENOTDIR, ErrorKind::kNotFound}, Row{EACCES, ErrorKind::kPermission},
        Row{EPERM, ErrorKind::kPermission}, Row{EROFS, ErrorKind::kPermission}, Row{EEXIST, ErrorKind::kAlreadyExists},
        Row{ENOSPC, ErrorKind::kIo}, Row{EIO, ErrorKind::kIo}, Row{0, ErrorKind::kIo}}) {
    IoError error(error_number, "x");
    EXPECT_EQ(error.kind(), kind) << error_number;
    EXPECT_EQ(error.error_number(), error_number);
  }
}

TEST(Error, SubclassesHaveTheirKinds) {
  EXPECT_EQ(ConflictError("x").kind(), ErrorKind::kConflict);
  EXPECT_EQ(CommitStateUnknownError("x").kind(), ErrorKind::kCommitStateUnknown);
  EXPECT_EQ(CancelledError().kind(), ErrorKind::kCancelled);
  MemoryLimitError error(1024, "x");
  EXPECT_EQ(error.kind(), ErrorKind::kMemoryLimit);
  EXPECT_EQ(error.needed_bytes(), 1024U);
}

TEST(ErrorKind, HasStableDistinctNames) {
  // Scripts match on these (`--output json`): a change breaks them.
  struct Row {
    ErrorKind kind;
    const char* name;
  };
  std::set<std::string_view> names;
  for (auto [kind, name] :
       {Row{ErrorKind::kInternal, "internal"}, Row{ErrorKind::kInvalidArgument, "invalid_argument"},
        Row{ErrorKind::kNotFound, "not_found"}, Row{ErrorKind::kAlreadyExists, "already_exists"},
        Row{ErrorKind::kCorrupt, "corrupt"}, Row{ErrorKind::kUnsupported, "unsupported"},
        Row{ErrorKind::kConflict, "conflict"}, Row{ErrorKind::kCommitStateUnknown, "commit_state_unknown"},
        Row{ErrorKind::kIo, "io"}, Row{ErrorKind::kMemoryLimit, "memory_limit"},
        Row{ErrorKind::kPermission, "permission"}, Row{ErrorKind::kCancelled, "cancelled"}}) {
    EXPECT_EQ(to_string(kind), name);
    EXPECT_TRUE(names.insert(to_string(kind)).second) << name;
  }
}

}  // namespace
}  // namespace frazil
