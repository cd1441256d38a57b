// In-place hints: the destination of a call is marked `reuse: Rk` where the call is the last to look at Rk or a view of it, Rk is of the
// same type and nobody else's, and the operator may write over that operand. Interpreter and plan obey where it holds at run time too.
#include <algorithm>

#include "msvm/ops/schema.h"
#include "msvm/opt/last_use.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

void mark(ValueGraph& g, LastUse& last, Node& call) {
  const OpSchema* op = call.instr.op == Opcode::kOpCall ? find_op(call.instr.text) : nullptr;
  const Reg to = ValueGraph::output(call);
  if (!op || !op->in_place || !call.instr.defs.empty() || !g.is_tensor(to) || !g.plain(to)) return;
  Node* alloc = g.def(to);
  if (alloc->instr.op != Opcode::kTensorAlloc || alloc->block != call.block) return;
  for (const Node* reader : g.readers(to))
    if (reader->block == call.block && g.before(*reader, call)) return;  // of its sizes
  const auto& uses = call.instr.uses;
  for (size_t i = 0; i < uses.size() && i < 32; ++i) {
    const Reg from = uses[i];
    if (!(op->in_place >> i & 1) || !g.is_tensor(from) || !(g.type(from) == g.type(to)) || g.type(from).strided || g.type(from).filled) continue;
    if (g.type(from).dtype == DType::kString || std::count(uses.begin(), uses.end(), from) != 1 || !last.is(from, call)) continue;
    g.move_before(*alloc, call);
    alloc->instr.uses = {from};
    return;
  }
}

}  // namespace

void in_place_pass(ValueGraph& g, const PassContext&) {
  LastUse last(g);
  for_each_node(g, [&](Node& n) { mark(g, last, n); });
}

}  // namespace msvm::opt
