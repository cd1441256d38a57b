// Operators of one tensor, element by element: the result has the shape of X.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

constexpr DTypeSet kSigned = kFloats | kSignedInts;

struct Row {
  std::string_view name;
  int since;
  DTypeSet dtypes;
  std::string_view doc;
};

constexpr Row kPlain[] = {
    {"Abs", 13, kNumeric, "Distance from zero. The least value of a signed integer type stays itself."},
    {"Neg", 13, kSigned, "The value with its sign turned; integers wrap."},
    {"Sign", 13, kNumeric, "-1, 0 or 1 by the sign of the value; NaN stays NaN."},
    {"Ceil", 13, kFloats, "The nearest whole number that is not less."},
    {"Floor", 13, kFloats, "The nearest whole number that is not greater."},
    {"Round", 22, kFloats, "The nearest whole number; halves go to the even one."},
    {"Sqrt", 13, kFloats, "Square root; NaN for negative values."},
    {"Exp", 13, kFloats, "e to the power of the value."},
    {"Log", 13, kFloats, "Natural logarithm; -inf for 0 and NaN for negative values."},
    {"Reciprocal", 13, kFloats, "1 divided by the value."},
    {"Sin", 22, kFloats, "Sine of an angle in radians."},
    {"Cos", 22, kFloats, "Cosine of an angle in radians."},
    {"Tan", 22, kFloats, "Tangent of an angle in radians."},
    {"Asin", 22, kFloats, "Angle in radians whose sine is the value; NaN outside [-1, 1]."},
    {"Acos", 22, kFloats, "Angle in radians whose cosine is the value; NaN outside [-1, 1]."},
    {"Atan", 22, kFloats, "Angle in radians whose tangent is the value."},
    {"Sinh", 22, kFloats, "Hyperbolic sine."},
    {"Cosh", 22, kFloats, "Hyperbolic cosine."},
    {"Tanh", 13, kFloats, "Hyperbolic tangent."},
    {"Asinh", 22, kFloats, "Inverse of the hyperbolic sine."},
    {"Acosh", 22, kFloats, "Inverse of the hyperbolic cosine; NaN below 1."},
    {"Atanh", 22, kFloats, "Inverse of the hyperbolic tangent; NaN outside [-1, 1]."},
    {"Erf", 13, kFloats, "Gauss's error function."},
    {"Sigmoid", 13, kFloats, "1 / (1 + exp(-x)), computed so that neither end overflows."},
    {"Relu", 14, kSigned, "max(x, 0); NaN stays NaN."},
    {"Softplus", 22, kFloats, "log(1 + exp(x)), computed so that large values don't overflow."},
    {"Softsign", 22, kFloats, "x / (1 + |x|)."},
    {"HardSwish", 22, kFloats, "x * max(0, min(1, x / 6 + 0.5))."},
    {"Mish", 22, kFloats, "x * tanh(softplus(x))."},
};

OpSchema unary(std::string_view name, int since, DTypeSet dtypes, std::vector<AttrSpec> attrs, std::string_view doc) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kElementwise,
          .inputs = {{"X", dtypes, 'T'}},
          .outputs = {{"Y", 'T'}},
          .in_place = 1,
          .attrs = std::move(attrs),
          .infer = infer_same,
          .doc = doc};
}

Status infer_bitcast(InferContext& c) {
  DType from = c.input(0).dtype, to = c.attrs().get_dtype("to", from);
  if (to == DType::kString) return attr_error("to: bits can't be read as strings");
  if (dtype_info(from).bits != dtype_info(to).bits)
    return attr_error("to: {} has {} bits, but X is {} with {}", dtype_name(to), dtype_info(to).bits, dtype_name(from),
                      dtype_info(from).bits);
  return infer_same(c);
}

Status infer_clip(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_one_element(c, 1));
  MSVM_RETURN_IF_ERROR(require_one_element(c, 2));
  return infer_same(c);
}

}  // namespace

