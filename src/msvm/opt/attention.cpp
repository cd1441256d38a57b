// Two products with softmax between them: softmax(Q * K^T * factor + mask) * V becomes one call, which keeps the scores in cache. Q, K and
// V are read where they lie; where heads were split off a last axis and are joined again, the call works on that axis.
#include <array>
#include <cmath>

#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

using Axes = std::array<size_t, 4>;
constexpr Axes kHeadsSecond = {0, 2, 1, 3};  // [batch, length, heads, size] -> [batch, heads, length, size]

const Instr* view_of(const ValueGraph& g, Reg r, ViewKind kind) {
  const Node* d = g.def(r);
  return d && d->instr.op == Opcode::kTensorView && view_kind(d->instr) == kind ? &d->instr : nullptr;
}

/// What a dense copy was made of: kernels read it as well.
Reg before_copy(const ValueGraph& g, Reg r) {
  const Node* w = g.writer(r);
  return w && w->instr.op == Opcode::kTensorCopy && g.is_tensor(w->instr.uses[0]) && g.type(w->instr.uses[0]).shape == g.type(r).shape &&
                 g.type(w->instr.uses[0]).device == g.type(r).device && g.type(w->instr.uses[0]).dtype == g.type(r).dtype && g.type(w->instr.uses[0]).layout == Layout::kRowMajor
             ? w->instr.uses[0]
             : r;
}

/// Where the axes of `r` go in what it is a transpose of; `r` becomes that.
void skip_transposes(const ValueGraph& g, Reg& r, Axes& axes) {
  while (const Instr* t = view_of(g, r, ViewKind::kTranspose)) {
    if (t->imms.size() != 4) return;
    for (size_t& a : axes) a = static_cast<size_t>(t->imms[a]);
    r = t->uses[0];
  }
}

/// Heads that lie side by side in the last axis of a tensor [batch, length, parts * heads * size].
struct Joined {
  Reg tensor = kNoReg;
  int64_t first = 0, width = 0;  // of that axis
  bool part = false;
};

/// `axes`: which axes of `r` are [batch, heads, length, size].
std::optional<Joined> joined_heads(const ValueGraph& g, Reg r, Axes axes) {
  skip_transposes(g, r, axes);
  int64_t parts = 1, part = 0;
  std::array<size_t, 4> of{};  // axes of the reshaped tensor
  if (const Instr* squeeze = view_of(g, r, ViewKind::kSqueeze)) {
    // [batch, length, parts, heads, size], transposed to have the parts first, one of which is taken.
    const Instr* slice = squeeze->imms == std::vector<int64_t>{0} ? view_of(g, squeeze->uses[0], ViewKind::kSlice) : nullptr;
    if (!slice || slice->imms != std::vector<int64_t>{0, 1} || !slice->dims[0].is_const()) return std::nullopt;
    const Instr* turn = view_of(g, slice->uses[0], ViewKind::kTranspose);
    if (!turn || turn->imms.size() != 5 || turn->imms[0] != 2) return std::nullopt;
    for (size_t k = 0; k < 4; ++k) of[k] = static_cast<size_t>(turn->imms[axes[k] + 1]);
    if (of != std::array<size_t, 4>{0, 3, 1, 4}) return std::nullopt;
    r = turn->uses[0];
    const Dim count = g.type(r).shape[2];
    if (!count.is_const()) return std::nullopt;
    parts = count.value(), part = slice->dims[0].value();
  } else if (of = axes; of != kHeadsSecond) {
    return std::nullopt;
  }
  const Instr* reshape = view_of(g, r, ViewKind::kReshape);
  if (!reshape || !g.is_tensor(reshape->uses[0])) return std::nullopt;
  const auto& split = g.type(r).shape;
  const auto& from = g.type(reshape->uses[0]).shape;
  const Dim heads = split[of[1]], size = split[of[3]];
  int64_t width;
  if (from.size() != 3 || !(from[0] == split[0]) || !(from[1] == split[1]) || !heads.is_const() || !size.is_const() || __builtin_mul_overflow(heads.value(), size.value(), &width)) return std::nullopt;
  if (!from[2].is_const() || from[2].value() / parts != width || from[2].value() % parts != 0) return std::nullopt;
  return Joined{before_copy(g, reshape->uses[0]), part * width, width, parts > 1};
}

Reg emit_joined(ValueGraph& g, Node& at, const Joined& j) {
  if (!j.part) return j.tensor;
  TensorType t = g.type(j.tensor);
  t.shape[2] = g.dims().constant(j.width);
  t.strided = true;
  return g.emit_view(at, ViewKind::kSlice, j.tensor, {g.dims().constant(j.first), g.dims().constant(j.first + j.width)}, {2, 1}, t);
}

