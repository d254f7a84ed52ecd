// The engine of a scan: decides which file is decoded when, and with whose memory.
//
// A unit is a part of a data file: some of its row groups. Manifests are read, in order, only when a thread finds no unit
// to open: the first batch waits for one of them, and a file's task is gone when the file is open. Units are opened
// strictly in order, and an open unit becomes *admitted* when the pool has promised it all its working memory, an upper
// bound; from then on it can always go on as far as its own state is concerned. Each batch takes a further promise before
// it is decoded, which the batch itself then uses up and gives back when the consumer drops it.
//
// Why this never deadlocks: the head (the first unit that is not finished) may use everything that is free, and the
// *standby* reservation, room for one batch and for a row that is longer than a batch should be, is kept for it; a unit
// behind it gets memory only while the standby is full. So when the head needs room for a batch, it has it, unless the
// consumer holds what would give it back: then next() throws MemoryLimitError. A unit that does not fit beside others
// waits until it is the head and runs alone with the whole budget.
//
// Where units are fewer than threads, or have no memory to go on, columns are split: a step gets *lanes*, threads that
// work on other columns at the same time, if there is memory for them. The first batch of all is what the consumer waits
// for: every thread is a lane of the head then, and no other unit is stepped.
#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/codec/codec.h"
#include "frazil/parquet/lanes.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"
#include "frazil/scan/data_file.h"
#include "frazil/scan/planner.h"
#include "frazil/scan/scan.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

// How long next() waits for other threads to release memory before it takes the consumer for a hoarder.
constexpr auto kReleasePatience = std::chrono::seconds(2);
constexpr auto kReleasePollInterval = std::chrono::milliseconds(2);

// Of the first batch of all, which is waited for: less than what most pages have.
constexpr int64_t kFirstBatchRows = 8192;

// A data file that is due, or the error that is due instead: its manifest could not be read.
struct Due {
  Task task;
  size_t bytes = 0;  // charged for it
  std::exception_ptr error;
};

struct Unit {
  std::optional<Due> due;          // until the file is open
  std::shared_ptr<DataFile> file;  // its own reader's, or what is to be opened of a file that is open
  size_t part = 0;
  enum class State : uint8_t {
    kPending,   // not opened
    kOpened,    // footer read, no memory promised yet
    kAdmitted,  // may decode
    kFinished,  // decoded to its end, or failed; its batches may still wait in `ready`
  };
  State state = State::kPending;
  bool busy = false;                           // a thread works on it
  bool alone = false;                          // admitted without a promise for all its needs: nobody else is
  bool waits = false;                          // there was no memory for it when it was looked at last
  std::unique_ptr<Decompressor> decompressor;  // outlives the reader
  std::unique_ptr<DataFileReader> reader;
  parquet::BatchReader::MemoryNeeds needs;  // from now on
  size_t spared_bytes = 0;                  // taken off them already
  size_t missing_bytes = 0;                 // what the reservation must offer for the last step to go on
  size_t lanes = 1;                         // of the step to come
  Reservation reservation;                  // for working memory not yet drawn, and the batch to come
  std::deque<RecordBatch> ready;
  std::exception_ptr error;
};

// Lanes on the threads of a pool. What none of them takes is done by the thread that waits.
class PoolLanes final : public parquet::LaneRunner {
 public:
  explicit PoolLanes(Context& context) : context_(context) {}
  void run(size_t count, const std::function<void(size_t)>& work) override {
    TaskGroup group(context_.thread_pool());
    for (size_t lane = 1; lane < count; ++lane) group.run([&work, lane] { work(lane); }, TaskPriority::kHigh);
    work(0);
    group.wait();
  }

 private:
  Context& context_;
};

// Parts of a file, from one on.
struct Rest {
  std::shared_ptr<DataFile> file;
  size_t part = 0;
};

// A manifest that is being read, or waits for those before it.
struct Planning {
  size_t manifest = 0;
  bool busy = true;
  bool done = false;  // neither: there was no memory for it
  std::vector<Task> tasks;
  size_t task_bytes = 0;  // charged for them
  std::exception_ptr error;
};

