// Calls and views move down to the first who reads them, where that lets less memory live: a call whose inputs live on anyway, or take
// less than its result.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "msvm/ops/schema.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

constexpr int kMostAlong = 8;  // calls that are looked at together

bool is_view(const Node& n) { return n.instr.op == Opcode::kTensorView; }

/// The tensor whose storage `r` lies in.
Reg root(const ValueGraph& g, Reg r) {
  while (const Node* d = g.def(r)) {
    if (!is_view(*d)) break;
    r = d->instr.uses[0];
  }
  return r;
}

/// Where in `block` storage is read last by others than `except`; INT64_MAX: behind it, or its storage isn't just read.
int64_t last_read(const ValueGraph& g, Reg r, const Node& except) {
  int64_t last = 0;
  for (const Node* n : g.readers(r)) {
    if (n == &except) continue;
    if (n->block != except.block || n->instr.op == Opcode::kTensorResize) return INT64_MAX;
    last = std::max(last, is_view(*n) ? last_read(g, n->instr.defs[0], except) : n->order);
  }
  return last;
}

/// Written once, by one call, and read as it is then.
bool is_value(const ValueGraph& g, Reg r) {
  const auto changes = [&](auto& self, Reg at) -> bool {
    return std::any_of(g.readers(at).begin(), g.readers(at).end(), [&](const Node* n) {
      return n->instr.op == Opcode::kTensorResize || (is_view(*n) && (view_kind(n->instr) == ViewKind::kWindow || self(self, n->instr.defs[0])));
    });
  };
  return g.plain(r) && !changes(changes, r);
}

bool always_there(const ValueGraph& g, Reg r) {
  const Node* d = g.def(r);
  return d && (d->instr.op == Opcode::kTensorConst || (d->instr.op == Opcode::kTensorCreate && create_kind(d->instr) == CreateKind::kInput));
}

/// Bytes as a multiple of one product of sizes.
struct Bytes {
  double count = 0;
  const Dim* product = nullptr;  // null: 1
  bool known = false;
};
Bytes bytes_of(ValueGraph& g, Reg r) {
  const TensorType& t = g.type(r);
  const Dim all = g.dims().product(t.shape);
  Bytes b;
  if (!all.valid()) return b;
  b.known = true;
  b.count = static_cast<double>(dtype_bytes(t.dtype));
  if (all.is_const()) {
    b.count *= static_cast<double>(all.value());
    return b;
  }
  const DimNode& n = *all.node();
  const bool one_term = n.op == DimOp::kSum && n.terms.size() == 1 && n.constant == 0;
  if (one_term) b.count *= static_cast<double>(n.terms[0].coefficient);
  b.product = one_term ? n.terms[0].factors.data() : &n.self;
  return b;
}

/// The call of a plain value of this block, which may be made at any place where its inputs are there; null: it stays.
Node* movable(const ValueGraph& g, Reg r, BlockId block) {
  Node* n = g.is_tensor(r) && is_value(g, r) ? g.call_of(r) : nullptr;
  if (!n || n->block != block || !n->instr.defs.empty()) return nullptr;
  const OpSchema* op = find_op(n->instr.text);
  const Node* destination = g.def(r);
  return op && op->deterministic && destination->instr.op == Opcode::kTensorAlloc && destination->block == block ? n : nullptr;
}

/// Bytes (times `product`) that live longer if `n` moves down to `at`; what only n reads may move along. None: not comparable.
std::optional<double> longer(ValueGraph& g, const Node& n, const Node& at, const Dim* product, int depth) {
  double sum = 0;
  std::vector<Reg> roots;
  for (Reg r : n.instr.uses) {
    if (r == kNoReg) continue;
    if (!g.is_tensor(r)) return std::nullopt;
    r = root(g, r);
    if (always_there(g, r) || std::find(roots.begin(), roots.end(), r) != roots.end()) continue;
    if (!is_value(g, r)) return std::nullopt;
    roots.push_back(r);
    const int64_t others = last_read(g, r, n);
    if (others >= at.order) continue;
    const Bytes own = bytes_of(g, r);
    bool found = own.known && own.product == product;
    double least = found ? own.count : 0;
    const Node* from = others == 0 && depth > 0 ? movable(g, r, n.block) : nullptr;
    if (const auto along = from ? longer(g, *from, at, product, depth - 1) : std::nullopt; along && (!found || *along < least)) {
      least = *along;
      found = true;
    }
    if (!found) return std::nullopt;
    sum += least;
  }
  return sum;
}

Node* first_reader(const ValueGraph& g, Reg r, BlockId block) {
  Node* first = nullptr;
  for (Node* n : g.readers(r))
    if (n->block == block && (!first || n->order < first->order)) first = n;
  return first;
}

/// The destination of the call `n` where it stands right before it, else `n`.
Node* with_destination(ValueGraph& g, Node* n) {
  while (n->place != g.block(n->block).begin()) {
    Node& previous = *std::prev(n->place);
    if (previous.instr.op != Opcode::kTensorAlloc) break;
    n = &previous;
  }
  return n;
}

bool calls_between(ValueGraph& g, const Node& n, const Node& at) {
  for (auto it = std::next(n.place); it != at.place && it != g.block(n.block).end(); ++it)
    if (it->instr.op == Opcode::kOpCall || it->instr.op == Opcode::kTensorCopy) return true;
  return false;
}

void sink(ValueGraph& g, Node& n) {
  if (is_view(n)) {
    if (view_kind(n.instr) == ViewKind::kWindow || !g.is_tensor(n.instr.defs[0])) return;
    Node* at = first_reader(g, n.instr.defs[0], n.block);
    if (at) at = with_destination(g, at);
    if (at && calls_between(g, n, *at) && (always_there(g, root(g, n.instr.uses[0])) || is_value(g, root(g, n.instr.uses[0])))) g.move_before(n, *at);
    return;
  }
  const Reg out = n.instr.op == Opcode::kOpCall ? ValueGraph::output(n) : kNoReg;
  if (out == kNoReg || movable(g, out, n.block) != &n) return;
  Node* at = first_reader(g, out, n.block);
  if (at) at = with_destination(g, at);
  const Bytes result = bytes_of(g, out);
  if (!at || !result.known || !calls_between(g, n, *at)) return;
  const auto more = longer(g, n, *at, result.product, kMostAlong);
  if (!more || (*more != 0 && *more >= result.count)) return;
  g.move_before(*g.def(out), *at);
  g.move_before(n, *at);
}

}  // namespace

void order_pass(ValueGraph& g, const PassContext&) {
  for (size_t b = 0; b < g.num_blocks(); ++b) {
    std::vector<Node*> nodes;
    for (Node& n : g.block(static_cast<BlockId>(b))) nodes.push_back(&n);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) sink(g, **it);
  }
}

}  // namespace msvm::opt
