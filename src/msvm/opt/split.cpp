// Convolution of single pixels over joined channels, some of which a Resize only repeats: W * [repeat(a); b] = repeat(Wa * a) + Wb * b.
#include <algorithm>

#include "msvm/opt/constants.h"
#include "msvm/opt/nearest.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

constexpr int64_t kFewestChannels = 16;  // of a part that is worth a convolution of its own

struct Part {
  Reg tensor = kNoReg;
  int64_t first = 0, channels = 0;
  Node* resize = nullptr;  // null: not enlarged
};

/// The parts of a Concat along channels; none if it isn't one, or nothing is gained.
std::vector<Part> parts_of(ValueGraph& g, const Node& concat) {
  const Reg out = ValueGraph::output(concat);
  if (!may_fuse(concat.instr) || out == kNoReg || !g.plain(out)) return {};
  const TensorType& t = g.type(out);
  const int64_t axis = concat.instr.attrs.get_int("axis", 0);
  if (t.dtype != DType::kF32 || t.rank() < 3 || (axis != 1 && axis != 1 - t.rank()) || !(t.device == Device{})) return {};
  std::vector<Part> parts;
  int64_t at = 0;
  bool gains = false;
  for (Reg r : concat.instr.uses) {
    if (!g.is_tensor(r) || !g.type(r).shape[1].is_const()) return {};
    Part p{r, at, g.type(r).shape[1].value()};
    at += p.channels;
    if (Node* n = g.call_of(r, "Resize"); n && n->block == concat.block && p.channels >= kFewestChannels)
      if (const auto times = repeats(g, *n); times && std::any_of(times->begin(), times->end(), [](int64_t v) { return v > 1; })) p.resize = n, gains = true;
    parts.push_back(p);
  }
  return gains ? parts : std::vector<Part>{};
}

bool splits(ValueGraph& g, const Node& conv, Reg joined, int64_t channels) {
  const Reg out = ValueGraph::output(conv);
  if (!is_call(&conv, "Conv") || !may_fuse(conv.instr) || out == kNoReg || !g.plain(out) || conv.instr.uses[0] != joined || !is_pointwise_conv(g, conv)) return false;
  const Constant* w = g.constant(conv.instr.uses[1]);
  return floats(w) && sizes(w->type)[1] == channels && (conv.instr.uses.size() < 3 || conv.instr.uses[2] != joined);
}

/// Columns [first, first + count) of the weights, for each of several ranges.
Reg weights_of(ValueGraph& g, const Constant& w, const std::vector<const Part*>& parts) {
  auto shape = sizes(w.type);
  const int64_t filters = shape[0], all = shape[1];
  shape[1] = 0;
  for (const Part* p : parts) shape[1] += p->channels;
  Constant c = new_constant(g, w.name, DType::kF32, shape);
  float* to = mutable_floats(c);
  for (int64_t f = 0; f < filters; ++f)
    for (const Part* p : parts) to = std::copy_n(floats(&w) + f * all + p->first, p->channels, to);
  return g.add_constant(std::move(c));
}

/// The convolution of some parts, which lie in `x`.
Reg convolve(ValueGraph& g, Node& conv, Reg x, const std::vector<const Part*>& parts, TensorType type, Reg bias) {
  const Constant w = *g.constant(conv.instr.uses[1]);
  Instr call = conv.instr;
  call.uses = {x, weights_of(g, w, parts)};
  if (bias != kNoReg) call.uses.push_back(bias);
  return g.emit_call(conv, std::move(call), std::move(type));
}

/// The same of an enlarged part, before it is enlarged.
Reg convolve_small(ValueGraph& g, Node& conv, const Part& p, Reg bias) {
  const TensorType whole = g.type(ValueGraph::output(conv));
  const Reg x = p.resize->instr.uses[0];
  TensorType small = whole;
  std::copy(g.type(x).shape.begin() + 2, g.type(x).shape.end(), small.shape.begin() + 2);
  Instr after = p.resize->instr;
  after.uses = {convolve(g, conv, x, {&p}, std::move(small), bias)};
  if (after.attrs.get_ints("axes").empty()) after.dims = whole.shape;
  after.debug = g.merge_debug({p.resize, &conv});
  return g.emit_call(conv, std::move(after), whole);
}

/// `rest`: the parts that aren't enlarged, joined in `rest_tensor`.
void split(ValueGraph& g, Node& conv, const std::vector<Part>& parts, const std::vector<const Part*>& rest, Reg rest_tensor) {
  const TensorType whole = g.type(ValueGraph::output(conv));
  const Reg bias = conv.instr.uses.size() > 2 ? conv.instr.uses[2] : kNoReg;
  std::vector<Reg> terms;
  if (!rest.empty()) terms.push_back(convolve(g, conv, rest_tensor, rest, whole, bias));
  for (const Part& p : parts)
    if (p.resize) terms.push_back(convolve_small(g, conv, p, terms.empty() ? bias : kNoReg));
  Reg sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Instr add{.op = Opcode::kOpCall, .uses = {sum, terms[i]}, .text = "Add", .debug = conv.instr.debug};
    if (i + 1 == terms.size()) g.replace_call(conv, std::move(add), whole);
    else sum = g.emit_call(conv, std::move(add), whole);
  }
}

void match(ValueGraph& g, Node& concat) {
  const std::vector<Part> parts = parts_of(g, concat);
  if (parts.size() < 2) return;
  const Reg joined = ValueGraph::output(concat);
  const std::vector<Node*> readers = g.readers(joined);
  const int64_t channels = parts.back().first + parts.back().channels;
  for (const Node* n : readers)
    if (!splits(g, *n, joined, channels)) return;
  std::vector<const Part*> rest;
  for (const Part& p : parts)
    if (!p.resize) rest.push_back(&p);
  Reg rest_tensor = rest.empty() ? kNoReg : rest[0]->tensor;
  if (rest.size() > 1) {
    Instr call = concat.instr;
    call.uses.clear();
    int64_t count = 0;
    for (const Part* p : rest) call.uses.push_back(p->tensor), count += p->channels;
    TensorType type = g.type(joined);
    type.shape[1] = g.dims().constant(count);
    rest_tensor = g.emit_call(concat, std::move(call), std::move(type));
  }
  for (Node* n : readers) split(g, *n, parts, rest, rest_tensor);
}

}  // namespace

void split_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> concats;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Concat")) concats.push_back(&n);
  });
  for (Node* n : concats) match(g, *n);
}

}  // namespace msvm::opt
