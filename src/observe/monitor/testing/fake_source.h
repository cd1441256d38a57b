// A source whose answers tests know.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

#include "observe/snapshot/source.h"

namespace msvm::observe {

struct FakeSource : Source {
  std::atomic<int> states{0}, began{0}, ended{0}, disassembly_ms{0};
  size_t padding = 0;  // bytes that a state is longer
  std::mutex mutex;
  std::string last_action, last_body;  // under mutex

  std::string state() override {
    const int n = ++states;
    return "{\"version\":1,\"number\":" + std::to_string(n) + ",\"padding\":\"" + std::string(padding, 'x') + "\"}";
  }
  std::string history() override { return "{\"step_s\":1,\"points\":[{\"time\":\"a\",\"queued\":1},{\"time\":\"b\",\"queued\":2}]}"; }
  std::string newest_point() override { return "{\"time\":\"b\",\"queued\":2}"; }
  std::string metrics() override { return "# HELP msvm_runs_total Runs.\n# TYPE msvm_runs_total counter\nmsvm_runs_total 3\n"; }
  Result<std::string> disassembly(uint64_t program, int32_t function, int32_t region, std::string_view entry) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(disassembly_ms));
    if (program != 1) return Status(StatusCode::kNotFound, "there is no program " + std::to_string(program));
    return "{\"entry\":\"" + std::to_string(function) + "/" + std::to_string(region) + "/" + std::string(entry == "box" ? entry : "other") + "\"}";
  }
  Result<std::string> bytecode(uint64_t program) override { return "{\"lines\":[],\"program\":" + std::to_string(program) + "}"; }
  Status act(std::string_view action, std::string_view body) override {
    std::lock_guard lock(mutex);
    last_action = action;
    last_body = body;
    if (action == "fail") return invalid_argument("it \"fails\"\n");
    if (action == "unknown") return {StatusCode::kNotFound, "there is no action unknown"};
    return {};
  }
  void monitor_began() override { ++began; }
  void monitor_ended() override { ++ended; }
};

}  // namespace msvm::observe
