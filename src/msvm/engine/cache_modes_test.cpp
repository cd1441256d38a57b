// Bucket and adaptive mode from end to end: which entries there are, that nothing is padded, what is learnt and given on.
#ifdef MSVM_COMPILER
#include <fstream>
#include <map>

#include "msvm/base/chaos.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

// The row's sum would show padding.
constexpr const char* kRows = R"(
module "rows" version 1
symbol N, H, W
func @main(x: f32[N, 3, H, W]) -> (y: f32[N, 3, H, W], z: f32[N, 3, H, 1])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Mul(R0, R0) -> R1
  R2 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Relu(R1) -> R2
  TENSOR_FREE R1
  R3 "y" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Sub(R2, R0) -> R3
  TENSOR_FREE R2
  R4 "z" = TENSOR_ALLOC [N, 3, H, 1], f32, CPU(0)
  OP_CALL ReduceSum(R3) -> R4 {axes: [-1]}
  RETURN R3, R4
)";

class CacheModes : public ::testing::Test {
 protected:
  void start(JitOptions jit, const char* text = kRows) {
    jit.disk_cache = false;
    engine_ = make_engine({.num_threads = 1, .strict = true, .jit = jit, .compiler = MSVM_COMPILER});
    plain_ = make_engine({.num_threads = 1, .strict = true, .jit = {.jit_level = 0}});
    program_ = load(*engine_, text);
    reference_ = load(*plain_, text);
    ASSERT_TRUE(program_ && reference_);
  }
  // Bits as the interpreter's.
  void run(int64_t n, int64_t h, int64_t w) {
    SCOPED_TRACE("N, H, W = " + std::to_string(n) + ", " + std::to_string(h) + ", " + std::to_string(w));
    const std::vector<Value> in{random_tensor(*plain_, {n, 3, h, w}, random_)};
    auto expected = reference_->run(in), found = program_->run(in);
    ASSERT_TRUE(expected.ok() && found.ok());
    for (size_t k = 0; k < expected->size(); ++k) ASSERT_EQ(to_text((*expected)[k]), to_text((*found)[k])) << k;
    engine_->drain_jit();
  }
  std::vector<std::string> boxes() const {
    std::vector<std::string> out;
    for (const JitRegionView& r : program_->jit_view().regions)
      for (const JitEntryView& e : r.entries)
        if (e.tier == 2) out.push_back(e.box);
    std::sort(out.begin(), out.end());
    return out;
  }

  std::shared_ptr<Engine> engine_, plain_;
  std::shared_ptr<Executable> program_, reference_;
  std::mt19937 random_{1};
};

using Names = std::vector<std::string>;

TEST_F(CacheModes, AListOfBoundariesGivesABoxForEachBucketThatIsUsed) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  start({.cache_mode = CacheMode::kBucket, .bucket_boundaries = {4, 16, 64}});
  for (int k = 0; k < 60; ++k) run(1 + k % 4, 5 + k % 12, k % 2 ? 17 + k % 48 : 6 + k % 7);
  // The first one is from when too few runs were known of each width's bucket.
  EXPECT_EQ(boxes(), (Names{"N0-4_H5-16_W*", "N0-4_H5-16_W17-64", "N0-4_H5-16_W5-16"}));
  const JitView v = program_->jit_view();
  EXPECT_GT(v.specialised, 40) << to_text(v);
  EXPECT_EQ(v.failed, 0);
  EXPECT_EQ(v.compiled, 1) << "no size is a constant of a bucket's code: one text\n" << to_text(v);
}

TEST_F(CacheModes, BeyondTheLastBoundaryOfANameCodeForAllSizesServes) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  start({.cache_mode = CacheMode::kBucket, .named_boundaries = {{"W", {8, 32}}}});
  for (int k = 0; k < 20; ++k) run(1, 7, 9 + k);
  EXPECT_EQ(boxes(), (Names{"N*_H7_W9-32"}));
  const int64_t specialised = program_->jit_view().specialised;
  EXPECT_GT(specialised, 10);
  for (int k = 0; k < 20; ++k) run(1, 7, 33 + k);
  const JitView v = program_->jit_view();
  EXPECT_EQ(boxes(), (Names{"N*_H7_W9-32"}));
  EXPECT_EQ(v.specialised, specialised) << to_text(v);
  EXPECT_GE(v.native, specialised + 20) << "tier 1\n" << to_text(v);
  EXPECT_EQ(v.regions[0].state, "a size lies beyond the last boundary of its symbol");
  for (int64_t w : {8, 9, 32, 33, 0, 1}) run(2, 7, w);
}

