// A child process to talk to: what POSIX needs so that no descriptor, signal or reused process id goes astray.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::jit {

struct ChildOptions {
  std::vector<std::string> command;  // path, then arguments
  uint64_t memory_limit = 0;         // bytes of address space; 0: none
};

/// One running child. Not for several threads. With PR_SET_PDEATHSIG in the child it ends with the thread that started it.
class ChildProcess {
 public:
  /// stdin and stdout of the child are one socket, stderr a pipe; it gets no other descriptor, default signals, and a process group
  /// of its own (Ctrl-C in a terminal is not for it).
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess() = default;
  ChildProcess(ChildProcess&& o) noexcept { *this = std::move(o); }
  ChildProcess& operator=(ChildProcess&& o) noexcept;
  /// Kills it, and waits a little for its end.
  ~ChildProcess();

  pid_t pid() const { return running() ? pid_ : -1; }
  bool running() const { return pid_ > 0 && !killed_; }  // as far as is known here
  bool killed() const { return pid_ > 0 && killed_; }    // and not reaped yet
  int socket() const { return socket_; }                 // non-blocking; writing never raises SIGPIPE with MSG_NOSIGNAL
  int stderr_pipe() const { return stderr_; }            // non-blocking
  int death() const { return pidfd_; }                   // readable once it died; -1 where the system has no such descriptors

  /// Whether it has died by now; it is reaped then.
  bool died();
  /// Doesn't wait for its end: at idle priority on a busy machine even dying takes its time. died() reaps it later.
  void kill();
  /// In the child of a fork: forgets the process without touching it.
  void forget();
  /// "was killed by signal 11 (Segmentation fault)"; of one that was reaped.
  std::string end_text() const;
  int exit_code() const { return exited_ ? code_ : -1; }

  /// CPU time so far; 0 if it can't be read.
  double cpu_seconds() const;
  /// Runs only where nothing else wants the processor.
  void lower_priority();
  /// Back to normal; false where the system permits that to nobody but root.
  bool raise_priority();

 private:
  void close_all();
  pid_t pid_ = -1, owner_ = -1;
  int socket_ = -1, stderr_ = -1, pidfd_ = -1;
  bool killed_ = false, exited_ = false, known_ = false;
  int code_ = 0;
};

}  // namespace msvm::jit
