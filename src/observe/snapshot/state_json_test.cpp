#include "observe/snapshot/state_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "msvm/base/file.h"
#include "observe/snapshot/testing.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::json;

Json parsed(const Snapshot& s) { return Json::parse(state_json(s, {7, "python x.py", 12.5}, true, Json::parse(R"([{"rule": "hit_rate < 0.85"}])"))); }

TEST(StateJson, Process) {
  const Json j = parsed(testing::full_snapshot());
  EXPECT_EQ(j["version"], 1);
  EXPECT_EQ(j["time"], "2001-09-09T01:46:40.123Z");
  EXPECT_EQ(j["uptime_s"], 12.5);
  EXPECT_EQ(j["pid"], 7);
  EXPECT_EQ(j["command"], "python x.py");
  EXPECT_EQ(j["isa"], "avx512");
  EXPECT_EQ(j["threads"], 2);
  EXPECT_EQ(j["tracing"], true);
  EXPECT_EQ(j["alerts"][0]["rule"], "hit_rate < 0.85");
  EXPECT_EQ(j["warnings"][0]["kind"], "fallback");
  EXPECT_EQ(j["warnings"][0]["time"], "2001-09-09T01:45:40.123Z");
}

TEST(StateJson, QueueAndMemory) {
  const Json j = parsed(testing::full_snapshot());
  const Json& q = j["queues"][0];
  EXPECT_EQ(q["running"], Json::parse(R"({"label": "jit_cache_1_N1", "program": "de\"t\\ect\n", "phase": "optimize", "elapsed_ms": 3.0, "estimate_ms": 12.0, "progress": 0.25})"));
  EXPECT_EQ(q["next"], Json::parse(R"([{"label": "jit_cache_2_N2", "urgency": "waited", "gain": 1.5, "estimate_ms": 20.0}])"));
  EXPECT_EQ(q["queued"], 3);
  EXPECT_EQ(q["outcomes"]["timed out"], 2);
  EXPECT_EQ(q["phases"]["codegen"], Json::parse(R"({"count": 1, "mean_ms": 250.0, "max_ms": 250.0})"));
  EXPECT_EQ(q["compiled"]["max_ms"], 500);
  const Json& m = j["memory"][0];
  EXPECT_EQ(m["device"], "CPU(0)");
  EXPECT_EQ(m["fragmentation"], 0.5);
  EXPECT_EQ(m["by_owner"], Json::parse(R"({"interpreter": 0, "arena": 200, "scratch": 0, "weights": 300, "results": 0})"));
  EXPECT_EQ(m["hint"], "");
}

TEST(StateJson, Program) {
  const Json j = parsed(testing::full_snapshot());
  const Json& p = j["programs"][0];
  EXPECT_EQ(p["id"], 1);
  EXPECT_EQ(p["hit_rate"], 0.9);
  EXPECT_EQ(p["window"], Json::parse(R"({"runs": 10, "hit_rate": 0.9, "specialised_hit_rate": 0.5})"));
  EXPECT_EQ(p["cache_mode"], "bucket");
  EXPECT_EQ(p["boundaries"], Json::parse(R"({"S": [32, 64]})"));
  EXPECT_EQ(p["latency"]["native"]["count"], 15);
  EXPECT_NEAR(p["latency"]["native"]["p50_ms"].get<double>(), 3, 3.0 / 16);
  EXPECT_NEAR(p["latency"]["native"]["p99_ms"].get<double>(), 50, 50.0 / 16);
  EXPECT_EQ(p["latency"]["specialised"]["count"], 0);
  EXPECT_EQ(p["rates"], Json::parse(R"({"runs_per_s": 30.0, "gflops": 50.0, "peak_share": 0.5, "gbytes_per_s": 1.25, "layout_bytes": 11})"));
  EXPECT_EQ(p["slow_path"][0], Json::parse(R"({"time": "2001-09-09T01:45:40.123Z", "region": "@main instructions 3 to 9", "reason": "timed out", "place": "model.py:47",
    "scd": 0.5, "phase": "optimize", "elapsed_ms": 2001.0, "limit_ms": 2000.0, "instead": "interpreter"})"));
  EXPECT_EQ(p["events"][0]["kind"], "hot patch");
  const Json& r = p["regions"][0];
  EXPECT_EQ(r["place"], "model.py:47");
  EXPECT_EQ(r["shapes"][0], Json::parse(R"({"values": [1, 480], "runs": 80, "tier": 2, "entry": "jit_cache_1_N1"})"));
  EXPECT_EQ(r["entries"][0]["alias"], "jit_640x480");
  EXPECT_EQ(r["entries"][0]["age_s"], 50);
  EXPECT_EQ(r["entries"][0]["last_hit_s"], 0.25);
  EXPECT_TRUE(r["entries"][1]["last_hit_s"].is_null());
}

TEST(StateJson, NothingRunsAndNamesThatAreNoText) {
  Snapshot s;
  EXPECT_EQ(parsed(s)["programs"], Json::array());
  s.engines.emplace_back();
  s.programs.emplace_back().name = "\xff\xfe name";
  const Json j = parsed(s);
  EXPECT_TRUE(j["queues"][0]["running"].is_null());
  EXPECT_TRUE(j["programs"][0]["rates"]["peak_share"].is_null());
  EXPECT_EQ(j["programs"][0]["name"], "\xEF\xBF\xBD\xEF\xBF\xBD name");
}

// Keys of objects that the room makes; names of owners, outcomes and the like are values.
void keys_of(const Json& j, std::set<std::string>& keys) {
  static const std::set<std::string> kMaps = {"by_owner", "outcomes", "phases", "boundaries", "failed_by_reason", "latency"};
  if (j.is_array())
    for (const Json& e : j) keys_of(e, keys);
  if (!j.is_object()) return;
  for (const auto& [key, value] : j.items()) {
    keys.insert(key);
    if (!kMaps.contains(key)) keys_of(value, keys);
    else if (!value.empty()) keys_of(*value.begin(), keys);
  }
}

TEST(StateJson, ThePageNamesEveryField) {
  auto page = read_text_file(std::string(MSVM_SOURCE_DIR) + "/docs/state.md");
  ASSERT_TRUE(page.ok());
  std::set<std::string> keys;
  keys_of(parsed(testing::full_snapshot()), keys);
  EXPECT_GT(keys.size(), 90u);
  for (const std::string& key : keys) EXPECT_NE(page->find("`" + key + "`"), std::string::npos) << key;
}

}  // namespace
}  // namespace msvm::observe
