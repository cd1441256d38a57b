#include "msvm/device/capability_db.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace msvm {
namespace {

using ::testing::HasSubstr;

CapabilityDb sample() {
  CapabilityDb db;
  db.hardware.model = "a \"test\" machine";
  db.hardware.isa = Isa::kAvx2;
  db.hardware.cores = 4;
  db.add({.name = "avx2_matmul_f32", .op = "MatMul", .dtype = DType::kF32, .isa = Isa::kAvx2, .costs = {{0, 1000, 50, 2}, {1001, INT64_MAX, 80, 8}}});
  db.add({.name = "avx2_matmul_f32_small", .op = "MatMul", .dtype = DType::kF32, .isa = Isa::kAvx2, .costs = {{0, INT64_MAX, 20, 1}}});
  db.add({.name = "ref_matmul", .op = "MatMul", .any_dtype = true, .costs = {{0, INT64_MAX, 100, 0.5}}});
  db.add({.name = "ref_fused", .op = "msvm.Pointwise", .any_dtype = true, .costs = {{0, INT64_MAX, 100, 0.5}}});
  return db;
}

std::string patch(const std::string& sections, const std::string& rest = R"json("format": 1, "device": "CPU(0)", "isa": "avx2")json") {
  return "{" + rest + R"json(, "sections": )json" + sections + "}";
}

TEST(CapabilityDb, SectionsByOperatorAndDType) {
  CapabilityDb db = sample();
  ASSERT_EQ(db.sections().size(), 3u);
  EXPECT_TRUE(db.sections().contains("matmul_f32"));
  EXPECT_TRUE(db.sections().contains("matmul_any"));
  EXPECT_TRUE(db.sections().contains("msvm_pointwise_any"));
  ASSERT_NE(db.find("ref_fused"), nullptr);
  EXPECT_EQ(db.find("ref_fused")->op, "msvm.Pointwise");
  EXPECT_EQ(db.find("nothing"), nullptr);
}

TEST(CapabilityDb, RoundTrip) {
  CapabilityDb db = sample(), copy = sample();
  const std::string json = db.to_json();
  ASSERT_TRUE(copy.apply_patch_json(json, "dump").ok());
  EXPECT_EQ(copy.path, "dump");
  copy.path.clear();
  EXPECT_EQ(copy.to_json(), json);
  // Also with a kernel taken out.
  ASSERT_TRUE(copy.apply_patch_json(patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32"}]})json"), "p").ok());
  CapabilityDb again = sample();
  ASSERT_TRUE(again.apply_patch_json(copy.to_json(), "p").ok());
  EXPECT_EQ(again.to_json(), copy.to_json());
  EXPECT_FALSE(again.find("avx2_matmul_f32_small")->enabled);
}

TEST(CapabilityDb, PatchReplacesWholeSections) {
  CapabilityDb db = sample();
  ASSERT_TRUE(db.apply_patch_json(patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"overhead_ns": 7, "work_per_ns": 3.5}]}]})json"), "p").ok());
  EXPECT_TRUE(db.find("avx2_matmul_f32")->enabled);
  EXPECT_FALSE(db.find("avx2_matmul_f32_small")->enabled);
  EXPECT_TRUE(db.find("ref_matmul")->enabled);
  ASSERT_EQ(db.find("avx2_matmul_f32")->costs.size(), 1u);
  EXPECT_EQ(db.find("avx2_matmul_f32")->costs[0].overhead_ns, 7);
  EXPECT_EQ(db.find("avx2_matmul_f32")->costs[0].work_per_ns, 3.5);
  EXPECT_EQ(db.find("avx2_matmul_f32")->costs[0].max_work, INT64_MAX);
  ASSERT_TRUE(db.apply_patch_json(patch(R"json({"matmul_any": [{"name": "ref_matmul", "enabled": false}]})json"), "p").ok());
  EXPECT_FALSE(db.find("ref_matmul")->enabled);
}

