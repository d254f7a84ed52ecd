#include "frazil/testing/faulty_file_system.h"

#include <optional>
#include <system_error>
#include <utility>

#include "frazil/base/error.h"

namespace frazil {

std::string_view to_string(FileCall call) {
  constexpr std::array<std::string_view, kFileCallCount> kNames = {"opening", "reading",    "mapping", "creating",
                                                                   "writing", "publishing", "listing", "walking",
                                                                   "stat of", "removing"};
  return kNames[static_cast<size_t>(call)];
}

// Counts the calls and decides which fail.
class FaultyFileSystem::Plan {
 public:
  // Counts a call; the fault that strikes it.
  std::optional<Fault> enter(FileCall call, std::string_view path) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const uint64_t index_of_all = total_++;
    const uint64_t index_of_call = counts_[static_cast<size_t>(call)]++;
    if (!fault_ || (fault_->call && *fault_->call != call)) return std::nullopt;
    const uint64_t index = fault_->call ? index_of_call : index_of_all;
    if (fault_->lasting ? index < fault_->index : index != fault_->index) return std::nullopt;
    ++struck_;
    last_ = std::string(to_string(call)) + " " + std::string(path);
    return fault_;
  }

  void inject(const Fault& fault) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    fault_ = fault;
    total_ = 0;
    counts_ = {};
    struck_ = 0;
  }
  void heal() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    fault_.reset();
  }
  void reset_counts() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    total_ = 0;
    counts_ = {};
  }
  uint64_t total() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return total_;
  }
  uint64_t count(FileCall call) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return counts_[static_cast<size_t>(call)];
  }
  uint64_t struck() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return struck_;
  }
  std::string last() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return last_;
  }

 private:
  Mutex mutex_;
  std::optional<Fault> fault_ GUARDED_BY(mutex_);
  uint64_t total_ GUARDED_BY(mutex_) = 0;
  std::array<uint64_t, kFileCallCount> counts_ GUARDED_BY(mutex_) = {};
  uint64_t struck_ GUARDED_BY(mutex_) = 0;
  std::string last_ GUARDED_BY(mutex_);
};

namespace {

[[noreturn]] void throw_fault(const Fault& fault, FileCall call, std::string_view path) {
  throw IoError(fault.error_number, message("injected: {} '{}': {}", to_string(call), path,
                                            std::generic_category().message(fault.error_number)));
}

// Does `work` and fails before or after it, if the plan says so.
template <typename Work>
auto call_with_faults(FaultyFileSystem::Plan& plan, FileCall call, std::string_view path, Work work) {
  const std::optional<Fault> fault = plan.enter(call, path);
  if (!fault) return work();
  if (fault->kind == FaultKind::kAfterward) work();
  throw_fault(*fault, call, path);
}

class FaultyInputFile final : public InputFile {
 public:
  FaultyInputFile(std::shared_ptr<InputFile> inner, std::shared_ptr<FaultyFileSystem::Plan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size() const override { return inner_->size(); }

  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    const std::optional<Fault> fault = plan_->enter(FileCall::kRead, path());
    if (!fault || fault->kind == FaultKind::kAfterward) inner_->read_at(offset, out);
    if (!fault) return;
    if (fault->kind != FaultKind::kShort) throw_fault(*fault, FileCall::kRead, path());
    inner_->read_at(offset, out.first(out.size() / 2));
    throw_corrupt(offset, "injected: '{}' ends at byte {}", path(), offset + out.size() / 2);
  }

  std::optional<Buffer> map() const override {
    return call_with_faults(*plan_, FileCall::kMap, path(), [&] { return inner_->map(); });
  }

