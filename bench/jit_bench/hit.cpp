// One program of many tiny calls, once with all of them in one region and once with a region each: the difference is what regions cost.
#include <memory>

#include "../timing.h"
#include "model.h"
#include "msvm/base/ticks.h"
#include "msvm/bytecode/builder.h"
#include "msvm/engine/executable.h"
#include "parts.h"

namespace msvm::bench {
namespace {

constexpr int kCalls = 64;
constexpr int64_t kShape[] = {1, 3, 5}, kOther[] = {1, 3, 7};

std::shared_ptr<const VerifiedModule> chain() {
  ModuleBuilder mb("hits");
  FunctionBuilder fb = mb.function("main");
  TensorType t;
  t.shape = {mb.symbol("N"), mb.symbol("H"), mb.symbol("W")};
  Reg x = fb.input("x", t);
  for (int k = 0; k < kCalls; ++k) x = fb.call_alloc("Relu", {x}, {}, {}, {t})[0];
  Reg y = fb.copy(x);
  fb.output("y", {RegKind::kTensor, t});
  fb.ret({y});
  if (Status s = fb.finish(); !s.ok()) stop(s);
  VerifyResult v = verify(mb.take());
  if (!v.module) stop(to_status(v.errors));
  return v.module;
}

/// Every `calls_each` calls are a region, each with an entry for either shape.
std::shared_ptr<const Program> with_regions(const std::shared_ptr<const VerifiedModule>& module, int calls_each) {
  auto program = must(Program::create(module));
  std::vector<int32_t> begins;
  int32_t at = 0, last = 0;
  for (const Block& b : module->module().functions[0].blocks)
    for (const Instr& i : b.instrs) {
      if (i.op == Opcode::kOpCall) begins.push_back((last = at) - 1);  // its ALLOC
      ++at;
    }
  begins.push_back(last + 1);
  std::vector<SymbolId> symbols;
  for (Dim d : module->module().functions[0].inputs[0].type.tensor.shape) symbols.push_back(d.symbol());
  std::vector<RegionSpec> specs;
  for (size_t k = 0; k + 1 < begins.size(); k += static_cast<size_t>(calls_each))
    specs.push_back({begins[k], begins[std::min(begins.size() - 1, k + static_cast<size_t>(calls_each))], symbols, {}});
  RegionTable* table = program->attach(0, must(RegionTable::create(*program, 0, std::move(specs))));
  for (size_t r = 0; r < table->regions().size(); ++r) {
    std::vector<std::shared_ptr<const RegionEntry>> entries;
    for (auto shape : {kShape, kOther}) {
      auto e = std::make_shared<RegionEntry>();
      for (int d = 0; d < 3; ++d) e->box.push_back(Extent::value(shape[d]));
      e->tier = 2;
      entries.push_back(std::move(e));
    }
    table->publish(r, std::move(entries));
  }
  return program;
}

/// The engine's own observer, of a program with one region.
class AsFirstRegion final : public jit::SessionObserver {
 public:
  AsFirstRegion(const std::shared_ptr<jit::NativeJit>& jit, const std::shared_ptr<const VerifiedModule>& module)
      : native_(jit->add(must(Program::create(module)), {})), observer_(native_->observe()) {
    native_->function_ran(0, int64_t{1} << 40);
    jit->drain();
  }
  void region_ran(int32_t function, int32_t, std::span<const int64_t> values, const RegionEntry* entry, int64_t begin, int64_t end) override {
    observer_->region_ran(function, 0, values, entry, begin, end);
  }

 private:
  std::shared_ptr<jit::NativeProgram> native_;
  std::unique_ptr<RegionObserver> observer_;
};

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds), engine_(must(Engine::create({.num_threads = 1}))), devices_({.num_threads = 1}), jit_(std::make_shared<jit::NativeJit>(jit::NativeJitOptions{.disk_cache = false})), module_(chain()) {
    for (auto shape : {kShape, kOther}) {
      TensorValue x = must(engine_->allocate(DType::kF32, std::span(shape, 3)));
      std::fill_n(x.meta.as<float>(), x.meta.elements(), 1.0f);
      inputs_.push_back({x});
    }
  }

  /// Nanoseconds for one more region, median over the pairs.
  double region_ns(bool observed, size_t shapes) {
    auto session = [&](int calls_each) {
      std::unique_ptr<jit::SessionObserver> o;
      if (observed) o = std::make_unique<AsFirstRegion>(jit_, module_);
      return std::make_unique<PooledSession>(with_regions(module_, calls_each), devices_, Limits{}, nullptr, std::move(o));
    };
    auto one = session(kCalls), each = session(1);
    std::vector<double> extra;
    for (int k = 0; k < rounds_ + 20; ++k) {
      const auto& in = inputs_[static_cast<size_t>(k) % shapes];
      const double a = run_ns(*one, in), b = run_ns(*each, in);
      if (k >= 20) extra.push_back((b - a) / (kCalls - 1));
      progress_.show(static_cast<size_t>(k), static_cast<size_t>(rounds_ + 20), "pairs of runs");
    }
    progress_.clear();
    if (one->session.counters().native_regions < rounds_ || each->session.counters().native_regions < kCalls * rounds_) stop(internal_error("regions were interpreted"));
    return median(std::move(extra));
  }

  double enter_ns() {
    auto program = with_regions(module_, kCalls);
    const RegionTable& table = *program->regions(0);
    RegionHazard hazard;
    constexpr int kTimes = 10000;
    const int64_t values[] = {kShape[0], kShape[1], kShape[2]};
    int64_t found = 0;
    const double ns = median_ns(101, [&] {
                        for (int k = 0; k < kTimes; ++k) {
                          found += holds(table.enter(0, hazard)->entries[0]->box, values);
                          hazard.snapshot.store(nullptr, std::memory_order_release);
                        }
                      }) / kTimes;
    if (found == 0) stop(internal_error("the entry doesn't hold its own sizes"));
    return ns;
  }

 private:
  double run_ns(PooledSession& s, const std::vector<Value>& in) {
    const auto begin = std::chrono::steady_clock::now();
    Status status = s.session.run(0, in, results_);
    const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    if (!status.ok()) stop(status);
    return ns;
  }

  const int rounds_;
  std::shared_ptr<Engine> engine_;
  Devices devices_;
  std::shared_ptr<jit::NativeJit> jit_;
  std::shared_ptr<const VerifiedModule> module_;
  std::vector<std::vector<Value>> inputs_;
  std::vector<Value> results_;
  Progress progress_;
};

double clock_ns() {
  constexpr int kTimes = 10000;
  int64_t sum = 0;
  const double ns = median_ns(101, [&] {
                      for (int k = 0; k < kTimes; ++k) sum += ticks();
                    }) / kTimes;
  if (sum == 0) stop(internal_error("no clock"));
  return ns;
}

}  // namespace

void measure_hits(int rounds) {
  Bench b(rounds);
  fmt::print("an exact hit: what a region adds to its calls, one thread, medians of {} pairs\n", rounds);
  auto row = [](const char* what, double ns, const char* target = "") { fmt::print("{:<64} {:>7.1f} ns  {}\n", what, ns, target); };
  row("snapshot entered and left, first box compared", b.enter_ns());
  row("dispatch: snapshot, entry, plan; nobody is told", b.region_ns(false, 1));
  row("dispatch, and the JIT is told (as in an engine)", b.region_ns(true, 1), "target   40 ns");
  row("the same with two sizes in turn", b.region_ns(true, 2));
  row("of that: a look at the clock, of which an observed run takes two", clock_ns());
}

}  // namespace msvm::bench
