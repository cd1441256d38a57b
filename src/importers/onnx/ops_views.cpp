// Reshape, Transpose, Slice and their kin: views where strides can express them.
#include <algorithm>

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

bool unknown_rank(NodeImport& n, Reg r) { return n.fb().tensor_type(r).unknown_rank; }

/// The size that -1 stands for: the exact quotient. What occurs on both sides is cancelled before anything is multiplied, so
/// that a size of 0 among it does no harm. That it divides is checked where the view is made.
Result<Dim> quotient(NodeImport& n, std::vector<Dim> all, std::vector<Dim> others) {
  for (auto it = others.begin(); it != others.end();) {
    auto same = std::find(all.begin(), all.end(), *it);
    if (same == all.end()) {
      ++it;
      continue;
    }
    all.erase(same);
    it = others.erase(it);
  }
  MSVM_ASSIGN_OR_RETURN(Dim numerator, product(n, all));
  MSVM_ASSIGN_OR_RETURN(Dim denominator, product(n, others));
  if (denominator.is_const(0)) return invalid_argument("-1 can't be told where another size is 0");
  Dim q = n.dims().floordiv(numerator, denominator);
  if (q.valid()) return q;
  return n.fb().calc(CalcOp::kFloorDiv, numerator, denominator);
}

/// An element read at run time may be -1 or 0; sizes that were computed from sizes aren't.
bool may_be_marker(NodeImport& n, Dim d) { return d.is_symbol() && !n.im.never_negative(d); }

Result<std::vector<Dim>> resolve_shape(NodeImport& n, const std::vector<Dim>& in, std::vector<Dim> target, bool zeros) {
  int open = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_const(0) && !zeros) {
      if (i >= in.size()) return invalid_argument("a size of 0 stands for an axis that the input doesn't have");
      target[i] = in[i];
    } else if (target[i].is_const() && target[i].value() < 0) {
      if (target[i].value() != -1) return invalid_argument("a size is " + std::to_string(target[i].value()));
      if (open >= 0) return invalid_argument("two sizes are -1");
      open = static_cast<int>(i);
    }
  }
  auto others_than = [&](size_t i) {
    std::vector<Dim> others = target;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    return others;
  };
  if (open >= 0) {
    MSVM_ASSIGN_OR_RETURN(target[static_cast<size_t>(open)], quotient(n, in, others_than(static_cast<size_t>(open))));
    return target;
  }
  // First what 0 stands for, then what -1 does: its quotient needs the others.
  std::vector<bool> marker(target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    marker[i] = may_be_marker(n, target[i]);
    if (marker[i] && !zeros && i < in.size()) target[i] = n.fb().select(n.fb().compare(CalcOp::kEq, target[i], n.constant(0)), in[i], target[i]);
  }
  std::vector<Dim> out = target;
  for (size_t i = 0; i < target.size(); ++i) {
    if (!marker[i]) continue;
    MSVM_ASSIGN_OR_RETURN(Dim all, product(n, in));
    MSVM_ASSIGN_OR_RETURN(Dim others, product(n, others_than(i)));
    Dim q = n.dims().floordiv(all, n.dims().max(others, n.constant(1)));
    if (!q.valid()) return overflow_error("the arithmetic of its sizes overflows");
    out[i] = n.fb().select(n.fb().compare(CalcOp::kEq, target[i], n.constant(-1)), q, target[i]);
  }
  return out;
}

Status reshape(NodeImport& n) {
  bool zeros = n.int_attr("allowzero", 0) != 0;
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_RETURN_IF_ERROR(n.need(1));
  if (!n.sizes_possible(1) || unknown_rank(n, x)) {
    MSVM_ASSIGN_OR_RETURN(Reg shape, n.tensor(1));
    Attributes attrs;
    if (zeros) attrs.set("allowzero", int64_t{1});
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Reshape", {x, shape}, {}, attrs));
    n.set(0, y);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> target, n.sizes(1));
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, resolve_shape(n, n.shape(x), std::move(target), zeros));
  if (shape.size() > static_cast<size_t>(kMaxRank)) return unsupported("more than " + std::to_string(kMaxRank) + " axes");
  n.set(0, shape == n.shape(x) ? x : n.fb().reshape(x, shape));
  return {};
}

