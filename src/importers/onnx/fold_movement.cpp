#include <algorithm>
#include <unordered_map>

#include "importers/onnx/fold.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

/// Constant integers of an input; none if it isn't constant.
std::optional<std::vector<int64_t>> constants(const FoldInputs& in, size_t i) {
  if (i >= in.size() || !in[i] || !in[i]->is_const() || !is_integer(in[i]->dtype)) return std::nullopt;
  std::vector<int64_t> out;
  for (const Scalar& s : in[i]->items) out.push_back(s.dim.value());
  return out;
}

/// Axes from an attribute or from input `i`.
std::optional<std::vector<int64_t>> axes_of(NodeImport& n, const FoldInputs& in, size_t i) {
  if (n.has_attr("axes")) return n.ints_attr("axes");
  return constants(in, i);
}

FoldResult identity(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  (void)n;
  return folded(*in[0]);
}

FoldResult gather(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 2 || !in[0]) return no_fold();
  auto indices = constants(in, 1);
  if (!indices || in[0]->shape.empty()) return no_fold();
  const Scalars& x = *in[0];
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(n.int_attr("axis", 0), x.shape.size()));
  auto at = static_cast<size_t>(axis);
  int64_t outer = count_of(std::span(x.shape).first(at)), inner = count_of(std::span(x.shape).subspan(at + 1)), size = x.shape[at];
  Scalars out{x.dtype, {}, {}};
  out.shape.assign(x.shape.begin(), x.shape.begin() + axis);
  out.shape.insert(out.shape.end(), in[1]->shape.begin(), in[1]->shape.end());
  out.shape.insert(out.shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  if (count_of(out.shape) > kMaxConstScalars) return no_fold();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i : *indices) {
      if (i < -size || i >= size) return invalid_argument("index " + std::to_string(i) + " is outside an axis of size " + std::to_string(size));
      int64_t row = i < 0 ? i + size : i;
      for (int64_t k = 0; k < inner; ++k) out.items.push_back(x.items[static_cast<size_t>((o * size + row) * inner + k)]);
    }
  return folded(std::move(out));
}

FoldResult slice(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  std::vector<int64_t> starts, ends, axes, steps;
  if (n.opset < 10) {
    starts = n.ints_attr("starts");
    ends = n.ints_attr("ends");
    axes = n.ints_attr("axes");
  } else {
    auto s = constants(in, 1), e = constants(in, 2);
    if (!s || !e) return no_fold();
    starts = *s;
    ends = *e;
    if (in.size() > 3 && in[3]) {
      auto a = constants(in, 3);
      if (!a) return no_fold();
      axes = *a;
    }
    if (in.size() > 4 && in[4]) {
      auto a = constants(in, 4);
      if (!a) return no_fold();
      steps = *a;
    }
  }
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) return invalid_argument("starts, ends, axes and steps differ in length");
  size_t rank = x.shape.size();
  std::vector<int64_t> from(rank, 0), step(rank, 1), shape = x.shape;
  for (size_t i = 0; i < starts.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(axes[i], rank));
    auto a = static_cast<size_t>(axis);
    int64_t size = x.shape[a];
    if (steps[i] == 0) return invalid_argument("a step is 0");
    if (steps[i] == INT64_MIN) return no_fold();
    auto wrap = [size](int64_t v) { return v < 0 ? (v < -size - 1 ? -1 : v + size) : v; };
    int64_t s = wrap(starts[i]), e = wrap(ends[i]), length;
    if (steps[i] > 0) {
      s = std::clamp<int64_t>(s, 0, size);
      e = std::clamp<int64_t>(e, 0, size);
      length = e > s ? (e - s - 1) / steps[i] + 1 : 0;
    } else {
      s = std::clamp<int64_t>(s, -1, size - 1);
      e = std::clamp<int64_t>(e, -1, size - 1);
      length = s > e ? (s - e - 1) / -steps[i] + 1 : 0;
    }
    from[a] = s;
    step[a] = steps[i];
    shape[a] = length;
  }
  auto strides = strides_of(x.shape);
  Scalars out{x.dtype, shape, {}};
  for_each_index(shape, [&](std::span<const int64_t> index) {
    int64_t at = 0;
    for (size_t i = 0; i < rank; ++i) at += (from[i] + index[i] * step[i]) * strides[i];
    out.items.push_back(x.items[static_cast<size_t>(at)]);
  });
  return folded(std::move(out));
}

