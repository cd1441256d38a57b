#include "msvm/engine/raw_constants.h"

#include "msvm/base/file_copy.h"
#include "msvm/kernels/kernel.h"

namespace msvm {
namespace {

/// Bit i: some kernel of the operator packs input i.
uint64_t packed_inputs(std::string_view op) {
  uint64_t bits = 0;
  for (const KernelInfo& k : all_kernels())
    if (k.op == op) bits |= k.packed_inputs;
  return bits;
}

bool has_bit(uint64_t bits, size_t i) { return i < 64 && (bits >> i & 1) != 0; }

}  // namespace

RawConstants::RawConstants(const Module& module) {
  std::map<const std::byte*, long> holders;
  for (const Constant& c : module.constants)
    if (c.data && is_copy(c.data)) {
      ++instances_[c.data];
      holders[c.data] = c.keep_alive.use_count();
    }
  std::erase_if(instances_, [&](const auto& i) { return holders[i.first] != i.second; });
  if (instances_.empty()) return;
  std::map<std::string_view, uint64_t> packed;
  for (const Function& f : module.functions) {
    auto& values = values_.emplace_back(f.regs.size(), nullptr);
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs)
        if (i.op == Opcode::kTensorConst) values[static_cast<size_t>(i.defs[0])] = module.constants[static_cast<size_t>(i.imms[0])].data;
    auto constant = [&](Reg r) { return r == kNoReg ? nullptr : values[static_cast<size_t>(r)]; };
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs) {
        uint64_t bits = 0;
        if (i.op == Opcode::kOpCall) {
          const auto [it, fresh] = packed.try_emplace(i.text, 0);
          if (fresh) it->second = packed_inputs(i.text);
          bits = it->second;
        }
        for (size_t k = 0; k < i.uses.size(); ++k)
          if (const std::byte* data = constant(i.uses[k]); data && !has_bit(bits, k)) instances_.erase(data);
        for (Reg r : i.outs)
          if (const std::byte* data = constant(r)) instances_.erase(data);
      }
  }
}

uint64_t RawConstants::inputs_of(const Module& module, const Function& function, const Instr& call) const {
  if (instances_.empty()) return 0;
  const auto& values = values_[static_cast<size_t>(&function - module.functions.data())];
  uint64_t bits = 0;
  for (size_t i = 0; i < std::min<size_t>(call.uses.size(), 64); ++i)
    if (call.uses[i] != kNoReg)
      if (const std::byte* data = values[static_cast<size_t>(call.uses[i])]; data && may_go(data)) bits |= uint64_t{1} << i;
  return bits;
}

}  // namespace msvm
