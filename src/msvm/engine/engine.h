// The public C++ API: load -> verify -> run. The one place where the parts are wired.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/base/latency.h"
#include "msvm/base/run_control.h"
#include "msvm/base/status.h"
#include "msvm/device/buffer_pool.h"
#include "msvm/device/capability_db.h"
#include "msvm/device/workers.h"
#include "msvm/jit/asm/disassembly.h"
#include "msvm/jit/native/jit_options.h"
#include "msvm/jit/native/jit_view.h"
#include "msvm/vm/debug_hook.h"
#include "msvm/vm/session.h"

namespace msvm {

struct EngineOptions {
  int num_threads = 0;               // 0: MSVM_NUM_THREADS, else the container's cores
  int64_t max_memory = 0;            // bytes of tensors on each device; 0: what the machine, or its container, has
  std::string capability_patch;      // path; empty: MSVM_CAPABILITY_DB, else none
  bool fallback = true;              // a kernel that is missing is served by the reference kernel, or by the host
  bool strict = false;               // one declared order of every sum
  bool mem_optimize = false;         // memory plans that need less, made in more time
  bool enable_mem_reuse = true;      // false: every tensor has a buffer of its own
  int simulated_devices = 0;         // sim(0) ... for tests
  JitOptions jit;                    // of programs that are loaded without options of their own. MSVM_JIT_LEVEL lowers its level
  std::string compiler;              // path of the compiler process; empty: MSVM_CC, else beside this program
  bool eager_compiler = false;       // it competes with the program's threads as an equal: for tests and preparation
  std::string code_cache;            // folder of native code on disk; empty: the user's
};

/// A kernel that the scheduler looked at.
struct KernelVerdict {
  std::string kernel;
  bool chosen = false;
  double cost_ns = 0;        // expected; of kernels that could serve
  std::string reason;        // why it can't; empty if it can
  bool through_copy = false; // strided inputs go through dense temporaries, the cost includes that
};

/// One call of a program and what it took for the sizes seen last (eight combinations at most).
struct CallExplanation {
  int32_t instruction = -1;  // as in profile()
  std::string op;
  std::vector<std::string> origins;
  struct Choice {
    std::vector<std::string> inputs;      // "f32[1, 3, 224, 224]"; "_": absent
    std::vector<KernelVerdict> kernels;   // cheapest first, then those that can't serve
  };
  std::vector<Choice> choices;
};

/// What the runs of a program did in all, as far as they have ended.
struct WorkDone {
  double operations = 0;     // kernels/operations.h; of groups in native code one an element and call
  double bytes = 0;          // of the operands and results of calls, groups and copies, each once a call
  int64_t layout_bytes = 0;  // copied only so that a kernel could read them
};

/// Something that whoever runs the program should know of.
struct Note {
  enum class Kind : uint8_t { kMissingKernel, kFailedRun, kCapabilities };
  std::chrono::system_clock::time_point time;
  Kind kind{};
  std::string text, place;   // "model.py:47"; empty: not known, or in the text
};

/// How long whole runs took, by the slowest tier that any of their regions ran in (0, 1, 2). Without regions: 0. Failed runs don't count.
using LatencyByTier = std::array<Latencies, 3>;

class Engine;

/// A loaded program. Thread-safe: each concurrent run() takes a session of the pool.
class Executable {
 public:
  ~Executable();
  /// With the bytes of all constants: those that were given back after packing are there again, and stay.
  const VerifiedModule& verified() const;
  const Module& module() const { return verified().module(); }
  // Parts of it that leave the constants alone.
  const std::vector<Function>& functions() const;
  const Function& function(int32_t index = 0) const { return functions()[static_cast<size_t>(index)]; }
  const DimContext& dims() const;
  const std::map<std::string, std::string>& metadata() const;
  const std::string& name() const;
  /// Disassembled, without the bytes of constants.
  std::string bytecode() const;
  /// Byte offsets of the instructions in the module's code section, by function and instruction: those of its file, or what writing it would give.
  std::vector<std::vector<uint32_t>> offsets() const;
  /// By position. Inputs may be any strides (copied if the program wants dense ones).
  Result<std::vector<Value>> run(std::span<const Value> inputs, int32_t function = 0);
  /// The same into a vector that is used again and again: no malloc once the program is in its steady state. `control` stops this run
  /// alone (kCancelled), between calls, at back-edges, and within products, convolutions and native code, at the next chunk of their work.
  Status run(std::span<const Value> inputs, std::vector<Value>& results, int32_t function = 0, RunControl* control = nullptr);
  /// Every run that has begun, in whatever thread, ends with kCancelled.
  void cancel();
  void set_limits(Limits limits);      // of each session, from its next run on
  void set_profiling(bool on);
  /// Sees the runs that begin from now on, and the rest of those that are under way; null: no debugger. Its runs are in no latency, and the JIT draws no conclusion from how long they took.
  void set_debug_hook(std::shared_ptr<DebugHook> hook);
  /// Which kernels the OP_CALL before which `waiting`, a run of this program, waits could take, cheapest first; empty elsewhere.
  Result<std::vector<KernelVerdict>> candidates(const RunView& waiting) const;
  /// Called on the JIT's thread whenever a region's code has changed; null: nobody is told. A call of the one before may still be under way.
  void set_patch_listener(std::function<void(const PatchNotice&)> listener);
  /// Merged over sessions, without the runs that have not ended; by instruction of the function.
  std::vector<InstrProfile> profile(int32_t function = 0) const;
  /// Each call that has run, in the order of the program: the kernel for each shape, and the others with their costs or why not.
  /// Without what only sessions know that run just now.
  std::vector<CallExplanation> explain(int32_t function = 0) const;
  Counters counters() const;
  LatencyByTier latency() const;
  WorkDone work() const;
  /// The newest 32, oldest first.
  std::vector<Note> notes() const;
  Engine& engine() const;
  /// Regions, their entries, hit rates, what was slow. Empty at jit_level 0.
  JitView jit_view() const;
  /// The code of an entry, by name, alias or box, beside what it comes from, with what stands out in it. Without a name the entry with
  /// code that was hit most often; `function`, `region` < 0: of any. kNotFound names the entries that there are. Waits for no run; runs and
  /// evictions go on meanwhile.
  Result<jit::Disassembly> disassembly(int32_t function = -1, int32_t region = -1, std::string_view entry = {}) const;
  /// What the adaptive cache mode has learnt (docs/scd.md), as text for a file and for JitOptions::shape_policy. Empty in other modes.
  std::string shape_policy() const;
  /// Makes code for all sizes now, and waits for it.
  void warm_up();
  /// Makes code for these sizes of inputs, and ranges of symbols, by name, and for all sizes, and waits for it. The error says what
  /// couldn't be compiled.
  Status make_code(const std::map<std::string, std::vector<int64_t>>& sizes, const std::map<std::string, Extent>& ranges = {}, int32_t function = 0);
  /// Takes all native code out and has it made again; code on disk is asked first.
  void remake_code();
  /// The native code there is now, for Engine::load_bundle() in other processes; how many images.
  Result<size_t> write_bundle(const std::string& path) const;

  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Shared devices, pools and capability databases. Must outlive its executables (they hold it). Thread-safe.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static Result<std::shared_ptr<Engine>> create(const EngineOptions& options = {});
  ~Engine();
  /// Refuses modules that need a device which isn't there.
  Result<std::shared_ptr<Executable>> load(std::shared_ptr<const VerifiedModule> module);
  Result<std::shared_ptr<Executable>> load(std::shared_ptr<const VerifiedModule> module, const JitOptions& jit);
  /// Verifies first; all findings are in the Status' message.
  Result<std::shared_ptr<Executable>> load(Module module);

