// From the start of a process to its end, with a small program read, verified and run once in between; beside a process that does
// nothing. Target of the difference that a user waits for: < 5 ms in all.
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/file.h"
#include "msvm/engine/engine.h"
#include "timing.h"

extern char** environ;

using namespace msvm;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(1);
}

/// Two layers with weights, a shape computed in registers and a branch.
Module small_program() {
  ModuleBuilder mb("small");
  FunctionBuilder fb = mb.function("main");
  const std::vector<float> weights(64 * 64, 0.01f);
  const int32_t w1 = mb.add_constant("w1", DType::kF32, {64, 64}, weights.data(), weights.size() * 4);
  const int32_t w2 = mb.add_constant("w2", DType::kF32, {64, 64}, weights.data(), weights.size() * 4);
  TensorType t;
  t.shape = {mb.symbol("N"), mb.dims().constant(64)};
  Reg x = fb.input("x", t);
  for (int32_t w : {w1, w2}) {
    x = fb.call_alloc("MatMul", {x, fb.constant(w)}, {}, {}, {t})[0];
    x = fb.call_alloc("Relu", {x}, {}, {}, {t})[0];
  }
  BlockId small = fb.new_block(), large = fb.new_block();
  fb.branch_if(fb.compare(CalcOp::kLt, fb.calc(CalcOp::kMul, fb.propagate(x, 0), mb.dims().constant(2)), mb.dims().constant(100)), small, large);
  fb.set_block(small);
  fb.output("y", {RegKind::kTensor, t});
  fb.ret({fb.call_alloc("Softmax", {x}, {}, Attributes{{"axis", int64_t{-1}}}, {t})[0]});
  fb.set_block(large);
  fb.trap("too large");
  if (Status s = fb.finish(); !s.ok()) stop(s.message());
  return mb.take();
}

void run_once(const std::string& path) {
  auto module = read_module_file(path);
  if (!module.ok()) stop(module.status().message());
  auto engine = Engine::create();
  if (!engine.ok()) stop(engine.status().message());
  auto program = (*engine)->load(std::move(*module));
  if (!program.ok()) stop(program.status().message());
  const int64_t shape[] = {3, 64};
  auto x = (*engine)->allocate(DType::kF32, shape);
  if (!x.ok()) stop(x.status().message());
  std::fill_n(x->meta.as<float>(), 3 * 64, 1.0f);
  auto y = (*program)->run(std::vector<Value>{*x});
  if (!y.ok()) stop(y.status().message());
}

void spawn(const char* self, const char* what, const char* path) {
  const char* argv[] = {self, what, path, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self, nullptr, nullptr, const_cast<char**>(argv), environ) != 0) stop("can't start a process");
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) stop("the process failed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--nothing") == 0) return 0;
  if (argc > 2 && std::strcmp(argv[1], "--run") == 0) {
    run_once(argv[2]);
    return 0;
  }
  const std::string path = std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/msvm_start_bench.msbc";
  if (Status s = write_module_file(small_program(), path); !s.ok()) stop(s.message());
  const double nothing = bench::median_ns(51, [&] { spawn("/proc/self/exe", "--nothing", path.c_str()); });
  const double run = bench::median_ns(51, [&] { spawn("/proc/self/exe", "--run", path.c_str()); });
  fmt::print("process that does nothing                      {:>8.2f} ms\n", nothing / 1e6);
  fmt::print("process: read, verify, run once                {:>8.2f} ms   target    5 ms\n", run / 1e6);
  std::remove(path.c_str());
}
