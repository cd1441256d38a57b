// The public API: borders, errors with their place, profiles, devices that are there or not.
#include "msvm/engine/engine.h"

#include "msvm/bytecode/text.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

constexpr const char* kAdd = R"(
module "add" version 1
symbol N, M
func @add(x: f32[N, M], y: f32[N, M]) -> f32[N, M]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Add(R0, R1) -> R2                      ; model.py:31 from "add_1"
  RETURN R2
)";

TEST(Engine, StridedInputsBecomeDense) {
  auto engine = make_engine();
  auto program = load(*engine, kAdd);
  Value x = tensor(*engine, "f32[2, 3] iota");
  auto& t = std::get<TensorValue>(x);
  std::swap(t.meta.shape[0], t.meta.shape[1]);  // its transpose
  std::swap(t.meta.strides[0], t.meta.strides[1]);
  auto r = program->run(std::vector<Value>{x, x});
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(to_text((*r)[0]), "f32[3, 2] [0, 6, 2, 8, 4, 10]");
}

TEST(Engine, AModuleWithoutFunctionsIsNotLoaded) {
  auto engine = make_engine();
  auto r = engine->load(Module{});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().message(), "the module has no functions: there is nothing to run");
}

TEST(Engine, ResultsAreNotReusedWhileHeld) {
  auto engine = make_engine();
  auto program = load(*engine, kAdd);
  std::vector<Value> a{tensor(*engine, "f32[1, 2] [1, 2]"), tensor(*engine, "f32[1, 2] [1, 1]")};
  auto first = program->run(a);
  ASSERT_TRUE(first.ok());
  std::vector<Value> b{(*first)[0], (*first)[0]};
  auto second = program->run(b);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(to_text((*first)[0]), "f32[1, 2] [2, 3]");
  EXPECT_EQ(to_text((*second)[0]), "f32[1, 2] [4, 6]");
}

TEST(Engine, BorrowedInputsAreReleased) {
  auto engine = make_engine();
  auto program = load(*engine, kAdd);
  float data[2] = {3, 4};
  int released = 0;
  {
    TensorMeta m;
    m.rank = 2;
    m.shape = {1, 2};
    ASSERT_TRUE(set_dense_strides(m));
    m.data = reinterpret_cast<std::byte*>(data);
    std::vector<Value> in{borrow(m, 8, [](void* p) { ++*static_cast<int*>(p); }, &released), tensor(*engine, "f32[1, 2] [1, 1]")};
    auto r = program->run(in);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(to_text((*r)[0]), "f32[1, 2] [4, 5]");
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Engine, ErrorsHaveTheirPlace) {
  auto engine = make_engine();
  auto program = load(*engine, R"(
module "place" version 1
symbol N, M
func @place(x: f32[N], i: i64[M]) -> f32[M]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "index" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [M], f32, CPU(0)
  OP_CALL Gather(R0, R1) -> R2 {axis: 0}        ; model.py:31 from "gather_1"
  RETURN R2
)");
  std::vector<Value> in{tensor(*engine, "f32[3] iota"), tensor(*engine, "i64[1] [3]")};
  auto r = program->run(in);
  ASSERT_FALSE(r.ok());
  const std::string& m = r.status().message();
  EXPECT_TRUE(m.starts_with("Error at instruction 3 (OP_CALL Gather), offset 0x")) << m;
  for (const char* part : {", model.py:31", "gather_1", "R0 (x): f32[3]", "R1 (index): i64[1]"}) EXPECT_NE(m.find(part), std::string::npos) << m;
}

TEST(Engine, ProfileNamesKernels) {
  auto engine = make_engine();
  auto program = load(*engine, kAdd);
  program->set_profiling(true);
  std::vector<Value> in{tensor(*engine, "f32[2, 3] iota"), tensor(*engine, "f32[2, 3] iota")};
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(program->run(in).ok());
  auto p = program->profile();
  ASSERT_EQ(p.size(), 5u);
  EXPECT_EQ(p[3].runs, 3);
  EXPECT_FALSE(p[3].kernel.empty());
  EXPECT_GT(p[3].nanoseconds, 0);
  Counters c = program->counters();
  EXPECT_EQ(c.runs, 3);
  EXPECT_EQ(c.calls, 3);
  EXPECT_EQ(c.instructions, 15);
}

TEST(Engine, PatchesChangeTheChoice) {
  auto engine = make_engine();
  auto program = load(*engine, kAdd);
  program->set_profiling(true);
  std::vector<Value> in{tensor(*engine, "f32[2, 3] iota"), tensor(*engine, "f32[2, 3] iota")};
  ASSERT_TRUE(program->run(in).ok());
  const std::string first = program->profile()[3].kernel;
  // Everything for Add is taken out: the reference kernel serves, and says so.
  std::string patch = R"json({"format": 1, "device": "CPU(0)", "sections": {)json", comma;
  const auto db = engine->capability_db();
  for (const auto& [key, list] : db->sections())
    if (key.starts_with("add_")) patch += comma + "\"" + key + "\": []", comma = ", ";
  patch += "}}";
  Status s = engine->patch_capabilities(patch, "test");
  ASSERT_TRUE(s.ok()) << s.message();
  auto r = program->run(in);
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(program->profile()[3].kernel, first + ", ref_add (fallback)");

  auto strict = make_engine({.num_threads = 1, .fallback = false});
  ASSERT_TRUE(strict->patch_capabilities(patch, "test").ok());
  auto refused = load(*strict, kAdd)->run(in);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("Kernel not found for op Add (f32) on device CPU(0) ["), std::string::npos) << refused.status().message();
}

