// An optimised program gives what the given one gives: hand-written programs, those of tests/vm and tests/opt, random ones.
#include "msvm/engine/optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "msvm/base/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/program_testing.h"
#include "msvm/engine/random_network.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

std::shared_ptr<const VerifiedModule> optimized(Module m, const OptOptions& options = {}) {
  auto r = verify_and_optimize(std::move(m), options);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? *r : nullptr;
}

/// Each pass alone, and all together.
std::vector<OptOptions> all_options() {
  std::vector<OptOptions> all{{}, {.fuse = false}, {.layout = false}};
  for (const std::string& name : pass_names()) all.push_back({.passes = {name}});
  std::vector<std::string> backwards = pass_names();
  std::reverse(backwards.begin(), backwards.end());
  all.push_back({.passes = backwards});
  all.push_back({.passes = {"layout", "epilogue", "pointwise", "layout", "fold", "cse"}});
  return all;
}
std::string to_text(const OptOptions& o) {
  std::string s = o.fuse ? o.layout ? "" : "no layout" : "no fusion";
  for (const std::string& p : o.passes) s += p + " ";
  return s;
}

/// MSVM_SEEDS: more than every build's tests have time for.
unsigned seeds(unsigned usual) {
  const char* more = std::getenv("MSVM_SEEDS");
  return more ? static_cast<unsigned>(std::atoi(more)) : usual;
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/opt"))
    if (e.path().string().ends_with(".in.msasm")) out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Operators of the source that a module's calls, or all of its instructions, came from.
std::set<std::string> origins(const Module& m, bool only_calls) {
  std::set<std::string> all;
  for (const Function& f : m.functions)
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs)
        if (i.op == Opcode::kOpCall || !only_calls) all.insert(f.debug[i.debug].origins.begin(), f.debug[i.debug].origins.end());
  return all;
}

class OptimizerFiles : public ::testing::TestWithParam<std::string> {};

// Each function of tests/opt, for sizes 0 to 7 of each symbol.
TEST_P(OptimizerFiles, GiveTheSame) {
  auto text = read_text_file(GetParam());
  ASSERT_TRUE(text.ok());
  auto engine = make_engine();
  int runs = 0;
  for (const OptOptions& o : all_options()) {
    SCOPED_TRACE(to_text(o));
    AssembleResult a = assemble(*text, GetParam());
    ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
    for (size_t f = 0; f < a.module.functions.size(); ++f) ASSERT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
    auto before = optimized(a.module, {.level = 0}), after = optimized(a.module, o);
    ASSERT_TRUE(before && after);
    auto given = engine->load(before), better = engine->load(after);
    ASSERT_TRUE(given.ok() && better.ok());
    for (size_t f = 0; f < before->module().functions.size(); ++f) {
      const Function& function = before->module().functions[f];
      SCOPED_TRACE(function.name);
      std::mt19937 random(7);
      int done = 0;
      for (int round = 0; round < 60; ++round) {
        std::vector<int64_t> sizes(before->module().dims->num_symbols());
        for (int64_t& s : sizes) s = static_cast<int64_t>(random() % 8);
        std::vector<Value> in;
        for (const Param& p : function.inputs) {
          if (p.type.kind == RegKind::kI64) {
            in.emplace_back(static_cast<int64_t>(random() % 6));
            continue;
          }
          if (p.type.kind == RegKind::kBool) {
            in.emplace_back(random() % 2 == 0);
            continue;
          }
          std::vector<int64_t> shape;
          for (Dim d : p.type.tensor.shape) shape.push_back(*DimContext::evaluate(d, [&](SymbolId s) { return std::optional<int64_t>(sizes[s]); }));
          TensorValue t = random_tensor(*engine, shape, random);
          if (p.type.tensor.dtype == DType::kF64) {
            auto wide = engine->allocate(DType::kF64, shape);
            ASSERT_TRUE(wide.ok());
            for (int64_t k = 0; k < t.meta.elements(); ++k) reinterpret_cast<double*>(wide->meta.data)[k] = static_cast<double>(reinterpret_cast<float*>(t.meta.data)[k]);
            t = *wide;
          }
          in.emplace_back(std::move(t));
        }
        auto x = (*given)->run(in, static_cast<int32_t>(f)), y = (*better)->run(in, static_cast<int32_t>(f));
        if (!x.ok()) continue;  // e.g. a kernel larger than its image
        ++done;
        ASSERT_TRUE(y.ok()) << y.status().message() << disassemble(after->module());
        for (size_t k = 0; k < x->size(); ++k) ASSERT_TRUE(near((*x)[k], (*y)[k])) << "result " << k << "\n" << disassemble(after->module());
      }
      EXPECT_GT(done, 10);
      runs += done;
    }
  }
  EXPECT_GT(runs, 500);
}

INSTANTIATE_TEST_SUITE_P(Files, OptimizerFiles, ::testing::ValuesIn(files()), [](const auto& file) {
  const std::string name = std::filesystem::path(file.param).filename().string();
  return name.substr(0, name.find('.'));
});

