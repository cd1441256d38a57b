// Native code for people: the entry's own, and which kernels do the calls beside it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "msvm/engine/executable.h"

namespace msvm {
namespace {

bool tuned(const std::string& kernel) { return !kernel.starts_with("ref_") && kernel.find("_generic") == std::string::npos; }

/// What the call sites chose, and why the best kernel that can't serve doesn't.
void add_choices(jit::RegionCall& call, const CallExplanation& seen) {
  for (const CallExplanation::Choice& c : seen.choices)
    for (const KernelVerdict& k : c.kernels) {
      if (k.chosen && (", " + call.kernel + ", ").find(", " + k.kernel + ", ") == std::string::npos) call.kernel += (call.kernel.empty() ? "" : ", ") + k.kernel;
      if (!k.chosen && call.why.empty() && tuned(k.kernel))
        call.why = k.reason.empty() ? fmt::format("{} can serve, but is expected to be slower here: measure it, and patch its costs", k.kernel) : fmt::format("{} doesn't serve: {}", k.kernel, k.reason);
    }
}

}  // namespace

Result<jit::Disassembly> Executable::disassembly(int32_t function, int32_t region, std::string_view entry) const {
  if (!impl_->native) return unsupported("there is no code at jit_level 0");
  MSVM_ASSIGN_OR_RETURN(const jit::EntryCode code, impl_->native->entry_code(function, region, entry));
  std::unordered_set<int32_t> in_kernels;
  for (const RegionGroup& g : code.lowered->groups)
    if (code.image) in_kernels.insert(g.members.begin(), g.members.end());
  std::map<int32_t, CallExplanation> seen;
  for (CallExplanation& e : explain(code.view->index)) seen.try_emplace(e.instruction, std::move(e));
  std::vector<jit::RegionCall> calls;
  for (const jit::Segment& s : code.region->segments)
    for (int32_t i = s.begin; i < s.end; ++i) {
      const Instr& x = code.view->at(i);
      if (x.op != Opcode::kOpCall || in_kernels.count(i)) continue;
      jit::RegionCall& call = calls.emplace_back(jit::RegionCall{i, x.text, code.view->place(i), {}, {}});
      if (const auto at = seen.find(i); at != seen.end()) add_choices(call, at->second);
    }
  std::sort(calls.begin(), calls.end(), [](const jit::RegionCall& a, const jit::RegionCall& b) { return a.instruction < b.instruction; });
  return jit::disassemble(code, std::move(calls));
}

}  // namespace msvm
