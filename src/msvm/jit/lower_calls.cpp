// Which calls can be lowered, and how they walk.
#include "msvm/jit/lower_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "msvm/base/half.h"
#include "msvm/jit/lower_steps.h"
#include "msvm/ops/body.h"
#include "msvm/ops/schema.h"

namespace msvm::jit::lowering {
namespace {

constexpr unsigned F = 1, D = 2, H = 4, S = 8, U = 16, B = 32;

unsigned kind_of(DType t) {
  switch (dtype_info(t).kind) {
    case DTypeKind::kFloat: return t == DType::kF32 ? F : t == DType::kF64 ? D : H;
    case DTypeKind::kSigned: return S;
    case DTypeKind::kUnsigned: return U;
    case DTypeKind::kBool: return B;
    case DTypeKind::kString: return 0;
  }
  return 0;
}

/// Operators of more than one step, or with attributes: dtypes of the first input, and the walk.
struct Special {
  unsigned types;
  CallLoops::Walk walk;
};
const std::unordered_map<std::string_view, Special>& specials() {
  using Walk = CallLoops::Walk;
  constexpr unsigned kAll = F | D | H | S | U | B;
  static const std::unordered_map<std::string_view, Special> t = {
      {"Greater", {F | D | H | S | U, Walk::kElements}}, {"GreaterOrEqual", {F | D | H | S | U, Walk::kElements}},
      {"Max", {F | D | H | S | U, Walk::kElements}}, {"Min", {F | D | H | S | U, Walk::kElements}}, {"Sum", {F | D | H, Walk::kElements}}, {"Mean", {F | D | H, Walk::kElements}},
      {"Reciprocal", {F | D | H, Walk::kElements}}, {"Sign", {F | D | H | S | U, Walk::kElements}}, {"Softsign", {F | D | H, Walk::kElements}},
      {"LeakyRelu", {F | D | H, Walk::kElements}}, {"HardSigmoid", {F | D | H, Walk::kElements}}, {"Elu", {F, Walk::kElements}}, {"ThresholdedRelu", {F | D | H, Walk::kElements}},
      {"Gelu", {F, Walk::kElements}}, {"Swish", {F, Walk::kElements}}, {"SwiGLU", {F, Walk::kElements}}, {"Clip", {F | D | H | S | U, Walk::kElements}},
      {"Pow", {F | D | H, Walk::kElements}}, {"IsInf", {F | D | H, Walk::kElements}}, {"Cast", {kAll, Walk::kElements}}, {"msvm.Pointwise", {F, Walk::kElements}},
      {"Identity", {kAll, Walk::kElements}}, {"Expand", {kAll, Walk::kElements}}, {"Transpose", {kAll, Walk::kTransposed}},
      {"Reshape", {kAll, Walk::kSameOrder}}, {"Flatten", {kAll, Walk::kSameOrder}}, {"Squeeze", {kAll, Walk::kSameOrder}}, {"Unsqueeze", {kAll, Walk::kSameOrder}},
      {"ReduceSum", {F | D | S | U, Walk::kReduced}}, {"ReduceProd", {F | D | S | U, Walk::kReduced}}, {"ReduceMax", {F | D | H | S | U, Walk::kReduced}},
      {"ReduceMin", {F | D | H | S | U, Walk::kReduced}}, {"ReduceMean", {F | D, Walk::kReduced}}, {"ReduceL1", {F | D, Walk::kReduced}}, {"ReduceL2", {F | D, Walk::kReduced}},
      {"ReduceSumSquare", {F | D, Walk::kReduced}}, {"ReduceLogSum", {F, Walk::kReduced}}, {"ReduceLogSumExp", {F, Walk::kReduced}},
      {"Softmax", {F, Walk::kRows}}, {"LogSoftmax", {F, Walk::kRows}}, {"LayerNormalization", {F, Walk::kRows}}, {"RMSNormalization", {F, Walk::kRows}},
      {"LpNormalization", {F, Walk::kRows}}, {"InstanceNormalization", {F, Walk::kRows}}, {"GlobalAveragePool", {F, Walk::kReduced}}, {"GlobalMaxPool", {F, Walk::kReduced}},
  };
  return t;
}

/// Other powers differ from the kernel's in their last bit.
std::string_view pow_obstacle(const FunctionView& view, const Instr& call) {
  const auto exponent = constant_number(view, call.uses[1]);
  if (!exponent || view.type(call.uses[1]).dtype != view.type(call.uses[0]).dtype || exponent->number != 2) return "a power other than 2";
  return {};
}

std::string_view cast_obstacle(DType from, DType to) {
  if (from == DType::kString || to == DType::kString) return "strings";
  if (is_float(from) && is_integer(to)) return "a float may not fit the integer";
  if ((to == DType::kF16 || to == DType::kBF16) && from == DType::kF64) return "two roundings";
  return {};
}

std::string_view body_obstacle(const Instr& call) {
  auto body = parse_body(call.attrs.get_strings("body"), 0, call.uses.size(), false);
  if (!body.ok()) return "its body can't be read";
  for (const BodyStep& s : body->steps)
    if (s.op == BodyOp::kPow && s.operands[1].kind != BodyOperand::kNumber) return "a power whose exponent is no number";
  return {};
}

/// What of the call's attributes and operands is in the way; empty: nothing.
std::string obstacle(const FunctionView& view, const Instr& call, const LowerOptions& options, const CallLoops& loops) {
  const DType type = view.type(call.uses[0]).dtype;
  if (call.text == "Pow") return std::string(pow_obstacle(view, call));
  if (call.text == "Cast") return std::string(cast_obstacle(type, view.type(call.outs[0]).dtype));
  if (call.text == "msvm.Pointwise") return std::string(body_obstacle(call));
  if (call.text == "Clip")
    for (size_t k = 1; k < call.uses.size(); ++k)
      if (call.uses[k] != kNoReg && !constant_number(view, call.uses[k])) return "its bounds are no constant numbers";
  if (!loops.has_rows()) return {};
  if (options.strict || call.attrs.get_string("precision", "") == "strict") return "the order of its sums is fixed (strict)";
  if (call.text == "LayerNormalization" || call.text == "RMSNormalization") {
    if (call.attrs.get_dtype("stash_type", DType::kF32) != DType::kF32) return "its stash_type";
    for (size_t k = 1; k < call.uses.size(); ++k)
      if (call.uses[k] != kNoReg && view.type(call.uses[k]).dtype != DType::kF32) return "dtypes are mixed";
  }
  return {};
}

uint32_t row_axes(const FunctionView& view, const Instr& call) {
  const int rank = view.type(call.uses[0]).rank();
  auto normal = [&](int64_t a) { return a < 0 ? a + rank : a; };
  uint32_t mask = 0;
  if (call.text.starts_with("Reduce")) {
    for (int64_t a : call.attrs.get_ints("axes")) mask |= 1u << normal(a);
    return mask;
  }
  if (call.text.starts_with("Global") || call.text == "InstanceNormalization") {
    for (int a = 2; a < rank; ++a) mask |= 1u << a;
    return mask;
  }
  const int64_t axis = normal(call.attrs.get_int("axis", -1));
  if (call.text == "LayerNormalization" || call.text == "RMSNormalization")
    for (int64_t a = axis; a < rank; ++a) mask |= 1u << a;
  else mask = 1u << axis;
  return rank == 0 ? 0 : mask;
}

bool tensors_fit(const FunctionView& view, const Instr& call, std::string& why) {
  if (call.attrs.get_int("fusion", 1) == 0) return why = "fusion: 0", false;
  for (const auto* list : {&call.uses, &call.outs})
    for (Reg r : *list) {
      if (r == kNoReg) continue;
      if (!view.is_tensor(r)) return why = "an operand is no tensor", false;
      const TensorType& t = view.type(r);
      if (t.unknown_rank) return why = "the rank of an operand isn't known", false;
      if (t.dtype == DType::kString) return why = "strings", false;
      if (!(t.device == Device{})) return why = "another device", false;
    }
  return true;
}

}  // namespace

const loops::Op* single_step(std::string_view op, DType type) {
  struct Row {
    loops::Op step;
    unsigned types;
  };
  static const std::unordered_map<std::string_view, Row> t = {
#define MSVM_LOWERED_CALL(name, step, types) {name, {loops::Op::step, types}},
#include "msvm/jit/lower_calls.def"
#undef MSVM_LOWERED_CALL
  };
  const auto row = t.find(op);
  return row != t.end() && row->second.types & kind_of(type) ? &row->second.step : nullptr;
}

std::optional<CallLoops> call_loops(const FunctionView& view, const Instr& call, const LowerOptions& options, std::string& why) {
  if (!call.defs.empty() || call.outs.size() != 1 || call.outs[0] == kNoReg) return why = "not one result of known size", std::nullopt;
  if (call.text == "msvm.Fill" && tensors_fit(view, call, why)) return CallLoops{};
  if (call.uses.empty() || call.uses[0] == kNoReg) return why = "no loop is known for it", std::nullopt;
  const bool absent = std::find(call.uses.begin(), call.uses.end(), kNoReg) != call.uses.end();
  CallLoops loops;
  if (!view.is_tensor(call.uses[0])) return why = "an operand is no tensor", std::nullopt;
  const DType type = view.type(call.uses[0]).dtype;
  if (!single_step(call.text, type)) {
    const auto row = specials().find(call.text);
    if (row == specials().end()) {
      const OpSchema* schema = find_op(call.text);
      if (schema && schema->hazards != kNoHazard) return why = "it may fail on values", std::nullopt;
      why = single_step(call.text, DType::kF32) || (schema && schema->op_class == OpClass::kElementwise) ? fmt::format("the kernel for {} has other bits", dtype_name(type)) : "no loop is known for it";
      return std::nullopt;
    }
    if (!(row->second.types & kind_of(type))) return why = fmt::format("no loop is known for it and {}", dtype_name(type)), std::nullopt;
    loops.walk = row->second.walk;
  }
  if (!tensors_fit(view, call, why)) return std::nullopt;
  if (absent && call.text != "Clip" && call.text != "LayerNormalization" && call.text != "msvm.Pointwise") return why = "an operand is absent", std::nullopt;
  why = obstacle(view, call, options, loops);
  if (!why.empty()) return std::nullopt;
  if (loops.has_rows()) {
    loops.row_axes = row_axes(view, call);
    if (loops.row_axes == 0) return why = "it reduces nothing", std::nullopt;
  }
  if (loops.walk == CallLoops::kTransposed) {
    loops.permutation = call.attrs.get_ints("perm");
    if (loops.permutation.empty())
      for (int a = view.type(call.uses[0]).rank(); a-- > 0;) loops.permutation.push_back(a);
  }
  return loops;
}

std::optional<Ref> constant_number(const FunctionView& view, Reg tensor) {
  if (tensor == kNoReg || !view.is_tensor(tensor)) return std::nullopt;
  const TensorType& type = view.type(tensor);
  if (type.unknown_rank || !std::all_of(type.shape.begin(), type.shape.end(), [&](Dim d) { return view.value(d).is_const(1); })) return std::nullopt;
  Reg at = tensor;
  for (int steps = 0; steps < 16; ++steps) {
    const int32_t d = view.definition(at);
    if (d < 0) return std::nullopt;
    const Instr& x = view.at(d);
    if (x.op == Opcode::kTensorView && (view_kind(x) == ViewKind::kReshape || view_kind(x) == ViewKind::kSqueeze || view_kind(x) == ViewKind::kUnsqueeze || view_kind(x) == ViewKind::kIdentity)) {
      at = x.uses[0];
      continue;
    }
    if (x.op != Opcode::kTensorConst) return std::nullopt;
    const Constant& c = view.module.constants[static_cast<size_t>(x.imms[0])];
    const DType t = c.type.dtype;
    if (t == DType::kString || c.bytes != static_cast<size_t>(dtype_bytes(t))) return std::nullopt;
    auto read = [&](auto v) {
      std::memcpy(&v, c.data, sizeof v);
      return v;
    };
    switch (t) {
      case DType::kF64: return Ref::of(read(double{}));
      case DType::kF32: return Ref::of(static_cast<double>(read(float{})));
      case DType::kF16: return Ref::of(static_cast<double>(f16_to_f32(read(uint16_t{}))));
      case DType::kBF16: return Ref::of(static_cast<double>(bf16_to_f32(read(uint16_t{}))));
      case DType::kI8: return Ref::of_integer(read(int8_t{}));
      case DType::kI16: return Ref::of_integer(read(int16_t{}));
      case DType::kI32: return Ref::of_integer(read(int32_t{}));
      case DType::kI64: return Ref::of_integer(read(int64_t{}));
      case DType::kU8: return Ref::of_integer(read(uint8_t{}));
      case DType::kU16: return Ref::of_integer(read(uint16_t{}));
      case DType::kU32: return Ref::of_integer(read(uint32_t{}));
      case DType::kU64: return Ref::of_integer(static_cast<int64_t>(read(uint64_t{})));
      case DType::kBool: return Ref::of(read(uint8_t{}) != 0 ? 1.0 : 0.0);
      case DType::kString: return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace msvm::jit::lowering
