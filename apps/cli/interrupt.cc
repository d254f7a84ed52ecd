#include "interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "errors.h"

#include "frazil/base/error.h"

namespace frazil::cli {

InterruptGuard::InterruptGuard(std::chrono::milliseconds patience) : patience_(patience) {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup, or a shell's background job: a blocked signal would arrive here although it is ignored.
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe is then an error like any other
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  quit_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || quit_ < 0) throw IoError(errno, "cannot wait for signals");
  watcher_ = std::thread([this] { run(); });
}

InterruptGuard::~InterruptGuard() {
  uint64_t one = 1;
  while (write(quit_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  watcher_.join();
  close(signals_);
  close(quit_);
}

void InterruptGuard::run() {
  pollfd ready[2] = {{signals_, POLLIN, 0}, {quit_, POLLIN, 0}};
  int timeout_ms = -1;
  while (true) {
    int count = poll(ready, 2, timeout_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || (ready[1].revents & POLLIN) != 0) return;
    bool patience_ended = count == 0;
    bool second_signal = count > 0 && source_.stop_requested();
    if (patience_ended || second_signal) _exit(kExitInterrupted);
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof(info)) < 0) continue;
    source_.request_stop();
    timeout_ms = static_cast<int>(patience_.count());
  }
}

}  // namespace frazil::cli
