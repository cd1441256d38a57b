#include "msvm/jit/compiler/steps.h"

#include <llvm/IR/Function.h>

#include "msvm/jit/compiler/ir.h"

namespace msvm::compiler {
#include "msvm/base/math_f32.inc"
#include "msvm/base/math_f32_wide.inc"
namespace {

using llvm::Type;
using llvm::Value;
using loops::Op;

bool is_signed(DType t) { return dtype_info(t).kind == DTypeKind::kSigned; }

/// `usual`, and where lanes are too large for it what `rare` gives, in a block of its own.
template <class Rare>
Value* with_rare_lanes(llvm::IRBuilderBase& b, const IrBool& large, Value* usual, const Rare& rare) {
  llvm::Function* f = b.GetInsertBlock()->getParent();
  auto* slow = llvm::BasicBlock::Create(b.getContext(), "large", f);
  auto* join = llvm::BasicBlock::Create(b.getContext(), "joined", f);
  auto* before = b.GetInsertBlock();
  b.CreateCondBr(large.v->getType()->isVectorTy() ? b.CreateOrReduce(large.v) : large.v, slow, join);
  b.SetInsertPoint(slow);
  Value* all = b.CreateSelect(large.v, rare(), usual);
  auto* slow_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  auto* phi = b.CreatePHI(usual->getType(), 2);
  phi->addIncoming(usual, before);
  phi->addIncoming(all, slow_end);
  return phi;
}

Value* sine(llvm::IRBuilderBase& b, Value* x, uint32_t quarter) {
  const Ir a{&b, x};
  return with_rare_lanes(b, abs_of(a) > kSineLimit, sine32(a, quarter).v, [&] { return sine_large32(a, quarter).v; });
}

Ir lesser(const Ir& x, const Ir& y) { return choose((x < y) | (x != x), x, y); }
Ir greater(const Ir& x, const Ir& y) { return choose((x > y) | (x != x), x, y); }

Value* float_step(llvm::IRBuilderBase& b, Op op, DType type, const std::array<Value*, 3>& operands) {
  const Ir x{&b, operands[0]}, y{&b, operands[1]}, z{&b, operands[2]};
  switch (op) {
    case Op::kAdd: return (x + y).v;
    case Op::kSub: return (x - y).v;
    case Op::kMul: return (x * y).v;
    case Op::kDiv: return (x / y).v;
    case Op::kFma: return fma_of(x, y, z).v;
    case Op::kMin: return lesser(x, y).v;
    case Op::kMax: return greater(x, y).v;
    case Op::kPow: return pow32(x, y).v;
    case Op::kNeg: return (-x).v;
    case Op::kAbs: return abs_of(x).v;
    case Op::kSqrt: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.v);
    case Op::kFloor: return floor_of(x).v;
    case Op::kCeil: return b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x.v);
    case Op::kRound: return b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x.v);
    case Op::kExp: return exp32(x).v;
    case Op::kLog: return log32(x).v;
    case Op::kErf: return erf32(x).v;
    case Op::kTanh: return tanh32(x).v;
    case Op::kSigmoid: return sigmoid32(x).v;
    case Op::kRelu: return choose(x < 0.0f, 0.0f, x).v;
    case Op::kLeakyRelu: return choose(x < 0.0f, y * x, x).v;
    case Op::kClip: {
      const Ir low = choose(x < y, y, x);
      return choose(low > z, z, low).v;
    }
    case Op::kHardSigmoid: return clamp01(y * x + z).v;
    case Op::kHardSwish: return (x * clamp01(x * (type == DType::kF32 ? Ir(1.0f / 6) : Ir(1.0 / 6)) + 0.5f)).v;
    case Op::kSilu: return (x * sigmoid32(x)).v;
    case Op::kGelu: return gelu32(x).v;
    case Op::kGeluTanh: return gelu_tanh32(x).v;
    case Op::kElu: return choose(x < 0.0f, y * expm1_32(x), x).v;
    case Op::kSoftplus: return softplus32(x).v;
    case Op::kMish: return mish32(x).v;
    case Op::kSin: return sine(b, x.v, 0);
    case Op::kCos: return sine(b, x.v, 1);
    case Op::kLoad: case Op::kStore: case Op::kIndex: case Op::kEqual: case Op::kLess: case Op::kLessOrEqual: case Op::kAnd: case Op::kOr:
    case Op::kXor: case Op::kNot: case Op::kIsNan: case Op::kSelect: case Op::kCast: case Op::kReduceSum: case Op::kReduceMax:
    case Op::kReduceMin: case Op::kReduceProd: break;
  }
  return x.v;
}

Value* integer_less(llvm::IRBuilderBase& b, DType type, Value* x, Value* y) { return is_signed(type) ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y); }

