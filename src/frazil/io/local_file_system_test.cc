#include "frazil/io/local_file_system.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

class LocalFiles : public testing::Test {
 protected:
  std::string at(std::string_view name) const { return folder_.path() + "/" + std::string(name); }
  void make(std::string_view name, std::string_view content = "x") {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << content;
  }
  std::string get(std::string_view location) {
    MemoryPool pool;
    return std::string(read_file(files_, location, pool, 1 << 20).text());
  }
  std::vector<std::string> names_in(std::string_view name) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(at(name))) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  template <typename Call>
  ErrorKind kind_of(Call call) {
    try {
      call();
    } catch (const Error& error) {
      message_ = error.message();
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::kInternal;
  }

  // The exit code that `body` returns in a forked child.
  template <typename Body>
  static int run_in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 2;
      try {
        code = body();
      } catch (...) {
      }
      ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

  TemporaryFolder folder_;
  LocalFileSystem files_;
  std::string message_;
};

TEST_F(LocalFiles, OpenInEveryFormOfAFileUri) {
  make("x", "content");
  for (const char* prefix : {"", "file:", "file://", "file:///", "file://localhost", "FILE:"}) {
    EXPECT_EQ(get(prefix + at("x")), "content") << prefix;
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(get("./x"), "content");
  EXPECT_EQ(get("x"), "content");
  EXPECT_EQ(get("file:x"), "content");
  EXPECT_EQ(get("file://./x"), "content");
  make("C:\\w\\t", "windows");
  EXPECT_EQ(get("C:\\w\\t"), "windows");
  write_file(files_, "here", bytes_of("made"), {});
  EXPECT_EQ(get("here"), "made");
  fs::current_path(before);
  EXPECT_EQ(kind_of([&] { files_.open_input("s3://b/x"); }), ErrorKind::kUnsupported);
}

TEST_F(LocalFiles, DecodeAUriOnlyWhenNothingHasItsLiteralName) {
  make("a b/f", "decoded");
  make("lit%20eral/f", "literal");
  make("lit eral/f", "wrong");
  make("plus+f", "plus");
  const std::string uri = "file://" + folder_.path() + "/";
  EXPECT_EQ(get(uri + "a%20b/f"), "decoded");
  EXPECT_EQ(get(uri + "a b/f"), "decoded");
  EXPECT_EQ(get(uri + "lit%20eral/f"), "literal");
  EXPECT_EQ(get(uri + "plus%2Bf"), "plus");
  EXPECT_EQ(get(uri + "plus+f"), "plus");
  EXPECT_EQ(files_.stat(uri + "a%20b/f")->size, 7u);
  EXPECT_EQ(files_.list(uri + "a%20b")[0].path, uri + "a%20b/f");
  // Paths are never decoded, nor are names that decode to nonsense.
  EXPECT_EQ(kind_of([&] { files_.open_input(at("a%20b/f")); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { files_.open_input(uri + "a%00b"); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { files_.open_input(uri + "a%2"); }), ErrorKind::kNotFound);
  EXPECT_THAT(message_, HasSubstr("a%2'"));
  // What is written gets its literal name.
  write_file(files_, uri + "new%20name", bytes_of("x"), {});
  EXPECT_TRUE(fs::exists(at("new%20name")));
  EXPECT_TRUE(files_.remove(uri + "a%20b/f"));
  EXPECT_FALSE(fs::exists(at("a b/f")));
}

TEST_F(LocalFiles, WriteUnderARecognisableNameInTheSameFolder) {
  const auto file = files_.open_output(at("sub/x"));
  file->write(bytes_of("123"));
  ASSERT_EQ(names_in("sub").size(), 1u);
  EXPECT_TRUE(is_temporary_name(names_in("sub")[0])) << names_in("sub")[0];
  EXPECT_FALSE(is_temporary_name("x"));
  file->publish();
  EXPECT_THAT(names_in("sub"), ElementsAre("x"));
  struct stat status;
  ASSERT_EQ(::stat(at("sub/x").c_str(), &status), 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(LocalFiles, SaySystemErrorsByKind) {
  make("file");
  EXPECT_EQ(kind_of([&] { files_.open_input(folder_.path()); }), ErrorKind::kIo);
  EXPECT_THAT(message_, HasSubstr("directory"));
  EXPECT_EQ(kind_of([&] { files_.open_output(at("file/below/x")); }), ErrorKind::kNotFound);
  EXPECT_THAT(message_, HasSubstr("Not a directory"));
  EXPECT_EQ(kind_of([&] { files_.list(at("file")); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { files_.open_output(at(std::string(300, 'n')))->publish(); }), ErrorKind::kIo);
  EXPECT_EQ(kind_of([&] { files_.stat(at(std::string(300, 'n'))); }), ErrorKind::kIo);
  EXPECT_THAT(names_in(""), ElementsAre("file"));
  // Even root may not create here.
  EXPECT_NE(kind_of([&] { files_.open_output("/proc/self/x"); }), ErrorKind::kInternal);
  // A folder where a file is to be.
  fs::create_directories(at("folder/x"));
  for (auto if_exists : {OutputFile::IfExists::kFail, OutputFile::IfExists::kReplace}) {
    EXPECT_THROW(write_file(files_, at("folder"), bytes_of("x"), {.if_exists = if_exists}), IoError);
  }
  EXPECT_THAT(names_in(""), ElementsAre("file", "folder"));
}

TEST_F(LocalFiles, ReportMissingPermission) {
  make("secret/x");
  fs::permissions(at("secret"), fs::perms::none);
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
  // Root may do everything.
  const int status = run_in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 77;
    const bool ok = kind_of([&] { files_.open_input(at("secret/x")); }) == ErrorKind::kPermission &&
                    kind_of([&] { files_.list(at("secret")); }) == ErrorKind::kPermission &&
                    kind_of([&] { files_.stat(at("secret/x")); }) == ErrorKind::kPermission &&
                    kind_of([&] { files_.open_output(at("new")); }) == ErrorKind::kPermission;
    return ok ? 0 : 1;
  });
  fs::permissions(folder_.path(), fs::perms::owner_all);
  fs::permissions(at("secret"), fs::perms::owner_all);
  if (status == 77) GTEST_SKIP() << "this root may not give up its privileges";
  EXPECT_EQ(status, 0);
}

TEST_F(LocalFiles, LeaveNothingWhenWritingFails) {
  // A limit of the file size fails in the middle of a write, as a full disk does.
  const int status = run_in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto file = files_.open_output(at("big"));
    const std::string chunk(64 << 10, 'x');
    file->write(bytes_of(chunk));
    const bool ok = kind_of([&] { file->write(bytes_of(chunk)); }) == ErrorKind::kIo &&
                    message_.find("big") != std::string::npos && message_.find("File too large") != std::string::npos &&
                    kind_of([&] { file->publish(); }) == ErrorKind::kInternal;
    return ok ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(names_in(""), ElementsAre());
}

TEST_F(LocalFiles, NoticeAFileThatWasCut) {
  make("x", std::string(10000, 'x'));
  const auto input = files_.open_input(at("x"));
  ASSERT_EQ(::truncate(at("x").c_str(), 5000), 0);
  std::vector<std::byte> out(10000);
  try {
    input->read_at(0, out);
    ADD_FAILURE();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.message(), HasSubstr("ends at byte 5000"));
  }
  EXPECT_FALSE(input->map().has_value());
}

TEST_F(LocalFiles, DoNotWaitForPipesAndRefuseDevices) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(kind_of([&] { files_.open_input(at("pipe")); }), ErrorKind::kIo);
  EXPECT_EQ(kind_of([&] { files_.open_input("/dev/null"); }), ErrorKind::kIo);
  std::byte out[1];
  EXPECT_EQ(kind_of([&] { files_.open_input(at("pipe"), 10)->read_at(0, out); }), ErrorKind::kIo);
  EXPECT_EQ(kind_of([&] { files_.open_input(folder_.path(), 10)->read_at(0, out); }), ErrorKind::kIo);
}

TEST_F(LocalFiles, WalkThroughLinksButNotInCircles) {
  make("real/data/x");
  fs::create_directories(at("table"));
  fs::create_directory_symlink(at("real/data"), at("table/data"));
  fs::create_directory_symlink(at("table"), at("table/loop"));
  fs::create_symlink(at("nowhere"), at("table/dangling"));
  std::vector<std::string> paths;
  files_.walk(at("table"), [&](const FileInfo& info) { paths.push_back(info.path); });
  EXPECT_THAT(paths, ElementsAre(at("table/dangling"), at("table/data/x")));
  EXPECT_EQ(files_.list(at("table")).size(), 3u);
  EXPECT_TRUE(files_.remove(at("table/dangling")));
  EXPECT_TRUE(files_.remove(at("table/loop")));
  EXPECT_TRUE(fs::exists(at("table/data/x")));
}

TEST_F(LocalFiles, HoldOneDescriptorEachAndCloseIt) {
  make("x", "content");
  const auto count = [] {
    size_t open = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++open;
    return open;
  };
  const size_t before = count();
  {
    const auto input = files_.open_input(at("x"));
    const auto output = files_.open_output(at("y"));
    EXPECT_EQ(count(), before + 2);
    const Buffer mapped = *files_.open_input(at("x"))->map();
    EXPECT_EQ(count(), before + 2);
    EXPECT_EQ(mapped.text(), "content");
    EXPECT_EQ(kind_of([&] { files_.open_input(folder_.path()); }), ErrorKind::kIo);
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace frazil
