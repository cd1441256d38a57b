// place_ownership: whatever is built in value form verifies afterwards, and frees stand where they belong.
#include <gtest/gtest.h>

#include <algorithm>

#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/text.h"
#include "msvm/verify/verify.h"
#include "msvm/vm/random_program.h"

namespace msvm {
namespace {

/// The instructions of a function as text, without types: what a reader of the placed form sees.
std::string code_of(const Module& m) {
  std::string text = disassemble(m, {.debug = false});
  const size_t at = text.find("\nb0:\n");
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string verify_text(Module m) {
  VerifyResult r = verify(std::move(m));
  return r.module ? "" : format_diagnostics(r.errors);
}

struct Program {
  ModuleBuilder mb{"test"};
  FunctionBuilder fb = mb.function("main");
  TensorType type;
  Reg x;

  Program() {
    type.shape = {mb.symbol("N"), mb.dims().constant(4)};
    x = fb.input("x", type);
  }
  Reg relu(Reg r) { return fb.call_alloc("Relu", {r}, {}, {}, {type})[0]; }
  Dim i(int64_t v) { return mb.dims().constant(v); }
  void returns(const std::vector<Reg>& regs, const std::vector<Dim>& ints = {}) {
    for (Reg r : regs) fb.output("y" + std::to_string(r), {RegKind::kTensor, [&] {
      TensorType t = fb.tensor_type(r);
      t.strided = false;
      return t;
    }()});
    for (size_t k = 0; k < ints.size(); ++k) fb.output("n" + std::to_string(k), {RegKind::kI64, {}});
    fb.ret(regs, ints);
  }
  /// The placed code, after verify() has accepted it.
  std::string placed() {
    Status s = fb.finish();
    EXPECT_TRUE(s.ok()) << s.message();
    Module m = mb.take();
    EXPECT_EQ(verify_text(m), "") << disassemble(m);
    return code_of(m);
  }
  static size_t count(const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
};

TEST(Placement, FreesAfterTheLastUse) {
  Program p;
  Reg a = p.relu(p.x), b = p.relu(a), c = p.relu(a);
  Reg d = p.fb.call_alloc("Add", {b, c}, {}, {}, {p.type})[0];
  p.returns({d});
  EXPECT_EQ(p.placed(),
            "b0:\n"
            "  R0 \"x\" = TENSOR_CREATE input 0, [N, 4]\n"
            "  R1 = TENSOR_ALLOC [N, 4], f32, CPU(0)\n"
            "  OP_CALL Relu(R0) -> R1\n"
            "  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)\n"
            "  OP_CALL Relu(R1) -> R2\n"
            "  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)\n"
            "  OP_CALL Relu(R1) -> R3\n"
            "  TENSOR_FREE R1\n"
            "  R4 = TENSOR_ALLOC [N, 4], f32, CPU(0)\n"
            "  OP_CALL Add(R2, R3) -> R4\n"
            "  TENSOR_FREE R2\n"
            "  TENSOR_FREE R3\n"
            "  RETURN R4\n");
}

TEST(Placement, WhatNobodyReadsGoesAtOnce) {
  Program p;
  p.relu(p.x);
  p.fb.slice(p.x, {0}, {p.i(0)}, {p.i(0)}, {1});
  auto outs = p.fb.call_new("NonZero", {p.x}, {}, {}, {TensorType{.dtype = DType::kI64, .shape = {p.i(2), p.mb.symbol("K")}}});
  (void)outs;
  p.returns({p.relu(p.x)});
  EXPECT_EQ(Program::count(p.placed(), "TENSOR_FREE"), 3u);
}

TEST(Placement, DiesOnTheEdgeThatDoesntNeedIt) {
  Program p;
  Reg a = p.relu(p.x);
  Reg cond = p.fb.compare(CalcOp::kGt, p.mb.symbol("N"), p.i(3));
  BlockId yes = p.fb.new_block(), no = p.fb.new_block();
  p.fb.branch_if(cond, yes, no);
  p.fb.set_block(yes);
  Reg b = p.relu(a);
  p.fb.output("y", {RegKind::kTensor, p.type});
  p.fb.ret({b});
  p.fb.set_block(no);
  p.fb.ret({p.relu(p.x)});
  std::string text = p.placed();
  EXPECT_EQ(Program::count(text, "TENSOR_FREE R1\n"), 2u) << text;
  EXPECT_NE(text.find("b2:\n  TENSOR_FREE R1\n"), std::string::npos) << text;
}

TEST(Placement, BorrowedAndSharedIntoConsumers) {
  Program p;
  int32_t w = p.mb.add_constant("w", DType::kF32, {4}, std::vector<float>(4).data(), 16);
  Reg c = p.fb.constant(w), a = p.relu(p.x);
  Reg list = p.fb.list_make(DType::kF32, {p.x, c, a, a});
  Reg list2 = p.fb.list_append(list, a);
  Dim n = p.fb.list_length(list), m = p.fb.list_length(list2);  // `list` lives on: append takes a copy of the reference
  p.returns({a}, {n, m});
  std::string text = p.placed();
  EXPECT_EQ(Program::count(text, "TENSOR_VIEW identity"), 6u) << text;  // x, w, a, a for the list; the list; a for the append
}

TEST(Placement, ReturnsCopyWhatIsntWholeOrOwn) {
  Program p;
  Reg a = p.relu(p.x);
  Reg part = p.fb.slice(a, {0}, {p.i(0)}, {p.mb.symbol("N")}, {1});
  Reg t = p.fb.transpose(p.relu(p.x), {1, 0});
  Reg grown = p.fb.resize(p.relu(p.x), 1, p.i(2));
  p.returns({p.x, p.fb.identity(p.x), part, t, a, a, p.fb.reshape(p.relu(p.x), {p.i(4), p.mb.symbol("N")}), grown});
  std::string text = p.placed();
  EXPECT_EQ(Program::count(text, "TENSOR_COPY"), 7u) << text;
}

TEST(Placement, PartsThroughPhisAndLaterBlocks) {
  Program p;
  // The view stands in a block with a higher number than the view of it.
  BlockId second = p.fb.new_block(), first = p.fb.new_block();
  p.fb.jump(first);
  p.fb.set_block(first);
  Reg a = p.relu(p.x);
  Reg part = p.fb.slice(a, {0}, {p.i(0)}, {p.i(0)}, {1});
  p.fb.jump(second);
  p.fb.set_block(second);
  Reg same = p.fb.identity(part);
  p.returns({same});
  std::string text = p.placed();
  EXPECT_EQ(Program::count(text, "TENSOR_COPY"), 1u) << text;
}

TEST(Placement, LoopsCarryAndSplitEdges) {
  Program p;
  BlockId head = p.fb.new_block(), body = p.fb.new_block(), done = p.fb.new_block();
  Reg a = p.relu(p.x);
  p.fb.jump(head);
  p.fb.set_block(head);
  Reg i = p.fb.phi({RegKind::kI64, {}}), v = p.fb.phi({RegKind::kTensor, p.type}), b = p.fb.phi({RegKind::kTensor, p.type});
  p.fb.branch_if(p.fb.compare(CalcOp::kLt, p.fb.dim(i), p.i(5)), body, done);
  p.fb.set_block(body);
  Reg next = p.fb.call_alloc("Add", {v, a}, {}, {}, {p.type})[0];
  Dim j = p.fb.calc(CalcOp::kAdd, p.fb.dim(i), p.i(1));
  // The body ends in a branch whose one arm is the header: a critical edge.
  p.fb.branch_if(p.fb.compare(CalcOp::kEq, j, p.i(3)), done, head);
  p.fb.add_phi_input(i, {0, kNoReg, p.i(0)});
  p.fb.add_phi_input(i, {body, kNoReg, j});
  p.fb.add_phi_input(v, {0, p.x, {}});
  p.fb.add_phi_input(v, {body, next, {}});
  p.fb.add_phi_input(b, {0, a, {}});
  p.fb.add_phi_input(b, {body, v, {}});
  p.fb.set_block(done);
  p.returns({p.relu(p.x)});
  std::string text = p.placed();
  EXPECT_EQ(Program::count(text, "TENSOR_FREE"), 6u) << text;
}

TEST(Placement, BothArmsToOneBlock) {
  Program p;
  BlockId join = p.fb.new_block();
  Reg a = p.relu(p.x), b = p.relu(p.x);
  (void)b;
  p.fb.branch_if(p.fb.compare(CalcOp::kLt, p.mb.symbol("N"), p.i(5)), join, join);
  p.fb.set_block(join);
  Reg v = p.fb.phi({RegKind::kTensor, p.type});
  p.fb.add_phi_input(v, {0, a, {}});
  p.returns({v});
  p.placed();
}

TEST(Placement, FilledTensorLivesUntilItsWindowsAreWritten) {
  Program p;
  Reg t = p.fb.alloc(p.type);
  Reg w = p.fb.window(t, 1, p.i(0), p.i(4));
  p.fb.call("Relu", {p.x}, {}, {}, {w});  // `t` is never read
  p.returns({p.relu(p.x)});
  p.placed();
}

// --- random programs ---------------------------------------------------------------------------------------------------

TEST(Placement, RandomProgramsVerify) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Module m = testing::RandomProgram(seed).build();
    std::string text = disassemble(m), errors = verify_text(m);
    ASSERT_EQ(errors, "") << text;
  }
}

// What is placed already stays as it is.
TEST(Placement, IsIdempotent) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Module m = testing::RandomProgram(seed).build();
    // Without its frees it is a value form again.
    for (Block& b : m.functions[0].blocks) std::erase_if(b.instrs, [](const Instr& i) { return i.op == Opcode::kTensorFree; });
    ASSERT_TRUE(place_ownership(m, 0).ok());
    std::string once = disassemble(m);
    for (Block& b : m.functions[0].blocks) std::erase_if(b.instrs, [](const Instr& i) { return i.op == Opcode::kTensorFree; });
    ASSERT_TRUE(place_ownership(m, 0).ok());
    EXPECT_EQ(disassemble(m), once);
    EXPECT_EQ(verify_text(m), "");
  }
}

}  // namespace
}  // namespace msvm
