// Why each call took its kernels: what the idle sessions' call sites remember, put together.
#include <algorithm>
#include <map>

#include "msvm/engine/executable.h"

namespace msvm {
namespace {

std::vector<std::string> text_of(const std::vector<std::optional<TensorMeta>>& inputs) {
  std::vector<std::string> out;
  for (const auto& m : inputs) out.push_back(m ? to_string(*m) + (m->dense() ? "" : " strided") : "_");
  return out;
}

KernelVerdict verdict(const Candidate& k, bool chosen) {
  return {std::string(k.kernel->name) + (k.fallback ? " (fallback)" : ""), chosen, k.cost_ns, k.rejected ? k.rejected : "", k.through_copy};
}

CallExplanation::Choice explain_choice(const SiteChoice& c) {
  CallExplanation::Choice out{text_of(c.inputs), {}};
  for (const Candidate& k : c.candidates) out.kernels.push_back(verdict(k, k.kernel == c.kernel));
  return out;
}

}  // namespace

std::vector<CallExplanation> Executable::explain(int32_t function) const {
  std::vector<CallExplanation> out;
  if (function < 0 || static_cast<size_t>(function) >= functions().size()) return out;
  const Function& f = this->function(function);
  std::vector<const Instr*> instrs;
  for (const Block& b : f.blocks)
    for (const Instr& i : b.instrs) instrs.push_back(&i);
  std::map<int32_t, CallExplanation> calls;
  std::lock_guard lock(impl_->mutex);
  for (const PooledSession* s : impl_->idle)
    s->session.for_each_call(function, [&](int32_t at, const CallState& state) {
      const Instr& call = *instrs[static_cast<size_t>(at)];
      CallExplanation& e = calls.try_emplace(at, CallExplanation{at, call.text, f.debug[call.debug].origins, {}}).first->second;
      for (const SiteChoice& c : s->dispatcher.choices(state)) {
        CallExplanation::Choice found = explain_choice(c);
        if (std::none_of(e.choices.begin(), e.choices.end(), [&](const auto& known) { return known.inputs == found.inputs; })) e.choices.push_back(std::move(found));
      }
    });
  for (auto& [at, e] : calls)
    if (!e.choices.empty()) out.push_back(std::move(e));
  return out;
}

Result<std::vector<KernelVerdict>> Executable::candidates(const RunView& waiting) const {
  std::vector<KernelVerdict> out;
  MSVM_ASSIGN_OR_RETURN(auto call, waiting.call());
  if (!call) return out;
  const CallFrame frame{call->instr, call->inputs, call->args, call->outputs, call->new_outputs, call->const_inputs, nullptr};
  for (const Candidate& k : static_cast<SessionDispatcher&>(waiting.dispatcher()).candidates(*call->state, frame)) out.push_back(verdict(k, k.chosen));
  return out;
}

}  // namespace msvm
