// Sizes of matrix products.
#pragma once
#include "msvm/ops/infer.h"

namespace msvm {

/// numpy.matmul's shape of inputs `a` and `b`; with `transposed` the last two axes of `b` are swapped (rank 2 or more).
Result<std::vector<Dim>> matmul_shape(InferContext& c, size_t a, size_t b, bool transposed = false);

}  // namespace msvm
