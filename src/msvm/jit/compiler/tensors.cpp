#include "msvm/jit/compiler/tensors.h"

#include "msvm/jit/compiler/ir.h"
#include "msvm/jit/compiler/steps.h"

namespace msvm::compiler {
namespace {

using llvm::Type;
using llvm::Value;

/// As it lies in memory: f16 and bf16 as words of 16 bits, bools as bytes.
Type* stored_type(llvm::LLVMContext& context, DType type) {
  if (is_float(type) && dtype_bytes(type) > 2) return value_type_of(context, type, 1);
  return Type::getIntNTy(context, static_cast<unsigned>(dtype_info(type).bits));
}

Value* from_stored(llvm::IRBuilderBase& b, DType type, Value* raw) {
  auto shaped = [&](Type* t) { return with_lanes_of(raw->getType(), t); };
  if (type == DType::kBool) return b.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
  if (type == DType::kF16) return b.CreateFPExt(b.CreateBitCast(raw, shaped(b.getHalfTy())), shaped(b.getFloatTy()));
  if (type == DType::kBF16) return b.CreateBitCast(b.CreateShl(b.CreateZExt(raw, shaped(b.getInt32Ty())), 16), shaped(b.getFloatTy()));
  return raw;
}

/// base/half.h's rounding.
Value* bf16_of(llvm::IRBuilderBase& b, const Ir& x) {
  const IrBits u = as_bits(x);
  const IrBits rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, nan = (u >> 16) | 0x40u;
  const IrBits word = choose_bits((u & 0x7fffffffu) > 0x7f800000u, nan, rounded);
  return b.CreateTrunc(word.v, with_lanes_of(word.v->getType(), b.getInt16Ty()));
}

Value* to_stored(llvm::IRBuilderBase& b, DType type, Value* v) {
  auto shaped = [&](Type* t) { return with_lanes_of(v->getType(), t); };
  if (type == DType::kBool) return b.CreateZExt(v, shaped(b.getInt8Ty()));
  if (type == DType::kF16) return b.CreateBitCast(b.CreateFPTrunc(v, shaped(b.getHalfTy())), shaped(b.getInt16Ty()));
  if (type == DType::kBF16) return bf16_of(b, {&b, v});
  return v;
}

Value* element(llvm::IRBuilderBase& b, const RowOf& t, Type* stored, Value* column) { return b.CreateGEP(stored, t.row, t.stride ? b.CreateMul(column, t.stride) : column); }

}  // namespace

Value* emit_load(llvm::IRBuilderBase& b, const RowOf& t, const Columns& at) {
  Type* stored = stored_type(b.getContext(), t.dtype);
  const llvm::Align align(static_cast<uint64_t>(dtype_bytes(t.dtype)));
  Value* place = element(b, t, stored, at.first);
  Value* raw = nullptr;
  if (at.lanes == 1) {
    raw = b.CreateAlignedLoad(stored, place, align);
  } else if (!t.stride) {
    Type* vector = llvm::FixedVectorType::get(stored, static_cast<unsigned>(at.lanes));
    raw = at.mask ? static_cast<Value*>(b.CreateMaskedLoad(vector, place, align, at.mask, llvm::Constant::getNullValue(vector))) : b.CreateAlignedLoad(vector, place, align);
  } else {
    raw = llvm::PoisonValue::get(llvm::FixedVectorType::get(stored, static_cast<unsigned>(at.lanes)));
    for (int i = 0; i < at.lanes; ++i) {
      if (i > 0) place = b.CreateGEP(stored, place, t.stride);
      raw = b.CreateInsertElement(raw, b.CreateAlignedLoad(stored, place, align), static_cast<uint64_t>(i));
    }
  }
  return from_stored(b, t.dtype, raw);
}

void emit_store(llvm::IRBuilderBase& b, const RowOf& t, const Columns& at, Value* value) {
  Type* stored = stored_type(b.getContext(), t.dtype);
  const llvm::Align align(static_cast<uint64_t>(dtype_bytes(t.dtype)));
  Value* place = element(b, t, stored, at.first);
  Value* raw = to_stored(b, t.dtype, value);
  if (at.lanes == 1 || (!t.stride && !at.mask)) {
    b.CreateAlignedStore(raw, place, align);
  } else if (!t.stride) {
    b.CreateMaskedStore(raw, place, align, at.mask);
  } else {
    for (int i = 0; i < at.lanes; ++i) {
      if (i > 0) place = b.CreateGEP(stored, place, t.stride);
      b.CreateAlignedStore(b.CreateExtractElement(raw, static_cast<uint64_t>(i)), place, align);
    }
  }
}

}  // namespace msvm::compiler