Value* integer_step(llvm::IRBuilderBase& b, Op op, DType type, const std::array<Value*, 3>& operands) {
  const auto& [x, y, z] = operands;
  auto less = [&](Value* p, Value* q) { return integer_less(b, type, p, q); };
  Value* zero = llvm::Constant::getNullValue(x->getType());
  switch (op) {
    case Op::kAdd: return b.CreateAdd(x, y);
    case Op::kSub: return b.CreateSub(x, y);
    case Op::kMul: return b.CreateMul(x, y);
    case Op::kMin: return b.CreateSelect(less(x, y), x, y);
    case Op::kMax: return b.CreateSelect(less(y, x), x, y);
    case Op::kNeg: return b.CreateNeg(x);
    case Op::kAbs: return is_signed(type) ? b.CreateSelect(less(x, zero), b.CreateNeg(x), x) : x;
    case Op::kRelu: return b.CreateSelect(less(x, zero), zero, x);
    case Op::kClip: {
      Value* low = b.CreateSelect(less(x, y), y, x);
      return b.CreateSelect(less(z, low), z, low);
    }
    case Op::kAnd: return b.CreateAnd(x, y);
    case Op::kOr: return b.CreateOr(x, y);
    case Op::kXor: return b.CreateXor(x, y);
    case Op::kNot: return b.CreateNot(x);
    case Op::kDiv: case Op::kFma: case Op::kPow: case Op::kSqrt: case Op::kFloor: case Op::kCeil: case Op::kRound: case Op::kExp: case Op::kLog:
    case Op::kErf: case Op::kTanh: case Op::kSigmoid: case Op::kLeakyRelu: case Op::kHardSigmoid: case Op::kHardSwish: case Op::kSilu:
    case Op::kGelu: case Op::kGeluTanh: case Op::kElu: case Op::kSoftplus: case Op::kMish: case Op::kSin: case Op::kCos: case Op::kLoad:
    case Op::kStore: case Op::kIndex: case Op::kEqual: case Op::kLess: case Op::kLessOrEqual: case Op::kIsNan: case Op::kSelect: case Op::kCast:
    case Op::kReduceSum: case Op::kReduceMax: case Op::kReduceMin: case Op::kReduceProd: break;
  }
  return x;
}

Value* compare(llvm::IRBuilderBase& b, Op op, DType source, Value* x, Value* y) {
  const bool floats = is_float(source);
  if (op == Op::kIsNan) return floats ? b.CreateFCmpUNO(x, x) : llvm::Constant::getNullValue(with_lanes_of(x->getType(), b.getInt1Ty()));
  if (op == Op::kEqual) return floats ? b.CreateFCmpOEQ(x, y) : b.CreateICmpEQ(x, y);
  if (op == Op::kLess) return floats ? b.CreateFCmpOLT(x, y) : integer_less(b, source, x, y);
  return floats ? b.CreateFCmpOLE(x, y) : b.CreateNot(integer_less(b, source, y, x));
}

Value* cast(llvm::IRBuilderBase& b, DType type, DType source, Value* x) {
  Type* to = with_lanes_of(x->getType(), value_type_of(b.getContext(), type, 1));
  Value* zero = llvm::Constant::getNullValue(x->getType());
  if (type == source) return x;
  if (type == DType::kBool) return is_float(source) ? b.CreateFCmpUNE(x, zero) : b.CreateICmpNE(x, zero);
  if (source == DType::kBool) return b.CreateSelect(x, is_float(type) ? llvm::ConstantFP::get(to, 1.0) : llvm::ConstantInt::get(to, 1), llvm::Constant::getNullValue(to));
  if (is_float(type)) return is_float(source) ? b.CreateFPCast(x, to) : is_signed(source) ? b.CreateSIToFP(x, to) : b.CreateUIToFP(x, to);
  return b.CreateIntCast(x, to, is_signed(source));
}

}  // namespace

Type* value_type_of(llvm::LLVMContext& context, DType type, int lanes) {
  Type* t = type == DType::kF64 ? Type::getDoubleTy(context)
            : is_float(type)    ? Type::getFloatTy(context)
                                : Type::getIntNTy(context, type == DType::kBool ? 1 : static_cast<unsigned>(dtype_info(type).bits));
  return lanes == 1 ? t : llvm::FixedVectorType::get(t, static_cast<unsigned>(lanes));
}

Value* emit_step(llvm::IRBuilderBase& b, Op op, DType type, DType source, const std::array<Value*, 3>& operands) {
  if (loops::is_comparison(op)) return compare(b, op, source, operands[0], operands[1]);
  if (op == Op::kSelect) return b.CreateSelect(operands[0], operands[1], operands[2]);
  if (op == Op::kCast) return cast(b, type, source, operands[0]);
  return is_float(type) ? float_step(b, op, type, operands) : integer_step(b, op, type, operands);
}

int step_cost(Op op) {
  switch (op) {
    case Op::kLoad: case Op::kStore: case Op::kIndex: case Op::kAdd: case Op::kSub: case Op::kMul: case Op::kDiv: case Op::kFma: case Op::kNeg:
    case Op::kAbs: case Op::kSqrt: case Op::kFloor: case Op::kCeil: case Op::kRound: case Op::kEqual: case Op::kLess: case Op::kLessOrEqual:
    case Op::kAnd: case Op::kOr: case Op::kXor: case Op::kNot: case Op::kIsNan: case Op::kSelect: case Op::kCast: case Op::kReduceSum:
    case Op::kReduceProd: case Op::kReduceMax: case Op::kReduceMin: case Op::kRelu: return 1;
    case Op::kMin: case Op::kMax: case Op::kClip: case Op::kLeakyRelu: return 3;
    case Op::kHardSigmoid: case Op::kHardSwish: return 6;
    case Op::kExp: case Op::kSigmoid: case Op::kSilu: return 24;
    case Op::kLog: case Op::kElu: case Op::kMish: return 32;
    case Op::kErf: case Op::kTanh: case Op::kGelu: case Op::kGeluTanh: return 48;
    case Op::kSoftplus: case Op::kSin: case Op::kCos: case Op::kPow: return 64;
  }
  return 1;
}

}  // namespace msvm::compiler
