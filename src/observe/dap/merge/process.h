// A program that is launched: its output, its end, and that nothing of it is left behind. Private to the room.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe::dap::merge {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct ProcessOptions {
  std::vector<std::string> command;  // found on the PATH of `env`, else of this process
  std::string cwd;                   // empty: this process's
  Environment env;                   // beside this process's, and in place of what has the same name
  int inherited = -1;                // becomes descriptor 3; stays the caller's here
};

class Process {
 public:
  /// Of output: whole characters, in order; is_error: of stderr. At the end its exit code, or 128 and the signal. Both on a thread of its own.
  using OnOutput = std::function<void(bool is_error, std::string text)>;
  using OnExit = std::function<void(int code, std::string how)>;
  /// In a process group of its own, without input. It ends with the thread that starts it.
  static Result<std::unique_ptr<Process>> start(const ProcessOptions& options, OnOutput output, OnExit exit);
  /// Kills its group, if it still runs, and waits for its end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// SIGTERM to the group; SIGKILL to what is there after `patience`. Doesn't wait.
  void terminate(std::chrono::milliseconds patience);
  void kill();

  static constexpr int kInherited = 3;

 private:
  Process() = default;
  void watch();
  int patience();

  pid_t pid_ = -1;
  int out_ = -1, error_ = -1, death_ = -1, wake_ = -1;
  std::mutex mutex_;
  bool ended_ = false;  // its number may be another's from now on
  std::chrono::steady_clock::time_point kill_at_ = std::chrono::steady_clock::time_point::max();
  OnOutput output_;
  OnExit exit_;
  std::thread thread_;
};

/// What a command writes to stdout; an error if it fails, with its stderr, or takes longer.
Result<std::string> output_of(const ProcessOptions& options, std::chrono::milliseconds timeout);

}  // namespace msvm::observe::dap::merge
