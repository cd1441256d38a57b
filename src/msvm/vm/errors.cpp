#include <fmt/core.h>

#include "msvm/vm/interpreter.h"
#include "msvm/vm/offsets.h"

namespace msvm::vm {

Status with_place(const Status& s, const RunContext& context, const Frame& frame, int32_t instr) {
  if (instr < 0) return s;
  const Program::Impl& program = context.program;
  std::call_once(program.offsets_made, [&] { program.offsets = code_offsets(context.module); });
  const Function& f = *frame.function;
  const Instr& i = *f.instrs[static_cast<size_t>(instr)];
  std::string place = fmt::format("Error at instruction {} ({}{}{}), offset 0x{:x}", instr, instr_info(i.op).mnemonic, i.op == Opcode::kOpCall ? " " : "",
                                  i.op == Opcode::kOpCall ? i.text : "", program.offsets[static_cast<size_t>(context.function)][static_cast<size_t>(instr)]);
  if (i.debug < f.source->debug.size()) {
    const DebugInfo& d = f.source->debug[i.debug];
    if (!d.file.empty()) place += fmt::format(", {}:{}", d.file, d.line);
    for (const std::string& o : d.origins) place += fmt::format(", node {}", o);
  }
  std::string operands;
  for (Reg r : i.uses) {
    if (r == kNoReg) continue;
    Slot t = f.tensor_slot[static_cast<size_t>(r)];
    if (t == kNoSlot) continue;
    const std::string& name = f.source->regs[static_cast<size_t>(r)].name;
    operands += fmt::format("{}R{}{}: {}", operands.empty() ? "\n  with " : ", ", r, name.empty() ? "" : " (" + name + ")", to_string(frame.tensors[static_cast<size_t>(t)].meta));
  }
  return {s.code(), place + ": " + s.message() + operands};
}

}  // namespace msvm::vm
