// A run within a run: an operator of the host that runs a program itself.
#include "msvm/kernels/operator_c.h"
#include "msvm/kernels/registered.h"
#include "observe/debug/testing.h"

namespace msvm::observe::debug::testing {
namespace {

/// Runs a program on its input.
class Inner final : public OperatorKernel {
 public:
  explicit Inner(std::shared_ptr<Executable> program) : program_(std::move(program)) {}
  Status run(KernelCall& call) const override {
    TensorValue x{*call.inputs[0], {}};
    MSVM_ASSIGN_OR_RETURN(auto r, program_->run(std::vector<msvm::Value>{x}));
    MSVM_RETURN_IF_ERROR(provide_output(call, 0, DType::kF32, call.inputs[0]->dims()));
    const TensorMeta& y = std::get<TensorValue>(r[0]).meta;
    std::copy_n(y.as<float>(), y.elements(), call.outputs[0]->as<float>());
    return {};
  }

 private:
  std::shared_ptr<Executable> program_;
};

constexpr const char* kInner = R"(
module "inner" version 1
symbol N
func @inner(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R0, R0) -> R1
  RETURN R1
)";
constexpr const char* kOuter = R"(
module "outer" version 1
symbol N
func @outer(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL debug_test.inner(R0) -> R1
  RETURN R1
)";

TEST(Nested, StepsGoInAndOut) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto inner = load(*engine, kInner, "inner");
  ASSERT_TRUE(inner);
  OpSchema row{.name = "debug_test.inner", .inputs = {{"x", kFloats, 'T'}}, .outputs = {{"y", 'T'}}};
  ASSERT_TRUE(register_operator(row, {}, std::make_shared<Inner>(inner), true).ok());
  auto outer = load(*engine, kOuter, "outer");
  ASSERT_TRUE(outer);
  Client client;
  debugger().set_function_breakpoints(std::vector<FunctionBreakpoint>{{"debug_test.inner", {}}});
  auto at_call = [&](RunThread&) {
    Stop s = client.next();
    EXPECT_EQ(debugger().frames(s.thread)->size(), 1u);
    return s;
  };
  {
    RunThread run(*engine, outer, "f32[2] [1, 2]");
    Stop s = at_call(run);
    EXPECT_TRUE(debugger().step(s.thread, Step::kIn).ok());
    s = client.next();
    auto frames = debugger().frames(s.thread);
    ASSERT_TRUE(frames.ok());
    ASSERT_EQ(frames->size(), 2u);
    EXPECT_EQ(frames->at(0).function + " " + frames->at(0).opcode + ", " + frames->at(1).function + " " + frames->at(1).op, "inner TENSOR_CREATE, outer debug_test.inner");
    EXPECT_EQ(debugger().evaluate(FrameRef(s.thread, 1), "R0[1]")->real, 2);
    EXPECT_FALSE(debugger().evaluate(s.thread, "R0").ok());
    EXPECT_FALSE(debugger().registers(FrameRef(s.thread, 2)).ok());
    EXPECT_TRUE(debugger().step(s.thread, Step::kOut).ok());
    s = client.next();
    EXPECT_EQ(s.reason, StopReason::kStep);
    EXPECT_EQ(debugger().frames(s.thread)->at(0).opcode, "RETURN");
    EXPECT_EQ(debugger().evaluate(s.thread, "R1[1]")->real, 4);
    EXPECT_TRUE(debugger().resume(s.thread).ok());
    EXPECT_EQ(run.text(), "f32[2] [2, 4]");
  }
  {
    RunThread run(*engine, outer, "f32[2] [1, 2]");
    Stop s = at_call(run);
    EXPECT_TRUE(debugger().step(s.thread, Step::kOver).ok());
    s = client.next();
    EXPECT_EQ(debugger().frames(s.thread)->at(0).function + " " + debugger().frames(s.thread)->at(0).opcode, "outer RETURN");
    EXPECT_TRUE(debugger().resume(s.thread).ok());
  }
}

}  // namespace
}  // namespace msvm::observe::debug::testing