TEST(Engine, AbsentDevicesAreNamedAtLoad) {
  constexpr const char* kSim = R"(
module "sim" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, sim(1)
  TENSOR_COPY R0 -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R1 -> R2
  TENSOR_FREE R1
  RETURN R2
)";
  auto module = verified(kSim);
  ASSERT_TRUE(module);
  auto r = make_engine({.num_threads = 1, .simulated_devices = 1})->load(module);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().message(), "R1 of @f: there is no device sim(1): this engine has CPU(0), sim(0)");
  EXPECT_TRUE(make_engine({.num_threads = 1, .simulated_devices = 2})->load(module).ok());
}

constexpr const char* kOnDevice = R"(
module "sim" version 1
symbol N, K
func @f(x: f32[N]) -> (f32[N], i64[1, K])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, sim(0)
  TENSOR_COPY R0 -> R1
  R2 = TENSOR_ALLOC [N], f32, sim(0)
  OP_CALL Relu(R1) -> R2
  OP_CALL NonZero(R2) -> new R3: i64[1, K] sim(0)
  R4 = TENSOR_ALLOC [1, K], i64, CPU(0)
  TENSOR_COPY R3 -> R4
  TENSOR_FREE R3
  R5 = TENSOR_ALLOC [N], f32, sim(0)
  OP_CALL Add(R1, R2) -> R5
  TENSOR_FREE R1
  TENSOR_FREE R2
  R6 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R5 -> R6
  TENSOR_FREE R5
  RETURN (R6, R4)
)";

std::string without(const Engine& engine, Device device, const std::vector<std::string>& prefixes) {
  std::string patch = R"json({"format": 1, "device": ")json" + to_string(device) + R"json(", "sections": {)json", comma;
  const auto db = engine.capability_db(device);
  for (const auto& [key, list] : db->sections())
    for (const std::string& p : prefixes)
      if (key.starts_with(p)) patch += comma + "\"" + key + "\": []", comma = ", ";
  return patch + "}}";
}

