#include "msvm/bytecode/cfg.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace msvm {
namespace {

Function graph(const std::vector<std::vector<BlockId>>& successors) {
  Function f;
  for (const auto& targets : successors) {
    Instr end;
    end.op = targets.empty() ? Opcode::kReturn : targets.size() == 1 ? Opcode::kJump : Opcode::kSwitch;
    end.targets = targets;
    f.blocks.push_back({{end}});
  }
  return f;
}

// Blocks reachable from the entry without passing through `without`.
std::set<BlockId> reach(const Function& f, BlockId without) {
  std::set<BlockId> seen;
  std::vector<BlockId> work;
  if (without != 0) work.push_back(0);
  while (!work.empty()) {
    BlockId b = work.back();
    work.pop_back();
    if (!seen.insert(b).second) continue;
    for (BlockId t : f.blocks[b].instrs.back().targets)
      if (t != without) work.push_back(t);
  }
  return seen;
}

TEST(ControlFlow, Diamond) {
  ControlFlow cfg(graph({{1, 2}, {3}, {3}, {}}));
  EXPECT_EQ(cfg.reverse_post_order(), (std::vector<BlockId>{0, 1, 2, 3}));
  EXPECT_EQ(cfg.immediate_dominator(3), 0);
  EXPECT_EQ(cfg.predecessors(3), (std::vector<BlockId>{1, 2}));
  EXPECT_TRUE(cfg.dominates(0, 3));
  EXPECT_TRUE(cfg.dominates(3, 3));
  EXPECT_FALSE(cfg.dominates(1, 3));
  EXPECT_FALSE(cfg.in_loop(3));
  EXPECT_TRUE(cfg.reducible());
}

TEST(ControlFlow, SwitchWithEqualTargetsCountsOnce) {
  ControlFlow cfg(graph({{1, 2, 1}, {2}, {}}));
  EXPECT_EQ(cfg.successors(0), (std::vector<BlockId>{1, 2}));
  EXPECT_EQ(cfg.predecessors(1), (std::vector<BlockId>{0}));
}

TEST(ControlFlow, NestedLoops) {
  // 0 -> 1 (outer) -> 2 (inner) -> 3 -> 2 | 4 ; 4 -> 1 | 5
  ControlFlow cfg(graph({{1}, {2}, {3}, {2, 4}, {1, 5}, {}}));
  EXPECT_EQ(cfg.loop_depth(0), 0);
  EXPECT_EQ(cfg.loop_depth(1), 1);
  EXPECT_EQ(cfg.loop_depth(2), 2);
  EXPECT_EQ(cfg.loop_depth(3), 2);
  EXPECT_EQ(cfg.loop_depth(4), 1);
  EXPECT_EQ(cfg.loop_depth(5), 0);
  EXPECT_EQ(cfg.loop_header(3), 2);
  EXPECT_EQ(cfg.loop_header(4), 1);
  EXPECT_EQ(cfg.loop_header(2), 2);
  EXPECT_TRUE(cfg.is_back_edge(3, 2));
  EXPECT_FALSE(cfg.is_back_edge(2, 3));
  EXPECT_TRUE(cfg.reducible());
}

TEST(ControlFlow, IrreducibleAndUnreachable) {
  ControlFlow cfg(graph({{1, 2}, {2, 3}, {1}, {}, {3}}));
  EXPECT_FALSE(cfg.reducible());
  EXPECT_FALSE(cfg.reachable(4));
  EXPECT_EQ(cfg.immediate_dominator(4), -1);
  EXPECT_FALSE(cfg.dominates(0, 4));
  EXPECT_EQ(cfg.immediate_dominator(3), 1);
}

TEST(ControlFlow, DominatorsAgreeWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + static_cast<int>(random() % 12);
    std::vector<std::vector<BlockId>> successors(n);
    for (auto& s : successors)
      for (unsigned k = random() % 3; k > 0; --k) s.push_back(1 + static_cast<BlockId>(random() % (n - 1)));
    Function f = graph(successors);
    ControlFlow cfg(f);
    auto all = reach(f, -1);
    for (BlockId a = 0; a < n; ++a) {
      auto without = reach(f, a);
      EXPECT_EQ(cfg.reachable(a), all.count(a) > 0);
      for (BlockId b : all) {
        if (!all.count(a)) continue;
        EXPECT_EQ(cfg.dominates(a, b), !without.count(b)) << "round " << round << ": " << a << " dom " << b;
      }
    }
    for (BlockId b : all) {
      // A block is in a loop iff it reaches itself.
      std::set<BlockId> seen;
      std::vector<BlockId> work = cfg.successors(b);
      while (!work.empty()) {
        BlockId x = work.back();
        work.pop_back();
        if (seen.insert(x).second) work.insert(work.end(), cfg.successors(x).begin(), cfg.successors(x).end());
      }
      if (cfg.reducible()) {
        EXPECT_EQ(cfg.in_loop(b), seen.count(b) > 0) << "round " << round << " block " << b;
      }
    }
  }
}

