#include "msvm/jit/compiler/ir.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>
#include <iterator>

namespace msvm::compiler {
#include "msvm/base/math_f32.inc"
#include "msvm/base/math_f32_wide.inc"

using llvm::Type;
using llvm::Value;

Type* with_lanes_of(Type* like, Type* type) {
  if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(like)) return llvm::VectorType::get(type, vector->getElementCount());
  return type;
}

namespace {
/// The word of that width, or the float.
Type* word_of(Type* t) { return with_lanes_of(t, Type::getIntNTy(t->getContext(), t->getScalarSizeInBits())); }
Type* float_of(Type* t) { return with_lanes_of(t, t->getScalarSizeInBits() == 64 ? Type::getDoubleTy(t->getContext()) : Type::getFloatTy(t->getContext())); }
}  // namespace

Ir fma_of(const Ir& x, const Ir& y, const Ir& z) {
  llvm::IRBuilderBase* b = x.b ? x.b : y.b ? y.b : z.b;
  Type* t = (x.v ? x.v : y.v ? y.v : z.v)->getType();
  return {b, b->CreateIntrinsic(llvm::Intrinsic::fma, {t}, {x.as(t), y.as(t), z.as(t)})};
}
Ir abs_of(const Ir& x) { return {x.b, x.b->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x.v)}; }
Ir floor_of(const Ir& x) { return {x.b, x.b->CreateUnaryIntrinsic(llvm::Intrinsic::floor, x.v)}; }
Ir with_sign_of(const Ir& x, const Ir& sign) { return {x.b, x.b->CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x.v, sign.v)}; }

Ir choose(const IrBool& c, const Ir& x, const Ir& y) {
  Type* t = x.v ? x.v->getType() : y.v ? y.v->getType() : with_lanes_of(c.v->getType(), Type::getFloatTy(c.v->getContext()));
  return {c.b, c.b->CreateSelect(c.v, x.as(t), y.as(t))};
}
IrBits choose_bits(const IrBool& c, const IrBits& x, const IrBits& y) {
  Type* t = (x.v ? x.v : y.v)->getType();
  return {c.b, c.b->CreateSelect(c.v, x.as(t), y.as(t))};
}

IrBits as_bits(const Ir& x) { return {x.b, x.b->CreateBitCast(x.v, word_of(x.v->getType()))}; }
Ir as_float(const IrBits& x) { return {x.b, x.b->CreateBitCast(x.v, float_of(x.v->getType()))}; }
Ir widen(const Ir& x) { return {x.b, x.b->CreateFPExt(x.v, with_lanes_of(x.v->getType(), x.b->getDoubleTy()))}; }
Ir narrow(const Ir& x) { return {x.b, x.b->CreateFPTrunc(x.v, with_lanes_of(x.v->getType(), x.b->getFloatTy()))}; }
IrBits widen_bits(const IrBits& x) { return {x.b, x.b->CreateZExt(x.v, with_lanes_of(x.v->getType(), x.b->getInt64Ty()))}; }
IrBits narrow_bits(const IrBits& x) { return {x.b, x.b->CreateTrunc(x.v, with_lanes_of(x.v->getType(), x.b->getInt32Ty()))}; }
Ir signed_to_float(const IrBits& x) { return {x.b, x.b->CreateSIToFP(x.v, float_of(x.v->getType()))}; }
IrBits shift_signed(const IrBits& x, int n) { return {x.b, x.b->CreateAShr(x.v, static_cast<uint64_t>(n))}; }

Ir scale_by(const Ir& p, const Ir& n, const IrBits& n_bits) {
  // Vectors of 16 floats are those of AVX-512, whose vscalefps rounds once.
  llvm::Type* wide = llvm::FixedVectorType::get(p.b->getFloatTy(), 16);
  if (p.v->getType() != wide) return scale_in_two_steps(p, n_bits);
  constexpr uint32_t kCurrentRounding = 4;
  return {p.b, p.b->CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                    {p.v, n.v, llvm::PoisonValue::get(wide), p.b->getInt16(0xffff), p.b->getInt32(kCurrentRounding)})};
}

IrBits two_by_pi(const IrBits& index) {
  constexpr const char* kName = "two_by_pi";
  llvm::Module& module = *index.b->GetInsertBlock()->getModule();
  llvm::GlobalVariable* table = module.getNamedGlobal(kName);
  if (!table) {
    auto* words = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef(kTwoByPi));
    table = new llvm::GlobalVariable(module, words->getType(), true, llvm::GlobalValue::InternalLinkage, words, kName);
    table->setAlignment(llvm::Align(64));
  }
  Type* word = index.b->getInt32Ty();
  Value* at = index.b->CreateGEP(word, table, index.v);
  Value* v = nullptr;
  if (index.v->getType()->isVectorTy()) v = index.b->CreateMaskedGather(index.v->getType(), at, llvm::Align(4));
  else v = index.b->CreateAlignedLoad(word, at, llvm::Align(4));
  return widen_bits({index.b, v});
}

}  // namespace msvm::compiler