TEST(CapabilityDb, RefusesWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "it isn't JSON"},
      {"[]", "file: expected an object"},
      {"{}", "format: expected 1"},
      {patch("{}", R"json("format": 2, "device": "CPU(0)")json"), "format: expected 1"},
      {patch("{}", R"json("format": "1", "device": "CPU(0)")json"), "format: expected 1"},
      {patch("{}", R"json("format": 1.5, "device": "CPU(0)")json"), "format: expected 1"},
      {patch("{}", R"json("format": 1, "device": "sim(0)")json"), "device: it is for \"sim(0)\", this database describes CPU(0)"},
      {patch("{}", R"json("format": 1)json"), "device: "},
      {patch("{}", R"json("format": 1, "device": 7)json"), "device: it is for 7"},
      {patch("{}", R"json("format": 1, "device": "CPU(0)", "isa": "avx512")json"), "isa: it is for avx512, this machine runs avx2"},
      {patch("{}", R"json("format": 1, "device": "CPU(0)", "isa": "neon")json"), "isa: expected"},
      {patch("{}", R"json("format": 1, "device": "CPU(0)", "colour": 3)json"), "unknown key \"colour\""},
      {R"json({"format": 1, "device": "CPU(0)"})json", "sections: expected an object"},
      {patch("[]"), "sections: expected an object"},
      {patch(R"json({"matmul_f8": []})json"), "there is no section \"matmul_f8\""},
      {patch(R"json({"matmul_f32": {}})json"), "sections.matmul_f32: expected an array"},
      {patch(R"json({"matmul_f32": [3]})json"), "sections.matmul_f32[0]: expected an object"},
      {patch(R"json({"matmul_f32": [{}]})json"), "sections.matmul_f32[0]: expected a name"},
      {patch(R"json({"matmul_f32": [{"name": 3}]})json"), "expected a name"},
      {patch(R"json({"matmul_f32": [{"name": "fast"}]})json"), "this build has no kernel \"fast\" in matmul_f32"},
      {patch(R"json({"matmul_f32": [{"name": "ref_matmul"}]})json"), "this build has no kernel \"ref_matmul\" in matmul_f32"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32"}, {"name": "avx2_matmul_f32"}]})json"), "sections.matmul_f32[1]: \"avx2_matmul_f32\" is named twice"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "speed": 3}]})json"), "unknown key \"speed\""},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "enabled": 1}]})json"), "enabled: expected true or false"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "op": "Conv"}]})json"), "op: expected \"MatMul\""},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "isa": "scalar"}]})json"), "isa: expected \"avx2\""},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": 3}]})json"), "costs: expected an array"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"work_per_ns": "fast"}]}]})json"), "costs[0].work_per_ns: expected a number"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"min_work": 0.5}]}]})json"), "costs[0].min_work: expected an integer"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"min_work": 18446744073709551615}]}]})json"), "costs[0].min_work: expected an integer"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"work_per_ns": 0}]}]})json"), "work_per_ns > 0"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"overhead_ns": -1}]}]})json"), "overhead_ns >= 0"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"min_work": 5, "max_work": 4}]}]})json"), "min_work <= max_work"},
      {patch(R"json({"matmul_f32": [{"name": "avx2_matmul_f32", "costs": [{"size": 5}]}]})json"), "unknown key \"size\""},
  };
  for (const auto& [json, why] : cases) {
    SCOPED_TRACE(json);
    CapabilityDb db = sample();
    const std::string before = db.to_json();
    Status s = db.apply_patch_json(json, "patch.json");
    ASSERT_FALSE(s.ok());
    EXPECT_THAT(s.message(), HasSubstr("patch.json"));
    EXPECT_THAT(s.message(), HasSubstr(why));
    EXPECT_EQ(db.to_json(), before);  // nothing of it was taken
  }
}

TEST(CapabilityDb, Files) {
  CapabilityDb db = sample();
  const std::string path = ::testing::TempDir() + "/capabilities.json";
  std::ofstream(path) << patch(R"json({"matmul_any": []})json");
  ASSERT_TRUE(db.apply_patch_file(path).ok());
  EXPECT_EQ(db.path, path);
  EXPECT_FALSE(db.find("ref_matmul")->enabled);
  std::remove(path.c_str());
  Status s = db.apply_patch_file(path);
  EXPECT_EQ(s.code(), StatusCode::kIo);
  EXPECT_THAT(s.message(), HasSubstr(path));
  EXPECT_FALSE(db.apply_patch_file(::testing::TempDir()).ok());  // a folder
}

}  // namespace
}  // namespace msvm
