#include "observe/snapshot/prometheus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "msvm/base/file.h"
#include "msvm/base/ticks.h"
#include "observe/snapshot/testing.h"

namespace msvm::observe {
namespace {

using testing::full_snapshot;

std::map<std::string, double> samples(const std::string& text) {
  std::map<std::string, double> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const size_t at = line.rfind(' ');
    EXPECT_TRUE(out.emplace(line.substr(0, at), std::stod(line.substr(at + 1))).second) << "twice: " << line;
  }
  return out;
}

TEST(Prometheus, Values) {
  const auto s = samples(prometheus_text(full_snapshot(), {7, "python x.py", 12.5}));
  EXPECT_EQ(s.at("msvm_process_uptime_seconds"), 12.5);
  EXPECT_TRUE(std::any_of(s.begin(), s.end(), [](const auto& m) { return m.first.starts_with("msvm_build_info{version=") && m.first.ends_with(R"(isa="avx512"})") && m.second == 1; }));
  EXPECT_EQ(s.at(R"x(msvm_memory_in_use_bytes{engine="0",device="CPU(0)",owner="weights"})x"), 300);
  EXPECT_EQ(s.at(R"x(msvm_memory_fragmentation_ratio{engine="0",device="CPU(0)"})x"), 0.5);
  EXPECT_EQ(s.at(R"(msvm_jit_jobs_total{engine="0",outcome="timed out"})"), 2);
  EXPECT_EQ(s.at(R"(msvm_jit_phase_seconds_sum{engine="0",phase="CodeGen"})"), 0.25);
  EXPECT_EQ(s.at(R"(msvm_runs_total{program="de\"t\\ect\n"})"), 15);
  EXPECT_EQ(s.at(R"(msvm_region_runs_total{program="de\"t\\ect\n",region="@main instructions 3 to 9",tier="interpreted"})"), 10);
  EXPECT_EQ(s.at(R"(msvm_region_runs_total{program="de\"t\\ect\n",region="@main instructions 3 to 9",tier="native"})"), 60);
  EXPECT_EQ(s.at(R"(msvm_region_runs_total{program="de\"t\\ect\n",region="@main instructions 3 to 9",tier="specialised"})"), 30);
  EXPECT_EQ(s.at(R"(msvm_region_seconds_total{program="de\"t\\ect\n",region="@main instructions 3 to 9",tier="native"})"), 0.5);
  EXPECT_EQ(s.at(R"(msvm_hit_ratio{program="de\"t\\ect\n"})"), 0.9);
  EXPECT_EQ(s.at(R"(msvm_operations_total{program="de\"t\\ect\n"})"), 1e9);
  EXPECT_EQ(s.at(R"(msvm_layout_copy_bytes_total{program="de\"t\\ect\n"})"), 11);
  EXPECT_EQ(s.at(R"(msvm_fallbacks_total{program="de\"t\\ect\n",reason="timed out"})"), 2);
  EXPECT_EQ(s.at(R"(msvm_warnings{kind="fallback",severity="error"})"), 1);
  EXPECT_EQ(s.at(R"(msvm_code_entries{program="de\"t\\ect\n",tier="specialised"})"), 1);
}

TEST(Prometheus, Histogram) {
  const auto s = samples(prometheus_text(full_snapshot(), {}));
  const std::string labels = R"({program="de\"t\\ect\n",tier="native")";
  double before = 0;
  for (double end : kRunBuckets) {
    const double n = s.at(fmt::format("msvm_run_duration_seconds_bucket{},le=\"{}\"}}", labels, end));
    EXPECT_GE(n, before) << end;
    before = n;
  }
  EXPECT_EQ(s.at("msvm_run_duration_seconds_bucket" + labels + ",le=\"0.002\"}"), 0);
  EXPECT_EQ(s.at("msvm_run_duration_seconds_bucket" + labels + ",le=\"0.005\"}"), 10);
  EXPECT_EQ(s.at("msvm_run_duration_seconds_bucket" + labels + ",le=\"0.1\"}"), 15);
  EXPECT_EQ(s.at("msvm_run_duration_seconds_bucket" + labels + ",le=\"+Inf\"}"), 15);
  EXPECT_EQ(s.at("msvm_run_duration_seconds_count" + labels + "}"), 15);
  EXPECT_NEAR(s.at("msvm_run_duration_seconds_sum" + labels + "}"), 10 * 0.003 + 5 * 0.05, 1e-6);
}

// Each metric's lines stand together, behind one HELP and one TYPE; names, labels and types are those of the table; each row is used.
TEST(Prometheus, FollowsTheTable) {
  const std::string text = prometheus_text(full_snapshot(), {});
  std::set<std::string> seen;
  std::istringstream lines(text);
  std::string current;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(seen.insert(current).second) << current;
    } else if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(line.substr(7).starts_with(current + " ")) << line;
    } else {
      EXPECT_TRUE(line.starts_with(current)) << line;
    }
  }
  for (const MetricInfo& m : kMetrics) {
    EXPECT_TRUE(seen.contains(m.name)) << m.name << " isn't in the text of a snapshot that has everything";
    const std::string name = m.name, type = m.type;
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    EXPECT_THAT(type, ::testing::AnyOf("counter", "gauge", "histogram", "summary"));
  }
  EXPECT_EQ(seen.size(), kNumMetrics);
}

TEST(Prometheus, ProgramsWithoutRunsAndNothingAtAll) {
  Snapshot s;
  EXPECT_EQ(samples(prometheus_text(s, {})).size(), 2u);  // build and uptime
  s.programs.emplace_back().name = "fresh";
  const auto found = samples(prometheus_text(s, {}));
  EXPECT_EQ(found.at(R"(msvm_runs_total{program="fresh"})"), 0);
  EXPECT_FALSE(found.contains(R"(msvm_hit_ratio{program="fresh"})"));
  for (const auto& [key, value] : found) EXPECT_FALSE(std::isnan(value)) << key;
}

TEST(Prometheus, NamesThatAreNoText) {
  Snapshot s;
  s.programs.emplace_back().name = "a\xff\xc3(\xe4\xb8\xad";
  EXPECT_TRUE(samples(prometheus_text(s, {})).contains("msvm_runs_total{program=\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xe4\xb8\xad\"}"));
}

TEST(MetricDocs, CommittedPageIsCurrent) {
  const std::string path = std::string(MSVM_SOURCE_DIR) + "/docs/metrics.md";
  if (std::getenv("MSVM_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file_atomically(path, std::string_view(metric_docs())).ok());
  }
  auto text = read_text_file(path);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, metric_docs()) << "MSVM_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace
}  // namespace msvm::observe
