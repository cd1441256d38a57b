#include "observe/trace/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace msvm::observe {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
std::array<struct sigaction, kSignals.size()> before;
std::atomic<const Flight*> recorder{nullptr};
std::atomic<bool> installed{false};
char dump_path[4096];

// Nothing but system calls and memory that is there already.
void on_crash(int number) {
  if (const Flight* flight = recorder.exchange(nullptr)) {
    const int fd = ::open(dump_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
      (void)flight->write_to(fd, true);
      ::close(fd);
    }
  }
  for (size_t k = 0; k < kSignals.size(); ++k)
    if (kSignals[k] == number) sigaction(number, &before[k], nullptr);
  raise(number);  // blocked until this returns; then as if nobody had been here
}

}  // namespace

void dump_on_crash(const Flight* flight, const std::string& path) {
  recorder.store(nullptr);
  if (flight && path.size() < sizeof(dump_path)) {
    std::memcpy(dump_path, path.c_str(), path.size() + 1);
    recorder.store(flight);
    if (!installed.exchange(true)) {
      struct sigaction action {};
      action.sa_handler = on_crash;
      action.sa_flags = SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      for (size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &action, &before[k]);
    }
  } else if (installed.exchange(false)) {
    for (size_t k = 0; k < kSignals.size(); ++k) {
      struct sigaction current {};
      sigaction(kSignals[k], nullptr, &current);
      if (current.sa_handler == on_crash) sigaction(kSignals[k], &before[k], nullptr);
    }
  }
}

}  // namespace msvm::observe
