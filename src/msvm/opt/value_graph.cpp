#include "msvm/opt/value_graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "msvm/bytecode/builder.h"
#include "msvm/ops/registered.h"

namespace msvm::opt {
namespace {

constexpr int64_t kGap = int64_t{1} << 20;

bool writes(const Instr& i) { return i.op == Opcode::kOpCall || i.op == Opcode::kTensorCopy; }
bool is_effect(const Instr& i) {
  const OpSchema* op = i.op == Opcode::kOpCall ? find_op(i.text) : nullptr;
  return op && has_effect(*op);
}
bool is_view(const Instr& i, ViewKind k) { return i.op == Opcode::kTensorView && view_kind(i) == k; }

/// "model.py:47", not the name of an operator.
bool is_place(const std::string& origin) {
  const size_t colon = origin.rfind(':');
  return colon != std::string::npos && colon + 1 < origin.size() && std::all_of(origin.begin() + static_cast<std::ptrdiff_t>(colon) + 1, origin.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

ValueGraph::ValueGraph(Module& module, int32_t function)
    : module_(module), index_(function), cfg_(module.functions[static_cast<size_t>(function)]) {
  Function& f = this->function();
  blocks_.resize(f.blocks.size());
  info_.resize(f.regs.size());
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    for (Instr& i : f.blocks[b].instrs) {
      if (i.op == Opcode::kTensorFree) continue;
      Node& n = blocks_[b].emplace_back();
      n.instr = std::move(i);
      if (n.instr.op == Opcode::kTensorAlloc) n.instr.uses.clear();  // an in-place hint: what it names may go
      n.block = static_cast<BlockId>(b);
      n.place = std::prev(blocks_[b].end());
    }
    f.blocks[b].instrs.clear();
    renumber(static_cast<BlockId>(b));
  }
  for_each_node(*this, [&](Node& n) { add_edges(n); });
  drop_identities();
}

void ValueGraph::renumber(BlockId b) {
  int64_t order = 0;
  for (Node& n : block(b)) n.order = order += kGap;
}

void ValueGraph::add_edges(Node& n) {
  for (Reg r : n.instr.defs) info_[static_cast<size_t>(r)].def = &n;
  if (writes(n.instr))
    for (Reg r : n.instr.outs)
      if (r != kNoReg) info_[static_cast<size_t>(r)].writers.push_back(&n);
  for (Reg r : n.instr.uses)
    if (r != kNoReg) info_[static_cast<size_t>(r)].readers.push_back(&n);
}

void ValueGraph::drop_edges(Node& n) {
  for (Reg r : n.instr.defs)
    if (info(r).def == &n) info_[static_cast<size_t>(r)].def = nullptr;
  if (writes(n.instr))
    for (Reg r : n.instr.outs)
      if (r != kNoReg) std::erase(info_[static_cast<size_t>(r)].writers, &n);
  for (Reg r : n.instr.uses) {
    if (r == kNoReg) continue;
    auto& list = info_[static_cast<size_t>(r)].readers;
    if (auto it = std::find(list.begin(), list.end(), &n); it != list.end()) list.erase(it);
  }
}

// Identities only share ownership, which place_ownership does anew.
void ValueGraph::drop_identities() {
  for_each_node(*this, [&](Node& n) {
    if (!is_view(n.instr, ViewKind::kIdentity)) return;
    const Reg from = n.instr.defs[0], to = n.instr.uses[0];
    if (!(reg_type(from) == reg_type(to))) return;
    replace_reads(from, to);
    remove(n);
  });
}

Reg ValueGraph::new_reg(TensorType t, const std::string& name) {
  Register& r = function().regs.emplace_back();
  r.type.kind = RegKind::kTensor;
  r.type.tensor = std::move(t);
  r.name = name;
  info_.emplace_back();
  return static_cast<Reg>(info_.size()) - 1;
}

bool ValueGraph::plain(Reg r) const {
  const Info& i = info(r);
  const Node* by = writer(r);
  if (!i.def || !by || by->instr.op != Opcode::kOpCall) return false;
  const Instr& d = i.def->instr;
  if (d.op != Opcode::kTensorAlloc && !(d.op == Opcode::kTensorCreate && create_kind(d) == CreateKind::kDestination)) return false;
  return std::none_of(i.readers.begin(), i.readers.end(), [](const Node* n) { return n->instr.op == Opcode::kTensorResize || is_view(n->instr, ViewKind::kWindow); });
}

Reg ValueGraph::output(const Node& n) {
  Reg found = kNoReg;
  for (Reg r : n.instr.outs) {
    if (r == kNoReg) continue;
    if (found != kNoReg) return kNoReg;
    found = r;
  }
  return found;
}

Node* ValueGraph::call_of(Reg r) const {
  if (r == kNoReg || !plain(r)) return nullptr;
  Node* w = writer(r);
  return output(*w) == r ? w : nullptr;
}

Node* ValueGraph::call_of(Reg r, std::string_view op) const {
  Node* n = call_of(r);
  return n && n->instr.text == op ? n : nullptr;
}

const Constant* ValueGraph::constant(Reg r) const {
  if (r == kNoReg) return nullptr;
  const Node* d = info(r).def;
  return d && d->instr.op == Opcode::kTensorConst ? &module_.constants[static_cast<size_t>(d->instr.imms[0])] : nullptr;
}

bool ValueGraph::available(Reg value, const Node& at) const {
  const Node* d = writer(value) ? writer(value) : info(value).def;
  if (!d) return false;
  if (d->block == at.block) return d->order < at.order;
  return cfg_.dominates(d->block, at.block);
}

Node* ValueGraph::insert_before(Node& at, Instr i) {
  auto it = block(at.block).emplace(at.place);
  it->instr = std::move(i);
  it->block = at.block;
  it->place = it;
  number_before(*it, at);
  add_edges(*it);
  return &*it;
}

void ValueGraph::number_before(Node& n, const Node& at) {
  const int64_t previous = n.place == block(at.block).begin() ? 0 : std::prev(n.place)->order;
  if (at.order - previous < 2) renumber(at.block);
  else n.order = previous + (at.order - previous) / 2;
}

void ValueGraph::move_before(Node& n, Node& at) {
  auto& list = block(at.block);
  list.splice(at.place, list, n.place);
  number_before(n, at);
}

void ValueGraph::remove(Node& n) {
  drop_edges(n);
  block(n.block).erase(n.place);
}

void ValueGraph::remove_call(Node& n) {
  Node* destination = def(output(n));
  if (destination != &n) remove(*destination);
  remove(n);
}

void ValueGraph::set_instr(Node& n, Instr i) {
  drop_edges(n);
  n.instr = std::move(i);
  add_edges(n);
}

void ValueGraph::replace_read(Node& n, Reg from, Reg to) {
  drop_edges(n);
  std::replace(n.instr.uses.begin(), n.instr.uses.end(), from, to);
  add_edges(n);
}

void ValueGraph::replace_reads(Reg from, Reg to) {
  const std::vector<Node*> nodes = info(from).readers;
  for (Node* n : nodes) replace_read(*n, from, to);
}

Reg ValueGraph::add_constant(Constant c) {
  const Reg r = new_reg(c.type, c.name);
  module_.constants.push_back(std::move(c));
  insert_before(block(0).front(), {.op = Opcode::kTensorConst, .defs = {r}, .imms = {static_cast<int64_t>(module_.constants.size()) - 1}});
  return r;
}

Reg ValueGraph::emit_call(Node& at, Instr call, TensorType type, const std::string& name) {
  const Reg r = new_reg(type, name);
  insert_before(at, {.op = Opcode::kTensorAlloc, .defs = {r}, .dims = type.shape, .debug = call.debug});
  call.outs = {r};
  call.defs.clear();
  insert_before(at, std::move(call));
  return r;
}

Reg ValueGraph::emit_view(Node& at, ViewKind kind, Reg source, std::vector<Dim> dims, std::vector<int64_t> imms, TensorType type) {
  const Reg r = new_reg(std::move(type));
  insert_before(at, {.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(kind), .defs = {r}, .uses = {source}, .dims = std::move(dims), .imms = std::move(imms), .debug = at.instr.debug});
  return r;
}

Node* ValueGraph::replace_call(Node& n, Instr call, TensorType type) {
  const Reg old = output(n);
  const std::string name = function().regs[static_cast<size_t>(old)].name;
  const Reg fresh = emit_call(n, std::move(call), std::move(type), name);
  replace_reads(old, fresh);
  remove_call(n);
  return writer(fresh);
}

uint32_t ValueGraph::merge_debug(const std::vector<const Node*>& nodes) {
  auto& table = function().debug;
  DebugInfo merged;
  for (const Node* n : nodes) {
    const DebugInfo& d = table[n->instr.debug];
    if (n->instr.debug != 0) merged.file = d.file, merged.line = d.line, merged.column = d.column;
    for (const std::string& o : d.origins)
      if (std::find(merged.origins.begin(), merged.origins.end(), o) == merged.origins.end()) merged.origins.push_back(o);
  }
  // Operators of one function have one name: lines tell them apart.
  const bool alike = std::count_if(merged.origins.begin(), merged.origins.end(), [](const std::string& o) { return !is_place(o); }) <= 1;
  for (const Node* n : nodes) {
    const DebugInfo& d = table[n->instr.debug];
    if (!alike || d.line <= 0 || (d.line == merged.line && d.file == merged.file)) continue;
    std::string place = d.file + ":" + std::to_string(d.line);
    if (std::find(merged.origins.begin(), merged.origins.end(), place) == merged.origins.end()) merged.origins.push_back(std::move(place));
  }
  if (merged == table[0]) return 0;
  table.push_back(std::move(merged));
  return static_cast<uint32_t>(table.size()) - 1;
}

std::unordered_map<SymbolId, Node*> ValueGraph::symbol_definers() {
  std::unordered_map<SymbolId, Node*> definer;
  for (const Param& p : function().inputs)
    if (p.type.kind == RegKind::kTensor)
      for (Dim d : p.type.tensor.shape)
        if (d.valid()) DimContext::for_each_symbol(d, [&](SymbolId s) { definer.try_emplace(s, nullptr); });
  for (BlockId b : cfg_.reverse_post_order())
    for (Node& n : block(b)) {
      const bool binds = n.instr.op == Opcode::kOpCall || n.instr.op == Opcode::kTensorPhi || (n.instr.op == Opcode::kTensorCreate && create_kind(n.instr) == CreateKind::kNarrow);
      for (Reg r : n.instr.defs)
        if (binds && reg_type(r).kind == RegKind::kTensor)
          for (Dim d : type(r).shape)
            if (d.valid() && d.is_symbol()) definer.try_emplace(d.symbol(), &n);
    }
  return definer;
}

bool ValueGraph::sizes_available(const TensorType& t, const Node& at) {
  const auto definer = symbol_definers();
  bool all = true;
  auto known = [&](const Node* n) { return n && (n->block == at.block ? n->order < at.order : cfg_.dominates(n->block, at.block)); };
  for (Dim d : t.shape)
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      const SymbolInfo& i = dims().symbol_info(s);
      if (i.function == index_) {
        all = all && i.reg >= 0 && static_cast<size_t>(i.reg) < info_.size() && known(info(i.reg).def);
      } else if (auto it = definer.find(s); it == definer.end() || it->second) {
        all = all && it != definer.end() && known(it->second);
      }
    });
  return all;
}

void ValueGraph::drop_hints() {
  for_each_node(*this, [](Node& n) {
    if (n.instr.op == Opcode::kTensorAlloc) n.instr.uses.clear();
  });
}

void ValueGraph::remove_dead() {
  const auto definer = symbol_definers();
  std::unordered_set<const Node*> live;
  std::unordered_set<Dim, DimHash> seen_dims;  // the same sizes stand in many types
  std::vector<Node*> work;
  std::vector<uint8_t> seen(info_.size(), 0);
  auto need_node = [&](Node* n) {
    if (n && live.insert(n).second) work.push_back(n);
  };
  auto need_dim = [&](Dim d) {
    if (!d.node() || !seen_dims.insert(d).second) return;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      const SymbolInfo& i = dims().symbol_info(s);
      if (i.function == index_) {
        if (i.reg >= 0 && static_cast<size_t>(i.reg) < info_.size()) need_node(info(i.reg).def);
      } else if (auto it = definer.find(s); it != definer.end()) {
        need_node(it->second);
      }
    });
  };
  // A tensor is needed with everything that writes it, also through windows.
  auto need_reg = [&](Reg r) {
    std::vector<Reg> stack{r};
    while (!stack.empty()) {
      const Reg at = stack.back();
      stack.pop_back();
      if (at == kNoReg || seen[static_cast<size_t>(at)]) continue;
      seen[static_cast<size_t>(at)] = 1;
      need_node(info(at).def);
      for (Node* n : info(at).writers) need_node(n);
      for (Dim d : type(at).shape) need_dim(d);
      for (Node* reader : info(at).readers)
        if (is_view(reader->instr, ViewKind::kWindow)) stack.push_back(reader->instr.defs[0]);
    }
  };
  for_each_node(*this, [&](Node& n) {
    const bool input = (n.instr.op == Opcode::kTensorCreate && create_kind(n.instr) == CreateKind::kInput) || n.instr.op == Opcode::kScalarInput;
    if (input || instr_info(n.instr.op).has(kTerminator) || n.instr.op == Opcode::kShapeAssert || is_effect(n.instr)) need_node(&n);
  });
  while (!work.empty()) {
    Node* n = work.back();
    work.pop_back();
    for (Reg r : n->instr.uses) need_reg(r);
    for (Dim d : n->instr.dims) need_dim(d);
    for (Reg r : n->instr.outs) need_reg(r);  // a second output stays with the first
    for (Reg r : n->instr.defs)
      if (reg_type(r).kind == RegKind::kTensor)
        for (Dim d : type(r).shape) need_dim(d);
    if (is_view(n->instr, ViewKind::kWindow)) need_reg(n->instr.uses[0]);
  }
  for_each_node(*this, [&](Node& n) {
    if (!live.contains(&n)) remove(n);
  });
}

