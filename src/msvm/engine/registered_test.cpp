// Operators that the host registers, msvm.Print, and runs that are stopped, in whole programs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "msvm/bytecode/text_file.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"
#include "msvm/kernels/operator_c.h"
#include "msvm/kernels/print.h"
#include "msvm/kernels/registered.h"

namespace msvm::testing {
namespace {

using ::testing::HasSubstr;

/// What it does is a function.
class Kernel final : public OperatorKernel {
 public:
  explicit Kernel(std::function<Status(KernelCall&)> run) : run_(std::move(run)) {}
  Status run(KernelCall& call) const override { return run_(call); }

 private:
  std::function<Status(KernelCall&)> run_;
};
OpSchema row(std::string_view name) { return {.name = name, .inputs = {{"x", kFloats, 'T'}}, .outputs = {{"y", 'T'}}}; }
void add(std::string_view name, std::function<Status(KernelCall&)> run, RegisteredTraits traits = {}) {
  ASSERT_TRUE(register_operator(row(name), std::move(traits), std::make_shared<Kernel>(std::move(run)), true).ok());
}
Status plus(KernelCall& call, float what) {
  MSVM_RETURN_IF_ERROR(provide_output(call, 0, DType::kF32, call.inputs[0]->dims()));
  for (int64_t i = 0; i < call.inputs[0]->elements(); ++i) call.outputs[0]->as<float>()[i] = call.inputs[0]->as<float>()[i] + what;
  return {};
}
Status same_shape(InferContext& c) {
  c.set_shape(0, c.input(0).shape);
  return {};
}

constexpr const char* kCall = R"(
module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL engine_test.f(R0) -> R1
  RETURN R1
)";
constexpr const char* kNew = R"(
module "m" version 1
symbol N, M
func @f(x: f32[N]) -> f32[M]
b0:
  R0 = TENSOR_CREATE input 0
  OP_CALL engine_test.f(R0) -> new R1: f32[M]
  RETURN R1
)";

std::string run(Executable& program, Engine& engine, std::string_view x) {
  const std::vector<Value> inputs{tensor(engine, x)};
  auto r = program.run(inputs);
  return r.ok() ? to_text(*r) : r.status().message();
}

TEST(RegisteredOperators, RunWithAndWithoutAShapeFunction) {
  auto engine = make_engine();
  for (bool shape : {false, true}) {
    add("engine_test.f", [](KernelCall& c) { return plus(c, 1); }, {.shape = shape ? ShapeFn(same_shape) : ShapeFn()});
    auto program = load(*engine, kCall);
    EXPECT_EQ(run(*program, *engine, "f32[3] iota"), "f32[3] [1, 2, 3]");
    EXPECT_EQ(run(*program, *engine, "f32[0] []"), "f32[0] []");
  }
}

TEST(RegisteredOperators, ProgramsKeepWhatTheyHad) {
  auto engine = make_engine();
  add("engine_test.f", [](KernelCall& c) { return plus(c, 1); });
  auto before = load(*engine, kCall);
  auto verified_before = verified(kCall);
  add("engine_test.f", [](KernelCall& c) { return plus(c, 2); });
  auto after = load(*engine, kCall);
  auto between = engine->load(verified_before);
  ASSERT_TRUE(between.ok());
  EXPECT_EQ(run(*before, *engine, "f32[1] [0]"), "f32[1] [1]");
  EXPECT_EQ(run(**between, *engine, "f32[1] [0]"), "f32[1] [1]");
  EXPECT_EQ(run(*after, *engine, "f32[1] [0]"), "f32[1] [2]");
}

TEST(RegisteredOperators, OutputsAreCompared) {
  auto engine = make_engine();
  add("engine_test.f", [](KernelCall& c) { return provide_output(c, 0, DType::kF32, std::array<int64_t, 1>{2}); });
  EXPECT_THAT(run(*load(*engine, kCall), *engine, "f32[3] iota"), HasSubstr("output 0: expected f32[3], the kernel gave f32[2]"));
  add("engine_test.f", [](KernelCall& c) { return provide_output(c, 0, DType::kF64, c.inputs[0]->dims()); });
  EXPECT_THAT(run(*load(*engine, kNew), *engine, "f32[3] iota"), HasSubstr("output 0: expected f32, the kernel gave f64[3]"));
  add("engine_test.f", [](KernelCall& c) { return provide_output(c, 0, DType::kF32, std::array<int64_t, 2>{1, 1}); });
  EXPECT_THAT(run(*load(*engine, kNew), *engine, "f32[3] iota"), HasSubstr("found f32[1, 1], expected f32[M]"));
  add("engine_test.f", [](KernelCall&) { return Status(); });
  EXPECT_THAT(run(*load(*engine, kNew), *engine, "f32[3] iota"), HasSubstr("gave no output 0"));
  add("engine_test.f", [](KernelCall&) { return out_of_range("no luck"); });
  EXPECT_THAT(run(*load(*engine, kNew), *engine, "f32[3] iota"), HasSubstr("no luck"));
}

