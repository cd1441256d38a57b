#include "msvm/bytecode/builder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

struct BuilderTest : ::testing::Test {
  ModuleBuilder mb{"test"};
  FunctionBuilder fb = mb.function("main");
  Dim n = mb.symbol("N");
  Dim i(int64_t v) { return mb.dims().constant(v); }
  TensorType f32(std::vector<Dim> shape) {
    TensorType t;
    t.shape = std::move(shape);
    return t;
  }
  bool strided(Reg r) { return fb.tensor_type(r).strided; }
  std::string shape(Reg r) { return to_string(fb.tensor_type(r), mb.dims()); }
};

TEST_F(BuilderTest, SymbolsByName) {
  EXPECT_EQ(mb.symbol("N"), n);
  Dim k0 = mb.fresh_symbol("k"), k1 = mb.fresh_symbol("k");
  EXPECT_FALSE(k0 == k1);
  mb.symbol("h0");
  EXPECT_EQ(mb.dims().to_string(mb.fresh_symbol("h")), "h1");
}

TEST_F(BuilderTest, WhatWasMadeSinceAMarkIsMadeAgain) {
  const Reg x = fb.input("x", f32({n}));
  const float one = 1;
  const FunctionBuilder::Mark mark = fb.mark();
  std::string first;
  for (bool wide : {true, false, false}) {
    const Reg c = fb.constant(mb.add_constant("c", DType::kF32, {}, &one, sizeof one));
    const BlockId out = fb.new_block();
    fb.set_debug({.file = "a.py", .line = 1});
    const Dim size = mb.fresh_symbol("k");
    const Dim longest = fb.calc(CalcOp::kMax, fb.dim(fb.new_reg({RegKind::kI64, {}})), size);
    fb.reshape(c, wide ? std::vector{i(1), longest} : std::vector{longest});
    const Reg phi = fb.phi({RegKind::kTensor, f32({n})});
    fb.add_phi_input(phi, {0, x, {}});
    fb.jump(out);
    fb.set_block(out);
    fb.ret({x});
    const std::string text = disassemble(mb.module(), {});
    if (!wide) {
      if (first.empty()) first = text;
      EXPECT_EQ(text, first);
    }
    fb.rollback(mark);
    EXPECT_EQ(fb.function().blocks.size(), 1u);
    EXPECT_EQ(fb.current(), 0);
    EXPECT_TRUE(mb.module().constants.empty());
  }
  fb.output("y", {RegKind::kTensor, f32({n})});
  fb.ret({x});
  EXPECT_TRUE(fb.finish().ok());
}

TEST_F(BuilderTest, ConstantsAreAlignedCopies) {
  float w[3] = {1, 2, 3};
  const int32_t id = mb.add_constant("w", DType::kF32, {3}, w, sizeof w);
  w[0] = 7;
  const Constant& c = mb.module().constants[static_cast<size_t>(id)];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(c.data) % 64, 0u);
  float first;
  std::memcpy(&first, c.data, 4);
  EXPECT_EQ(first, 1);
  const int32_t none = mb.add_constant("none", DType::kF32, {0, 4}, nullptr, 0);
  EXPECT_EQ(mb.module().constants[static_cast<size_t>(none)].bytes, 0u);
}

TEST_F(BuilderTest, OneRegisterPerConstantInTheEntryBlock) {
  const int32_t id = mb.add_constant("w", DType::kF32, {2}, "abcdefgh", 8);
  BlockId b = fb.new_block();
  fb.jump(b);
  fb.set_block(b);
  Reg r = fb.constant(id);
  EXPECT_EQ(fb.constant(id), r);
  fb.output("y", {RegKind::kTensor, f32({i(2)})});
  fb.ret({r});
  ASSERT_TRUE(fb.finish().ok());
  const auto& entry = mb.module().functions[0].blocks[0].instrs;
  ASSERT_EQ(entry.size(), 2u);
  EXPECT_EQ(entry[0].op, Opcode::kTensorConst);
}

