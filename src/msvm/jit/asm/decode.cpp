#include "msvm/jit/asm/decode.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>

namespace msvm::jit {
namespace {

using Flow = MachineInstruction::Flow;

int8_t gpr_of(ZydisRegister r) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return kNoGpr;
  return static_cast<int8_t>(whole - ZYDIS_REGISTER_RAX);
}
uint16_t bit_of(int8_t gpr) { return gpr == kNoGpr ? uint16_t{0} : static_cast<uint16_t>(1u << gpr); }

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> code) : code_(code) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&formatter_, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter_, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    for (const auto padding : {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING}) ZydisFormatterSetProperty(&formatter_, padding, ZYDIS_PADDING_DISABLED);
  }

  MachineInstruction at(uint32_t offset, uint32_t most) {
    MachineInstruction out;
    out.offset = offset;
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder_, code_.data() + offset, most, &x_, operands_))) {
      out.length = 1;
      out.text = fmt::format(".byte {:#04x}", std::to_integer<int>(code_[offset]));
      out.flow = Flow::kUnknown;
      return out;
    }
    out.length = x_.length;
    format(out);
    describe(out);
    return out;
  }

 private:
  void format(MachineInstruction& out) {
    char text[256];
    const ZyanStatus status = ZydisFormatterFormatInstruction(&formatter_, &x_, operands_, x_.operand_count_visible, text, sizeof text, out.offset, nullptr);
    out.text = ZYAN_SUCCESS(status) ? text : ZydisMnemonicGetString(x_.mnemonic);
  }

  void describe(MachineInstruction& out) {
    out.nop = x_.mnemonic == ZYDIS_MNEMONIC_NOP;
    out.address = x_.mnemonic == ZYDIS_MNEMONIC_LEA;
    if (x_.cpu_flags) {
      out.sets_flags = (x_.cpu_flags->modified | x_.cpu_flags->set_0 | x_.cpu_flags->set_1 | x_.cpu_flags->undefined) != 0;
      out.takes_flags = x_.cpu_flags->tested != 0 && x_.meta.category != ZYDIS_CATEGORY_CMOV && x_.meta.category != ZYDIS_CATEGORY_COND_BR;
    }
    for (int k = 0; !out.nop && k < x_.operand_count; ++k) operand(operands_[k], out);
    const bool same = x_.operand_count_visible == 2 && operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[0].reg.value == operands_[1].reg.value;
    out.clears = same && (x_.mnemonic == ZYDIS_MNEMONIC_XOR || x_.mnemonic == ZYDIS_MNEMONIC_SUB);
    if (x_.mnemonic == ZYDIS_MNEMONIC_AND && operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[0].reg.value == ZYDIS_REGISTER_RSP && operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      out.aligns_stack = static_cast<uint32_t>(-operands_[1].imm.value.s);
    flow(out);
  }

  void operand(const ZydisDecodedOperand& o, MachineInstruction& out) const {
    const bool read = (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0, written = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const uint16_t bit = bit_of(gpr_of(o.reg.value));
      if (read) out.reads |= bit;
      if (written) out.writes |= bit;
    } else if (o.type == ZYDIS_OPERAND_TYPE_MEMORY && o.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
      MemoryOperand m{.base = gpr_of(o.mem.base), .index = gpr_of(o.mem.index), .displacement = o.mem.disp.value, .bytes = access_bytes(o), .read = read, .written = written};
      ZyanU64 target = 0;
      if (o.mem.base == ZYDIS_REGISTER_RIP && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&x_, &o, out.offset, &target))) m.target = target;
      out.memory = m;
    }
  }
  /// Of a broadcast what it reads; of a vector with a mask all of it.
  uint32_t access_bytes(const ZydisDecodedOperand& o) const {
    const uint32_t bits = x_.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !x_.avx.broadcast.is_static ? o.element_size : o.size;
    return bits / 8;
  }

  void flow(MachineInstruction& out) const {
    switch (x_.meta.category) {
      case ZYDIS_CATEGORY_RET: out.flow = Flow::kReturn; return;
      case ZYDIS_CATEGORY_UNCOND_BR: out.flow = Flow::kJump; break;
      case ZYDIS_CATEGORY_COND_BR: out.flow = Flow::kBranch; break;
      case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_INTERRUPT: out.flow = Flow::kUnknown; return;
      default: return;
    }
    ZyanU64 target = 0;
    const bool known = operands_[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&x_, &operands_[0], out.offset, &target));
    if (known && target < code_.size()) out.target = static_cast<uint32_t>(target);
    else out.flow = Flow::kUnknown;
  }

  std::span<const std::byte> code_;
  ZydisDecoder decoder_{};
  ZydisFormatter formatter_{};
  ZydisDecodedInstruction x_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT]{};
};

}  // namespace

std::vector<MachineInstruction> decode(std::span<const std::byte> code, uint32_t offset, uint32_t size) {
  Decoder decoder(code);
  std::vector<MachineInstruction> out;
  uint32_t furthest = offset;  // that a jump goes to
  const uint32_t limit = size ? offset + size : static_cast<uint32_t>(code.size());
  while (offset < limit) {
    out.push_back(decoder.at(offset, limit - offset));
    const MachineInstruction& x = out.back();
    offset = x.end();
    if (x.flow == Flow::kJump || x.flow == Flow::kBranch) furthest = std::max(furthest, x.target);
    if (size == 0 && (x.flow == Flow::kReturn || x.flow == Flow::kUnknown) && furthest < offset) break;
  }
  return out;
}

}  // namespace msvm::jit
