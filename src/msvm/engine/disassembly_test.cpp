// Native code of programs for people: whichever way it came, beside calls, without kernels, while entries go.
#ifdef MSVM_COMPILER
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "msvm/base/chaos.h"
#include "msvm/engine/native_testing.h"
#include "msvm/jit/disk/test_folder.h"

namespace msvm::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using jit::Disassembly;

/// Runs until there is code for these sizes.
void settle(Engine& engine, Executable& program, const std::string& input, int runs = 16) {
  const std::vector<Value> in{tensor(engine, input)};
  for (int k = 0; k < runs; ++k) {
    ASSERT_TRUE(program.run(in).ok());
    engine.drain_jit();
  }
}

Disassembly of(const Executable& program, std::string_view entry = {}) {
  auto d = program.disassembly(-1, -1, entry);
  EXPECT_TRUE(d.ok()) << d.status().message();
  return d.ok() ? std::move(*d) : Disassembly{};
}

/// Every line of code has a line of the loop program, but for a few that the code generator moved.
void expect_lines(const Disassembly& d) {
  for (const jit::KernelCode& k : d.kernels) {
    size_t without = 0;
    for (const jit::CodeLine& l : k.lines) without += l.ir < 0;
    EXPECT_LT(without * 4, k.lines.size()) << to_text(d);
    EXPECT_EQ(k.lines.back().text, "ret");
  }
}

TEST(Disassembly, OfBothTiers) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->disassembly().status().code(), StatusCode::kNotFound);
  settle(*engine, *program, "f32[2, 4, 1000] iota");
  const Disassembly d = of(*program);
  EXPECT_EQ(d.box, "N*_H1000");
  EXPECT_EQ(d.tier, 2);
  EXPECT_FALSE(d.shared);
  EXPECT_THAT(d.region, HasSubstr("@main instructions"));
  ASSERT_EQ(d.kernels.size(), 2u);
  EXPECT_EQ(d.kernels[0].name, "mul_add");
  EXPECT_EQ(d.kernels[1].name, "softmax_sub");
  expect_lines(d);
  // Instructions: the header is of both calls, steps of their own.
  const auto ir = [&](size_t kernel, std::string_view text) {
    for (const jit::IrLine& l : d.kernels[kernel].ir)
      if (l.text.find(text) != std::string::npos) return l;
    ADD_FAILURE() << text << "\n" << to_text(d);
    return jit::IrLine{};
  };
  EXPECT_THAT(ir(0, "kernel mul_add").instructions, ElementsAre(3, 5));
  EXPECT_THAT(ir(0, " = mul ").instructions, ElementsAre(3));
  EXPECT_THAT(ir(0, " = add ").instructions, ElementsAre(5));
  EXPECT_THAT(ir(1, "reduce_max").instructions, ElementsAre(11));
  EXPECT_EQ(ir(0, " = mul ").places.size(), 1u);
  // The product is a call beside the kernels.
  ASSERT_EQ(d.calls.size(), 1u);
  EXPECT_EQ(d.calls[0].instruction, 8);
  EXPECT_EQ(d.calls[0].op, "MatMul");
  EXPECT_FALSE(d.calls[0].kernel.empty());
  // For all sizes branches remain, by a size that has a name; fixed, they are gone.
  const auto branches = [](const Disassembly& x) {
    std::string text;
    for (const jit::Finding& f : x.findings)
      if (f.kind == jit::FindingKind::kSizeBranch) text += f.text + "\n";
    return text;
  };
  EXPECT_EQ(branches(d), "");
  const Disassembly open = of(*program, "N*_H*");
  EXPECT_EQ(open.tier, 1);
  EXPECT_THAT(branches(open), HasSubstr("(H)"));
  // By name, and of a region by its number.
  EXPECT_EQ(of(*program, open.entry).box, "N*_H*");
  EXPECT_TRUE(program->disassembly(0, 0, open.entry).ok());
  const Status none = program->disassembly(0, 0, "nobody").status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr(open.entry));
  for (const auto& [function, region] : std::initializer_list<std::pair<int32_t, int32_t>>{{0, 7}, {9, -1}}) EXPECT_EQ(program->disassembly(function, region).status().code(), StatusCode::kNotFound);

  const auto j = nlohmann::json::parse(to_json(d));
  EXPECT_EQ(j["entry"], d.entry);
  EXPECT_EQ(j["kernels"][1]["lines"].size(), d.kernels[1].lines.size());
  EXPECT_EQ(j["calls"][0]["operator"], "MatMul");
  for (const auto& k : j["kernels"])
    for (const auto& l : k["lines"]) {
      ASSERT_TRUE(l["address"].get<std::string>().starts_with("0x"));
      if (!l["ir"].is_null()) { ASSERT_EQ(l["instructions"], k["ir"][l["ir"].get<size_t>()]["instructions"]); }
    }
}

TEST(Disassembly, OfSharedCode) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  // Elementwise over everything: code for settled sizes is that for all.
  constexpr const char* kChain = R"(
module "chain" version 1
symbol N, H
func @main(x: f32[N, H]) -> (y: f32[N, H])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, H], f32, CPU(0)
  OP_CALL Exp(R0) -> R1
  R2 = TENSOR_ALLOC [N, H], f32, CPU(0)
  OP_CALL Tanh(R1) -> R2
  TENSOR_FREE R1
  RETURN R2
)";
  auto engine = native_engine();
  auto one = load(*engine, kChain), two = load(*engine, kChain);
  ASSERT_TRUE(one && two);
  settle(*engine, *one, "f32[3, 100] iota");
  settle(*engine, *two, "f32[3, 100] iota");
  const Disassembly own = of(*one), shared = of(*two);
  EXPECT_TRUE(shared.shared);
  EXPECT_THAT(to_text(shared), HasSubstr("another entry's, too"));
  ASSERT_EQ(own.kernels.size(), 1u);
  ASSERT_EQ(shared.kernels.size(), 1u);
  EXPECT_EQ(own.kernels[0].lines.size(), shared.kernels[0].lines.size());
  expect_lines(shared);
}

