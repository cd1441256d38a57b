// Rows one after the other, elements one after the other, without regard to speed.
#include <map>

#include "msvm/loops/loop_program.h"
#include "msvm/loops/scalar.h"

namespace msvm::loops {
namespace {

struct Evaluator {
  const Kernel& kernel;
  void* const* pointers;
  const int64_t* sizes;
  std::vector<std::byte*> row = std::vector<std::byte*>(kernel.tensors.size());  // where column 0 lies
  std::map<int32_t, Scalar> values, rows;                                        // by number

  int64_t size(const Size& s) const { return s.argument >= 0 ? sizes[s.argument] : s.value; }

  void place(int64_t index) {
    for (size_t t = 0; t < row.size(); ++t) row[t] = static_cast<std::byte*>(pointers[t]);
    for (size_t axis = kernel.outer.size(); axis-- > 0;) {
      const int64_t extent = size(kernel.outer[axis]), at = index % extent;
      index /= extent;
      for (size_t t = 0; t < row.size(); ++t) row[t] += at * size(kernel.tensors[t].strides[axis]) * dtype_bytes(kernel.tensors[t].dtype);
    }
  }
  std::byte* element(int32_t tensor, int64_t column) const {
    const Access& a = kernel.tensors[static_cast<size_t>(tensor)];
    return row[static_cast<size_t>(tensor)] + column * size(a.strides.back()) * dtype_bytes(a.dtype);
  }

  Scalar operand(const Operand& o, DType type) const {
    switch (o.kind) {
      case Operand::kValue: return values.at(o.index);
      case Operand::kRow: return rows.at(o.index);
      case Operand::kSize: return {DType::kI64, 0, sizes[o.index]};
      case Operand::kNumber:
      case Operand::kNone: break;
    }
    return constant(o, type);
  }
  std::array<Scalar, 3> operands(const Step& s) const {
    DType type = s.op == Op::kStore ? value_type(s.type) : s.type;
    if (is_comparison(s.op))
      for (const Operand& o : s.operands)
        if (o.kind != Operand::kNone && o.kind != Operand::kNumber) type = operand(o, s.type).type;
    return {operand(s.operands[0], s.op == Op::kSelect ? DType::kBool : type), operand(s.operands[1], type), operand(s.operands[2], type)};
  }

  void pass(const Pass& p, int64_t begin, int64_t end) {
    std::map<int32_t, Reduction> reductions;
    for (const Step& s : p.steps)
      if (is_reduction(s.op)) reductions.emplace(s.result, Reduction(s.op, s.type));
    for (int64_t j = begin; j < end; ++j) {
      for (const Step& s : p.steps) {
        if (is_reduction(s.op)) {
          reductions.at(s.result).add(operands(s)[0]);
        } else if (s.op == Op::kStore) {
          store_scalar(element(s.tensor, j), s.type, operands(s)[0]);
        } else {
          Scalar v;
          if (s.op == Op::kLoad) v = load_scalar(element(s.tensor, j), kernel.tensors[static_cast<size_t>(s.tensor)].dtype);
          else if (s.op == Op::kIndex) v = {DType::kI64, 0, j};
          else v = apply(s.op, s.type, operands(s));
          (p.row ? rows : values)[s.result] = v;
        }
      }
    }
    for (const auto& [number, reduction] : reductions) rows[number] = reduction.value();
  }
};

}  // namespace

void evaluate(const Kernel& kernel, void* const* pointers, const int64_t* sizes, int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end) {
  Evaluator e{kernel, pointers, sizes};
  for (int64_t r = row_begin; r < row_end; ++r) {
    e.place(r);
    for (const Pass& p : kernel.passes) e.pass(p, p.row ? 0 : column_begin, p.row ? 1 : column_end);
  }
}

}  // namespace msvm::loops