TEST(RegisteredOperators, AnUnknownNameIsNamedAndHowToMendIt) {
  const std::string text = [] {
    std::string t = kCall;
    return t.replace(t.find("engine_test.f"), 13, "engine_test.nobody");
  }();
  auto module = assemble_module(text, "test", TextLines::kNone);
  ASSERT_TRUE(module.ok());
  VerifyResult v = verify(std::move(*module));
  ASSERT_EQ(v.errors.size(), 1u);
  EXPECT_THAT(to_status(v.errors).message(), ::testing::AllOf(HasSubstr("there is no operator engine_test.nobody"), HasSubstr("register it before the program is loaded")));
}

TEST(RegisteredOperators, OnADeviceTheHostServes) {
  auto engine = make_engine({.num_threads = 1, .simulated_devices = 1});
  std::atomic<int> elsewhere{0};
  const auto here = std::this_thread::get_id();
  add("engine_test.f", [&](KernelCall& c) {
    elsewhere += std::this_thread::get_id() != here;
    return plus(c, 1);
  });
  auto program = load(*engine, R"(
module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, sim(0)
  TENSOR_COPY R0 -> R1
  R2 = TENSOR_ALLOC [N], f32, sim(0)
  OP_CALL engine_test.f(R1) -> R2
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R2 -> R3
  TENSOR_FREE R2
  RETURN R3
)");
  EXPECT_EQ(run(*program, *engine, "f32[3] iota"), "f32[3] [1, 2, 3]");
  EXPECT_EQ(elsewhere, 0);
}

int scale(void* state, const msvm_call* c) {
  double k = 1;
  const char* mode = "";
  c->float_attribute(c, "k", &k);
  if (c->string_attribute(c, "mode", &mode) && std::strcmp(mode, "fail") == 0) {
    c->set_error(c, "asked to fail");
    return 1;
  }
  const msvm_tensor *x = &c->inputs[0], *y = &c->outputs[0];
  if (y->rank < 0)
    if (int failed = c->allocate_output(c, 0, x->rank, x->shape)) return failed;
  for (int64_t i = 0; i < x->shape[0]; ++i) static_cast<float*>(y->data)[i * y->strides[0]] = static_cast<float>(k) * static_cast<const float*>(x->data)[i * x->strides[0]];
  ++*static_cast<int*>(state);
  return 0;
}

TEST(RegisteredOperators, InC) {
  auto engine = make_engine();
  static int runs = 0, freed = 0;
  char error[64];
  msvm_operator d{"engine_test.scale", 1, 1, 1, 1, 0, 0, 0, scale, &runs, [](void*) { ++freed; }};
  ASSERT_EQ(msvm_register_operator(&d, 0, error, sizeof error), 0) << error;
  EXPECT_EQ(msvm_register_operator(&d, 0, error, sizeof error), 0) << "the same again";
  EXPECT_EQ(freed, 0);
  msvm_operator other = d;
  other.state = &freed;
  EXPECT_NE(msvm_register_operator(&other, 0, error, sizeof error), 0);
  EXPECT_EQ(std::string(error), std::string("there is an operator engine_test.scale already: give it another name, or replace it").substr(0, 63)) << "cut to the room there is";
  auto text = [](const char* attrs, const char* destination) {
    return fmt::format("module \"m\" version 1\nsymbol N\nfunc @f(x: f32[N]) -> f32[N]\nb0:\n  R0 = TENSOR_CREATE input 0\n{}  OP_CALL engine_test.scale(R0) -> {} {}\n  RETURN R1\n",
                       *destination == 'n' ? "" : "  R1 = TENSOR_ALLOC [N], f32, CPU(0)\n", destination, attrs);
  };
  EXPECT_EQ(run(*load(*engine, text("{k: 3.0}", "R1")), *engine, "f32[3] iota"), "f32[3] [0, 3, 6]");
  EXPECT_EQ(run(*load(*engine, text("{k: 3.0}", "new R1: f32[N]")), *engine, "f32[3] iota"), "f32[3] [0, 3, 6]");
  EXPECT_THAT(run(*load(*engine, text("{mode: \"fail\"}", "R1")), *engine, "f32[3] iota"), HasSubstr("engine_test.scale: asked to fail"));
  EXPECT_EQ(runs, 2);
  d.state = &error;
  ASSERT_EQ(msvm_register_operator(&d, 1, nullptr, 0), 0);
  EXPECT_EQ(freed, 1) << "no program holds the first one any more";
}

class Print : public ::testing::Test {
 protected:
  Print() {
    set_print_sink([this](const PrintCall& c) {
      printed += msvm::to_text(c);
      return fails ? Status(StatusCode::kIo, "the sink is full") : Status();
    });
  }
  ~Print() override { set_print_sink(nullptr); }
  std::string printed;
  bool fails = false;
};

constexpr const char* kPrints = R"(
module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  OP_CALL msvm.Print(R0; N) {format: "x = {0}, {1:>3} of them\n"}
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  OP_CALL msvm.Print() {format: "same\n"}
  OP_CALL msvm.Print() {format: "same\n"}
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Neg(R1) -> R2
  OP_CALL msvm.Print(R1) {format: "{{{0}}}\n"}
  TENSOR_FREE R1
  RETURN R2
)";

