// Convolutions and products with the elementwise operators behind them become msvm.Conv and msvm.MatMul.
#include <algorithm>
#include <set>

#include "msvm/opt/body_builder.h"
#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

bool f32_tensor(ValueGraph& g, Reg r) { return r != kNoReg && g.is_tensor(r) && g.type(r).dtype == DType::kF32 && g.type(r).device == Device{}; }

/// The product or convolution as a fused operator without a body; nothing if it can't be one.
bool fused_head(ValueGraph& g, const Node& n, Instr& call) {
  const Instr& i = n.instr;
  if (i.op != Opcode::kOpCall || !may_fuse(i) || !f32_tensor(g, ValueGraph::output(n)) || !g.plain(ValueGraph::output(n))) return false;
  if (i.uses.size() < 2 || !f32_tensor(g, i.uses[0]) || !f32_tensor(g, i.uses[1])) return false;
  call = {.op = Opcode::kOpCall, .uses = i.uses};
  call.uses.resize(3, kNoReg);
  if (i.text == "Conv") {
    call.text = "msvm.Conv";
    call.attrs = i.attrs;
    return true;
  }
  call.text = "msvm.MatMul";
  if (i.text == "MatMul") return g.type(i.uses[0]).rank() >= 2 && g.type(i.uses[1]).rank() >= 2;
  if (i.text != "Gemm" || i.attrs.get_int("transA", 0) != 0 || i.attrs.get_float("alpha", 1) != 1 || i.attrs.get_float("beta", 1) != 1) return false;
  if (i.attrs.get_int("transB", 0) != 0) call.attrs.set("transB", int64_t{1});
  if (call.uses[2] == kNoReg) return true;
  const TensorType& c = g.type(call.uses[2]);
  const Dim n_columns = g.type(ValueGraph::output(n)).shape[1];
  if (c.rank() == 1) return c.shape[0] == n_columns;
  const Constant* k = g.constant(call.uses[2]);
  if (!floats(k) || c.rank() != 2 || !c.shape[0].is_const(1) || !(c.shape[1] == n_columns)) return false;
  call.uses[2] = g.add_constant(reshaped_constant(g, *k, {n_columns.value()}));
  return true;
}

/// y + vector over the last axis as the first step of a product without bias: its bias.
void take_bias(ValueGraph& g, Instr& call, BodyBuilder& b, Reg head_output) {
  if (call.text != "msvm.MatMul" || call.uses[2] != kNoReg || b.body().steps.empty()) return;
  const BodyStep first = b.body().steps[0];
  if (first.op != BodyOp::kAdd) return;
  for (size_t k = 0; k < 2; ++k) {
    const BodyOperand &y = first.operands[k], &o = first.operands[1 - k];
    if (y.kind != BodyOperand::kResult || o.kind != BodyOperand::kInput) continue;
    const Reg r = b.inputs()[o.index - 3u];
    const TensorType& t = g.type(r);
    const Dim columns = g.type(head_output).shape.back();
    Reg bias = kNoReg;
    if (t.rank() == 1 && t.shape[0] == columns && !t.strided) bias = r;
    else if (const Constant* c = g.constant(r); floats(c) && t.rank() > 0 && columns.is_const() && t.shape.back() == columns && element_count(sizes(c->type)) == columns.value())
      bias = g.add_constant(reshaped_constant(g, *c, {columns.value()}));
    if (bias == kNoReg) return;
    // The product itself is read elsewhere in the body: it would get the bias too.
    for (size_t i = 1; i < b.body().steps.size(); ++i)
      for (const BodyOperand& q : b.body().steps[i].operands)
        if (q.kind == BodyOperand::kResult) return;
    call.uses[2] = bias;
    // Step 0 becomes y itself.
    auto& steps = b.body().steps;
    steps.erase(steps.begin());
    for (BodyStep& s : steps)
      for (BodyOperand& q : s.operands)
        if (q.kind == BodyOperand::kStep) q = q.index == 0 ? BodyOperand{BodyOperand::kResult, 0, 0} : BodyOperand{BodyOperand::kStep, static_cast<uint16_t>(q.index - 1), 0};
    return;
  }
}

class EpilogueFusion {
 public:
  EpilogueFusion(ValueGraph& g, Node& head) : g_(g), head_(head), result_(ValueGraph::output(head)) {}

  /// The last node of the group, and all of them; only the head if nothing could be taken.
  std::vector<Node*> grow() {
    std::vector<Node*> group{&head_};
    size_t closed = 1;
    auto later = [](const Node* a, const Node* b) { return a->order < b->order; };
    std::set<Node*, decltype(later)> next(later);
    auto readers_of = [&](Reg r) {
      for (Node* n : g_.readers(r))
        if (n->block == head_.block) next.insert(n);
    };
    BodyBuilder trial(g_, result_, 3);
    readers_of(result_);
    while (!next.empty() && group.size() <= kMaxBodySteps) {
      Node* n = *next.begin();
      next.erase(next.begin());
      auto e = as_elementwise(g_, *n);
      const Reg out = ValueGraph::output(*n);
      if (!e || g_.type(out).shape != g_.type(result_).shape || !trial.add(*n, *e)) {
        // Whatever it reads stays open; the group can't close behind this point unless it reads the last value only.
        break;
      }
      group.push_back(n);
      if (closes(group)) closed = group.size();
      readers_of(out);
    }
    group.resize(closed);
    return group;
  }

 private:
  /// Only the last value is read by others.
  bool closes(const std::vector<Node*>& group) const {
    for (size_t i = 0; i + 1 < group.size(); ++i)
      for (Node* reader : g_.readers(ValueGraph::output(*group[i])))
        if (std::find(group.begin(), group.end(), reader) == group.end()) return false;
    return true;
  }

  ValueGraph& g_;
  Node& head_;
  const Reg result_;
};

}  // namespace

void epilogue_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> heads;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Conv") || is_call(&n, "MatMul") || is_call(&n, "Gemm")) heads.push_back(&n);
  });
  for (Node* head : heads) {
    Instr call;
    if (!fused_head(g, *head, call)) continue;
    std::vector<Node*> group = EpilogueFusion(g, *head).grow();
    const Reg result = ValueGraph::output(*head);
    BodyBuilder b(g, result, 3);
    bool ok = true;
    for (size_t i = 1; i < group.size(); ++i) ok = ok && b.add(*group[i], *as_elementwise(g, *group[i]));
    if (!ok) continue;
    take_bias(g, call, b, result);
    simplify_body(b.body(), b.inputs(), 3);
    Node* last = group.back();
    std::vector<const Node*> origins(group.begin(), group.end());
    call.debug = g.merge_debug(origins);
    call.uses.insert(call.uses.end(), b.inputs().begin(), b.inputs().end());
    if (!b.body().steps.empty()) call.attrs.set("body", print_body(b.body()));
    const TensorType type = g.type(ValueGraph::output(*last));
    g.replace_call(*last, std::move(call), type);
    // What was fused has no reader any more; nodes of later heads are never among it.
    for (size_t i = group.size() - 1; i-- > 0;) g.remove_call(*group[i]);
  }
}

}  // namespace msvm::opt
