// FaultyFileSystem: a file system whose calls fail when a test says so. Every call that can fail in the world is
// counted; the test runs its work once to count them, and then once for each, with that one failing:
//
//   for_each_failing_call({
//       .run = [&](FaultyFileSystem& files) { append(files, "/t"); },
//       .check = [&](FileSystem& files, bool failed) { EXPECT_TRUE(is_whole(files, "/t")); }});
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "frazil/base/mutex.h"
#include "frazil/io/memory_file_system.h"

namespace frazil {

enum class FileCall : uint8_t { kOpenInput, kRead, kMap, kOpenOutput, kWrite, kPublish, kList, kWalk, kStat, kRemove };
inline constexpr size_t kFileCallCount = 10;
std::string_view to_string(FileCall call);

// How an injected failure looks to the caller.
enum class FaultKind : uint8_t {
  kError,      // IoError with the fault's errno, and the call does nothing
  kShort,      // reads: CorruptError, as if the file ended in the middle of the range, of which half is filled;
               // writes: half is written, then IoError. Other calls: as kError
  kAfterward,  // the call does its work and then says IoError: a publish whose outcome the caller cannot know
};

struct Fault {
  // Which call fails, counting from 0 over all calls, or over those of `call` if that is set.
  uint64_t index = 0;
  std::optional<FileCall> call = std::nullopt;
  FaultKind kind = FaultKind::kError;
  int error_number = EIO;
  // All calls from that one on fail, not it alone.
  bool lasting = false;
};

// Borrows `inner`, which outlives it and the files that it opened. Thread-safe; with several threads the order of the
// calls is theirs. One fault at a time.
class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(FileSystem& inner);
  ~FaultyFileSystem() override;

  // Counts from now on, from 0.
  void inject(const Fault& fault);
  // No more faults; counts go on.
  void heal();
  void reset_counts();
  uint64_t call_count() const;
  uint64_t call_count(FileCall call) const;
  // Faults that have struck since inject().
  uint64_t fault_count() const;
  // "publish of /t/metadata/v2.metadata.json": the call that failed last.
  std::string last_fault() const;

  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;

  class Plan;  // shared with open files

 private:
  FileSystem* inner_;
  std::shared_ptr<Plan> plan_;
};

struct FailingCalls {
  // Puts into the file system what `run` starts from. Not counted, no faults.
  std::function<void(FileSystem&)> prepare = [](FileSystem&) {};
  // The work. An Error that comes out of it is expected when a call failed, and only then.
  std::function<void(FaultyFileSystem&)> run;
  // What must hold afterwards, on the healthy file system; `failed` says whether an Error came out of run().
  std::function<void(FileSystem&, bool failed)> check = [](FileSystem&, bool) {};
  FaultKind kind = FaultKind::kError;
  int error_number = EIO;
  bool lasting = false;
};

// Runs on a fresh MemoryFileSystem each time. Returns the number of calls that were made to fail, so that a test can see
// that it tested something. Errors other than frazil::Error come out. `run` makes the same calls each time.
uint64_t for_each_failing_call(const FailingCalls& calls);

}  // namespace frazil