/// The tensor [batch, length, heads * size] that is made of the heads `y` and of nothing else of it.
Reg joined_result(const ValueGraph& g, Reg y) {
  auto only_reader = [&](Reg r) { return g.single_use(r) ? g.readers(r)[0] : nullptr; };
  const Node* turn = only_reader(y);
  if (!turn || turn->instr.op != Opcode::kTensorView || view_kind(turn->instr) != ViewKind::kTranspose || turn->instr.imms != std::vector<int64_t>{0, 2, 1, 3}) return kNoReg;
  const Node* next = only_reader(turn->instr.defs[0]);
  Reg r = turn->instr.defs[0];
  if (next && next->instr.op == Opcode::kTensorCopy && g.writer(next->instr.outs[0]) == next) {
    r = next->instr.outs[0];
    next = only_reader(r);
  }
  if (!next || next->instr.op != Opcode::kTensorView || view_kind(next->instr) != ViewKind::kReshape) return kNoReg;
  const auto& heads = g.type(y).shape;
  const Reg result = next->instr.defs[0];
  const auto& shape = g.type(result).shape;
  const bool fits = shape.size() == 3 && shape[0] == heads[0] && shape[1] == heads[2] && heads[1].is_const() && heads[3].is_const() && shape[2].is_const(heads[1].value() * heads[3].value());
  return fits && g.type(result).layout == Layout::kRowMajor ? result : kNoReg;
}

/// Whether elements along the last axis lie side by side, whatever the sizes.
bool last_axis_dense(const ValueGraph& g, Reg r) {
  if (!g.type(r).strided) return true;
  const Node* d = g.def(r);
  if (!d || d->instr.op != Opcode::kTensorView) return false;
  const Instr& v = d->instr;
  const int64_t last = g.type(r).rank() - 1;
  switch (view_kind(v)) {
    case ViewKind::kTranspose: return v.imms.back() == last && last_axis_dense(g, v.uses[0]);
    case ViewKind::kSlice:
      for (size_t k = 0; k < v.imms.size(); k += 2)
        if (v.imms[k] == last && v.imms[k + 1] != 1) return false;
      return last_axis_dense(g, v.uses[0]);
    case ViewKind::kSqueeze: return v.imms.back() != g.type(v.uses[0]).rank() - 1 && last_axis_dense(g, v.uses[0]);
    case ViewKind::kReshape:
    case ViewKind::kBroadcast:
    case ViewKind::kUnsqueeze:
    case ViewKind::kWindow:
    case ViewKind::kIdentity: return false;
  }
  return false;
}

bool fusible(const Node* n) { return n && may_fuse(n->instr) && n->instr.outs.size() == 1; }

/// Steps over factors, quotients and sums with 0 by constants: `factor` takes them in. `alone`: only over what nobody else reads.
void take_factors(ValueGraph& g, Reg& r, double& factor, std::vector<const Node*>& origins, bool alone) {
  while (true) {
    Node* n = g.call_of(r);
    if (alone && !g.single_use(r)) return;
    if (!fusible(n) || n->instr.uses.size() != 2 || (n->instr.text != "Mul" && n->instr.text != "Div" && n->instr.text != "Add")) return;
    const bool swapped = n->instr.text != "Div" && g.constant(n->instr.uses[0]);
    const Reg value = n->instr.uses[swapped ? 1 : 0];
    const Constant* c = g.constant(n->instr.uses[swapped ? 0 : 1]);
    const auto by = floats(c) ? scalar(c) : std::nullopt;
    if (!by || !g.is_tensor(value) || g.type(value).shape != g.type(r).shape) return;
    if (n->instr.text == "Add" ? *by != 0 : *by == 0) return;
    const double next = n->instr.text == "Mul" ? factor * *by : n->instr.text == "Div" ? factor / *by : factor;
    if (!std::isfinite(static_cast<float>(next)) || static_cast<float>(next) == 0) return;
    factor = next;
    origins.push_back(n);
    r = value;
  }
}

bool fits_scores(const TensorType& mask, const std::vector<Dim>& scores) {
  if (mask.dtype != DType::kF32 || mask.shape.empty() || mask.shape.size() > 4 || mask.layout != Layout::kRowMajor) return false;
  for (size_t k = 0; k < mask.shape.size(); ++k)
    if (!mask.shape[k].is_const(1) && !(mask.shape[k] == scores[k + 4 - mask.shape.size()])) return false;
  return true;
}

using Copies = std::vector<std::pair<Reg, Reg>>;

/// The mask with its rows side by side: each head reads it. Calls that read the same one share the copy.
Reg dense_mask(ValueGraph& g, Node& at, Reg mask, Copies& copies) {
  if (last_axis_dense(g, mask)) return mask;
  for (const auto& [from, to] : copies)
    if (from == mask && g.available(to, at)) return to;
  TensorType t = g.type(mask);
  t.strided = false;
  const Reg to = g.new_reg(t);
  g.insert_before(at, {.op = Opcode::kTensorAlloc, .defs = {to}, .dims = t.shape, .debug = at.instr.debug});
  g.insert_before(at, {.op = Opcode::kTensorCopy, .uses = {mask}, .outs = {to}, .debug = at.instr.debug});
  copies.emplace_back(mask, to);
  return to;
}

