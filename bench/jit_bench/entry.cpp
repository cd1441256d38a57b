// From the end of the run that asks for code to the last entry of the program, by phase. Times are those of the program's own events.
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "model.h"
#include "msvm/bytecode/builder.h"
#include "parts.h"

namespace msvm::bench {
namespace {

enum class Way { kCold, kWarm, kDisk };
constexpr std::pair<Way, const char*> kWays[] = {{Way::kCold, "cold"}, {Way::kWarm, "warm"}, {Way::kDisk, "from disk"}};

constexpr double kSurelyLong = 0.01;  // s: a run that asks for code at once

/// Seconds. `process`: starting the compiler, sending and receiving. `queue`: waiting for the JIT thread, reading from disk, mapping.
struct Times {
  bool measured = false;
  double analyse = 0, queue = 0, process = 0, phases[jit::kPhases] = {}, publish = 0, all = 0;
  int64_t compiled = 0, from_disk = 0, entries = 0, code_bytes = 0;
};

/// So that the compiler process is there, and has compiled something.
void warm_compiler(Engine& engine) {
  ModuleBuilder mb("warm");
  FunctionBuilder fb = mb.function("main");
  TensorType t;
  t.shape = {mb.symbol("N")};
  Reg x = fb.input("x", t);
  for (const char* op : {"Exp", "Neg", "Tanh"}) x = fb.call_alloc(op, {x}, {}, {}, {t})[0];
  fb.output("y", {RegKind::kTensor, t});
  fb.ret({x});
  if (Status s = fb.finish(); !s.ok()) stop(s);
  auto program = must(engine.load(mb.take()));
  program->warm_up();
  if (program->jit_view().compiled == 0) stop(internal_error("the compiler made nothing: " + to_text(program->jit_view())));
}

int64_t entries_of(const JitView& v, int tier) {
  int64_t n = 0;
  for (const JitRegionView& r : v.regions)
    for (const JitEntryView& e : r.entries) n += e.tier == tier;
  return n;
}

/// Whether every region with fused calls has an entry of the tier.
bool complete(const JitView& v, int tier) {
  for (const JitRegionView& r : v.regions)
    if (std::none_of(r.entries.begin(), r.entries.end(), [&](const JitEntryView& e) { return e.tier == tier; })) return false;
  return !v.regions.empty();
}

struct Clock {
  double loaded;  // the program's events count from here
  explicit Clock(const Executable& e) {
    const double now = seconds_now();
    loaded = now - e.jit_view().seconds;
  }
};

/// Runs frames at a rate until `done`.
void keep_running(Executable& program, const std::vector<Value>& inputs, double frames_per_second, const std::function<bool()>& done) {
  std::vector<Value> results;
  const double begin = seconds_now();
  for (double next = begin; !done();) {
    if (seconds_now() - begin > 30) stop(internal_error("no entry within 30 s: " + to_text(program.jit_view())));
    if (Status s = program.run(inputs, results); !s.ok()) stop(s);
    next += 1 / frames_per_second;
    const double now = seconds_now();
    if (next > now) std::this_thread::sleep_for(std::chrono::duration<double>(next - now));
    else next = now;
  }
}

Times since(const JitView& v, const Clock& clock, double asked, int tier, const jit::QueueView& before, const jit::QueueView& after) {
  Times t;
  t.measured = true;
  const std::string mark = fmt::format("(tier {}", tier);
  double made = 0;
  for (const JitEventView& e : v.events) {
    const double at = clock.loaded + e.seconds - asked;
    if (at < 0) continue;
    if (e.kind == JitEventKind::kAnalysed && tier == 1) t.analyse = at;
    if (e.kind == JitEventKind::kCompiled) made = at;
    if (e.kind != JitEventKind::kPatched || e.what.find(mark) == std::string::npos) continue;
    if (made > 0) t.publish += at - made;
    made = 0;
    t.all = at;
  }
  for (const JitRegionView& r : v.regions)
    for (const JitEntryView& e : r.entries)
      if (e.tier == tier && !e.shared) t.process += e.compile_ms * 1e-3;
  for (size_t p = 0; p < jit::kPhases; ++p) t.process -= t.phases[p] = after.phases[p].sum - before.phases[p].sum;
  t.process = std::max(0.0, t.process);
  t.queue = t.all - t.analyse - t.process - t.publish;
  for (double p : t.phases) t.queue -= p;
  t.queue = std::max(0.0, t.queue);
  t.compiled = v.compiled;
  t.from_disk = v.from_disk;
  t.entries = entries_of(v, tier);
  t.code_bytes = v.code_bytes;
  return t;
}

/// Both tiers of a fresh program in an engine; tier 1 alone while frames run.
std::pair<Times, Times> both_tiers(Engine& engine, const ModelCase& c, double frames_per_second) {
  JitOptions jit;
  if (frames_per_second > 0) jit.jit_level = 1;  // frames would ask for tier 2 while tier 1 is measured
  auto program = must(engine.load(c.module, jit));
  const Clock clock(*program);
  std::vector<Value> results;
  auto run = [&] {
    if (Status s = program->run(c.feeds[0], results); !s.ok()) stop(s);
    return seconds_now();
  };
  jit::QueueView before = engine.jit_queue();
  const double begin = seconds_now();
  double asked = run();
  if (asked - begin < kSurelyLong) {  // a short first run asks for nothing
    engine.drain_jit();
    if (program->jit_view().regions.empty()) asked = run();
  }
  if (frames_per_second > 0) keep_running(*program, c.feeds[0], frames_per_second, [&] { return complete(program->jit_view(), 1); });
  engine.drain_jit();
  JitView v = program->jit_view();
  std::pair<Times, Times> t{since(v, clock, asked, 1, before, engine.jit_queue()), {}};
  if (frames_per_second > 0) return t;
  for (int k = 0; k < 64 && entries_of(program->jit_view(), 2) == 0; ++k) {
    before = engine.jit_queue();
    asked = run();
    engine.drain_jit();
  }
  v = program->jit_view();
  if (entries_of(v, 2) == 0) return t;
  t.second = since(v, clock, asked, 2, before, engine.jit_queue());
  t.second.compiled -= t.first.compiled;
  t.second.from_disk -= t.first.from_disk;
  return t;
}

void print(const std::string& model, int tier, const char* way, std::vector<Times> all) {
  std::erase_if(all, [](const Times& t) { return !t.measured; });
  std::string line = fmt::format("{:<16} {:>4} {:<9}", model, tier, way);
  if (all.empty()) {
    fmt::print("{} no entry\n", line);
    return;
  }
  auto column = [&](auto get) {
    std::vector<double> v;
    for (const Times& t : all) v.push_back(get(t) * 1e3);
    line += fmt::format(" {:>8.2f}", median(std::move(v)));
  };
  column([](const Times& t) { return t.analyse; });
  column([](const Times& t) { return t.queue; });
  column([](const Times& t) { return t.process; });
  for (size_t p = 0; p < jit::kPhases; ++p) column([p](const Times& t) { return t.phases[p]; });
  column([](const Times& t) { return t.publish; });
  column([](const Times& t) { return t.all; });
  double worst = 0;
  for (const Times& t : all) worst = std::max(worst, t.all * 1e3);
  const Times& last = all.back();
  fmt::print("{} {:>8.2f}   {} compiled, {} from disk, {} entries, {} bytes\n", line, worst, last.compiled, last.from_disk, last.entries, last.code_bytes);
}

void measure(const std::string& spec, const EntryOptions& options) {
  auto loader = must(Engine::create({.num_threads = 1, .jit = {.jit_level = 0}}));
  const ModelCase c = load_case(spec, *loader);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("msvm_jit_bench.{}", ::getpid());
  Progress progress;
  for (const auto& [way, name] : kWays) {
    std::vector<Times> tier1, tier2;
    for (int k = 0; k < options.repeats; ++k) {
      progress.show(static_cast<size_t>(k), static_cast<size_t>(options.repeats), fmt::format("{} {}", c.name, name));
      EngineOptions o = jit_engine(1);
      o.jit.disk_cache = way == Way::kDisk;
      o.code_cache = folder.string();
      if (way == Way::kDisk && k == 0) {
        auto first = must(Engine::create(o));
        both_tiers(*first, c, 0);
      }
      auto engine = must(Engine::create(o));
      if (way == Way::kWarm) warm_compiler(*engine);
      const auto [one, two] = both_tiers(*engine, c, options.frames_per_second);
      tier1.push_back(one);
      tier2.push_back(two);
    }
    progress.clear();
    print(c.name, 1, name, tier1);
    if (options.frames_per_second <= 0) print(c.name, 2, name, tier2);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void measure_entries(const EntryOptions& options) {
  fmt::print("ms from the run that asks to the last entry of the program; one execution thread{}; medians of {}\n", options.frames_per_second > 0 ? fmt::format(" that runs {} frames/s until tier 1 is there", options.frames_per_second) : "",
             options.repeats);
  fmt::print("queue: with reading from disk and mapping; process: start of the compiler, to it and back; all 0: there before the run had returned\n");
  fmt::print("targets for a whole model: 237 (aim 100), from disk 20\n");
  std::string head = fmt::format("{:<16} {:>4} {:<9} {:>8} {:>8} {:>8}", "model", "tier", "code", "analyse", "queue", "process");
  for (const char* phase : {
#define MSVM_COMPILE_PHASE(name, text) text,
#include "msvm/jit/compile/phases.def"
#undef MSVM_COMPILE_PHASE
       })
    head += fmt::format(" {:>8}", phase);
  fmt::print("{} {:>8} {:>8} {:>8}\n", head, "publish", "all", "max");
  for (const std::string& spec : options.cases) measure(spec, options);
}

}  // namespace msvm::bench
