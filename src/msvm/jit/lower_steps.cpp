// The steps of each operator. Elementwise ones are those of kernels/elementwise.cpp and kernels/body_f32.inc, in their order.
#include "msvm/jit/lower_steps.h"

#include <cmath>
#include <limits>
#include <unordered_map>

#include "msvm/jit/lower_calls.h"
#include "msvm/ops/body.h"

namespace msvm::jit::lowering {
namespace {

using loops::Op;

class Expander {
 public:
  Expander(const FunctionView& view, const Instr& call, std::span<const Ref> inputs, Graph& graph)
      : v_(view), call_(call), in_(inputs), g_(graph), type_(loops::value_type(view.type(call.uses.empty() ? call.outs[0] : call.uses[0]).dtype)), out_(loops::value_type(view.type(call.outs[0]).dtype)) {}

  Ref run() {
    if (call_.text == "msvm.Fill") return fill();
    if (const Op* op = single_step(call_.text, v_.type(call_.uses[0]).dtype)) return g_.apply(*op, loops::is_comparison(*op) ? DType::kBool : out_, in(0), in(1), in(2));
    if (call_.text.starts_with("Reduce") || call_.text.starts_with("Global")) return reduction(call_.text);
    const Ref r = elementwise(call_.text);
    return r.kind != Ref::kNone ? r : rows(call_.text);
  }

 private:
  Ref in(size_t k) const { return k < in_.size() ? in_[k] : Ref{}; }
  Ref op(Op o, Ref a, Ref b = {}, Ref c = {}) { return g_.apply(o, type_, a, b, c); }
  Ref test(Op o, Ref a, Ref b = {}) { return g_.apply(o, DType::kBool, a, b); }
  Ref number(double v) const { return is_float(type_) ? Ref::of(type_ == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : v) : Ref::of_integer(static_cast<int64_t>(v)); }
  Ref attr(const char* name, double fallback) const { return number(call_.attrs.get_float(name, fallback)); }

  Ref elementwise(std::string_view name) {
    const Ref x = in(0);
    if (name == "Greater") return test(Op::kLess, in(1), x);
    if (name == "GreaterOrEqual") return test(Op::kLessOrEqual, in(1), x);
    if (name == "Max") return fold(Op::kMax);
    if (name == "Min") return fold(Op::kMin);
    if (name == "Sum") return fold(Op::kAdd);
    if (name == "Mean") return in_.size() > 1 ? op(Op::kDiv, fold(Op::kAdd), number(static_cast<double>(in_.size()))) : x;
    if (name == "Reciprocal") return op(Op::kDiv, number(1), x);
    if (name == "Sign") return sign(x);
    if (name == "Softsign") return op(Op::kDiv, x, op(Op::kAdd, number(1), op(Op::kAbs, x)));
    if (name == "LeakyRelu") return op(Op::kLeakyRelu, x, attr("alpha", 0.01));
    if (name == "HardSigmoid") return op(Op::kHardSigmoid, x, attr("alpha", 0.2), attr("beta", 0.5));
    if (name == "Elu") return op(Op::kElu, x, attr("alpha", 1));
    if (name == "ThresholdedRelu") {
      const Ref kept = op(Op::kSelect, test(Op::kLess, attr("alpha", 1), x), x, number(0));
      return op(Op::kSelect, test(Op::kIsNan, x), x, kept);
    }
    if (name == "Gelu") return op(call_.attrs.get_string("approximate", "none") == "tanh" ? Op::kGeluTanh : Op::kGelu, x);
    if (name == "Swish") return swish(x);
    if (name == "SwiGLU") return op(Op::kMul, swish(x), in(1));
    if (name == "Clip") return clip(x);
    if (name == "Pow") return op(Op::kMul, x, x);
    if (name == "IsInf") return infinite(x);
    if (name == "Cast") return cast(x);
    if (name == "msvm.Pointwise") return body();
    if (name == "Identity" || name == "Expand" || name == "Transpose" || name == "Reshape" || name == "Flatten" || name == "Squeeze" || name == "Unsqueeze") return x;
    return {};
  }

  Ref fill() const {
    const AttrValue* v = call_.attrs.find("value");
    const double d = v && std::holds_alternative<double>(*v) ? std::get<double>(*v) : 0;
    const int64_t i = v && std::holds_alternative<int64_t>(*v) ? std::get<int64_t>(*v) : static_cast<int64_t>(0);
    if (v && !std::holds_alternative<double>(*v) && !std::holds_alternative<int64_t>(*v)) return {};
    if (is_integer(out_)) return d == 0 ? Ref::of_integer(i) : Ref{};
    if (out_ == DType::kBool) return Ref::of(i != 0 || d != 0 ? 1 : 0);
    return number_of(d == 0 && i != 0 ? static_cast<double>(i) : d);
  }

