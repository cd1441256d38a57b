// What cache modes do with streams of sizes: streams_bench trigger | buckets | adaptive [--quick] [--models DIR]
//   trigger   Shape Convergence Degree beside a plain counter, code for all sizes off, same budget: simulated, then with the compiler
//   buckets   entries and latency of bucket mode beside exact mode: ppocrv4_rec (width), minilm (batch, length)
//   adaptive  learnt beside hand-chosen boundaries on three distributions of widths
// Streams are seeded: two runs see the same sizes. Progress goes to stderr, tables to stdout.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "importers/onnx/import.h"
#include "msvm/bytecode/text_file.h"
#include "msvm/engine/engine.h"
#include "msvm/engine/optimizer.h"
#include "msvm/jit/trigger.h"
#include "timing.h"

using namespace msvm;

namespace {

using Sizes = std::vector<int64_t>;
using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const std::string& what) {
  fmt::print(stderr, "error: {}\n", what);
  std::exit(1);
}
template <class T> T must(Result<T> r) {
  if (!r.ok()) stop(r.status().message());
  return std::move(*r);
}

void progress(const std::string& what, size_t done, size_t all) {
  static Clock::time_point last{};
  if (!isatty(STDERR_FILENO) && done != all) return;
  if (Clock::now() - last < std::chrono::milliseconds(200) && done != all) return;
  last = Clock::now();
  fmt::print(stderr, "\r{:<48} {:>6}/{}{}", what, done, all, done == all ? "\n" : "");
  std::fflush(stderr);
}

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
double mean(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

std::shared_ptr<Engine> engine_with(JitOptions jit) {
  jit.disk_cache = false;
  EngineOptions o{.num_threads = 1, .jit = std::move(jit)};
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "msvm-cc";
  if (!std::getenv("MSVM_CC") && std::filesystem::exists(beside)) o.compiler = beside.string();
  return must(Engine::create(o));
}

// --- trigger -----------------------------------------------------------------------------------------------------------

constexpr const char* kNetwork = R"(module "stream" version 1
opset "" 28, "msvm" 1
symbol N, H, W
func @main(x: f32[N, 8, H, W], s: f32[1, 8, 1, 1], b: f32[1, 8, 1, 1]) -> f32[N, 8, H, W]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_CREATE input 2
  R3 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Mul(R0, R1) -> R3
  R4 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Add(R3, R2) -> R4
  TENSOR_FREE R3
  R5 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Sigmoid(R4) -> R5
  R6 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Mul(R4, R5) -> R6
  TENSOR_FREE R4
  TENSOR_FREE R5
  RETURN R6
)";

std::shared_ptr<const VerifiedModule> network() {
  VerifyResult v = verify(must(assemble_module(kNetwork, "stream.msasm", TextLines::kNone)));
  if (!v.module) stop(format_diagnostics(v.errors));
  return v.module;
}

/// Loaders in turn, 24 to 72 runs each: training at one resolution, with batches filled by length (17 to 32); validation at another
/// (1 to 16); scales of multi-scale training, each for ten runs (4 to 8); and a few images in sizes that never come again.
std::vector<Sizes> training_stream(size_t runs) {
  std::mt19937 random(5);
  auto between = [&](int64_t a, int64_t b) { return a + static_cast<int64_t>(random() % static_cast<uint64_t>(b - a + 1)); };
  std::vector<Sizes> out;
  for (size_t loader = 0; out.size() < runs; ++loader) {
    const int64_t length = between(24, 72);
    int64_t scale = 0;
    for (int64_t k = 0; k < length && out.size() < runs; ++k) {
      if (k % 10 == 0) scale = 16 + 4 * between(0, 3);
      if (between(1, 100) <= 4) out.push_back({1, between(10, 60), between(10, 60)});
      else if (loader % 3 == 0) out.push_back({between(17, 32), 28, 28});
      else if (loader % 3 == 1) out.push_back({between(1, 16), 32, 32});
      else out.push_back({between(4, 8), scale, scale});
    }
  }
  return out;
}

struct Rates {
  double hits = 0;
  int64_t made = 0;
  double compile_ms = 0;
};

