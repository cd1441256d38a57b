#include "msvm/jit/compiler/reduction.h"

#include "msvm/jit/compiler/ir.h"
#include "msvm/jit/compiler/steps.h"

namespace msvm::compiler {

using llvm::Value;
using loops::Op;

namespace {

int lanes_of(const Value* v) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

llvm::Constant* first(Op op, DType type, llvm::Type* value) {
  if (op == Op::kReduceSum) return llvm::Constant::getNullValue(value);
  if (op == Op::kReduceProd) return is_float(type) ? llvm::ConstantFP::get(value, 1.0) : llvm::ConstantInt::get(value, 1);
  const bool max = op == Op::kReduceMax;
  if (is_float(type)) return llvm::ConstantFP::getInfinity(value, max);
  const unsigned bits = value->getScalarSizeInBits();
  const bool is_signed = dtype_info(type).kind == DTypeKind::kSigned;
  const llvm::APInt lowest = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
  return llvm::ConstantInt::get(value, max ? lowest : ~lowest);
}

}  // namespace

bool Reduction::flagged() const { return is_float(step_->type) && (step_->op == Op::kReduceMax || step_->op == Op::kReduceMin); }

llvm::Type* Reduction::flag_type(llvm::Type* value) const {
  const bool bits = flags_are_bits_ || !value->isVectorTy();
  return with_lanes_of(value, llvm::Type::getIntNTy(value->getContext(), bits ? 1 : value->getScalarSizeInBits()));
}

void Reduction::start(llvm::LLVMContext& context, int lanes, std::vector<Value*>& to) const {
  llvm::Type* value = value_type_of(context, step_->type, lanes);
  to.push_back(first(step_->op, step_->type, value));
  if (flagged()) to.push_back(llvm::Constant::getNullValue(flag_type(value)));
}

/// `so_far` where x is a NaN.
Value* Reduction::combine(llvm::IRBuilderBase& b, Value* x, Value* so_far) const {
  const DType type = step_->type;
  if (step_->op == Op::kReduceSum) return is_float(type) ? b.CreateFAdd(so_far, x) : b.CreateAdd(so_far, x);
  if (step_->op == Op::kReduceProd) return is_float(type) ? b.CreateFMul(so_far, x) : b.CreateMul(so_far, x);
  const bool max = step_->op == Op::kReduceMax;
  if (!flagged()) return emit_step(b, max ? Op::kMax : Op::kMin, type, type, {x, so_far, nullptr});
  return b.CreateSelect(max ? b.CreateFCmpOGT(x, so_far) : b.CreateFCmpOLT(x, so_far), x, so_far);
}

void Reduction::add(llvm::IRBuilderBase& b, Value* element, Value* mask, std::span<Value*> parts) const {
  if (mask) element = b.CreateSelect(mask, element, first(step_->op, step_->type, element->getType()));
  parts[0] = combine(b, element, parts[0]);
  if (!flagged()) return;
  Value* nan = b.CreateFCmpUNO(element, element);
  parts[1] = b.CreateOr(parts[1], b.CreateSExt(nan, parts[1]->getType()));
}

void Reduction::merge(llvm::IRBuilderBase& b, std::span<Value*> into, std::span<Value* const> other) const {
  into[0] = combine(b, other[0], into[0]);
  if (flagged()) into[1] = b.CreateOr(into[1], other[1]);
}

void Reduction::across_lanes(llvm::IRBuilderBase& b, std::span<Value*> parts) const {
  for (int half = lanes_of(parts[0]) / 2; half >= 1; half /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < half; ++i) low.push_back(i), high.push_back(half + i);
    parts[0] = combine(b, b.CreateShuffleVector(parts[0], high), b.CreateShuffleVector(parts[0], low));
  }
  parts[0] = b.CreateExtractElement(parts[0], uint64_t{0});
  if (!flagged()) return;
  Value* words = parts[1];
  if (!flags_are_bits_) words = b.CreateICmpNE(words, llvm::Constant::getNullValue(words->getType()));
  parts[1] = b.CreateOrReduce(words);
}

Value* Reduction::result(llvm::IRBuilderBase& b, std::span<Value* const> parts) const {
  return flagged() ? b.CreateSelect(parts[1], llvm::ConstantFP::getNaN(parts[0]->getType()), parts[0]) : parts[0];
}

}  // namespace msvm::compiler
