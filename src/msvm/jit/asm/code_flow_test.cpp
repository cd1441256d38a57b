// Random control flow: loops are what reaches itself; nothing here crashes, whatever the code.
#include "msvm/jit/asm/code_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "msvm/jit/asm/asm_testing.h"
#include "msvm/jit/asm/findings.h"

namespace msvm::jit {
namespace {

using A = Assembly;

/// Moves of sizes, arithmetic, vectors, and jumps to anywhere.
std::vector<std::byte> random_code(std::mt19937& random) {
  const int count = 3 + static_cast<int>(random() % 30);
  const auto seed = static_cast<uint32_t>(random());
  return A::make([&](A& a) {
    std::mt19937 r(seed);  // the code is written twice
    for (int i = 0; i < count; ++i) {
      a.label(fmt::format("{}", i));
      const auto reg = [&] { return A::reg(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + std::vector<int>{0, 1, 3, 10, 11}[r() % 5])); };
      const auto slot = [&] { return A::at(ZYDIS_REGISTER_RSP, -8 * static_cast<int64_t>(1 + r() % 3), 8); };
      const auto x = reg(), y = reg(), s = slot();
      switch (r() % 9) {
        case 0: a.add(ZYDIS_MNEMONIC_MOV, {x, A::at(ZYDIS_REGISTER_RSI, 8 * static_cast<int64_t>(r() % 4), 8)}); break;
        case 1: a.add(ZYDIS_MNEMONIC_MOV, {x, s}); break;
        case 2: a.add(ZYDIS_MNEMONIC_MOV, {s, x}); break;
        case 3: a.add(ZYDIS_MNEMONIC_ADD, {x, y}); break;
        case 4: a.add(ZYDIS_MNEMONIC_CMP, {x, y}); break;
        case 5: a.add(ZYDIS_MNEMONIC_NOP); break;
        case 6: a.add(ZYDIS_MNEMONIC_VMOVUPS, {A::at(ZYDIS_REGISTER_RSP, 8, 32), A::reg(ZYDIS_REGISTER_YMM0)}); break;
        case 7: a.jump(ZYDIS_MNEMONIC_JL, fmt::format("{}", r() % static_cast<uint32_t>(count))); break;
        case 8: a.jump(r() % 3 ? ZYDIS_MNEMONIC_JNZ : ZYDIS_MNEMONIC_JMP, fmt::format("{}", r() % static_cast<uint32_t>(count))); break;
      }
    }
    a.add(ZYDIS_MNEMONIC_RET);
  });
}

/// Which blocks a block reaches, by at least one step, within `among`.
std::vector<std::vector<uint8_t>> reach(const CodeFlow& f) {
  const size_t n = f.blocks.size();
  std::vector<std::vector<uint8_t>> to(n, std::vector<uint8_t>(n, 0));
  for (size_t b = 0; b < n; ++b)
    for (const int32_t next : f.blocks[b].next)
      if (next >= 0) to[b][static_cast<size_t>(next)] = 1;
  for (size_t k = 0; k < n; ++k)
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b) to[a][b] |= to[a][k] & to[k][b];
  return to;
}

TEST(CodeFlow, LoopsAreWhatReachesItself) {
  std::mt19937 random(7);
  size_t loops = 0, nested = 0, several = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto code = random_code(random);
    const CodeFlow f = flow_of(decode(code, 0, static_cast<uint32_t>(code.size())));
    ASSERT_FALSE(f.blocks.empty());
    const auto to = reach(f);
    for (size_t b = 0; b < f.blocks.size(); ++b) ASSERT_EQ(f.loop_of[b] >= 0, to[b][b] != 0) << round;
    for (size_t l = 0; l < f.loops.size(); ++l) {
      const CodeLoop& loop = f.loops[l];
      ++loops;
      several += loop.entries.size() > 1;
      for (const int32_t a : loop.blocks)
        for (const int32_t b : loop.blocks) ASSERT_TRUE(to[static_cast<size_t>(a)][static_cast<size_t>(b)]) << round;
      for (const int32_t e : loop.entries) ASSERT_TRUE(std::binary_search(loop.blocks.begin(), loop.blocks.end(), e));
      // Loops lie in each other or apart; inner ones have none in them.
      for (size_t other = l + 1; other < f.loops.size(); ++other) {
        std::vector<int32_t> common;
        std::set_intersection(loop.blocks.begin(), loop.blocks.end(), f.loops[other].blocks.begin(), f.loops[other].blocks.end(), std::back_inserter(common));
        if (common.empty()) continue;
        ++nested;
        ASSERT_EQ(common, f.loops[other].blocks) << round;
        ASSERT_FALSE(loop.inner);
      }
    }
  }
  EXPECT_GT(loops, 500u);
  EXPECT_GT(nested, 50u);
  EXPECT_GT(several, 50u);
}

TEST(Findings, OfAnyCode) {
  std::mt19937 random(9);
  const loops::Kernel kernel;
  size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    auto code = random_code(random);
    for (int n = static_cast<int>(random() % 4); n > 0; --n) code[random() % code.size()] = static_cast<std::byte>(random());
    KernelFacts facts;
    facts.code = decode(code, 0, static_cast<uint32_t>(code.size()));
    facts.ir.assign(facts.code.size(), -1);
    facts.kernel = &kernel;
    for (const CodeFinding& f : find_in_code(facts)) {
      ++found;
      ASSERT_FALSE(f.instructions.empty());
      ASSERT_TRUE(std::is_sorted(f.instructions.begin(), f.instructions.end())) << f.text;
      ASSERT_LT(f.instructions.back(), facts.code.size());
    }
  }
  EXPECT_GT(found, 300u);
}

}  // namespace
}  // namespace msvm::jit
