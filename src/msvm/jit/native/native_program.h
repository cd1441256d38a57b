// Native code of one program: finds its regions, watches the sizes it runs with, has code made and publishes it.
#pragma once
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "msvm/jit/bind.h"
#include "msvm/jit/entry_code.h"
#include "msvm/jit/lower.h"
#include "msvm/jit/native/jit_view.h"
#include "msvm/jit/native/native_jit.h"
#include "msvm/jit/native/run_log.h"
#include "msvm/jit/native/session_observer.h"
#include "msvm/jit/native/shape_tally.h"
#include "msvm/jit/policy.h"
#include "msvm/jit/scd.h"
#include "msvm/jit/trigger.h"

namespace msvm::jit {

/// Held by the executable; its jobs are gone once it is destroyed.
class NativeProgram : public std::enable_shared_from_this<NativeProgram> {
 public:
  NativeProgram(std::shared_ptr<NativeJit> jit, std::shared_ptr<const Program> program, const JitOptions& options);
  ~NativeProgram();

  // --- threads that run the program
  /// After a run of the function: at the second one, or after a long one, its regions are looked for.
  void function_ran(int32_t function, int64_t nanoseconds);
  /// Whether its regions were looked for, or will be.
  bool asked(int32_t function) const { return states_[static_cast<size_t>(function)].asked.load(std::memory_order_relaxed); }
  /// A session's observer; it must not outlive this.
  std::unique_ptr<SessionObserver> observe();
  /// With fallback=false: why something couldn't be compiled.
  Status failure() const;

  // --- any thread
  /// Reads first what runs have told.
  JitView view();
  /// Has regions looked for and code for all sizes made now.
  void warm_up();
  /// Has the JIT thread read what runs have told.
  void notify();
  /// Has code made for sizes of inputs, and ranges of symbols, by name, as runs with them would in the end, and waits for it. Free
  /// symbols stay open, as do those that these sizes say nothing about.
  Status make(int32_t function, const std::map<std::string, std::vector<int64_t>>& sizes, const std::map<std::string, Extent>& ranges);
  /// The code of all entries as a bundle, signed with the user's key; how many images.
  Result<size_t> write_bundle(const std::string& path) const;
  /// The entry of that name, alias or box; without one, of those with code that which was hit most often. `function`, `region` < 0: any.
  Result<EntryCode> entry_code(int32_t function, int32_t region, std::string_view name) const;
  /// Takes all entries out and has them made again.
  void retire_all();
  /// What the adaptive mode has learnt so far, as JSON; empty in other modes.
  std::string shape_policy() const;
  const JitOptions& options() const { return options_; }
  /// Called on the JIT thread, without a lock, after each change of a region's code. A call of the one before may still be under way.
  void set_patch_listener(std::function<void(const PatchNotice&)> listener);

 private:
  class Observer;
  struct Entry {
    std::shared_ptr<RegionEntry> entry;
    Box box;
    std::string key;            // text of its loop program; empty: no kernels
    std::string alias, outcome;
    int64_t code_bytes = 0;
    bool shared = false;
    double compile_ms = 0;
    double born = 0;            // as seconds()
  };
  struct RegionJit {
    const Region* region = nullptr;
    LoweredRegion lowered;
    std::unique_ptr<Trigger> trigger;
    std::unique_ptr<Policy> policy;  // decides instead of the trigger; null but in adaptive mode
    std::vector<Entry> entries;
    std::unique_ptr<RegionTotals> totals = std::make_unique<RegionTotals>();
    double gain_share = 0;      // of its calls that are fused
    int best_tier = 0;          // of its entries, as published last
  };
  struct FunctionJit {
    std::unique_ptr<FunctionView> view;
    FunctionRegions found;
    RegionTable* table = nullptr;
    std::vector<RegionJit> regions;
    std::optional<DeclaredScd> scd;  // once somebody asked
  };
  struct FunctionState {
    std::atomic<int> runs{0};
    std::atomic<bool> asked{false};
    std::atomic<FunctionJit*> ready{nullptr};  // for observers
  };

  void ask(int32_t function, Urgency urgency);  // once: analysis
  TriggerOptions trigger_options() const;

