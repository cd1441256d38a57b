// Loop programs: what the compiler process turns into native code. Target-independent, sizes as arguments, no pointers, no operators:
// rows of elementwise arithmetic, loads and stores of any strides, reductions along a row.
//
//   loops version 1
//   kernel softmax(t0: f32, t1: out f32; n0, n1, n2)
//   outer [n0]
//   inner n1
//   t0 [n2, 1]
//   t1 [n1, 1]
//   pass
//     v0 = load t0 : f32
//     r0 = reduce_max v0 : f32
//   pass
//     v1 = load t0 : f32
//     v2 = sub v1, r0 : f32
//     v3 = exp v2 : f32
//     store t1, v3
//     r1 = reduce_sum v3 : f32
//   row
//     r2 = div 1, r1 : f32
//   pass
//     v4 = load t1 : f32
//     v5 = mul v4, r2 : f32
//     store t1, v5
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/shape/dtype.h"

namespace msvm::loops {

/// A number, or one of the kernel's size arguments.
struct Size {
  int32_t argument = -1;  // -1: `value`
  int64_t value = 0;
  static Size number(int64_t v) { return {-1, v}; }
  static Size arg(int32_t i) { return {i, 0}; }
  bool operator==(const Size&) const = default;
};

/// A tensor that a kernel reads or writes: element (i0, i1, ..., j) lies at base + i0 * strides[0] + ... + j * strides.back(), in
/// elements. One stride per outer axis, then that of the row. Strides 0 (read only; that of the row also where only row sections write)
/// and negative ones are possible.
struct Access {
  DType dtype = DType::kF32;
  bool written = false;
  std::vector<Size> strides;
  bool operator==(const Access&) const = default;
};

enum class Op : uint8_t {
#define MSVM_LOOP_OP(name, ...) k##name,
#include "msvm/loops/loop_ops.def"
#undef MSVM_LOOP_OP
};

struct Operand {
  // A value of this pass, a row scalar, a constant, a size argument (as i64).
  enum Kind : uint8_t { kNone, kValue, kRow, kNumber, kSize } kind = kNone;
  int32_t index = 0;
  double number = 0;     // of floats and bools
  int64_t integer = 0;   // of integers
  bool operator==(const Operand&) const = default;
};

/// One step of a pass, or of a row section, where all operands are row scalars, numbers or sizes: Load and Store mean column 0 there,
/// and Index and reductions don't occur.
struct Step {
  Op op;
  DType type = DType::kF32;        // of the result; of kStore the tensor's
  int32_t tensor = -1;             // of kLoad, kStore
  int32_t result = -1;             // v<result>, or r<result> of reductions and in row sections; -1: none
  std::array<Operand, 3> operands;
  bool operator==(const Step&) const = default;
};

/// A walk over the row (`row` false), or scalar arithmetic once a row between two walks (`row` true).
struct Pass {
  bool row = false;
  std::vector<Step> steps;
  bool operator==(const Pass&) const = default;
};

/// For every row of the outer axes: its passes in order. Values v are numbered over the kernel and seen in their pass only; row scalars
/// r are seen in all later steps of the row, those of reductions from the next pass on. Within a pass, element j is loaded, computed and stored before or together with any
/// other; a tensor that is both read and written is read at the element that is written, or in another pass.
struct Kernel {
  std::string name;
  int32_t sizes = 0;               // size arguments
  std::vector<Size> outer;         // extents, outermost first; may be empty: one row
  Size inner;                      // extent of the row
  std::vector<Access> tensors;
  std::vector<Pass> passes;
  bool operator==(const Kernel&) const = default;
  /// Whether its columns are independent: no reductions, no stores in row sections, so that a part of the columns can be run alone.
  bool splits_columns() const;
};

struct Program {
  std::vector<Kernel> kernels;
  bool operator==(const Program&) const = default;
};

enum class OpTypes : uint8_t { F, S, I, B, N, A };  // see loop_ops.def
struct OpInfo {
  std::string_view name;
  int operands;
  OpTypes types;
  std::string_view doc;
  /// Whether a result may be of this type.
  bool allows(DType t) const;
};
const OpInfo& op_info(Op op);
const Op* find_op(std::string_view name);  // null: there is none
inline bool is_reduction(Op op) { return op >= Op::kReduceSum && op <= Op::kReduceProd; }
/// Operands of one type of their own, result bool.
inline bool is_comparison(Op op) { return op == Op::kEqual || op == Op::kLess || op == Op::kLessOrEqual || op == Op::kIsNan; }
/// Of a value that holds an element: f32 for f16 and bf16.
inline DType value_type(DType t) { return t == DType::kF16 || t == DType::kBF16 ? DType::kF32 : t; }

constexpr size_t kMaxKernels = 4096, kMaxTensors = 64, kMaxSizes = 256, kMaxOuter = 8, kMaxPasses = 64, kMaxSteps = 1024, kMaxText = size_t{8} << 20;

std::string print(const Program& program);
Result<Program> parse(std::string_view text);

/// Counts, numbering, dtypes, strides: everything that the compiler and the evaluator rely on. parse() calls it.
Status check(const Kernel& kernel);
Status check(const Program& program);

/// The native form: rows [row_begin, row_end) of the flattened outer axes, columns [column_begin, column_end) of the row. Kernels that
/// don't split columns are called with the whole row. No call out, no state, never fails.
using KernelFn = void (*)(void* const* pointers, const int64_t* sizes, int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end);

/// The plain definition of what a kernel does, element by element: the truth for tests. Sums and products of floats are taken in a wider
/// type and rounded once.
void evaluate(const Kernel& kernel, void* const* pointers, const int64_t* sizes, int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end);

}  // namespace msvm::loops