void add_unary_ops(OpTable& table) {
  for (const Row& r : kPlain) table.add(unary(r.name, r.since, r.dtypes, {}, r.doc));

  table.add(unary("LeakyRelu", 16, kFloats, {float_attr("alpha", "0.01", "slope below 0")}, "x where x >= 0, else alpha * x."));
  table.add(unary("Elu", 22, kFloats, {float_attr("alpha", "1.0", "scale below 0")}, "x where x >= 0, else alpha * (exp(x) - 1)."));
  table.add(unary("Selu", 22, kFloats,
                  {float_attr("alpha", "1.67326319217681884765625", "scale of the exponential"),
                   float_attr("gamma", "1.05070102214813232421875", "scale of everything")},
                  "gamma * x where x > 0, else gamma * alpha * (exp(x) - 1)."));
  table.add(unary("Celu", 12, kFloats, {float_attr("alpha", "1.0", "where the curve bends; not 0")},
                  "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."));
  table.add(unary("ThresholdedRelu", 22, kFloats, {float_attr("alpha", "1.0", "the threshold")}, "x where x > alpha, else 0."));
  table.add(unary("HardSigmoid", 22, kFloats, {float_attr("alpha", "0.2", "slope"), float_attr("beta", "0.5", "value at 0")},
                  "max(0, min(1, alpha * x + beta))."));
  table.add(unary("Swish", 24, kFloats, {float_attr("alpha", "1.0", "scale inside the sigmoid")}, "x * sigmoid(alpha * x)."));
  table.add(unary("Gelu", 20, kFloats, {choice_attr("approximate", "none", "none|tanh", "tanh uses the approximation by tanh")},
                  "x * Phi(x), with Phi the distribution function of the normal distribution."));
  table.add(unary("Shrink", 9, kNumeric,
                  {float_attr("bias", "0.0", "how far values move towards 0"),
                   float_attr("lambd", "0.5", "half width of the band that becomes 0")},
                  "0 where |x| <= lambd, else x moved towards 0 by bias."));
  table.add(unary("Not", 1, bit(DType::kBool), {}, "Logical negation."));
  table.add(unary("BitwiseNot", 18, kInts, {}, "All bits turned."));

  OpSchema is_nan = unary("IsNaN", 20, kFloats, {}, "Whether the value is NaN.");
  is_nan.outputs = {{"Y", 0, DType::kBool}};
  is_nan.in_place = 0;
  table.add(std::move(is_nan));
  OpSchema is_inf =
      unary("IsInf", 20, kFloats,
            {flag_attr("detect_negative", "1", "whether -inf counts"), flag_attr("detect_positive", "1", "whether +inf counts")},
            "Whether the value is infinite.");
  is_inf.outputs = {{"Y", 0, DType::kBool}};
  is_inf.in_place = 0;
  table.add(std::move(is_inf));

  OpSchema cast =
      unary("Cast", 23, kAny,
            {required(dtype_attr("to", "", "the result's dtype")), flag_attr("saturate", "1", "float8 results only"),
             choice_attr("round_mode", "up", "up|down|nearest", "float8e8m0 results only")},
            "Converts each element. Floats that are NaN or out of range of an integer dtype are errors; integers wrap; strings are "
            "written and read as numbers.");
  cast.outputs = {{"Y", 0, DType::kF32, "to"}};
  cast.in_place = 0;
  cast.hazards = kCastHazard;
  table.add(std::move(cast));

  OpSchema bitcast = unary("BitCast", 26, kNotString, {required(dtype_attr("to", "", "a dtype of the same size"))},
                           "The same bits read as another dtype of the same size.");
  bitcast.op_class = OpClass::kMovement;
  bitcast.outputs = {{"Y", 0, DType::kF32, "to"}};
  bitcast.infer = infer_bitcast;
  table.add(std::move(bitcast));

  OpSchema clip = unary("Clip", 13, kNumeric, {}, "min(max(x, min), max); absent bounds don't limit; max wins where min > max.");
  clip.inputs = {{"X", kNumeric, 'T'}, {"min", kNumeric, 'T', true}, {"max", kNumeric, 'T', true}};
  clip.infer = infer_clip;
  table.add(std::move(clip));
}

}  // namespace msvm