FoldResult concat(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0] || in[0]->shape.empty()) return no_fold();
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(n.int_attr("axis", 0), in[0]->shape.size()));
  auto a = static_cast<size_t>(axis);
  Scalars out{in[0]->dtype, in[0]->shape, {}};
  out.shape[a] = 0;
  for (const auto& x : in) {
    if (!x || x->dtype != out.dtype || x->shape.size() != out.shape.size()) return no_fold();
    for (size_t i = 0; i < out.shape.size(); ++i)
      if (i != a && x->shape[i] != out.shape[i]) return no_fold();
    out.shape[a] += x->shape[a];
  }
  if (count_of(out.shape) > kMaxConstScalars) return no_fold();
  int64_t outer = count_of(std::span(out.shape).first(a)), inner = count_of(std::span(out.shape).subspan(a + 1));
  for (int64_t o = 0; o < outer; ++o)
    for (const auto& x : in) {
      int64_t block = x->shape[a] * inner;
      out.items.insert(out.items.end(), x->items.begin() + o * block, x->items.begin() + (o + 1) * block);
    }
  return folded(std::move(out));
}

FoldResult unsqueeze(NodeImport& n, const FoldInputs& in) {
  auto axes = axes_of(n, in, 1);
  if (!axes || in.empty() || !in[0]) return no_fold();
  size_t rank = in[0]->shape.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (int64_t x : *axes) {
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(x, rank));
    if (added[static_cast<size_t>(axis)]) return invalid_argument("axis " + std::to_string(x) + " is given twice");
    added[static_cast<size_t>(axis)] = true;
  }
  Scalars out{in[0]->dtype, {}, in[0]->items};
  for (size_t i = 0, k = 0; i < rank; ++i) out.shape.push_back(added[i] ? 1 : in[0]->shape[k++]);
  return folded(std::move(out));
}

FoldResult squeeze(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  std::vector<bool> gone(x.shape.size(), false);
  if (n.has_attr("axes") || in.size() > 1) {
    auto axes = axes_of(n, in, 1);
    if (!axes) return no_fold();
    for (int64_t a : *axes) {
      MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(a, x.shape.size()));
      if (x.shape[static_cast<size_t>(axis)] != 1) return invalid_argument("axis " + std::to_string(a) + " hasn't size 1");
      gone[static_cast<size_t>(axis)] = true;
    }
  } else {
    for (size_t i = 0; i < gone.size(); ++i) gone[i] = x.shape[i] == 1;
  }
  Scalars out{x.dtype, {}, x.items};
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) out.shape.push_back(x.shape[i]);
  return folded(std::move(out));
}

FoldResult reshape(NodeImport& n, const FoldInputs& in) {
  auto target = constants(in, 1);
  if (!target || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  bool zeros = n.int_attr("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  std::vector<int64_t> shape = *target;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zeros) {
      if (i >= x.shape.size()) return invalid_argument("a size of 0 stands for an axis that the input doesn't have");
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
      continue;
    }
    if (shape[i] < 0 || shape[i] > kMaxConstScalars) return no_fold();
    known = std::min<int64_t>(known * shape[i], int64_t{1} << 40);
  }
  auto total = static_cast<int64_t>(x.items.size());
  if (open >= 0) {
    if (known == 0 || total % known != 0) return no_fold();
    shape[static_cast<size_t>(open)] = total / known;
  }
  if (count_of(shape) != total) return invalid_argument(std::to_string(total) + " elements don't fit the new shape");
  return folded({x.dtype, shape, x.items});
}