Status ValueGraph::store() {
  remove_dead();
  Function& f = function();
  for (size_t b = 0; b < blocks_.size(); ++b) {
    auto& out = f.blocks[b].instrs;
    out.clear();
    for (Node& n : blocks_[b]) out.push_back(std::move(n.instr));
  }
  MSVM_RETURN_IF_ERROR(place_ownership(module_, index_));
  drop_unused_registers();
  return {};
}

// Integers keep their numbers, symbols know them by these; what else is used moves up around them.
void ValueGraph::drop_unused_registers() {
  Function& f = function();
  std::vector<uint8_t> used(f.regs.size(), 0), taken(f.regs.size(), 0);
  auto for_each_operand = [&](auto&& visit) {
    for (Block& b : f.blocks)
      for (Instr& i : b.instrs)
        for (auto* list : {&i.defs, &i.uses, &i.outs})
          for (Reg& r : *list)
            if (r != kNoReg) visit(r);
  };
  for_each_operand([&](Reg r) { used[static_cast<size_t>(r)] = 1; });
  std::vector<Reg> place(f.regs.size(), kNoReg);
  size_t count = 0;
  for (size_t r = 0; r < f.regs.size(); ++r) {
    if (f.regs[r].type.kind != RegKind::kI64) continue;
    place[r] = static_cast<Reg>(r);
    taken[r] = 1;
    count = r + 1;
  }
  size_t next = 0;
  for (size_t r = 0; r < f.regs.size(); ++r) {
    if (!used[r] || place[r] != kNoReg) continue;
    while (taken[next]) ++next;
    place[r] = static_cast<Reg>(next++);
    count = std::max(count, next);
  }
  std::vector<Register> kept(count);
  for (size_t r = 0; r < count; ++r) kept[r].type.kind = RegKind::kBool;  // of a gap
  for (size_t r = 0; r < f.regs.size(); ++r)
    if (place[r] != kNoReg) kept[static_cast<size_t>(place[r])] = std::move(f.regs[r]);
  f.regs = std::move(kept);
  for_each_operand([&](Reg& r) { r = place[static_cast<size_t>(r)]; });
}

}  // namespace msvm::opt
