// A program and its pool of sessions.
#include <fmt/core.h>

#include <algorithm>

#include "msvm/base/ticks.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/kernels/copy.h"
#include "msvm/vm/offsets.h"

namespace msvm {
namespace {

void add(Counters& a, const Counters& b) {
  a.runs += b.runs;
  a.failed_runs += b.failed_runs;
  a.instructions += b.instructions;
  a.calls += b.calls;
  a.allocations += b.allocations;
  a.planned_allocations += b.planned_allocations;
  a.in_place += b.in_place;
  a.checks += b.checks;
  a.copied_bytes += b.copied_bytes;
  a.native_regions += b.native_regions;
  a.native_operations += b.native_operations;
  a.native_bytes += b.native_bytes;
}

void add_kernels(std::string& sum, const std::string& more) {
  for (size_t at = 0; at < more.size();) {
    const size_t end = std::min(more.find(", ", at), more.size());
    const std::string one = more.substr(at, end - at);
    if ((", " + sum + ", ").find(", " + one + ", ") == std::string::npos) sum += (sum.empty() ? "" : ", ") + one;
    at = end + 2;
  }
}

}  // namespace

PooledSession* Executable::Impl::take() {
  std::lock_guard lock(mutex);
  if (idle.empty()) {
    all.push_back(std::make_unique<PooledSession>(program, *devices, limits, weights.get(), native ? native->observe() : nullptr));
    all.back()->session.set_thorough(thorough);
    all.back()->session.set_planning(planning);
    if (hook) all.back()->session.set_debug_hook(hook);
    idle.reserve(all.size());
    idle.push_back(all.back().get());
  }
  PooledSession* s = idle.back();
  idle.pop_back();
  s->session.set_limits(limits);
  s->session.set_profiling(profiling);
  return s;
}

void Executable::Impl::give(PooledSession* s, int32_t function) {
  CallTotals& calls = s->dispatcher.totals();
  for (MissingKernel& m : calls.missing) notes.add(Note::Kind::kMissingKernel, std::move(m.text), std::move(m.place));
  calls.missing.clear();
  std::lock_guard lock(mutex);
  s->counters = s->session.counters();
  s->work = {calls.cost.operations + s->counters.native_operations, calls.cost.bytes + s->counters.native_bytes, calls.layout_bytes};
  if (profiling) s->profiles[static_cast<size_t>(function)] = s->session.profile(function);
  idle.push_back(s);
}

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::~Executable() = default;

const VerifiedModule& Executable::verified() const {
  impl_->weights->keep_all_raw();
  return impl_->program->verified();
}
const std::vector<Function>& Executable::functions() const { return impl_->program->module().functions; }
const DimContext& Executable::dims() const { return *impl_->program->module().dims; }
const std::string& Executable::name() const { return impl_->program->module().name; }
const std::map<std::string, std::string>& Executable::metadata() const { return impl_->program->module().metadata; }

Status Executable::run(std::span<const Value> inputs, std::vector<Value>& results, int32_t function, RunControl* control) {
  if (function < 0 || static_cast<size_t>(function) >= functions().size()) return invalid_argument(fmt::format("there is no function {}", function));
  const Function& f = this->function(function);
  std::vector<Value> dense;  // strided inputs become dense once, at the border
  for (size_t k = 0; k < inputs.size() && k < f.inputs.size(); ++k) {
    const auto* t = std::get_if<TensorValue>(&inputs[k]);
    const TensorType& want = f.inputs[k].type.tensor;
    if (!t || f.inputs[k].type.kind != RegKind::kTensor || want.strided || t->meta.device.kind != DeviceKind::kCpu) continue;
    if (t->meta.layout == want.layout && t->meta.dense()) continue;
    if (t->meta.rank > kMaxRank || t->meta.dtype != want.dtype || t->meta.rank != want.rank()) continue;  // the session says what is wrong
    if (dense.empty()) dense.assign(inputs.begin(), inputs.end());
    MSVM_ASSIGN_OR_RETURN(TensorValue copied, impl_->engine->allocate(t->meta.dtype, t->meta.dims()));
    copied.meta.layout = want.layout;
    if (!set_dense_strides(copied.meta)) return overflow_error(fmt::format("input {}: its sizes overflow", k));
    MSVM_RETURN_IF_ERROR(copy(t->meta, copied.meta, impl_->devices->workers));
    dense[k] = std::move(copied);
  }
  jit::NativeProgram* native = impl_->native.get();
  if (native) MSVM_RETURN_IF_ERROR(native->failure());
  const bool watched = native && !native->asked(function);
  const auto begin = watched ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  PooledSession* s = impl_->take();
  if (s->observer) s->observer->run_begins();
  const int64_t first = ticks();
  Status status = s->session.run(function, dense.empty() ? inputs : dense, results, control);
  const bool waited = s->session.watched();  // for a debugger, maybe
  if (status.ok()) [[likely]] {
    if (!waited) [[likely]] s->latency[s->observer ? static_cast<size_t>(s->observer->slowest_tier()) : 0].record(ticks() - first);
  } else {
    impl_->notes.add(Note::Kind::kFailedRun, status.message());
  }
  impl_->give(s, function);
  if (watched) native->function_ran(function, waited ? 0 : std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  return status;
}

Result<std::vector<Value>> Executable::run(std::span<const Value> inputs, int32_t function) {
  std::vector<Value> results;
  MSVM_RETURN_IF_ERROR(run(inputs, results, function));
  return results;
}

void Executable::cancel() {
  std::lock_guard lock(impl_->mutex);
  for (const auto& s : impl_->all) s->session.cancel();
}
void Executable::set_profiling(bool on) {
  std::lock_guard lock(impl_->mutex);
  impl_->profiling = on;
}
void Executable::set_debug_hook(std::shared_ptr<DebugHook> hook) {
  std::lock_guard lock(impl_->mutex);
  impl_->hook = std::move(hook);
  for (const auto& s : impl_->all) s->session.set_debug_hook(impl_->hook);
}
void Executable::set_patch_listener(std::function<void(const PatchNotice&)> listener) {
  if (impl_->native) impl_->native->set_patch_listener(std::move(listener));
}
void Executable::set_limits(Limits limits) {
  std::lock_guard lock(impl_->mutex);
  impl_->limits = limits;
}

std::vector<InstrProfile> Executable::profile(int32_t function) const {
  std::lock_guard lock(impl_->mutex);
  std::vector<InstrProfile> sum;
  if (function < 0 || static_cast<size_t>(function) >= functions().size()) return sum;
  for (const auto& s : impl_->all) {
    const auto& p = s->profiles[static_cast<size_t>(function)];
    sum.resize(std::max(sum.size(), p.size()));
    for (size_t i = 0; i < p.size(); ++i) {
      sum[i].runs += p[i].runs;
      sum[i].nanoseconds += p[i].nanoseconds;
      add_kernels(sum[i].kernel, p[i].kernel);
    }
  }
  return sum;
}

Counters Executable::counters() const {
  std::lock_guard lock(impl_->mutex);
  Counters sum;
  for (const auto& s : impl_->all) add(sum, s->counters);
  return sum;
}

LatencyByTier Executable::latency() const {
  std::vector<const PooledSession*> sessions;  // they stay as long as this does
  {
    std::lock_guard lock(impl_->mutex);
    for (const auto& s : impl_->all) sessions.push_back(s.get());
  }
  LatencyByTier sum;
  for (const PooledSession* s : sessions)
    for (size_t tier = 0; tier < sum.size(); ++tier) sum[tier].add(s->latency[tier]);
  return sum;
}

WorkDone Executable::work() const {
  std::lock_guard lock(impl_->mutex);
  WorkDone sum;
  for (const auto& s : impl_->all) {
    sum.operations += s->work.operations;
    sum.bytes += s->work.bytes;
    sum.layout_bytes += s->work.layout_bytes;
  }
  return sum;
}

std::vector<Note> Executable::notes() const { return impl_->notes.all(); }
std::string Executable::bytecode() const { return disassemble(impl_->program->module(), {.max_inline_bytes = 0}); }
std::vector<std::vector<uint32_t>> Executable::offsets() const { return code_offsets(impl_->program->module()); }
Engine& Executable::engine() const { return *impl_->engine; }

JitView Executable::jit_view() const { return impl_->native ? impl_->native->view() : JitView{}; }
std::string Executable::shape_policy() const { return impl_->native ? impl_->native->shape_policy() : std::string(); }
void Executable::warm_up() {
  if (impl_->native) impl_->native->warm_up();
}
Status Executable::make_code(const std::map<std::string, std::vector<int64_t>>& sizes, const std::map<std::string, Extent>& ranges, int32_t function) {
  if (!impl_->native) return unsupported("no code is made at jit_level 0");
  return impl_->native->make(function, sizes, ranges);
}
void Executable::remake_code() {
  if (impl_->native) impl_->native->retire_all();
}
Result<size_t> Executable::write_bundle(const std::string& path) const {
  if (!impl_->native) return unsupported("there is no code at jit_level 0");
  return impl_->native->write_bundle(path);
}

}  // namespace msvm