 private:
  const std::shared_ptr<InputFile> inner_;
  const std::shared_ptr<FaultyFileSystem::Plan> plan_;
};

class FaultyOutputFile final : public OutputFile {
 public:
  FaultyOutputFile(std::unique_ptr<OutputFile> inner, std::shared_ptr<FaultyFileSystem::Plan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t bytes_written() const override { return inner_->bytes_written(); }

  void write(std::span<const std::byte> bytes) override {
    require_usable();
    const std::optional<Fault> fault = plan_->enter(FileCall::kWrite, path());
    if (!fault) return inner_->write(bytes);
    usable_ = false;
    if (fault->kind == FaultKind::kShort) inner_->write(bytes.first(bytes.size() / 2));
    if (fault->kind == FaultKind::kAfterward) inner_->write(bytes);
    throw_fault(*fault, FileCall::kWrite, path());
  }

  void publish(PublishOptions options) override {
    require_usable();
    call_with_faults(*plan_, FileCall::kPublish, path(), [&] { inner_->publish(options); });
  }

  void abort() noexcept override { inner_->abort(); }

 private:
  // As a real one: after a failed write nothing but abort() is left.
  void require_usable() const {
    if (!usable_) throw_error(ErrorKind::kInternal, "'{}' failed already", path());
  }

  const std::unique_ptr<OutputFile> inner_;
  const std::shared_ptr<FaultyFileSystem::Plan> plan_;
  bool usable_ = true;
};

}  // namespace

FaultyFileSystem::FaultyFileSystem(FileSystem& inner) : inner_(&inner), plan_(std::make_shared<Plan>()) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::inject(const Fault& fault) {
  plan_->inject(fault);
}
void FaultyFileSystem::heal() {
  plan_->heal();
}
void FaultyFileSystem::reset_counts() {
  plan_->reset_counts();
}
uint64_t FaultyFileSystem::call_count() const {
  return plan_->total();
}
uint64_t FaultyFileSystem::call_count(FileCall call) const {
  return plan_->count(call);
}
uint64_t FaultyFileSystem::fault_count() const {
  return plan_->struck();
}
std::string FaultyFileSystem::last_fault() const {
  return plan_->last();
}

std::shared_ptr<InputFile> FaultyFileSystem::open_input(std::string_view path, std::optional<uint64_t> size) {
  return call_with_faults(*plan_, FileCall::kOpenInput, path, [&]() -> std::shared_ptr<InputFile> {
    return std::make_shared<FaultyInputFile>(inner_->open_input(path, size), plan_);
  });
}

std::unique_ptr<OutputFile> FaultyFileSystem::open_output(std::string_view path) {
  return call_with_faults(*plan_, FileCall::kOpenOutput, path, [&]() -> std::unique_ptr<OutputFile> {
    return std::make_unique<FaultyOutputFile>(inner_->open_output(path), plan_);
  });
}

std::vector<FileInfo> FaultyFileSystem::list(std::string_view folder) {
  return call_with_faults(*plan_, FileCall::kList, folder, [&] { return inner_->list(folder); });
}

void FaultyFileSystem::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  call_with_faults(*plan_, FileCall::kWalk, folder, [&] { inner_->walk(folder, visit); });
}

std::optional<FileInfo> FaultyFileSystem::stat(std::string_view path) {
  return call_with_faults(*plan_, FileCall::kStat, path, [&] { return inner_->stat(path); });
}

bool FaultyFileSystem::remove(std::string_view path) {
  return call_with_faults(*plan_, FileCall::kRemove, path, [&] { return inner_->remove(path); });
}

uint64_t for_each_failing_call(const FailingCalls& calls) {
  // Runs once; nothing if no call failed.
  const auto run_once = [&](std::optional<uint64_t> failing, uint64_t& call_count) {
    MemoryFileSystem memory;
    calls.prepare(memory);
    FaultyFileSystem files(memory);
    if (failing) {
      files.inject({.index = *failing,
                    .call = std::nullopt,
                    .kind = calls.kind,
                    .error_number = calls.error_number,
                    .lasting = calls.lasting});
    }
    bool failed = false;
    try {
      calls.run(files);
    } catch (Error& error) {
      if (!failing || files.fault_count() == 0) throw;  // not ours
      failed = true;
    }
    files.heal();
    call_count = files.call_count();
    calls.check(memory, failed);
    return files.fault_count() > 0;
  };
  uint64_t call_count = 0;
  run_once(std::nullopt, call_count);
  const uint64_t calls_of_healthy_run = call_count;
  uint64_t struck = 0;
  for (uint64_t index = 0; index < calls_of_healthy_run; ++index) struck += run_once(index, call_count) ? 1 : 0;
  return struck;
}

}  // namespace frazil