TEST(Engine, HostServesWhatADeviceLacks) {
  const Device sim{DeviceKind::kSim, 0};
  for (bool fallback : {true, false}) {
    auto engine = make_engine({.num_threads = 1, .fallback = fallback, .simulated_devices = 1});
    auto program = load(*engine, kOnDevice);
    ASSERT_TRUE(program);
    std::vector<Value> in{tensor(*engine, "f32[4] [-1, 2, -3, 4]")};
    auto whole = program->run(in);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    EXPECT_EQ(to_text(*whole), "f32[4] [-1, 4, -3, 8], i64[1, 2] [1, 3]");
    Status s = engine->patch_capabilities(without(*engine, sim, {"relu_", "nonzero_"}), "test", sim);
    ASSERT_TRUE(s.ok()) << s.message();
    program->set_profiling(true);
    auto r = program->run(in);
    if (fallback) {
      ASSERT_TRUE(r.ok()) << r.status().message();
      EXPECT_EQ(to_text(*r), to_text(*whole));
      EXPECT_FALSE(program->profile()[4].kernel.empty());
    } else {
      ASSERT_FALSE(r.ok());
      EXPECT_NE(r.status().message().find("Kernel not found for op Relu (f32) on device sim(0) ["), std::string::npos) << r.status().message();
    }
    r = Status(StatusCode::kInternal, "dropped");
    EXPECT_EQ(engine->memory_stats(sim).in_use, engine->memory_stats(sim).by_owner[static_cast<int>(MemoryOwner::kScratch)]);
  }
}

TEST(Engine, DeviceResultsOutliveTheEngine) {
  std::vector<Value> kept;
  {
    auto engine = make_engine({.num_threads = 1, .simulated_devices = 1});
    auto program = load(*engine, R"(
module "sim" version 1
symbol N
func @f(x: f32[N]) -> f32[N] sim(0)
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, sim(0)
  TENSOR_COPY R0 -> R1
  RETURN R1
)");
    ASSERT_TRUE(program);
    auto r = program->run(std::vector<Value>{tensor(*engine, "f32[2] [5, 6]")});
    ASSERT_TRUE(r.ok()) << r.status().message();
    kept = std::move(*r);
  }
  EXPECT_EQ(elements(kept[0]), (std::vector<double>{5, 6}));
}

// PHIs join values of one device; the verifier says what to do.
TEST(Engine, PhisAcrossDevicesAreRefused) {
  AssembleResult a = assemble(R"(
module "phi" version 1
symbol N
func @f(x: f32[N], b: bool) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  BRANCH_IF R1, b1, b2
b1:
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R2
  JUMP b3
b2:
  R3 = TENSOR_ALLOC [N], f32, sim(0)
  TENSOR_COPY R0 -> R3
  JUMP b3
b3:
  R4: f32[N] = TENSOR_PHI [b1: R2, b2: R3]
  RETURN R4
)");
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  VerifyResult v = verify(std::move(a.module));
  ASSERT_FALSE(v.module);
  EXPECT_NE(format_diagnostics(v.errors).find("TENSOR_COPY"), std::string::npos);
}

// An nhwc tensor is the same tensor: results don't depend on how axes lie in memory.
TEST(Engine, LayoutsDontChangeResults) {
  auto engine = make_engine();
  auto program = load(*engine, R"(
module "nhwc" version 1
symbol N, H, W
func @f(x: f32[N, 3, H, W]) -> (f32[N, 3, H, W], f32[N, 3])
b0:
  R0 = TENSOR_CREATE input 0
  R1: f32[N, 3, H, W]@nhwc = TENSOR_ALLOC [N, 3, H, W], f32@nhwc, CPU(0)
  TENSOR_COPY R0 -> R1
  R2: f32[N, 3, H, W]@nhwc = TENSOR_ALLOC [N, 3, H, W], f32@nhwc, CPU(0)
  OP_CALL Add(R1, R0) -> R2
  R3 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  TENSOR_COPY R2 -> R3
  R4 = TENSOR_ALLOC [N, 3], f32, CPU(0)
  OP_CALL ReduceSum(R2) -> R4 {axes: [2, 3], keepdims: 0}
  TENSOR_FREE R1
  TENSOR_FREE R2
  RETURN (R3, R4)
)");
  ASSERT_TRUE(program);
  auto r = program->run(std::vector<Value>{tensor(*engine, "f32[1, 3, 2, 2] iota")});
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(to_text(*r), "f32[1, 3, 2, 2] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22], f32[1, 3] [12, 44, 76]");
}

}  // namespace
}  // namespace msvm::testing