size_t due_bytes(const Task& task) {
  return sizeof(Due) - sizeof(Task) + task_bytes(task);
}

}  // namespace

class StreamState {
 public:
  StreamState(Context& context, const Source& source, const Options& options)
      : pool_({.budget_bytes = std::min(options.memory_budget_bytes, context.memory_pool().budget_bytes()),
               .parent = &context.memory_pool()}),
        context_(context),
        lane_runner_(context),
        order_(options.order),
        limit_(options.limit.value_or(std::numeric_limits<int64_t>::max())),
        thread_limit_(options.order == Order::kSequential ? 1
                      : options.threads == 0              ? context.thread_count()
                                                          : std::min(options.threads, context.thread_count())),
        planner_(source, options, pool_) {
    const Target& target = planner_.target();
    setup_.metadata = source.metadata;
    setup_.table_schema = target.table_schema;
    setup_.columns = target.schema;
    setup_.arrow_schema = target.arrow_schema;
    setup_.filter = bind_filter(options.where, *target.table_schema, *target.schema);
    setup_.skips = options.skip;
    if (auto text = source.metadata->property(spec::kNameMappingProperty)) {
      setup_.name_mapping = spec::parse_name_mapping(*text);
    }
    setup_.files = source.files;
    setup_.batch_rows = options.batch_rows;
    const size_t budget = pool_.budget_bytes();
    setup_.batch_bytes_max = std::clamp<size_t>(budget / 16, size_t{64} << 10, size_t{64} << 20);
    const size_t columns = (setup_.filter ? setup_.filter->columns : target.schema)->fields().size();
    setup_.window_bytes = std::clamp<size_t>(budget / 16 / std::max<size_t>(1, columns) / thread_limit_,
                                             size_t{16} << 10, size_t{256} << 10);
    setup_.verify_checksums = options.verify_checksums;
    setup_.validate_utf8 = options.validate_utf8;
    finished_ = limit_ == 0 || (setup_.filter && setup_.filter->predicate.always_false());
  }

  const SchemaPtr& schema() const { return setup_.arrow_schema; }

