#include "msvm/jit/lower_uses.h"

#include <algorithm>

#include "msvm/jit/lower_strides.h"

namespace msvm::jit::lowering {
namespace {

constexpr int kMaxViews = 64;  // of views of views that seen() follows

bool contains(std::span<const int32_t> members, int32_t i) { return std::binary_search(members.begin(), members.end(), i); }

/// The tensor whose storage the instruction's result shares, or kNoReg.
Reg shared(const Instr& x) {
  if (x.op == Opcode::kTensorView) return x.uses[0];
  if (x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow) return x.uses[0];
  return kNoReg;
}

/// Whether the instruction looks at elements of its uses, not just at sizes or references.
bool reads_elements(const Instr& x) {
  switch (x.op) {
    case Opcode::kTensorView: case Opcode::kTensorCreate: case Opcode::kTensorAlloc: case Opcode::kTensorFree: case Opcode::kShapePropagate: return false;
    default: return true;
  }
}

/// The axis of the view's source that each of its axes runs along; false where elements are numbered otherwise.
bool view_axes(const FunctionView& v, const Instr& x, std::vector<int>& axis, bool& sure) {
  const auto &from = v.type(x.uses[0]).shape, &to = v.type(x.defs[0]).shape;
  axis.assign(to.size(), -1);
  if (x.op == Opcode::kTensorCreate || view_kind(x) == ViewKind::kIdentity) {
    for (size_t a = 0; a < to.size() && from.size() == to.size(); ++a) axis[a] = static_cast<int>(a);
    return from.size() == to.size();
  }
  switch (view_kind(x)) {
    case ViewKind::kTranspose:
      for (size_t a = 0; a < to.size(); ++a) axis[a] = static_cast<int>(x.imms[a]);
      return true;
    case ViewKind::kBroadcast:
      for (size_t a = to.size() - from.size(); a < to.size(); ++a) {
        const size_t source = a - (to.size() - from.size());
        const Dim size = v.value(from[source]);
        if (size.is_const(1)) continue;
        axis[a] = static_cast<int>(source);
        sure = sure && size == v.value(to[a]);
      }
      return true;
    case ViewKind::kReshape: case ViewKind::kSqueeze: case ViewKind::kUnsqueeze: {
      if (v.type(x.uses[0]).layout != Layout::kRowMajor || v.type(x.defs[0]).layout != Layout::kRowMajor) return false;
      const std::vector<int> a = loop_axes(v, x.uses[0]), b = loop_axes(v, x.defs[0]);
      if (a.size() != b.size()) return false;
      for (size_t k = 0; k < a.size(); ++k) {
        if (v.value(from[static_cast<size_t>(a[k])]) != v.value(to[static_cast<size_t>(b[k])])) return false;
        axis[static_cast<size_t>(b[k])] = a[k];
      }
      return true;
    }
    case ViewKind::kSlice: case ViewKind::kWindow: case ViewKind::kIdentity: return false;
  }
  return false;
}

using Touches = std::unordered_map<Reg, std::vector<int32_t>>;
std::span<const int32_t> list(const Touches& touches, Reg root) {
  const auto at = touches.find(root);
  return at == touches.end() ? std::span<const int32_t>() : at->second;
}

}  // namespace

Uses::Uses(const FunctionView& view, const Region& region) : v_(view) {
  for (const Segment& s : region.segments)
    for (int32_t k = s.begin; k < s.end; ++k) {
      const Instr& x = v_.at(k);
      if (reads_elements(x))
        for (Reg r : x.uses)
          if (v_.is_tensor(r)) readers_[root(r)].push_back(k);
      for (Reg r : x.outs)
        if (v_.is_tensor(r)) writers_[root(r)].push_back(k);
    }
  for (Reg r : region.outputs)
    if (v_.is_tensor(r)) read_elsewhere_.insert(root(r));
  for (Reg r : region.written) read_elsewhere_.insert(root(r));
}

Reg Uses::root(Reg tensor) const {
  for (;;) {
    const int32_t d = v_.definition(tensor);
    const Reg source = d < 0 ? kNoReg : shared(v_.at(d));
    if (source == kNoReg || !v_.is_tensor(source)) return tensor;
    tensor = source;
  }
}

std::span<const int32_t> Uses::writers(Reg root) const { return list(writers_, root); }

bool Uses::read_outside(Reg root, std::span<const int32_t> members) const {
  if (read_elsewhere_.contains(root)) return true;
  const auto all = list(readers_, root);
  return std::any_of(all.begin(), all.end(), [&](int32_t i) { return !contains(members, i); });
}

int32_t Uses::obstacle(std::span<const int32_t> members) const {
  const int32_t place = members.back();
  int32_t first = -1;
  auto look = [&](const Touches& touches, Reg r, int32_t from) {
    if (r == kNoReg || !v_.is_tensor(r)) return;
    const auto all = list(touches, root(r));
    for (auto t = std::upper_bound(all.begin(), all.end(), from); t != all.end() && *t < place; ++t)
      if (!contains(members, *t)) {
        if (first < 0 || *t < first) first = *t;
        return;
      }
  };
  for (int32_t m : members) {
    for (Reg r : v_.at(m).outs) look(readers_, r, m);  // whatever else writes there is another window: the verifier proved it
    for (Reg r : v_.at(m).uses) look(writers_, r, m);
  }
  return first;
}

Seen Uses::seen(Reg tensor) const {
  Seen s{tensor, {}};
  for (int a = 0; a < v_.type(tensor).rank(); ++a) s.axis.push_back(v_.value(v_.type(tensor).shape[static_cast<size_t>(a)]).is_const(1) ? -1 : a);
  for (int steps = 0; steps < kMaxViews; ++steps) {
    const int32_t d = v_.definition(s.base);
    const Reg source = d < 0 ? kNoReg : shared(v_.at(d));
    if (source == kNoReg || !v_.is_tensor(source) || v_.type(source).unknown_rank) return s;
    std::vector<int> axis;
    if (!view_axes(v_, v_.at(d), axis, s.sure)) return s;
    for (int& a : s.axis) a = a < 0 ? -1 : axis[static_cast<size_t>(a)];
    s.base = source;
  }
  return s;
}

}  // namespace msvm::jit::lowering
