#include "msvm/engine/dispatcher.h"

#include <fmt/core.h>

#include <algorithm>

#include "msvm/device/stoppable.h"
#include "msvm/kernels/copy.h"

namespace msvm {

class SessionDispatcher::Site final : public CallState {
 public:
  std::string op;
  Scheduler* scheduler = nullptr;      // of `site`
  std::unique_ptr<SchedSite> site;     // on the call's device; null: it has no kernel at all
  std::unique_ptr<SchedSite> host;     // where the host serves a device
  SimStream* stream = nullptr;         // null: the host
  bool by_host = false;                // the last call
  uint64_t pushed = 0;                 // SimStream::epoch() of the last one that was queued
  bool in_use() const { return stream && pushed == stream->epoch(); }
};

namespace {

Device device_of(const Function& f, const Instr& call) {
  for (const auto* list : {&call.uses, &call.outs})
    for (Reg r : *list)
      if (r != kNoReg && f.regs[static_cast<size_t>(r)].type.kind == RegKind::kTensor) return f.regs[static_cast<size_t>(r)].type.tensor.device;
  return {};
}

class CallMemory final : public KernelMemory {
 public:
  CallMemory(OutputSink* sink, Scratch& scratch, PackedWeights* weights = nullptr) : sink_(sink), scratch_(scratch), weights_(weights) {}
  Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) override { return sink_->allocate_output(index, dtype, shape); }
  Result<std::byte*> scratch(int64_t bytes) override { return scratch_.take(bytes); }
  Result<const std::byte*> packed_constant(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack) override {
    if (!weights_) return static_cast<const std::byte*>(nullptr);
    return weights_->get(source, format, bytes, pack);
  }
  void keep_raw(const TensorMeta& constant) override {
    if (weights_) weights_->keep_raw(constant.data);
  }

 private:
  OutputSink* sink_;
  Scratch& scratch_;
  PackedWeights* weights_;
};

Scheduler::Call to_call(const CallFrame& f) { return {f.inputs, f.args, f.outputs, f.new_outputs, f.const_inputs}; }

/// A call's metadata by value: what a job of a queue works on.
struct CallCopy {
  explicit CallCopy(const CallFrame& f) : args(f.args.begin(), f.args.end()), new_outputs(f.new_outputs), const_inputs(f.const_inputs) {
    metas.reserve(f.inputs.size() + f.outputs.size());
    auto keep = [&](const TensorMeta* m) { return m ? &metas.emplace_back(*m) : nullptr; };
    for (const TensorMeta* m : f.inputs) inputs.push_back(keep(m));
    for (const TensorMeta* m : f.outputs) outputs.push_back(keep(m));
  }
  Scheduler::Call call() const { return {inputs, args, outputs, new_outputs, const_inputs}; }

  std::vector<TensorMeta> metas;
  std::vector<const TensorMeta*> inputs;
  std::vector<TensorMeta*> outputs;
  std::vector<int64_t> args;
  uint64_t new_outputs, const_inputs;
};

}  // namespace

SessionDispatcher::SessionDispatcher(Devices& devices, PackedWeights* weights, const VerifiedModule* module) : devices_(devices), weights_(weights), module_(module), scratch_(devices.pool) {}
SessionDispatcher::~SessionDispatcher() = default;

Result<SimStream*> SessionDispatcher::stream(Device d) {
  SimDevice* sim = devices_.simulated(d);
  if (!sim) return devices_.absent(d);
  if (streams_.size() <= d.index) streams_.resize(d.index + size_t{1});
  auto& s = streams_[d.index];
  if (!s) s = std::make_unique<SimStream>(*sim);
  return s.get();
}

Result<std::unique_ptr<CallState>> SessionDispatcher::prepare(const Module&, const Function& function, const Instr& call) {
  const OpSchema* op = nullptr;
  if (module_)  // what was verified, though another operator may have that name meanwhile
    if (auto it = module_->operators().find(call.text); it != module_->operators().end()) op = it->second.op;
  if (!op) op = find_op(call.text);
  if (!op) return unsupported(fmt::format("unknown operator {}", call.text));
  SiteOptions options;
  options.infer = !call.defs.empty();
  for (Reg r : call.uses)
    if (r != kNoReg) {
      const RegType& t = function.regs[static_cast<size_t>(r)].type;
      options.infer |= t.kind == RegKind::kList || (t.kind == RegKind::kTensor && t.tensor.unknown_rank);
    }
  auto state = std::make_unique<Site>();
  state->op = call.text;
  const Device device = device_of(function, call);
  if (call.debug < function.debug.size() && !function.debug[call.debug].file.empty()) options.place = fmt::format("{}:{}", function.debug[call.debug].file, function.debug[call.debug].line);
  if (device == Device{}) {
    options.totals = &totals_;
    state->scheduler = &devices_.scheduler;
    if (weights_) options.may_be_given_back = weights_->may_be_given_back(function, call);
    MSVM_ASSIGN_OR_RETURN(state->site, state->scheduler->make_site(*op, call.attrs, options));
    return std::unique_ptr<CallState>(std::move(state));
  }
  MSVM_ASSIGN_OR_RETURN(state->stream, stream(device));
  state->scheduler = &state->stream->device().scheduler;
  // What the host gave or sees runs on the thread that runs the program, not on a device's queue.
  const bool of_host = as_registered(*op) || has_effect(*op);
  auto own = of_host ? Result<std::unique_ptr<SchedSite>>(unsupported(fmt::format("{} runs on the host only: move its operands there with TENSOR_COPY", op->name))) : state->scheduler->make_site(*op, call.attrs, options);
  if (own.ok()) state->site = std::move(*own);
  else if (!devices_.fallback) return own.status();
  if (devices_.fallback) {
    SiteOptions on_host = options;
    on_host.totals = &totals_;
    auto host = devices_.scheduler.make_site(*op, call.attrs, on_host);
    if (host.ok() && !own.ok() && !of_host) totals_.missing.push_back({own.status().message() + "; the host serves", options.place});
    if (host.ok()) state->host = std::move(*host);
    else if (!state->site) return own.status();
  }
  return std::unique_ptr<CallState>(std::move(state));
}

