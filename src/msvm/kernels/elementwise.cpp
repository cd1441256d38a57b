// Elementwise arithmetic and activations, variadic ones, Clip, Cast.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "msvm/base/trim.h"
#include "msvm/kernels/copy.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/half.h"
#include "msvm/kernels/loops.h"

namespace msvm {
namespace {

Status no_loop(const KernelCall& c, DType t) {
  return unsupported(std::string(c.op.name) + ": no kernel for " + std::string(dtype_name(t)));
}

// ---- attributes as numbers -------------------------------------------------------------------------------------------------

void no_params(const KernelCall&, LoopParams&) {}

#define PARAMS(fn, ...) \
  void fn(const KernelCall& c, LoopParams& p) { __VA_ARGS__ }
PARAMS(leaky_params, p.a = c.attrs.get_float("alpha", 0.01);)
PARAMS(alpha_params, p.a = c.attrs.get_float("alpha", 1);)
PARAMS(selu_params, p.a = c.attrs.get_float("alpha", 1.67326319217681884765625); p.b = c.attrs.get_float("gamma", 1.05070102214813232421875);)
PARAMS(hardsigmoid_params, p.a = c.attrs.get_float("alpha", 0.2); p.b = c.attrs.get_float("beta", 0.5);)
PARAMS(gelu_params, p.flag = c.attrs.get_string("approximate", "none") == "tanh";)
PARAMS(shrink_params, p.a = c.attrs.get_float("bias", 0); p.b = c.attrs.get_float("lambd", 0.5);)
PARAMS(mod_params, p.flag = c.attrs.get_int("fmod", 0);)

using ParamsFn = void (*)(const KernelCall&, LoopParams&);
// Which operators have parameters; all others none.
template <const LoopTable& kTable>
constexpr ParamsFn params_of() {
  constexpr const LoopTable* t = &kTable;
  if (t == &kLeakyReluLoops) return leaky_params;
  if (t == &kEluLoops || t == &kCeluLoops || t == &kThresholdedReluLoops || t == &kSwishLoops || t == &kSwiGLULoops) return alpha_params;
  if (t == &kSeluLoops) return selu_params;
  if (t == &kHardSigmoidLoops) return hardsigmoid_params;
  if (t == &kGeluLoops) return gelu_params;
  if (t == &kShrinkLoops) return shrink_params;
  if (t == &kModLoops) return mod_params;
  return no_params;
}

// ---- one and two inputs ----------------------------------------------------------------------------------------------------

Status run_map(KernelCall& c, int inputs, DenseFn loop, ParamsFn params, double ns) {
  const DType compute = compute_dtype(c.inputs[0]->dtype);
  if (!loop) return no_loop(c, c.inputs[0]->dtype);
  MapSpec s;
  s.inputs = inputs;
  s.compute[0] = s.compute[1] = s.compute[2] = compute;
  s.result = compute;
  s.loop = loop;
  s.ns_per_element = ns;
  params(c, s.params);
  return hazard_error(c.op, map_elements(c.inputs.first(static_cast<size_t>(inputs)), *c.outputs[0], s, c.workers));
}

template <const LoopTable& kTable, int kInputs, int kPicoseconds>
Status run_table(KernelCall& c) {
  return run_map(c, kInputs, kTable[static_cast<int>(compute_dtype(c.inputs[0]->dtype))], params_of<kTable>(), kPicoseconds / 1000.0);
}

template <const F32Loops& kLoops, DenseFn F32Loops::* kLoop, const LoopTable& kTable, int kInputs>
Status run_f32(KernelCall& c) {
  return run_map(c, kInputs, kLoops.*kLoop, params_of<kTable>(), 0.2);
}

/// Integers keep exactness in i64; an integer base with a fractional exponent goes through f64.
Status run_pow(KernelCall& c) {
  const DType base = c.inputs[0]->dtype, exponent = c.inputs[1]->dtype;
  MapSpec s;
  s.inputs = 2;
  DType compute = is_float(base) ? compute_dtype(base) : is_integer(exponent) ? DType::kI64 : DType::kF64;
  s.ns_per_element = compute == DType::kF32 ? 2 : 15;
  s.compute[0] = s.compute[1] = s.result = compute;
  s.loop = kPowLoops[static_cast<int>(compute)];
  return hazard_error(c.op, map_elements(c.inputs.first(2), *c.outputs[0], s, c.workers));
}

// ---- Clip ------------------------------------------------------------------------------------------------------------------

/// The value that never clips: infinity or the type's own limit.
void limit_value(DType t, bool high, std::byte* out) {
  switch (dtype_info(t).kind) {
    case DTypeKind::kFloat: {
      double v = high ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
      cast_row(DType::kF64, t)(&v, out, 1);
      return;
    }
    case DTypeKind::kSigned: {
      int64_t top = static_cast<int64_t>(~uint64_t{0} >> (65 - dtype_info(t).bits));
      int64_t v = high ? top : -top - 1;
      cast_row(DType::kI64, t)(&v, out, 1);
      return;
    }
    case DTypeKind::kUnsigned: {
      uint64_t v = high ? ~uint64_t{0} >> (64 - dtype_info(t).bits) : 0;
      cast_row(DType::kU64, t)(&v, out, 1);
      return;
    }
    case DTypeKind::kBool:
    case DTypeKind::kString: return;
  }
}

Status clip_with(KernelCall& c, DenseFn loop, double ns) {
  const TensorMeta& x = *c.inputs[0];
  const DType compute = compute_dtype(x.dtype);
  if (!loop) return no_loop(c, x.dtype);
  alignas(8) std::byte values[2][8] = {};
  TensorMeta bounds[2];
  for (size_t k = 0; k < 2; ++k) {
    const TensorMeta* given = k + 1 < c.inputs.size() ? c.inputs[k + 1] : nullptr;
    if (given) std::memcpy(values[k], given->data, static_cast<size_t>(dtype_bytes(x.dtype)));
    else limit_value(x.dtype, k == 1, values[k]);
    bounds[k].dtype = x.dtype;
    bounds[k].data = values[k];
  }
  const TensorMeta* in[3] = {&x, &bounds[0], &bounds[1]};
  MapSpec s;
  s.inputs = 3;
  s.compute[0] = s.compute[1] = s.compute[2] = s.result = compute;
  s.loop = loop;
  s.ns_per_element = ns;
  return hazard_error(c.op, map_elements(in, *c.outputs[0], s, c.workers));
}

Status run_clip(KernelCall& c) { return clip_with(c, kClipLoops[static_cast<int>(compute_dtype(c.inputs[0]->dtype))], 0.5); }
template <const F32Loops& kLoops>
Status run_clip_f32(KernelCall& c) { return clip_with(c, kLoops.Clip, 0.2); }

// ---- Max, Min, Sum, Mean ---------------------------------------------------------------------------------------------------

/// Folds from the left in the compute type; f16 and bf16 are rounded once, at the end.
Status fold(KernelCall& c, const LoopTable& table, bool mean) {
  TensorMeta& y = *c.outputs[0];
  const DType compute = compute_dtype(y.dtype);
  const DenseFn loop = table[static_cast<int>(compute)];
  const size_t n = c.inputs.size();
  if (!loop) return no_loop(c, y.dtype);
  if (n == 0) return invalid_argument(std::string(c.op.name) + " needs an input");
  MapSpec step;
  step.inputs = 2;
  step.compute[0] = step.compute[1] = step.result = compute;
  step.loop = loop;
  step.ns_per_element = 0.4;
  MapSpec last;
  last.compute[0] = last.result = compute;
  last.loop = kScaleLoops[static_cast<int>(compute)];
  last.params.a = 1.0 / static_cast<double>(n);

  // The running value may not be kept in y where a later input is the same memory, or where y is narrower.
  TensorMeta acc = y;
  bool own = compute != y.dtype && (n > 2 || mean);
  for (size_t k = 2; k < n; ++k) own = own || c.inputs[k]->data == y.data;
  if (own) {
    acc.dtype = compute;
    acc.layout = Layout::kRowMajor;
    auto strides = row_major(y.dims());
    std::copy(strides.begin(), strides.end(), acc.strides.begin());
    MSVM_ASSIGN_OR_RETURN(acc.data, c.memory.scratch(y.elements() * dtype_bytes(compute)));
  }
  const bool finish = mean && n > 1;
  if (n == 1) {
    TensorMeta source = *c.inputs[0];
    return copy(source, y, c.workers);
  }
  const TensorMeta* pair[2] = {c.inputs[0], c.inputs[1]};
  for (size_t k = 1; k < n; ++k) {
    pair[1] = c.inputs[k];
    map_elements(pair, k + 1 == n && !finish ? y : acc, step, c.workers);
    pair[0] = &acc;
  }
  if (finish) {
    if (compute == DType::kF32 || compute == DType::kF64) {
      // A division, so that the mean of equal values is that value.
      alignas(8) std::byte count[8] = {};
      if (compute == DType::kF32) {
        float f = static_cast<float>(n);
        std::memcpy(count, &f, 4);
      } else {
        double d = static_cast<double>(n);
        std::memcpy(count, &d, 8);
      }
      TensorMeta divisor;
      divisor.dtype = compute;
      divisor.data = count;
      pair[0] = &acc, pair[1] = &divisor;
      step.loop = kDivLoops[static_cast<int>(compute)];
      map_elements(pair, y, step, c.workers);
    } else {
      pair[0] = &acc;
      map_elements({pair, 1}, y, last, c.workers);
    }
  }
  return {};
}
Status run_max(KernelCall& c) { return fold(c, kMaxLoops, false); }
Status run_min(KernelCall& c) { return fold(c, kMinLoops, false); }
Status run_sum(KernelCall& c) { return fold(c, kAddLoops, false); }
Status run_mean(KernelCall& c) { return fold(c, kAddLoops, true); }

// ---- Cast ------------------------------------------------------------------------------------------------------------------

uint32_t cast_loop(const void* const* in, void* out, int64_t n, const LoopParams& p) {
  return cast_row(static_cast<DType>(p.flag & 0xff), static_cast<DType>(p.flag >> 8))(in[0], out, n);
}

std::string number_text(double v, bool single) {
  if (v != v) return "NaN";
  if (std::isinf(v)) return v > 0 ? "INF" : "-INF";
  double m = std::fabs(v);
  auto format = m == 0 || (m >= 1e-4 && m < 1e16) ? std::chars_format::fixed : std::chars_format::scientific;
  char text[64];
  auto r = single ? std::to_chars(text, text + sizeof text, static_cast<float>(v), format) : std::to_chars(text, text + sizeof text, v, format);
  return std::string(text, r.ptr);
}

/// Decimal or scientific text, "inf" and "nan" in any case, with an optional sign.
bool parse_number(std::string_view t, double& v) {
  t = trimmed(t, " \t\n\r");
  if (t.starts_with('+')) t.remove_prefix(1);
  auto r = std::from_chars(t.data(), t.data() + t.size(), v);
  if (r.ptr != t.data() + t.size() || t.empty()) return false;
  if (r.ec == std::errc::result_out_of_range) {
    // Too large is infinity, too small zero, as when a decimal is rounded; from_chars leaves v alone.
    size_t e = t.find_first_of("eE");
    bool small = (e != std::string_view::npos && e + 1 < t.size() && t[e + 1] == '-') || t.starts_with("0.") || t.starts_with("-0.");
    v = (t[0] == '-' ? -1.0 : 1.0) * (small ? 0.0 : std::numeric_limits<double>::infinity());
    return true;
  }
  return r.ec == std::errc();
}

Status cast_strings(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const int64_t n = x.elements(), xs = dtype_bytes(x.dtype), ys = dtype_bytes(y.dtype);
  auto integer = [](std::string_view t, auto& v) {
    if (t.starts_with('+')) t.remove_prefix(1);
    auto r = std::from_chars(t.data(), t.data() + t.size(), v);
    return !t.empty() && r.ec == std::errc() && r.ptr == t.data() + t.size();
  };
  for (int64_t i = 0; i < n; ++i) {
    const std::byte* from = x.data + offset_of(x, i) * xs;
    std::byte* to = y.data + offset_of(y, i) * ys;
    if (y.dtype == DType::kString) {
      std::string& out = *reinterpret_cast<std::string*>(to);
      if (dtype_info(x.dtype).kind == DTypeKind::kUnsigned) {
        uint64_t v = 0;
        cast_row(x.dtype, DType::kU64)(from, &v, 1);
        out = std::to_string(v);
      } else if (is_float(x.dtype)) {
        double v = 0;
        cast_row(x.dtype, DType::kF64)(from, &v, 1);
        out = number_text(v, x.dtype != DType::kF64);
      } else {
        int64_t v = 0;
        cast_row(x.dtype, DType::kI64)(from, &v, 1);
        out = std::to_string(v);
      }
      continue;
    }
    const std::string& text = *reinterpret_cast<const std::string*>(from);
    uint32_t bad = 0;
    int64_t whole = 0;
    uint64_t natural = 0;
    double number = 0;
    if (is_integer(y.dtype) && integer(text, whole)) {
      cast_row(DType::kI64, y.dtype)(&whole, to, 1);
      int64_t back = 0;
      cast_row(y.dtype, DType::kI64)(to, &back, 1);
      if (back != whole || (whole < 0 && dtype_info(y.dtype).kind == DTypeKind::kUnsigned)) bad = kCastHazard;
    } else if (y.dtype == DType::kU64 && integer(text, natural)) {
      std::memcpy(to, &natural, 8);
    } else if (parse_number(text, number)) {
      bad = cast_row(DType::kF64, y.dtype)(&number, to, 1);
    } else {
      return out_of_range("Cast: \"" + text.substr(0, 40) + "\" is not a number");
    }
    if (bad && (c.op.hazards & kCastHazard))
      return out_of_range("Cast: \"" + text.substr(0, 40) + "\" is outside the range of " + std::string(dtype_name(y.dtype)));
  }
  return {};
}

Status run_cast(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  if (x.dtype == y.dtype && x.dtype != DType::kBool) return copy(x, y, c.workers);
  if (x.dtype == DType::kString || y.dtype == DType::kString) return cast_strings(c);
  MapSpec s;
  s.compute[0] = x.dtype;
  s.result = y.dtype;
  s.loop = cast_loop;
  s.params.flag = static_cast<int64_t>(x.dtype) | static_cast<int64_t>(y.dtype) << 8;
  s.ns_per_element = 0.5;
  uint32_t hazards = map_elements(c.inputs.first(1), y, s, c.workers);
  if (!(hazards & c.op.hazards)) return {};
  return out_of_range("Cast: a value is NaN or outside the range of " + std::string(dtype_name(y.dtype)));
}

Status run_bitcast(KernelCall& c) {
  TensorMeta x = *c.inputs[0];
  x.dtype = c.outputs[0]->dtype;
  return copy(x, *c.outputs[0], c.workers);
}

void add(KernelList& list, std::string_view name, std::string_view op, KernelFn run, double ns) {
  KernelInfo k;
  k.name = name;
  k.op = op;
  k.run = run;
  k.default_ns_per_work = ns;
  list.push_back(k);
}
void add_f32(KernelList& list, std::string_view name, std::string_view op, KernelFn run, Isa isa, bool there) {
  if (!there) return;
  add(list, name, op, run, isa == Isa::kAvx512 ? 0.1 : 0.12);
  list.back().dtypes = bit(DType::kF32);
  list.back().isa = isa;
}

}  // namespace

void add_elementwise_kernels(KernelList& list) {
#define X(Op, name, ns) add(list, "ref_" #name, #Op, run_table<k##Op##Loops, 1, static_cast<int>(ns * 1000)>, ns);
  MSVM_UNARY_LOOPS(X)
#undef X
#define X(Op, name, ns) add(list, "ref_" #name, #Op, run_table<k##Op##Loops, 2, static_cast<int>(ns * 1000)>, ns);
  X(Add, add, 0.3) X(Sub, sub, 0.3) X(Mul, mul, 0.3) X(Div, div, 1) X(Mod, mod, 8) X(PRelu, prelu, 0.5) X(SwiGLU, swiglu, 8)
#undef X
  add(list, "ref_pow", "Pow", run_pow, 15);
  add(list, "ref_clip", "Clip", run_clip, 0.5);
  add(list, "ref_max", "Max", run_max, 0.4);
  add(list, "ref_min", "Min", run_min, 0.4);
  add(list, "ref_sum", "Sum", run_sum, 0.4);
  add(list, "ref_mean", "Mean", run_mean, 0.6);
  add(list, "ref_cast", "Cast", run_cast, 0.5);
  add(list, "ref_bitcast", "BitCast", run_bitcast, 0.3);

#define X(Op, name, inputs)                                                                                                      \
  add_f32(list, "avx2_" #name "_f32", #Op, run_f32<kF32LoopsAvx2, &F32Loops::Op, k##Op##Loops, inputs>, Isa::kAvx2, kF32LoopsAvx2.Op); \
  add_f32(list, "avx512_" #name "_f32", #Op, run_f32<kF32LoopsAvx512, &F32Loops::Op, k##Op##Loops, inputs>, Isa::kAvx512, kF32LoopsAvx512.Op);
  X(Add, add, 2) X(Sub, sub, 2) X(Mul, mul, 2) X(Div, div, 2) X(PRelu, prelu, 2) X(SwiGLU, swiglu, 2) X(Relu, relu, 1)
  X(Sigmoid, sigmoid, 1) X(HardSigmoid, hardsigmoid, 1) X(HardSwish, hardswish, 1) X(Tanh, tanh, 1) X(Erf, erf, 1) X(Gelu, gelu, 1)
  X(Exp, exp, 1) X(Log, log, 1) X(Swish, swish, 1) X(Mish, mish, 1) X(Softplus, softplus, 1) X(LeakyRelu, leakyrelu, 1)
  X(Elu, elu, 1) X(Sqrt, sqrt, 1) X(Abs, abs, 1) X(Neg, neg, 1) X(Reciprocal, reciprocal, 1)
#undef X
  add_f32(list, "avx2_clip_f32", "Clip", run_clip_f32<kF32LoopsAvx2>, Isa::kAvx2, kF32LoopsAvx2.Clip);
  add_f32(list, "avx512_clip_f32", "Clip", run_clip_f32<kF32LoopsAvx512>, Isa::kAvx512, kF32LoopsAvx512.Clip);
}

}  // namespace msvm