  std::optional<RecordBatch> next(const std::shared_ptr<StreamState>& self) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    auto stuck_since = std::chrono::steady_clock::time_point::max();
    for (;;) {
      if (finished_) return std::nullopt;
      if (auto batch = take_ready()) {
        start_workers(self);
        return batch;
      }
      if (finished_) return std::nullopt;
      start_workers(self);
      // The consumer's thread is one of the scan's threads: there is no hand-over before the first batch, and a scan
      // inside of a pool of one thread does not wait for itself.
      if (work_once()) {
        stuck_since = std::chrono::steady_clock::time_point::max();
        continue;
      }
      if (finished_ || has_ready()) continue;
      if (running_ > 0) {
        changed_.wait(mutex_);
        continue;
      }
      // Nothing runs and nothing can for want of memory. It is with the consumer, who may be other threads that are
      // about to release it, or with other work of the context: look again for a while.
      const auto now = std::chrono::steady_clock::now();
      if (stuck_since == std::chrono::steady_clock::time_point::max()) stuck_since = now;
      if (now - stuck_since > kReleasePatience) throw_stuck();
      changed_.wait_for(mutex_, kReleasePollInterval);
    }
  }

  void close() noexcept EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
    while (running_ > 0) changed_.wait(mutex_);
    // Now, not with the last reference: the thread pool may keep a worker that it has not started yet.
    while (!units_.empty()) drop_first_unit();
    rest_.reset();
    for (const Due& due : due_) pool_.discharge(due.bytes);
    due_.clear();
    spare_decompressors_.clear();
    for (const Planning& planning : planning_) pool_.discharge(planning.task_bytes);
    planning_.clear();
    standby_ = Reservation();
    pool_.trim();
  }

  StreamStats stats() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    StreamStats stats = stats_;
    stats.pool = pool_.stats();
    return stats;
  }

 private:
  // ---- Delivery ----

  bool has_ready() const REQUIRES(mutex_) {
    for (const Unit& unit : units_) {
      if (!unit.ready.empty() || unit.error) return true;
      if (order_ != Order::kArrival) return false;
    }
    return false;
  }

  std::optional<RecordBatch> take_ready() REQUIRES(mutex_) {
    skip_finished();
    for (Unit& unit : units_) {
      if (!unit.ready.empty()) {
        RecordBatch batch = std::move(unit.ready.front());
        unit.ready.pop_front();
        skip_finished();
        return deliver(std::move(batch));
      }
      if (unit.error) {
        finished_ = true;
        std::rethrow_exception(unit.error);
      }
      if (order_ != Order::kArrival) break;
    }
    return std::nullopt;
  }

  std::optional<RecordBatch> deliver(RecordBatch batch) REQUIRES(mutex_) {
    const int64_t left = limit_ - stats_.rows;
    if (batch.row_count() >= left) {
      finished_ = true;
      if (batch.row_count() > left) batch = batch.slice(0, left);
    }
    stats_.rows += batch.row_count();
    ++stats_.batches;
    return batch;
  }

  // Moves the head past units that are decoded and delivered; the end of the last one is the end of the stream.
  void skip_finished() REQUIRES(mutex_) {
    while (!units_.empty() && units_.front().state == Unit::State::kFinished && units_.front().ready.empty() &&
           !units_.front().error) {
      drop_first_unit();
    }
    if (units_.empty() && !is_more_to_open() && !is_more_to_plan()) finished_ = true;
  }

  void drop_first_unit() REQUIRES(mutex_) {
    if (units_.front().due) pool_.discharge(units_.front().due->bytes);
    units_.pop_front();
  }

  bool is_more_to_open() const REQUIRES(mutex_) { return rest_ || !due_.empty(); }
  bool is_more_to_plan() const REQUIRES(mutex_) {
    return !planning_.empty() || next_manifest_ < planner_.manifest_count();
  }

  // ---- Work ----

  void start_workers(const std::shared_ptr<StreamState>& self) REQUIRES(mutex_) {
    while (workers_ + 1 < thread_limit_ && may_work()) {
      context_.thread_pool().submit([self] { self->run_worker(); });
      ++workers_;
    }
  }

  void run_worker() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (work_once()) {
    }
    --workers_;
    changed_.notify_all();
  }

  // Whether work_once() might find something to do, as far as it can be told without asking the pool for promises.
  bool may_work() const REQUIRES(mutex_) {
    if (finished_) return false;
    for (const Unit& unit : units_) {
      if (!unit.busy && unit.state != Unit::State::kFinished) return true;
    }
    return is_more_to_open() || may_plan();
  }

  // Takes one piece of work and does it without the lock. False if there is none.
  bool work_once() REQUIRES(mutex_) {
    if (finished_) return false;
    size_t unfinished = 0;
    const Unit* head = nullptr;
    for (Unit& unit : units_) {
      if (unit.state == Unit::State::kFinished) continue;
      const bool is_head = ++unfinished == 1;
      if (is_head) head = &unit;
      if (unit.busy) {
        // Nobody overtakes a unit that has no promise yet.
        if (unit.state != Unit::State::kAdmitted || unit.alone) return false;
        continue;
      }
      if (unit.state == Unit::State::kPending) return is_head && open_unit(unit);  // it found no memory before
      if (unit.state == Unit::State::kOpened) {
        unit.waits = !admit(unit, is_head);
        if (unit.waits) return false;
      }
      if (!is_head && head->missing_bytes == 0 && awaits_first_batch()) return false;
      unit.waits = !promise_batch(unit, is_head);
      if (!unit.waits) {
        choose_lanes(unit);
        step_unit(unit);
        return true;
      }
      if (unit.alone) return false;
    }
    // As many units are open as there are threads.
    if (unfinished >= thread_limit_) return false;
    if (head != nullptr && head->busy && head->missing_bytes == 0 && awaits_first_batch()) return false;
    if (!is_more_to_open()) return plan(unfinished == 0);
    return open_unit(next_unit());
  }

  // The next part of the file opened last, else the next file.
  Unit& next_unit() REQUIRES(mutex_) {
    Unit& unit = units_.emplace_back();
    if (rest_) {
      unit.file = std::move(rest_->file);
      unit.part = rest_->part;
      rest_.reset();
    } else {
      unit.due = std::move(due_.front());
      due_.pop_front();
    }
    return unit;
  }

  // Nothing has been decoded yet, and the first step will come to a batch.
  bool awaits_first_batch() const REQUIRES(mutex_) { return !setup_.filter && stats_.batches == 0 && !has_ready(); }

  // How many lanes a unit may have: those of idle threads.
  size_t lanes_for(const Unit& unit) const REQUIRES(mutex_) {
    if (thread_limit_ == 1 || unit.alone) return 1;
    if (awaits_first_batch()) return thread_limit_;
    size_t working = 0;  // units that threads of their own may work on
    size_t position = 0;
    bool any_waits = false;
    for (const Unit& other : units_) {
      if (other.state == Unit::State::kFinished) continue;
      if (&other == &unit) position = working;
      if (other.waits) {
        any_waits = true;
      } else {
        ++working;
      }
    }
    if (!any_waits) {  // else none is opened
      if (is_more_to_plan()) return 1;
      working += due_.size() + (rest_ ? rest_->file->part_count() - rest_->part : 0);
    }
    if (working >= thread_limit_) return 1;
    return thread_limit_ / working + (position < thread_limit_ % working ? 1 : 0);
  }

  // Behind promise_batch(). A step that is to go on keeps its lanes: their columns may hold what only they need.
  void choose_lanes(Unit& unit) REQUIRES(mutex_) {
    if (unit.missing_bytes > 0) return;
    unit.lanes = lanes_for(unit);
    if (unit.lanes > 1 && !unit.reservation.try_grow(lanes_bytes(unit))) unit.lanes = 1;
    unit.reader->use_lanes({.runner = &lane_runner_, .count = unit.lanes});
  }

  static size_t lanes_bytes(const Unit& unit) { return (unit.lanes - 1) * unit.needs.lane_bytes; }

  // ---- Planning ----

  bool may_plan() const REQUIRES(mutex_) {
    return next_manifest_ < planner_.manifest_count() && planning_.size() < thread_limit_;
  }

  // Reads the next manifest; one for which there was no memory only once nothing else holds any. False if there is none,
  // or still no memory.
  bool plan(bool is_head) REQUIRES(mutex_) {
    if (!planning_.empty() && !planning_.front().busy) {
      if (!is_head) return false;
      return read_manifest(planning_.front());
    }
    if (!may_plan()) return false;
    Planning& planning = planning_.emplace_back();
    planning.manifest = next_manifest_++;
    return read_manifest(planning);
  }

  // How a piece of work ended that was done without the lock.
  struct Outcome {
    bool no_memory = false;
    std::exception_ptr error;
  };

  // Does `work` without the lock, `busy` meanwhile.
  template <typename Work>
  Outcome run_unlocked(bool& busy, Work&& work) REQUIRES(mutex_) {
    busy = true;
    ++running_;
    Outcome outcome;
    mutex_.unlock();
    try {
      work();
    } catch (const MemoryLimitError&) {
      outcome = {.no_memory = true, .error = std::current_exception()};
    } catch (...) {
      outcome.error = std::current_exception();
    }
    mutex_.lock();
    --running_;
    busy = false;
    changed_.notify_all();
    return outcome;
  }

  bool read_manifest(Planning& planning) REQUIRES(mutex_) {
    std::vector<Task> tasks;
    size_t bytes = 0;
    const size_t manifest = planning.manifest;
    const Outcome outcome = run_unlocked(planning.busy, [&] {
      tasks = planner_.read_manifest(manifest);
      for (const Task& task : tasks) bytes += due_bytes(task);
      pool_.charge(bytes);
    });
    if (outcome.no_memory) {
      // It is tried again once it is first in line; if the consumer releases nothing then, next() throws this.
      open_error_ = outcome.error;
      return false;
    }
    planning.done = true;
    if (outcome.error) {
      planning.error = outcome.error;
    } else {
      planning.tasks = std::move(tasks);
      planning.task_bytes = bytes;
    }
    if (!finished_) add_due();
    return true;
  }

  void add_due() REQUIRES(mutex_) {
    for (; !planning_.empty() && planning_.front().done; planning_.pop_front()) {
      for (Task& task : planning_.front().tasks) {
        const size_t bytes = due_bytes(task);
        due_.push_back({.task = std::move(task), .bytes = bytes, .error = nullptr});
      }
      if (planning_.front().error) due_.push_back({.task = {}, .bytes = 0, .error = planning_.front().error});
    }
  }

  // False if there was no memory for it.
  bool open_unit(Unit& unit) REQUIRES(mutex_) {
    if (unit.due && unit.due->error) {
      fail(unit, unit.due->error);
      changed_.notify_all();
      return true;
    }
    if (!spare_decompressors_.empty()) {
      unit.decompressor = std::move(spare_decompressors_.back());
      spare_decompressors_.pop_back();
    }
    const bool is_first = stats_.parts == 0;
    std::shared_ptr<DataFile> file = unit.file;
    std::unique_ptr<DataFileReader> reader;
    parquet::BatchReader::MemoryNeeds needs;
    const Outcome outcome = run_unlocked(unit.busy, [&] {
      if (!file) file = std::make_shared<DataFile>(setup_, unit.due->task, pool_);
      if (!unit.decompressor) unit.decompressor = std::make_unique<Decompressor>(pool_);
      const Part part{.index = unit.part,
                      .decompressor = unit.decompressor.get(),
                      .first_batch_rows = is_first ? kFirstBatchRows : 0};
      reader = std::make_unique<DataFileReader>(file, part, pool_);
      needs = reader->memory_needs(false);
      // Bounds from the footer are loose. Where they would keep other units out, the page headers tell the truth.
      if (needs.total() > pool_.budget_bytes() / (2 * thread_limit_)) needs = reader->memory_needs(true);
    });
    if (outcome.no_memory) {
      // It is tried again once it is first in line; if the consumer releases nothing then, next() throws this.
      open_error_ = outcome.error;
      return false;
    }
    if (unit.due) {
      ++stats_.files;
      pool_.discharge(unit.due->bytes);
      unit.due.reset();
    }
    if (outcome.error) {
      fail(unit, outcome.error);
      return true;
    }
    ++stats_.parts;
    if (unit.part + 1 < file->part_count()) rest_ = Rest{.file = file, .part = unit.part + 1};
    unit.file = std::move(file);
    unit.reader = std::move(reader);
    unit.needs = needs;
    unit.state = Unit::State::kOpened;
    return true;
  }

  // Promises the unit all that it may need. The head runs alone, with what there is, if that cannot be.
  bool admit(Unit& unit, bool is_head) REQUIRES(mutex_) {
    const size_t standby = std::max(standby_bytes_, batch_bytes_max(unit));
    // Beside others there must be room for the standby too.
    const size_t extra = is_head ? 0 : standby - std::min(standby, standby_.available());
    auto reservation = pool_.try_reserve(unit.needs.total() + extra);
    if (!reservation && !spare_decompressors_.empty()) {
      spare_decompressors_.clear();
      reservation = pool_.try_reserve(unit.needs.total() + extra);
    }
    if (reservation) {
      unit.reservation = std::move(*reservation);
      unit.reservation.shrink(unit.needs.total());
      standby_bytes_ = standby;
      unit.state = Unit::State::kAdmitted;
      return true;
    }
    if (!is_head || other_admitted(unit)) return false;
    standby_ = Reservation();
    unit.reservation = pool_.reserve(0);
    unit.alone = true;
    unit.state = Unit::State::kAdmitted;
    return true;
  }

  bool other_admitted(const Unit& unit) const REQUIRES(mutex_) {
    return std::any_of(units_.begin(), units_.end(),
                       [&](const Unit& other) { return &other != &unit && other.state == Unit::State::kAdmitted; });
  }

  // Sees to it that the unit's reservation has room for the working memory that it has not drawn yet, and a batch.
  bool promise_batch(Unit& unit, bool is_head) REQUIRES(mutex_) {
    const size_t wanted = std::max(wanted_bytes(unit), unit.missing_bytes);
    const size_t have = unit.reservation.available();
    if (have >= wanted) return true;
    const size_t more = wanted - have;
    if (!is_head) return fill_standby() && unit.reservation.try_grow(more);
    if (pool_.available_bytes() < more) spare_decompressors_.clear();
    if (unit.reservation.try_grow(more)) {
      unit.alone = false;
      standby_bytes_ = std::max(standby_bytes_, batch_bytes_max(unit));
      return true;
    }
    if (unit.alone) {
      // It tries with less: the bounds may be far above what the file really needs.
      (void)unit.reservation.try_grow(std::min(more, pool_.available_bytes()));
      return unit.reservation.available() >= std::max<size_t>(unit.missing_bytes, 1);
    }
    const size_t kept = standby_.available();
    standby_ = Reservation();
    if (unit.reservation.try_grow(more)) return true;
    if (auto reservation = pool_.try_reserve(kept)) standby_ = std::move(*reservation);
    return false;
  }

  static size_t batch_bytes_max(const Unit& unit) { return unit.needs.batch_bytes + unit.needs.row_bytes; }

  static size_t wanted_bytes(const Unit& unit) {
    const size_t total = unit.needs.total() + lanes_bytes(unit);
    return total - std::min(total, unit.reader->bytes_in_use());
  }

  bool fill_standby() REQUIRES(mutex_) {
    if (!standby_) {
      auto reservation = pool_.try_reserve(standby_bytes_);
      if (reservation) standby_ = std::move(*reservation);
      return reservation.has_value();
    }
    return standby_.available() >= standby_bytes_ || standby_.try_grow(standby_bytes_ - standby_.available());
  }

  void step_unit(Unit& unit) REQUIRES(mutex_) {
    std::optional<RecordBatch> batch;
    auto step = DataFileReader::Step::kEnd;
    DataFileReader& reader = *unit.reader;
    Reservation& reservation = unit.reservation;
    const Outcome outcome = run_unlocked(unit.busy, [&] { step = reader.step(reservation, batch); });
    if (finished_) {
      // Closed meanwhile: close() clears the units.
    } else if (outcome.error) {
      fail(unit, outcome.error);
    } else if (step == DataFileReader::Step::kNeedMemory) {
      unit.missing_bytes = unit.reader->needed_bytes();
    } else if (step == DataFileReader::Step::kEnd) {
      finish(unit);
    } else {
      unit.missing_bytes = 0;
      unit.ready.push_back(std::move(*batch));
      const size_t spared = unit.reader->spared_bytes();
      unit.needs.working_bytes -= std::min(unit.needs.working_bytes, spared - unit.spared_bytes);
      unit.spared_bytes = spared;
      // What the batch left of its promise goes back; working memory not drawn yet stays promised.
      if (unit.lanes > 1) ++stats_.split_steps;
      unit.lanes = 1;
      unit.reader->use_lanes({});
      if (!unit.alone) {
        const size_t drawn = unit.reader->bytes_in_use();
        unit.reservation.shrink(unit.needs.working_bytes - std::min(unit.needs.working_bytes, drawn));
      }
    }
  }

  void fail(Unit& unit, std::exception_ptr error) REQUIRES(mutex_) {
    unit.error = std::move(error);
    finish(unit);
  }

  void finish(Unit& unit) REQUIRES(mutex_) {
    unit.reader.reset();
    unit.file.reset();
    if (unit.decompressor) spare_decompressors_.push_back(std::move(unit.decompressor));
    unit.reservation = Reservation();
    unit.state = Unit::State::kFinished;
  }

  [[noreturn]] void throw_stuck() REQUIRES(mutex_) {
    finished_ = true;
    if (open_error_) {
      try {
        std::rethrow_exception(open_error_);
      } catch (MemoryLimitError& error) {
        add_hint(error);
        throw;
      }
    }
    size_t needed = 0;
    std::string file;
    for (const Unit& unit : units_) {
      if (unit.state == Unit::State::kFinished || !unit.reader) continue;
      needed = std::max(wanted_bytes(unit), unit.missing_bytes) + unit.reader->bytes_in_use();
      file = unit.reader->path();
      break;
    }
    MemoryLimitError error(needed, message("the scan needs {} bytes to go on, of a budget of {} bytes {} are free",
                                           needed, pool_.budget_bytes(), pool_.available_bytes()));
    if (!file.empty()) error.add_context("reading " + file);
    add_hint(error);
    throw error;
  }

  void add_hint(MemoryLimitError& error) REQUIRES(mutex_) {
    error.set_hint(stats_.batches > 0 ? "release batches before asking for the next, or raise the memory budget"
                                      : "raise the memory budget");
  }

  MemoryPool pool_;  // first: everything below holds memory of it
  Context& context_;
  PoolLanes lane_runner_;
  const Order order_;
  const int64_t limit_;
  const size_t thread_limit_;
  const Planner planner_;
  ReadSetup setup_;  // constant after construction

  mutable Mutex mutex_;
  CondVar changed_;
  size_t next_manifest_ GUARDED_BY(mutex_) = 0;
  std::deque<Planning> planning_ GUARDED_BY(mutex_);  // in the order of the manifests
  std::deque<Due> due_ GUARDED_BY(mutex_);            // planned, charged
  std::optional<Rest> rest_ GUARDED_BY(mutex_);       // of the file opened last, due before others
  std::deque<Unit> units_ GUARDED_BY(mutex_);         // opened, or being opened, and not delivered to their ends
  std::vector<std::unique_ptr<Decompressor>> spare_decompressors_ GUARDED_BY(mutex_);  // of units that are finished
  std::exception_ptr open_error_ GUARDED_BY(mutex_);
  Reservation standby_ GUARDED_BY(mutex_);
  size_t standby_bytes_ GUARDED_BY(mutex_) = 0;  // the longest batch of the largest unit admitted so far
  size_t workers_ GUARDED_BY(mutex_) = 0;        // tasks in the thread pool, running or queued
  size_t running_ GUARDED_BY(mutex_) = 0;        // threads in the middle of a piece of work, the consumer's too
  bool finished_ GUARDED_BY(mutex_) = false;     // delivered to the end, failed or closed
  StreamStats stats_ GUARDED_BY(mutex_);
};

namespace {

class ScanStream final : public Stream {
 public:
  explicit ScanStream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}
  ~ScanStream() override { close(); }

  const SchemaPtr& schema() const override { return state_->schema(); }
  std::optional<RecordBatch> next() override { return state_->next(state_); }
  void close() noexcept override { state_->close(); }
  StreamStats stats() const override { return state_->stats(); }

 private:
  std::shared_ptr<StreamState> state_;  // shared with workers that the thread pool has not started yet
};

}  // namespace

std::unique_ptr<Stream> open(Context& context, const Source& source, const Options& options) {
  if (options.batch_rows < 1) throw_error(ErrorKind::kInvalidArgument, "batch rows must be at least 1");
  if (options.limit && *options.limit < 0) throw_error(ErrorKind::kInvalidArgument, "the limit must not be negative");
  return std::make_unique<ScanStream>(std::make_shared<StreamState>(context, source, options));
}

}  // namespace frazil::scan
