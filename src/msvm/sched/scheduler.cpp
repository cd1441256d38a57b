#include "msvm/sched/scheduler.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>

#include "msvm/base/checked.h"
#include "msvm/kernels/copy.h"
#include "msvm/kernels/operations.h"
#include "msvm/kernels/registered.h"
#include "msvm/sched/site.h"

namespace msvm {
namespace {

constexpr size_t kRemembered = 8;  // shapes a call site remembers

using KernelsByOp = std::unordered_map<std::string_view, std::vector<const KernelInfo*>>;
const KernelsByOp& kernels_by_op() {
  static const KernelsByOp& map = *[] {
    auto* m = new KernelsByOp;  // threads may run programs while the process ends
    for (const KernelInfo& k : all_kernels()) (*m)[k.op].push_back(&k);
    return m;
  }();
  return map;
}

DimContext& scratch_dims() {
  thread_local DimContext context;  // constants only: they don't accumulate
  return context;
}

TensorType type_of(const TensorMeta& m) {
  TensorType t;
  t.dtype = m.dtype;
  t.layout = m.layout;
  t.device = m.device;
  for (int64_t d : m.dims()) t.shape.push_back(scratch_dims().constant(d));
  return t;
}

}  // namespace

std::string kernel_not_found(std::string_view op, DType dtype, Device device, Isa isa) {
  return fmt::format("Kernel not found for op {} ({}) on device {} [{}]", op, dtype_name(dtype), to_string(device), isa_name(isa));
}

SchedSite::SchedSite() : impl_(std::make_unique<Impl>()) {}
SchedSite::~SchedSite() = default;

struct Scheduler::Shared {
  SchedulerOptions options;
  mutable std::mutex mutex;
  std::shared_ptr<const CapabilityDb> db;  // guarded by `mutex`
  std::atomic<uint64_t> generation{1};     // of `db`

  /// The site's view of the database is brought up to date; what it remembers goes.
  void refresh(SchedSite::Impl& site) {
    std::lock_guard lock(mutex);
    site.db = db;
    site.generation = generation.load(std::memory_order_relaxed);
    site.choices.clear();
    site.last = nullptr;
    for (KernelState& k : site.kernels) k.capability = db->find(k.kernel->name);
  }

  template <class Apply>
  Status patch(const Apply& apply) {
    std::lock_guard lock(mutex);
    auto fresh = std::make_shared<CapabilityDb>(*db);
    MSVM_RETURN_IF_ERROR(apply(*fresh));
    db = std::move(fresh);
    generation.fetch_add(1, std::memory_order_release);
    return {};
  }
};

Scheduler::Scheduler(CapabilityDb db, WorkerPool& workers, SchedulerOptions options) : shared_(std::make_unique<Shared>()), workers_(workers) {
  shared_->options = options;
  shared_->db = std::make_shared<const CapabilityDb>(std::move(db));
}
Scheduler::~Scheduler() = default;

std::shared_ptr<const CapabilityDb> Scheduler::db() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->db;
}
Status Scheduler::patch_json(std::string_view json, const std::string& source) {
  return shared_->patch([&](CapabilityDb& d) { return d.apply_patch_json(json, source); });
}
Status Scheduler::patch_file(const std::string& path) {
  return shared_->patch([&](CapabilityDb& d) { return d.apply_patch_file(path); });
}

Result<std::unique_ptr<SchedSite>> Scheduler::make_site(const OpSchema& op, const Attributes& attrs, SiteOptions options) {
  std::unique_ptr<SchedSite> site(new SchedSite);
  SchedSite::Impl& m = *site->impl_;
  m.op = &op;
  m.attrs = &attrs;
  m.options = options;
  m.options.strict = options.strict || shared_->options.strict || attrs.get_string("precision", "") == "strict";
  const auto d = db();
  if (as_registered(op)) m.kernels.push_back({&registered_kernel(), nullptr, nullptr});
  else if (auto it = kernels_by_op().find(op.name); it != kernels_by_op().end())
    for (const KernelInfo* k : it->second)
      if (k->isa <= d->hardware.isa) m.kernels.push_back({k, nullptr, nullptr});
  shared_->refresh(m);
  if (m.kernels.empty()) return Status(StatusCode::kUnsupported, kernel_not_found(op.name, DType::kF32, d->device, d->hardware.isa));
  return site;
}