TEST_F(BuilderTest, ViewsKnowTheirTypes) {
  Reg x = fb.input("x", f32({i(1), n, i(4)}));
  EXPECT_FALSE(strided(fb.slice(x, {1}, {i(0)}, {i(2)}, {1})));  // outermost axis that isn't 1
  EXPECT_TRUE(strided(fb.slice(x, {2}, {i(0)}, {i(2)}, {1})));
  EXPECT_TRUE(strided(fb.slice(x, {1}, {i(0)}, {n}, {2})));
  EXPECT_EQ(shape(fb.slice(x, {1, 2}, {i(1), i(0)}, {n, i(3)}, {1, 2})), "f32[1, N - 1, 2] strided");
  EXPECT_EQ(shape(fb.transpose(x, {1, 0, 2})), "f32[N, 1, 4]");  // only an axis of 1 moves
  EXPECT_EQ(shape(fb.transpose(x, {0, 2, 1})), "f32[1, 4, N] strided");
  EXPECT_EQ(shape(fb.broadcast(x, {i(1), i(1), n, i(4)})), "f32[1, 1, N, 4]");
  EXPECT_EQ(shape(fb.broadcast(x, {i(3), n, i(4)})), "f32[3, N, 4] strided");
  EXPECT_EQ(shape(fb.squeeze(x, {0})), "f32[N, 4]");
  EXPECT_EQ(shape(fb.unsqueeze(x, {0, 4})), "f32[1, 1, N, 4, 1]");
  EXPECT_EQ(shape(fb.reshape(fb.transpose(x, {0, 2, 1}), {mb.dims().mul(n, i(4))})), "f32[4*N]");  // through a copy
  EXPECT_EQ(shape(fb.resize(x, 1, i(9))), "f32[1, 9, 4] strided");
  EXPECT_EQ(shape(fb.window(fb.alloc(f32({n, i(4)})), 1, i(1), i(3))), "f32[N, 2] strided");
}

TEST_F(BuilderTest, ReadsByDType) {
  for (auto [dtype, kind] : {std::pair(DType::kF16, RegKind::kF64), std::pair(DType::kU8, RegKind::kI64), std::pair(DType::kBool, RegKind::kBool)}) {
    TensorType t = f32({i(1)});
    t.dtype = dtype;
    EXPECT_EQ(fb.type(fb.read(fb.input("x", t), {i(0)})).kind, kind);
  }
}

// Types may come from tensor_type(), which refers into the registers that the call makes grow.
TEST_F(BuilderTest, TypesOfRegistersAsArguments) {
  Reg x = fb.input("x", f32({n, i(4)}));
  for (int k = 0; k < 200; ++k) {
    Reg a = fb.alloc(fb.tensor_type(x)), b = fb.narrow(x, fb.tensor_type(x)), c = fb.phi(fb.type(x));
    for (Reg r : {a, b, c}) ASSERT_EQ(shape(r), "f32[N, 4]");
    x = a;
  }
  for (const Instr& instr : mb.module().functions[0].blocks[0].instrs)
    EXPECT_EQ(instr.dims.size(), instr.op == Opcode::kTensorPhi ? 0u : 2u);
}

TEST_F(BuilderTest, PhisComeFirstInTheirOrder) {
  BlockId b = fb.new_block();
  Reg x = fb.input("x", f32({n}));
  fb.jump(b);
  fb.set_block(b);
  fb.propagate(x, 0);
  Reg p = fb.phi({RegKind::kI64, {}}), q = fb.phi({RegKind::kTensor, f32({n})});
  fb.add_phi_input(q, {0, x, {}});
  fb.add_phi_input(p, {0, kNoReg, i(3)});
  const auto& instrs = mb.module().functions[0].blocks[static_cast<size_t>(b)].instrs;
  ASSERT_EQ(instrs.size(), 3u);
  EXPECT_EQ(instrs[0].defs[0], p);
  EXPECT_EQ(instrs[0].op, Opcode::kScalarPhi);
  EXPECT_EQ(instrs[0].dims.size(), 1u);
  EXPECT_EQ(instrs[1].defs[0], q);
  EXPECT_EQ(instrs[1].uses, std::vector<Reg>{x});
}

TEST_F(BuilderTest, BlocksMustEnd) {
  fb.new_block();
  fb.ret({});
  EXPECT_TRUE(fb.terminated());
  Status s = fb.finish();
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "block b1 of @main has no terminator");
}

TEST_F(BuilderTest, DebugInformationIsShared) {
  fb.set_debug({.file = "model.py", .line = 3});
  Reg x = fb.input("x", f32({n}));
  fb.propagate(x, 0);
  fb.set_debug({});
  fb.propagate(x, 0);
  const Function& f = mb.module().functions[0];
  EXPECT_EQ(f.debug.size(), 2u);
  EXPECT_EQ(f.blocks[0].instrs[0].debug, 1u);
  EXPECT_EQ(f.blocks[0].instrs[1].debug, 1u);
  EXPECT_EQ(f.blocks[0].instrs[2].debug, 0u);
}

}  // namespace
}  // namespace msvm
