#include <algorithm>

#include "importers/onnx/fold.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

std::optional<std::vector<int64_t>> broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t x = i < out.size() - a.size() ? 1 : a[i - (out.size() - a.size())];
    int64_t y = i < out.size() - b.size() ? 1 : b[i - (out.size() - b.size())];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

const Scalar& element(const Scalars& s, std::span<const int64_t> index) {
  int64_t at = 0;
  size_t lead = index.size() - s.shape.size();
  for (size_t i = 0; i < s.shape.size(); ++i) at = at * s.shape[i] + (s.shape[i] == 1 ? 0 : index[lead + i]);
  return s.items[static_cast<size_t>(at)];
}

using Binary = MaybeScalar (*)(GraphImporter&, DType, const Scalar&, const Scalar&);

FoldResult elementwise(NodeImport& n, const Scalars& a, const Scalars& b, DType result, Binary f) {
  if (a.dtype != b.dtype) return no_fold();
  auto shape = broadcast_shapes(a.shape, b.shape);
  if (!shape || count_of(*shape) > kMaxConstScalars) return no_fold();
  Scalars out{result, *shape, {}};
  bool complete = true;
  for_each_index(*shape, [&](std::span<const int64_t> index) {
    if (!complete) return;
    auto v = f(n.im, a.dtype, element(a, index), element(b, index));
    if (v) out.items.push_back(std::move(*v));
    else complete = false;
  });
  return complete ? folded(std::move(out)) : no_fold();
}

template <Binary f>
FoldResult binary(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 2 || !in[0] || !in[1]) return no_fold();
  return elementwise(n, *in[0], *in[1], in[0]->dtype, f);
}

FoldResult modulo(NodeImport& n, const FoldInputs& in) {
  if (n.int_attr("fmod", 0) != 0 || in.size() != 2 || !in[0] || !in[1]) return no_fold();
  return elementwise(n, *in[0], *in[1], in[0]->dtype, scalar_mod);
}

template <Binary f>
FoldResult variadic(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0]) return no_fold();
  Scalars result = *in[0];
  for (size_t i = 1; i < in.size(); ++i) {
    if (!in[i]) return no_fold();
    MSVM_ASSIGN_OR_RETURN(auto next, elementwise(n, result, *in[i], result.dtype, f));
    if (!next) return no_fold();
    result = std::move((*next)[0]);
  }
  return folded(std::move(result));
}

template <CalcOp op>
FoldResult compare(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 2 || !in[0] || !in[1]) return no_fold();
  return elementwise(n, *in[0], *in[1], DType::kBool, [](GraphImporter& im, DType, const Scalar& a, const Scalar& b) { return scalar_compare(im, op, a, b); });
}

template <CalcOp op>
FoldResult logic(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 2 || !in[0] || !in[1] || in[0]->dtype != DType::kBool) return no_fold();
  return elementwise(n, *in[0], *in[1], DType::kBool, [](GraphImporter& im, DType, const Scalar& a, const Scalar& b) { return scalar_logic(im, op, a, b); });
}

template <class F>
FoldResult map(const FoldInputs& in, DType result, F f) {
  Scalars out{result, in[0]->shape, {}};
  for (const Scalar& s : in[0]->items) {
    MaybeScalar v = f(s);
    if (!v) return no_fold();
    out.items.push_back(std::move(*v));
  }
  return folded(std::move(out));
}

template <ScalarOp op>
FoldResult float_unary(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  return map(in, in[0]->dtype, [&](const Scalar& s) { return scalar_unary(n.im, in[0]->dtype, op, s); });
}

FoldResult negate(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  return map(in, in[0]->dtype, [&](const Scalar& s) { return scalar_neg(n.im, in[0]->dtype, s); });
}

FoldResult absolute(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  return map(in, in[0]->dtype, [&](const Scalar& s) { return scalar_abs(n.im, in[0]->dtype, s); });
}

FoldResult invert(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0] || in[0]->dtype != DType::kBool) return no_fold();
  return map(in, DType::kBool, [&](const Scalar& s) { return scalar_not(n.im, s); });
}

FoldResult cast(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 1 || !in[0]) return no_fold();
  MSVM_ASSIGN_OR_RETURN(DType to, n.dtype_attr("to", DType::kF32));
  n.attr("saturate");
  n.attr("round_mode");
  return map(in, to, [&](const Scalar& s) { return scalar_cast(n.im, in[0]->dtype, to, s); });
}

FoldResult cast_like(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 2 || !in[0] || !in[1]) return no_fold();
  n.attr("saturate");
  n.attr("round_mode");
  return map(in, in[1]->dtype, [&](const Scalar& s) { return scalar_cast(n.im, in[0]->dtype, in[1]->dtype, s); });
}