/// Entries are there `delay` runs after they were queued; of more than `budget` the one that wasn't used for the longest time goes.
Rates simulate(const std::vector<Sizes>& stream, bool counter, size_t budget, size_t delay) {
  const auto module = network();
  const jit::FunctionView view(*module, 0);
  const jit::FunctionRegions found = jit::find_regions(view);
  jit::Trigger trigger(found.regions.at(0), view.dims(), {.plain_counter = counter});
  struct Entry {
    jit::Box box;
    size_t ready, used;
  };
  std::vector<Entry> entries;
  Rates r;
  size_t hits = 0;
  for (size_t k = 0; k < stream.size(); ++k) {
    auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.ready <= k && e.box.holds(stream[k]); });
    if (at != entries.end()) {
      ++hits;
      at->used = k;
    }
    const jit::Decision d = trigger.run(stream[k]);
    if (d.verdict != jit::Verdict::kQueued) continue;
    ++r.made;
    entries.push_back({d.box, k + delay, k + delay});
    if (entries.size() <= budget) continue;
    const auto oldest = std::min_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    trigger.drop_entry(oldest->box);
    entries.erase(oldest);
  }
  r.hits = static_cast<double>(hits) / static_cast<double>(stream.size());
  return r;
}

int64_t evictions_and_entries(const JitView& v) {
  int64_t n = v.evicted;
  for (const JitRegionView& r : v.regions)
    for (const JitEntryView& e : r.entries) n += e.tier == 2;
  return n;
}

Rates compiled(const std::vector<Sizes>& stream, bool counter, int64_t cache_bytes) {
  auto engine = engine_with({.cache_bytes = cache_bytes, .tier1 = false, .plain_counter = counter});
  auto program = must(engine->load(network()));
  for (size_t k = 0; k < stream.size(); ++k) {
    const Sizes shape{stream[k][0], 8, stream[k][1], stream[k][2]}, vector{1, 8, 1, 1};
    std::vector<Value> in{must(engine->allocate(DType::kF32, shape)), must(engine->allocate(DType::kF32, vector)), must(engine->allocate(DType::kF32, vector))};
    for (Value& v : in) {
      auto& t = std::get<TensorValue>(v).meta;
      std::fill_n(t.as<float>(), t.elements(), 0.5f);
    }
    if (auto r = program->run(in); !r.ok()) stop(r.status().message());
    if (k % 4 == 3) engine->drain_jit();  // runs of a real network are long; the compiler keeps up with them
    progress(counter ? "plain counter" : "Shape Convergence Degree", k + 1, stream.size());
  }
  engine->drain_jit();
  const JitView v = program->jit_view();
  return {v.specialised_hit_rate(), evictions_and_entries(v), v.compile_ms};
}

void trigger_tables(bool quick) {
  const auto stream = training_stream(quick ? 600 : 4000);
  constexpr size_t kBudget = 12, kDelay = 4;
  fmt::print("switching loaders, {} runs, {} entries at most\n{:<44} {:>12} {:>9} {:>12}\n", stream.size(), kBudget, "", "specialised", "compiled", "compile time");
  const Rates a = simulate(stream, true, kBudget, kDelay), b = simulate(stream, false, kBudget, kDelay);
  fmt::print("{:<44} {:>10.1f} % {:>9}\n{:<44} {:>10.1f} % {:>9} {:>+9.0f} %\n", "simulated, plain counter (3 equal runs)", 100 * a.hits, a.made, "simulated, Shape Convergence Degree", 100 * b.hits, b.made,
             100.0 * (static_cast<double>(b.made) / static_cast<double>(std::max<int64_t>(1, a.made)) - 1));
  constexpr int64_t kCodeBytes = 12 * 4096;
  const Rates c = compiled(stream, true, kCodeBytes), d = compiled(stream, false, kCodeBytes);
  fmt::print("{:<44} {:>10.1f} % {:>9} {:>9.1f} ms\n{:<44} {:>10.1f} % {:>9} {:>9.1f} ms {:>+5.0f} %\n", fmt::format("compiled, {} bytes, plain counter", kCodeBytes), 100 * c.hits, c.made, c.compile_ms,
             "compiled, Shape Convergence Degree", 100 * d.hits, d.made, d.compile_ms, 100 * (d.compile_ms / std::max(1e-9, c.compile_ms) - 1));
}

// --- models ------------------------------------------------------------------------------------------------------------

/// A model and its inputs by sizes.
struct Model {
  std::string name, path;
  std::function<std::vector<Value>(Engine&, const Sizes&)> inputs;
};

