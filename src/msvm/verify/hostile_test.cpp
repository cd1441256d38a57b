// Modules that want to crash the verifier or to keep it busy. Each of these is linear work; were one quadratic, the test's time
// limit would tell.
#include <gtest/gtest.h>

#include <random>

#include "msvm/bytecode/file.h"
#include "msvm/verify/test_modules.h"

namespace msvm::verification {
namespace {

class Program {
 public:
  Program() {
    m.functions.resize(1);
    f().name = "f";
    n = m.dims->symbol(m.dims->add_symbol({.name = "N"}));
    f().inputs.push_back({"x", tensor({n})});
    f().inputs.push_back({"k", {RegKind::kI64, {}}});
    f().inputs.push_back({"c", {RegKind::kBool, {}}});
    block();
    x = reg(tensor({n}));
    k = reg({RegKind::kI64, {}});
    c = reg({RegKind::kBool, {}});
    add({.op = Opcode::kTensorCreate, .sub = static_cast<uint8_t>(CreateKind::kInput), .defs = {x}, .dims = {n}, .imms = {0}});
    add({.op = Opcode::kScalarInput, .defs = {k}, .imms = {1}});
    add({.op = Opcode::kScalarInput, .defs = {c}, .imms = {2}});
  }
  Function& f() { return m.functions[0]; }
  static RegType tensor(std::vector<Dim> shape) { return {RegKind::kTensor, TensorType{.shape = std::move(shape)}}; }
  Reg reg(RegType t) {
    f().regs.push_back({std::move(t), {}});
    return static_cast<Reg>(f().regs.size()) - 1;
  }
  BlockId block() {
    f().blocks.emplace_back();
    return current = static_cast<BlockId>(f().blocks.size()) - 1;
  }
  void add(Instr i) { f().blocks[static_cast<size_t>(current)].instrs.push_back(std::move(i)); }
  void jump(BlockId b) { add({.op = Opcode::kJump, .targets = {b}}); }
  void branch(BlockId a, BlockId b) { add({.op = Opcode::kBranchIf, .uses = {c}, .targets = {a, b}}); }
  void ret() { add({.op = Opcode::kReturn}); }
  Reg identity(Reg s) {
    Reg d = reg(f().regs[static_cast<size_t>(s)].type);
    add({.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kIdentity), .defs = {d}, .uses = {s}});
    return d;
  }
  void free(Reg r) { add({.op = Opcode::kTensorFree, .uses = {r}}); }
  Reg calc(CalcOp op, Dim a, Dim b) {
    Reg d = reg({RegKind::kI64, {}});
    add({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(op), .defs = {d}, .dims = {a, b}});
    return d;
  }
  Dim dim(Reg r) { return register_dim(m, 0, r); }
  Dim constant(int64_t v) { return m.dims->constant(v); }
  VerifyResult verify() { return verification::verify(std::move(m), nullptr); }

