// How long verify() takes: a straight line of calls, branches that meet in PHIs, a loop that fills a tensor, and shapes that
// need run-time checks. Usage: verify_bench [instructions] [repetitions]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/file.h"
#include "msvm/verify/verify.h"

namespace {

using namespace msvm;

TensorType f32(std::vector<Dim> shape) { return {.shape = std::move(shape)}; }

// Conv, add, relu, resize by computed sizes, concat by windows.
Module network(int instructions) {
  ModuleBuilder mb("bench");
  DimContext& d = mb.dims();
  const Dim n = mb.symbol(SymbolInfo{.name = "N", .min = 1, .max = 64}), c = d.constant(64);
  const Dim h0 = mb.symbol(SymbolInfo{.name = "H", .min = 32, .divisor = 32}), w0 = mb.symbol(SymbolInfo{.name = "W", .min = 32, .divisor = 32});
  FunctionBuilder fb = mb.function("forward");
  const std::vector<float> weights(64 * 64 * 9, 0.f);
  const int32_t w = mb.add_constant("w", DType::kF32, {64, 64, 3, 3}, weights.data(), weights.size() * 4);
  Reg x = fb.input("x", f32({n, c, h0, w0}));
  const Reg k = fb.constant(w);
  int count = 4;
  Attributes pads{{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  while (count < instructions) {
    const Dim h = fb.propagate(x, 2), v = fb.propagate(x, 3);
    const TensorType same = f32({n, c, h, v});
    const Reg a = fb.call_alloc("Conv", {x, k}, {}, pads, {same})[0];
    const Reg b = fb.call_alloc("Relu", {a}, {}, {}, {same})[0];
    const Reg s = fb.call_alloc("Add", {b, x}, {}, {}, {same})[0];
    const Reg joined = fb.alloc(f32({n, d.constant(128), h, v}));
    fb.copy_into(s, fb.window(joined, 1, d.constant(0), c));
    fb.copy_into(b, fb.window(joined, 1, c, d.constant(128)));
    fb.call_alloc("Relu", {joined}, {}, {}, {f32({n, d.constant(128), h, v})});
    const Dim h2 = fb.calc(CalcOp::kMul, h, d.constant(2)), v2 = fb.calc(CalcOp::kMul, v, d.constant(2));
    const Reg up = fb.call_alloc("Resize", {s, kNoReg, kNoReg}, {h2, v2}, {{"axes", std::vector<int64_t>{2, 3}}, {"mode", std::string("nearest")}}, {f32({n, c, h2, v2})})[0];
    const Reg part = fb.slice(up, {2, 3}, {d.constant(0), d.constant(0)}, {h, v}, {1, 1});
    x = fb.copy(part);
    count += 31;
  }
  fb.output("y", {RegKind::kTensor, f32({n, c, h0, w0})});
  fb.ret({x});
  if (!fb.finish().ok()) std::abort();
  return mb.take();
}

Module branches(int instructions) {
  ModuleBuilder mb("branches");
  const Dim n = mb.symbol("N");
  FunctionBuilder fb = mb.function("forward");
  Reg x = fb.input("x", f32({n}));
  const Reg flag = fb.scalar_input("flag", RegKind::kBool);
  for (int count = 4; count < instructions; count += 11) {
    const BlockId a = fb.new_block(), b = fb.new_block(), join = fb.new_block();
    fb.branch_if(flag, a, b);
    fb.set_block(a);
    const Reg u = fb.call_alloc("Relu", {x}, {}, {}, {f32({n})})[0];
    fb.jump(join);
    fb.set_block(b);
    const Reg v = fb.call_alloc("Exp", {x}, {}, {}, {f32({n})})[0];
    fb.jump(join);
    fb.set_block(join);
    x = fb.phi({RegKind::kTensor, f32({mb.fresh_symbol("m")})});
    fb.add_phi_input(x, {a, u, {}});
    fb.add_phi_input(x, {b, v, {}});
    x = fb.narrow(x, f32({n}));
  }
  fb.output("y", {RegKind::kTensor, f32({n})});
  fb.ret({x});
  if (!fb.finish().ok()) std::abort();
  return mb.take();
}

// Sizes nobody can relate: each call needs checks while it runs.
Module unknown(int instructions) {
  ModuleBuilder mb("unknown");
  FunctionBuilder fb = mb.function("forward");
  Reg x = fb.input("x", f32({mb.symbol("A")}));
  for (int count = 3; count < instructions; count += 6) {
    const Reg found = fb.call_new("NonZero", {x}, {}, {}, {TensorType{.dtype = DType::kI64, .shape = {mb.dims().constant(1), mb.fresh_symbol("k")}}})[0];
    const Dim size = fb.propagate(found, 1);
    x = fb.call_alloc("Add", {x, x}, {}, {}, {f32({size})})[0];
  }
  fb.output("y", {RegKind::kTensor, f32({mb.fresh_symbol("o")})});
  fb.ret({x});
  if (!fb.finish().ok()) std::abort();
  return mb.take();
}

void measure(const char* name, Module (*make)(int), int instructions, int repetitions) {
  std::vector<double> ms;
  size_t count = 0, checks = 0, proved = 0;
  for (int r = 0; r < repetitions; ++r) {
    Module m = make(instructions);
    assign_offsets(m);
    count = 0;
    for (const Function& f : m.functions)
      for (const Block& b : f.blocks) count += b.instrs.size();
    const auto start = std::chrono::steady_clock::now();
    VerifyResult v = verify(std::move(m));
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    if (!v.module) {
      fmt::print("{}\n", to_status(v.errors).message().substr(0, 2000));
      std::exit(1);
    }
    checks = v.module->facts(0).checks.size();
    proved = v.module->facts(0).proved;
  }
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<10} {:>7} instructions: median {:6.2f} ms, best {:6.2f} ms, {:5.2f} us per instruction; {} proved, {} run-time checks\n", name, count, ms[ms.size() / 2],
             ms[0], 1e3 * ms[ms.size() / 2] / static_cast<double>(count), proved, checks);
}

}  // namespace

int main(int argc, char** argv) {
  const int instructions = argc > 1 ? std::atoi(argv[1]) : 10000, repetitions = argc > 2 ? std::atoi(argv[2]) : 21;
  measure("network", network, instructions, repetitions);
  measure("branches", branches, instructions, repetitions);
  measure("unknown", unknown, instructions, repetitions);
}