std::vector<Value> line_of_text(Engine& e, const Sizes& s) {
  TensorValue x = must(e.allocate(DType::kF32, Sizes{s[0], 3, 48, s[1]}));
  std::mt19937 random(static_cast<unsigned>(s[1]));
  for (int64_t i = 0; i < x.meta.elements(); ++i) x.meta.as<float>()[i] = static_cast<float>(random() % 2000) * 1e-3f - 1;
  return {x};
}
std::vector<Value> sentence(Engine& e, const Sizes& s) {
  std::vector<Value> out;
  std::mt19937 random(static_cast<unsigned>(s[0] * 1000 + s[1]));
  for (int k = 0; k < 2; ++k) {
    TensorValue t = must(e.allocate(DType::kI64, s));
    for (int64_t i = 0; i < t.meta.elements(); ++i) t.meta.as<int64_t>()[i] = k ? 1 : 1 + static_cast<int64_t>(random() % 30521);
    out.emplace_back(t);
  }
  return out;
}

struct Outcome {
  std::vector<double> ms;   // of the second pass
  int64_t made = 0, shared = 0, code_bytes = 0;
  double specialised = 0, compile_ms = 0;
};

struct Mode {
  std::string name;
  JitOptions jit;
};

/// The stream twice in every mode: first each size `repeats` times in a row; then timed, with the compiler idle at the start, the modes
/// in turn at each step, so that what else the machine does meets all of them.
std::vector<Outcome> run_modes(const Model& m, const std::vector<Sizes>& stream, const std::vector<Mode>& modes, int repeats) {
  struct Running {
    std::shared_ptr<Engine> engine;
    std::shared_ptr<Executable> program;
    JitView before;
  };
  const auto verified = must(verify_and_optimize(must(import_onnx_file(m.path))));
  std::vector<Running> all;
  std::vector<Outcome> out(modes.size());
  auto once = [](Running& r, const std::vector<Value>& in) {
    const auto begin = Clock::now();
    auto result = r.program->run(in);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (!result.ok()) stop(result.status().message());
    return ms;
  };
  for (const Mode& mode : modes) {
    Running& r = all.emplace_back();
    r.engine = engine_with(mode.jit);
    r.program = must(r.engine->load(verified));
    r.program->warm_up();
    for (size_t k = 0; k < stream.size(); ++k) {
      const auto in = m.inputs(*r.engine, stream[k]);
      for (int i = 0; i < repeats; ++i) once(r, in);
      r.engine->drain_jit();
      progress(fmt::format("{}, {}", m.name, mode.name), k + 1, stream.size());
    }
    r.before = r.program->jit_view();
  }
  for (size_t k = 0; k < stream.size(); ++k) {
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at = (i + k) % all.size();
      const auto in = m.inputs(*all[at].engine, stream[k]);
      std::vector<double> ms;
      for (int run = 0; run < 3; ++run) ms.push_back(once(all[at], in));
      out[at].ms.push_back(median(ms));
    }
    progress(m.name + ", timed", k + 1, stream.size());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const JitView v = all[i].program->jit_view(), &before = all[i].before;
    out[i].made = evictions_and_entries(v);
    for (const JitRegionView& r : v.regions)
      for (const JitEntryView& e : r.entries) out[i].shared += e.tier == 2 && e.shared;
    out[i].code_bytes = v.code_bytes;
    out[i].compile_ms = v.compile_ms;
    out[i].specialised = static_cast<double>(v.specialised - before.specialised) / static_cast<double>(std::max<int64_t>(1, v.runs - before.runs));
  }
  return out;
}

Mode by_hand(const Sizes& boundaries) { return {fmt::format("bucket {}", fmt::join(boundaries, ",")), {.cache_mode = CacheMode::kBucket, .bucket_boundaries = boundaries}}; }

void print_head() { fmt::print("{:<34} {:>9} {:>9} {:>9} {:>8} {:>12} {:>12} {:>10} {:>9}\n", "", "mean ms", "median", "entries", "shared", "specialised", "code bytes", "compile ms", "mean, of"); }
void print_row(const std::string& what, const Outcome& o, const Outcome& base) {
  fmt::print("{:<34} {:>9.3f} {:>9.3f} {:>9} {:>8} {:>10.1f} % {:>12} {:>10.1f} {:>9.3f}\n", what, mean(o.ms), median(o.ms), o.made, o.shared, 100 * o.specialised, o.code_bytes, o.compile_ms, mean(o.ms) / mean(base.ms));
}

