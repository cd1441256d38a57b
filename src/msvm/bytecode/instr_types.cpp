#include "msvm/bytecode/instr_types.h"

#include <algorithm>

namespace msvm {
namespace {

RegType scalar(RegKind k) { return {k, {}}; }
RegType tensor(TensorType t) { return {RegKind::kTensor, std::move(t)}; }

RegKind element_kind(DType d) {
  if (is_float(d)) return RegKind::kF64;
  return d == DType::kBool ? RegKind::kBool : RegKind::kI64;
}

const RegType* operand(const Instr& i, const KnownType& known, size_t k = 0) {
  return k < i.uses.size() && i.uses[k] >= 0 ? known(i.uses[k]) : nullptr;
}

// Of the kind `kind`, else null.
const RegType* operand_of(const Instr& i, const KnownType& known, RegKind kind) {
  const RegType* t = operand(i, known);
  return t && t->kind == kind ? t : nullptr;
}

std::optional<RegType> create_type(const Function& f, const Instr& i, const KnownType& known) {
  switch (create_kind(i)) {
    case CreateKind::kInput: {
      if (i.imms.size() != 1 || i.imms[0] < 0 || static_cast<size_t>(i.imms[0]) >= f.inputs.size()) return std::nullopt;
      RegType t = f.inputs[static_cast<size_t>(i.imms[0])].type;
      if (t.kind != RegKind::kTensor) return std::nullopt;
      t.tensor.shape = i.dims;
      return t;
    }
    case CreateKind::kNarrow: {
      const RegType* source = operand_of(i, known, RegKind::kTensor);
      if (!source) return std::nullopt;
      RegType t = *source;
      t.tensor.unknown_rank = false;
      t.tensor.shape = i.dims;
      t.tensor.filled.reset();
      return t;
    }
    case CreateKind::kDestination:
      return std::nullopt;  // its text states dtype and device
  }
  return std::nullopt;
}

// Cutting axes keeps a dense tensor dense only along the outermost axis that isn't 1.
bool cut_stays_dense(const TensorType& source, int64_t axis) {
  for (int64_t a = 0; a < axis; ++a)
    if (!source.shape[static_cast<size_t>(a)].is_const(1)) return false;
  return true;
}

bool distinct_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> seen(rank);
  for (int64_t a : axes) {
    if (a < 0 || static_cast<size_t>(a) >= rank || seen[static_cast<size_t>(a)]) return false;
    seen[static_cast<size_t>(a)] = true;
  }
  return true;
}

bool slice_type(DimContext& dims, const Instr& i, TensorType& t) {
  const TensorType source = t;
  if (i.imms.size() % 2 != 0 || i.dims.size() != i.imms.size()) return false;
  for (size_t k = 0; k < i.imms.size(); k += 2) {
    int64_t axis = i.imms[k], step = i.imms[k + 1];
    if (axis < 0 || axis >= t.rank() || step < 1) return false;
    Dim& size = t.shape[static_cast<size_t>(axis)];
    size = dims.ceildiv(dims.sub(i.dims[k + 1], i.dims[k]), dims.constant(step));
    t.strided = t.strided || step != 1 || !cut_stays_dense(source, axis);
  }
  return true;
}

bool transpose_type(const Instr& i, TensorType& t) {
  if (i.imms.size() != t.shape.size() || !distinct_axes(i.imms, t.shape.size())) return false;
  std::vector<Dim> shape;
  int64_t last = -1;
  for (int64_t axis : i.imms) {
    shape.push_back(t.shape[static_cast<size_t>(axis)]);
    if (shape.back().is_const(1)) continue;
    const int64_t place = t.layout == Layout::kNhwc && axis == 1 ? t.rank() : axis;  // in memory
    t.strided = t.strided || place < last;  // axes that aren't 1 keep their order -> still dense
    last = place;
  }
  t.layout = Layout::kRowMajor;
  t.shape = std::move(shape);
  return true;
}

bool broadcast_type(const Instr& i, TensorType& t) {
  if (i.dims.size() < t.shape.size()) return false;
  size_t lead = i.dims.size() - t.shape.size();
  for (size_t k = 0; k < i.dims.size(); ++k)
    t.strided = t.strided || (k < lead ? !i.dims[k].is_const(1) : !(i.dims[k] == t.shape[k - lead]));
  t.shape = i.dims;
  return true;
}

bool squeeze_type(const Instr& i, TensorType& t) {
  if (!distinct_axes(i.imms, t.shape.size())) return false;
  std::vector<Dim> shape;
  for (size_t k = 0; k < t.shape.size(); ++k)
    if (std::find(i.imms.begin(), i.imms.end(), static_cast<int64_t>(k)) == i.imms.end()) shape.push_back(t.shape[k]);
  t.shape = std::move(shape);
  return true;
}

bool unsqueeze_type(DimContext& dims, const Instr& i, TensorType& t) {
  for (int64_t axis : i.imms) {
    if (axis < 0 || axis > t.rank()) return false;
    t.shape.insert(t.shape.begin() + axis, dims.constant(1));
    if (t.rank() > kMaxRank) return false;
  }
  return true;
}

bool window_type(DimContext& dims, const Instr& i, TensorType& t) {
  if (i.imms.size() != 1 || i.dims.size() != 2 || i.imms[0] < 0 || i.imms[0] >= t.rank()) return false;
  t.strided = t.strided || !cut_stays_dense(t, i.imms[0]);
  t.shape[static_cast<size_t>(i.imms[0])] = dims.sub(i.dims[1], i.dims[0]);
  t.filled.reset();
  return true;
}

std::optional<RegType> phi_type(const Instr& i, const KnownType& known) {
  if (i.op == Opcode::kScalarPhi && !i.dims.empty()) return scalar(RegKind::kI64);
  const RegType* t = operand(i, known);
  return t ? std::optional(*t) : std::nullopt;
}

}  // namespace

