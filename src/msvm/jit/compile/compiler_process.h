// The client of the compiler process: one job at a time, ended by a reply, a deadline or a kill, never by an exception or a crash
// here.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/compile/child_process.h"
#include "msvm/jit/compile/outcome.h"

namespace msvm::jit {

struct CompilerOptions {
  std::string path;                           // of the compiler; empty: see find_compiler()
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  uint64_t memory_limit = 0;                  // sanitizers reserve terabytes
#else
  uint64_t memory_limit = uint64_t{2} << 30;  // address space of the compiler process; 0: none
#endif
  bool idle_priority = true;
  double first_back_off = 0.1;  // s without a new start after a crash; doubles from crash to crash
  double last_back_off = 10;    // and not beyond this
};

/// Used by one thread, the one that starts the process: the process ends with that thread. Started at the first job, and again for
/// the next job after it died. In the child of a fork it is as new: the parent's process isn't touched.
class CompilerProcess {
 public:
  explicit CompilerProcess(CompilerOptions options) : options_(std::move(options)) {}
  ~CompilerProcess() { stop(); }
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  struct Limits {
    double deadline = 2.0;      // s from begin() on, the start of the process included
    double raise_after = 0.05;  // s until it competes with other programs as an equal; infinite: never
  };
  /// Not while busy(). Whatever goes wrong is told by wait().
  void begin(std::vector<std::byte> request, const Limits& limits);
  bool busy() const { return busy_; }
  /// Returns once the job ended (its result), `wake` is readable, or `seconds` are over. Without a job it only waits.
  std::optional<CompileResult> wait(int wake, double seconds);
  /// Kills the job; kCancelled.
  CompileResult cancel();

  /// Of the running job; any thread may ask.
  std::optional<Phase> phase() const {
    const int phase = phase_.load(std::memory_order_relaxed);
    return phase < 0 ? std::nullopt : std::optional(static_cast<Phase>(phase));
  }
  /// Seconds until a start is permitted again; 0 if it is.
  double back_off() const;
  pid_t pid() const { return child_.pid(); }
  int starts() const { return starts_; }
  /// Kills the process, which holds memory while it waits; the next job starts it again.
  void stop();

 private:
  bool start(bool idle_priority);
  void restart(bool idle_priority);
  void send_request();
  bool receive();
  void read_errors();
  void enter(int phase);
  void on_frame(const Frame& frame);
  void on_end();
  void on_death();
  void on_time();
  bool reap_killed();
  double next_time() const;
  double cpu_used() const;
  void finish(Outcome outcome, std::string error, Image image = {});
  void broke(Outcome outcome, std::string error);

  CompilerOptions options_;
  ChildProcess child_;
  std::vector<ChildProcess> killed_;  // earlier ones that aren't reaped yet
  pid_t owner_ = -1;
  int starts_ = 0, crashes_ = 0;
  double not_before_ = 0;
  bool answered_ = false;  // the process has answered a job

  bool busy_ = false;
  uint32_t job_ = 0;
  Limits limits_;
  std::vector<std::byte> request_;  // as a frame
  size_t sent_ = 0;                 // bytes of it
  FrameReader frames_;
  std::string errors_;  // the end of its stderr
  bool ended_ = false;  // its output did
  double begun_ = 0, phase_since_ = 0, raise_at_ = 0;
  double cpu_before_ = 0, cpu_spent_ = 0;  // by this process before the job, by earlier processes for the job
  bool retried_ = false, raised_ = false;
  std::atomic<int> phase_{-1};
  PhaseSeconds phases_{};
  std::optional<CompileResult> result_;
};

}  // namespace msvm::jit
