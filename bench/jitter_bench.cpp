// What compiling in the background does to the latency of frames: a steady rate of frames whose sizes change so often that code is made
// all the time, against the same frames with one code for all sizes. Both in one process, in turn.
//
//   jitter_bench --seconds 60                                        a program of its own
//   jitter_bench 'minilm@ids=1x{},mask=1x{},mask=1:2' --sizes 17:160 a model; {} is the size that changes
#include <CLI/CLI.hpp>
#include <thread>

#include "model.h"
#include "msvm/bytecode/builder.h"

using namespace msvm;
using namespace msvm::bench;

namespace {

struct Options {
  std::string model, sizes = "64:4096:8";
  double seconds = 60, segment = 10, fps = 30;
  int fresh_every = 13;  // frames: 2.3 a second
};

/// Elementwise chains, softmax and products over [1, 48, W].
std::shared_ptr<const VerifiedModule> chain_program() {
  ModuleBuilder mb("chain");
  FunctionBuilder fb = mb.function("main");
  const std::vector<float> weights(48 * 48, 0.02f);
  const int32_t w = mb.add_constant("w", DType::kF32, {48, 48}, weights.data(), weights.size() * sizeof(float));
  TensorType t;
  t.shape = {mb.dims().constant(1), mb.dims().constant(48), mb.symbol("W")};
  Reg x = fb.input("x", t), m = fb.constant(w);
  for (int k = 0; k < 6; ++k) {
    Reg y = fb.call_alloc("MatMul", {m, x}, {}, {}, {t})[0];
    y = fb.call_alloc("Tanh", {y}, {}, {}, {t})[0];
    y = fb.call_alloc("Add", {y, x}, {}, {}, {t})[0];
    y = fb.call_alloc("Softmax", {y}, {}, Attributes{{"axis", int64_t{-1}}}, {t})[0];
    x = fb.call_alloc("Mul", {y, x}, {}, {}, {t})[0];
  }
  fb.output("y", {RegKind::kTensor, t});
  fb.ret({x});
  if (Status s = fb.finish(); !s.ok()) stop(s);
  VerifyResult v = verify(mb.take());
  if (!v.module) stop(to_status(v.errors));
  return v.module;
}

std::vector<int64_t> parse_sizes(const std::string& text) {
  long from = 0, to = 0, step = 1;
  if (std::sscanf(text.c_str(), "%ld:%ld:%ld", &from, &to, &step) < 2 || from < 1 || to < from || step < 1)
    stop(invalid_argument(fmt::format("--sizes {}: FROM:TO or FROM:TO:STEP is expected", text)));
  std::vector<int64_t> sizes;
  for (long s = from; s <= to; s += step) sizes.push_back(s);
  // Large and small in turn, the same way each time.
  uint32_t state = 1;
  for (size_t k = sizes.size(); k > 1; --k) std::swap(sizes[k - 1], sizes[(state = state * 1664525u + 1013904223u) % k]);
  return sizes;
}

struct Mode {
  const char* name;
  std::shared_ptr<Executable> program;
  std::vector<double> ms;
  size_t frames = 0;
  double seconds = 0;
};

void run_segment(Mode& mode, const Options& o, const std::vector<std::vector<Value>>& feeds, double seconds, Progress& progress) {
  std::vector<Value> results;
  const double begin = seconds_now();
  double next = begin;
  while (next - begin < seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, next - seconds_now())));
    const auto& in = feeds[mode.frames / static_cast<size_t>(o.fresh_every) % feeds.size()];
    const double t = seconds_now();
    if (Status s = mode.program->run(in, results); !s.ok()) stop(s);
    mode.ms.push_back((seconds_now() - t) * 1e3);
    ++mode.frames;
    next += 1 / o.fps;
    progress.show(mode.frames, static_cast<size_t>(o.seconds * o.fps), mode.name);
  }
  mode.seconds += seconds_now() - begin;
}

