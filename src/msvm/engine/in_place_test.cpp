// In-place hints save memory and never change a result: hints of the optimiser, and every hint that verifies, in random programs.
#include <algorithm>
#include <random>

#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

struct Outcome {
  std::string text;
  int64_t in_place, peak;
};

/// Hints move offsets.
std::string after_place(const std::string& error) { return error.substr(std::min(error.size(), error.rfind(": "))); }

Outcome run_once(std::shared_ptr<const VerifiedModule> module, Engine& values, std::string_view inputs, bool planning) {
  auto program = Program::create(std::move(module));
  EXPECT_TRUE(program.ok());
  Devices devices({.num_threads = 1});
  Outcome out;
  {
    PooledSession session(*program, devices, {.max_instructions = 200000});
    session.session.set_planning(planning);
    auto in = parse_values(values, inputs);
    EXPECT_TRUE(in) << inputs;
    auto r = session.session.run(0, *in);
    out = {r.ok() ? to_text(*r) : after_place(r.status().message()), session.session.counters().in_place, devices.pool.stats().peak};
  }
  EXPECT_EQ(devices.pool.stats().by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
  return out;
}

constexpr std::string_view kChain = R"(module "m" version 1
symbol N
func @f(x: f32[N, 4096]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 4096], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  R2 = TENSOR_ALLOC [N, 4096], f32, CPU(0), reuse R1
  OP_CALL Exp(R1) -> R2
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N, 4096], f32, CPU(0), reuse R2
  OP_CALL Neg(R2) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL ReduceMax(R3) -> R4 {axes: [1], keepdims: 0}
  TENSOR_FREE R3
  RETURN R4
)";

std::string without_hints(std::string text) {
  for (size_t at; (at = text.find(", reuse R")) != std::string::npos;) text.erase(at, text.find('\n', at) - at);
  return text;
}

TEST(InPlace, AChainNeedsOneBuffer) {
  auto engine = make_engine();
  const std::string text(kChain);
  constexpr int64_t kBytes = 8 * 4096 * 4;
  for (bool planning : {false, true}) {
    SCOPED_TRACE(planning);
    const Outcome plain = run_once(verified(without_hints(text)), *engine, "f32[8, 4096] iota", planning), hinted = run_once(verified(text), *engine, "f32[8, 4096] iota", planning);
    EXPECT_EQ(hinted.text, plain.text);
    EXPECT_EQ(plain.in_place, 0);
    EXPECT_EQ(hinted.in_place, 2);
    EXPECT_GE(plain.peak, 2 * kBytes);
    EXPECT_LT(hinted.peak, 2 * kBytes);
    EXPECT_EQ(run_once(verified(text), *engine, "f32[0, 4096] []", planning).text, "f32[0] []");
  }
}

// The result takes the buffer of what it was made of, which the plan leaves to the allocator for that.
TEST(InPlace, AResultTakesABuffer) {
  auto engine = make_engine();
  auto module = verified(R"(module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0), reuse R1
  OP_CALL Neg(R1) -> R2
  TENSOR_FREE R1
  RETURN R2
)");
  for (bool planning : {false, true}) {
    const Outcome r = run_once(module, *engine, "f32[3] [-1, 0.5, 2]", planning);
    EXPECT_EQ(r.text, "f32[3] [-0, -0.5, -2]");
    EXPECT_EQ(r.in_place, 1);
  }
}

