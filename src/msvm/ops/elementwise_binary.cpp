// Operators of two or more tensors, element by element, with numpy's broadcasting.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

OpSchema binary(std::string_view name, int since, DTypeSet dtypes, std::string_view doc, uint32_t hazards = kNoHazard) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kElementwise,
          .inputs = {{"A", dtypes, 'T'}, {"B", dtypes, 'T'}},
          .outputs = {{"C", 'T'}},
          .hazards = hazards,
          .in_place = 3,
          .infer = infer_broadcast,
          .doc = doc};
}

OpSchema comparison(std::string_view name, int since, DTypeSet dtypes, std::string_view doc) {
  OpSchema row = binary(name, since, dtypes, doc);
  row.outputs = {{"C", 0, DType::kBool}};
  row.in_place = 0;
  return row;
}

OpSchema variadic(std::string_view name, int since, DTypeSet dtypes, std::string_view doc) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kElementwise,
          .inputs = {{"data", dtypes, 'T'}},
          .variadic = true,
          .min_variadic = 1,
          .outputs = {{"Y", 'T'}},
          .in_place = 1,
          .infer = infer_broadcast,
          .doc = doc};
}

Status infer_prelu(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(1).shape, c.input(0).shape, "slope can be broadcast to X"));
  return infer_same(c);
}

Status infer_swiglu(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_same_shape(c, 0, 1, "A and B have the same shape"));
  return infer_same(c);
}

}  // namespace

void add_binary_ops(OpTable& table) {
  constexpr DTypeSet kBool = bit(DType::kBool);
  table.add(binary("Add", 14, kNumeric, "Sum; integers wrap."));
  table.add(binary("Sub", 14, kNumeric, "Difference; integers wrap."));
  table.add(binary("Mul", 14, kNumeric, "Product; integers wrap."));
  table.add(binary("Div", 14, kNumeric, "Quotient; of integers towards zero, and division by 0 is an error.", kDivisionHazard));
  OpSchema mod =
      binary("Mod", 13, kNumeric, "Remainder of the division: with the sign of B, or with that of A (fmod=1).", kDivisionHazard);
  mod.attrs = {flag_attr("fmod", "0", "0 rounds the quotient down, 1 towards zero")};
  table.add(std::move(mod));

  OpSchema pow = binary("Pow", 15, kNumeric, "X to the power of Y, in the dtype of X.", kDivisionHazard);
  pow.inputs = {{"X", kFloats | kIndexInts, 'T'}, {"Y", kNumeric, 'U'}};
  pow.outputs = {{"Z", 'T'}};
  pow.in_place = 1;
  table.add(std::move(pow));

  table.add(comparison("Equal", 19, kAny, "Whether A equals B."));
  table.add(comparison("Greater", 13, kNumeric, "Whether A is greater than B."));
  table.add(comparison("GreaterOrEqual", 16, kNumeric, "Whether A is greater than or equal to B."));
  table.add(comparison("Less", 13, kNumeric, "Whether A is less than B."));
  table.add(comparison("LessOrEqual", 16, kNumeric, "Whether A is less than or equal to B."));

  table.add(binary("And", 7, kBool, "Whether both are true."));
  table.add(binary("Or", 7, kBool, "Whether one or both are true."));
  table.add(binary("Xor", 7, kBool, "Whether exactly one is true."));
  table.add(binary("BitwiseAnd", 18, kInts, "Bits that are set in both."));
  table.add(binary("BitwiseOr", 18, kInts, "Bits that are set in one or both."));
  table.add(binary("BitwiseXor", 18, kInts, "Bits that are set in exactly one."));
  OpSchema shift =
      binary("BitShift", 11, kInts,
             "X shifted by Y bits; arithmetic for signed dtypes. A negative or too large Y shifts all bits out.", kShiftHazard);
  shift.inputs = {{"X", kInts, 'T'}, {"Y", kInts, 'T'}};
  shift.outputs = {{"Z", 'T'}};
  shift.attrs = {required(choice_attr("direction", "", "LEFT|RIGHT", "which way the bits go"))};
  table.add(std::move(shift));

  OpSchema prelu = binary("PRelu", 16, kMatMulTypes, "x where x >= 0, else slope * x; slope is broadcast to X.");
  prelu.inputs = {{"X", kMatMulTypes, 'T'}, {"slope", kMatMulTypes, 'T'}};
  prelu.outputs = {{"Y", 'T'}};
  prelu.in_place = 1;
  prelu.infer = infer_prelu;
  table.add(std::move(prelu));

  OpSchema swiglu = binary("SwiGLU", 28, kFloats, "A * sigmoid(alpha * A) * B, of equal shapes.");
  swiglu.outputs = {{"Y", 'T'}};
  swiglu.attrs = {float_attr("alpha", "1.0", "scale inside the sigmoid")};
  swiglu.infer = infer_swiglu;
  table.add(std::move(swiglu));

  table.add(variadic("Max", 13, kNumeric, "The greatest of all inputs; NaN if one is NaN."));
  table.add(variadic("Min", 13, kNumeric, "The least of all inputs; NaN if one is NaN."));
  table.add(variadic("Sum", 13, kFloats, "Sum of all inputs, from the first to the last."));
  table.add(variadic("Mean", 13, kFloats, "Sum of all inputs divided by their number."));

  OpSchema where = binary("Where", 16, kAny, "X where the condition is true, else Y.");
  where.op_class = OpClass::kElementwise;
  where.inputs = {{"condition", kBool}, {"X", kAny, 'T'}, {"Y", kAny, 'T'}};
  where.outputs = {{"output", 'T'}};
  where.in_place = 6;
  table.add(std::move(where));
}

}  // namespace msvm
