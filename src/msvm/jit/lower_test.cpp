// tests/lower: NAME.msasm in value form, NAME.txt what becomes of its regions. MSVM_UPDATE_LOWER=1 writes the latter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>

#include "msvm/base/file.h"
#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/text.h"
#include "msvm/jit/lower.h"
#include "msvm/jit/test_program.h"

namespace msvm::jit {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs() {
  std::vector<fs::path> out;
  for (const auto& e : fs::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/lower"))
    if (e.path().extension() == ".msasm") out.push_back(e.path());
  std::sort(out.begin(), out.end());
  return out;
}

class Lowered : public ::testing::TestWithParam<fs::path> {};

TEST_P(Lowered, AsWritten) {
  auto text = read_text_file(GetParam().string());
  ASSERT_TRUE(text.ok()) << text.status().message();
  AssembleResult a = assemble(*text, GetParam().filename());
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  for (size_t f = 0; f < a.module.functions.size(); ++f) ASSERT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
  VerifyResult v = verify(std::move(a.module));
  ASSERT_TRUE(v.module) << format_diagnostics(v.errors);

  std::string found;
  for (size_t f = 0; f < v.module->module().functions.size(); ++f) {
    const FunctionView view(*v.module, static_cast<int32_t>(f));
    found += "== " + view.f.name + "\n";
    for (const Region& r : find_regions(view).regions) {
      const LoweredRegion lowered = lower_region(view, r);
      ASSERT_EQ(lowered.groups.size(), lowered.program.kernels.size());
      ASSERT_EQ(lowered.groups.size(), lowered.notes.size());
      ASSERT_EQ(lowered.groups.size(), lowered.origins.size());
      for (size_t k = 0; k < lowered.groups.size(); ++k) {
        size_t steps = 0;
        for (const loops::Pass& pass : lowered.program.kernels[k].passes) steps += pass.steps.size();
        ASSERT_EQ(lowered.origins[k].size(), steps);
        for (const uint64_t members : lowered.origins[k]) {
          EXPECT_NE(members, 0u);
          EXPECT_LE(static_cast<size_t>(std::bit_width(members)), lowered.groups[k].members.size());
        }
      }
      Status checked = loops::check(lowered.program);
      EXPECT_TRUE(checked.ok()) << checked.message();
      found += to_string(lowered, view);
      if (r.symbols.empty()) continue;
      Box box;
      for (size_t k = 0; k < r.symbols.size(); ++k) box.extents.push_back(Extent::value(5 + static_cast<int64_t>(k)));
      const loops::Program special = specialise(lowered, view, r, box);
      checked = loops::check(special);
      EXPECT_TRUE(checked.ok()) << checked.message() << loops::print(special);
    }
  }
  fs::path name = GetParam();
  name.replace_extension(".txt");
  if (std::getenv("MSVM_UPDATE_LOWER")) { ASSERT_TRUE(write_file_atomically(name.string(), found).ok()); }
  auto expected = read_text_file(name.string());
  ASSERT_TRUE(expected.ok()) << expected.status().message() << found;
  EXPECT_EQ(found, *expected) << "MSVM_UPDATE_LOWER=1 writes the new text";
}

INSTANTIATE_TEST_SUITE_P(Files, Lowered, ::testing::ValuesIn(inputs()), [](const auto& file) { return file.param.stem().string(); });

constexpr const char* kChain = R"msasm(
symbol N, C, H
func @main(x: f32[N, C, 64], y: f32[H, 64]) -> (f32[N, C, 64], f32[H, 64])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, C, 64], f32, CPU(0)
  OP_CALL Exp(R0) -> R2
  R3 = TENSOR_ALLOC [N, C, 64], f32, CPU(0)
  OP_CALL Softmax(R2) -> R3
  R4 = TENSOR_ALLOC [H, 64], f32, CPU(0)
  OP_CALL msvm.Pointwise(R1) -> R4 {body: ["Neg(i0)", "Exp(s0)"]}
  TENSOR_FREE R2
  RETURN R3, R4
)msasm";

std::vector<std::string> notes(const TestProgram& p, const LowerOptions& options) { return lower_region(*p.view, p.only(), options).notes; }

TEST(Lowered, Options) {
  TestProgram p(kChain);
  const std::string softmax = "fused Exp, Softmax (instr 3, 5) over [N, C, 64]", body = "fused msvm.Pointwise (instr 7) over [H, 64]";
  EXPECT_EQ(notes(p, {}), (std::vector<std::string>{softmax, body}));
  EXPECT_EQ(notes(p, {.strict = true}), (std::vector<std::string>{body}));
  EXPECT_TRUE(notes(p, {.graph_kernel = false}).empty());
  EXPECT_EQ(lower_region(*p.view, p.only(), {.graph_kernel = false}).why_not.size(), 3u);
  EXPECT_TRUE(notes(p, {.min_profit = 2}).empty());
  EXPECT_EQ(notes(p, {.max_tensors = 1}), std::vector<std::string>{});
  EXPECT_EQ(notes(p, {.max_steps = 4}), (std::vector<std::string>{body}));
  const auto strict = lower_region(*p.view, p.only(), {.strict = true});
  ASSERT_EQ(strict.why_not.size(), 2u);
  EXPECT_EQ(strict.why_not[1].instruction, 5);
  EXPECT_EQ(strict.why_not[1].reason, "the order of its sums is fixed (strict)");
}

