// For tests: machine code from instructions, by Zydis's encoder.
#pragma once
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace msvm::jit {

/// Labels may be used before they are set: the code is written twice, jumps are of one length.
class Assembly {
 public:
  using Operand = ZydisEncoderOperand;
  static Operand reg(ZydisRegister r) {
    Operand o{};
    o.type = ZYDIS_OPERAND_TYPE_REGISTER;
    o.reg.value = r;
    return o;
  }
  static Operand number(int64_t v) {
    Operand o{};
    o.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
    o.imm.s = v;
    return o;
  }
  static Operand at(ZydisRegister base, int64_t displacement, uint16_t bytes, ZydisRegister index = ZYDIS_REGISTER_NONE) {
    Operand o{};
    o.type = ZYDIS_OPERAND_TYPE_MEMORY;
    o.mem.base = base;
    o.mem.index = index;
    o.mem.scale = index == ZYDIS_REGISTER_NONE ? 0 : 1;
    o.mem.displacement = displacement;
    o.mem.size = bytes;
    return o;
  }

  void add(ZydisMnemonic mnemonic, std::initializer_list<Operand> operands = {}) {
    ZydisEncoderRequest request{};
    request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request.mnemonic = mnemonic;
    for (const Operand& o : operands) request.operands[request.operand_count++] = o;
    encode(request);
  }
  void jump(ZydisMnemonic mnemonic, const std::string& label) {
    ZydisEncoderRequest request{};
    request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request.mnemonic = mnemonic;
    request.branch_type = ZYDIS_BRANCH_TYPE_NEAR;
    request.branch_width = ZYDIS_BRANCH_WIDTH_32;
    request.operand_count = 1;
    request.operands[0] = number(static_cast<int64_t>(labels_[label]));
    encode(request);
  }
  void label(const std::string& name) { labels_[name] = bytes_.size(); }
  void raw(std::initializer_list<uint8_t> bytes) {
    for (const uint8_t b : bytes) bytes_.push_back(std::byte{b});
  }

  static std::vector<std::byte> make(const std::function<void(Assembly&)>& write) {
    Assembly a;
    write(a);
    a.bytes_.clear();
    write(a);
    return a.bytes_;
  }

 private:
  void encode(ZydisEncoderRequest& request) {
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize length = sizeof bytes;
    const ZyanStatus status = ZydisEncoderEncodeInstructionAbsolute(&request, bytes, &length, bytes_.size());
    EXPECT_TRUE(ZYAN_SUCCESS(status)) << ZydisMnemonicGetString(request.mnemonic);
    for (size_t k = 0; ZYAN_SUCCESS(status) && k < length; ++k) bytes_.push_back(std::byte{bytes[k]});
  }

  std::vector<std::byte> bytes_;
  std::map<std::string, size_t> labels_;
};

}  // namespace msvm::jit
