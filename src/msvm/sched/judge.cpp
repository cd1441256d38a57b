// Conditions and costs: which kernels may serve a call, and which one is expected to be the fastest.
#include <algorithm>

#include "msvm/sched/site.h"

namespace msvm {
namespace {

// A strided input of a kernel that wants dense ones goes through a temporary.
constexpr double kCopyNsPerByte = 0.2;
constexpr double kCopyOverheadNs = 500;

constexpr const char* kTakenOut = "taken out by the capability database";

double cost_of(const KernelState& k, double work) {
  const double fallback = k.kernel->default_overhead_ns + work * k.kernel->default_ns_per_work;
  if (!k.capability) return fallback;
  for (const CostClass& c : k.capability->costs)
    if (work >= static_cast<double>(c.min_work) && work <= static_cast<double>(c.max_work)) return c.overhead_ns + work / c.work_per_ns;
  return fallback;
}

double default_work(const KernelCall& call) {
  int64_t n = 0;
  for (const TensorMeta* m : call.outputs)
    if (m) n = std::max(n, m->elements());
  for (const TensorMeta* m : call.inputs)
    if (m) n = std::max(n, m->elements());
  return static_cast<double>(n);
}

Candidate judge(const KernelState& k, const KernelCall& call) {
  Candidate c{k.kernel};
  if (!(k.kernel->dtypes & bit(key_dtype(call.inputs, call.outputs)))) c.rejected = "dtype";
  else if (call.strict && !k.kernel->strict_order) c.rejected = "order of sums (strict)";
  else if (k.kernel->accepts && !k.kernel->accepts(call)) c.rejected = "shape or attributes";
  else if (k.capability && !k.capability->enabled) c.rejected = kTakenOut;
  // Such kernels write row-major results only.
  if (!c.rejected && k.kernel->dense_inputs)
    for (const TensorMeta* m : call.outputs)
      if (m && m->data && !m->dense()) c.rejected = "layout of the result";
  double copied = 0;
  if (k.kernel->dense_inputs)
    for (const TensorMeta* m : call.inputs)
      if (m && !m->dense()) copied += static_cast<double>(m->elements() * dtype_bytes(m->dtype));
  c.through_copy = copied > 0;
  if (c.rejected) return c;
  c.cost_ns = cost_of(k, k.kernel->work ? k.kernel->work(call) : default_work(call));
  if (c.through_copy) c.cost_ns += copied * kCopyNsPerByte + kCopyOverheadNs;
  return c;
}

}  // namespace

DType key_dtype(std::span<const TensorMeta* const> inputs, std::span<TensorMeta* const> outputs) {
  for (const TensorMeta* m : inputs)
    if (m) return m->dtype;
  for (const TensorMeta* m : outputs)
    if (m) return m->dtype;
  return DType::kF32;
}

const Candidate* judge_all(SchedSite::Impl& site, const KernelCall& call, bool fallback, std::vector<Candidate>& out) {
  out.clear();
  for (const KernelState& k : site.kernels) out.push_back(judge(k, call));
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.rejected != nullptr, a.cost_ns) < std::pair(b.rejected != nullptr, b.cost_ns);
  });
  if (!out.empty() && !out[0].rejected) return out.data();
  if (!fallback) return nullptr;
  const KernelInfo* reference = reference_kernel(site.op->name);
  for (Candidate& c : out)
    if (c.kernel == reference && c.rejected == kTakenOut) {
      c.fallback = true;
      return &c;
    }
  return nullptr;
}

}  // namespace msvm
