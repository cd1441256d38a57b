#include "small_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "model.h"
#include "msvm/base/ticks.h"
#include "msvm/bytecode/text.h"

namespace msvm::bench {

std::string small_network(int layers) {
  std::string text = R"(
module "small" version 1
symbol N
const %w f32[64, 64] = fill(0.01)
func @main(x: f32[N, 64]) -> (y: f32[N, 64])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
)";
  int last = 0, next = 2;
  for (int k = 0; k < layers; ++k) {
    for (const char* op : {"MatMul(R{}, R1)", "Relu(R{})", "Tanh(R{})"}) {
      text += fmt::format("  R{} = TENSOR_ALLOC [N, 64], f32, CPU(0)\n  OP_CALL {} -> R{}\n", next, fmt::format(fmt::runtime(op), last), next);
      if (last) text += fmt::format("  TENSOR_FREE R{}\n", last);
      last = next++;
    }
  }
  return text + fmt::format("  RETURN R{}\n", last);
}

void Settled::run() {
  if (Status s = program->run(inputs, results); !s.ok()) stop(s);
}

double Settled::round_ns(int runs) {
  const int64_t begin = ticks();
  for (int k = 0; k < runs; ++k) run();
  return static_cast<double>(ticks() - begin) * nanoseconds_per_tick() / runs;
}

Settled settle(const std::string& text, const EngineOptions& options, int64_t rows, std::vector<Value> inputs) {
  auto engine = must(Engine::create(options));
  AssembleResult a = assemble(text);
  if (!a.errors.empty()) stop(to_status(a.errors));
  Settled s{engine, must(engine->load(std::move(a.module))), std::move(inputs), {}};
  if (s.inputs.empty()) {
    const int64_t shape[] = {rows, 64};
    TensorValue x = must(engine->allocate(DType::kF32, shape));
    std::fill_n(x.meta.as<float>(), rows * 64, 0.5f);
    s.inputs = {x};
  }
  for (int k = 0; k < 64; ++k) {
    s.run();
    s.engine->drain_jit();
  }
  if (options.jit.jit_level != 0 && s.program->counters().native_regions == 0) stop(internal_error("the program didn't settle in native code"));
  return s;
}

}  // namespace msvm::bench
