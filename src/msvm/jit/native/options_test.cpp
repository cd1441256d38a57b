#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "msvm/jit/native/jit_options.h"

namespace msvm {
namespace {

// The page lists every option with its sentence.
TEST(JitOptions, AreDocumented) {
  std::ifstream in(std::string(MSVM_SOURCE_DIR) + "/docs/jit.md");
  std::stringstream page;
  page << in.rdbuf();
#define MSVM_JIT_OPTION(type, name, value, doc) \
  EXPECT_NE(page.str().find("| `" #name "` | "), std::string::npos) << #name; \
  EXPECT_NE(page.str().find(std::string("| ") + doc + " |"), std::string::npos) << #name;
#include "msvm/jit/native/jit_options.def"
#undef MSVM_JIT_OPTION
}

TEST(JitOptions, SayWhatIsWrong) {
  auto message = [](const JitOptions& o) { return check(o).ok() ? std::string() : std::string(check(o).message()); };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.jit_level = 3}), "jit_level is 3: 0, 1 or 2 is possible");
  EXPECT_EQ(message({.scd_threshold = 2}), "scd_threshold is 2: 0 to 1 is possible");
  EXPECT_EQ(message({.compile_timeout = 0}), "compile_timeout is 0: more than 0 and at most 3600 s is possible");
  EXPECT_EQ(message({.cache_mode = CacheMode::kBucket}), "cache_mode is bucket, but there are no bucket_boundaries");
  EXPECT_EQ(message({.bucket_boundaries = {1, 8}}), "bucket_boundaries are given, but cache_mode is exact");
  EXPECT_EQ(message({.cache_mode = CacheMode::kBucket, .bucket_boundaries = {1, 8, 8}}), "bucket_boundaries: 8 at position 2: boundaries are not negative and ascend");
  EXPECT_EQ(message({.cache_mode = CacheMode::kBucket, .named_boundaries = {{"S", {-1}}}}), "bucket_boundaries[S]: -1 at position 0: boundaries are not negative and ascend");
}

TEST(JitOptions, ReadBoundaries) {
  JitOptions o;
  ASSERT_TRUE(parse_boundaries("1,8,32", o).ok());
  EXPECT_EQ(o.bucket_boundaries, (std::vector<int64_t>{1, 8, 32}));
  ASSERT_TRUE(parse_boundaries("S=32,64;N=1,8", o).ok());
  EXPECT_TRUE(o.bucket_boundaries.empty());
  EXPECT_EQ(o.named_boundaries.at("S"), (std::vector<int64_t>{32, 64}));
  EXPECT_EQ(o.named_boundaries.at("N"), (std::vector<int64_t>{1, 8}));
  for (const char* bad : {"", "1,,2", "a", "S=", "=1", "S=1;", "1;2", "99999999999999999999"}) EXPECT_FALSE(parse_boundaries(bad, o).ok()) << bad;
  EXPECT_FALSE(parse_cache_mode("exactly").ok());
  EXPECT_EQ(*parse_cache_mode("adaptive"), CacheMode::kAdaptive);
}

}  // namespace
}  // namespace msvm