void bucket_tables(const std::string& models, bool quick) {
  constexpr int kMet = 10;  // enough of the last 64 runs to make exact mode compile
  std::mt19937 random(7);
  std::vector<Sizes> widths, sentences;
  for (int i = 0; i < 200; ++i) widths.push_back({1, 64 + 4 * i});
  for (int64_t b = 1; b <= 4; ++b)
    for (int64_t s = 8; s <= 128; s += 2) sentences.push_back({b, s});
  for (auto* s : {&widths, &sentences}) {
    std::shuffle(s->begin(), s->end(), random);
    if (quick) s->resize(24);
  }
  struct Case {
    Model model;
    const std::vector<Sizes>& stream;
    Sizes boundaries;
  };
  for (const Case& c : {Case{{"ppocrv4_rec", models + "/ppocrv4_rec.onnx", line_of_text}, widths, {160, 320, 640, 1024}}, Case{{"minilm", models + "/minilm.onnx", sentence}, sentences, {4, 32, 64, 128}}}) {
    const std::vector<Mode> modes{{"exact", {}}, by_hand(c.boundaries)};
    const std::vector<Outcome> o = run_modes(c.model, c.stream, modes, kMet);
    const Outcome &exact = o[0], &bucket = o[1];
    fmt::print("{}: {} sizes, each met {} times, then timed\n", c.model.name, c.stream.size(), kMet);
    print_head();
    for (size_t i = 0; i < modes.size(); ++i) print_row(modes[i].name, o[i], exact);
    fmt::print("entries {:.4f} of exact mode's (1/16 = 0.0625), mean {:+.3f} ms, {:+.1f} %\n\n", static_cast<double>(bucket.made) / static_cast<double>(std::max<int64_t>(1, exact.made)), mean(bucket.ms) - mean(exact.ms),
               100 * (mean(bucket.ms) / mean(exact.ms) - 1));
  }
}

void adaptive_tables(const std::string& models, bool quick) {
  const size_t runs = quick ? 60 : 600;
  std::mt19937 random(11);
  std::lognormal_distribution<double> lengths(3.6, 0.5);
  std::vector<Sizes> often, words, growing;
  for (size_t k = 0; k < runs; ++k) {
    const int64_t hot[] = {40, 80, 120};
    often.push_back({1, random() % 4 ? hot[random() % 3] : 16 + static_cast<int64_t>(random() % 200)});
    words.push_back({1, std::clamp<int64_t>(static_cast<int64_t>(lengths(random)), 8, 200)});
    growing.push_back({1, k < runs / 2 ? 64 + 4 * static_cast<int64_t>(random() % 24) : 400 + 4 * static_cast<int64_t>(random() % 100)});
  }
  struct Case {
    std::string name;
    Model model;
    const std::vector<Sizes>& stream;
    std::vector<Sizes> boundaries;
  };
  const Model minilm{"minilm", models + "/minilm.onnx", sentence}, rec{"ppocrv4_rec", models + "/ppocrv4_rec.onnx", line_of_text};
  const std::vector<Sizes> for_sentences{{32, 64, 128, 256}, {64, 256}, {16, 32, 48, 64, 96, 128, 192, 256}}, for_lines{{160, 320, 640, 1024}, {320, 1024}, {96, 128, 192, 256, 384, 512, 768, 1024}};
  for (const Case& c : {Case{"a few lengths often, others at times", minilm, often, for_sentences}, Case{"lengths of sentences", minilm, words, for_sentences}, Case{"short lines, then long ones", rec, growing, for_lines}}) {
    std::vector<Mode> modes{{"code for all sizes only", {.jit_level = 1}}};
    for (const Sizes& b : c.boundaries) modes.push_back(by_hand(b));
    modes.push_back({"adaptive", {.cache_mode = CacheMode::kAdaptive}});
    const std::vector<Outcome> o = run_modes(c.model, c.stream, modes, 1);
    fmt::print("{}: {}, {} runs\n", c.model.name, c.name, c.stream.size());
    print_head();
    double best = 0;
    for (size_t i = 0; i < modes.size(); ++i) {
      print_row(modes[i].name, o[i], o[0]);
      if (i > 0 && i + 1 < modes.size()) best = best == 0 ? mean(o[i].ms) : std::min(best, mean(o[i].ms));
    }
    fmt::print("adaptive takes {:.3f} of the best by hand\n\n", mean(o.back().ms) / best);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string what, models;
  if (const char* home = std::getenv("HOME")) models = std::string(home) + "/.cache/msvm/models";
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--quick") quick = true;
    else if (a == "--models" && i + 1 < argc) models = argv[++i];
    else if (what.empty() && (a == "trigger" || a == "buckets" || a == "adaptive")) what = a;
    else what = "?";
  }
  if (what == "trigger") trigger_tables(quick);
  else if (what == "buckets") bucket_tables(models, quick);
  else if (what == "adaptive") adaptive_tables(models, quick);
  else {
    fmt::print(stderr, "usage: streams_bench trigger | buckets | adaptive [--quick] [--models DIR]\n");
    return 2;
  }
  return 0;
}