TEST_F(Print, InTheOrderOfTheProgramWhateverIsOptimised) {
  auto engine = make_engine();
  for (int level : {0, 1}) {
    Module m = verified(kPrints)->module();
    auto better = verify_and_optimize(std::move(m), {.level = level});
    ASSERT_TRUE(better.ok()) << better.status().message();
    auto program = engine->load(*better);
    for (int k = 0; k < 3; ++k) {
      printed.clear();
      EXPECT_EQ(run(**program, *engine, "f32[2] [-1, 1.5]"), "f32[2] [-0, -1.5]");
      EXPECT_EQ(printed, "x = [-1, 1.5], 2 of them\nsame\nsame\n{[0, 1.5]}\n") << level;
    }
  }
}

TEST_F(Print, ASinkThatFailsEndsTheRun) {
  auto engine = make_engine();
  auto program = load(*engine, kPrints);
  fails = true;
  EXPECT_THAT(run(*program, *engine, "f32[1] [1]"), HasSubstr("the sink is full"));
  fails = false;
  EXPECT_EQ(run(*program, *engine, "f32[1] [1]"), "f32[1] [-1]");
}

TEST_F(Print, TextOfTensors) {
  auto engine = make_engine();
  auto text = [&](std::string_view value) {
    const Value v = tensor(*engine, value);
    const TensorMeta* m = &std::get<TensorValue>(v).meta;
    return msvm::to_text(PrintCall{"{0}", {&m, 1}, {}});
  };
  EXPECT_EQ(text("f64[2, 2] [1, 2, 3, 4]"), "[[1, 2], [3, 4]]");
  EXPECT_EQ(text("i8[2] [-1, 2]"), "[-1, 2]");
  EXPECT_EQ(text("bool[2] [true, false]"), "[true, false]");
  EXPECT_EQ(text("f32[2, 0] []"), "[[], []]");
  EXPECT_EQ(text("f32[1001] iota"), "f32[1001]");
}

TEST(RunControlTest, StopsOneRunAndNoOther) {
  auto engine = make_engine();
  auto program = load(*engine, kForever);
  const std::vector<Value> x{tensor(*engine, "f32[4] iota")};
  RunControl first, second;
  std::atomic<bool> first_done{false}, second_done{false};
  Status a, b;
  std::thread t1([&] {
    std::vector<Value> results;
    a = program->run(x, results, 0, &first);
    first_done = true;
  });
  std::thread t2([&] {
    std::vector<Value> results;
    b = program->run(x, results, 0, &second);
    second_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  first.stop();
  t1.join();
  EXPECT_EQ(a.code(), StatusCode::kCancelled);
  EXPECT_FALSE(second_done);
  second.stop();
  t2.join();
  EXPECT_EQ(b.code(), StatusCode::kCancelled);
  EXPECT_EQ(RunControl::current(), nullptr);
  RunControl stopped;
  stopped.stop();
  std::vector<Value> results;
  EXPECT_EQ(program->run(x, results, 0, &stopped).code(), StatusCode::kCancelled);
  EXPECT_TRUE(results.empty());
}

/// Stops at the n-th look.
class Looks final : public RunControl {
 public:
  explicit Looks(int last) : last_(last) { look_from(0); }
  int looks = 0;

 protected:
  int64_t look() override {
    if (++looks == last_) stop();
    return 0;
  }

 private:
  const int last_;
};

TEST(RunControlTest, LongKernelsLookInTheirChunks) {
  auto engine = make_engine({.num_threads = 2});
  auto program = load(*engine, R"(
module "m" version 1
symbol N
func @f(x: f32[N, N]) -> f32[N, N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, N], f32, CPU(0)
  OP_CALL MatMul(R0, R0) -> R1
  RETURN R1
)");
  const std::vector<Value> x{tensor(*engine, "f32[768, 768] iota")};
  std::vector<Value> results;
  Looks all(-1);
  ASSERT_TRUE(program->run(x, results, 0, &all).ok());
  EXPECT_GT(all.looks, 3);
  Looks some(2);
  EXPECT_EQ(program->run(x, results, 0, &some).code(), StatusCode::kCancelled);
  EXPECT_EQ(some.looks, 2);
  // What was packed meanwhile is whole: the next run is right.
  std::vector<Value> again;
  ASSERT_TRUE(program->run(x, again).ok());
  auto expected = make_engine({.num_threads = 1});
  auto other = load(*expected, "module \"m\" version 1\nsymbol N\nfunc @f(x: f32[N, N]) -> f32[N, N]\nb0:\n  R0 = TENSOR_CREATE input 0\n  R1 = TENSOR_ALLOC [N, N], f32, CPU(0)\n  OP_CALL MatMul(R0, R0) -> R1\n  RETURN R1\n");
  auto right = other->run(x);
  ASSERT_TRUE(right.ok());
  EXPECT_EQ(elements(again[0]), elements((*right)[0]));
}

}  // namespace
}  // namespace msvm::testing