FoldResult flatten(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  int64_t axis = n.int_attr("axis", 1), rank = static_cast<int64_t>(x.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return no_fold();
  return folded({x.dtype, {count_of(std::span(x.shape).first(static_cast<size_t>(axis))), count_of(std::span(x.shape).subspan(static_cast<size_t>(axis)))}, x.items});
}

FoldResult transpose(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  std::vector<int64_t> perm = n.ints_attr("perm");
  if (perm.empty())
    for (size_t i = x.shape.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  if (perm.size() != x.shape.size()) return no_fold();
  std::vector<bool> seen(perm.size(), false);
  auto strides = strides_of(x.shape);
  std::vector<int64_t> shape, moved;
  for (int64_t p : perm) {
    if (p < 0 || p >= static_cast<int64_t>(perm.size()) || seen[static_cast<size_t>(p)]) return invalid_argument("perm is no permutation");
    seen[static_cast<size_t>(p)] = true;
    shape.push_back(x.shape[static_cast<size_t>(p)]);
    moved.push_back(strides[static_cast<size_t>(p)]);
  }
  Scalars out{x.dtype, shape, {}};
  for_each_index(shape, [&](std::span<const int64_t> index) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * moved[i];
    out.items.push_back(x.items[static_cast<size_t>(at)]);
  });
  return folded(std::move(out));
}

Scalars spread(const Scalars& x, const std::vector<int64_t>& shape) {
  Scalars out{x.dtype, shape, {}};
  auto strides = strides_of(x.shape);
  size_t lead = shape.size() - x.shape.size();
  for_each_index(shape, [&](std::span<const int64_t> index) {
    int64_t at = 0;
    for (size_t i = 0; i < x.shape.size(); ++i) at += (index[lead + i] % x.shape[i]) * strides[i];
    out.items.push_back(x.items[static_cast<size_t>(at)]);
  });
  return out;
}

FoldResult expand(NodeImport& n, const FoldInputs& in) {
  (void)n;
  auto target = constants(in, 1);
  if (!target || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  std::vector<int64_t> shape(std::max(target->size(), x.shape.size()), 1);
  for (size_t i = 0; i < target->size(); ++i) shape[shape.size() - target->size() + i] = (*target)[i];
  for (size_t i = 0; i < x.shape.size(); ++i) {
    int64_t& s = shape[shape.size() - x.shape.size() + i];
    if (s == 1) s = x.shape[i];
    if (x.shape[i] != 1 && x.shape[i] != s) return no_fold();
  }
  for (int64_t s : shape)
    if (s < 0) return no_fold();
  if (count_of(shape) > kMaxScalars || x.items.empty()) return no_fold();
  return folded(spread(x, shape));
}

FoldResult tile(NodeImport& n, const FoldInputs& in) {
  (void)n;
  auto repeats = constants(in, 1);
  if (!repeats || !in[0] || repeats->size() != in[0]->shape.size()) return no_fold();
  std::vector<int64_t> shape;
  for (size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0 || (*repeats)[i] > kMaxScalars) return no_fold();
    shape.push_back(in[0]->shape[i] * (*repeats)[i]);
  }
  if (count_of(shape) > kMaxScalars || in[0]->items.empty()) return no_fold();
  return folded(spread(*in[0], shape));
}

FoldResult constant_of_shape(NodeImport& n, const FoldInputs& in) {
  auto shape = constants(in, 0);
  if (!shape || shape->size() > static_cast<size_t>(kMaxRank)) return no_fold();
  for (int64_t d : *shape)
    if (d < 0) return no_fold();
  if (count_of(*shape) > kMaxScalars) return no_fold();
  Scalars value{DType::kF32, {1}, {float_scalar(0)}};
  if (const Attribute* a = n.attr("value"); a && a->tensor) {
    MSVM_ASSIGN_OR_RETURN(Value v, n.im.constant(*a->tensor));
    auto known = known_scalars(v, n.dims());
    if (!known || known->items.size() != 1) return no_fold();
    value = *known;
  }
  Scalars out{value.dtype, *shape, {}};
  out.items.assign(static_cast<size_t>(count_of(*shape)), value.items[0]);
  return folded(std::move(out));
}

FoldResult range(NodeImport& n, const FoldInputs& in) {
  n.attr("stash_type");
  auto start = constants(in, 0), limit = constants(in, 1), delta = constants(in, 2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return no_fold();
  int64_t s = (*start)[0], l = (*limit)[0], d = (*delta)[0];
  constexpr int64_t kBig = int64_t{1} << 60;
  if (d == 0 || std::abs(s) > kBig || std::abs(l) > kBig || std::abs(d) > kBig) return no_fold();
  int64_t count = d > 0 ? (l > s ? (l - s - 1) / d + 1 : 0) : (s > l ? (s - l - 1) / -d + 1 : 0);
  if (count > kMaxScalars) return no_fold();
  Scalars out{in[0]->dtype, {count}, {}};
  for (int64_t i = 0; i < count; ++i) out.items.push_back(int_scalar(n.constant(s + i * d)));
  return folded(std::move(out));
}

FoldResult non_zero(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0] || !in[0]->is_const()) return no_fold();
  const Scalars& x = *in[0];
  std::vector<std::vector<int64_t>> found(x.shape.size());
  size_t k = 0;
  for_each_index(x.shape, [&](std::span<const int64_t> index) {
    const Scalar& s = x.items[k++];
    bool set = s.kind == ScalarKind::kInt ? s.dim.value() != 0 : s.kind == ScalarKind::kFloat ? s.number != 0 : s.truth;
    if (set)
      for (size_t i = 0; i < index.size(); ++i) found[i].push_back(index[i]);
  });
  if (found.empty()) return no_fold();
  Scalars out{DType::kI64, {static_cast<int64_t>(found.size()), static_cast<int64_t>(found[0].size())}, {}};
  for (const auto& row : found)
    for (int64_t i : row) out.items.push_back(int_scalar(n.constant(i)));
  return folded(std::move(out));
}

