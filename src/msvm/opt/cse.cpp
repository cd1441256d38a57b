// Common subexpressions: of two equal pure calls or views the later one, dominated by the first, goes.
#include <unordered_map>

#include "msvm/ops/schema.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

size_t mix(size_t h, size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u + (h << 6); }

size_t hash_of(const Instr& i) {
  size_t h = mix(static_cast<size_t>(i.op), i.sub);
  for (Reg r : i.uses) h = mix(h, static_cast<size_t>(r));
  for (Dim d : i.dims) h = mix(h, d.key());
  for (int64_t v : i.imms) h = mix(h, static_cast<size_t>(v));
  return mix(h, std::hash<std::string>()(i.text));
}

bool same(const Instr& a, const Instr& b) {
  return a.op == b.op && a.sub == b.sub && a.uses == b.uses && a.dims == b.dims && a.imms == b.imms && a.text == b.text && a.attrs == b.attrs;
}

}  // namespace

void cse_pass(ValueGraph& g, const PassContext&) {
  std::unordered_multimap<size_t, Node*> seen;
  for (BlockId b : g.cfg().reverse_post_order()) {
    auto& list = g.block(b);
    for (auto it = list.begin(); it != list.end();) {
      Node& n = *it++;
      Reg result = kNoReg;
      if (n.instr.op == Opcode::kTensorConst) {
        result = n.instr.defs[0];
      } else if (n.instr.op == Opcode::kTensorView && view_kind(n.instr) != ViewKind::kWindow && view_kind(n.instr) != ViewKind::kIdentity) {
        result = n.instr.defs[0];
      } else if (n.instr.op == Opcode::kOpCall && n.instr.defs.empty()) {
        const OpSchema* op = find_op(n.instr.text);
        result = ValueGraph::output(n);
        if (!op || !op->deterministic || result == kNoReg || !g.plain(result)) continue;
      }
      if (result == kNoReg) continue;
      const size_t h = hash_of(n.instr);
      Node* earlier = nullptr;
      for (auto [at, end] = seen.equal_range(h); at != end && !earlier; ++at)
        if (same(at->second->instr, n.instr) && g.cfg().dominates(at->second->block, b)) earlier = at->second;
      if (!earlier) {
        seen.emplace(h, &n);
        continue;
      }
      const Reg kept = n.instr.op == Opcode::kOpCall ? ValueGraph::output(*earlier) : earlier->instr.defs[0];
      if (!(g.type(kept) == g.type(result))) continue;
      earlier->instr.debug = g.merge_debug({&n, earlier});
      g.replace_reads(result, kept);
      // A destination stands before its call: `it` is never one of the two.
      if (n.instr.op == Opcode::kOpCall) g.remove_call(n);
      else g.remove(n);
    }
  }
}

}  // namespace msvm::opt
