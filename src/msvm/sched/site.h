// What a call site remembers. Private to the room.
#pragma once
#include "msvm/sched/signature.h"

namespace msvm {

struct KernelState {
  const KernelInfo* kernel;
  const KernelCapability* capability;        // of the site's database; may be null
  std::unique_ptr<KernelSiteState> state;    // packed weights
};

struct Choice {
  Signature signature;
  size_t kernel = 0;                                // index into SchedSite::Impl::kernels
  bool through_copy = false;
  bool relabel = false;                             // a tensor has another layout: kernels see its strides under row-major axes
  std::string name;
  CallCost cost;
  std::vector<std::vector<int64_t>> output_shapes;  // of outputs allocated before the kernel runs
  std::vector<DType> output_dtypes;
  std::vector<std::optional<TensorMeta>> inputs;    // for explanations
  std::vector<Candidate> candidates;
  uint64_t last_used = 0;
};

struct SchedSite::Impl {
  const OpSchema* op;
  const Attributes* attrs;
  SiteOptions options;
  std::shared_ptr<const CapabilityDb> db;
  uint64_t generation = 0;
  std::vector<KernelState> kernels;
  std::vector<std::unique_ptr<Choice>> choices;
  Choice* last = nullptr;
  size_t checked_inputs = SIZE_MAX;                 // counts, dtypes and attributes were checked with so many inputs
  uint64_t clock = 0;
  int64_t layout_bytes = 0;
  // What kernels see in place of the call's own metadata, where that differs.
  std::vector<TensorMeta> dense, relabelled;
  std::vector<const TensorMeta*> inputs;
  std::vector<TensorMeta*> outputs;
};

/// Looks at each kernel: cost or reason, best first; the one that serves, or null.
const Candidate* judge_all(SchedSite::Impl& site, const KernelCall& call, bool fallback, std::vector<Candidate>& out);

DType key_dtype(std::span<const TensorMeta* const> inputs, std::span<TensorMeta* const> outputs);

}  // namespace msvm
