#include "msvm/bytecode/builder.h"

#include <bit>
#include <cstring>

namespace msvm {
namespace {

// 64-byte aligned owner of a constant's bytes.
std::shared_ptr<std::byte> aligned_bytes(size_t size) {
  constexpr std::align_val_t kAlign{64};
  auto* p = static_cast<std::byte*>(::operator new(size ? size : 1, kAlign));
  return {p, [](std::byte* q) { ::operator delete(q, kAlign); }};
}

RegType tensor_reg(TensorType t) { return {RegKind::kTensor, std::move(t)}; }
RegType scalar_reg(RegKind k) { return {k, {}}; }

bool is_one(Dim d) { return d.is_const(1); }

// Cutting axes keeps a dense tensor dense only along the outermost axis that isn't 1.
bool cut_stays_dense(const TensorType& source, const std::vector<int64_t>& axes) {
  int outer = 0;
  while (outer < source.rank() && is_one(source.shape[static_cast<size_t>(outer)])) ++outer;
  for (int64_t a : axes)
    if (a > outer) return false;
  return true;
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::string name) {
  module_.name = std::move(name);
  module_.producer = "msvm";
  module_.opsets = {{"", kOnnxOpset}, {"msvm", kMsvmOpset}};
}

Dim ModuleBuilder::symbol(const std::string& name) {
  if (auto id = dims().find_symbol(name)) return dims().symbol(*id);
  return symbol(SymbolInfo{.name = name});
}

Dim ModuleBuilder::symbol(SymbolInfo info) { return dims().symbol(dims().add_symbol(std::move(info))); }

Dim ModuleBuilder::fresh_symbol(const std::string& hint) {
  int& n = fresh_counts_[hint];
  std::string name;
  do name = hint + std::to_string(n++);
  while (dims().find_symbol(name));
  return symbol(SymbolInfo{.name = std::move(name)});
}

int32_t ModuleBuilder::add_constant(Constant c) {
  module_.constants.push_back(std::move(c));
  return static_cast<int32_t>(module_.constants.size()) - 1;
}

int32_t ModuleBuilder::add_constant(const std::string& name, DType dtype, const std::vector<int64_t>& shape, const void* bytes, size_t size) {
  auto owner = aligned_bytes(size);
  if (size) std::memcpy(owner.get(), bytes, size);
  Constant c;
  c.name = name;
  c.type.dtype = dtype;
  for (int64_t d : shape) c.type.shape.push_back(dims().constant(d));
  c.data = owner.get();
  c.bytes = size;
  c.keep_alive = owner;
  return add_constant(std::move(c));
}

void ModuleBuilder::rollback(const Mark& mark) {
  dims().rollback(mark.dims);
  module_.register_symbols = {};
  module_.constants.resize(mark.constants);
  fresh_counts_ = mark.fresh_counts;
}

FunctionBuilder ModuleBuilder::function(const std::string& name) {
  module_.functions.emplace_back();
  module_.functions.back().name = name;
  module_.functions.back().blocks.emplace_back();
  return FunctionBuilder(*this, static_cast<int32_t>(module_.functions.size()) - 1);
}

FunctionBuilder::FunctionBuilder(ModuleBuilder& mb, int32_t index) : mb_(&mb), index_(index) {}

Function& FunctionBuilder::function() { return mb_->module().functions[static_cast<size_t>(index_)]; }

const RegType& FunctionBuilder::type(Reg r) const { return mb_->module().functions[static_cast<size_t>(index_)].regs[static_cast<size_t>(r)].type; }

Dim FunctionBuilder::dim(Reg r) { return register_dim(mb_->module(), index_, r); }

// --- blocks ------------------------------------------------------------------------------------------------------------

BlockId FunctionBuilder::new_block() {
  function().blocks.emplace_back();
  return static_cast<BlockId>(function().blocks.size()) - 1;
}

void FunctionBuilder::set_block(BlockId b) { block_ = b; }

bool FunctionBuilder::terminated() const {
  const Block& b = mb_->module().functions[static_cast<size_t>(index_)].blocks[static_cast<size_t>(block_)];
  return !b.instrs.empty() && instr_info(b.instrs.back().op).has(kTerminator);
}

void FunctionBuilder::jump(BlockId b) { append({.op = Opcode::kJump, .targets = {b}}); }

void FunctionBuilder::branch_if(Reg cond, BlockId then_block, BlockId else_block) {
  append({.op = Opcode::kBranchIf, .uses = {cond}, .targets = {then_block, else_block}});
}

void FunctionBuilder::switch_on(Dim value, std::vector<int64_t> cases, std::vector<BlockId> targets) {
  append({.op = Opcode::kSwitch, .dims = {value}, .imms = std::move(cases), .targets = std::move(targets)});
}

void FunctionBuilder::trap(const std::string& message) { append({.op = Opcode::kTrap, .text = message}); }

void FunctionBuilder::ret(const std::vector<Reg>& tensors, const std::vector<Dim>& ints) {
  append({.op = Opcode::kReturn, .uses = tensors, .dims = ints});
}

// --- inputs and outputs ------------------------------------------------------------------------------------------------

Reg FunctionBuilder::input(const std::string& name, TensorType type, const std::vector<std::string>& axis_names, bool donated) {
  auto k = static_cast<int64_t>(function().inputs.size());
  function().inputs.push_back({name, tensor_reg(type), donated});
  Reg r = new_reg(tensor_reg(type));
  set_name(r, name);
  append({.op = Opcode::kTensorCreate, .sub = static_cast<uint8_t>(CreateKind::kInput), .defs = {r}, .dims = type.shape, .imms = {k}, .axis_names = axis_names});
  return r;
}

Reg FunctionBuilder::scalar_input(const std::string& name, RegKind kind) {
  auto k = static_cast<int64_t>(function().inputs.size());
  function().inputs.push_back({name, scalar_reg(kind)});
  Reg r = new_reg(scalar_reg(kind));
  set_name(r, name);
  append({.op = Opcode::kScalarInput, .defs = {r}, .imms = {k}});
  return r;
}

void FunctionBuilder::output(const std::string& name, const RegType& type) { function().outputs.push_back({name, type}); }

// --- tensors -----------------------------------------------------------------------------------------------------------

Reg FunctionBuilder::constant(int32_t id) {
  auto [it, fresh] = constant_regs_.try_emplace(id, kNoReg);
  if (!fresh) return it->second;
  const Constant& c = mb_->module().constants[static_cast<size_t>(id)];
  Reg r = new_reg(tensor_reg(c.type));
  set_name(r, c.name);
  entry_constants_.push_back({.op = Opcode::kTensorConst, .defs = {r}, .imms = {id}});
  return it->second = r;
}

Reg FunctionBuilder::alloc(TensorType type, const std::vector<std::string>& axis_names, Reg reuse) {
  Reg r = new_reg(tensor_reg(type));
  Instr i{.op = Opcode::kTensorAlloc, .defs = {r}, .dims = type.shape, .axis_names = axis_names};
  if (reuse != kNoReg) i.uses = {reuse};
  append(std::move(i));
  return r;
}

Reg FunctionBuilder::narrow(Reg s, TensorType type) {
  Reg r = new_reg(tensor_reg(type));
  append({.op = Opcode::kTensorCreate, .sub = static_cast<uint8_t>(CreateKind::kNarrow), .defs = {r}, .uses = {s}, .dims = type.shape});
  return r;
}

Reg FunctionBuilder::copy(Reg s) {
  TensorType t = tensor_type(s);
  t.strided = false;
  t.filled.reset();
  if (t.unknown_rank) return call_new("Identity", {s}, {}, {}, {t})[0];
  Reg r = alloc(t);
  copy_into(s, r);
  return r;
}

Reg FunctionBuilder::resize(Reg s, int axis, Dim size) {
  TensorType t = tensor_type(s);
  t.shape[static_cast<size_t>(axis)] = size;
  t.strided = true;  // strides come from the capacity
  Reg r = new_reg(tensor_reg(t));
  append({.op = Opcode::kTensorResize, .defs = {r}, .uses = {s}, .dims = {size}, .imms = {axis}});
  return r;
}

namespace {
Instr view(ViewKind kind, Reg source, std::vector<Dim> dims = {}, std::vector<int64_t> imms = {}) {
  return {.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(kind), .uses = {source}, .dims = std::move(dims), .imms = std::move(imms)};
}
}  // namespace

Reg FunctionBuilder::slice(Reg s, const std::vector<int64_t>& axes, const std::vector<Dim>& from, const std::vector<Dim>& to, const std::vector<int64_t>& steps) {
  TensorType t = tensor_type(s);
  std::vector<Dim> bounds;
  std::vector<int64_t> imms;
  bool unit = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    bounds.insert(bounds.end(), {from[i], to[i]});
    imms.insert(imms.end(), {axes[i], steps[i]});
    t.shape[static_cast<size_t>(axes[i])] = dims().ceildiv(dims().sub(to[i], from[i]), dims().constant(steps[i]));
    unit &= steps[i] == 1;
  }
  t.strided = t.strided || !unit || !cut_stays_dense(tensor_type(s), axes);
  Instr i = view(ViewKind::kSlice, s, std::move(bounds), std::move(imms));
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::reshape(Reg s, const std::vector<Dim>& shape) {
  if (tensor_type(s).strided) s = copy(s);
  TensorType t = tensor_type(s);
  t.shape = shape;
  Instr i = view(ViewKind::kReshape, s, shape);
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::transpose(Reg s, const std::vector<int64_t>& permutation) {
  TensorType t = tensor_type(s);
  int64_t last = -1;  // axes that aren't 1 keep their order -> still dense
  bool ordered = true;
  for (size_t i = 0; i < permutation.size(); ++i) {
    t.shape[i] = tensor_type(s).shape[static_cast<size_t>(permutation[i])];
    if (is_one(t.shape[i])) continue;
    ordered &= permutation[i] > last;
    last = permutation[i];
  }
  t.strided = t.strided || !ordered;
  Instr i = view(ViewKind::kTranspose, s, {}, permutation);
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::broadcast(Reg s, const std::vector<Dim>& shape) {
  TensorType t = tensor_type(s);
  size_t lead = shape.size() >= t.shape.size() ? shape.size() - t.shape.size() : 0;
  bool same = true;
  for (size_t i = 0; i < shape.size(); ++i) same &= i < lead ? is_one(shape[i]) : shape[i] == t.shape[i - lead];
  t.strided = t.strided || !same;
  t.shape = shape;
  Instr i = view(ViewKind::kBroadcast, s, shape);
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::squeeze(Reg s, const std::vector<int64_t>& axes) {
  TensorType t = tensor_type(s);
  std::vector<Dim> shape;
  for (size_t i = 0; i < t.shape.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) shape.push_back(t.shape[i]);
  t.shape = std::move(shape);
  Instr i = view(ViewKind::kSqueeze, s, {}, axes);
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::unsqueeze(Reg s, const std::vector<int64_t>& axes) {
  TensorType t = tensor_type(s);
  for (int64_t a : axes) t.shape.insert(t.shape.begin() + a, dims().constant(1));
  Instr i = view(ViewKind::kUnsqueeze, s, {}, axes);
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::window(Reg s, int axis, Dim from, Dim to) {
  TensorType t = tensor_type(s);
  t.shape[static_cast<size_t>(axis)] = dims().sub(to, from);
  t.strided = t.strided || !cut_stays_dense(tensor_type(s), {axis});
  t.filled.reset();
  Instr i = view(ViewKind::kWindow, s, {from, to}, {axis});
  i.defs = {new_reg(tensor_reg(t))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::identity(Reg s) {
  Instr i = view(ViewKind::kIdentity, s);
  i.defs = {new_reg(type(s))};
  return append(std::move(i)).defs[0];
}

Reg FunctionBuilder::read(Reg s, const std::vector<Dim>& index) {
  DType d = tensor_type(s).dtype;
  RegKind k = is_float(d) ? RegKind::kF64 : d == DType::kBool ? RegKind::kBool : RegKind::kI64;
  Reg r = new_reg(scalar_reg(k));
  append({.op = Opcode::kTensorRead, .defs = {r}, .uses = {s}, .dims = index});
  return r;
}

void FunctionBuilder::copy_into(Reg source, Reg destination) { append({.op = Opcode::kTensorCopy, .uses = {source}, .outs = {destination}}); }

// --- scalars -----------------------------------------------------------------------------------------------------------

Dim FunctionBuilder::propagate(Reg s, int axis) {
  Reg r = new_reg(scalar_reg(RegKind::kI64));
  append({.op = Opcode::kShapePropagate, .defs = {r}, .uses = {s}, .imms = {axis}});
  return dim(r);
}

Dim FunctionBuilder::calc(CalcOp op, Dim a, Dim b) {
  Reg r = new_reg(scalar_reg(RegKind::kI64));
  Instr i{.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(op), .defs = {r}, .dims = {a}};
  if (calc_op_dims(op) > 1) i.dims.push_back(b);
  append(std::move(i));
  return dim(r);
}

Reg FunctionBuilder::compare(CalcOp op, Dim a, Dim b) {
  Reg r = new_reg(scalar_reg(RegKind::kBool));
  append({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(op), .defs = {r}, .dims = {a, b}});
  return r;
}

Reg FunctionBuilder::logic(CalcOp op, Reg a, Reg b) {
  Reg r = new_reg(scalar_reg(RegKind::kBool));
  Instr i{.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(op), .defs = {r}, .uses = {a}};
  if (b != kNoReg) i.uses.push_back(b);
  append(std::move(i));
  return r;
}

Dim FunctionBuilder::select(Reg cond, Dim a, Dim b) {
  Reg r = new_reg(scalar_reg(RegKind::kI64));
  append({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(CalcOp::kSelect), .defs = {r}, .uses = {cond}, .dims = {a, b}});
  return dim(r);
}

Reg FunctionBuilder::scalar_const(double v) {
  Reg r = new_reg(scalar_reg(RegKind::kF64));
  append({.op = Opcode::kScalarConst, .defs = {r}, .imms = {std::bit_cast<int64_t>(v)}});
  return r;
}

Reg FunctionBuilder::scalar_const_bool(bool v) {
  Reg r = new_reg(scalar_reg(RegKind::kBool));
  append({.op = Opcode::kScalarConst, .defs = {r}, .imms = {v}});
  return r;
}

Reg FunctionBuilder::scalar_calc(ScalarOp op, Reg a, Reg b, bool round_f32) {
  Reg r = new_reg(scalar_reg(scalar_op_is_bool(op) ? RegKind::kBool : RegKind::kF64));
  Instr i{.op = Opcode::kScalarCalc, .sub = static_cast<uint8_t>(op), .defs = {r}, .uses = {a}, .imms = {round_f32}};
  if (b != kNoReg) i.uses.push_back(b);
  append(std::move(i));
  return r;
}

Reg FunctionBuilder::scalar_from_int(Dim a, bool round_f32) {
  Reg r = new_reg(scalar_reg(RegKind::kF64));
  append({.op = Opcode::kScalarCalc, .sub = static_cast<uint8_t>(ScalarOp::kFromInt), .defs = {r}, .dims = {a}, .imms = {round_f32}});
  return r;
}

Dim FunctionBuilder::scalar_to_int(Reg a) {
  Reg r = new_reg(scalar_reg(RegKind::kI64));
  append({.op = Opcode::kScalarCalc, .sub = static_cast<uint8_t>(ScalarOp::kToInt), .defs = {r}, .uses = {a}, .imms = {0}});
  return dim(r);
}

void FunctionBuilder::shape_assert(Reg cond, const std::string& message) { append({.op = Opcode::kShapeAssert, .uses = {cond}, .text = message}); }

// --- calls and lists ---------------------------------------------------------------------------------------------------

void FunctionBuilder::call(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs, const std::vector<Reg>& outs) {
  append({.op = Opcode::kOpCall, .uses = inputs, .dims = args, .outs = outs, .text = op, .attrs = std::move(attrs)});
}

std::vector<Reg> FunctionBuilder::call_alloc(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                                             const std::vector<std::optional<TensorType>>& out_types) {
  std::vector<Reg> outs;
  for (const auto& t : out_types) outs.push_back(t ? alloc(*t) : kNoReg);
  call(op, inputs, args, std::move(attrs), outs);
  return outs;
}

std::vector<Reg> FunctionBuilder::call_new(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                                           const std::vector<std::optional<TensorType>>& out_types) {
  std::vector<Reg> outs, defs;
  for (const auto& t : out_types) {
    outs.push_back(t ? new_reg(tensor_reg(*t)) : kNoReg);
    if (t) defs.push_back(outs.back());
  }
  append({.op = Opcode::kOpCall, .defs = std::move(defs), .uses = inputs, .dims = args, .outs = outs, .text = op, .attrs = std::move(attrs)});
  return outs;
}

Reg FunctionBuilder::list_make(DType dtype, const std::vector<Reg>& items) {
  Reg r = new_reg({RegKind::kList, TensorType{.dtype = dtype}});
  append({.op = Opcode::kListMake, .defs = {r}, .uses = items});
  return r;
}

Reg FunctionBuilder::list_append(Reg list, Reg item) {
  Reg r = new_reg(type(list));
  append({.op = Opcode::kListAppend, .defs = {r}, .uses = {list, item}});
  return r;
}

Reg FunctionBuilder::list_get(Reg list, Dim index) {
  Reg r = new_reg(tensor_reg(TensorType{.dtype = tensor_type(list).dtype, .unknown_rank = true, .strided = true}));
  append({.op = Opcode::kListGet, .defs = {r}, .uses = {list}, .dims = {index}});
  return r;
}

Dim FunctionBuilder::list_length(Reg list) {
  Reg r = new_reg(scalar_reg(RegKind::kI64));
  append({.op = Opcode::kListLength, .defs = {r}, .uses = {list}});
  return dim(r);
}

// --- PHIs --------------------------------------------------------------------------------------------------------------

Reg FunctionBuilder::phi(RegType type) {
  Reg r = new_reg(type);
  bool scalar = type.kind != RegKind::kTensor && type.kind != RegKind::kList;
  Instr i{.op = scalar ? Opcode::kScalarPhi : Opcode::kTensorPhi, .defs = {r}, .debug = debug_};
  auto& instrs = function().blocks[static_cast<size_t>(block_)].instrs;
  auto at = instrs.begin();
  while (at != instrs.end() && instr_info(at->op).has(kPhi)) ++at;
  instrs.insert(at, std::move(i));
  phi_block_[r] = block_;
  return r;
}

void FunctionBuilder::add_phi_input(Reg phi, const PhiInput& in) {
  const auto block = phi_block_.find(phi);
  if (block == phi_block_.end()) return;
  for (Instr& i : function().blocks[static_cast<size_t>(block->second)].instrs) {
    if (!instr_info(i.op).has(kPhi)) return;
    if (i.defs[0] != phi) continue;
    i.targets.push_back(in.from);
    if (in.dim.valid()) i.dims.push_back(in.dim);
    else i.uses.push_back(in.reg);
    return;
  }
}

// --- the rest ----------------------------------------------------------------------------------------------------------

void FunctionBuilder::set_debug(DebugInfo info) {
  auto& table = function().debug;
  if (info == DebugInfo{}) {
    debug_ = 0;
  } else {
    if (!(table.back() == info)) table.push_back(std::move(info));
    debug_ = static_cast<uint32_t>(table.size()) - 1;
  }
}

void FunctionBuilder::set_name(Reg r, const std::string& name) { function().regs[static_cast<size_t>(r)].name = name; }

Instr& FunctionBuilder::append(Instr i) {
  if (!i.debug) i.debug = debug_;
  auto& instrs = function().blocks[static_cast<size_t>(block_)].instrs;
  instrs.push_back(std::move(i));
  return instrs.back();
}

Reg FunctionBuilder::new_reg(RegType type) {
  function().regs.push_back({std::move(type), {}});
  return static_cast<Reg>(function().regs.size()) - 1;
}

FunctionBuilder::Mark FunctionBuilder::mark() {
  Function& f = function();
  Mark m{mb_->mark(), f.regs.size(), f.inputs.size(), f.outputs.size(), f.debug.size(), entry_constants_.size(), {}, block_, debug_};
  for (const Block& b : f.blocks) m.instrs.push_back(b.instrs.size());
  return m;
}

void FunctionBuilder::rollback(const Mark& mark) {
  Function& f = function();
  f.regs.resize(mark.regs);
  f.inputs.resize(mark.inputs);
  f.outputs.resize(mark.outputs);
  f.debug.resize(mark.debug_entries);
  f.blocks.resize(mark.instrs.size());
  auto fresh_phi = [&](const Instr& i) { return instr_info(i.op).has(kPhi) && static_cast<size_t>(i.defs[0]) >= mark.regs; };
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    std::erase_if(f.blocks[b].instrs, fresh_phi);  // they stand before the others
    f.blocks[b].instrs.resize(mark.instrs[b]);
  }
  entry_constants_.resize(mark.entry_constants);
  std::erase_if(constant_regs_, [&](const auto& c) { return static_cast<size_t>(c.second) >= mark.regs; });
  std::erase_if(phi_block_, [&](const auto& p) { return static_cast<size_t>(p.first) >= mark.regs; });
  block_ = mark.block;
  debug_ = mark.debug;
  mb_->rollback(mark.module);
}

Status FunctionBuilder::finish() {
  auto& entry = function().blocks[0].instrs;
  entry.insert(entry.begin(), std::make_move_iterator(entry_constants_.begin()), std::make_move_iterator(entry_constants_.end()));
  entry_constants_.clear();
  for (size_t b = 0; b < function().blocks.size(); ++b) {
    const auto& instrs = function().blocks[b].instrs;
    if (instrs.empty() || !instr_info(instrs.back().op).has(kTerminator))
      return internal_error("block b" + std::to_string(b) + " of @" + function().name + " has no terminator");
  }
  return place_ownership(mb_->module(), index_);
}

}  // namespace msvm
