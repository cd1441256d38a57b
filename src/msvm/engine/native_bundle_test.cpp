// Code made ahead of time: a process without a compiler takes it from a bundle.
#ifdef MSVM_COMPILER
#include <filesystem>
#include <fstream>

#include "msvm/base/chaos.h"
#include "msvm/engine/program_testing.h"
#include "msvm/jit/disk/test_folder.h"

namespace msvm::testing {
namespace {

constexpr const char* kChain = R"(
module "chain" version 1
symbol N, H, W
func @main(x: f32[N, 3, H, W], y: f32[N, 3, H, W]) -> (z: f32[N, 3, H, W])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Mul(R0, R1) -> R2
  R3 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Exp(R2) -> R3
  TENSOR_FREE R2
  R4 "z" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Add(R3, R0) -> R4
  TENSOR_FREE R3
  RETURN R4
)";

class NativeBundle : public ::testing::Test {
 protected:
  std::shared_ptr<Engine> engine(const std::string& compiler = "/nonexistent/msvm-cc", const std::string& user = "mine") {
    EngineOptions o;
    o.num_threads = 1;
    o.compiler = compiler;
    o.code_cache = folder_.path() + "/" + user;
    o.jit.disk_cache = false;
    return make_engine(o);
  }
  static std::vector<Value> inputs(Engine& e, int h, int w) {
    const std::string shape = "f32[1, 3, " + std::to_string(h) + ", " + std::to_string(w) + "]";
    std::string zeros = " [";
    for (int i = 0; i < 3 * h * w; ++i) zeros += (i ? ", " : "") + std::to_string((i % 5) * 0.25);
    return {tensor(e, shape + zeros + "]"), tensor(e, shape + zeros + "]")};
  }
  void make() {
    auto e = engine(MSVM_COMPILER);
    auto program = load(*e, kChain);
    ASSERT_TRUE(program);
    const Status s = program->make_code({{"x", {1, 3, 8, 16}}, {"y", {1, 3, 8, 16}}});
    ASSERT_TRUE(s.ok()) << s.message();
    auto images = program->write_bundle(path_);
    ASSERT_TRUE(images.ok()) << images.status().message();
    EXPECT_EQ(*images, 1u) << to_text(program->jit_view());
  }
  void alter(size_t at, char to) const {
    std::fstream f(path_, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(at));
    f.put(to);
  }
  jit::TestFolder folder_;
  std::string path_ = folder_.path() + "/chain.native";
};

TEST_F(NativeBundle, RunsWithoutACompiler) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  make();
  auto plain = make_engine();
  auto interpreted = load(*plain, kChain);
  auto e = engine();
  ASSERT_TRUE(e->load_bundle(path_).ok());
  auto program = load(*e, kChain);
  for (int k = 0; k < 8; ++k) {
    auto got = program->run(inputs(*e, 8, 16)), want = interpreted->run(inputs(*plain, 8, 16));
    ASSERT_TRUE(got.ok() && want.ok());
    EXPECT_EQ(to_text(*got), to_text(*want));
    e->drain_jit();
  }
  const JitView v = program->jit_view();
  EXPECT_EQ(v.compiled, 0) << to_text(v);
  EXPECT_EQ(v.failed, 0) << to_text(v);
  EXPECT_EQ(v.from_disk, 1) << to_text(v);
  ASSERT_EQ(v.regions.size(), 1u);
  ASSERT_EQ(v.regions[0].entries.size(), 2u) << to_text(v);
  EXPECT_EQ(v.regions[0].entries[0].box, "N*_H8_W16");
  EXPECT_EQ(v.regions[0].entries[0].outcome, "from disk");
  EXPECT_GT(v.specialised, 0);
}

TEST_F(NativeBundle, OfOthersOrAlteredIsRefused) {
  make();
  auto refused = engine("/nonexistent/msvm-cc", "theirs")->load_bundle(path_);
  EXPECT_NE(refused.message().find("signed by this user's key"), std::string::npos) << refused.message();
  EXPECT_TRUE(engine("/nonexistent/msvm-cc", "theirs")->load_bundle(path_, true).ok());
  alter(std::filesystem::file_size(path_) / 2, '\x5a');
  refused = engine()->load_bundle(path_);
  EXPECT_NE(refused.message().find("signed by this user's key"), std::string::npos) << refused.message();
}

TEST_F(NativeBundle, OfAnotherBuildOrCompilerIsRefusedEvenIfTrusted) {
  make();
  EXPECT_TRUE(engine(MSVM_COMPILER)->load_bundle(path_).ok());
  const auto other_compiler = engine("/bin/true")->load_bundle(path_);
  EXPECT_NE(other_compiler.message().find("another build of MSVM or its compiler"), std::string::npos) << other_compiler.message();
  alter(8 + 4 + 1, 'x');  // the first letter of the build's name
  const auto other_build = engine()->load_bundle(path_, true);
  EXPECT_NE(other_build.message().find("another build of MSVM"), std::string::npos) << other_build.message();
}

TEST_F(NativeBundle, RangesAndUnknownSymbols) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto e = engine(MSVM_COMPILER);
  auto program = load(*e, kChain);
  ASSERT_TRUE(program->make_code({}, {{"H", {8, 64}}}).ok());
  const JitView v = program->jit_view();
  ASSERT_EQ(v.regions[0].entries.size(), 2u) << to_text(v);
  EXPECT_EQ(v.regions[0].entries[0].box, "N*_H8-64_W*");
  // A box of the bundle is there from the start.
  ASSERT_TRUE(program->write_bundle(path_).ok());
  auto later = engine();
  ASSERT_TRUE(later->load_bundle(path_).ok());
  auto taken = load(*later, kChain);
  taken->warm_up();
  ASSERT_TRUE(taken->run(inputs(*later, 10, 3)).ok());
  ASSERT_TRUE(taken->run(inputs(*later, 4, 3)).ok());
  const JitView w = taken->jit_view();
  ASSERT_EQ(w.regions[0].entries.size(), 2u) << to_text(w);
  EXPECT_EQ(w.regions[0].entries[0].box, "N*_H8-64_W*");
  EXPECT_EQ(w.regions[0].entries[0].hits, 1) << to_text(w);
  EXPECT_EQ(w.regions[0].entries[1].hits, 1) << to_text(w);
  EXPECT_EQ(w.compiled + w.failed, 0) << to_text(w);

  EXPECT_NE(program->make_code({}, {{"Q", {8, 64}}}).message().find("no region has a symbol Q; there are: N, H, W"), std::string::npos);
  EXPECT_FALSE(program->make_code({{"x", {1, 4, 8, 8}}}).ok());
  auto broken = engine();
  const Status s = load(*broken, kChain)->make_code({});
  EXPECT_NE(s.message().find("has no code for N*_H*_W*: no compiler"), std::string::npos) << s.message();
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
