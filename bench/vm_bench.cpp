// What an instruction costs: programs of one kind of instruction, long against short, so that entry and exit cancel.
#include <fmt/core.h>

#include <cstdlib>

#include "msvm/bytecode/builder.h"
#include "msvm/engine/engine.h"
#include "msvm/sched/scheduler.h"
#include "msvm/vm/frame.h"
#include "timing.h"

using namespace msvm;

namespace {

using Body = std::function<void(FunctionBuilder&, Reg x, int count)>;

[[noreturn]] void stop(const Status& s) {
  fmt::print(stderr, "error: {}\n", s.message());
  std::exit(1);
}

std::shared_ptr<Executable> build(Engine& engine, const Body& body, int count) {
  ModuleBuilder mb("bench");
  FunctionBuilder fb = mb.function("main");
  TensorType t;
  t.shape = {mb.symbol("N"), mb.dims().constant(16)};
  Reg x = fb.input("x", t);
  body(fb, x, count);
  Reg y = fb.copy(x);
  fb.output("y", {RegKind::kTensor, fb.tensor_type(y)});
  fb.ret({y});
  if (Status s = fb.finish(); !s.ok()) stop(s);
  auto e = engine.load(mb.take());
  if (!e.ok()) stop(e.status());
  return *e;
}

double run_ns(Executable& e, const std::vector<Value>& inputs) {
  return bench::median_ns(301, [&] {
    auto r = e.run(inputs);
    if (!r.ok()) stop(r.status());
  });
}

void report(const char* what, double ns, double target) { fmt::print("{:<48} {:>8.1f} ns   target {:>4.0f} ns\n", what, ns, target); }

void measure(Engine& engine, const char* what, double target, int per_step, const Body& body) {
  constexpr int kShort = 200, kLong = 2200;
  const int64_t shape[] = {3, 16};
  auto x = engine.allocate(DType::kF32, shape);
  if (!x.ok()) stop(x.status());
  std::fill_n(x->meta.as<float>(), 48, 1.0f);
  std::vector<Value> inputs{*x};
  auto a = build(engine, body, kShort), b = build(engine, body, kLong);
  std::vector<double> per;
  for (int i = 0; i < 7; ++i) per.push_back((run_ns(*b, inputs) - run_ns(*a, inputs)) / (kLong - kShort) / per_step);
  std::sort(per.begin(), per.end());
  report(what, per[per.size() / 2], target);
}

// A round of a loop that carries a tensor and a counter: two PHIs, an addition, a comparison, a branch and a jump.
void loop_overhead(Engine& engine) {
  ModuleBuilder mb("bench");
  FunctionBuilder fb = mb.function("main");
  TensorType t;
  t.shape = {mb.symbol("N")};
  Reg x = fb.input("x", t), steps = fb.scalar_input("n", RegKind::kI64);
  BlockId head = fb.new_block(), body = fb.new_block(), done = fb.new_block();
  fb.jump(head);
  fb.set_block(head);
  Reg i = fb.phi({RegKind::kI64, {}}), v = fb.phi({RegKind::kTensor, t});
  fb.branch_if(fb.compare(CalcOp::kLt, fb.dim(i), fb.dim(steps)), body, done);
  fb.set_block(body);
  Dim next = fb.calc(CalcOp::kAdd, fb.dim(i), fb.dims().constant(1));
  fb.jump(head);
  fb.add_phi_input(i, {0, kNoReg, fb.dims().constant(0)});
  fb.add_phi_input(i, {body, kNoReg, next});
  fb.add_phi_input(v, {0, x, {}});
  fb.add_phi_input(v, {body, v, {}});
  fb.set_block(done);
  fb.output("y", {RegKind::kTensor, t});
  fb.ret({fb.copy(v)});
  if (Status s = fb.finish(); !s.ok()) stop(s);
  auto e = engine.load(mb.take());
  if (!e.ok()) stop(e.status());
  const int64_t shape[] = {16};
  auto input = engine.allocate(DType::kF32, shape);
  if (!input.ok()) stop(input.status());
  std::fill_n(input->meta.as<float>(), 16, 1.0f);
  constexpr int64_t kRounds = 10000;
  report("loop round (2 PHIs and 4 instructions)", run_ns(**e, {*input, kRounds}) / kRounds, 6 * 20);
}

class NoMemory final : public KernelMemory {
  Status allocate_output(size_t, DType, std::span<const int64_t>) override { return internal_error("none"); }
  Result<std::byte*> scratch(int64_t) override { return internal_error("none"); }
};

// What the scheduler adds to a call whose shapes repeat: two inputs and an output of rank 4.
void scheduler_overhead() {
  WorkerPool workers(1);
  Scheduler scheduler(default_capability_db(), workers);
  auto site = scheduler.make_site(*find_op("Add"), {}, {});
  if (!site.ok()) stop(site.status());
  std::vector<float> data(3 * 4 * 5 * 6);
  TensorMeta m;
  m.rank = 4;
  m.shape = {3, 4, 5, 6};
  m.data = reinterpret_cast<std::byte*>(data.data());
  if (!set_dense_strides(m)) return;
  TensorMeta a = m, b = m, y = m;
  const TensorMeta* inputs[] = {&a, &b};
  TensorMeta* outputs[] = {&y};
  NoMemory memory;
  constexpr int kCalls = 10000;
  auto repeat = [&](int shapes) {
    return bench::median_ns(101, [&] {
             for (int k = 0; k < kCalls; ++k) {
               a.shape[0] = b.shape[0] = y.shape[0] = 3 - k % shapes;
               if (Status s = scheduler.choose(**site, {inputs, {}, outputs}, memory); !s.ok()) stop(s);
             }
           }) / kCalls;
  };
  report("scheduler, one shape", repeat(1), 80);
  report("scheduler, three shapes in turn", repeat(3), 80);
}

// A plan at the first sight of a size vector: 200 tensors of mixed sizes and lives, four sizes each.
void plan_time() {
  vm::Function f;
  std::vector<int64_t> scalars;
  unsigned state = 1;
  auto next = [&](unsigned n) { return (state = state * 1664525u + 1013904223u) >> 16 & 0x7fff ? (state >> 16) % n : 0; };
  for (int t = 0; t < 200; ++t) {
    vm::PlannedAlloc a;
    a.element_bytes = 4;
    a.begin = static_cast<int32_t>(t * 3);
    a.end = a.begin + 2 + static_cast<int32_t>(next(t % 10 == 0 ? 200 : 12));
    for (int d = 0; d < 4; ++d) {
      a.dims.push_back(static_cast<vm::Slot>(scalars.size()));
      scalars.push_back(1 + next(64));
    }
    f.planned.push_back(std::move(a));
  }
  int64_t bytes = 0;
  const double ns = bench::median_ns(301, [&] { bytes = vm::make_plan(f, scalars).bytes; });
  report("memory plan of 200 tensors", ns, 50000);
  if (bytes == 0) stop(internal_error("an empty plan"));
}

}  // namespace