void match(ValueGraph& g, Node& second, Copies& copies) {
  const Reg y = ValueGraph::output(second);
  if (!fusible(&second) || y == kNoReg || !g.plain(y) || g.type(y).rank() != 4 || g.type(y).dtype != DType::kF32 || !(g.type(y).device == Device{}) || g.type(y).layout != Layout::kRowMajor) return;
  const Reg v = second.instr.uses[1];
  Node* softmax = g.call_of(second.instr.uses[0], "Softmax");
  if (!fusible(softmax) || !g.single_use(second.instr.uses[0]) || !g.is_tensor(v)) return;
  if (const int64_t axis = softmax->instr.attrs.get_int("axis", -1); axis != -1 && axis != 3) return;
  std::vector<const Node*> origins{softmax, &second};
  Reg scores = softmax->instr.uses[0], mask = kNoReg;
  double factor = 1;
  if (!g.is_tensor(scores) || !g.single_use(scores)) return;
  if (Node* sum = g.call_of(scores, "Add"); fusible(sum)) {
    for (size_t k = 0; k < 2 && mask == kNoReg; ++k) {
      const Reg product = sum->instr.uses[k], added = sum->instr.uses[1 - k];
      if (!g.is_tensor(product) || !g.is_tensor(added) || g.type(product).shape != g.type(scores).shape || !fits_scores(g.type(added), g.type(scores).shape)) continue;
      Reg below = product;
      std::vector<const Node*> steps{sum};
      double by = 1;
      take_factors(g, below, by, steps, true);
      if (!g.call_of(below, "MatMul")) continue;
      scores = below, mask = added, factor = by;
      origins.insert(origins.end(), steps.begin(), steps.end());
    }
  }
  if (mask == kNoReg) take_factors(g, scores, factor, origins, true);
  Node* first = g.call_of(scores, "MatMul");
  if (!fusible(first) || !g.single_use(scores) || g.type(scores).rank() != 4) return;
  Reg q = first->instr.uses[0], k = first->instr.uses[1];
  for (Reg r : {q, k, v})
    if (!g.is_tensor(r) || g.type(r).rank() != 4 || g.type(r).dtype != DType::kF32 || g.type(r).layout != Layout::kRowMajor || g.constant(r)) return;
  take_factors(g, q, factor, origins, false);
  take_factors(g, k, factor, origins, false);
  const auto qs = g.type(q).shape, ks = g.type(k).shape, vs = g.type(v).shape;
  for (size_t a = 0; a < 2; ++a)
    if (!(qs[a] == ks[a]) || !(qs[a] == vs[a])) return;
  if (!(qs[3] == ks[2]) || !(ks[3] == vs[2])) return;
  origins.push_back(first);

  Instr call{.op = Opcode::kOpCall, .text = "Attention", .debug = g.merge_debug(origins)};
  call.attrs.set("scale", static_cast<double>(static_cast<float>(factor)));
  const auto q_joined = joined_heads(g, q, {0, 1, 2, 3}), k_joined = joined_heads(g, k, {0, 1, 3, 2}), v_joined = joined_heads(g, v, {0, 1, 2, 3});
  const Reg result = joined_result(g, y);
  if (q_joined && k_joined && v_joined && result != kNoReg && last_axis_dense(g, v_joined->tensor)) {
    call.attrs.set("q_num_heads", qs[1].value());
    call.attrs.set("kv_num_heads", qs[1].value());
    call.uses = {emit_joined(g, second, *q_joined), emit_joined(g, second, *k_joined), emit_joined(g, second, *v_joined)};
    if (mask != kNoReg) call.uses.push_back(dense_mask(g, second, mask, copies));
    const Reg fresh = g.emit_call(second, std::move(call), g.type(result), g.function().regs[static_cast<size_t>(result)].name);
    g.replace_reads(result, fresh);
    return;
  }
  if (!last_axis_dense(g, v)) return;
  TensorType turned = g.type(k);
  std::swap(turned.shape[2], turned.shape[3]);
  turned.strided = true;
  call.uses = {q, g.emit_view(second, ViewKind::kTranspose, k, {}, {0, 1, 3, 2}, turned), v};
  if (mask != kNoReg) call.uses.push_back(dense_mask(g, second, mask, copies));
  g.replace_call(second, std::move(call), g.type(y));
}

}  // namespace

void attention_pass(ValueGraph& g, const PassContext&) {
  Copies copies;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "MatMul")) match(g, n, copies);
  });
}

}  // namespace msvm::opt
