// Task: work to be done once, by whichever thread takes it. A callable that is moved, never copied, so that it can own
// a batch, a reservation or a promise.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace frazil {

class Task {
 public:
  Task() noexcept = default;
  // One allocation. Whatever the callable returns is dropped.
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Task> && std::invocable<std::decay_t<F>&>)
  Task(F&& work) : work_(std::make_unique<Work<std::decay_t<F>>>(std::forward<F>(work))) {}

  explicit operator bool() const noexcept { return work_ != nullptr; }
  // Requires a task that holds work. What the work throws comes out.
  void operator()() { work_->run(); }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual void run() = 0;
  };
  template <typename F>
  struct Work final : Callable {
    template <typename G>
    explicit Work(G&& work) : function(std::forward<G>(work)) {}
    void run() override { static_cast<void>(function()); }
    F function;
  };
  std::unique_ptr<Callable> work_;
};

}  // namespace frazil
