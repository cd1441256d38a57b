// Which in-place hints can be obeyed, as far as the code tells: the call reads the named tensor once, may write over that operand, and
// nothing looks at it between the ALLOC and the call. Whether it is the only reference is seen at run time, or by the plan.
#include <algorithm>

#include "msvm/ops/schema.h"
#include "msvm/vm/decoder.h"

namespace msvm::vm {
namespace {

constexpr size_t kNear = 16;  // instructions between an ALLOC and its call

bool mentions(const Instr& i, Reg r) {
  for (const auto* list : {&i.defs, &i.uses, &i.outs})
    if (std::find(list->begin(), list->end(), r) != list->end()) return true;
  return false;
}

}  // namespace

void Decoder::find_overwrites() {
  int32_t at = 0;
  for (const Block& b : f_.blocks) {
    for (size_t k = 0; k < b.instrs.size(); ++k, ++at) {
      const Instr& alloc = b.instrs[k];
      if (alloc.op != Opcode::kTensorAlloc || alloc.uses.empty()) continue;
      const Reg to = alloc.defs[0], from = alloc.uses[0];
      for (size_t j = k + 1; j < b.instrs.size() && j <= k + kNear; ++j) {
        const Instr& i = b.instrs[j];
        if (std::find(i.outs.begin(), i.outs.end(), to) == i.outs.end()) {
          if (mentions(i, from)) break;
          continue;
        }
        if (may_overwrite(i, from, to)) {
          overwrites_.push_back({from, to, at + static_cast<int32_t>(j - k)});
          overwritten_[to] = from;
        }
        break;
      }
    }
  }
}

bool Decoder::may_overwrite(const Instr& call, Reg from, Reg to) const {
  const OpSchema* op = call.op == Opcode::kOpCall ? find_op(call.text) : nullptr;
  if (!op || std::count(call.uses.begin(), call.uses.end(), from) != 1 || call.outs.size() != 1) return false;
  if (std::any_of(call.uses.begin(), call.uses.end(), [&](Reg r) { return r != kNoReg && is_list(r); })) return false;
  const TensorType &a = type(from).tensor, &b = type(to).tensor;
  if (a.dtype != b.dtype || a.dtype == DType::kString || !(a.device == b.device) || a.layout != b.layout) return false;
  const auto at = std::find(call.uses.begin(), call.uses.end(), from) - call.uses.begin();
  return at < 32 && (op->in_place >> at & 1);
}

}  // namespace msvm::vm
