// Each finding: code that has it, and the same without.
#include "msvm/jit/asm/findings.h"

#include <gmock/gmock.h>

#include "msvm/jit/asm/asm_testing.h"
#include "msvm/jit/asm/code_flow.h"

namespace msvm::jit {
namespace {

using A = Assembly;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const auto RAX = A::reg(ZYDIS_REGISTER_RAX), RBX = A::reg(ZYDIS_REGISTER_RBX), RCX = A::reg(ZYDIS_REGISTER_RCX), R10 = A::reg(ZYDIS_REGISTER_R10), R11 = A::reg(ZYDIS_REGISTER_R11),
           YMM0 = A::reg(ZYDIS_REGISTER_YMM0);
const auto N2 = A::at(ZYDIS_REGISTER_RSI, 16, 8);
auto stack(int64_t displacement, uint16_t bytes = 8) { return A::at(ZYDIS_REGISTER_RSP, displacement, bytes); }

/// Of a function of the kernels' signature. All instructions belong to `line`.
std::vector<CodeFinding> findings(const std::function<void(A&)>& write, const loops::Kernel& kernel = {}, const loops::Step* step = nullptr) {
  const auto code = A::make(write);
  KernelFacts facts;
  facts.code = decode(code, 0, static_cast<uint32_t>(code.size()));
  facts.ir.assign(facts.code.size(), step ? 0 : -1);
  facts.steps = {step};
  facts.kernel = &kernel;
  facts.sizes = {"N", "H * W", "stride of x along axis 1"};
  return find_in_code(facts);
}

/// for (rax = 0; rax < rbx; ++rax) body
void loop(A& a, const std::function<void()>& body, const std::string& label = "loop") {
  a.add(ZYDIS_MNEMONIC_XOR, {RAX, RAX});
  a.label(label);
  body();
  a.add(ZYDIS_MNEMONIC_ADD, {RAX, A::number(1)});
  a.add(ZYDIS_MNEMONIC_CMP, {RAX, RBX});
  a.jump(ZYDIS_MNEMONIC_JL, label);
}

TEST(Findings, SizesThatMove) {
  // n2 goes to the stack before the loop and is read there.
  const auto spilled = findings([](A& a) {
    a.add(ZYDIS_MNEMONIC_MOV, {R10, N2});
    a.add(ZYDIS_MNEMONIC_SHL, {R10, A::number(2)});
    a.add(ZYDIS_MNEMONIC_MOV, {stack(-8), R10});
    a.add(ZYDIS_MNEMONIC_MOV, {RBX, A::reg(ZYDIS_REGISTER_R9)});
    loop(a, [&] { a.add(ZYDIS_MNEMONIC_ADD, {R11, stack(-8)}); });
    a.add(ZYDIS_MNEMONIC_RET);
  });
  ASSERT_EQ(spilled.size(), 1u);
  EXPECT_EQ(spilled[0].kind, FindingKind::kSymbolicMoves);
  EXPECT_THAT(spilled[0].text, HasSubstr("1 instruction of the inner loop at 0x"));
  EXPECT_THAT(spilled[0].text, HasSubstr("n2 (stride of x along axis 1)"));
  EXPECT_THAT(spilled[0].mend, HasSubstr("warmup"));
  EXPECT_THAT(spilled[0].instructions, ElementsAre(5));

  // Read from the arguments again, and put on the stack: both count.
  const auto twice = findings([](A& a) {
    loop(a, [&] {
      a.add(ZYDIS_MNEMONIC_MOV, {R10, N2});
      a.add(ZYDIS_MNEMONIC_MOV, {stack(-8), R10});
    });
    a.add(ZYDIS_MNEMONIC_RET);
  });
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_THAT(twice[0].instructions, ElementsAre(1, 2));
}

TEST(Findings, OtherMovesAreNone) {
  // The size stays in a register; a pointer, a loop bound and data go through the stack; the size is moved before the loop only.
  EXPECT_TRUE(findings([](A& a) {
                a.add(ZYDIS_MNEMONIC_MOV, {R10, N2});
                a.add(ZYDIS_MNEMONIC_MOV, {stack(-8), R10});
                a.add(ZYDIS_MNEMONIC_MOV, {RBX, A::reg(ZYDIS_REGISTER_R9)});
                a.add(ZYDIS_MNEMONIC_MOV, {R11, A::at(ZYDIS_REGISTER_RDI, 8, 8)});
                a.add(ZYDIS_MNEMONIC_LEA, {R11, A::at(ZYDIS_REGISTER_R11, 0, 8, ZYDIS_REGISTER_R10)});
                a.add(ZYDIS_MNEMONIC_MOV, {stack(-16), R11});
                a.add(ZYDIS_MNEMONIC_MOV, {stack(-24), RBX});
                loop(a, [&] {
                  a.add(ZYDIS_MNEMONIC_ADD, {A::reg(ZYDIS_REGISTER_R12), R10});
                  a.add(ZYDIS_MNEMONIC_MOV, {R11, stack(-16)});
                  a.add(ZYDIS_MNEMONIC_MOV, {RCX, stack(-24)});
                  a.add(ZYDIS_MNEMONIC_MOV, {RCX, A::at(ZYDIS_REGISTER_R11, 0, 8)});
                  a.add(ZYDIS_MNEMONIC_MOV, {stack(-32), RCX});
                });
                a.add(ZYDIS_MNEMONIC_RET);
              }).empty());
}

TEST(Findings, NopsOfAnInnerLoop) {
  auto code = [](bool inside) {
    return [inside](A& a) {
      loop(a, [&] {
        if (inside) a.raw({0x66, 0x90, 0x0f, 0x1f, 0});
        a.add(ZYDIS_MNEMONIC_ADD, {R11, R10});
      });
      a.raw({0x90, 0x90});
      a.add(ZYDIS_MNEMONIC_RET);
    };
  };
  const auto found = findings(code(true));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kNopsUnaligned);
  EXPECT_THAT(found[0].text, HasSubstr("2 nops (5 bytes)"));
  EXPECT_TRUE(findings(code(false)).empty());
  // Before an inner loop, within an outer one, they align its beginning.
  EXPECT_TRUE(findings([](A& a) {
                loop(a, [&] {
                  a.raw({0x66, 0x90});
                  a.label("inner");
                  a.add(ZYDIS_MNEMONIC_SUB, {R10, A::number(1)});
                  a.jump(ZYDIS_MNEMONIC_JNZ, "inner");
                });
                a.add(ZYDIS_MNEMONIC_RET);
              }).empty());
}

TEST(Findings, UnalignedStackAndConstants) {
  auto with = [](bool aligned, int64_t displacement) {
    return findings([=](A& a) {
      if (aligned) a.add(ZYDIS_MNEMONIC_AND, {A::reg(ZYDIS_REGISTER_RSP), A::number(-64)});
      loop(a, [&] { a.add(ZYDIS_MNEMONIC_VMOVUPS, {stack(displacement, 32), YMM0}); });
      a.add(ZYDIS_MNEMONIC_RET);
    });
  };
  EXPECT_TRUE(with(true, 32).empty());
  for (const auto& found : {with(true, 8), with(false, 32)}) {
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, FindingKind::kNopsUnaligned);
    EXPECT_THAT(found[0].text, HasSubstr("of the stack"));
  }
  auto constant = [](uint8_t padding) {
    return findings([=](A& a) {
      a.add(ZYDIS_MNEMONIC_XOR, {RAX, RAX});
      a.label("loop");
      a.raw({0xc5, 0xfc, 0x10, 0x05, padding, 0, 0, 0});  // vmovups ymm0, [rip + padding]
      a.add(ZYDIS_MNEMONIC_ADD, {RAX, A::number(1)});
      a.jump(ZYDIS_MNEMONIC_JNZ, "loop");
      a.add(ZYDIS_MNEMONIC_RET);
    });
  };
  EXPECT_TRUE(constant(32 - 11).empty());
  ASSERT_EQ(constant(40 - 11).size(), 1u);
  EXPECT_THAT(constant(40 - 11)[0].text, HasSubstr("constants beside the code"));
}