int main() {
  auto engine = Engine::create({.num_threads = 1});
  if (!engine.ok()) stop(engine.status());
  Engine& e = **engine;
  fmt::print("one thread, medians; per instruction\n");
  measure(e, "SHAPE_CALC mul", 20, 1, [](FunctionBuilder& fb, Reg x, int n) {
    Dim d = fb.propagate(x, 0);
    for (int i = 0; i < n; ++i) d = fb.calc(CalcOp::kMax, d, fb.dims().constant(i % 7));
  });
  measure(e, "SHAPE_PROPAGATE", 20, 1, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.propagate(x, i % 2);
  });
  measure(e, "TENSOR_READ", 20, 1, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.read(x, {fb.dims().constant(0), fb.dims().constant(i % 16)});
  });
  measure(e, "TENSOR_VIEW slice + TENSOR_FREE", 20, 2, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.slice(x, {1}, {fb.dims().constant(i % 8)}, {fb.dims().constant(8 + i % 8)}, {1});
  });
  measure(e, "TENSOR_VIEW transpose + TENSOR_FREE", 20, 2, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.transpose(x, {1, 0});
  });
  measure(e, "TENSOR_ALLOC in the arena (+ TENSOR_FREE)", 60, 1, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.alloc(fb.tensor_type(x));
  });
  measure(e, "TENSOR_ALLOC from the pool (+ TENSOR_FREE)", 60, 1, [](FunctionBuilder& fb, Reg x, int n) {
    Reg one = fb.read(x, {fb.dims().constant(0), fb.dims().constant(0)});
    TensorType t = fb.tensor_type(x);
    t.shape[1] = fb.scalar_to_int(one);  // a size that no plan knows
    for (int i = 0; i < n; ++i) fb.alloc(t);
  });
  measure(e, "OP_CALL Relu of 48 elements, all in all", 200, 1, [](FunctionBuilder& fb, Reg x, int n) {
    for (int i = 0; i < n; ++i) fb.call_alloc("Relu", {x}, {}, {}, {fb.tensor_type(x)});
  });
  loop_overhead(e);
  scheduler_overhead();
  plan_time();
}