Status flatten(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (unknown_rank(n, x)) return import_same(n);
  int64_t axis = n.int_attr("axis", 1);
  std::vector<Dim> shape = n.shape(x);
  auto rank = static_cast<int64_t>(shape.size());
  if (axis < -rank || axis > rank) return invalid_argument("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  auto at = static_cast<size_t>(axis);
  MSVM_ASSIGN_OR_RETURN(Dim outer, product(n, std::span(shape).first(at)));
  MSVM_ASSIGN_OR_RETURN(Dim inner, product(n, std::span(shape).subspan(at)));
  std::vector<Dim> flat{outer, inner};
  n.set(0, flat == shape ? x : n.fb().reshape(x, flat));
  return {};
}

Status transpose(NodeImport& n) {
  std::vector<int64_t> perm = n.ints_attr("perm");
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (unknown_rank(n, x)) {
    if (perm.empty()) return import_same(n);
    x = n.im.fix_rank(x, perm.size());
  }
  size_t rank = n.shape(x).size();
  if (perm.empty())
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> sorted = perm;
  for (int64_t& p : perm)
    if (p < 0) p += static_cast<int64_t>(rank);
  sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != all_axes(rank)) return invalid_argument("perm is no permutation of " + std::to_string(rank) + " axes");
  n.set(0, sorted == perm ? x : n.fb().transpose(x, perm));
  return {};
}

Result<std::vector<int64_t>> normal_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<int64_t> out;
  for (int64_t a : axes) {
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(a, rank));
    out.push_back(axis);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return invalid_argument("an axis is given twice");
  return out;
}

Status unsqueeze(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(auto given, n.ints_attr_or_input("axes", 1, 13));
  if (!given) return invalid_argument("it has no axes");
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (unknown_rank(n, x)) {
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Unsqueeze", {x}, {}, {{"axes", *given}}));
    n.set(0, y);
    return {};
  }
  size_t rank = n.shape(x).size() + given->size();
  if (rank > static_cast<size_t>(kMaxRank)) return unsupported("more than " + std::to_string(kMaxRank) + " axes");
  MSVM_ASSIGN_OR_RETURN(std::vector<int64_t> axes, normal_axes(*given, rank));
  n.set(0, axes.empty() ? x : n.fb().unsqueeze(x, axes));
  return {};
}

Status squeeze(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(auto given, n.ints_attr_or_input("axes", 1, 13));
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (unknown_rank(n, x)) {
    Attributes attrs;
    if (given) attrs.set("axes", *given);
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Squeeze", {x}, {}, attrs));
    n.set(0, y);
    return {};
  }
  std::vector<Dim> shape = n.shape(x);
  std::vector<int64_t> axes;
  if (given) {
    MSVM_ASSIGN_OR_RETURN(axes, normal_axes(*given, shape.size()));
    for (int64_t a : axes)
      if (Dim d = shape[static_cast<size_t>(a)]; d.is_const() && !d.is_const(1)) return invalid_argument("axis " + std::to_string(a) + " has size " + std::to_string(d.value()) + ", not 1");
  } else {
    // Rank is static: an axis of unknown size stays, and it is an error if it turns out to be 1.
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].is_const(1)) axes.push_back(static_cast<int64_t>(i));
      DimRange r = n.dims().range(shape[i]);
      if (shape[i].is_const() || r.min > 1 || r.max < 1) continue;
      n.fb().shape_assert(n.fb().compare(CalcOp::kNe, shape[i], n.constant(1)), n.label() + " drops all axes of size 1, and axis " + std::to_string(i) + " has turned out to be one: give it axes");
    }
  }
  n.set(0, axes.empty() ? x : n.fb().squeeze(x, axes));
  return {};
}

Status expand(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_RETURN_IF_ERROR(n.need(1));
  if (!n.sizes_possible(1) || unknown_rank(n, x)) {
    MSVM_ASSIGN_OR_RETURN(Reg shape, n.tensor(1));
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Expand", {x, shape}));
    n.set(0, y);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> target, n.sizes(1));
  std::vector<Dim> in = n.shape(x), out = target;
  if (out.size() < in.size()) out.insert(out.begin(), in.size() - out.size(), n.constant(1));
  if (out.size() > static_cast<size_t>(kMaxRank)) return unsupported("more than " + std::to_string(kMaxRank) + " axes");
  for (size_t i = 0; i < in.size(); ++i) {
    Dim& d = out[out.size() - in.size() + i];
    Dim joined = n.dims().broadcast(in[i], d);
    if (!joined.valid()) return invalid_argument("sizes " + n.dims().to_string(in[i]) + " and " + n.dims().to_string(d) + " don't broadcast");
    d = joined;
  }
  n.set(0, out == in ? x : n.fb().broadcast(x, out));
  return {};
}

// --- Slice -------------------------------------------------------------------------------------------------------------