  Module m;
  Dim n;
  Reg x, k, c;
  BlockId current = 0;
};

std::string errors_of(const VerifyResult& r) { return format_diagnostics(r.errors).substr(0, 3000); }

TEST(Hostile, LongChainOfBlocks) {
  Program p;
  Reg r = p.identity(p.x);
  for (int i = 1; i < 200000; ++i) {
    p.jump(i);
    p.block();
  }
  p.free(r);
  p.ret();
  EXPECT_EQ(errors_of(p.verify()), "");
}

TEST(Hostile, DeeplyNestedLoopsAndBranches) {
  constexpr int n = 20000;
  Program p;
  p.jump(1);
  for (int i = 1; i <= n; ++i) {  // b1 .. bn are headers, bn+1 .. b2n their latches from the inside out, then the exit
    p.block();
    p.jump(i + 1);
  }
  for (int i = n + 1; i <= 2 * n; ++i) {
    p.block();
    Reg r = p.identity(p.x);
    p.free(r);
    p.branch(2 * n + 1 - i, i + 1);
  }
  p.block();
  p.ret();
  EXPECT_EQ(errors_of(p.verify()), "");
}

TEST(Hostile, ManyPhisAndPredecessors) {
  constexpr int n = 20000;
  Program p;
  std::vector<Reg> refs;
  for (int i = 0; i < n; ++i) refs.push_back(p.identity(p.x));
  p.jump(1);
  p.block();
  std::vector<Reg> phis;
  for (int i = 0; i < n; ++i) {
    phis.push_back(p.reg(Program::tensor({p.n})));
    p.add({.op = Opcode::kTensorPhi, .defs = {phis.back()}, .uses = {refs[static_cast<size_t>(i)]}, .targets = {0}});
  }
  for (Reg r : phis) p.free(r);
  // A switch over n arms that all meet.
  Instr sw{.op = Opcode::kSwitch, .dims = {p.dim(p.k)}};
  for (int i = 0; i < n; ++i) {
    sw.imms.push_back(i);
    sw.targets.push_back(2 + i);
  }
  sw.targets.push_back(2 + n);
  p.add(std::move(sw));
  Instr phi{.op = Opcode::kScalarPhi};
  for (int i = 0; i <= n; ++i) {
    p.block();
    p.jump(3 + n);
    phi.dims.push_back(p.constant(i));
    phi.targets.push_back(2 + i);
  }
  p.block();
  phi.defs = {p.reg({RegKind::kI64, {}})};
  p.add(phi);
  phi.defs = {p.reg({RegKind::kI64, {}})};
  p.add(phi);
  p.ret();
  EXPECT_EQ(errors_of(p.verify()), "");
}

TEST(Hostile, SizesThatGrow) {
  for (CalcOp op : {CalcOp::kMin, CalcOp::kMul, CalcOp::kAdd, CalcOp::kFloorDiv}) {
    Program p;
    Reg a = p.k, b = p.calc(CalcOp::kAdd, p.dim(p.k), p.n);
    for (int i = 0; i < 5000; ++i) {
      Reg d = p.calc(op, p.dim(b), p.dim(a));
      a = b;
      b = d;
    }
    p.ret();
    EXPECT_EQ(errors_of(p.verify()), "") << calc_op_name(op);
  }
}

TEST(Hostile, ManyWindows) {
  constexpr int n = 5000;
  Program p;
  const Dim one = p.constant(1);
  Reg t = p.reg(Program::tensor({p.constant(n)}));
  p.add({.op = Opcode::kTensorAlloc, .defs = {t}, .dims = {p.constant(n)}});
  for (int i = 0; i < n; ++i) {
    Reg w = p.reg(Program::tensor({one}));
    p.add({.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kWindow), .defs = {w}, .uses = {t}, .dims = {p.constant(i), p.constant(i + 1)}, .imms = {0}});
    p.add({.op = Opcode::kOpCall, .dims = {one}, .outs = {w}, .text = "msvm.Fill", .attrs = {{"value", 0.5}}});
    p.free(w);
  }
  Reg v = p.identity(t);
  p.free(v);
  p.free(t);
  p.ret();
  EXPECT_EQ(errors_of(p.verify()), "");
}

TEST(Hostile, DeeplyNestedWindows) {
  constexpr int n = 5000;
  Program p;
  Reg t = p.reg(Program::tensor({p.n}));
  p.add({.op = Opcode::kTensorAlloc, .defs = {t}, .dims = {p.n}});
  std::vector<Reg> all{t};
  for (int i = 0; i < n; ++i) {
    Reg w = p.reg(Program::tensor({p.n}));
    p.add({.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kWindow), .defs = {w}, .uses = {all.back()}, .dims = {p.constant(0), p.n}, .imms = {0}});
    all.push_back(w);
  }
  p.add({.op = Opcode::kTensorCopy, .uses = {p.x}, .outs = {all.back()}});
  Reg v = p.identity(t);
  all.push_back(v);
  for (Reg r : all) p.free(r);
  p.ret();
  EXPECT_EQ(errors_of(p.verify()), "");
}

TEST(Hostile, ManyFacts) {
  Program p;
  for (int i = 0; i < 3000; ++i) {
    Dim s = p.m.dims->symbol(p.m.dims->add_symbol({.name = "s" + std::to_string(i)}));
    p.f().inputs.push_back({"", Program::tensor({s})});
    Reg b = p.reg({RegKind::kBool, {}});
    p.add({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(CalcOp::kLt), .defs = {b}, .dims = {s, i % 2 ? p.n : p.dim(p.k)}});
    p.add({.op = Opcode::kShapeAssert, .uses = {b}, .text = "less"});
    Reg t = p.reg(Program::tensor({s}));
    p.add({.op = Opcode::kTensorAlloc, .defs = {t}, .dims = {s}});
    p.add({.op = Opcode::kTensorCopy, .uses = {p.x}, .outs = {t}});
    p.free(t);
  }
  p.ret();
  VerifyResult r = p.verify();
  EXPECT_FALSE(r.errors.size() > Report::kMaxFindings);
}

