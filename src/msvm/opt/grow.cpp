// A tensor that goes round a loop and is joined with something more in each round, Concat(old, more) with the old one dying there, keeps
// its storage: RESIZE and a fill of the new part. Its capacity doubles, so that n rounds copy no more than twice the final bytes.
#include <algorithm>

#include "msvm/opt/last_use.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

/// Whether all that read `r` take strided tensors; `phi` carries it.
bool takes_strides(const ValueGraph& g, Reg r, const Node& phi) {
  const auto& readers = g.readers(r);
  return std::all_of(readers.begin(), readers.end(), [&](const Node* n) {
    const Opcode op = n->instr.op;
    return n == &phi || op == Opcode::kOpCall || op == Opcode::kTensorCopy || op == Opcode::kTensorRead || op == Opcode::kShapePropagate || op == Opcode::kReturn;
  });
}

void grow(ValueGraph& g, LastUse& last, Node& join) {
  const Reg to = ValueGraph::output(join), old = join.instr.uses.empty() ? kNoReg : join.instr.uses[0];
  if (join.instr.uses.size() < 2 || !g.is_tensor(to) || !g.is_tensor(old) || !g.plain(to)) return;
  const TensorType before = g.type(old), after = g.type(to);
  Node *phi = g.def(old), *alloc = g.def(to);
  if (!phi || phi->instr.op != Opcode::kTensorPhi || alloc->instr.op != Opcode::kTensorAlloc || alloc->block != join.block) return;
  if (before.dtype == DType::kString || before.layout != Layout::kRowMajor || after.layout != Layout::kRowMajor) return;
  // It comes round: the PHI gets the joined one where the loop closes.
  bool comes_round = false;
  for (size_t k = 0; k < phi->instr.uses.size(); ++k) comes_round |= phi->instr.uses[k] == to && g.cfg().is_back_edge(phi->instr.targets[k], phi->block);
  if (!comes_round || !last.is(old, join) || !takes_strides(g, old, *phi) || !takes_strides(g, to, *phi)) return;
  for (const Node* reader : g.readers(to))
    if (reader->block == join.block && g.before(*reader, join)) return;  // of its sizes
  int64_t axis = join.instr.attrs.get_int("axis", 0);
  if (axis < 0) axis += after.rank();
  if (axis < 0 || axis >= after.rank()) return;
  const auto a = static_cast<size_t>(axis);
  for (Reg part : join.instr.uses)
    if (!g.is_tensor(part)) return;

  const uint32_t debug = join.instr.debug;
  const Instr call = join.instr;
  g.remove(*alloc);
  g.insert_before(join, {.op = Opcode::kTensorResize, .defs = {to}, .uses = {old}, .dims = {after.shape[a]}, .imms = {axis}, .debug = debug});
  Dim from = before.shape[a];
  for (size_t k = 1; k < call.uses.size(); ++k) {
    const Dim end = k + 1 == call.uses.size() ? after.shape[a] : g.dims().add(from, g.type(call.uses[k]).shape[a]);
    TensorType window = g.type(call.uses[k]);
    window.strided = true;
    window.filled.reset();
    const Reg w = g.new_reg(std::move(window));
    g.insert_before(join, {.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kWindow), .defs = {w}, .uses = {to}, .dims = {from, end}, .imms = {axis}, .debug = debug});
    g.insert_before(join, {.op = Opcode::kTensorCopy, .uses = {call.uses[k]}, .outs = {w}, .debug = debug});
    from = end;
  }
  g.remove(join);
  for (Reg r : {old, to}) {
    TensorType t = g.type(r);
    t.strided = true;
    g.set_type(r, std::move(t));
  }
}

}  // namespace

void grow_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> joins;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Concat")) joins.push_back(&n);
  });
  LastUse last(g);
  for (Node* n : joins) grow(g, last, *n);
}

}  // namespace msvm::opt
