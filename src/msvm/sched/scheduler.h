// Operator + actual metadata + capability -> kernel, and why.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/device/capability_db.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

struct Candidate {
  const KernelInfo* kernel;
  double cost_ns = 0;
  const char* rejected = nullptr;  // null = admissible; else the condition that failed
  bool through_copy = false;       // strided inputs go through dense temporaries
  bool fallback = false;           // serves although it was rejected: nothing else does
  bool chosen = false;             // of Scheduler::candidates()
};

/// What a call site chose for one combination of dtypes, sizes, strides and layouts.
struct SiteChoice {
  std::vector<std::optional<TensorMeta>> inputs;  // without data; none: absent
  const KernelInfo* kernel = nullptr;
  std::vector<Candidate> candidates;              // best first
};

/// One call site's memory: the shapes seen last and what was chosen for each. Used by one session.
class SchedSite {
 public:
  ~SchedSite();
  struct Impl;

 private:
  friend class Scheduler;
  SchedSite();
  std::unique_ptr<Impl> impl_;
};

/// What one call is, whichever kernel does it; kernels/operations.h.
struct CallCost {
  double operations = 0, bytes = 0;
};

/// `Kernel not found …` where another served it all the same.
struct MissingKernel {
  std::string text, place;
};

/// What calls did, added up. Of one thread at a time.
struct CallTotals {
  CallCost cost;
  int64_t layout_bytes = 0;              // copied so that a kernel could read them
  std::vector<MissingKernel> missing;    // newest last; whoever takes them clears it
};

struct SiteOptions {
  bool infer = false;    // run the shape function at each new shape: outputs to allocate, or inputs of unknown rank
  bool strict = false;   // one declared order of every sum
  CallTotals* totals = nullptr;  // to add to, must outlive the site; null: nobody asks
  std::string place;             // "model.py:47", for what is missing
  uint64_t may_be_given_back = 0;  // bit i: the bytes of constant input i, once packed; kernels that read them get them by keep_raw()
};

/// The defaults for this machine from the kernels compiled in.
CapabilityDb default_capability_db();

struct SchedulerOptions {
  bool fallback = true;  // where the database has taken out every kernel that fits, the reference kernel serves
  bool strict = false;   // as if every call asked for it
};

/// Of one device. Thread-safe as long as each site is used by one thread at a time.
class Scheduler {
 public:
  Scheduler(CapabilityDb db, WorkerPool& workers, SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Fails with "Kernel not found ..." if no kernel of this build serves the operator on this device.
  Result<std::unique_ptr<SchedSite>> make_site(const OpSchema& op, const Attributes& attrs, SiteOptions options);
  /// What one call works on. `new_outputs`: bit i = output i is allocated through the memory given to choose(), from the shape
  /// function's answer; by the kernel where sizes are data-dependent.
  struct Call {
    std::span<const TensorMeta* const> inputs;   // nullptr: absent
    std::span<const int64_t> args;
    std::span<TensorMeta* const> outputs;        // nullptr: absent
    uint64_t new_outputs = 0, const_inputs = 0;
  };
  /// Chooses (remembered while metadata repeats) and allocates the outputs that can be allocated before the kernel runs.
  Status choose(SchedSite& site, const Call& call, KernelMemory& memory);
  /// Runs what was chosen last, for the same call.
  Status run(SchedSite& site, const Call& call, KernelMemory& memory);
  Status call(SchedSite& site, const Call& c, KernelMemory& memory) {
    Status s = choose(site, c, memory);
    return s.ok() ? run(site, c, memory) : s;
  }

  /// All candidates for a call that hasn't run, best first, `chosen` the one that choose() would take. Allocates nothing and remembers nothing; empty if the
  /// sizes don't fit the operator, which the call itself will say. `memory` is never asked.
  std::vector<Candidate> candidates(SchedSite& site, const Call& call, KernelMemory& memory);
  /// All candidates for the metadata of the site's last choice, best first, with costs or reasons.
  const std::vector<Candidate>& explain(const SchedSite& site) const;
  /// The same for each combination that the site remembers, in the order of their last use.
  std::vector<SiteChoice> choices(const SchedSite& site) const;
  const KernelInfo* last_kernel(const SchedSite& site) const;
  /// Its name, with "(fallback)" behind it where that is so. Valid until the site's next choice.
  const char* last_name(const SchedSite& site) const;
  CallCost last_cost(const SchedSite& site) const;
  int64_t layout_bytes(const SchedSite& site) const;  // moved through dense temporaries so far

  /// The database as it is now. Patches make a new one; every site chooses anew at its next call.
  std::shared_ptr<const CapabilityDb> db() const;
  Status patch_json(std::string_view json, const std::string& source);
  Status patch_file(const std::string& path);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  WorkerPool& workers_;
};

/// `Kernel not found for op MatMul (f16) on device CPU(0) [avx2]`
std::string kernel_not_found(std::string_view op, DType dtype, Device device, Isa isa);

}  // namespace msvm