FoldResult scatter_nd(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 3 || !in[0] || !in[2] || n.string_attr("reduction", "none") != "none") return no_fold();
  auto indices = constants(in, 1);
  const Scalars &x = *in[0], &updates = *in[2];
  if (!indices || x.shape.size() != 1 || in[1]->shape.empty() || in[1]->shape.back() != 1 || updates.items.size() != indices->size() || updates.dtype != x.dtype) return no_fold();
  Scalars out = x;
  for (size_t i = 0; i < indices->size(); ++i) {
    int64_t at = (*indices)[i] < 0 ? (*indices)[i] + x.shape[0] : (*indices)[i];
    if (at < 0 || at >= x.shape[0]) return invalid_argument("index " + std::to_string((*indices)[i]) + " is outside the tensor");
    out.items[static_cast<size_t>(at)] = updates.items[i];
  }
  return folded(std::move(out));
}

FoldResult split(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(n.int_attr("axis", 0), x.shape.size()));
  auto a = static_cast<size_t>(axis);
  std::vector<int64_t> parts = n.ints_attr("split");
  if (in.size() > 1 && in[1]) {
    auto given = constants(in, 1);
    if (!given) return no_fold();
    parts = *given;
  }
  auto count = static_cast<int64_t>(n.outputs.size());
  n.attr("num_outputs");
  if (parts.empty()) {
    int64_t chunk = (x.shape[a] + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) parts.push_back(std::clamp<int64_t>(x.shape[a] - i * chunk, 0, chunk));
  }
  int64_t sum = 0;
  for (int64_t p : parts) {
    if (p < 0 || p > x.shape[a]) return no_fold();
    sum += p;
  }
  if (static_cast<int64_t>(parts.size()) != count || sum != x.shape[a]) return no_fold();
  int64_t outer = count_of(std::span(x.shape).first(a)), inner = count_of(std::span(x.shape).subspan(a + 1)), from = 0;
  std::vector<Scalars> out;
  for (int64_t p : parts) {
    Scalars part{x.dtype, x.shape, {}};
    part.shape[a] = p;
    for (int64_t o = 0; o < outer; ++o) {
      auto begin = x.items.begin() + (o * x.shape[a] + from) * inner;
      part.items.insert(part.items.end(), begin, begin + p * inner);
    }
    from += p;
    out.push_back(std::move(part));
  }
  return std::optional(std::move(out));
}

constexpr FoldRow kRows[] = {
    {"Identity", identity},   {"Gather", gather},       {"Slice", slice},        {"Concat", concat},
    {"Unsqueeze", unsqueeze}, {"Squeeze", squeeze},     {"Reshape", reshape},    {"Flatten", flatten},
    {"Transpose", transpose}, {"Expand", expand},       {"Tile", tile},          {"ConstantOfShape", constant_of_shape},
    {"Range", range},         {"NonZero", non_zero},    {"ScatterND", scatter_nd}, {"Split", split},
};

}  // namespace

std::span<const FoldRow> movement_folds() { return kRows; }

int64_t count_of(std::span<const int64_t> shape) {
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : shape) {
    empty |= d <= 0;
    n = d > 0 && n > (kMaxConstScalars + 1) / d ? kMaxConstScalars + 1 : n * std::max<int64_t>(d, 1);
  }
  return empty ? 0 : n;
}

Result<int64_t> normal_axis(int64_t axis, size_t rank) {
  auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) return invalid_argument("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + r : axis;
}

std::vector<int64_t> strides_of(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

Fold find_fold(std::string_view op_type) {
  static const auto* table = [] {
    auto* t = new std::unordered_map<std::string_view, Fold>;
    for (auto rows : {arithmetic_folds(), movement_folds()})
      for (const FoldRow& r : rows) t->emplace(r.op_type, r.fold);
    return t;
  }();
  auto it = table->find(op_type);
  return it == table->end() ? nullptr : it->second;
}

}  // namespace msvm::onnx