  MemoryStats memory_stats(Device device = {}) const;   // zeros if there is no such device
  WorkerPool& workers();
  BufferPool& pool();
  const JitOptions& jit_options() const;   // of programs that are loaded without options of their own
  /// The JIT thread's queue: what it does now, what comes next, times.
  jit::QueueView jit_queue() const;
  /// Waits until the JIT thread has nothing left to do. Programs that run meanwhile give it more.
  void drain_jit();
  /// Code that programs take from a file instead of having it compiled. It must come from Executable::write_bundle() of the same build,
  /// and be signed with this user's key unless `trust_native`: native code is run as it is. Its boxes are entries from the start in
  /// programs whose regions are looked for later.
  Status load_bundle(const std::string& path, bool trust_native = false);
  /// No code is made from now on. For the end of the program, before what its threads use goes.
  void stop_jit();
  /// Fresh dense host memory for an input.
  Result<TensorValue> allocate(DType dtype, std::span<const int64_t> shape);

  /// As it is now; null if there is no such device.
  std::shared_ptr<const CapabilityDb> capability_db(Device device = {}) const;
  /// Call sites choose anew at their next call. A patch that is refused changes nothing.
  Status patch_capabilities(std::string_view json, const std::string& source, Device device = {});
  Status load_capability_patch(const std::string& path, Device device = {});
  /// Changes of the capability databases: the newest 32, oldest first.
  std::vector<Note> notes() const;
  struct Impl;

 private:
  Engine();
  std::unique_ptr<Impl> impl_;
};

/// Wraps foreign memory as an input without a copy; `release` runs when the last reference goes.
TensorValue borrow(const TensorMeta& meta, int64_t bytes, void (*release)(void*), void* owner);

}  // namespace msvm
