// Bytes that the calls of a model read and write, and what its memory plan reserves: without optimisation, optimised, and with the groups
// that native code runs as one kernel. Counted, not timed: the metadata of one run.
//
//   bytes_bench 'yolo_neck@p3=1x128x40x40,p4=1x256x20x20,p5=1x512x10x10' 'ppocrv4_det@x=1x3x320x320'
#include <CLI/CLI.hpp>
#include <numeric>
#include <unordered_map>

#include "model.h"
#include "msvm/engine/executable.h"
#include "msvm/jit/lower.h"
#include "msvm/vm/decode.h"
#include "msvm/vm/inputs.h"
#include "msvm/vm/interpreter.h"

using namespace msvm;
using namespace msvm::bench;

namespace {

double bytes_of(const TensorMeta& m) { return static_cast<double>(m.elements() * dtype_bytes(m.dtype)); }

struct Moved {
  double data = 0, constants = 0;
  int64_t calls = 0;
  double all() const { return data + constants; }
};

/// Forwards; adds up what calls and copies read and write. Whoever reads a tensor reads it once, whole.
class Counting final : public Dispatcher {
 public:
  explicit Counting(Dispatcher& to) : to_(to) {}
  Result<std::unique_ptr<CallState>> prepare(const Module& m, const Function& f, const Instr& call) override { return to_.prepare(m, f, call); }
  Status dispatch(CallState& state, CallFrame& frame) override {
    Status s = to_.dispatch(state, frame);
    Moved& call = calls_[frame.instr];
    ++call.calls;
    for (size_t k = 0; k < frame.inputs.size(); ++k) {
      if (!frame.inputs[k]) continue;
      const double bytes = bytes_of(*frame.inputs[k]);
      (frame.const_inputs >> k & 1 ? call.constants : call.data) += bytes;
      if (frame.instr->uses.size() == frame.inputs.size()) registers_[frame.instr->uses[k]] = bytes;
    }
    for (size_t k = 0; k < frame.outputs.size(); ++k) {
      if (!frame.outputs[k]) continue;
      const double bytes = bytes_of(*frame.outputs[k]);
      call.data += bytes;
      if (frame.instr->outs.size() == frame.outputs.size()) registers_[frame.instr->outs[k]] = bytes;
    }
    return s;
  }
  CallReport last_report(const CallState& state) const override { return to_.last_report(state); }
  Status copy(const TensorMeta& source, const TensorMeta& destination) override {
    ++copies_.calls;
    copies_.data += bytes_of(source) + bytes_of(destination);
    return to_.copy(source, destination);
  }
  Status fetch(const TensorMeta& element, std::byte* to) override { return to_.fetch(element, to); }
  void split(int64_t count, double ns, FunctionRef<void(int64_t, int64_t)> body) override { to_.split(count, ns, body); }
  Status finish() override { return to_.finish(); }

  Moved total() const {
    Moved sum = copies_;
    for (const auto& [instr, m] : calls_) add(sum, m);
    return sum;
  }
  /// With the groups of the function's regions as one call each.
  Moved with_groups(const jit::FunctionView& view, const std::vector<jit::LoweredRegion>& regions) const {
    Moved sum = total();
    for (const jit::LoweredRegion& r : regions)
      for (size_t g = 0; g < r.groups.size(); ++g) {
        const auto last = calls_.find(&view.at(r.groups[g].members.back()));
        if (last == calls_.end()) continue;  // it never ran
        for (int32_t member : r.groups[g].members)
          if (const auto m = calls_.find(&view.at(member)); m != calls_.end()) add(sum, m->second, -1);
        Moved one = kernel(view, r.groups[g], r.program.kernels[g]);
        one.data *= static_cast<double>(last->second.calls);
        one.constants *= static_cast<double>(last->second.calls);
        one.calls = last->second.calls;
        add(sum, one);
      }
    return sum;
  }

 private:
  static void add(Moved& sum, const Moved& m, int sign = 1) {
    sum.data += sign * m.data;
    sum.constants += sign * m.constants;
    sum.calls += sign * m.calls;
  }
  Moved kernel(const jit::FunctionView& view, const RegionGroup& group, const loops::Kernel& kernel) const {
    std::vector<uint8_t> loaded(kernel.tensors.size()), stored(kernel.tensors.size());
    for (const loops::Pass& p : kernel.passes)
      for (const loops::Step& s : p.steps) {
        if (s.op == loops::Op::kLoad) loaded[static_cast<size_t>(s.tensor)] = 1;
        if (s.op == loops::Op::kStore) stored[static_cast<size_t>(s.tensor)] = 1;
      }
    Moved m;
    for (size_t t = 0; t < kernel.tensors.size(); ++t) {
      const Reg r = group.pointers[t];
      const auto bytes = registers_.find(r);
      if (bytes == registers_.end()) stop(internal_error(fmt::format("{} of a group was in no call", view.name(r))));
      // What the kernel itself stored earlier in the row is read from the cache.
      if (loaded[t] && !stored[t]) (view.constant[static_cast<size_t>(r)] ? m.constants : m.data) += bytes->second;
      if (stored[t]) m.data += bytes->second;
    }
    return m;
  }

