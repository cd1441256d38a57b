// The JIT thread and its queue: who compiles what next, within which budget, and who is told.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "msvm/jit/compile/code_store.h"
#include "msvm/jit/compile/compiler_process.h"
#include "msvm/jit/compile/outcome.h"

namespace msvm::jit {

/// A token of whoever may go away before its jobs are done: a loaded module. 0 is nobody.
using Owner = uint64_t;

enum class Urgency : uint8_t {
  kIdle,
  kNormal,
  kWaited,  // somebody stands waiting (warm-up): no budget, normal priority
};

struct CompileJob {
  std::vector<std::byte> request;  // encode_request()
  std::string label;               // for people: the signature
  Owner owner = 0;
  double gain = 0;  // expected, in any unit that all jobs share; the queue divides it by expected compile time
  Urgency urgency = Urgency::kNormal;
  std::function<void(const CompileResult&)> done;
};

struct QueueOptions {
  CompilerOptions compiler;
  double deadline = 2.0;      // s for one job
  double cpu_share = 0.5;     // CPU seconds a second for all jobs together, in the long run
  double cpu_burst = 5;       // that may be saved up
  double raise_after = 0.05;  // s without enough processor until a job competes as an equal
  double raised_share = 0.1;  // budget of that
  double raised_burst = 1;
  double idle_stop = 30;    // s without a job until the compiler process is ended
  size_t max_queued = 256;  // beyond it the job of least worth goes
  std::shared_ptr<CodeStore> store;
};

/// Count, mean and maximum of times.
struct TimeTotal {
  uint64_t count = 0;
  double sum = 0, max = 0;
  double mean() const { return count != 0 ? sum / static_cast<double>(count) : 0; }
  void add(double seconds) {
    ++count;
    sum += seconds;
    if (seconds > max) max = seconds;
  }
};

/// A picture of the queue at one moment.
struct QueueView {
  struct Running {
    std::string label;
    Owner owner = 0;  // one of those who wait for it
    std::optional<Phase> phase;
    double seconds = 0, estimate = 0;
  };
  struct Queued {
    std::string label;
    Urgency urgency{};
    double gain = 0, estimate = 0;
  };
  std::optional<Running> running;
  std::vector<Queued> next;     // the best, in the order in which they would run now
  size_t queued = 0, work = 0;  // jobs, small jobs
  uint64_t joined = 0;          // submissions that met an equal one
  std::array<uint64_t, kOutcomes.size()> outcomes{};
  std::array<TimeTotal, kPhases> phases{};  // of the compiled ones
  TimeTotal compiled;                       // their wall time
  double cpu_seconds = 0;                   // of all that were tried
  double budget = 0;                        // CPU seconds that may be spent now; negative: jobs wait
  uint64_t generation = 0;
  pid_t compiler = -1;
  int compiler_starts = 0;
};

/// All functions may be called by any thread, `done` functions included (drain() returns at once there). No function
/// waits for a compilation except drain(). In the child of a fork the queue is empty and starts a thread of its own when needed.
class CompileQueue {
 public:
  explicit CompileQueue(QueueOptions options);
  /// Drops what is queued and kills what runs: no `done` is called any more.
  ~CompileQueue();
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  /// `done` is called once, on the JIT thread, unless its owner is cancelled or the queue ends first. Equal requests are one job.
  void submit(CompileJob job);
  /// A small job for the JIT thread; the more urgent first, equals in order. It holds up whoever waits for the thread, so it is
  /// short.
  void post(Owner owner, Urgency urgency, std::function<void()> work);
  /// Forgets all jobs of the owner. After it returns, none of its functions runs or will run (but the one that called it).
  void cancel(Owner owner);
  /// Failed requests may be tried again: options, capabilities or the compiler changed.
  void something_changed() { generation_.fetch_add(1); }
  uint64_t generation() const { return generation_.load(); }
  /// For jobs that begin from now on; counts as a change.
  void set_deadline(double seconds);
  QueueView view() const;
  /// Waits until nothing is queued, running or being told.
  void drain();
  /// Ends the thread and the compiler process; jobs that come later never run. For the end of the program.
  void stop();

 private:
  class Thread;
  Thread& thread() const;

  const QueueOptions options_;
  std::atomic<double> deadline_;
  std::atomic<uint64_t> generation_{1};
  mutable std::atomic<Thread*> thread_;
};

}  // namespace msvm::jit