  // With mutex_ held.
  void analyse(int32_t function);
  void request(int32_t function, int32_t region, Box box, int tier);
  void take_from_bundles(int32_t function);
  void compiled(int32_t function, int32_t region, const Box& box, int tier, const std::string& key, const CompileResult& result);
  void publish(FunctionJit& f, int32_t region, Entry entry, int tier);
  void republish(FunctionJit& f, int32_t region, const Entry* fresh = nullptr);
  void tell_patch(const FunctionJit& f, int32_t region, const Entry* fresh, int old_tier);
  void make_room(FunctionJit& f, int32_t region);
  void take_out(RegionJit& r, size_t entry);  // without a word; republish() has dispatch see it
  void evict(RegionJit& r, size_t entry);
  void read_logs();
  void note_run(const RunLog::Run& run);
  void churn(int32_t function, int32_t region);
  // Of the adaptive mode, in adaptive.cpp.
  std::unique_ptr<Policy> make_policy(const FunctionJit& f, const Region& region, int32_t index);
  void request_learnt(int32_t function);
  BoxPrice price(const FunctionJit& f, const RegionJit& r, const Box& box) const;
  double own_bytes(const Entry& entry) const;
  double worth(const RegionJit& r, const Entry& e, bool per_byte) const;
  Decision decide(FunctionJit& f, int32_t region, const RunLog::Run& run);
  void drop(FunctionJit& f, int32_t region, const std::vector<Box>& boxes);

  int64_t code_bytes() const;
  void add_shapes(int32_t function, int32_t region, std::vector<SizeCount>& sum) const;
  void add_totals(int32_t function, int32_t region, RegionTotals& sum) const;
  // For views.
  JitRegionView region_view(FunctionJit& f, int32_t region);
  std::vector<JitShapeView> shapes(const FunctionJit& f, int32_t region) const;
  std::vector<std::string> open_symbols(const FunctionJit& f, const RegionJit& r) const;
  std::vector<std::string> broken_propagation(FunctionJit& f, const Region& r) const;
  void add_boundaries(const FunctionJit& f, const RegionJit& r, std::map<std::string, std::vector<int64_t>>& boundaries) const;
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - loaded_).count(); }
  void event(JitEventKind kind, std::string what);
  void slow_path(SlowPathView what);  // all but its time
  std::string region_name(const FunctionJit& f, int32_t region) const;
  std::string signature(const FunctionJit& f, int32_t region, const Box& box) const;
  std::string alias(const FunctionJit& f, int32_t region, const Box& box) const;
  Gain gain(const RegionJit& r) const;
  Box box_for(const FunctionJit& f, int32_t region, const InputSizes& sizes, const std::map<std::string, Extent>& ranges) const;
  /// False in the child of a fork: it goes on with the code that is there, and has none made. The JIT thread, which may have held
  /// the lock, doesn't exist there.
  bool at_home() const { return ::getpid() == process_; }

  const std::shared_ptr<NativeJit> jit_;
  const std::shared_ptr<const Program> program_;
  const JitOptions options_;
  ShapePolicy loaded_policy_;
  const Owner owner_;
  const pid_t process_ = ::getpid();
  std::mutex listener_mutex_;   // of the next one; never held while it is called
  std::shared_ptr<const std::function<void(const PatchNotice&)>> patch_listener_;
  const std::chrono::steady_clock::time_point loaded_ = std::chrono::steady_clock::now();
  std::vector<FunctionState> states_;
  std::atomic<bool> notified_{false}, failed_{false}, hurry_{false};
  std::atomic<int64_t> ticks_{0};        // runs, of the chaos build

  mutable std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<FunctionJit>> functions_;
  std::list<std::unique_ptr<RunLog>> logs_;
  std::vector<const Observer*> observers_;
  std::deque<SlowPathView> slow_path_;
  std::deque<JitEventView> events_;
  std::deque<uint8_t> window_;           // tier of the latest runs
  std::string failure_;
  int64_t compiled_ = 0, from_disk_ = 0, failures_ = 0, evicted_ = 0;
  std::map<std::string, int64_t> failures_by_reason_;
  double compile_ms_ = 0;
};

}  // namespace msvm::jit
