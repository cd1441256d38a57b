#include <fmt/format.h>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

std::string text(const Size& s) { return s.argument >= 0 ? fmt::format("n{}", s.argument) : fmt::format("{}", s.value); }

std::string list(const std::vector<Size>& sizes) {
  std::string out = "[";
  for (const Size& s : sizes) out += (out.size() > 1 ? ", " : "") + text(s);
  return out + "]";
}

/// `type` is that of the operand.
std::string text(const Operand& o, DType type) {
  switch (o.kind) {
    case Operand::kNone: return "none";
    case Operand::kValue: return fmt::format("v{}", o.index);
    case Operand::kRow: return fmt::format("r{}", o.index);
    case Operand::kSize: return fmt::format("n{}", o.index);
    case Operand::kNumber: break;
  }
  return is_integer(type) ? type == DType::kU64 ? fmt::format("{}", static_cast<uint64_t>(o.integer)) : fmt::format("{}", o.integer) : fmt::format("{}", o.number);
}

struct Printer {
  const Kernel& kernel;
  std::string& out;
  std::vector<DType> values = std::vector<DType>(kMaxSteps, DType::kF32), rows = values;

  DType operand_type(const Step& s, int k) const {
    if (s.op == Op::kSelect && k == 0) return DType::kBool;
    if (s.op == Op::kStore) return value_type(s.type);
    if (!is_comparison(s.op)) return s.type;
    for (const Operand& o : s.operands) {
      const auto index = static_cast<size_t>(o.index);
      if (o.kind == Operand::kSize) return DType::kI64;
      if ((o.kind == Operand::kValue || o.kind == Operand::kRow) && index < kMaxSteps) return o.kind == Operand::kValue ? values[index] : rows[index];
    }
    return DType::kF32;
  }

  void step(const Step& s, bool row) {
    out += "    ";
    const bool to_row = row || is_reduction(s.op);
    if (s.result >= 0) {
      out += fmt::format("{}{} = ", to_row ? 'r' : 'v', s.result);
      if (static_cast<size_t>(s.result) < kMaxSteps) (to_row ? rows : values)[static_cast<size_t>(s.result)] = s.type;
    }
    const OpInfo& info = op_info(s.op);
    out += info.name;
    const char* before = " ";
    if (s.op == Op::kLoad || s.op == Op::kStore) {
      out += fmt::format(" t{}", s.tensor);
      before = ", ";
    }
    for (int k = 0; k < info.operands; ++k) {
      out += before + text(s.operands[static_cast<size_t>(k)], operand_type(s, k));
      before = ", ";
    }
    if (s.op != Op::kStore) out += fmt::format(" : {}", dtype_name(s.type));
    out += "\n";
  }

  void print() {
    out += fmt::format("kernel {}(", kernel.name);
    for (size_t t = 0; t < kernel.tensors.size(); ++t)
      out += fmt::format("{}t{}: {}{}", t ? ", " : "", t, kernel.tensors[t].written ? "out " : "", dtype_name(kernel.tensors[t].dtype));
    for (int i = 0; i < kernel.sizes; ++i) out += fmt::format("{}n{}", i ? ", " : "; ", i);
    out += ")\n  outer " + list(kernel.outer) + "\n  inner " + text(kernel.inner) + "\n";
    for (size_t t = 0; t < kernel.tensors.size(); ++t) out += fmt::format("  t{} {}\n", t, list(kernel.tensors[t].strides));
    for (const Pass& pass : kernel.passes) {
      out += pass.row ? "  row\n" : "  pass\n";
      for (const Step& s : pass.steps) step(s, pass.row);
    }
  }
};

}  // namespace

std::string print(const Program& program) {
  std::string out = "loops version 1\n";
  for (const Kernel& kernel : program.kernels) Printer{kernel, out}.print();
  return out;
}

}  // namespace msvm::loops
