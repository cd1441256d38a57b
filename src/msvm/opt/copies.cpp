// TENSOR_COPY of a dense tensor into a like one: readers take the source. place_ownership puts back those that results need.
#include "msvm/opt/passes.h"

namespace msvm::opt {

void copies_pass(ValueGraph& g, const PassContext&) {
  for_each_node(g, [&](Node& n) {
    if (n.instr.op != Opcode::kTensorCopy) return;
    const Reg from = n.instr.uses[0], to = n.instr.outs[0];
    const Node* destination = g.def(to);
    if (g.writer(to) != &n || !destination || destination->instr.op != Opcode::kTensorAlloc || !g.is_tensor(from)) return;
    TensorType a = g.type(from), b = g.type(to);
    if (a.strided || a.filled || !(a.layout == b.layout) || !(a.device == b.device) || a.dtype != b.dtype || a.shape != b.shape) return;
    for (const Node* reader : g.readers(to))
      if (reader->instr.op == Opcode::kTensorResize || (reader->instr.op == Opcode::kTensorView && view_kind(reader->instr) == ViewKind::kWindow)) return;
    g.replace_reads(to, from);
    g.remove(n);
  });
}

}  // namespace msvm::opt