FoldResult where(NodeImport& n, const FoldInputs& in) {
  if (in.size() != 3 || !in[0] || !in[1] || !in[2] || in[1]->dtype != in[2]->dtype) return no_fold();
  auto shape = broadcast_shapes(in[0]->shape, in[1]->shape);
  if (shape) shape = broadcast_shapes(*shape, in[2]->shape);
  if (!shape || count_of(*shape) > kMaxConstScalars) return no_fold();
  Scalars out{in[1]->dtype, *shape, {}};
  bool complete = true;
  for_each_index(*shape, [&](std::span<const int64_t> index) {
    if (!complete) return;
    auto v = scalar_select(n.im, element(*in[0], index), element(*in[1], index), element(*in[2], index));
    if (v) out.items.push_back(std::move(*v));
    else complete = false;
  });
  return complete ? folded(std::move(out)) : no_fold();
}

template <Binary f, int64_t start, bool has_start>
FoldResult reduce(NodeImport& n, const FoldInputs& in) {
  if (in.empty() || !in[0]) return no_fold();
  const Scalars& x = *in[0];
  std::vector<int64_t> axes = n.ints_attr("axes");
  if (in.size() > 1 && in[1]) {
    if (!in[1]->is_const()) return no_fold();
    for (const Scalar& s : in[1]->items) axes.push_back(s.dim.value());
  }
  bool keep = n.int_attr("keepdims", 1) != 0, nothing = n.int_attr("noop_with_empty_axes", 0) != 0 && axes.empty();
  if (nothing) return folded(x);
  std::vector<bool> reduced(x.shape.size(), axes.empty());
  for (int64_t a : axes) {
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(a, x.shape.size()));
    reduced[static_cast<size_t>(axis)] = true;
  }
  std::vector<int64_t> kept;
  for (size_t i = 0; i < x.shape.size(); ++i) kept.push_back(reduced[i] ? 1 : x.shape[i]);
  if (!is_integer(x.dtype) || (!has_start && x.items.empty())) return no_fold();
  std::vector<MaybeScalar> sums(static_cast<size_t>(count_of(kept)));
  auto strides = strides_of(kept);
  bool complete = true;
  size_t k = 0;
  for_each_index(x.shape, [&](std::span<const int64_t> index) {
    size_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += static_cast<size_t>(reduced[i] ? 0 : index[i] * strides[i]);
    const Scalar& v = x.items[k++];
    if (!complete) return;
    sums[at] = sums[at] ? f(n.im, x.dtype, *sums[at], v) : MaybeScalar(v);
    complete = sums[at].has_value();
  });
  if (!complete) return no_fold();
  Scalars out{x.dtype, {}, {}};
  for (size_t i = 0; i < kept.size(); ++i)
    if (keep || !reduced[i]) out.shape.push_back(kept[i]);
  for (auto& s : sums) out.items.push_back(s ? std::move(*s) : int_scalar(n.constant(start)));
  return folded(std::move(out));
}

constexpr FoldRow kRows[] = {
    {"Add", binary<scalar_add>},
    {"Sub", binary<scalar_sub>},
    {"Mul", binary<scalar_mul>},
    {"Div", binary<scalar_div>},
    {"Mod", modulo},
    {"Min", variadic<scalar_min>},
    {"Max", variadic<scalar_max>},
    {"Sum", variadic<scalar_add>},
    {"Floor", float_unary<ScalarOp::kFloor>},
    {"Ceil", float_unary<ScalarOp::kCeil>},
    {"Round", float_unary<ScalarOp::kRound>},
    {"Sqrt", float_unary<ScalarOp::kSqrt>},
    {"Neg", negate},
    {"Abs", absolute},
    {"Not", invert},
    {"And", logic<CalcOp::kAnd>},
    {"Or", logic<CalcOp::kOr>},
    {"Equal", compare<CalcOp::kEq>},
    {"Less", compare<CalcOp::kLt>},
    {"LessOrEqual", compare<CalcOp::kLe>},
    {"Greater", compare<CalcOp::kGt>},
    {"GreaterOrEqual", compare<CalcOp::kGe>},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"Where", where},
    {"ReduceSum", reduce<scalar_add, 0, true>},
    {"ReduceProd", reduce<scalar_mul, 1, true>},
    {"ReduceMin", reduce<scalar_min, 0, false>},
    {"ReduceMax", reduce<scalar_max, 0, false>},
};

}  // namespace

std::span<const FoldRow> arithmetic_folds() { return kRows; }

}  // namespace msvm::onnx