std::optional<TensorType> view_type(DimContext& dims, const TensorType& source, const Instr& view) {
  TensorType t = source;
  bool fits = false;
  if (source.unknown_rank && view_kind(view) != ViewKind::kIdentity) return std::nullopt;
  switch (view_kind(view)) {
    case ViewKind::kSlice:
      fits = slice_type(dims, view, t);
      break;
    case ViewKind::kReshape:
      t.shape = view.dims;
      fits = true;
      break;
    case ViewKind::kTranspose:
      fits = transpose_type(view, t);
      break;
    case ViewKind::kBroadcast:
      fits = broadcast_type(view, t);
      break;
    case ViewKind::kSqueeze:
      fits = squeeze_type(view, t);
      break;
    case ViewKind::kUnsqueeze:
      fits = unsqueeze_type(dims, view, t);
      break;
    case ViewKind::kWindow:
      fits = window_type(dims, view, t);
      break;
    case ViewKind::kIdentity:
      fits = true;
      break;
  }
  for (Dim d : t.shape) fits = fits && d.valid();
  return fits && t.rank() <= kMaxRank ? std::optional(t) : std::nullopt;
}

std::optional<RegType> visible_type(const Module& module, const Function& f, const Instr& i, const KnownType& known) {
  switch (i.op) {
    case Opcode::kTensorCreate:
      return create_type(f, i, known);
    case Opcode::kTensorConst:
      if (i.imms.size() != 1 || i.imms[0] < 0 || static_cast<size_t>(i.imms[0]) >= module.constants.size()) return std::nullopt;
      return tensor(module.constants[static_cast<size_t>(i.imms[0])].type);
    case Opcode::kTensorRead: {
      const RegType* source = operand_of(i, known, RegKind::kTensor);
      return source ? std::optional(scalar(element_kind(source->tensor.dtype))) : std::nullopt;
    }
    case Opcode::kScalarInput:
      if (i.imms.size() != 1 || i.imms[0] < 0 || static_cast<size_t>(i.imms[0]) >= f.inputs.size()) return std::nullopt;
      return f.inputs[static_cast<size_t>(i.imms[0])].type;
    case Opcode::kShapePropagate:
    case Opcode::kListLength:
      return scalar(RegKind::kI64);
    case Opcode::kShapeCalc:
      return scalar(calc_op_is_bool(calc_op(i)) ? RegKind::kBool : RegKind::kI64);
    case Opcode::kScalarCalc:
      if (scalar_op_is_bool(scalar_op(i))) return scalar(RegKind::kBool);
      return scalar(scalar_op(i) == ScalarOp::kToInt ? RegKind::kI64 : RegKind::kF64);
    case Opcode::kListAppend: {
      const RegType* list = operand_of(i, known, RegKind::kList);
      return list ? std::optional(*list) : std::nullopt;
    }
    case Opcode::kScalarConst:  // the literal says it
    case Opcode::kTensorAlloc:
    case Opcode::kTensorFree:
    case Opcode::kTensorResize:
    case Opcode::kTensorView:
    case Opcode::kTensorCopy:
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi:
    case Opcode::kShapeAssert:
    case Opcode::kOpCall:
    case Opcode::kListMake:
    case Opcode::kListGet:
    case Opcode::kJump:
    case Opcode::kBranchIf:
    case Opcode::kSwitch:
    case Opcode::kReturn:
    case Opcode::kTrap:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<RegType> computed_type(const Module& module, const Function& f, const Instr& i, const KnownType& known) {
  switch (i.op) {
    case Opcode::kTensorView: {
      const RegType* source = operand_of(i, known, RegKind::kTensor);
      if (!source) return std::nullopt;
      auto t = view_type(*module.dims, source->tensor, i);
      return t ? std::optional(tensor(*t)) : std::nullopt;
    }
    case Opcode::kTensorResize: {
      const RegType* source = operand_of(i, known, RegKind::kTensor);
      if (!source || i.imms.size() != 1 || i.dims.size() != 1 || i.imms[0] < 0 || i.imms[0] >= source->tensor.rank())
        return std::nullopt;
      RegType t = *source;
      t.tensor.shape[static_cast<size_t>(i.imms[0])] = i.dims[0];
      t.tensor.strided = true;  // strides come from the capacity
      return t;
    }
    case Opcode::kListMake: {
      const RegType* item = operand_of(i, known, RegKind::kTensor);
      return item ? std::optional(RegType{RegKind::kList, {.dtype = item->tensor.dtype}}) : std::nullopt;
    }
    case Opcode::kListGet: {
      const RegType* list = operand_of(i, known, RegKind::kList);
      return list ? std::optional(tensor({.dtype = list->tensor.dtype, .unknown_rank = true, .strided = true})) : std::nullopt;
    }
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi:
      return phi_type(i, known);
    case Opcode::kTensorCreate:
    case Opcode::kTensorConst:
    case Opcode::kTensorAlloc:
    case Opcode::kTensorFree:
    case Opcode::kTensorCopy:
    case Opcode::kTensorRead:
    case Opcode::kScalarInput:
    case Opcode::kShapePropagate:
    case Opcode::kShapeCalc:
    case Opcode::kScalarConst:
    case Opcode::kScalarCalc:
    case Opcode::kShapeAssert:
    case Opcode::kOpCall:
    case Opcode::kListAppend:
    case Opcode::kListLength:
    case Opcode::kJump:
    case Opcode::kBranchIf:
    case Opcode::kSwitch:
    case Opcode::kReturn:
    case Opcode::kTrap:
      return visible_type(module, f, i, known);
  }
  return std::nullopt;
}

}  // namespace msvm