TEST(Findings, UnalignedRows) {
  loops::Kernel k;
  k.outer = {loops::Size::arg(0)};
  k.inner = loops::Size::number(1000);
  k.tensors = {{DType::kF32, false, {loops::Size::number(1000), loops::Size::number(1)}}};
  const loops::Step load{loops::Op::kLoad, DType::kF32, 0, 0, {}};
  auto code = [](A& a) {
    loop(a, [&] { a.raw({0x62, 0xd1, 0x7c, 0x48, 0x10, 0x04, 0x03}); });  // vmovups zmm0, [r11 + rax]
    a.add(ZYDIS_MNEMONIC_RET);
  };
  const auto found = findings(code, k, &load);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kNopsUnaligned);
  EXPECT_THAT(found[0].text, HasSubstr("1 vector access of t0 in inner loops: those of most rows cross cache lines, as rows begin 4000 bytes apart"));
  auto none = [&](auto change) {
    loops::Kernel other = k;
    change(other);
    return findings(code, other, &load).empty();
  };
  EXPECT_TRUE(none([](auto& x) { x.tensors[0].strides[0] = loops::Size::number(1024); }));
  EXPECT_TRUE(none([](auto& x) { x.tensors[0].strides[0] = loops::Size::number(0); })) << "the same row again";
  EXPECT_TRUE(none([](auto& x) { x.tensors[0].strides[0] = loops::Size::arg(1); })) << "not known";
  EXPECT_TRUE(none([](auto& x) { x.tensors[0].strides[1] = loops::Size::number(3); })) << "no vector";
  EXPECT_TRUE(none([](auto& x) { x.outer[0] = loops::Size::number(1); })) << "one row";
  EXPECT_TRUE(findings(code, k, nullptr).empty());
}

