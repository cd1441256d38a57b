#include <map>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

/// "GeluTanh" to "gelu_tanh".
std::string snake_case(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += '_';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

struct Table {
  std::vector<std::string> names;  // what the infos' names view
  std::vector<OpInfo> infos;
  std::vector<Op> ops;
  std::map<std::string_view, const Op*> by_name;

  Table() {
    names = {
#define MSVM_LOOP_OP(name, ...) snake_case(#name),
#include "msvm/loops/loop_ops.def"
#undef MSVM_LOOP_OP
    };
    infos = {
#define MSVM_LOOP_OP(name, operands, types, doc) {{}, operands, OpTypes::types, doc},
#include "msvm/loops/loop_ops.def"
#undef MSVM_LOOP_OP
    };
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].name = names[i];
      ops.push_back(static_cast<Op>(i));
    }
    for (const Op& op : ops) by_name[names[static_cast<size_t>(op)]] = &op;
  }
};
const Table& table() {
  static const Table t;
  return t;
}

}  // namespace

const OpInfo& op_info(Op op) { return table().infos[static_cast<size_t>(op)]; }

const Op* find_op(std::string_view name) {
  const auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : found->second;
}

bool OpInfo::allows(DType t) const {
  const bool wide = t == DType::kF32 || t == DType::kF64;
  switch (types) {
    case OpTypes::F: return wide;
    case OpTypes::S: return t == DType::kF32;
    case OpTypes::I: return is_integer(t);
    case OpTypes::B: return t == DType::kBool;
    case OpTypes::N: return wide || is_integer(t);
    case OpTypes::A: return wide || is_integer(t) || t == DType::kBool;
  }
  return false;
}

bool Kernel::splits_columns() const {
  for (const Pass& pass : passes)
    for (const Step& step : pass.steps)
      if (is_reduction(step.op) || (pass.row && step.op == Op::kStore)) return false;
  return true;
}

}  // namespace msvm::loops
