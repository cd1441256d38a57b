// A body made ready to run: steps over rows of floats, with scratch rows for the values between them; and the walk of a body over
// the rows of a result.
#pragma once
#include <array>
#include <vector>

#include "msvm/kernels/body_kernels.h"
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
  /// A body that parse_body accepts; without steps it is the identity.
  explicit BodyProgram(Body body);
  const Body& body() const { return body_; }
  static constexpr int64_t kTile = 512;  // floats of a value between two steps
  int64_t scratch_floats() const { return rows_ * kTile; }
  double ns_per_element() const { return ns_; }
  std::span<const uint16_t> inputs() const { return inputs_; }  // those of the call that it reads, each once, ascending
  bool reads_result() const { return reads_result_; }

  /// out[0..n) = body of y[0..n) (may be `out` itself; null without a result) and the inputs; inputs[k] is that of call input k, which
  /// may be `out` itself too. Any n; `scratch` holds scratch_floats().
  void run(const VectorKernels& v, const float* y, std::span<const BodyRow> inputs, float* out, int64_t n, float* scratch) const;

 private:
  Body body_;
  int64_t rows_ = 0;  // values alive at once
  double ns_ = 0.05;
  bool reads_result_ = false;
  std::vector<uint16_t> inputs_;
  std::vector<int> row_of_;  // by step; -1: the result
};

/// A body over rows of a result: pointers and strides of all operands, worked out once a call. A row runs along one axis of the result,
/// the columns; the other axes, in their logical order, are flattened to rows. Any strides.
class BodyOver {
 public:
  /// `y` is the call's output 0. With `has_result` it holds the values that the body begins with. `column_axis` -1: axes are sorted and
  /// merged so that rows are long; what a row is then is of no meaning to the caller. Refuses inputs that don't broadcast to the result.
  Status prepare(const KernelCall& call, const VectorKernels& v, const BodyProgram& program, bool has_result, int column_axis);
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t scratch_bytes() const;  // for each thread
  /// The block of rows [begin, end) and columns [first, last), on the calling thread.
  void run(int64_t begin, int64_t end, int64_t first, int64_t last, std::byte* scratch) const;

 private:
  struct Block;
  int64_t stride(size_t operand, int axis) const { return strides_[operand * kMaxRank + static_cast<size_t>(axis)]; }
  void sort_axes();
  void merge_axes();
  void block(const Block& b) const;
  void long_row(const Block& b) const;
  void short_rows(const Block& b) const;

  const BodyProgram* program_ = nullptr;
  const VectorKernels* v_ = nullptr;
  bool has_result_ = false;
  int rank_ = 0;                           // outer axes
  int64_t rows_ = 0, columns_ = 0;
  size_t operands_ = 0, call_inputs_ = 0;  // operand 0 is the result, then the program's inputs
  std::array<int64_t, kMaxRank> shape_{};  // of the outer axes
  std::vector<float*> data_;
  std::vector<int64_t> strides_, column_strides_;  // strides_: kMaxRank for each operand
};

/// Runs a body over the whole of a result of any layout; with `has_result` on the values that it holds. Splits over the workers.
Status run_body(KernelCall& call, const VectorKernels& v, const BodyProgram& program, bool has_result);

/// The program of the call's attribute `body`, parsed once a site; null without one. Its inputs begin at `first_input`.
Result<const BodyProgram*> body_program(KernelCall& call, size_t first_input, bool has_result);

}  // namespace msvm
