// Raw weights that are copies of a file: given back once packed, there again for whoever reads them.
#include "msvm/engine/raw_constants.h"

#include <cstring>
#include <thread>

#include "msvm/base/file_copy.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/program_testing.h"
#include "msvm/verify/verify.h"

namespace msvm::testing {
namespace {

constexpr const char* kProduct = R"(
module "product" version 1
symbol N
const %w f32[128, 64] = fill(0.5)
func @main(x: f32[N, 128]) -> f32[N, 64]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2
  RETURN R2
)";
constexpr const char* kAlsoGathered = R"(
module "tied" version 1
symbol N
const %w f32[128, 64] = fill(0.5)
func @main(x: f32[N, 128], i: i64[N]) -> (f32[N, 64], f32[N, 64])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_CONST %w
  R3 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R0, R2) -> R3
  R4 = TENSOR_CONST %w
  R5 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL Gather(R4, R1) -> R5
  RETURN R3, R5
)";
constexpr const char* kAlsoViewed = R"(
module "viewed" version 1
symbol N
const %w f32[128, 64] = fill(0.5)
func @main(x: f32[N, 128]) -> (f32[N, 64], f32[64, 128])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2
  R3: f32[64, 128] strided = TENSOR_VIEW transpose R1, [1, 0]
  R4 = TENSOR_ALLOC [64, 128], f32, CPU(0)
  OP_CALL Relu(R3) -> R4
  TENSOR_FREE R3
  RETURN R2, R4
)";

// The module of `text` whose constants are copies of a "file" at odd addresses; element i is i % 13.
Module stored_module(const char* text) {
  AssembleResult r = assemble(text);
  EXPECT_TRUE(r.errors.empty()) << text;
  for (Constant& c : r.module.constants) {
    auto file = std::make_shared<std::vector<std::byte>>(c.bytes + 1);
    for (size_t i = 0; i < c.bytes / 4; ++i) {
      const float value = static_cast<float>(i % 13);
      std::memcpy(file->data() + 1 + 4 * i, &value, 4);
    }
    auto copy = copy_of_file(std::span<const std::byte>(*file).subspan(1), file);
    c.data = copy.get();
    c.keep_alive = std::move(copy);
  }
  return std::move(r.module);
}

bool there(const float* w) { return w[1] == 1 && w[5000] == 5000 % 13 && w[8191] == 8191 % 13; }
const float* weights_of(const Module& m) { return reinterpret_cast<const float*>(m.constants[0].data); }

class Raw : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cpu_features().isa == Isa::kScalar) GTEST_SKIP() << "nothing is packed here";
    x_ = {tensor(*engine_, "f32[32, 128] iota")};
  }
  std::vector<double> run(Executable& program) {
    auto r = program.run(x_);
    EXPECT_TRUE(r.ok()) << r.status().message();
    return r.ok() ? elements((*r)[0]) : std::vector<double>{};
  }
  std::shared_ptr<Engine> engine_ = make_engine({.num_threads = 2});
  std::vector<Value> x_;
};

TEST_F(Raw, GoesOncePackedAndComesBackForReaders) {
  Module module = stored_module(kProduct);
  const float* w = weights_of(module);
  auto program = engine_->load(std::move(module));
  ASSERT_TRUE(program.ok());
  EXPECT_TRUE(there(w));
  const auto first = run(**program);
  EXPECT_FALSE(there(w));
  EXPECT_EQ(run(**program), first);
  EXPECT_EQ((*program)->function().name, "main");
  EXPECT_FALSE(there(w));  // nobody asked for the constants
  EXPECT_EQ(weights_of((*program)->module()), w);
  EXPECT_TRUE(there(w));
  EXPECT_EQ(run(**program), first);
  EXPECT_TRUE(there(w));
}

// The reference kernel reads the weights as they are.
TEST_F(Raw, ComesBackForKernelsThatDontPack) {
  Module module = stored_module(kProduct);
  const float* w = weights_of(module);
  auto program = engine_->load(std::move(module));
  ASSERT_TRUE(program.ok());
  const auto first = run(**program);
  ASSERT_FALSE(there(w));
  Status s = engine_->patch_capabilities(R"json({"format": 1, "device": "CPU(0)", "sections": {"matmul_f32": []}})json", "test");
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(run(**program), first);
  EXPECT_TRUE(there(w));
}

TEST_F(Raw, StaysWhereSomebodyElseReadsIt) {
  for (const char* text : {kAlsoGathered, kAlsoViewed}) {
    Module module = stored_module(text);
    const float* w = weights_of(module);
    auto program = engine_->load(std::move(module));
    ASSERT_TRUE(program.ok());
    std::vector<Value> inputs = x_;
    if (text == kAlsoGathered) inputs.push_back(tensor(*engine_, "i64[32] iota"));
    ASSERT_TRUE((*program)->run(inputs).ok());
    EXPECT_TRUE(there(w)) << text;
  }
  Module module = stored_module(kProduct);
  const Module other = module;  // may be saved, or loaded, later
  auto program = engine_->load(std::move(module));
  ASSERT_TRUE(program.ok());
  run(**program);
  EXPECT_TRUE(there(weights_of(other)));
  VerifyResult v = verify(stored_module(kProduct));
  auto held = engine_->load(v.module);
  ASSERT_TRUE(held.ok());
  run(**held);
  EXPECT_TRUE(there(weights_of(v.module->module())));
}

TEST_F(Raw, SessionsThatReadAndPackAtOnce) {
  for (int round = 0; round < 20; ++round) {
    auto program = engine_->load(stored_module(kProduct));
    ASSERT_TRUE(program.ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) {
          auto r = (*program)->run(x_);
          EXPECT_TRUE(r.ok());
          if (t == 0 && i == 2) { EXPECT_TRUE(there(weights_of((*program)->module()))); }
        }
      });
    for (auto& t : threads) t.join();
    EXPECT_TRUE(there(weights_of((*program)->module())));
  }
}

}  // namespace
}  // namespace msvm::testing