TEST(Findings, BranchesBySizes) {
  // In the loop over rows n1 decides whether there are columns; the loops' own conditions are no finding.
  auto code = [](bool branch, int64_t size) {
    return [=](A& a) {
      a.add(ZYDIS_MNEMONIC_MOV, {RBX, A::reg(ZYDIS_REGISTER_RCX)});
      if (branch) a.add(ZYDIS_MNEMONIC_MOV, {R10, A::at(ZYDIS_REGISTER_RSI, 8, 8)});
      else a.add(ZYDIS_MNEMONIC_MOV, {R10, A::number(size)});
      loop(a, [&] {
        a.add(ZYDIS_MNEMONIC_TEST, {R10, R10});
        a.jump(ZYDIS_MNEMONIC_JLE, "no columns");
        a.add(ZYDIS_MNEMONIC_XOR, {R11, R11});
        a.label("columns");
        a.add(ZYDIS_MNEMONIC_ADD, {R11, A::number(16)});
        a.add(ZYDIS_MNEMONIC_CMP, {R11, R10});
        a.jump(ZYDIS_MNEMONIC_JL, "columns");
        a.label("no columns");
      });
      a.add(ZYDIS_MNEMONIC_RET);
    };
  };
  const auto found = findings(code(true, 0));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kSizeBranch);
  EXPECT_THAT(found[0].text, HasSubstr("1 branch in the loop over rows at 0x"));
  EXPECT_THAT(found[0].text, HasSubstr("n1 (H * W)"));
  EXPECT_EQ(found[0].instructions.size(), 1u);
  EXPECT_TRUE(findings(code(false, 64)).empty());
  // Outside of loops nothing is asked again.
  EXPECT_TRUE(findings([](A& a) {
                a.add(ZYDIS_MNEMONIC_CMP, {A::at(ZYDIS_REGISTER_RSI, 8, 8), A::number(5)});
                a.jump(ZYDIS_MNEMONIC_JL, "end");
                loop(a, [&] { a.add(ZYDIS_MNEMONIC_ADD, {R11, A::number(1)}); });
                a.label("end");
                a.add(ZYDIS_MNEMONIC_RET);
              }).empty());
}

TEST(Findings, GenericKernels) {
  const std::vector<RegionCall> calls = {{18, "MatMul", "net.py:4", "ref_matmul", "avx512_matmul_f32 doesn't serve: strides"},
                                         {19, "MatMul", "net.py:5", "avx512_matmul_f32", ""},
                                         {20, "Conv", "net.py:6", "avx512_conv_f32_generic", ""},
                                         {21, "Add", "net.py:7", "avx2_add_f32, ref_add (fallback)", ""},
                                         {22, "Mul", "net.py:8", "", ""},
                                         {23, "Sub", "net.py:9", "preferred_sub", ""}};
  const auto found = find_in_calls(calls);
  ASSERT_EQ(found.size(), 3u);
  for (const Finding& f : found) {
    EXPECT_EQ(f.kind, FindingKind::kGenericKernel);
    EXPECT_EQ(f.kernel, -1);
    EXPECT_FALSE(f.mend.empty());
  }
  EXPECT_EQ(found[0].text, "instruction 18, MatMul (net.py:4), runs as ref_matmul");
  EXPECT_EQ(found[0].mend, "avx512_matmul_f32 doesn't serve: strides");
  EXPECT_THAT(found[1].text, HasSubstr("avx512_conv_f32_generic"));
  EXPECT_THAT(found[2].text, HasSubstr("Add"));
}