namespace {

/// Shapes of the outputs at these sizes; destinations that are there already must have them.
Status infer_outputs(SchedSite::Impl& m, const Scheduler::Call& c, Choice& choice) {
  std::vector<TensorType> types(c.inputs.size());
  std::vector<const TensorType*> pointers(c.inputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i]) pointers[i] = &(types[i] = type_of(*c.inputs[i]));
  std::vector<Dim> sizes;
  for (int64_t a : c.args) sizes.push_back(scratch_dims().constant(a));
  ConstantSink sink;
  auto infer = m.checked_inputs == c.inputs.size() ? infer_checked_call : infer_call;
  MSVM_ASSIGN_OR_RETURN(auto result, infer(*m.op, scratch_dims(), pointers, sizes, *m.attrs, c.outputs.size(), sink));
  m.checked_inputs = c.inputs.size();
  for (size_t i = 0; i < c.outputs.size() && i < result.size(); ++i) {
    choice.output_dtypes.push_back(result[i].dtype);
    auto& shape = choice.output_shapes.emplace_back();
    if (m.op->data_dependent || !c.outputs[i]) continue;
    for (Dim d : result[i].shape) {
      if (!d.is_const() || d.value() < 0) return overflow_error(fmt::format("{}: a size of output {} overflows or is negative", m.op->name, i));
      shape.push_back(d.value());
    }
    if (has_bit(c.new_outputs, i)) continue;
    if (shape.size() != c.outputs[i]->rank || !std::equal(shape.begin(), shape.end(), c.outputs[i]->shape.begin()))
      return shape_mismatch(fmt::format("{}: output {} has sizes [{}], its destination is {}", m.op->name, i, fmt::join(shape, ", "), to_string(*c.outputs[i])));
  }
  return {};
}

bool needs_relabel(const Scheduler::Call& c) {
  auto other = [](const TensorMeta* m) { return m && m->layout != Layout::kRowMajor; };
  return std::any_of(c.inputs.begin(), c.inputs.end(), other) || std::any_of(c.outputs.begin(), c.outputs.end(), other);
}

/// Layouts only say in which order axes lie; strides say it, too. Kernels know row-major tensors with any strides.
void relabel(SchedSite::Impl& m, const Scheduler::Call& c, Scheduler::Call& out) {
  m.relabelled.resize(c.inputs.size() + c.outputs.size());
  m.inputs.resize(c.inputs.size());
  m.outputs.resize(c.outputs.size());
  TensorMeta* next = m.relabelled.data();
  auto copy_of = [&](const TensorMeta* t) {
    *next = *t;
    next->layout = Layout::kRowMajor;
    return next++;
  };
  for (size_t i = 0; i < c.inputs.size(); ++i) m.inputs[i] = c.inputs[i] ? copy_of(c.inputs[i]) : nullptr;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const bool plain = !c.outputs[i] || c.outputs[i]->layout == Layout::kRowMajor;  // also those that the kernel allocates
    m.outputs[i] = plain ? c.outputs[i] : copy_of(c.outputs[i]);
  }
  out.inputs = m.inputs;
  out.outputs = m.outputs;
}

Choice* remembered(SchedSite::Impl& m, const Scheduler::Call& c) {
  if (m.last && m.last->signature.matches(c)) [[likely]] return m.last;
  for (auto& choice : m.choices)
    if (choice->signature.matches(c)) return choice.get();
  return nullptr;
}

