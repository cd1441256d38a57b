// OP_CALL, the sizes of results, RETURN.
#include <fmt/core.h>

#include <bit>

#include "msvm/vm/machine.h"

namespace msvm::vm {

class Machine::Sink final : public OutputSink {
 public:
  Sink(Machine& machine, const CallSite& site) : machine_(machine), site_(site) {}
  Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) override {
    if (index >= site_.outputs.size() || site_.outputs[index] == kNoSlot) return internal_error(fmt::format("the call has no output {}", index));
    if (shape.size() > kMaxRank) return unsupported(fmt::format("a result of rank {}: at most {}", shape.size(), kMaxRank));
    TensorSlot& t = machine_.slot(site_.outputs[index]);
    t.meta.dtype = dtype;
    t.meta.layout = Layout::kRowMajor;
    t.meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), t.meta.shape.begin());
    return machine_.allocate(t, MemoryUse::kResult);
  }

 private:
  Machine& machine_;
  const CallSite& site_;
};

Status Machine::call(const Code& c) {
  const auto index = static_cast<size_t>(c.a);
  const CallSite& site = f_.calls[index];
  auto& state = frame_.call_states[index];
  if (!state) [[unlikely]] {
    auto made = x_.dispatcher.prepare(x_.module, *f_.source, *site.instr);
    if (!made.ok()) return made.status();
    state = std::move(*made);
  }
  int64_t* args = frame_.args.data();
  for (size_t i = 0; i < site.args.size(); ++i) args[i] = v_[site.args[i]];
  for (uint64_t left = site.new_outputs; left; left &= left - 1) {
    const Slot s = site.outputs[static_cast<size_t>(std::countr_zero(left))];
    TensorSlot& t = slot(s);
    drop(t);
    t.meta = {};
    t.meta.dtype = type_of(s).dtype;
    t.meta.device = type_of(s).device;
  }
  Sink sink(*this, site);
  CallFrame frame{site.instr, frame_.call_inputs[index], {args, site.args.size()}, frame_.call_outputs[index], site.new_outputs, site.const_inputs, &sink};
  std::vector<const TensorMeta*> expanded;
  if (site.has_lists) {
    expanded = expand_lists(site);
    frame.inputs = expanded;
  }
  ++x_.counters.calls;
  MSVM_RETURN_IF_ERROR(x_.dispatcher.dispatch(*state, frame));
  for (uint64_t left = site.new_outputs; left; left &= left - 1)
    if (!slot(site.outputs[static_cast<size_t>(std::countr_zero(left))]).storage) [[unlikely]]
      return internal_error(fmt::format("{} gave no output {}", site.instr->text, std::countr_zero(left)));
  return {};
}

/// The rank, where only the run knows it; then each step binds a symbol or compares.
Status Machine::match(const Code& c) {
  const TensorMeta& m = slot(c.a).meta;
  const TensorType& type = type_of(c.a);
  if ((!type.unknown_rank && m.rank != type.rank()) || m.dtype != type.dtype || m.layout != type.layout) [[unlikely]]
    return shape_mismatch(fmt::format("found {}, expected {}", to_string(m), to_string(type, *x_.module.dims)));
  for (const MatchStep& s : f_.match_lists[static_cast<size_t>(c.b)]) {
    const int64_t size = m.shape[static_cast<size_t>(s.axis)];
    if (s.bind != kNoSlot) {
      MSVM_RETURN_IF_ERROR(bind_symbol(x_.module, s, size, v_));
    } else if (size != v_[s.equal]) [[unlikely]] {
      return shape_mismatch(fmt::format("axis {} of {} has size {}, expected {} (declared {})", s.axis, to_string(m), size, v_[s.equal], to_string(type, *x_.module.dims)));
    }
  }
  return {};
}

Status Machine::give_results(const Code& c, std::vector<Value>& results) {
  const Instr& ret = *f_.instrs[static_cast<size_t>(c.instr)];
  size_t next = 0, integer = 0;
  for (const Param& p : f_.source->outputs) {
    if (p.type.kind == RegKind::kI64) {
      results.emplace_back(v_[extra(c)[integer++]]);
      continue;
    }
    const Reg r = ret.uses[next++];
    switch (p.type.kind) {
      case RegKind::kTensor: {
        TensorSlot& t = slot(f_.tensor_slot[static_cast<size_t>(r)]);
        if (type_of(f_.tensor_slot[static_cast<size_t>(r)]).unknown_rank && !t.meta.dense()) {  // the verifier can't know
          TensorSlot dense;
          dense.meta = t.meta;
          MSVM_RETURN_IF_ERROR(allocate(dense, MemoryUse::kResult));
          Status copied = x_.dispatcher.copy(t.meta, dense.meta);
          drop(t);
          move(t, dense);
          MSVM_RETURN_IF_ERROR(copied);
        }
        results.emplace_back(take(t));
        break;
      }
      case RegKind::kF64: results.emplace_back(std::bit_cast<double>(v_[r])); break;
      case RegKind::kBool: results.emplace_back(v_[r] != 0); break;
      case RegKind::kI64:
      case RegKind::kList: return unsupported("a list can't be a result");
    }
  }
  return {};
}

Status bind_symbol(const Module& module, const MatchStep& s, int64_t size, int64_t* scalars) {
  const SymbolInfo& info = module.dims->symbol_info(s.symbol);
  int64_t value = size;
  if (s.scale != 1 || s.offset != 0) {
    int64_t rest;
    if (__builtin_sub_overflow(size, s.offset, &rest) || s.scale == 0 || (s.scale == -1 && rest == INT64_MIN) || rest % s.scale != 0)
      return shape_mismatch(fmt::format("axis {} has size {}, which is not {}*{} + {}", s.axis, size, s.scale, info.name, s.offset));
    value = rest / s.scale;
  }
  if (value < info.min || value > info.max) {
    std::string range = info.max == INT64_MAX ? fmt::format("at least {}", info.min) : fmt::format("in [{}, {}]", info.min, info.max);
    return shape_mismatch(fmt::format("axis {}: {} is {}, it must be {}", s.axis, info.name, value, range));
  }
  // A remainder of C++ may be negative; so is that of the difference, but 0 is 0.
  if (info.divisor > 1 && (static_cast<__int128>(value) - info.remainder) % info.divisor != 0)
    return shape_mismatch(fmt::format("axis {}: {} is {}, it must be a multiple of {}{}", s.axis, info.name, value, info.divisor,
                                      info.remainder ? fmt::format(" plus {}", info.remainder) : std::string()));
  scalars[s.bind] = value;
  return {};
}

}  // namespace msvm::vm
