#include "frazil/io/prefetcher.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"

namespace frazil {

namespace {

enum class Stage : uint8_t { kWaiting, kReading, kDone };

// One range that has its block.
struct Slot {
  ByteRange range;
  MutableBuffer block;
  Stage stage = Stage::kWaiting;
  std::exception_ptr error;
};

}  // namespace

// Shared with the tasks in the pool's queue, which may outlive the prefetcher; then they find `stopped`.
struct Prefetcher::State {
  Mutex mutex;
  CondVar changed;
  // From the head of the line on. Whoever set kReading may use the slot without the lock: slots stay where they are,
  // and only the consumer takes them away, never while one is being read.
  std::deque<Slot> slots GUARDED_BY(mutex);
  size_t first_index GUARDED_BY(mutex) = 0;  // of slots.front() in `ranges`
  size_t reading_count GUARDED_BY(mutex) = 0;
  bool stopped GUARDED_BY(mutex) = false;
  std::shared_ptr<const InputFile> file;  // reset only when stopped and nothing reads

  // The consumer's alone.
  std::vector<ByteRange> ranges;
  ThreadPool* threads = nullptr;
  Reservation reservation;
  size_t budget_bytes = 0;
  size_t window_bytes = 0;  // of the blocks in `slots`
  size_t max_reads_ahead = 0;
  size_t next_unread = 0;  // the first range without a slot

  // Reads a slot that the caller set to kReading.
  void read(Slot& slot) EXCLUDES(mutex) {
    std::exception_ptr error;
    try {
      file->read_at(slot.range.offset, slot.block.span());
    } catch (...) {
      error = std::current_exception();
    }
    MutexLock lock(mutex);
    slot.error = std::move(error);
    slot.stage = Stage::kDone;
    --reading_count;
    changed.notify_all();
  }

  // From a task: reads range `index` if nobody has begun it.
  void read_if_waiting(size_t index) EXCLUDES(mutex) {
    Slot* slot = nullptr;
    {
      MutexLock lock(mutex);
      if (stopped || index < first_index || slots[index - first_index].stage != Stage::kWaiting) return;
      slot = &slots[index - first_index];
      slot->stage = Stage::kReading;
      ++reading_count;
    }
    read(*slot);
  }

  void add_slot(MutableBuffer block) EXCLUDES(mutex) {
    window_bytes += MemoryPool::block_bytes(block.size());
    MutexLock lock(mutex);
    slots.push_back({ranges[next_unread], std::move(block), Stage::kWaiting, nullptr});
    ++next_unread;
  }

  size_t slot_count() EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return slots.size();
  }
};

Prefetcher::Prefetcher(std::shared_ptr<const InputFile> file, std::vector<ByteRange> ranges, ThreadPool& threads,
                       Reservation reservation, size_t max_reads_ahead)
    : state_(std::make_shared<State>()) {
  for (const ByteRange& range : ranges) {
    if (range.offset > file->size() || range.length > file->size() - range.offset) {
      throw_corrupt(range.offset, "{} bytes from {} on are needed of '{}', which has {}", range.length, range.offset,
                    file->path(), file->size());
    }
  }
  state_->file = std::move(file);
  state_->ranges = std::move(ranges);
  state_->threads = &threads;
  state_->budget_bytes = reservation.available();
  state_->reservation = std::move(reservation);
  state_->max_reads_ahead = max_reads_ahead;
  read_ahead();
}

Prefetcher::~Prefetcher() {
  std::deque<Slot> unused;
  {
    MutexLock lock(state_->mutex);
    state_->stopped = true;
    while (state_->reading_count > 0) state_->changed.wait(state_->mutex);
    unused.swap(state_->slots);
  }
  // What the tasks in the queue still hold must be neither memory nor the file.
  state_->reservation = Reservation();
  state_->file.reset();
}

std::optional<Buffer> Prefetcher::next() {
  State& state = *state_;
  if (state.slot_count() == 0) {
    if (state.next_unread == state.ranges.size()) return std::nullopt;
    // The head of the line may use more than the budget.
    state.add_slot(state.reservation.allocate(static_cast<size_t>(state.ranges[state.next_unread].length)));
  }

  Slot* head = nullptr;
  bool read_here = false;
  {
    MutexLock lock(state.mutex);
    head = &state.slots.front();
    read_here = head->stage == Stage::kWaiting;
    if (read_here) {
      head->stage = Stage::kReading;
      ++state.reading_count;
    }
    while (!read_here && head->stage != Stage::kDone) state.changed.wait(state.mutex);
  }
  if (read_here) state.read(*head);

  MutableBuffer block;
  {
    MutexLock lock(state.mutex);
    if (head->error != nullptr) {
      head->stage = Stage::kWaiting;
      std::rethrow_exception(std::exchange(head->error, nullptr));
    }
    block = std::move(head->block);
    state.slots.pop_front();
    ++state.first_index;
  }
  state.window_bytes -= MemoryPool::block_bytes(block.size());
  read_ahead();
  return std::move(block).freeze();
}

void Prefetcher::read_ahead() {
  State& state = *state_;
  while (state.next_unread < state.ranges.size() && state.slot_count() < state.max_reads_ahead) {
    const size_t size = static_cast<size_t>(state.ranges[state.next_unread].length);
    const size_t needed = MemoryPool::block_bytes(size);
    // Not even one larger range is read ahead beyond the budget: next() reads it when it is wanted.
    if (needed > state.budget_bytes - std::min(state.budget_bytes, state.window_bytes)) return;
    const size_t available = state.reservation.available();
    if (needed > available && !state.reservation.try_grow(needed - available)) return;
    const size_t index = state.next_unread;
    state.add_slot(state.reservation.allocate(size));
    try {
      state.threads->submit([shared = state_, index] { shared->read_if_waiting(index); });
    } catch (const Error&) {
      return;  // a forked child has no threads: next() reads by itself
    }
  }
  if (state.next_unread == state.ranges.size()) state.reservation.shrink(0);
}

}  // namespace frazil