Choice* keep(SchedSite::Impl& m, std::unique_ptr<Choice> fresh) {
  if (m.choices.size() < kRemembered) return m.choices.emplace_back(std::move(fresh)).get();
  auto oldest = std::min_element(m.choices.begin(), m.choices.end(), [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
  *oldest = std::move(fresh);
  return oldest->get();
}

void note_missing(SchedSite::Impl& m, const Scheduler::Call& c) {
  constexpr size_t kMost = 16;  // between two looks
  auto& list = m.options.totals->missing;
  if (list.size() < kMost)
    list.push_back({kernel_not_found(m.op->name, key_dtype(c.inputs, c.outputs), m.db->device, m.db->hardware.isa) + "; the reference kernel serves", m.options.place});
}

}  // namespace

Status Scheduler::choose(SchedSite& site, const Call& c, KernelMemory& memory) {
  SchedSite::Impl& m = *site.impl_;
  if (m.generation != shared_->generation.load(std::memory_order_acquire)) [[unlikely]] shared_->refresh(m);
  Choice* choice = remembered(m, c);
  std::unique_ptr<Choice> fresh;
  if (!choice) [[unlikely]] {
    fresh = std::make_unique<Choice>();
    choice = fresh.get();
    choice->signature.set(c);
    if (m.options.infer) MSVM_RETURN_IF_ERROR(infer_outputs(m, c, *choice));
  }
  if (c.new_outputs && !m.op->data_dependent)
    for (size_t i = 0; i < c.outputs.size(); ++i)
      if (c.outputs[i] && has_bit(c.new_outputs, i)) MSVM_RETURN_IF_ERROR(memory.allocate_output(i, choice->output_dtypes[i], choice->output_shapes[i]));
  if (fresh) [[unlikely]] {
    std::unique_ptr<KernelSiteState> none;
    Call seen = c;
    choice->relabel = needs_relabel(c);
    if (choice->relabel) relabel(m, c, seen);
    const KernelCall call{*m.op, *m.attrs, seen.inputs, c.args, seen.outputs, c.const_inputs, workers_, memory, none, m.options.strict};
    const Candidate* best = judge_all(m, call, shared_->options.fallback, choice->candidates);
    if (!best) return {StatusCode::kUnsupported, kernel_not_found(m.op->name, key_dtype(c.inputs, c.outputs), m.db->device, m.db->hardware.isa)};
    choice->kernel = static_cast<size_t>(std::find_if(m.kernels.begin(), m.kernels.end(), [&](const KernelState& k) { return k.kernel == best->kernel; }) - m.kernels.begin());
    choice->through_copy = best->through_copy;
    for (const TensorMeta* t : c.inputs)
      if (auto& kept = choice->inputs.emplace_back(); t) (kept = *t)->data = nullptr;
    choice->name = std::string(best->kernel->name) + (best->fallback ? " (fallback)" : "");
    choice->cost = {call_operations(call), call_bytes(call)};
    if (best->fallback && m.options.totals) note_missing(m, c);
    choice = keep(m, std::move(fresh));
  }
  choice->last_used = ++m.clock;
  m.last = choice;
  return {};
}

std::vector<Candidate> Scheduler::candidates(SchedSite& site, const Call& c, KernelMemory& memory) {
  SchedSite::Impl& m = *site.impl_;
  if (m.generation != shared_->generation.load(std::memory_order_acquire)) shared_->refresh(m);
  Choice shapes;
  if (m.options.infer && !infer_outputs(m, c, shapes).ok()) return {};
  // Outputs that the call will allocate have their sizes here, and no memory.
  std::vector<TensorMeta> made(c.outputs.size());
  std::vector<TensorMeta*> outputs(c.outputs.begin(), c.outputs.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || !has_bit(c.new_outputs, i)) continue;
    made[i] = *outputs[i];
    made[i].data = nullptr;
    made[i].layout = Layout::kRowMajor;
    if (i < shapes.output_shapes.size() && !m.op->data_dependent) {
      made[i].dtype = shapes.output_dtypes[i];
      made[i].rank = static_cast<uint8_t>(shapes.output_shapes[i].size());
      std::copy(shapes.output_shapes[i].begin(), shapes.output_shapes[i].end(), made[i].shape.begin());
      if (!set_dense_strides(made[i])) return {};
    }
    outputs[i] = &made[i];
  }
  Call seen{c.inputs, c.args, outputs, c.new_outputs, c.const_inputs};
  const Call given = seen;
  if (needs_relabel(given)) relabel(m, given, seen);
  std::unique_ptr<KernelSiteState> none;
  const KernelCall call{*m.op, *m.attrs, seen.inputs, c.args, seen.outputs, c.const_inputs, workers_, memory, none, m.options.strict};
  std::vector<Candidate> out;
  if (const Candidate* best = judge_all(m, call, shared_->options.fallback, out)) out[static_cast<size_t>(best - out.data())].chosen = true;
  return out;
}