// Whoever else holds the buffer, or a call that reads it once more under another name, keeps it as it is.
TEST(InPlace, HintsThatDontHoldAreIgnored) {
  auto engine = make_engine();
  for (const char* body : {
           // a view is read later
           "  R2 = TENSOR_VIEW slice R1, axis 0 from 0 to 2\n  R3 = TENSOR_ALLOC [2, 2], f32, CPU(0), reuse R1\n  OP_CALL Neg(R1) -> R3\n  TENSOR_FREE R1\n"
           "  R4 = TENSOR_ALLOC [2, 2], f32, CPU(0)\n  OP_CALL Add(R2, R3) -> R4\n  TENSOR_FREE R2\n  TENSOR_FREE R3\n  RETURN R4\n",
           // the call reads a transpose as well
           "  R2 = TENSOR_VIEW transpose R1, [1, 0]\n  R3 = TENSOR_ALLOC [2, 2], f32, CPU(0), reuse R1\n  OP_CALL Sub(R1, R2) -> R3\n  TENSOR_FREE R1\n  TENSOR_FREE R2\n"
           "  R4 = TENSOR_ALLOC [2, 2], f32, CPU(0)\n  OP_CALL Relu(R3) -> R4\n  TENSOR_FREE R3\n  RETURN R4\n",
           // a transpose is what dies: other strides
           "  R2 = TENSOR_VIEW transpose R1, [1, 0]\n  TENSOR_FREE R1\n  R3 = TENSOR_ALLOC [2, 2], f32, CPU(0), reuse R2\n  OP_CALL Neg(R2) -> R3\n  TENSOR_FREE R2\n"
           "  R4 = TENSOR_ALLOC [2, 2], f32, CPU(0)\n  OP_CALL Relu(R3) -> R4\n  TENSOR_FREE R3\n  RETURN R4\n",
           // between the ALLOC and the call a view is taken
           "  R3 = TENSOR_ALLOC [2, 2], f32, CPU(0), reuse R1\n  R2 = TENSOR_VIEW transpose R1, [1, 0]\n  OP_CALL Neg(R1) -> R3\n  TENSOR_FREE R1\n"
           "  R4 = TENSOR_ALLOC [2, 2], f32, CPU(0)\n  OP_CALL Add(R2, R3) -> R4\n  TENSOR_FREE R2\n  TENSOR_FREE R3\n  RETURN R4\n",
       }) {
    const std::string text = std::string("module \"m\" version 1\nfunc @f(x: f32[2, 2]) -> f32[2, 2]\nb0:\n  R0 = TENSOR_CREATE input 0\n"
                                         "  R1 = TENSOR_ALLOC [2, 2], f32, CPU(0)\n  OP_CALL Abs(R0) -> R1\n") + body;
    SCOPED_TRACE(text);
    for (bool planning : {false, true}) {
      const Outcome plain = run_once(verified(without_hints(text)), *engine, "f32[2, 2] [1, 2, 3, 4]", planning), hinted = run_once(verified(text), *engine, "f32[2, 2] [1, 2, 3, 4]", planning);
      EXPECT_EQ(hinted.text, plain.text);
      EXPECT_EQ(hinted.in_place, 0);
    }
  }
}

/// Puts hints on about half of the ALLOCs whose calls may take one, each kept if the module still verifies.
int add_hints(Module& m, std::mt19937& random) {
  int hints = 0;
  Function& f = m.functions[0];
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    auto& instrs = f.blocks[b].instrs;
    for (size_t k = 0; k < instrs.size(); ++k) {
      if (instrs[k].op != Opcode::kTensorAlloc) continue;
      const Reg to = instrs[k].defs[0];
      for (size_t j = k + 1; j < instrs.size(); ++j) {
        const Instr& call = instrs[j];
        if (call.op != Opcode::kOpCall || call.outs.empty() || call.outs[0] != to) continue;
        if (call.uses.empty() || random() % 4 == 0) break;
        instrs[k].uses = {call.uses[random() % call.uses.size()]};
        Module copy = m;
        if (verify(std::move(copy)).module) ++hints;
        else instrs[k].uses.clear();
        break;
      }
    }
  }
  return hints;
}

TEST(InPlace, RandomProgramsWithHintsGiveTheSame) {
  auto engine = make_engine();
  int hints = 0, results = 0;
  int64_t obeyed = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Module m = RandomProgram(seed).build();
    Module hinted = m;
    const int added = add_hints(hinted, random);
    if (added == 0) continue;
    hints += added;
    const std::string text = disassemble(hinted);
    VerifyResult a = verify(std::move(m)), b = verify(std::move(hinted));
    ASSERT_TRUE(a.module && b.module);
    for (const char* x : {"f32[3, 4] iota", "f32[0, 4] []", "f32[8, 4] iota"})
      for (bool planning : {false, true}) {
        const Outcome plain = run_once(a.module, *engine, x, planning), r = run_once(b.module, *engine, x, planning);
        ASSERT_EQ(r.text, plain.text) << x << " planning " << planning << "\n" << text;
        obeyed += r.in_place;
        ++results;
      }
  }
  EXPECT_GT(hints, 100);
  EXPECT_GT(obeyed, 100);
  EXPECT_GT(results, 100);
}

}  // namespace
}  // namespace msvm::testing
