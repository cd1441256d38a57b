#include "msvm/jit/lower_strides.h"

#include <algorithm>

#include "msvm/shape/tensor_meta.h"

namespace msvm::jit::lowering {
namespace {

constexpr int kMaxViews = 64;  // of views of views that are followed

std::vector<Stride> dense(const FunctionView& view, const TensorType& type) {
  std::vector<Stride> strides(type.shape.size());
  Stride next = Stride::number(1);
  const auto order = memory_order(type.layout, type.rank());
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = next;
    next = next.times(view.value(type.shape[order[k]]));
  }
  return strides;
}

std::vector<Stride> of_view(const FunctionView& view, const Instr& x, std::vector<Stride> from) {
  const std::vector<Dim>&source = view.type(x.uses[0]).shape, &shape = view.type(x.defs[0]).shape;
  std::vector<Stride> to(shape.size());
  switch (view_kind(x)) {
    case ViewKind::kSlice:
      to = std::move(from);
      for (size_t k = 0; k + 1 < x.imms.size(); k += 2) {
        Stride& s = to[static_cast<size_t>(x.imms[k])];
        if (s.known && __builtin_mul_overflow(s.factor, x.imms[k + 1], &s.factor)) s = {};
      }
      return to;
    case ViewKind::kTranspose:
      for (size_t k = 0; k < x.imms.size(); ++k) to[k] = from[static_cast<size_t>(x.imms[k])];
      return to;
    case ViewKind::kBroadcast: {
      const size_t skip = shape.size() - source.size();
      for (size_t k = 0; k < shape.size(); ++k) {
        const Dim was = k < skip ? Dim() : view.value(source[k - skip]);
        if (!was.valid() || (was.is_const(1) && !view.value(shape[k]).is_const(1))) to[k] = Stride::number(0);
        else if (was == view.value(shape[k])) to[k] = from[k - skip];
      }
      return to;
    }
    case ViewKind::kSqueeze: {
      size_t next = 0;
      for (size_t k = 0; k < source.size(); ++k)
        if (std::find(x.imms.begin(), x.imms.end(), static_cast<int64_t>(k)) == x.imms.end() && next < to.size()) to[next++] = from[k];
      return to;
    }
    case ViewKind::kUnsqueeze: {
      size_t next = 0;
      for (size_t k = 0; k < shape.size(); ++k) {
        if (std::find(x.imms.begin(), x.imms.end(), static_cast<int64_t>(k)) != x.imms.end()) to[k] = Stride::number(0);
        else if (next < from.size()) to[k] = from[next++];
      }
      return to;
    }
    case ViewKind::kWindow:
    case ViewKind::kIdentity: return from;
    case ViewKind::kReshape: return to;
  }
  return to;
}

}  // namespace

Stride Stride::times(Dim size) const {
  if (!known) return {};
  Stride s = *this;
  if (!size.is_const()) s.dims.insert(std::upper_bound(s.dims.begin(), s.dims.end(), size, [](Dim a, Dim b) { return compare_dims(a, b) < 0; }), size);
  else if (__builtin_mul_overflow(s.factor, size.value(), &s.factor)) return {};
  return s;
}

std::vector<Stride> strides_of(const FunctionView& view, Reg tensor) {
  std::vector<const Instr*> chain;  // views down to a tensor whose own type says it all
  Reg at = tensor;
  while (!is_dense(view, at) && static_cast<int>(chain.size()) < kMaxViews) {
    const int32_t d = view.definition(at);
    if (d < 0) break;
    const Instr& x = view.at(d);
    const bool narrow = x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow;
    if (x.op != Opcode::kTensorView && !narrow) break;
    if (view.type(x.uses[0]).unknown_rank) break;
    if (!narrow) chain.push_back(&x);
    at = x.uses[0];
  }
  std::vector<Stride> strides = is_dense(view, at) ? dense(view, view.type(at)) : std::vector<Stride>(view.type(at).shape.size());
  for (size_t k = chain.size(); k-- > 0;) strides = of_view(view, *chain[k], std::move(strides));
  return strides;
}

std::vector<int> loop_axes(const FunctionView& view, Reg tensor) {
  const TensorType& type = view.type(tensor);
  std::vector<int> axes;
  for (uint8_t a : memory_order(type.layout, type.rank()))
    if (!view.value(type.shape[a]).is_const(1)) axes.push_back(a);
  return axes;
}

}  // namespace msvm::jit::lowering