  Ref fold(Op o) {
    Ref r = in(0);
    for (size_t k = 1; k < in_.size(); ++k) r = op(o, r, in(k));
    return r;
  }
  Ref sign(Ref x) {
    Ref s = op(Op::kSelect, test(Op::kLess, number(0), x), number(1), number(0));
    if (dtype_info(type_).kind == DTypeKind::kUnsigned) return s;
    s = op(Op::kSelect, test(Op::kLess, x, number(0)), number(-1), s);
    return is_float(type_) ? op(Op::kSelect, test(Op::kIsNan, x), x, s) : s;
  }
  Ref swish(Ref x) {
    const Ref alpha = attr("alpha", 1);
    return alpha.number == 1 ? op(Op::kSilu, x) : op(Op::kMul, x, op(Op::kSigmoid, op(Op::kMul, alpha, x)));
  }
  Ref infinite(Ref x) {
    const Ref inf = Ref::of(std::numeric_limits<double>::infinity()), minus = Ref::of(-std::numeric_limits<double>::infinity());
    const bool up = call_.attrs.get_int("detect_positive", 1) != 0, down = call_.attrs.get_int("detect_negative", 1) != 0;
    if (up && down) return test(Op::kEqual, op(Op::kAbs, x), inf);
    if (!up && !down) return test(Op::kLess, x, minus);  // never
    return test(Op::kEqual, x, up ? inf : minus);
  }
  Ref cast(Ref x) {
    if (x.kind == Ref::kNumber) return cast_number(x);
    return type_ == out_ ? x : g_.apply(Op::kCast, out_, x);
  }

  Ref cast_number(Ref x) const {
    const bool integer = is_integer(type_);
    if (out_ == DType::kBool) return Ref::of((integer ? x.integer != 0 : x.number != 0) ? 1 : 0);
    if (is_integer(out_)) return Ref::of_integer(integer ? x.integer : static_cast<int64_t>(x.number != 0));
    if (!integer) return number_of(x.number);
    const bool wide = type_ == DType::kU64;
    if (out_ == DType::kF64) return Ref::of(wide ? static_cast<double>(static_cast<uint64_t>(x.integer)) : static_cast<double>(x.integer));
    return Ref::of(static_cast<double>(wide ? static_cast<float>(static_cast<uint64_t>(x.integer)) : static_cast<float>(x.integer)));
  }
  Ref number_of(double v) const { return Ref::of(out_ == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : v); }

  /// An absent bound doesn't limit.
  Ref clip(Ref x) {
    const DTypeInfo& info = dtype_info(type_);
    Ref low, high;
    if (is_float(type_)) {
      low = Ref::of(-std::numeric_limits<double>::infinity()), high = Ref::of(std::numeric_limits<double>::infinity());
    } else if (info.kind == DTypeKind::kSigned) {
      const auto top = static_cast<int64_t>(~uint64_t{0} >> (65 - info.bits));
      low = Ref::of_integer(-top - 1), high = Ref::of_integer(top);
    } else {
      low = Ref::of_integer(0), high = Ref::of_integer(static_cast<int64_t>(~uint64_t{0} >> (64 - info.bits)));
    }
    if (in(1).kind != Ref::kNone) low = in(1);
    if (in(2).kind != Ref::kNone) high = in(2);
    return op(Op::kClip, x, low, high);
  }

  Ref body() {
    auto parsed = parse_body(call_.attrs.get_strings("body"), 0, in_.size(), false);
    if (!parsed.ok()) return {};
    std::vector<Ref> steps;
    for (const BodyStep& s : parsed->steps) {
      Ref r[3];
      for (size_t k = 0; k < static_cast<size_t>(body_op_info(s.op).operands); ++k) {
        const BodyOperand& o = s.operands[k];
        switch (o.kind) {
          case BodyOperand::kNumber: r[k] = Ref::of(static_cast<double>(o.number)); break;
          case BodyOperand::kInput: r[k] = in(o.index); break;
          case BodyOperand::kStep: r[k] = steps[o.index]; break;
          case BodyOperand::kResult: return {};
        }
      }
      steps.push_back(body_step(s.op, r));
    }
    return steps.back();
  }