  Dispatcher& to_;
  std::unordered_map<const Instr*, Moved> calls_;
  std::unordered_map<Reg, double> registers_;
  Moved copies_;
};

/// Bytes of planned tensors: a buffer each, the plan's arena, that of mem_optimize, the most that live at once.
struct Memory {
  int64_t each = 0, arena = 0, thorough = 0, live = 0;
};

Memory plan_memory(const Module& module, const vm::Function& f, std::span<const Value> inputs) {
  std::vector<int64_t> scalars = f.initial_scalars;
  if (Status s = vm::bind_inputs(module, f, inputs, scalars.data()); !s.ok()) stop(s);
  const vm::Plan plan = vm::make_plan(f, scalars);
  Memory m;
  m.arena = plan.bytes;
  m.thorough = vm::make_plan(f, scalars, true).bytes;
  std::vector<size_t> first(f.planned.size());
  std::iota(first.begin(), first.end(), size_t{0});
  std::vector<std::pair<int32_t, int64_t>> changes;  // position, bytes
  std::vector<int32_t> ends(f.planned.size());
  for (size_t i = 0; i < f.planned.size(); ++i) {
    ends[i] = f.planned[i].end;
    if (plan.sizes[i] <= 0) continue;
    m.each += plan.sizes[i];
    if (plan.in_place[i]) {
      first[i] = first[static_cast<size_t>(f.planned[i].over)];
      ends[first[i]] = std::max(ends[first[i]], ends[i]);
    }
  }
  for (size_t i = 0; i < f.planned.size(); ++i) {
    if (plan.sizes[i] <= 0 || plan.in_place[i]) continue;
    changes.emplace_back(f.planned[i].begin, plan.sizes[i]);
    changes.emplace_back(ends[i] + 1, -plan.sizes[i]);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  for (const auto& [at, bytes] : changes) m.live = std::max(m.live, now += bytes);
  return m;
}

struct Row {
  std::string what;
  Moved moved;
  Memory memory;
};

std::vector<Row> count(const std::string& spec, int level, Engine& engine) {
  const ModelCase c = load_case(spec, engine, level);
  Devices devices({.num_threads = engine.workers().threads()});
  PoolAllocator allocator(devices);
  SessionDispatcher dispatcher(devices);
  auto program = must(Program::create(c.module));
  std::vector<Row> rows;
  for (size_t k = 0; k < c.feeds.size(); ++k) {
    Counting counting(dispatcher);
    Session session(program, counting, allocator);
    std::vector<Value> results;
    if (Status s = session.run(0, c.feeds[k], results); !s.ok()) stop(s);
    const vm::Function& plain = program->impl().functions[0];
    rows.push_back({level ? "optimised" : "as imported", counting.total(), plan_memory(c.module->module(), plain, c.feeds[k])});
    if (!level) continue;
    const jit::FunctionView view(*c.module, 0);
    const jit::FunctionRegions found = jit::find_regions(view);
    std::vector<jit::LoweredRegion> lowered;
    std::vector<RegionSpec> specs;
    for (const jit::Region& r : found.regions) {
      lowered.push_back(jit::lower_region(view, r));
      specs.push_back({r.first(), exit_of(view, r), r.symbols, lowered.back().groups});
    }
    auto table = must(RegionTable::create(*program, 0, std::move(specs)));
    rows.push_back({"with native groups", counting.with_groups(view, lowered), plan_memory(c.module->module(), table->code(), c.feeds[k])});
  }
  return rows;
}

double change(double now, double before) { return before > 0 ? 100 * (now / before - 1) : 0; }

void measure(const std::string& spec, Engine& engine) {
  const ModelCase c = load_case(spec, engine, 0);
  const std::vector<Row> base = count(spec, 0, engine), opt = count(spec, 1, engine);
  constexpr double kMiB = 1024 * 1024;
  for (size_t k = 0; k < c.steps.size(); ++k) {
    fmt::print("\n{} {}\n", c.name, c.steps[k]);
    fmt::print("{:<20} {:>6} {:>10} {:>10} {:>8} {:>8}   {:>10} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8}\n", "", "calls", "data MiB", "const MiB", "data", "all", "each MiB", "arena", "optimize", "live", "frag", "each", "frag");
    for (const Row* r : {&base[k], &opt[2 * k], &opt[2 * k + 1]}) {
      const Memory& m = r->memory;
      const double each = 1 - static_cast<double>(m.live) / static_cast<double>(std::max<int64_t>(1, m.each)), arena = 1 - static_cast<double>(m.live) / static_cast<double>(std::max<int64_t>(1, m.arena));
      fmt::print("{:<20} {:>6} {:>10.2f} {:>10.2f} {:>+7.1f}% {:>+7.1f}%   {:>10.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>6.1f}% {:>6.1f}% {:>+7.1f}%\n", r->what, r->moved.calls, r->moved.data / kMiB, r->moved.constants / kMiB,
                 change(r->moved.data, base[k].moved.data), change(r->moved.all(), base[k].moved.all()), static_cast<double>(m.each) / kMiB, static_cast<double>(m.arena) / kMiB, static_cast<double>(m.thorough) / kMiB, static_cast<double>(m.live) / kMiB,
                 100 * arena, 100 * each, change(arena, each));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases;
  CLI::App app("Bytes that calls read and write, and what memory plans reserve.");
  app.add_option("model", cases, "MODEL@NAME=SIZES,...;... (bench/README.md)")->required();
  CLI11_PARSE(app, argc, argv);
  auto engine = must(Engine::create({.num_threads = 1, .jit = {.jit_level = 0}}));
  fmt::print("bytes moved: read and written by every call of one run, each tensor once a call; data, and data with constants, against the model as imported (target -37 %)\n");
  fmt::print("memory: a buffer for each tensor, the plan's arena, that with mem_optimize, the most that lives at once; fragmentation (1 - live / reserved) of the arena, of a buffer each, change (target -63 %)\n");
  for (const std::string& spec : cases) measure(spec, *engine);
}