TEST(Findings, LoopsThatAreEnteredInTheMiddle) {
  // while (rax < n1): entered at its test, which is no finding.
  EXPECT_TRUE(findings([](A& a) {
                a.add(ZYDIS_MNEMONIC_MOV, {RBX, A::at(ZYDIS_REGISTER_RSI, 8, 8)});
                a.jump(ZYDIS_MNEMONIC_JMP, "test");
                a.label("body");
                a.add(ZYDIS_MNEMONIC_ADD, {RAX, A::number(1)});
                a.label("test");
                a.add(ZYDIS_MNEMONIC_CMP, {RAX, RBX});
                a.jump(ZYDIS_MNEMONIC_JL, "body");
                a.add(ZYDIS_MNEMONIC_RET);
              }).empty());
  // The question whether there are columns stands before the loop over rows and at its end: the loop has two entries.
  const auto found = findings([](A& a) {
    a.add(ZYDIS_MNEMONIC_MOV, {R10, A::at(ZYDIS_REGISTER_RSI, 8, 8)});
    a.add(ZYDIS_MNEMONIC_TEST, {R10, R10});
    a.jump(ZYDIS_MNEMONIC_JLE, "none");
    a.label("some");
    a.add(ZYDIS_MNEMONIC_ADD, {R11, A::number(1)});
    a.jump(ZYDIS_MNEMONIC_JMP, "end");
    a.label("none");
    a.add(ZYDIS_MNEMONIC_ADD, {R11, A::number(2)});
    a.label("end");
    a.add(ZYDIS_MNEMONIC_ADD, {A::reg(ZYDIS_REGISTER_RDX), A::number(1)});
    a.add(ZYDIS_MNEMONIC_CMP, {A::reg(ZYDIS_REGISTER_RDX), A::reg(ZYDIS_REGISTER_RCX)});
    a.jump(ZYDIS_MNEMONIC_JNL, "out");
    a.add(ZYDIS_MNEMONIC_TEST, {R10, R10});
    a.jump(ZYDIS_MNEMONIC_JLE, "none");
    a.jump(ZYDIS_MNEMONIC_JMP, "some");
    a.label("out");
    a.add(ZYDIS_MNEMONIC_RET);
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::kSizeBranch);
  EXPECT_THAT(found[0].instructions, ElementsAre(10));
}

TEST(CodeFlow, LoopsAndUnknownFlow) {
  auto flow = [](const std::function<void(A&)>& write) {
    const auto code = A::make(write);
    return flow_of(decode(code, 0, static_cast<uint32_t>(code.size())));
  };
  const CodeFlow nested = flow([](A& a) {
    loop(a, [&] {
      a.add(ZYDIS_MNEMONIC_MOV, {R10, RBX});
      a.label("inner");
      a.add(ZYDIS_MNEMONIC_SUB, {R10, A::number(1)});
      a.jump(ZYDIS_MNEMONIC_JNZ, "inner");
    });
    a.add(ZYDIS_MNEMONIC_RET);
  });
  ASSERT_EQ(nested.loops.size(), 2u);
  EXPECT_EQ(nested.loops[0].inner + nested.loops[1].inner, 1);
  // A jump through a register, and code that runs over its end.
  EXPECT_TRUE(flow([](A& a) { a.raw({0xff, 0xe0}); }).blocks.empty());
  EXPECT_TRUE(flow([](A& a) { a.add(ZYDIS_MNEMONIC_ADD, {RAX, RBX}); }).blocks.empty());
  EXPECT_TRUE(flow([](A& a) { a.raw({0xeb, 0xff, 0xc3}); }).blocks.empty()) << "into an instruction";
  EXPECT_TRUE(flow([](A&) {}).blocks.empty());
}

}  // namespace
}  // namespace msvm::jit
