// Values as registers of the current block: tensors, elements, scalars.
#include <algorithm>

#include "importers/onnx/importer.h"

namespace msvm::onnx {

Result<DType> GraphImporter::dtype(const Value& v) {
  switch (v->kind) {
    case ValueKind::kTensor: return fb_.tensor_type(v->reg).dtype;
    case ValueKind::kConst:
    case ValueKind::kScalars:
    case ValueKind::kList:
    case ValueKind::kSequence: return v->dtype;
    case ValueKind::kPoison:
    case ValueKind::kAbsent: break;
  }
  return invalid_argument("an input is missing");
}

Reg GraphImporter::fix_rank(Reg r, size_t rank) {
  TensorType t = fb_.tensor_type(r);
  if (!t.unknown_rank) return r;
  t.unknown_rank = false;
  for (size_t i = 0; i < rank; ++i) t.shape.push_back(mb_.fresh_symbol("d"));
  return fb_.narrow(r, t);
}

Result<Reg> GraphImporter::tensor(const Value& v) {
  switch (v->kind) {
    case ValueKind::kTensor: return v->reg;
    case ValueKind::kPoison: return internal_error("use of a value that can't be imported");
    case ValueKind::kAbsent: return invalid_argument("a tensor is needed, but none is given");
    case ValueKind::kList:
    case ValueKind::kSequence: return invalid_argument("a tensor is needed, not a sequence");
    case ValueKind::kConst:
    case ValueKind::kScalars: break;
  }
  for (auto& region : regions_)
    if (auto it = region->tensors.find(v); it != region->tensors.end()) return it->second;
  MSVM_ASSIGN_OR_RETURN(Reg r, v->deferred ? run_deferred(v) : materialise(*v));
  regions_.back()->tensors.emplace(v, r);
  return r;
}

Result<Reg> GraphImporter::materialise(const ValueData& v) {
  if (v.kind == ValueKind::kScalars && !v.scalars->is_const()) return materialise_scalars(v);
  ConstPtr c = v.constant;
  if (!c) { MSVM_ASSIGN_OR_RETURN(c, scalars_to_const(*v.scalars)); }
  if (c->module_id < 0) {
    Constant m;
    m.name = c->name;
    m.type.dtype = c->dtype;
    for (int64_t d : c->shape) m.type.shape.push_back(dims().constant(d));
    m.data = c->data;
    m.bytes = c->bytes;
    m.keep_alive = c->keep_alive;
    m.strings = c->strings;
    c->module_id = mb_.add_constant(std::move(m));
  }
  return fb_.constant(c->module_id);
}

Result<Reg> GraphImporter::materialise_scalars(const ValueData& v) {
  const Scalars& s = *v.scalars;
  std::vector<Dim> items;
  for (const Scalar& e : s.items) {
    if (e.kind == ScalarKind::kInt) {
      items.push_back(e.dim);
    } else if (e.kind == ScalarKind::kBool) {
      MSVM_ASSIGN_OR_RETURN(Reg cond, bool_reg(e));
      items.push_back(fb_.select(cond, dims().constant(1), dims().constant(0)));
    } else {
      return internal_error("computed float elements without their tensors");
    }
  }
  Attributes attrs;
  if (s.shape.empty()) attrs.set("scalar", int64_t{1});
  MSVM_ASSIGN_OR_RETURN(Reg r, emitter_.call1("msvm.ShapeTensor", {}, items, attrs));
  if (s.shape.size() > 1) {
    std::vector<Dim> shape;
    for (int64_t d : s.shape) shape.push_back(dims().constant(d));
    r = fb_.reshape(r, shape);
  }
  if (s.dtype == DType::kI64) return r;
  return emitter_.call1("Cast", {r}, {}, {{"to", s.dtype}});
}

Result<Reg> GraphImporter::run_deferred(const Value& v) {
  const Deferred& d = *v->deferred;
  NodeImport n(*this, *d.node, d.frame, d.inputs, d.num_outputs);
  const OperatorRow* row = find_operator(d.node->domain, d.node->op_type);
  MSVM_RETURN_IF_ERROR(emit_node(n, *row));
  const Value& out = n.outputs[v->deferred_output];
  if (!out || out == v || out->deferred) return internal_error("no tensor for a folded value");
  return tensor(out);
}

// --- large sizes -------------------------------------------------------------------------------------------------------

GraphImporter::Extent GraphImporter::extent(Dim d) {
  const DimNode* n = d.node();
  if (!n) return {0, 1};
  if (auto it = extents_.find(d.key()); it != extents_.end()) return it->second;
  Extent e{0, 1};
  auto add = [&](Dim part) {
    Extent p = extent(part);
    e.depth = std::max(e.depth, p.depth + 1);
    e.nodes = std::min<int64_t>(e.nodes + p.nodes, INT32_MAX);
  };
  for (const DimTerm& t : n->terms)
    for (Dim f : t.factors) add(f);
  if (n->a.valid()) add(n->a);
  if (n->b.valid()) add(n->b);
  return extents_[d.key()] = e;
}

bool GraphImporter::is_large(Dim d) {
  Extent e = extent(d);
  return e.depth > kMaxDimDepth || e.nodes > kMaxDimNodes;
}

Dim GraphImporter::compact(Dim d) {
  if (!d.valid() || !is_large(d)) return d;
  for (auto& region : regions_)
    if (auto it = region->sizes.find(d.key()); it != region->sizes.end()) return it->second;
  Dim bound = fb_.calc(CalcOp::kAdd, d, dims().constant(0));
  regions_.back()->sizes.emplace(d.key(), bound);
  if (never_negative(d)) note_size(bound);
  return bound;
}

Value GraphImporter::compact(const Value& v) {
  if (v->kind == ValueKind::kTensor) {
    TensorType t = fb_.tensor_type(v->reg);
    bool changed = false;
    for (Dim& d : t.shape) {
      Dim bound = compact(d);
      changed |= bound != d;
      d = bound;
    }
    return changed ? tensor_value(fb_.narrow(v->reg, t)) : v;
  }
  if (v->kind != ValueKind::kScalars || !is_integer(v->dtype)) return v;
  bool large = false;
  for (const Scalar& e : v->scalars->items) large |= e.kind == ScalarKind::kInt && is_large(e.dim);
  if (!large) return v;
  Scalars s = *v->scalars;
  for (Scalar& e : s.items) e.dim = compact(e.dim);
  return scalars_value(std::move(s));
}

Result<Reg> GraphImporter::list(const Value& v) {
  if (v->kind == ValueKind::kList) return v->reg;
  if (v->kind != ValueKind::kSequence) return invalid_argument("a sequence is needed");
  for (auto& region : regions_)
    if (auto it = region->tensors.find(v); it != region->tensors.end()) return it->second;
  std::vector<Reg> items;
  for (const Value& item : v->items) {
    MSVM_ASSIGN_OR_RETURN(Reg r, tensor(item));
    items.push_back(r);
  }
  Reg r = fb_.list_make(v->dtype, items);
  regions_.back()->tensors.emplace(v, r);
  return r;
}

Result<Scalars> GraphImporter::scalars(const Value& v) {
  if (auto known = known_scalars(v, dims())) return *known;
  for (auto& region : regions_)
    if (auto it = region->reads.find(v); it != region->reads.end()) return it->second;
  MSVM_ASSIGN_OR_RETURN(Reg r, tensor(v));
  const TensorType& t = fb_.tensor_type(r);
  if (t.unknown_rank) return unsupported("elements of a tensor whose rank isn't known");
  Scalars s{t.dtype, {}, {}};
  if (t.dtype == DType::kString) return invalid_argument("strings where numbers are needed");
  int64_t count = 1;
  for (Dim d : t.shape) {
    if (!d.is_const()) return unsupported("the number of elements of an input that decides sizes isn't known");
    s.shape.push_back(d.value());
    count = d.value() > kMaxScalars ? kMaxScalars + 1 : count * d.value();
    if (count > kMaxScalars) return unsupported("an input that decides sizes has too many elements");
  }
  std::vector<int64_t> index(s.shape.size(), 0);
  for (int64_t k = 0; k < count; ++k) {
    std::vector<Dim> at;
    for (int64_t i : index) at.push_back(dims().constant(i));
    Reg e = fb_.read(r, at);
    if (fb_.type(e).kind == RegKind::kI64) {
      s.items.push_back(int_scalar(fb_.dim(e)));
    } else {
      Expr leaf;
      leaf.reg = e;
      s.items.push_back(expr_scalar(fb_.type(e).kind == RegKind::kF64 ? ScalarKind::kFloat : ScalarKind::kBool, leaf));
    }
    for (size_t a = index.size(); a-- > 0 && ++index[a] == s.shape[a];) index[a] = 0;
  }
  regions_.back()->reads.emplace(v, s);
  return s;
}

Result<Reg> GraphImporter::float_reg(const Scalar& s) {
  if (s.kind != ScalarKind::kFloat) return internal_error("not a float");
  if (!s.expr) return fb_.scalar_const(s.number);
  const Expr& e = *s.expr;
  if (e.kind == Expr::Kind::kRegister) return e.reg;
  for (auto& region : regions_)
    if (auto it = region->exprs.find(s.expr); it != region->exprs.end()) return it->second;
  auto op = static_cast<ScalarOp>(e.op);
  Reg r;
  if (op == ScalarOp::kFromInt) {
    r = fb_.scalar_from_int(e.a.dim, e.round_f32);
  } else if (op == ScalarOp::kFromBool) {
    MSVM_ASSIGN_OR_RETURN(Reg a, bool_reg(e.a));
    r = fb_.scalar_calc(op, a);
  } else {
    MSVM_ASSIGN_OR_RETURN(Reg a, float_reg(e.a));
    Reg b = kNoReg;
    if (e.binary) { MSVM_ASSIGN_OR_RETURN(b, float_reg(e.b)); }
    r = fb_.scalar_calc(op, a, b, e.round_f32);
  }
  regions_.back()->exprs.emplace(s.expr, r);
  return r;
}

Result<Reg> GraphImporter::bool_reg(const Scalar& s) {
  if (s.kind != ScalarKind::kBool) return internal_error("not a bool");
  if (!s.expr) return fb_.scalar_const_bool(s.truth);
  const Expr& e = *s.expr;
  if (e.kind == Expr::Kind::kRegister) return e.reg;
  for (auto& region : regions_)
    if (auto it = region->exprs.find(s.expr); it != region->exprs.end()) return it->second;
  Reg r = kNoReg;
  switch (e.kind) {
    case Expr::Kind::kCompare: r = fb_.compare(static_cast<CalcOp>(e.op), e.a.dim, e.b.dim); break;
    case Expr::Kind::kLogic: {
      MSVM_ASSIGN_OR_RETURN(Reg a, bool_reg(e.a));
      Reg b = kNoReg;
      if (e.binary) { MSVM_ASSIGN_OR_RETURN(b, bool_reg(e.b)); }
      r = fb_.logic(static_cast<CalcOp>(e.op), a, b);
      break;
    }
    case Expr::Kind::kFloat: {
      MSVM_ASSIGN_OR_RETURN(Reg a, float_reg(e.a));
      MSVM_ASSIGN_OR_RETURN(Reg b, float_reg(e.b));
      r = fb_.scalar_calc(static_cast<ScalarOp>(e.op), a, b);
      break;
    }
    case Expr::Kind::kRegister: break;
  }
  regions_.back()->exprs.emplace(s.expr, r);
  return r;
}

}  // namespace msvm::onnx
