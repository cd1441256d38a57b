// The inspector of this process: stops programs that run, and says what they hold. It knows bytecode; it knows no protocol.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/debug/types.h"

namespace msvm::observe::debug {

/// (program << 32) | offset of the instruction in its module's code section. Of a place that isn't there: the program's begin.
uint64_t address_of(Place place);

/// Told of what happens, on the thread where it does: `patched` on the JIT's, `program_loaded` on the one that adds, breakpoint_changed on any, all others on
/// the thread that runs. May call the Debugger, also to resume the thread that tells it of its stop.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void stopped(const Stop& stop) = 0;              // it waits from now on, until resume(), step() or detach()
  virtual void resumed(ThreadId thread) = 0;
  virtual void thread_began(ThreadId) {}                   // its first run of a debugged program
  virtual void thread_ended(ThreadId) {}
  virtual void run_began(ThreadId, const Place&) {}
  virtual void run_ended(ThreadId, const Place&, const Status&) {}
  virtual void step_ended(ThreadId) {}                     // a step came to the end of the outermost run: the thread goes on, no stop follows from it
  virtual void program_loaded(const ProgramInfo&) {}
  virtual void program_unloaded(const ProgramInfo&) {}
  virtual void breakpoint_changed(const Breakpoint&) {}    // bound, or not any more
  virtual void patched(const Patch&) {}
  virtual void output(std::string_view category, std::string_view text) { (void)category, (void)text; }  // "console": log messages; each with its line end
};

/// Thread-safe. Without a listener nothing is stopped, nothing is slowed down, and hooks are in no program. In the child of a fork it is off for good.
class Debugger {
 public:
  struct Impl;
  static Debugger& process();

  /// Hooks go into all programs; runs that are under way take them at their next call, round or region. One listener at a time; it must live until detach() has returned.
  /// What was set before (breakpoints, stops, native) counts.
  Status attach(Listener* listener);
  /// Resumes all, takes the hooks out, forgets breakpoints and stops: the programs go on as if never debugged. No call of the listener is
  /// under way when it returns, but for one that this is called from.
  void detach();
  bool attached() const;

  /// A program of the process, held weakly. Its number.
  uint64_t add(const std::shared_ptr<Executable>& program, const std::string& name);
  std::vector<ProgramInfo> programs() const;               // those that live
  std::shared_ptr<Executable> executable(uint64_t program) const;  // null: it is gone
  Result<Listing> listing(uint64_t program) const;
  /// Whether the listing's tiers are others than in that version. Cheap.
  uint64_t listing_version(uint64_t program) const;
  uint64_t address(Place place) const;                     // as address_of()
  /// The instruction at an address: the one that begins there, or else covers it.
  Result<Place> place_of(uint64_t address) const;

  // --- breakpoints: each call replaces those of its kind, of the same file or program; they come back in the order in which they were given.
  // A line breakpoint binds to the first instruction that comes from the line, in each function; what can't be bound waits for programs.
  std::vector<Breakpoint> set_source_breakpoints(const std::string& file, std::span<const LineBreakpoint> lines);
  std::vector<Breakpoint> set_listing_breakpoints(uint64_t program, std::span<const LineBreakpoint> lines);
  std::vector<Breakpoint> set_address_breakpoints(std::span<const AddressBreakpoint> addresses);
  std::vector<Breakpoint> set_function_breakpoints(std::span<const FunctionBreakpoint> functions);
  void clear_breakpoints();
  std::vector<Breakpoint> breakpoints() const;
  /// Lines of the file from which instructions come, ascending, each once.
  std::vector<int32_t> source_lines(const std::string& file) const;
  void set_stops(const Stops& stops);
  Stops stops() const;
  void set_native(Native native);
  Native native() const;

  // --- control. kNotFound: no such thread; kInvalidArgument: it doesn't wait.
  Status resume(ThreadId thread);                          // kAnyThread: all
  Status step(ThreadId thread, Step step);
  /// At its next instruction, of this run or the next; kAnyThread: all that run, also those that don't know of the debugger yet; if none does, all that have run, or
  /// whichever runs first (kEntry). Off: takes back what hasn't stopped anything yet.
  Status pause(ThreadId thread, bool on = true);
  /// The next run that begins in the thread, or in any, stops at its first instruction (kEntry), once. Off: takes it back.
  void stop_at_next_run(ThreadId thread = kAnyThread, bool on = true);
  /// Ends the thread's run with kCancelled, whether it waits or not. A run that waits also ends so when its own RunControl, its
  /// session or its program says so; RunControl is asked every 50 ms.
  Status cancel(ThreadId thread);
  /// A run that begins waits until release_runs(): for launches that set breakpoints first. Counts from before attach() on, and ends with detach(). Such
  /// runs can be cancelled like those that are stopped.
  void hold_runs();
  void release_runs();

  // --- what is there. Of a thread that waits: kInvalidArgument if it doesn't.
  std::vector<ThreadInfo> threads() const;
  ThreadId this_thread() const;                            // 0: it hasn't run a debugged program, and thread_of() wasn't asked
  /// Of the thread with this pthread_self(); it gets a number now if it has none.
  ThreadId thread_of(uint64_t handle);
  Result<std::vector<FrameInfo>> frames(ThreadId thread) const;   // innermost first
  Result<Registers> registers(FrameRef frame, int32_t first = 0, int32_t count = INT32_MAX) const;
  Result<std::vector<SymbolView>> symbols(FrameRef frame) const;
  Result<std::vector<ConstantView>> constants(FrameRef frame) const;
  Result<std::vector<BufferView>> buffers(FrameRef frame) const;
  /// None: the frame isn't at an OP_CALL.
  Result<std::optional<CallView>> call(FrameRef frame) const;
  /// docs/debug_expressions.md has the language. The error names the column, what was found and what was expected.
  Result<Value> evaluate(FrameRef frame, std::string_view expression) const;
  /// Of the word that ends at `column` (from 0). Without a frame that waits: functions only.
  std::vector<Completion> completions(FrameRef frame, std::string_view text, int32_t column) const;
  /// i64, f64 and bool registers, where nothing that was proved rests on the value; the error says why not.
  Result<RegisterView> set_scalar(FrameRef frame, Reg reg, std::string_view value);
  /// Elements of a register, or of what an expression that names one gives. `slice`: "0, 1:4, :", empty: all. At most `max` elements are copied; statistics
  /// are of all.
  Result<TensorCopy> tensor(FrameRef frame, std::string_view expression, std::string_view slice = {}, int64_t max = 4096) const;
  /// The whole slice as .npy; the bytes written.
  Result<int64_t> save_npy(FrameRef frame, std::string_view expression, std::string_view slice, const std::string& path) const;
  /// Bytes of live host tensors of the thread's frames, for a memory view. Fewer than asked for where the memory ends.
  Result<std::string> read_memory(ThreadId thread, uint64_t address, int64_t count) const;

 private:
  Debugger();
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm::observe::debug