/// A bound as ONNX has it (negative counts from the end) -> a position in [0, size], with as little arithmetic as is provable.
Result<Dim> clamp_bound(NodeImport& n, Dim bound, Dim size) {
  DimContext& dims = n.dims();
  auto checked = [](Dim d) -> Result<Dim> {
    if (!d.valid()) return overflow_error("the arithmetic of its bounds overflows");
    return d;
  };
  Dim zero = n.constant(0);
  if (bound.is_const(0)) return zero;
  if (bound.is_const() && bound.value() == INT64_MAX) return size;
  if (bound.is_const() && bound.value() < -(int64_t{1} << 60)) return zero;
  if (always_le(dims, bound, n.constant(-1))) return checked(dims.max(dims.add(size, bound), zero));
  if (bound.is_const() || n.im.never_negative(bound)) return checked(dims.min(bound, size));
  if (always_le(dims, bound, size)) {
    // s - 1 and the like: only the lower end is open
    Dim wrapped = n.fb().select(n.fb().compare(CalcOp::kLt, bound, zero), dims.max(dims.add(size, bound), zero), bound);
    return wrapped;
  }
  Dim inside = dims.min(bound, size), from_end = dims.max(dims.add(size, bound), zero);
  if (!inside.valid() || !from_end.valid()) return overflow_error("the arithmetic of its bounds overflows");
  return n.fb().select(n.fb().compare(CalcOp::kLt, bound, zero), from_end, inside);
}

/// Whether clamping leaves start <= end: it keeps the order of bounds counted from the same end.
bool in_order(NodeImport& n, Dim start, Dim end, Dim begin, Dim stop, Dim size) {
  if (begin.is_const(0) || stop == size || always_le(n.dims(), begin, stop)) return true;
  Dim minus_one = n.constant(-1);
  bool both_front = n.im.never_negative(start) && n.im.never_negative(end);
  bool both_back = always_le(n.dims(), start, minus_one) && always_le(n.dims(), end, minus_one);
  return (both_front || both_back) && always_le(n.dims(), start, end);
}

struct SliceSpec {
  std::vector<Dim> starts, ends;
  std::vector<int64_t> axes, steps;
};

Result<SliceSpec> slice_spec(NodeImport& n) {
  SliceSpec s;
  if (n.opset < 10) {
    for (int64_t v : n.ints_attr("starts")) s.starts.push_back(n.constant(v));
    for (int64_t v : n.ints_attr("ends")) s.ends.push_back(n.constant(v));
    s.axes = n.ints_attr("axes");
  } else {
    if (n.has(3)) { MSVM_ASSIGN_OR_RETURN(s.axes, n.ints(3)); }
    if (n.has(4)) { MSVM_ASSIGN_OR_RETURN(s.steps, n.ints(4)); }
    auto list = [&](size_t i) { return s.axes.empty() || n.sizes_possible(i) ? n.sizes(i) : sizes_of_length(n, i, s.axes.size()); };
    MSVM_ASSIGN_OR_RETURN(s.starts, list(1));
    MSVM_ASSIGN_OR_RETURN(s.ends, list(2));
  }
  if (s.axes.empty()) s.axes = all_axes(s.starts.size());
  if (s.steps.empty()) s.steps.assign(s.starts.size(), 1);
  if (s.ends.size() != s.starts.size() || s.axes.size() != s.starts.size() || s.steps.size() != s.starts.size())
    return invalid_argument("starts, ends, axes and steps differ in length");
  for (int64_t step : s.steps)
    if (step == 0) return invalid_argument("a step is 0");
  return s;
}

Status slice(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(SliceSpec s, slice_spec(n));
  bool backwards = std::any_of(s.steps.begin(), s.steps.end(), [](int64_t step) { return step < 0; });
  if (backwards || unknown_rank(n, x)) {
    std::vector<Dim> args = s.starts;
    args.insert(args.end(), s.ends.begin(), s.ends.end());
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Slice", {x}, args, {{"axes", s.axes}, {"steps", s.steps}}));
    n.set(0, y);
    return {};
  }
  std::vector<Dim> shape = n.shape(x), from, to;
  std::vector<int64_t> axes, steps;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(s.axes[i], shape.size()));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return invalid_argument("an axis is given twice");
    Dim size = shape[static_cast<size_t>(axis)];
    n.im.note_size(size);
    MSVM_ASSIGN_OR_RETURN(Dim begin, clamp_bound(n, s.starts[i], size));
    MSVM_ASSIGN_OR_RETURN(Dim end, clamp_bound(n, s.ends[i], size));
    if (!in_order(n, s.starts[i], s.ends[i], begin, end, size)) end = n.dims().max(begin, end);
    if (!end.valid()) return overflow_error("the arithmetic of its bounds overflows");
    if (begin.is_const(0) && end == size && s.steps[i] == 1) continue;
    axes.push_back(axis);
    steps.push_back(s.steps[i]);
    from.push_back(begin);
    to.push_back(end);
  }
  n.set(0, axes.empty() ? x : n.fb().slice(x, axes, from, to, steps));
  return {};
}

// --- Split -------------------------------------------------------------------------------------------------------------