// Of each step: the calls it comes from, as bits.
TEST(Lowered, Origins) {
  TestProgram p(kChain);
  const LoweredRegion l = lower_region(*p.view, p.only());
  ASSERT_EQ(l.origins.size(), 2u);
  EXPECT_EQ(std::count(l.origins[1].begin(), l.origins[1].end(), 1u), static_cast<std::ptrdiff_t>(l.origins[1].size()));  // one call
  std::vector<std::pair<loops::Op, uint64_t>> found;
  size_t at = 0;
  for (const loops::Pass& pass : l.program.kernels[0].passes)
    for (const loops::Step& s : pass.steps) found.emplace_back(s.op, l.origins[0][at++]);
  uint64_t loads = 0;
  int exps = 0;
  for (const auto& [op, members] : found) {
    if (op == loops::Op::kReduceMax || op == loops::Op::kSub || op == loops::Op::kDiv) { EXPECT_EQ(members, 2u) << loops::op_info(op).name; }
    if (op == loops::Op::kLoad) loads |= members;
    if (op == loops::Op::kExp) exps |= 1 << members;
  }
  EXPECT_EQ(found.back(), std::pair(loops::Op::kStore, uint64_t{2}));  // others keep values of either call for later walks
  EXPECT_EQ(loads & 1, 1u);
  EXPECT_EQ(exps, 1 << 1 | 1 << 2) << "one of either call";

  // Equal steps are made once: of all calls that have them.
  TestProgram twice(R"msasm(
symbol N
func @main(x: f32[N]) -> (f32[N], f32[N])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Exp(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Exp(R0) -> R2
  RETURN R1, R2
)msasm");
  const LoweredRegion t = lower_region(*twice.view, twice.only());
  ASSERT_EQ(t.origins.size(), 1u);
  EXPECT_EQ(t.origins[0], (std::vector<uint64_t>{3, 3, 1, 2}));  // load, exp, two stores
}

// Kernels of which a box fixes nothing print as before: their code is shared.
TEST(Lowered, Specialised) {
  TestProgram p(kChain);
  const Region& r = p.only();
  const LoweredRegion l = lower_region(*p.view, r);
  ASSERT_EQ(p.symbols(r), "N* C H*");
  auto text = [&](size_t kernel, std::vector<Extent> box) {
    loops::Program one;
    one.kernels.push_back(specialise(l, *p.view, r, {std::move(box)}).kernels.at(kernel));
    return loops::print(one);
  };
  const Extent open, three = Extent::value(3), seven = Extent::value(7);
  EXPECT_EQ(text(1, {three, seven, open}), text(1, {open, open, open}));
  EXPECT_EQ(text(0, {open, open, three}), text(0, {open, open, open}));
  EXPECT_EQ(text(0, {open, three, open}), text(0, {open, open, open}));      // N * C is one loop
  EXPECT_EQ(text(0, {Extent{1, 8}, three, open}), text(0, {open, open, open}));  // a range fixes nothing
  EXPECT_NE(text(0, {three, seven, open}).find("outer [21]"), std::string::npos) << text(0, {three, seven, open});
  EXPECT_NE(text(1, {open, open, seven}).find("inner 448"), std::string::npos) << text(1, {open, open, seven});
  EXPECT_EQ(specialise(l, *p.view, r, {{three, seven, three}}).kernels[0].sizes, l.program.kernels[0].sizes);
}

// A chain of any length is lowered in time that grows with it; no group leaves the limits.
TEST(Lowered, LongChains) {
  std::string text = "symbol N\nfunc @main(x: f32[N]) -> f32[N]\nb0:\n  R0 \"x\" = TENSOR_CREATE input 0\n";
  constexpr int kCalls = 3000;
  for (int k = 1; k <= kCalls; ++k) text += fmt::format("  R{} = TENSOR_ALLOC [N], f32, CPU(0)\n  OP_CALL Add(R{}, R0) -> R{}\n", k, k - 1, k) + (k > 1 ? fmt::format("  TENSOR_FREE R{}\n", k - 1) : "");
  TestProgram p(text + fmt::format("  RETURN R{}\n", kCalls));
  const LoweredRegion l = lower_region(*p.view, p.only());
  size_t members = 0;
  for (const RegionGroup& g : l.groups) members += g.members.size();
  EXPECT_EQ(members, static_cast<size_t>(kCalls));
  EXPECT_LT(l.groups.size(), 60u);
  EXPECT_TRUE(loops::check(l.program).ok());
}

}  // namespace
}  // namespace msvm::jit