TEST(ControlFlow, DeepGraphsDontRecurseOrGoQuadratic) {
  const int n = 200000;
  std::vector<std::vector<BlockId>> nested(2 * n + 1), ladder(n);
  for (int i = 0; i < n; ++i) nested[i] = {i + 1};                              // n headers,
  for (int i = n; i < 2 * n; ++i) nested[i] = {2 * n - 1 - i, i + 1};           // each with its latch
  ControlFlow cfg(graph(nested));
  EXPECT_TRUE(cfg.reducible());
  EXPECT_EQ(cfg.loop_depth(n), n);
  for (int i = 0; i + 1 < n; ++i) ladder[i] = i == 0 ? std::vector<BlockId>{1, 2, n - 1} : std::vector<BlockId>{i + 1, std::max(1, i - 1)};
  ControlFlow irreducible(graph(ladder));
  EXPECT_FALSE(irreducible.reducible());
  EXPECT_EQ(irreducible.immediate_dominator(n - 1), 0);
}

// 0: R0 = ...; 1: R1 = phi(R0 from 0, R2 from 2), R3 = phi i64; branch 2 | 3; 2: R2 = op(R1); 3: return R1, R4 (defined in 0)
TEST(Liveness, LoopCarriedValues) {
  Module m;
  m.functions.resize(1);
  Function& f = m.functions[0];
  f.regs.resize(6);
  f.regs[3].type.kind = RegKind::kI64;
  f.regs[5].type.kind = RegKind::kI64;
  f.blocks.resize(4);
  auto instr = [](Opcode op, std::vector<Reg> defs, std::vector<Reg> uses, std::vector<BlockId> targets = {}) {
    Instr i;
    i.op = op;
    i.defs = std::move(defs);
    i.uses = std::move(uses);
    i.targets = std::move(targets);
    return i;
  };
  Dim r3 = register_dim(m, 0, 3), r5 = register_dim(m, 0, 5);
  f.blocks[0].instrs = {instr(Opcode::kTensorAlloc, {0}, {}), instr(Opcode::kTensorAlloc, {4}, {}), instr(Opcode::kJump, {}, {}, {1})};
  Instr phi = instr(Opcode::kScalarPhi, {3}, {}, {0, 2});
  phi.dims = {m.dims->constant(0), r5};
  f.blocks[1].instrs = {instr(Opcode::kTensorPhi, {1}, {0, 2}, {0, 2}), phi, instr(Opcode::kBranchIf, {}, {}, {2, 3})};
  Instr copy = instr(Opcode::kTensorCopy, {}, {1});
  copy.outs = {4};
  Instr add = instr(Opcode::kShapeCalc, {5}, {});
  add.dims = {r3, m.dims->constant(1)};
  f.blocks[2].instrs = {instr(Opcode::kTensorView, {2}, {1}), copy, add, instr(Opcode::kJump, {}, {}, {1})};
  f.blocks[3].instrs = {instr(Opcode::kReturn, {}, {1})};
  ControlFlow cfg(f);
  Liveness live(m, 0, cfg);
  EXPECT_TRUE(live.live_out(0, 0));
  EXPECT_FALSE(live.live_in(1, 0));  // moved on the edge
  EXPECT_TRUE(live.live_in(2, 1));
  EXPECT_TRUE(live.live_in(3, 1));
  EXPECT_FALSE(live.live_out(2, 1));
  EXPECT_TRUE(live.live_out(2, 2));
  EXPECT_FALSE(live.live_in(2, 2));
  EXPECT_TRUE(live.live_in(2, 3));
  EXPECT_TRUE(live.live_out(2, 5));
  EXPECT_FALSE(live.live_in(3, 3));
  EXPECT_TRUE(live.live_in(1, 4));   // a destination, live around the loop
  EXPECT_TRUE(live.live_out(2, 4));
  EXPECT_FALSE(live.live_in(3, 4));
  EXPECT_EQ(std::vector<BlockId>(live.live_in_blocks(4).begin(), live.live_in_blocks(4).end()), (std::vector<BlockId>{1, 2}));
}

}  // namespace
}  // namespace msvm
