// Opening the machine code of an entry: milliseconds from the request to the disassembly, its text and its JSON, by instructions.
// Target: < 300 ms for 10 000 instructions.
#include <fmt/core.h>

#include <cstdlib>

#include "msvm/bytecode/text_file.h"
#include "msvm/engine/engine.h"
#include "timing.h"

namespace {
using namespace msvm;

/// Kernels that differ, with a product between each two.
std::string program(int kernels) {
  std::string text = "module \"many\" version 1\nopset \"\" 28, \"msvm\" 1\nsymbol N, H\nconst %w f32[4, 4] = fill(0.5)\nfunc @main(x: f32[N, 4, H]) -> (y: f32[N, 4, H])\nb0:\n  R0 = TENSOR_CREATE input 0\n  R1 = TENSOR_CONST %w\n";
  int reg = 1, last = 0;
  auto call = [&](const std::string& op, const std::string& operands, const char* attributes = "") {
    ++reg;
    text += fmt::format("  R{} = TENSOR_ALLOC [N, 4, H], f32, CPU(0)\n  OP_CALL {}({}) -> R{}{}\n", reg, op, operands, reg, attributes);
    return reg;
  };
  for (int k = 0; k < kernels; ++k) {
    const int soft = call("Softmax", fmt::format("R{}", last), " {axis: -1}");
    int value = call("Sub", fmt::format("R{}, R{}", soft, last));
    for (int more = 0; more < 1 + k % 7; ++more) value = call(more % 2 ? "Exp" : "Mul", more % 2 ? fmt::format("R{}", value) : fmt::format("R{}, R{}", value, last));
    last = call("MatMul", fmt::format("R1, R{}", value));
  }
  for (int r = 2; r <= reg; ++r)
    if (r != last) text += fmt::format("  TENSOR_FREE R{}\n", r);
  return text + fmt::format("  RETURN R{}\n", last);
}

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(1);
}

}  // namespace

int main() {
  fmt::print("{:>7} {:>12} {:>9} | {:>8} {:>8} {:>8} ms\n", "kernels", "instructions", "findings", "open", "text", "JSON");
  for (const int kernels : {1, 10, 30, 60}) {
    EngineOptions options{.num_threads = 1, .compiler = MSVM_COMPILER, .eager_compiler = true};
    options.jit.disk_cache = false;
    options.jit.compile_timeout = 60;
    auto engine = Engine::create(options);
    auto module = assemble_module(program(kernels), "many.msasm", TextLines::kAsDebugInfo);
    if (!engine.ok() || !module.ok()) stop(module.ok() ? engine.status().message() : module.status().message());
    auto loaded = (*engine)->load(std::move(*module));
    if (!loaded.ok()) stop(loaded.status().message());
    (*loaded)->warm_up();
    auto d = (*loaded)->disassembly();
    if (!d.ok()) stop(d.status().message() + "\n" + to_text((*loaded)->jit_view()));
    size_t instructions = 0;
    for (const auto& k : d->kernels) instructions += k.lines.size();
    const double open = bench::median_ns(9, [&] { (void)(*loaded)->disassembly().ok(); }), text = bench::median_ns(9, [&] { (void)jit::to_text(*d).size(); }), json = bench::median_ns(9, [&] { (void)jit::to_json(*d).size(); });
    fmt::print("{:>7} {:>12} {:>9} | {:>8.2f} {:>8.2f} {:>8.2f}\n", d->kernels.size(), instructions, d->findings.size(), open * 1e-6, text * 1e-6, json * 1e-6);
  }
}
