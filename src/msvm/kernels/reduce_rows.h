// Inner loops of reductions: over a dense row into one accumulator, or a row into a row of accumulators.
#pragma once
#include <cstdint>

#include "msvm/shape/dtype.h"

namespace msvm {

enum class Fold : uint8_t { kSum, kSumAbs, kSumSquare, kProd, kMax, kMin };

/// An accumulator: f64 for floats, i64 or u64 (wrapping) for integers.
union Accumulator {
  double f;
  int64_t i;
  uint64_t u;
};

struct FoldRows {
  void (*row)(const void* x, int64_t n, Accumulator& acc) = nullptr;
  void (*column)(const void* x, int64_t n, Accumulator* acc) = nullptr;   // acc[k] takes x[k]
  void (*combine)(Accumulator& acc, Accumulator later) = nullptr;
};

/// `compute` is f32 or f64 (accumulated in f64), i64 or u64.
FoldRows fold_rows(Fold fold, DType compute);

}  // namespace msvm