TEST(Disassembly, OfEntriesWithoutKernels) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  constexpr const char* kProduct = R"(
module "product" version 1
symbol N
const %w f32[4, 4] = fill(0.5)
func @main(x: f32[N, 4]) -> (y: f32[N, 4])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2
  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R2, R1) -> R3
  TENSOR_FREE R2
  RETURN R3
)";
  auto engine = native_engine();
  auto program = load(*engine, kProduct);
  ASSERT_TRUE(program);
  settle(*engine, *program, "f32[3, 4] iota");
  const Disassembly d = of(*program);
  EXPECT_TRUE(d.kernels.empty());
  EXPECT_EQ(d.isa, "");
  EXPECT_EQ(d.calls.size(), 2u);
  EXPECT_THAT(to_text(d), HasSubstr("no kernels"));
  EXPECT_TRUE(nlohmann::json::parse(to_json(d))["kernels"].empty());
}

TEST(Disassembly, ReferenceKernelsAreFound) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  // The database takes every kernel of products out: the reference one serves as a fallback.
  std::string patch = R"json({"format": 1, "device": "CPU(0)", "sections": {)json", comma;
  for (const auto& [key, list] : engine->capability_db()->sections())
    if (key.starts_with("matmul")) patch += comma + "\"" + key + "\": []", comma = ", ";
  ASSERT_TRUE(engine->patch_capabilities(patch + "}}", "test").ok());
  settle(*engine, *program, "f32[2, 4, 100] iota");
  const Disassembly d = of(*program);
  ASSERT_EQ(d.calls.size(), 1u);
  ASSERT_THAT(d.calls[0].kernel, HasSubstr("ref_matmul"));
  ASSERT_FALSE(d.findings.empty());
  const jit::Finding& f = d.findings.back();
  EXPECT_EQ(f.kind, jit::FindingKind::kGenericKernel);
  EXPECT_THAT(f.text, HasSubstr("instruction 8, MatMul"));
  EXPECT_FALSE(f.mend.empty());
}

TEST(Disassembly, FromDiskAndFromBundles) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  jit::TestFolder folder;
  auto engine = [&](const char* compiler, bool disk) {
    EngineOptions o{.num_threads = 1, .jit = {.compile_timeout = 60}, .compiler = compiler, .eager_compiler = true, .code_cache = folder.path() + "/code"};
    o.jit.disk_cache = disk;
    return make_engine(o);
  };
  const std::string bundle = folder.path() + "/two.native";
  std::string compiled;
  {
    auto e = engine(MSVM_COMPILER, true);
    auto program = load(*e, kTwoGroups);
    ASSERT_TRUE(program);
    settle(*e, *program, "f32[2, 4, 100] iota");
    compiled = to_json(of(*program));
    ASSERT_TRUE(program->write_bundle(bundle).ok());
  }
  for (const bool disk : {true, false}) {
    auto e = engine(disk ? MSVM_COMPILER : "/nonexistent/msvm-cc", disk);
    if (!disk) { ASSERT_TRUE(e->load_bundle(bundle).ok()); }
    auto program = load(*e, kTwoGroups);
    ASSERT_TRUE(program);
    settle(*e, *program, "f32[2, 4, 100] iota");
    EXPECT_EQ(program->jit_view().compiled, 0);
    EXPECT_EQ(to_json(of(*program)), compiled) << (disk ? "disk" : "bundle");
  }
}

TEST(Disassembly, WhileEntriesComeAndGo) {
  auto engine = native_engine({.jit_threshold = 1, .scd_threshold = 0, .cache_bytes = 8192});
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> shown{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!stop.load()) {
        auto d = program->disassembly();
        if (!d.ok()) {
          wrong += d.status().code() != StatusCode::kNotFound;
          continue;
        }
        for (const jit::KernelCode& k : d->kernels) wrong += k.lines.empty() || k.lines.back().text != "ret";
        shown += !d->kernels.empty();
      }
    });
  std::vector<std::vector<Value>> inputs;
  for (int h = 16; h <= 20; ++h) inputs.push_back({tensor(*engine, "f32[2, 4, " + std::to_string(h) + "] iota")});
  // Until there was something to see, and some of it went, on a machine however busy.
  for (int round = 0; round < 4000 && !(round > 40 && shown > 20 && program->jit_view().evicted); ++round) {
    ASSERT_TRUE(program->run(inputs[static_cast<size_t>(round) % inputs.size()]).ok());
    if (round % 7 == 6) program->remake_code();
    if (round % 3 == 2) engine->drain_jit();
  }
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(shown.load(), 0);
}

TEST(Disassembly, OfAChildAndAtLevel0) {
  auto plain = native_engine({.jit_level = 0});
  auto interpreted = load(*plain, kTwoGroups);
  ASSERT_TRUE(interpreted);
  EXPECT_EQ(interpreted->disassembly().status().code(), StatusCode::kUnsupported);
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  settle(*engine, *program, "f32[2, 4, 100] iota", 4);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(program->disassembly().status().code() == StatusCode::kUnsupported ? 0 : 1);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace msvm::testing
#endif