Status SessionDispatcher::dispatch(CallState& state, CallFrame& frame) {
  auto& s = static_cast<Site&>(state);
  if (s.stream) [[unlikely]] return on_device(s, frame);
  CallMemory memory(frame.sink, scratch_, weights_);
  Status status = s.scheduler->call(*s.site, to_call(frame), memory);
  scratch_.reset();
  return status;
}

void SessionDispatcher::split(int64_t count, double nanoseconds_per_item, FunctionRef<void(int64_t, int64_t)> body) {
  stoppable_for(devices_.workers, count, grain_for(count, nanoseconds_per_item), body);
}

// --- simulated devices -------------------------------------------------------------------------------------------------

// The choice is made here, the kernel runs later; where the call allocates outputs both happen on the queue while we wait.
Status SessionDispatcher::on_device(Site& s, CallFrame& frame) {
  s.by_host = false;
  Status chosen(StatusCode::kUnsupported, "");
  if (s.site) {
    SimStream& stream = *s.stream;
    if (s.in_use()) MSVM_RETURN_IF_ERROR(stream.wait());
    Scratch& scratch = stream.scratch();
    if (frame.new_outputs) {
      chosen = stream.run(s.op, [&] {
        CallMemory memory(frame.sink, scratch);
        return s.scheduler->call(*s.site, to_call(frame), memory);
      });
      if (chosen.ok()) return chosen;
    } else {
      CallMemory memory(nullptr, scratch);
      chosen = s.scheduler->choose(*s.site, to_call(frame), memory);
      if (chosen.ok()) {
        stream.push(s.op, [&s, &scratch, copy = std::make_shared<CallCopy>(frame)] {
          CallMemory job_memory(nullptr, scratch);
          return s.scheduler->run(*s.site, copy->call(), job_memory);
        });
        s.pushed = stream.epoch();
        return {};
      }
    }
  }
  if (chosen.code() != StatusCode::kUnsupported || !s.host) return chosen;
  return through_host(s, frame);
}

Result<TensorValue> SessionDispatcher::host_tensor(const TensorMeta& like) {
  TensorValue t{like, {}};
  t.meta.device = {};
  if (!set_dense_strides(t.meta)) return overflow_error("sizes overflow");
  MSVM_ASSIGN_OR_RETURN(t.storage, devices_.pool.allocate(t.meta.elements() * dtype_bytes(t.meta.dtype), MemoryOwner::kScratch));
  t.meta.data = t.storage->data;
  return t;
}

namespace {

/// Outputs that a kernel of the host allocates: on the device, and a twin on the host to write into.
class TwinMemory final : public KernelMemory {
 public:
  TwinMemory(CallFrame& frame, Scratch& scratch, std::function<Result<TensorValue>(const TensorMeta&)> make, std::vector<TensorValue>& twins)
      : frame_(frame), scratch_(scratch), make_(std::move(make)), twins_(twins) {}
  Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) override {
    MSVM_RETURN_IF_ERROR(frame_.sink->allocate_output(index, dtype, shape));
    MSVM_ASSIGN_OR_RETURN(twins_[index], make_(*frame_.outputs[index]));
    return {};
  }
  Result<std::byte*> scratch(int64_t bytes) override { return scratch_.take(bytes); }

 private:
  CallFrame& frame_;
  Scratch& scratch_;
  std::function<Result<TensorValue>(const TensorMeta&)> make_;
  std::vector<TensorValue>& twins_;
};

}  // namespace