void measure(const Options& o) {
  EngineOptions eo{.num_threads = 1};
#ifdef MSVM_COMPILER
  eo.compiler = MSVM_COMPILER;
#endif
  auto engine = must(Engine::create(eo));
  std::string step = "x=1x48x{}";
  std::shared_ptr<const VerifiedModule> module;
  if (o.model.empty()) {
    module = chain_program();
  } else {
    const size_t at = o.model.find('@');
    if (at == std::string::npos || o.model.find("{}", at) == std::string::npos) stop(invalid_argument(o.model + ": MODEL@INPUT=SIZES with {} for the size that changes is expected"));
    module = load_module(find_model(o.model.substr(0, at)), 1);
    step = o.model.substr(at + 1);
  }
  std::vector<std::vector<Value>> feeds;
  const size_t needed = static_cast<size_t>(o.seconds * o.fps / o.fresh_every) + 1;
  for (int64_t size : parse_sizes(o.sizes)) {
    if (feeds.size() == needed) break;
    std::string text = step;
    for (size_t at; (at = text.find("{}")) != std::string::npos;) text.replace(at, 2, std::to_string(size));
    feeds.push_back(feed(module->module().functions[0], text, *engine));
  }
  JitOptions on, off;
  on.disk_cache = off.disk_cache = false;
  on.jit_threshold = 1;  // every size that comes back is worth code here
  on.scd_threshold = 0;
  off.jit_level = 1;
  Mode modes[] = {{"compiling", must(engine->load(module, on)), {}}, {"not compiling", must(engine->load(module, off)), {}}};
  for (Mode& m : modes) {
    std::vector<Value> results;
    m.program->warm_up();
    for (int k = 0; k < 3; ++k)
      if (Status s = m.program->run(feeds[0], results); !s.ok()) stop(s);
  }
  engine->drain_jit();
  const int64_t before = modes[0].program->jit_view().compiled;
  {
    Progress progress;
    for (double done = 0; done < o.seconds; done += o.segment)
      for (Mode& m : modes) run_segment(m, o, feeds, std::min(o.segment, o.seconds - done), progress);
  }
  const JitView view = modes[0].program->jit_view();
  fmt::print("{} sizes, {} frames/s, {:.0f} s of each, one execution thread\n", feeds.size(), o.fps, o.seconds);
  if (feeds.size() < needed) fmt::print("(sizes come back after {} frames: more of them with --sizes)\n", feeds.size() * static_cast<size_t>(o.fresh_every));
  fmt::print("{} compilations, {:.2f} a second, {:.1f} ms each; {} failed\n", view.compiled - before, static_cast<double>(view.compiled - before) / modes[0].seconds,
             view.compiled ? view.compile_ms / static_cast<double>(view.compiled) : 0, view.failed);
  fmt::print("{:<14} {:>7} {:>9} {:>9} {:>9} {:>9}   native runs\n", "ms", "frames", "p50", "p99", "p99.9", "max");
  for (const Mode& m : modes) {
    const JitView v = m.program->jit_view();
    fmt::print("{:<14} {:>7} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}   {:.0f} %, {:.0f} % by code of their own\n", m.name, m.ms.size(), percentile(m.ms, 0.5), percentile(m.ms, 0.99), percentile(m.ms, 0.999),
               *std::max_element(m.ms.begin(), m.ms.end()), 100 * v.hit_rate(), 100 * v.specialised_hit_rate());
  }
  for (const Mode& m : modes)
    if (const double rate = static_cast<double>(m.ms.size()) / m.seconds; rate < 0.95 * o.fps) fmt::print("({}: the machine kept {:.1f} frames/s only)\n", m.name, rate);
  fmt::print("difference of p99.9: {:+.3f} ms   target < 0.8 ms\n", percentile(modes[0].ms, 0.999) - percentile(modes[1].ms, 0.999));
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Latency of frames while code is made, against the same frames without.");
  app.add_option("model", o.model, "MODEL@INPUT=SIZES,... with {} for the size that changes; default: a program of its own");
  app.add_option("--sizes", o.sizes, "FROM:TO:STEP for {}");
  app.add_option("--seconds", o.seconds, "of each of the two")->check(CLI::Range(0.5, 1e6));
  app.add_option("--segment", o.segment, "seconds of one before it is the other's turn")->check(CLI::Range(0.5, 1e6));
  app.add_option("--fps", o.fps)->check(CLI::Range(0.1, 10000.0));
  app.add_option("--fresh-every", o.fresh_every, "frames until the next size")->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  measure(o);
}