Result<std::vector<Dim>> split_sizes(NodeImport& n, Dim size) {
  std::vector<Dim> parts;
  size_t count = n.outputs.size();
  int64_t chunks = n.int_attr("num_outputs", static_cast<int64_t>(count));
  if (chunks != static_cast<int64_t>(count)) return invalid_argument("num_outputs is " + std::to_string(chunks) + ", but it has " + std::to_string(count) + " outputs");
  if (n.opset >= 13 && n.has(1)) {
    MSVM_ASSIGN_OR_RETURN(parts, sizes_of_length(n, 1, count));
  } else if (n.has_attr("split")) {
    for (int64_t v : n.ints_attr("split")) parts.push_back(n.constant(v));
  }
  if (!parts.empty()) {
    if (parts.size() != count) return invalid_argument("it has " + std::to_string(count) + " outputs, but " + std::to_string(parts.size()) + " sizes");
    for (Dim p : parts)
      if (p.is_const() && p.value() < 0) return invalid_argument("a size is negative");
    Dim sum = n.constant(0);
    for (Dim p : parts) sum = n.dims().add(sum, p);
    if (!sum.valid()) return overflow_error("the sum of its sizes overflows");
    if (sum == size) return parts;
    if (sum.is_const() && size.is_const()) return invalid_argument("its sizes sum up to " + std::to_string(sum.value()) + ", the axis has " + std::to_string(size.value()));
    n.fb().shape_assert(n.fb().compare(CalcOp::kEq, sum, size), n.label() + ": the sizes of the parts don't sum up to the size of the axis");
    return parts;
  }
  Dim k = n.constant(static_cast<int64_t>(count)), rest = size;
  Dim chunk = n.dims().ceildiv(size, k);
  if (n.opset < 18) {
    Dim remainder = n.dims().mod(size, k);
    if (remainder.is_const() && !remainder.is_const(0)) return invalid_argument("an axis of size " + n.dims().to_string(size) + " can't be split into " + std::to_string(count) + " equal parts");
    if (!remainder.is_const()) n.fb().shape_assert(n.fb().compare(CalcOp::kEq, remainder, n.constant(0)), n.label() + ": the size of the axis isn't a multiple of " + std::to_string(count));
    chunk = n.dims().floordiv(size, k);
    parts.assign(count, chunk);
    return parts;
  }
  for (size_t i = 0; i < count; ++i) {
    Dim part = i + 1 == count ? rest : n.dims().min(chunk, rest);
    rest = n.dims().sub(rest, part);
    if (!part.valid() || !rest.valid()) return overflow_error("the arithmetic of its sizes overflows");
    parts.push_back(part);
  }
  return parts;
}

Status split(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  std::vector<Dim> shape = n.shape(x);
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(n.int_attr("axis", 0), shape.size()));
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> parts, split_sizes(n, shape[static_cast<size_t>(axis)]));
  Dim from = n.constant(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    Dim to = i + 1 == parts.size() ? shape[static_cast<size_t>(axis)] : n.dims().add(from, parts[i]);
    if (n.wants(i)) n.set(i, parts.size() == 1 ? x : n.fb().slice(x, {axis}, {from}, {to}, {1}));
    else n.set(i, absent_value());
    from = to;
  }
  return {};
}

Status dropout(NodeImport& n) {
  n.attr("ratio");
  n.attr("seed");
  if (n.has(2)) {
    MSVM_ASSIGN_OR_RETURN(Scalars training, n.known(2));
    if (training.items.size() != 1 || training.items[0].kind != ScalarKind::kBool) return invalid_argument("training_mode must be one bool");
    if (training.items[0].truth) return unsupported("training isn't supported");
  }
  MSVM_RETURN_IF_ERROR(import_identity(n));
  if (n.outputs.size() > 1) {
    if (!n.wants(1)) {
      n.set(1, absent_value());
      return {};
    }
    MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
    MSVM_ASSIGN_OR_RETURN(Reg mask, n.call("msvm.Fill", {}, n.shape(x), {{"dtype", DType::kBool}, {"value", int64_t{1}}}));
    n.set(1, mask);
  }
  return {};
}

Status concat(NodeImport& n) {
  if (n.inputs.size() == 1) {
    n.attr("axis");
    return import_identity(n);
  }
  return import_same(n);
}

constexpr HandlerRow kRows[] = {
    {"Reshape", reshape},   {"Flatten", flatten}, {"Transpose", transpose}, {"Unsqueeze", unsqueeze}, {"Squeeze", squeeze}, {"Expand", expand},
    {"Slice", slice},       {"Split", split},     {"Identity", import_identity}, {"Dropout", dropout}, {"Concat", concat},
};

}  // namespace

std::span<const HandlerRow> view_handlers() { return kRows; }

}  // namespace msvm::onnx
