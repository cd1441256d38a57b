// What compiled loop programs look like to people: lines of the program at their instructions, findings where they are and not elsewhere.
#include "msvm/jit/asm/disassembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "msvm/jit/compiler/compile_testing.h"
#include "msvm/jit/entry_code.h"

namespace msvm::compiler {
namespace {

using jit::Disassembly;
using jit::FindingKind;
using ::testing::HasSubstr;

constexpr jit::ImageIsa kIsas[] = {jit::ImageIsa::kAvx2, jit::ImageIsa::kAvx512};

/// As if each kernel came from no call.
Disassembly disassembled(const std::string& kernels, jit::ImageIsa isa) {
  const loops::Program p = parsed(kernels);
  auto bytes = compile(p, isa);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  auto image = jit::NativeImage::load(*bytes, jit::ImageIsa::kAvx512);
  EXPECT_TRUE(image.ok()) << image.status().message();
  jit::LoweredRegion lowered;
  for (const loops::Kernel& k : p.kernels) {
    lowered.groups.emplace_back();
    size_t steps = 0;
    for (const loops::Pass& pass : k.passes) steps += pass.steps.size();
    lowered.origins.emplace_back(steps, 0);
  }
  jit::EntryCode code;
  code.image = *image;
  code.program = loops::print(p);
  code.lowered = &lowered;
  auto d = jit::disassemble(code, {});
  EXPECT_TRUE(d.ok()) << d.status().message();
  return d.ok() ? *d : Disassembly{};
}

std::vector<FindingKind> kinds(const Disassembly& d) {
  std::vector<FindingKind> found;
  for (const jit::Finding& f : d.findings) found.push_back(f.kind);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}
bool has(const Disassembly& d, FindingKind kind) {
  const auto found = kinds(d);
  return std::find(found.begin(), found.end(), kind) != found.end();
}

/// t<k> for k < count with these strides along the row, added up.
std::string sum(int count, const std::function<std::string(int)>& stride, const std::string& outer, const std::string& inner, const std::string& row) {
  std::string head = "kernel sum(", strides, steps = "  pass\n";
  for (int k = 0; k < count; ++k) {
    head += fmt::format("t{}: f32, ", k);
    strides += fmt::format("  t{} [{}{}]\n", k, row.empty() ? "" : row + ", ", stride(k));
    steps += fmt::format("    v{} = load t{} : f32\n", 2 * k, k);
    if (k) steps += fmt::format("    v{} = add v{}, v{} : f32\n", 2 * k + 1, k == 1 ? 0 : 2 * k - 1, 2 * k);
  }
  head += fmt::format("t{}: out f32; ", count);
  for (int n = 0; n < count + 2; ++n) head += fmt::format("{}n{}", n ? ", " : "", n);
  return head + ")\n  outer [" + outer + "]\n  inner " + inner + "\n" + strides + fmt::format("  t{} [{}1]\n", count, row.empty() ? "" : row + ", ") + steps + fmt::format("    store t{}, v{}\n", count, 2 * count - 1);
}

TEST(Disassembly, LinesOfTheProgram) {
  for (const jit::ImageIsa isa : kIsas) {
    const Disassembly d = disassembled(sum(2, [](int) { return "1"; }, "n1", "n0", "n0"), isa);
    ASSERT_EQ(d.kernels.size(), 1u);
    const jit::KernelCode& k = d.kernels[0];
    EXPECT_EQ(k.name, "sum");
    EXPECT_THAT(k.ir[0].text, HasSubstr("kernel sum(t0: f32"));
    std::vector<std::string> of_add;
    for (const jit::CodeLine& l : k.lines)
      if (l.ir >= 0 && k.ir[static_cast<size_t>(l.ir)].text == "    v3 = add v0, v2 : f32") of_add.push_back(l.text);
    // Four vectors at once, then the rest.
    EXPECT_GE(std::count_if(of_add.begin(), of_add.end(), [](const std::string& t) { return t.starts_with("vaddps "); }), 5) << to_text(d);
    for (const jit::CodeLine& l : k.lines)
      if (l.text.starts_with("vaddps ")) { EXPECT_EQ(k.ir[static_cast<size_t>(l.ir)].text, "    v3 = add v0, v2 : f32") << l.address; }
    EXPECT_EQ(k.lines.back().text, "ret");
    for (size_t i = 1; i < k.lines.size(); ++i) EXPECT_GT(k.lines[i].address, k.lines[i - 1].address);
  }
}

TEST(Disassembly, KernelsThatShareCodeHaveLinesOfTheirOwn) {
  const std::string one = sum(2, [](int) { return "1"; }, "", "n0", "");
  std::string other = sum(3, [](int) { return "1"; }, "", "n0", ""), renamed = one;
  renamed.replace(renamed.find("sum("), 3, "twin");
  const Disassembly d = disassembled(one + other + renamed, jit::ImageIsa::kAvx2);
  ASSERT_EQ(d.kernels.size(), 3u);
  EXPECT_EQ(d.kernels[0].lines.front().address, d.kernels[2].lines.front().address);
  EXPECT_EQ(d.kernels[2].name, "twin");
  ASSERT_EQ(d.kernels[0].lines.size(), d.kernels[2].lines.size());
  for (size_t i = 0; i < d.kernels[0].lines.size(); ++i) EXPECT_EQ(d.kernels[0].lines[i].ir, d.kernels[2].lines[i].ir);
  EXPECT_THAT(d.kernels[2].ir[0].text, HasSubstr("kernel twin"));
}

TEST(Disassembly, SymbolicMoves) {
  // More strides that only run time knows than there are registers.
  for (const jit::ImageIsa isa : kIsas) {
    const Disassembly many = disassembled(sum(16, [](int k) { return fmt::format("n{}", k + 1); }, "", "n0", ""), isa);
    EXPECT_TRUE(has(many, FindingKind::kSymbolicMoves)) << to_text(many);
    const Disassembly numbers = disassembled(sum(16, [](int k) { return fmt::format("{}", k + 2); }, "", "n0", ""), isa);
    EXPECT_FALSE(has(numbers, FindingKind::kSymbolicMoves)) << to_text(numbers);
    const Disassembly dense = disassembled(sum(3, [](int) { return "1"; }, "", "n0", ""), isa);
    EXPECT_TRUE(dense.findings.empty()) << to_text(dense);
  }
}

/// exp(x) over its row's sum.
std::string rows(const std::string& inner) {
  return "kernel rows(t0: f32, t1: out f32; n0, n1)\n  outer [n1]\n  inner " + inner + "\n  t0 [" + inner + ", 1]\n  t1 [" + inner + ", 1]\n  pass\n    v0 = load t0 : f32\n    v1 = exp v0 : f32\n    store t1, v1\n"
         "    r0 = reduce_sum v1 : f32\n  pass\n    v2 = load t1 : f32\n    v3 = div v2, r0 : f32\n    store t1, v3\n";
}

TEST(Disassembly, SizeBranches) {
  for (const jit::ImageIsa isa : kIsas) {
    // Whole rows of n0 columns: whether there are any, vectors, a rest.
    const Disassembly open = disassembled(rows("n0"), isa);
    EXPECT_TRUE(has(open, FindingKind::kSizeBranch)) << to_text(open);
    for (const jit::Finding& f : open.findings)
      if (f.kind == FindingKind::kSizeBranch) { EXPECT_TRUE(open.kernels[0].lines[static_cast<size_t>(f.line)].text.starts_with("j")) << f.text; }
    const Disassembly fixed = disassembled(rows("1024"), isa);
    EXPECT_TRUE(fixed.findings.empty()) << to_text(fixed);
  }
}

TEST(Disassembly, UnalignedRows) {
  const auto one = [](int) { return "1"; };
  const Disassembly odd = disassembled(sum(2, one, "n1", "1000", "1000"), jit::ImageIsa::kAvx512), even = disassembled(sum(2, one, "n1", "1024", "1024"), jit::ImageIsa::kAvx512);
  EXPECT_TRUE(has(odd, FindingKind::kNopsUnaligned)) << to_text(odd);
  EXPECT_TRUE(even.findings.empty()) << to_text(even);
}

TEST(Disassembly, TextAndJson) {
  const Disassembly d = disassembled(rows("n0"), jit::ImageIsa::kAvx512);
  ASSERT_FALSE(d.findings.empty());
  const std::string plain = to_text(d), coloured = to_text(d, true);
  EXPECT_THAT(plain, HasSubstr("findings\n  [0] size_branch, kernel 0: "));
  EXPECT_THAT(plain, HasSubstr("; v3 = div v2, r0 : f32\n"));
  EXPECT_THAT(plain, HasSubstr("  ; [0]\n"));
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_THAT(coloured, HasSubstr("\x1b["));
  const std::string json = to_json(d);
  EXPECT_THAT(json, HasSubstr(R"("ir":[{"text":"kernel rows()"));
  EXPECT_THAT(json, HasSubstr(R"("findings":[{"kind":"size_branch","kernel":0,"line":)"));
  EXPECT_THAT(json, HasSubstr(R"(,"instructions":[],"places":[],"finding":0})"));
}

}  // namespace
}  // namespace msvm::compiler
