// A body made ready to run: steps over rows of floats, with scratch rows for the values between them.
#pragma once
#include <vector>

#include "msvm/kernels/kernel.h"
#include "msvm/kernels/vector_kernels.h"
#include "msvm/ops/body.h"

namespace msvm {

/// One row of operands: `step` 1 = n floats, 0 = one float for the whole row.
struct BodyRow {
  const float* data = nullptr;
  int64_t step = 1;
};

class BodyProgram {
 public:
  explicit BodyProgram(const Body& body);
  const Body& body() const { return body_; }
  static constexpr int64_t kTile = 512;  // floats of a value between two steps
  int64_t scratch_floats() const { return rows_ * kTile; }

  /// out[0..n) = body of y[0..n) (may be `out` itself; null without a result) and the inputs; inputs[k] is that of call input k.
  void run(const VectorKernels& v, const float* y, std::span<const BodyRow> inputs, float* out, int64_t n, float* scratch) const;

 private:
  Body body_;
  int64_t rows_ = 0;          // values alive at once
  std::vector<int> row_of_;   // by step
};

/// Runs a body over the whole of a result of any layout: y is the result's own memory (written before) or null. Rows follow the result's
/// innermost axis in memory; inputs broadcast with any strides. Splits over the workers.
Status run_body(KernelCall& call, const VectorKernels& v, const BodyProgram& program, size_t first_input, bool has_result);
/// The part [begin, end) of the flattened outer axes (all but the innermost in memory), on the calling thread: for an epilogue over the
/// rows that were just written.
struct BodyOver;  // strides of every input along the result's axes, worked out once a call
}  // namespace msvm