TEST_F(CacheModes, BucketsNeedAFractionOfExactModesEntries) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto entries = [&](const JitOptions& o) {
    start(o);
    for (int k = 0; k < 240; ++k) run(1, 12, 16 + k / 10);
    return boxes().size();
  };
  const size_t exact = entries({}), bucket = entries({.cache_mode = CacheMode::kBucket, .named_boundaries = {{"W", {32, 64}}}});
  EXPECT_GE(exact, 20u);
  EXPECT_LE(bucket, 3u) << "two buckets, and all widths from when a bucket was new";
}

// A policy learnt in one program makes the boxes of the next one before sizes come back there.
TEST_F(CacheModes, AdaptiveLearnsAndGivesOn) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  JitOptions o{.cache_mode = CacheMode::kAdaptive};
  start(o);
  // Such small tensors don't pay for a compilation; so nothing but buckets, that share code, is worth a try.
  std::mt19937 random(3);
  for (int k = 0; k < 400; ++k) run(1, 6, 8 + static_cast<int64_t>(random() % 32));
  const Names learnt = boxes();
  ASSERT_FALSE(learnt.empty()) << to_text(program_->jit_view());
  EXPECT_LE(learnt.size(), 8u);
  EXPECT_GT(program_->jit_view().window_specialised, 0);
  const std::string policy = program_->shape_policy();
  EXPECT_NE(policy.find("msvm shape policy"), std::string::npos);

  const std::string path = ::testing::TempDir() + "rows_policy.json";
  std::ofstream(path) << policy;
  o.shape_policy = path;
  start(o);
  run(1, 6, 20);
  run(1, 6, 21);
  EXPECT_EQ(boxes(), learnt) << to_text(program_->jit_view());
  run(1, 6, 22);
  EXPECT_EQ(program_->jit_view().specialised, 1);
  o.shape_policy = policy;
  start(o);
  program_->warm_up();
  EXPECT_EQ(boxes(), learnt) << "as text; before the first run";
}

TEST_F(CacheModes, AdaptiveWithoutCodeForAllSizes) {
  start({.cache_mode = CacheMode::kAdaptive, .tier1 = false});
  // Beside the interpreter, and with runs this long, code pays at once.
  std::map<int64_t, std::vector<Value>> inputs;
  std::mt19937 random(3);
  for (int k = 0; k < 400; ++k) {
    const int64_t w = 96 + 8 * static_cast<int64_t>(random() % 12);
    if (!inputs.contains(w)) inputs[w] = {random_tensor(*engine_, {8, 3, 128, w}, random_)};
    ASSERT_TRUE(program_->run(inputs[w]).ok());
    engine_->drain_jit();
  }
  const JitView v = program_->jit_view();
  EXPECT_GT(v.native, 100) << to_text(v);
  EXPECT_EQ(v.native, v.specialised);
  EXPECT_LE(boxes().size(), 8u);
}

// A budget that nothing fits into beside the code for all sizes: no compilation after the other.
TEST_F(CacheModes, AdaptiveInAFullCache) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  start({.cache_mode = CacheMode::kAdaptive, .cache_bytes = 4096});
  const std::vector<Value> in{random_tensor(*engine_, {8, 3, 256, 256}, random_)};
  for (int k = 0; k < 400; ++k) {
    ASSERT_TRUE(program_->run(in).ok());
    engine_->drain_jit();
  }
  const JitView v = program_->jit_view();
  EXPECT_LE(v.compiled, 1) << to_text(v);
  EXPECT_LE(v.evicted, 2) << to_text(v);
  EXPECT_GT(v.native, 390) << to_text(v);
}

TEST_F(CacheModes, PoliciesThatDoNotFit) {
  JitOptions o{.shape_policy = "{}"};
  EXPECT_EQ(check(o).message(), "a shape_policy is given, but cache_mode is exact");
  o.cache_mode = CacheMode::kAdaptive;
  EXPECT_EQ(check(o).message(), "shape policy given as text: the file: expected the key \"format\", found none");
  o.shape_policy = R"({"format": "msvm shape policy", "version": 1, "program": "other", "regions": [
    {"function": "main", "region": 0, "symbols": ["B"], "boundaries": {}, "boxes": [{"box": {"B": 1}, "weight": 1, "saving": 0.1}], "sizes": []}]})";
  start(o);
  run(1, 2, 3);
  run(1, 2, 3);
  EXPECT_EQ(boxes(), Names{});
  const JitView v = program_->jit_view();
  ASSERT_FALSE(v.slow_path.empty());
  EXPECT_EQ(v.slow_path[0].reason, "the shape policy of region 0 of @main isn't used: expected the symbols [N, H, W], found [B]");
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