  Ref body_step(BodyOp step, const Ref (&r)[3]) {
    if (step == BodyOp::kReciprocal) return op(Op::kDiv, Ref::of(1), r[0]);
    if (step == BodyOp::kPow && r[1].number == 2) return op(Op::kMul, r[0], r[0]);
    if (step == BodyOp::kPow && r[1].number == 3) return op(Op::kMul, op(Op::kMul, r[0], r[0]), r[0]);
    static const std::unordered_map<std::string_view, Op> by_name = {
#define MSVM_LOOP_OP(name, ...) {#name, Op::k##name},
#include "msvm/loops/loop_ops.def"
#undef MSVM_LOOP_OP
    };
    const auto found = by_name.find(body_op_info(step).name);
    return found == by_name.end() ? Ref{} : op(found->second, r[0], r[1], r[2]);
  }

  // --- rows

  Ref sum(Ref x) { return g_.reduce(Op::kReduceSum, type_, x); }
  Ref row_length() { return g_.apply(Op::kCast, type_, Ref::row_extent()); }
  Ref mean(Ref x) { return op(Op::kDiv, sum(x), row_length()); }

  /// In f64: squares of f32 may leave its range where their root doesn't.
  Ref norm_two(Ref x) {
    const Ref wide = type_ == DType::kF64 ? x : g_.apply(Op::kCast, DType::kF64, x);
    const Ref root = g_.apply(Op::kSqrt, DType::kF64, g_.reduce(Op::kReduceSum, DType::kF64, g_.apply(Op::kMul, DType::kF64, wide, wide)));
    return type_ == DType::kF64 ? root : g_.apply(Op::kCast, type_, root);
  }

  Ref log_sum_exp(Ref x, Ref top) { return op(Op::kLog, sum(op(Op::kExp, op(Op::kSub, x, top)))); }

  Ref reduction(std::string_view name) {
    const Ref x = in(0);
    if (name == "ReduceSum") return sum(x);
    if (name == "ReduceProd") return g_.reduce(Op::kReduceProd, type_, x);
    if (name == "ReduceMax" || name == "GlobalMaxPool") return g_.reduce(Op::kReduceMax, type_, x);
    if (name == "ReduceMin") return g_.reduce(Op::kReduceMin, type_, x);
    if (name == "ReduceMean" || name == "GlobalAveragePool") return mean(x);
    if (name == "ReduceL1") return sum(op(Op::kAbs, x));
    if (name == "ReduceL2") return norm_two(x);
    if (name == "ReduceSumSquare") return sum(op(Op::kMul, x, x));
    if (name == "ReduceLogSum") return op(Op::kLog, sum(x));
    if (name == "ReduceLogSumExp") {
      // Of infinities the difference is NaN: they are left as they are.
      const Ref top = g_.reduce(Op::kReduceMax, type_, x), shift = op(Op::kSelect, test(Op::kLess, op(Op::kAbs, top), Ref::of(std::numeric_limits<double>::infinity())), top, number(0));
      return op(Op::kAdd, shift, log_sum_exp(x, shift));
    }
    return {};
  }

  Ref rows(std::string_view name) {
    const Ref x = in(0);
    if (name == "Softmax") {
      const Ref e = op(Op::kExp, op(Op::kSub, x, g_.reduce(Op::kReduceMax, type_, x)));
      return op(Op::kMul, e, op(Op::kDiv, number(1), sum(e)));
    }
    if (name == "LogSoftmax") {
      const Ref top = g_.reduce(Op::kReduceMax, type_, x);
      return op(Op::kSub, op(Op::kSub, x, top), log_sum_exp(x, top));
    }
    if (name == "LayerNormalization" || name == "RMSNormalization" || name == "InstanceNormalization") {
      const Ref centred = name == "RMSNormalization" ? x : op(Op::kSub, x, mean(x));
      const Ref variance = mean(op(Op::kMul, centred, centred));
      const Ref scale = op(Op::kDiv, number(1), op(Op::kSqrt, op(Op::kAdd, variance, attr("epsilon", 1e-5))));
      Ref y = op(Op::kMul, op(Op::kMul, centred, scale), in(1));
      return in(2).kind == Ref::kNone ? y : op(Op::kAdd, y, in(2));
    }
    if (name == "LpNormalization") {
      const Ref norm = call_.attrs.get_int("p", 2) == 1 ? sum(op(Op::kAbs, x)) : norm_two(x);
      return op(Op::kSelect, test(Op::kEqual, norm, number(0)), number(0), op(Op::kDiv, x, norm));
    }
    return {};
  }

  const FunctionView& v_;
  const Instr& call_;
  std::span<const Ref> in_;
  Graph& g_;
  DType type_, out_;  // of the values of the first input and of the result
};

}  // namespace

Ref expand(const FunctionView& view, const Instr& call, std::span<const Ref> inputs, Graph& graph) { return Expander(view, call, inputs, graph).run(); }

}  // namespace msvm::jit::lowering
