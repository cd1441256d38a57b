// Operators and views of constants become constants.
#include <cstring>

#include "msvm/ops/registered.h"
#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> s(shape.size(), 1);
  for (size_t a = shape.size(); a-- > 1;) s[a - 1] = s[a] * shape[a];
  return s;
}

/// Shape and strides of a view of a dense constant; false where its bounds aren't constant.
bool describe_view(const Instr& view, const std::vector<int64_t>& from, std::vector<int64_t>& shape, std::vector<int64_t>& strides, int64_t& offset) {
  shape = from;
  strides = row_major_strides(from);
  offset = 0;
  for (Dim d : view.dims)
    if (!d.is_const()) return false;
  auto dim = [&](size_t i) { return view.dims[i].value(); };
  switch (view_kind(view)) {
    case ViewKind::kSlice:
      for (size_t k = 0; k < view.imms.size(); k += 2) {
        const auto axis = static_cast<size_t>(view.imms[k]);
        const int64_t step = view.imms[k + 1], begin = dim(k), end = dim(k + 1);
        if (begin < 0 || end < begin || end > from[axis]) return false;
        offset += begin * strides[axis];
        shape[axis] = (end - begin) / step + ((end - begin) % step != 0);
        if (shape[axis] > 1) strides[axis] *= step;
      }
      return true;
    case ViewKind::kTranspose: {
      const auto s = shape, t = strides;
      for (size_t i = 0; i < view.imms.size(); ++i) shape[i] = s[static_cast<size_t>(view.imms[i])], strides[i] = t[static_cast<size_t>(view.imms[i])];
      return true;
    }
    case ViewKind::kReshape:
      shape.clear();
      for (size_t i = 0; i < view.dims.size(); ++i) shape.push_back(dim(i));
      strides = row_major_strides(shape);
      return element_count(shape) == element_count(from);
    case ViewKind::kSqueeze:
    case ViewKind::kUnsqueeze: return false;  // handled by the result's type
    case ViewKind::kBroadcast:
    case ViewKind::kWindow:
    case ViewKind::kIdentity: return false;
  }
  return false;
}

void copy_elements(const std::byte* from, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t size, std::byte* to) {
  std::vector<int64_t> at(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t n = element_count(shape); n > 0; --n) {
    std::memcpy(to, from + offset * size, static_cast<size_t>(size));
    to += size;
    for (size_t a = shape.size(); a-- > 0;) {
      offset += strides[a];
      if (++at[a] < shape[a]) break;
      offset -= strides[a] * shape[a];
      at[a] = 0;
    }
  }
}

/// Takes a constant of that many elements from the room there is.
bool takes(int64_t& room, int64_t elements, DType dtype) {
  int64_t bytes;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(dtype_bytes(dtype)), &bytes) || bytes > room) return false;
  room -= bytes;
  return true;
}

void fold_view(ValueGraph& g, Node& n, int64_t& room) {
  const Constant* source = g.constant(n.instr.uses[0]);
  if (!source || source->type.dtype == DType::kString) return;
  const Reg result = n.instr.defs[0];
  const ViewKind kind = view_kind(n.instr);
  auto wanted = constant_sizes(g.type(result));
  if (!wanted) return;
  if (kind == ViewKind::kReshape || kind == ViewKind::kSqueeze || kind == ViewKind::kUnsqueeze) {
    if (element_count(*wanted) != element_count(sizes(source->type))) return;
    g.replace_reads(result, g.add_constant(reshaped_constant(g, *source, *wanted)));
    g.remove(n);
    return;
  }
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;
  if (!describe_view(n.instr, sizes(source->type), shape, strides, offset) || shape != *wanted) return;
  if (!takes(room, element_count(shape), source->type.dtype)) return;
  Constant c = new_constant(g, source->name, source->type.dtype, shape);
  const int64_t size = dtype_bytes(c.type.dtype);
  copy_elements(source->data + offset * size, shape, strides, size, const_cast<std::byte*>(c.data));
  g.replace_reads(result, g.add_constant(std::move(c)));
  g.remove(n);
}

void fold_call(ValueGraph& g, Node& n, Evaluator& evaluator, int64_t& room) {
  const Instr& call = n.instr;
  const OpSchema* op = find_op(call.text);
  const Reg out = ValueGraph::output(n);
  if (!op || !op->deterministic || as_registered(*op) || out == kNoReg || !g.plain(out)) return;
  const TensorType type = g.type(out);
  auto shape = constant_sizes(type);
  if (!shape || type.dtype == DType::kString || type.layout != Layout::kRowMajor || !(type.device == Device{})) return;
  std::vector<const Constant*> inputs;
  for (Reg r : call.uses) {
    const Constant* c = g.constant(r);
    if (r != kNoReg && !c) return;
    inputs.push_back(c);
  }
  for (Dim d : call.dims)
    if (!d.is_const()) return;
  if (!takes(room, element_count(*shape), type.dtype)) return;
  auto result = evaluator.evaluate(call, inputs, type);
  if (!result.ok()) return;
  result->name = g.function().regs[static_cast<size_t>(out)].name;
  g.replace_reads(out, g.add_constant(std::move(*result)));
  g.remove_call(n);
}

}  // namespace

void fold_pass(ValueGraph& g, const PassContext& context) {
  for_each_node(g, [&](Node& n) {
    if (n.instr.op == Opcode::kTensorView) fold_view(g, n, *context.constant_bytes);
    else if (n.instr.op == Opcode::kOpCall && context.evaluator) fold_call(g, n, *context.evaluator, *context.constant_bytes);
  });
}

}  // namespace msvm::opt
