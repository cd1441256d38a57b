// Programs and sessions: an immutable decoded function set, and the registers, arenas and call states of one runner.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "msvm/base/run_control.h"
#include "msvm/verify/verify.h"
#include "msvm/vm/interfaces.h"
#include "msvm/vm/regions.h"

namespace msvm {

class DebugHook;  // debug_hook.h

/// A tensor as it crosses the border: metadata and one reference to its storage.
struct TensorValue {
  TensorMeta meta;
  StorageRef storage;
};
using Value = std::variant<TensorValue, int64_t, double, bool>;

struct Limits {
  int64_t max_bytes = 0;         // 0 = no limit; live tensor bytes of the session
  int64_t max_instructions = 0;  // per run
  std::chrono::nanoseconds max_time{0};
};

/// Decoded from a VerifiedModule; shared by any number of sessions and threads.
class Program {
 public:
  static Result<std::shared_ptr<const Program>> create(std::shared_ptr<const VerifiedModule> module);
  ~Program();
  const VerifiedModule& verified() const { return *module_; }
  const Module& module() const { return module_->module(); }
  /// Regions of a function, once the JIT has attached them; null before.
  RegionTable* regions(int32_t function) const;
  /// Sessions use it from their next run on. Once per function; the program keeps it.
  RegionTable* attach(int32_t function, std::unique_ptr<RegionTable> table) const;
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  Program() = default;
  std::shared_ptr<const VerifiedModule> module_;
  std::unique_ptr<Impl> impl_;
};

/// One instruction's share of the profiled runs.
struct InstrProfile {
  int64_t runs = 0;
  int64_t nanoseconds = 0;
  std::string kernel;  // the last one; several are joined by ", "
};

struct Counters {
  int64_t runs = 0, failed_runs = 0, instructions = 0, calls = 0, allocations = 0, planned_allocations = 0, in_place = 0, checks = 0, copied_bytes = 0, native_regions = 0;
  double native_operations = 0, native_bytes = 0;  // of groups in native code; calls are counted where they are dispatched
};

/// Serves one thread at a time; a second one gets an error. A failed run leaves it usable and leaks nothing.
class Session {
 public:
  Session(std::shared_ptr<const Program> program, Dispatcher& dispatcher, Allocator& allocator, Limits limits = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Inputs by position: dtype, rank and sizes are checked against the declared ones; they are only read, and must stay while the run
  /// lasts. Outputs own their storage. A steady run of a program without lists calls no malloc if `results` has room.
  /// `control` stops this run alone; it is this thread's current one meanwhile.
  Status run(int32_t function, std::span<const Value> inputs, std::vector<Value>& results, RunControl* control = nullptr);
  Result<std::vector<Value>> run(int32_t function, std::span<const Value> inputs);
  void cancel();                       // from any thread: the current run ends with kCancelled
  void set_profiling(bool on);         // the second instantiation of the loop
  void set_planning(bool on);          // between runs; off: every tensor comes from the allocator
  void set_thorough(bool on);          // between runs; on: plans that need less memory, made in more time
  void set_limits(Limits limits);      // between runs
  void set_observer(RegionObserver* observer);  // between runs; null: nobody looks
  void set_debug_hook(std::shared_ptr<DebugHook> hook);  // from any thread: a run that is under way takes it, too; null: no debugger
  bool watched() const;                // whether a debugger watched the last run, which may have waited for it
  const std::vector<InstrProfile>& profile(int32_t function) const;
  /// Each call that has run, by instruction of the function. Between runs.
  void for_each_call(int32_t function, const std::function<void(int32_t instruction, const CallState& state)>& visit) const;
  Counters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm
