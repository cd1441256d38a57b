// Engines and programs that really run, seen through the source of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "msvm/bytecode/text.h"
#include "observe/snapshot/source.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kText = R"(
module "dense" version 1
symbol N
func @main(x: f32[N, 8], w: f32[8, 4]) -> (y: f32[N, 4])
b0:
  R0 "x" = TENSOR_CREATE input 0    ; dense.py:1
  R1 "w" = TENSOR_CREATE input 1    ; dense.py:1
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2      ; dense.py:3
  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Tanh(R2) -> R3            ; dense.py:4
  TENSOR_FREE R2
  RETURN R3
)";

class ProcessSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto e = Engine::create({.num_threads = 1, .jit = {.jit_level = 0}});
    ASSERT_TRUE(e.ok()) << e.status().message();
    engine = *e;
    watch(engine);
    program = load("dense");
    ASSERT_TRUE(program);
  }
  std::shared_ptr<Executable> load(const std::string& name) const {
    AssembleResult a = assemble(kText, "dense.msasm");
    EXPECT_TRUE(a.errors.empty());
    auto p = engine->load(std::move(a.module));
    if (!p.ok()) return nullptr;
    watch(*p, name);
    return *p;
  }
  void run(Executable& e, int64_t rows) const {
    const std::vector<int64_t> x{rows, 8}, w{8, 4};
    auto a = engine->allocate(DType::kF32, x), b = engine->allocate(DType::kF32, w);
    ASSERT_TRUE(a.ok() && b.ok());
    std::fill_n(a->meta.as<float>(), rows * 8, 1.0f);
    std::fill_n(b->meta.as<float>(), 32, 0.5f);
    auto y = e.run(std::vector<Value>{*a, *b});
    ASSERT_TRUE(y.ok()) << y.status().message();
  }
  /// Row `name` of the state's programs; null if there is none.
  static Json row(const std::string& name) {
    const Json state = Json::parse(process_source().state());
    for (const Json& p : state["programs"])
      if (p["name"] == name) return p;
    return {};
  }
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
};

TEST_F(ProcessSourceTest, RunsAreCountedWithTheirWork) {
  for (int k = 0; k < 10; ++k) run(*program, 5);
  const Json p = row("dense");
  EXPECT_EQ(p["runs"], 10);
  EXPECT_EQ(p["latency"]["interpreted"]["count"], 10);
  EXPECT_GT(p["rates"]["gflops"].get<double>(), 0);
  EXPECT_GT(p["rates"]["runs_per_s"].get<double>(), 0);
  EXPECT_THAT(process_source().metrics(), HasSubstr("msvm_operations_total{program=\"dense\"} 3400\n"));  // 10 (20 results of 8 multiply-adds + 20)
}

TEST_F(ProcessSourceTest, NamesAreUniqueAndWhatIsGoneIsForgotten) {
  auto second = load("dense"), third = load("");
  EXPECT_TRUE(row("dense#2").is_object());
  EXPECT_TRUE(row("program").is_object());
  second.reset();
  EXPECT_TRUE(row("dense#2").is_null());
  second = load("dense");
  EXPECT_TRUE(row("dense#2").is_object());
  program.reset();
  second.reset();
  third.reset();
  engine.reset();
  const Json state = Json::parse(process_source().state());
  EXPECT_TRUE(state["programs"].empty()) << state["programs"].dump();
  EXPECT_TRUE(state["queues"].empty());
}

TEST_F(ProcessSourceTest, BytecodeLineByLine) {
  const uint64_t id = row("dense")["id"];
  auto text = process_source().bytecode(id);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const Json lines = Json::parse(*text)["lines"];
  int next = 0;
  for (const Json& l : lines) {
    if (l["instruction"].is_null()) continue;
    EXPECT_EQ(l["instruction"], next++);
    const std::string line = l["text"];
    if (line.find("MatMul") != std::string::npos) { EXPECT_EQ(l["place"], "dense.py:3"); }
    if (line.find("Tanh") != std::string::npos) { EXPECT_EQ(l["place"], "dense.py:4"); }
  }
  EXPECT_EQ(next, 8);
  EXPECT_EQ(process_source().bytecode(id + 1000).status().code(), StatusCode::kNotFound);
}

TEST_F(ProcessSourceTest, DisassemblyOfWhatIsNotThere) {
  const uint64_t id = row("dense")["id"];
  EXPECT_EQ(process_source().disassembly(id, 0, 0, "jit_1x1").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(process_source().disassembly(id + 1000, 0, 0, "jit_1x1").status().code(), StatusCode::kNotFound);
}

TEST_F(ProcessSourceTest, ActionsCheckTheirBody) {
  Source& s = process_source();
  const uint64_t id = row("dense")["id"];
  EXPECT_TRUE(s.act("clear_cache", "{\"program\": " + std::to_string(id) + "}").ok());
  for (const char* body : {"", "{", "[]", "{}", R"({"program": "x"})", R"({"program": -1})", R"({"program": 1, "more": 2})"}) EXPECT_EQ(s.act("clear_cache", body).code(), StatusCode::kInvalidArgument) << body;
  EXPECT_EQ(s.act("clear_cache", R"({"program": 123456})").code(), StatusCode::kNotFound);
  EXPECT_EQ(s.act("nonsense", "{}").code(), StatusCode::kNotFound);
  EXPECT_EQ(s.act("load_capability_patch", "{").code(), engine->patch_capabilities("{", "x").code());
  EXPECT_FALSE(s.act("load_capability_patch", R"({"format": 999})").ok());

  EXPECT_TRUE(s.act("alerts", R"([{"rule": "hit_rate < 0.85", "state": "firing"}])").ok());
  EXPECT_EQ(Json::parse(s.state())["alerts"][0]["state"], "firing");
  for (const char* body : {"{}", "[1]", "x"}) EXPECT_EQ(s.act("alerts", body).code(), StatusCode::kInvalidArgument) << body;
  EXPECT_EQ(Json::parse(s.state())["alerts"].size(), 1u);
  EXPECT_TRUE(s.act("alerts", "[]").ok());
}

TEST_F(ProcessSourceTest, TraceIsWhatItsOwnerSays) {
  Source& s = process_source();
  EXPECT_EQ(s.act("trace", R"({"on": true})").code(), StatusCode::kUnsupported);
  bool on = false;
  set_trace_control({[&](bool x) { return on = x, Status(); }, [&] { return on; }});
  EXPECT_TRUE(s.act("trace", R"({"on": true})").ok());
  EXPECT_EQ(Json::parse(s.state())["tracing"], true);
  EXPECT_EQ(s.act("trace", R"({"on": 1})").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(s.act("trace", R"({"on": false})").ok());
  EXPECT_EQ(Json::parse(s.state())["tracing"], false);
  set_trace_control({});
}

TEST_F(ProcessSourceTest, APatchIsAWarningAndReachesEveryEngine) {
  Source& s = process_source();
  ASSERT_TRUE(s.act("load_capability_patch", R"json({"format": 1, "device": "CPU(0)", "sections": {}})json").ok());
  const Json warnings = Json::parse(s.state())["warnings"];
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings[0]["kind"], "capability");
  EXPECT_EQ(warnings[0]["text"], "Capability DB updated: CPU(0) from the monitor");
}

TEST_F(ProcessSourceTest, HistoryIsSampledWhileAMonitorRuns) {
  Source& s = process_source();
  s.monitor_began();
  Json points;
  for (int k = 0; k < 200 && points.empty(); ++k) {
    run(*program, 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    points = Json::parse(s.history())["points"];
  }
  s.monitor_ended();
  ASSERT_FALSE(points.empty());
  EXPECT_GT(points[0]["runs_per_s"].get<double>(), 0);
  EXPECT_GT(points[0]["p50_ms"].get<double>(), 0);
  EXPECT_GT(points[0]["reserved"].get<int64_t>(), 0);
}

TEST_F(ProcessSourceTest, ReadFromManyThreadsWhileProgramsComeAndGo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      while (!stop) {
        EXPECT_TRUE(Json::accept(process_source().state()));
        EXPECT_FALSE(process_source().metrics().empty());
      }
    });
  for (int k = 0; k < 40; ++k) {
    auto p = load("comes and goes");
    ASSERT_TRUE(p);
    run(*p, 1 + k % 4);
  }
  stop = true;
  for (auto& r : readers) r.join();
}

// What is held while somebody looks isn't held for ever in a child that is made at that moment: it may register what it loads.
TEST_F(ProcessSourceTest, AfterAFork) {
  process_source().monitor_began();
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) EXPECT_FALSE(process_source().state().empty());
  });
  for (int k = 0; k < 20; ++k) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(10);
      watch(program, "the child's");
      process_source().monitor_ended();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  reader.join();
  process_source().monitor_ended();
}

}  // namespace
}  // namespace msvm::observe
