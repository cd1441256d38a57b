// Text, operands, flow and ends of functions.
#include "msvm/jit/asm/decode.h"

#include <random>

#include "msvm/jit/asm/asm_testing.h"

namespace msvm::jit {
namespace {

using Flow = MachineInstruction::Flow;
using A = Assembly;

MachineInstruction one(const std::function<void(A&)>& write) {
  const auto code = A::make(write);
  auto x = decode(code, 0, static_cast<uint32_t>(code.size()));
  EXPECT_EQ(x.size(), 1u);
  return x.at(0);
}

TEST(Decode, TextAndMemoryOfVectors) {
  // Masked, broadcast and scaled forms of AVX-512.
  const std::vector<std::pair<std::vector<uint8_t>, std::string>> kKnown = {
      {{0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2}, "vaddps zmm0, zmm1, zmm2"},
      {{0x62, 0xf1, 0x7c, 0xc9, 0x10, 0x04, 0x87}, "vmovups zmm0 {k1} {z}, zmmword ptr [rdi+rax*4]"},
      {{0x62, 0xf1, 0x74, 0x58, 0x59, 0x05, 0x10, 0, 0, 0}, "vmulps zmm0, zmm1, [0x1a] {1to16}"},
      {{0xc5, 0xfc, 0x11, 0x44, 0x24, 0x20}, "vmovups [rsp+0x20], ymm0"},
      {{0x0f, 0x84, 0x10, 0, 0, 0}, "jz 0x16"},
  };
  for (const auto& [bytes, text] : kKnown) {
    const auto x = decode(std::as_bytes(std::span(bytes)), 0, static_cast<uint32_t>(bytes.size()));
    ASSERT_EQ(x.size(), 1u);
    EXPECT_EQ(x[0].text, text);
    EXPECT_EQ(x[0].length, bytes.size());
  }
  auto memory = [&](size_t k) { return *decode(std::as_bytes(std::span(kKnown[k].first)), 0, static_cast<uint32_t>(kKnown[k].first.size()))[0].memory; };
  EXPECT_EQ(memory(1).bytes, 64u);
  EXPECT_EQ(memory(1).base, kRdi);
  EXPECT_EQ(memory(1).index, kRax);
  EXPECT_EQ(memory(2).bytes, 4u) << "of a broadcast what it reads";
  EXPECT_EQ(memory(2).target, 0x1au);
  EXPECT_TRUE(memory(3).written && !memory(3).read && memory(3).on_stack());
  EXPECT_EQ(memory(3).displacement, 0x20);
}

TEST(Decode, RegistersAndFlags) {
  const auto bit = [](int r) { return static_cast<uint16_t>(1 << r); };
  auto x = one([](A& a) { a.add(ZYDIS_MNEMONIC_ADD, {A::reg(ZYDIS_REGISTER_EAX), A::reg(ZYDIS_REGISTER_R9D)}); });
  EXPECT_EQ(x.reads, bit(kRax) | bit(kR9));
  EXPECT_EQ(x.writes, bit(kRax));
  EXPECT_TRUE(x.sets_flags && !x.takes_flags && !x.clears);
  x = one([](A& a) { a.add(ZYDIS_MNEMONIC_XOR, {A::reg(ZYDIS_REGISTER_EAX), A::reg(ZYDIS_REGISTER_EAX)}); });
  EXPECT_TRUE(x.clears);
  x = one([](A& a) { a.add(ZYDIS_MNEMONIC_LEA, {A::reg(ZYDIS_REGISTER_RAX), A::at(ZYDIS_REGISTER_RSI, 8, 8)}); });
  EXPECT_TRUE(x.address);
  EXPECT_EQ(x.reads, 0);
  x = one([](A& a) { a.add(ZYDIS_MNEMONIC_SETZ, {A::reg(ZYDIS_REGISTER_AL)}); });
  EXPECT_TRUE(x.takes_flags);
  x = one([](A& a) { a.add(ZYDIS_MNEMONIC_CMOVZ, {A::reg(ZYDIS_REGISTER_RAX), A::reg(ZYDIS_REGISTER_RCX)}); });
  EXPECT_FALSE(x.takes_flags);
  EXPECT_EQ(x.reads & bit(kRcx), bit(kRcx));
  x = one([](A& a) { a.add(ZYDIS_MNEMONIC_AND, {A::reg(ZYDIS_REGISTER_RSP), A::number(-64)}); });
  EXPECT_EQ(x.aligns_stack, 64u);
  x = one([](A& a) { a.raw({0x66, 0x0f, 0x1f, 0x44, 0, 0}); });
  EXPECT_TRUE(x.nop && !x.memory);
}

TEST(Decode, FunctionsOfUnknownSizeEndBehindTheirLastReturn) {
  const auto code = A::make([](A& a) {
    a.jump(ZYDIS_MNEMONIC_JZ, "later");
    a.add(ZYDIS_MNEMONIC_RET);
    a.label("later");
    a.add(ZYDIS_MNEMONIC_XOR, {A::reg(ZYDIS_REGISTER_EAX), A::reg(ZYDIS_REGISTER_EAX)});
    a.add(ZYDIS_MNEMONIC_RET);
    a.raw({0x90, 0x90, 0x01, 0x02});  // padding, constants
  });
  const auto x = decode(code, 0, 0);
  ASSERT_EQ(x.size(), 4u);
  EXPECT_EQ(x[0].flow, Flow::kBranch);
  EXPECT_EQ(x[0].target, x[2].offset);
  EXPECT_EQ(x[3].flow, Flow::kReturn);
  EXPECT_EQ(decode(code, 0, static_cast<uint32_t>(code.size())).size(), 7u);
}

TEST(Decode, AnyBytes) {
  std::mt19937 random(1);
  for (int n = 0; n < 2000; ++n) {
    std::vector<std::byte> code(1 + random() % 40);
    for (std::byte& b : code) b = static_cast<std::byte>(random());
    const auto offset = static_cast<uint32_t>(random() % code.size());
    const auto size = static_cast<uint32_t>(random() % 2 ? 0 : code.size() - offset);
    uint32_t at = offset;
    for (const MachineInstruction& x : decode(code, offset, size)) {
      ASSERT_EQ(x.offset, at);
      ASSERT_GT(x.length, 0u);
      ASSERT_FALSE(x.text.empty());
      at = x.end();
    }
    ASSERT_LE(at, code.size());
    if (size) { ASSERT_EQ(at, code.size()); }
  }
  const auto bad = decode(std::as_bytes(std::span("\x06", 1)), 0, 1);
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].text, ".byte 0x06");
  EXPECT_EQ(bad[0].flow, Flow::kUnknown);
}

}  // namespace
}  // namespace msvm::jit
