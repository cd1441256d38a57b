// How much arithmetic a call is, from its actual shapes: for GFLOP/s in traces and metrics.
#pragma once
#include <span>
#include <string_view>

#include "msvm/shape/attributes.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm {

/// Additions and multiplications of the textbook form: 2*M*N*K of a product, whatever algorithm a kernel uses. Of operators that aren't
/// products, one for each element of the larger of first input and first output. Null pointers: absent operands.
double flops(std::string_view op, const Attributes& attrs, std::span<const TensorMeta* const> inputs, std::span<const TensorMeta* const> outputs);

}  // namespace msvm