TEST(Hostile, FindingsAreCapped) {
  Program p;
  for (int i = 0; i < 50000; ++i) p.identity(p.x);
  p.ret();
  EXPECT_EQ(p.verify().errors.size(), Report::kMaxFindings);

  Program cycles;
  for (int i = 0; i < 20000; ++i) {
    Reg d = cycles.reg({RegKind::kI64, {}});
    cycles.add({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(CalcOp::kAdd), .defs = {d}, .dims = {cycles.dim(d), cycles.constant(1)}});
  }
  cycles.ret();
  EXPECT_EQ(cycles.verify().errors.size(), Report::kMaxFindings);
}

TEST(Hostile, OneLongCycle) {
  constexpr int n = 50000;
  Program p;
  const Reg first = static_cast<Reg>(p.f().regs.size());
  for (int i = 0; i < n; ++i) {
    Reg d = p.reg({RegKind::kI64, {}});
    p.add({.op = Opcode::kShapeCalc, .sub = static_cast<uint8_t>(CalcOp::kAdd), .defs = {d}, .dims = {p.dim(first + (i + n - 1) % n), p.constant(1)}});
  }
  p.ret();
  VerifyResult r = p.verify();
  ASSERT_EQ(r.errors.size(), 1u);
  EXPECT_EQ(r.errors[0].code, DiagCode::kShapeCycle);
  EXPECT_LT(r.errors[0].found.size(), 10000u);
}

// Random changes to instructions, registers and edges of the corpus: anything may be found, nothing may crash.
TEST(Hostile, MutatedModules) {
  std::mt19937 random(11);
  auto pick = [&](size_t n) { return static_cast<size_t>(random() % std::max<size_t>(n, 1)); };
  for (const std::string& path : corpus_files()) {
    AssembleResult a = assemble(without_expectations(text_of(path)), path);
    for (int round = 0; round < 300; ++round) {
      Module m = a.module;
      for (size_t k = 0; k <= pick(3) && !m.functions.empty(); ++k) {
        Function& f = m.functions[pick(m.functions.size())];
        if (f.blocks.empty()) continue;
        Block& b = f.blocks[pick(f.blocks.size())];
        if (b.instrs.empty()) continue;
        Instr& i = b.instrs[pick(b.instrs.size())];
        auto any_reg = [&] { return static_cast<Reg>(pick(f.regs.size() + 2)) - 1; };
        switch (pick(12)) {
          case 0: if (!i.uses.empty()) i.uses[pick(i.uses.size())] = any_reg(); break;
          case 1: if (!i.outs.empty()) i.outs[pick(i.outs.size())] = any_reg(); break;
          case 2: if (!i.defs.empty()) i.defs[pick(i.defs.size())] = any_reg(); break;
          case 3: if (!i.targets.empty()) i.targets[pick(i.targets.size())] = static_cast<BlockId>(pick(f.blocks.size())); break;
          case 4: if (!i.imms.empty()) i.imms[pick(i.imms.size())] = static_cast<int64_t>(pick(10)) - 2; break;
          case 5: if (!i.dims.empty()) i.dims[pick(i.dims.size())] = m.dims->constant(static_cast<int64_t>(pick(9)) - 1); break;
          case 6: i.sub = static_cast<uint8_t>(pick(9)); break;
          case 7: b.instrs.erase(b.instrs.begin() + static_cast<ptrdiff_t>(pick(b.instrs.size()))); break;
          case 8: std::swap(i, b.instrs[pick(b.instrs.size())]); break;
          case 9: if (!f.regs.empty()) f.regs[pick(f.regs.size())].type = f.regs[pick(f.regs.size())].type; break;
          case 10: i.uses.push_back(any_reg()); break;
          case 11:
            if (Reg r = any_reg(); r >= 0 && static_cast<size_t>(r) < f.regs.size() && !f.regs[static_cast<size_t>(r)].type.tensor.shape.empty())
              f.regs[static_cast<size_t>(r)].type.tensor.shape.pop_back();
            break;
        }
      }
      VerifyResult r = verify(std::move(m), nullptr);
      EXPECT_EQ(r.module == nullptr, !r.errors.empty());
    }
  }
}

}  // namespace
}  // namespace msvm::verification