Status Scheduler::run(SchedSite& site, const Call& c, KernelMemory& memory) {
  SchedSite::Impl& m = *site.impl_;
  const Choice& choice = *m.last;
  KernelState& k = m.kernels[choice.kernel];
  Call seen = c;
  if (choice.relabel) [[unlikely]] relabel(m, c, seen);
  if (choice.through_copy) [[unlikely]] {
    m.dense.resize(c.inputs.size());
    if (!choice.relabel) m.inputs.assign(c.inputs.begin(), c.inputs.end());
    for (size_t i = 0; i < m.inputs.size(); ++i) {
      if (!m.inputs[i] || m.inputs[i]->dense()) continue;
      TensorMeta& d = m.dense[i] = *m.inputs[i];
      if (!set_dense_strides(d)) return overflow_error("sizes overflow");
      const int64_t bytes = d.elements() * dtype_bytes(d.dtype);
      MSVM_ASSIGN_OR_RETURN(d.data, memory.scratch(bytes));
      MSVM_RETURN_IF_ERROR(copy(*m.inputs[i], d, workers_));
      m.layout_bytes += bytes;
      if (m.options.totals) m.options.totals->layout_bytes += bytes;
      m.inputs[i] = &d;
    }
    seen.inputs = m.inputs;
  }
  if (uint64_t raw = m.options.may_be_given_back & ~(k.kernel->packed_inputs & c.const_inputs)) [[unlikely]] {
    m.options.may_be_given_back &= ~raw;
    for (; raw; raw &= raw - 1)
      if (const TensorMeta* t = c.inputs[static_cast<size_t>(std::countr_zero(raw))]) memory.keep_raw(*t);
  }
  if (CallTotals* t = m.options.totals) {
    t->cost.operations += choice.cost.operations;
    t->cost.bytes += choice.cost.bytes;
  }
  KernelCall call{*m.op, *m.attrs, seen.inputs, c.args, seen.outputs, c.const_inputs, workers_, memory, k.state, m.options.strict};
  return k.kernel->run(call);
}

const std::vector<Candidate>& Scheduler::explain(const SchedSite& site) const {
  static const std::vector<Candidate> kNone;
  return site.impl_->last ? site.impl_->last->candidates : kNone;
}
std::vector<SiteChoice> Scheduler::choices(const SchedSite& site) const {
  std::vector<const Choice*> order;
  for (const auto& c : site.impl_->choices) order.push_back(c.get());
  std::sort(order.begin(), order.end(), [](const Choice* a, const Choice* b) { return a->last_used < b->last_used; });
  std::vector<SiteChoice> out;
  for (const Choice* c : order) out.push_back({c->inputs, site.impl_->kernels[c->kernel].kernel, c->candidates});
  return out;
}
const KernelInfo* Scheduler::last_kernel(const SchedSite& site) const {
  return site.impl_->last ? site.impl_->kernels[site.impl_->last->kernel].kernel : nullptr;
}
const char* Scheduler::last_name(const SchedSite& site) const { return site.impl_->last ? site.impl_->last->name.c_str() : ""; }
CallCost Scheduler::last_cost(const SchedSite& site) const { return site.impl_->last ? site.impl_->last->cost : CallCost{}; }
int64_t Scheduler::layout_bytes(const SchedSite& site) const { return site.impl_->layout_bytes; }

}  // namespace msvm
