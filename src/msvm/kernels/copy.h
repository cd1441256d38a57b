// Data movement by element size.
#pragma once
#include <cstdint>

#include "msvm/base/status.h"
#include "msvm/kernels/iterate.h"

namespace msvm {

/// Copies every element: same shape and dtype, any strides and layouts, no overlap. Strings are assigned. Parallel when big.
Status copy(const TensorMeta& source, const TensorMeta& destination, WorkerPool& workers);

/// A copy nest: operand 0 is the destination, 1 the source; strides in BYTES, of either sign.
using CopyNest = Nest<2>;
/// Runs it (simplifies first). `element` in bytes; strings: elements are std::string, assigned.
void run_copy(CopyNest nest, std::byte* destination, const std::byte* source, int64_t element, bool strings, WorkerPool& workers);

/// Writes the element at `value` to all of `destination`; with `value` null, zeros (empty strings).
void fill(const TensorMeta& destination, const void* value, WorkerPool& workers);

}  // namespace msvm
