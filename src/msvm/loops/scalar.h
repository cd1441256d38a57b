// One value of a loop program and the steps on it: the evaluator's arithmetic.
#pragma once
#include <array>
#include <cstddef>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {

struct Scalar {
  DType type = DType::kF32;
  double number = 0;    // of floats; an f32 is one of its values
  int64_t integer = 0;  // of integers, extended from their width (u64 as its bits), and of bools: 0 or 1
};

Scalar load_scalar(const std::byte* at, DType type);  // f16 and bf16 as f32
void store_scalar(std::byte* at, DType type, const Scalar& v);

/// A constant as a value of `type`.
Scalar constant(const Operand& o, DType type);

/// Any step but Load, Store, Index and reductions. Operands have the types that check() asks for.
Scalar apply(Op op, DType type, const std::array<Scalar, 3>& operands);

/// What a reduction has seen so far.
class Reduction {
 public:
  Reduction(Op op, DType type);
  void add(const Scalar& v);
  Scalar value() const;

 private:
  Op op_;
  DType type_;
  long double sum_ = 0;  // of sums and products of floats
  Scalar value_;
};

}  // namespace msvm::loops