Status SessionDispatcher::through_host(Site& s, CallFrame& frame) {
  s.by_host = true;
  std::vector<TensorValue> in(frame.inputs.size()), out(frame.outputs.size());
  std::vector<const TensorMeta*> inputs(in.size());
  std::vector<TensorMeta*> outputs(out.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!frame.inputs[i]) continue;
    MSVM_ASSIGN_OR_RETURN(in[i], host_tensor(*frame.inputs[i]));
    inputs[i] = &in[i].meta;
    MSVM_RETURN_IF_ERROR(copy(*frame.inputs[i], in[i].meta));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!frame.outputs[i]) continue;
    if (i < 64 && (frame.new_outputs >> i & 1)) {
      out[i].meta.dtype = frame.outputs[i]->dtype;
    } else {
      MSVM_ASSIGN_OR_RETURN(out[i], host_tensor(*frame.outputs[i]));
    }
    outputs[i] = &out[i].meta;
  }
  TwinMemory memory(frame, scratch_, [this](const TensorMeta& m) { return host_tensor(m); }, out);
  Status status = devices_.scheduler.call(*s.host, {inputs, frame.args, outputs, frame.new_outputs, frame.const_inputs}, memory);
  scratch_.reset();
  MSVM_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < out.size(); ++i)
    if (frame.outputs[i]) MSVM_RETURN_IF_ERROR(copy(out[i].meta, *frame.outputs[i]));
  return {};
}

// --- copies ------------------------------------------------------------------------------------------------------------

Status SessionDispatcher::copy(const TensorMeta& source, const TensorMeta& destination) {
  if (source.rank != destination.rank || source.dtype != destination.dtype || !std::equal(source.shape.begin(), source.shape.begin() + source.rank, destination.shape.begin()))
    return shape_mismatch(fmt::format("copy of {} into {}", to_string(source), to_string(destination)));
  totals_.cost.bytes += 2 * static_cast<double>(source.elements()) * static_cast<double>(dtype_bytes(source.dtype));
  const bool from_host = source.device == Device{}, to_host = destination.device == Device{};
  if (from_host && to_host) [[likely]] return msvm::copy(source, destination, devices_.workers);
  if (!from_host && (to_host || source.device == destination.device)) {
    MSVM_ASSIGN_OR_RETURN(SimStream * s, stream(source.device));
    auto job = [source, destination, s] { return msvm::copy(source, destination, s->device().workers); };
    if (to_host) return s->run("TENSOR_COPY", job);
    s->push("TENSOR_COPY", job);
    return {};
  }
  // To a device from elsewhere: by way of host memory that lives as long as the job does.
  MSVM_ASSIGN_OR_RETURN(SimStream * to, stream(destination.device));
  MSVM_ASSIGN_OR_RETURN(TensorValue staged, host_tensor(source));
  MSVM_RETURN_IF_ERROR(copy(source, staged.meta));
  to->push("TENSOR_COPY", [staged = std::move(staged), destination, to] { return msvm::copy(staged.meta, destination, to->device().workers); });
  return {};
}

Status SessionDispatcher::fetch(const TensorMeta& element, std::byte* to) {
  TensorMeta host = element;
  host.device = {};
  host.data = to;
  return copy(element, host);
}

Status SessionDispatcher::finish() {
  Status first;
  for (auto& s : streams_)
    if (s)
      if (Status done = s->wait(); first.ok()) first = std::move(done);
  return first;
}

// --- reports -----------------------------------------------------------------------------------------------------------

CallReport SessionDispatcher::last_report(const CallState& state) const {
  const auto& s = static_cast<const Site&>(state);
  if (s.in_use()) s.stream->device().queue->wait();
  Scheduler& scheduler = s.by_host ? devices_.scheduler : *s.scheduler;
  const SchedSite* site = s.by_host ? s.host.get() : s.site.get();
  if (!site) return {};
  const CallCost cost = scheduler.last_cost(*site);
  const std::string_view name = scheduler.last_name(*site);
  return {name.data(), cost.operations, cost.bytes, s.by_host || name.ends_with("(fallback)")};
}

std::vector<Candidate> SessionDispatcher::candidates(CallState& state, const CallFrame& frame) {
  auto& s = static_cast<Site&>(state);
  if (s.in_use()) s.stream->device().queue->wait();
  CallMemory none(nullptr, scratch_);
  std::vector<Candidate> own = s.site ? s.scheduler->candidates(*s.site, to_call(frame), none) : std::vector<Candidate>();
  const bool serves = std::any_of(own.begin(), own.end(), [](const Candidate& c) { return c.chosen; });
  if (serves || !s.host) return own;
  std::vector<Candidate> host = devices_.scheduler.candidates(*s.host, to_call(frame), none);
  own.insert(own.begin(), host.begin(), host.end());
  return own;
}

std::vector<SiteChoice> SessionDispatcher::choices(const CallState& state) const {
  const auto& s = static_cast<const Site&>(state);
  if (s.in_use()) s.stream->device().queue->wait();
  if (s.by_host) return devices_.scheduler.choices(*s.host);
  return s.site ? s.scheduler->choices(*s.site) : std::vector<SiteChoice>();
}

}  // namespace msvm