// Every second part first: more separate windows than the verifier follows. What is written in order isn't limited.
TEST(Optimizer, ManyPartsOfAConcat) {
  auto engine = make_engine();
  for (bool in_order : {true, false}) {
    ModuleBuilder mb("parts");
    FunctionBuilder fb = mb.function("main");
    TensorType t;
    t.shape = {mb.symbol("N"), mb.dims().constant(1), mb.symbol("H"), mb.symbol("W")};
    const Reg x = fb.input("x", t);
    constexpr int kParts = 40;
    std::vector<Reg> parts(kParts);
    for (int k = 0; k < kParts; ++k) {
      const auto w = static_cast<float>(k + 1);
      const Reg weight = fb.constant(mb.add_constant("w" + std::to_string(k), DType::kF32, {1, 1, 1, 1}, &w, sizeof w));
      parts[static_cast<size_t>(in_order ? k : k < kParts / 2 ? 2 * k : 2 * k - kParts + 1)] = fb.call_alloc("Conv", {x, weight}, {}, {}, {t})[0];
    }
    TensorType joined = t;
    joined.shape[1] = mb.dims().constant(kParts);
    const Reg y = fb.call_alloc("Concat", parts, {}, {{"axis", int64_t{1}}}, {joined})[0];
    fb.output("y", {RegKind::kTensor, joined});
    fb.ret({fb.call_alloc("Relu", {y}, {}, {}, {joined})[0]});
    ASSERT_TRUE(fb.finish().ok());
    const Module m = mb.take();
    auto before = engine->load(optimized(m, {.level = 0}));
    auto better = optimized(m);
    ASSERT_TRUE(better);
    EXPECT_EQ(disassemble(better->module()).find("Concat") == std::string::npos, in_order);
    auto after = engine->load(better);
    ASSERT_TRUE(before.ok() && after.ok());
    std::mt19937 random(1);
    const std::vector<Value> in{random_tensor(*engine, {2, 1, 3, 5}, random)};
    auto a = (*before)->run(in), b = (*after)->run(in);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_TRUE(near((*a)[0], (*b)[0]));
  }
}

// What folding makes fits into some times what there is.
// Errors name instructions by where they lie in the program that runs, as its listing does, whatever the optimiser has put before them or in their place.
TEST(Optimizer, ErrorsNameThePlaceInWhatRuns) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  const auto given = verified(R"(
symbol N, M
func @main(x: f32[N, 4], i: i64[M]) -> f32[M, 4]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Mul(R0, R0) -> R2
  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Add(R2, R0) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [M, 4], f32, CPU(0)
  OP_CALL Gather(R3, R1) -> R4 {axis: 0}
  TENSOR_FREE R3
  RETURN R4
)");
  ASSERT_TRUE(given);
  for (const int level : {0, 1}) {
    auto program = engine->load(optimized(given->module(), {.level = level}));
    ASSERT_TRUE(program.ok());
    const auto& instrs = (*program)->functions()[0].blocks[0].instrs;
    const auto at = static_cast<size_t>(std::find_if(instrs.begin(), instrs.end(), [](const Instr& i) { return i.text == "Gather"; }) - instrs.begin());
    ASSERT_LT(at, instrs.size());
    const uint32_t offset = (*program)->offsets()[0][at];
    EXPECT_GT(offset, 0u);
    auto r = (*program)->run(*parse_values(*engine, "f32[2, 4] iota, i64[1] [7]"));
    ASSERT_FALSE(r.ok());
    EXPECT_TRUE(r.status().message().starts_with(fmt::format("Error at instruction {} (OP_CALL Gather), offset 0x{:x}: ", at, offset))) << r.status().message();
  }
}

TEST(Optimizer, FoldedConstantsHaveALimit) {
  std::string text = "module \"fills\" version 1\nfunc @main(x: f32[1024]) -> f32[1024]\nb0:\n  R0 = TENSOR_CREATE input 0\n";
  std::string last = "R0";
  int reg = 1;
  for (int k = 0; k < 40; ++k, reg += 3) {  // 40 tensors of 4 MiB
    text += fmt::format("  R{0} = TENSOR_ALLOC [1024, 1024], f32, CPU(0)\n  OP_CALL msvm.Fill(; 1024, 1024) -> R{0} {{value: {1}.0}}\n  R{2} = TENSOR_ALLOC [1024, 1], f32, CPU(0)\n"
                        "  OP_CALL ReduceMax(R{0}) -> R{2} {{axes: [1]}}\n  TENSOR_FREE R{0}\n  R{3} = TENSOR_ALLOC [1024, 1024], f32, CPU(0)\n  OP_CALL Add({4}, R{2}) -> R{3}\n  TENSOR_FREE R{2}\n",
                        reg, k, reg + 1, reg + 2, last);
    if (last != "R0") text += "  TENSOR_FREE " + last + "\n";
    last = fmt::format("R{}", reg + 2);
  }
  text += fmt::format("  R{0} = TENSOR_ALLOC [1024], f32, CPU(0)\n  OP_CALL ReduceMax({1}) -> R{0} {{axes: [0], keepdims: 0}}\n  TENSOR_FREE {1}\n  RETURN R{0}\n", reg, last);
  AssembleResult a = assemble(text);
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  auto better = optimized(std::move(a.module));
  ASSERT_TRUE(better);
  size_t bytes = 0;
  for (const Constant& c : better->module().constants) bytes += c.bytes;
  EXPECT_LE(bytes, size_t{32} << 20);
}

