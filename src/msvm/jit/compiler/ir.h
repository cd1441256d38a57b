// Values of LLVM's IR with the operators of numbers, so that base/math_f32.inc can be instantiated to emit instructions. A value is a
// scalar or a vector; literals take the type of what they meet.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <concepts>
#include <cstdint>

namespace msvm::compiler {

struct IrBool {
  llvm::IRBuilderBase* b;
  llvm::Value* v;
  friend IrBool operator&(IrBool x, IrBool y) { return {x.b, x.b->CreateAnd(x.v, y.v)}; }
  friend IrBool operator|(IrBool x, IrBool y) { return {x.b, x.b->CreateOr(x.v, y.v)}; }
  IrBool operator!() const { return {b, b->CreateNot(v)}; }
};

/// `type` with the number of lanes that `like` has.
llvm::Type* with_lanes_of(llvm::Type* like, llvm::Type* type);

/// Unsigned words.
struct IrBits {
  llvm::IRBuilderBase* b = nullptr;
  llvm::Value* v = nullptr;  // null: the literal
  uint64_t literal = 0;
  IrBits(llvm::IRBuilderBase* builder, llvm::Value* value) : b(builder), v(value) {}
  template <std::integral T>
  IrBits(T l) : literal(static_cast<uint64_t>(l)) {}  // NOLINT(google-explicit-constructor)
  llvm::Value* as(llvm::Type* type) const { return v ? v : llvm::ConstantInt::get(type, literal); }

#define MSVM_IR_BITS(op, make)                                                                    \
  friend IrBits operator op(const IrBits& x, const IrBits& y) {                                   \
    llvm::IRBuilderBase* builder = x.b ? x.b : y.b;                                               \
    llvm::Type* type = (x.v ? x.v : y.v)->getType();                                              \
    return {builder, builder->make(x.as(type), y.as(type))};                                      \
  }
  MSVM_IR_BITS(+, CreateAdd)
  MSVM_IR_BITS(-, CreateSub)
  MSVM_IR_BITS(*, CreateMul)
  MSVM_IR_BITS(&, CreateAnd)
  MSVM_IR_BITS(|, CreateOr)
  MSVM_IR_BITS(<<, CreateShl)
  MSVM_IR_BITS(>>, CreateLShr)
#undef MSVM_IR_BITS
  friend IrBool operator==(const IrBits& x, const IrBits& y) { return {x.b, x.b->CreateICmpEQ(x.v, y.as(x.v->getType()))}; }
  friend IrBool operator!=(const IrBits& x, const IrBits& y) { return {x.b, x.b->CreateICmpNE(x.v, y.as(x.v->getType()))}; }
  friend IrBool operator>(const IrBits& x, const IrBits& y) { return {x.b, x.b->CreateICmpUGT(x.v, y.as(x.v->getType()))}; }
};

/// Floats of any width.
struct Ir {
  llvm::IRBuilderBase* b = nullptr;
  llvm::Value* v = nullptr;  // null: the literal
  double literal = 0;
  Ir(llvm::IRBuilderBase* builder, llvm::Value* value) : b(builder), v(value) {}
  Ir(float l) : literal(static_cast<double>(l)) {}  // NOLINT(google-explicit-constructor)
  Ir(double l) : literal(l) {}                      // NOLINT(google-explicit-constructor)
  llvm::Value* as(llvm::Type* type) const { return v ? v : llvm::ConstantFP::get(type, literal); }
  Ir operator-() const { return {b, b->CreateFNeg(v)}; }

#define MSVM_IR_FLOAT(Out, op, make)                                \
  friend Out operator op(const Ir& x, const Ir& y) {                \
    llvm::IRBuilderBase* builder = x.b ? x.b : y.b;                 \
    llvm::Type* type = (x.v ? x.v : y.v)->getType();                \
    return {builder, builder->make(x.as(type), y.as(type))};        \
  }
  MSVM_IR_FLOAT(Ir, +, CreateFAdd)
  MSVM_IR_FLOAT(Ir, -, CreateFSub)
  MSVM_IR_FLOAT(Ir, *, CreateFMul)
  MSVM_IR_FLOAT(Ir, /, CreateFDiv)
  MSVM_IR_FLOAT(IrBool, <, CreateFCmpOLT)
  MSVM_IR_FLOAT(IrBool, <=, CreateFCmpOLE)
  MSVM_IR_FLOAT(IrBool, >, CreateFCmpOGT)
  MSVM_IR_FLOAT(IrBool, ==, CreateFCmpOEQ)
  MSVM_IR_FLOAT(IrBool, !=, CreateFCmpUNE)
#undef MSVM_IR_FLOAT
};

// What math_f32.inc asks of a float.
Ir fma_of(const Ir& x, const Ir& y, const Ir& z);
Ir abs_of(const Ir& x);
Ir floor_of(const Ir& x);
Ir with_sign_of(const Ir& x, const Ir& sign);
Ir choose(const IrBool& c, const Ir& x, const Ir& y);  // two literals: f32
IrBits choose_bits(const IrBool& c, const IrBits& x, const IrBits& y);
IrBits as_bits(const Ir& x);
Ir as_float(const IrBits& x);
Ir widen(const Ir& x);
Ir narrow(const Ir& x);
IrBits widen_bits(const IrBits& x);
IrBits narrow_bits(const IrBits& x);
Ir signed_to_float(const IrBits& x);
IrBits shift_signed(const IrBits& x, int n);
Ir scale_by(const Ir& p, const Ir& n, const IrBits& n_bits);
IrBits two_by_pi(const IrBits& index);

}  // namespace msvm::compiler