TEST(Optimizer, RandomProgramsGiveTheSame) {
  auto engine = make_engine();
  int results = 0;
  for (unsigned seed = 0; seed < seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Module m = RandomProgram(seed).build();
    const std::string text = disassemble(m);
    auto before = engine->load(optimized(m, {.level = 0}));
    auto better = optimized(m);
    ASSERT_TRUE(better) << text;
    auto after = engine->load(better);
    ASSERT_TRUE(before.ok() && after.ok());
    for (auto* e : {&*before, &*after}) (*e)->set_limits({.max_instructions = 200000});
    for (const char* x : {"f32[3, 4] iota", "f32[0, 4] []", "f32[1, 4] iota", "f32[8, 4] iota"}) {
      std::vector<Value> in{tensor(*engine, x)};
      auto a = (*before)->run(in), b = (*after)->run(in);
      ASSERT_EQ(a.ok(), b.ok()) << x << (a.ok() ? b : a).status().message() << "\n" << text << disassemble(better->module());
      if (a.ok()) {
        EXPECT_TRUE(near((*a)[0], (*b)[0])) << x << "\n" << text << disassemble(better->module());
        ++results;
      }
    }
  }
  EXPECT_GT(results, 500);
}

TEST(Optimizer, RandomNetworksGiveTheSame) {
  auto one = make_engine({.num_threads = 1}), two = make_engine({.num_threads = 2});
  const std::vector<OptOptions> options = all_options();
  int runs = 0;
  std::map<std::string, int> calls;
  for (unsigned seed = 0; seed < seeds(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomNetwork network(seed);
    const Module m = network.build();
    auto before = optimized(m, {.level = 0});
    ASSERT_TRUE(before) << disassemble(m);
    auto needed = optimized(m, {.passes = {"copies"}});
    ASSERT_TRUE(needed);
    const std::set<std::string> sources = origins(needed->module(), true);
    auto expected = one->load(before);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    for (const OptOptions& o : {OptOptions{}, options[seed % options.size()]}) {
      SCOPED_TRACE(to_text(o));
      auto better = optimized(m, o);
      ASSERT_TRUE(better) << disassemble(m);
      const std::set<std::string> named = origins(better->module(), false);  // a Concat may live on in windows
      for (const std::string& s : sources) EXPECT_TRUE(named.contains(s)) << "nothing comes from " << s << " any more";
      for (const Block& b : better->module().functions[0].blocks)
        for (const Instr& i : b.instrs) ++calls[i.op == Opcode::kTensorCopy ? "TENSOR_COPY" : i.text];
      auto found = one->load(better), threaded = two->load(better);
      ASSERT_TRUE(found.ok() && threaded.ok());
      std::mt19937 random(seed);
      const std::vector<std::vector<int64_t>> sizes{{1, 6, 5}, {2, 4, 8}, {1, 1, 1}, {3, 2, 1}, {0, 4, 4}, {2, 17, 16}};
      for (const auto& s : sizes) {
        SCOPED_TRACE("N, H, W = " + std::to_string(s[0]) + ", " + std::to_string(s[1]) + ", " + std::to_string(s[2]));
        const std::vector<Value> in{random_tensor(*one, {s[0], network.channels(), s[1], s[2]}, random), random_tensor(*one, {s[0], network.channels(), 1, 1}, random)};
        auto a = (*expected)->run(in), b = (*found)->run(in), c = (*threaded)->run(in);
        if (!a.ok()) continue;  // e.g. a window that doesn't fit
        ++runs;
        ASSERT_TRUE(b.ok()) << b.status().message() << disassemble(before->module()) << disassemble(better->module());
        ASSERT_TRUE(c.ok()) << c.status().message();
        for (size_t k = 0; k < a->size(); ++k) {
          ASSERT_TRUE(near((*a)[k], (*b)[k])) << "result " << k << "\n" << disassemble(before->module()) << disassemble(better->module());
          ASSERT_TRUE(near((*b)[k], (*c)[k], 0)) << "two threads, result " << k << "\n" << disassemble(better->module());
        }
      }
    }
  }
  EXPECT_GT(runs, 500);
  for (const char* op : {"msvm.Conv", "msvm.MatMul", "msvm.Pointwise", "LayerNormalization", "TENSOR_COPY", "Concat", "ConvTranspose"}) EXPECT_GT(calls[op], 5) << op;
}

}  // namespace
}  // namespace msvm::testing
