// For this room's tests: a listener that a test drives.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "msvm/engine/program_testing.h"
#include "observe/debug/debugger.h"

namespace msvm::observe::debug::testing {

using msvm::testing::make_engine;
using msvm::testing::parse_values;

/// Attached as long as it lives. Each stop is given to `at_stop`, on the thread that waits, if there is one; else it waits for next().
class Client : public Listener {
 public:
  explicit Client(std::function<void(const Stop&)> at_stop = {}) : at_stop_(std::move(at_stop)) { EXPECT_TRUE(Debugger::process().attach(this).ok()); }
  ~Client() override { Debugger::process().detach(); }

  void stopped(const Stop& s) override {
    if (at_stop_) return at_stop_(s);
    std::lock_guard lock(mutex_);
    stops_.push_back(s);
    changed_.notify_all();
  }
  void resumed(ThreadId) override { ++resumes; }
  void run_ended(ThreadId, const Place&, const Status&) override { ++runs; }
  void step_ended(ThreadId) override { ++ended_steps; }
  void thread_ended(ThreadId) override { ++ended_threads; }
  void program_loaded(const ProgramInfo& p) override {
    std::lock_guard lock(mutex_);
    loaded.push_back(p.name);
  }
  void breakpoint_changed(const Breakpoint& b) override {
    std::lock_guard lock(mutex_);
    changes.push_back(b);
  }
  void patched(const Patch& p) override {
    std::lock_guard lock(mutex_);
    patches.push_back(p);
  }
  void output(std::string_view, std::string_view text) override {
    std::lock_guard lock(mutex_);
    told += text;
  }

  /// The next stop that nobody has taken; fails the test after ten seconds.
  Stop next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !stops_.empty(); })) {
      ADD_FAILURE() << "no stop";
      return {};
    }
    Stop s = stops_.front();
    stops_.pop_front();
    return s;
  }
  bool waiting() {
    std::lock_guard lock(mutex_);
    return !stops_.empty();
  }

  std::atomic<int> resumes{0}, runs{0}, ended_steps{0}, ended_threads{0};
  std::vector<std::string> loaded;
  std::vector<Breakpoint> changes;
  std::vector<Patch> patches;
  std::string told;
  std::mutex& mutex() { return mutex_; }

 private:
  std::function<void(const Stop&)> at_stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Stop> stops_;
};

inline Debugger& debugger() { return Debugger::process(); }

/// A program under the debugger's eyes.
inline std::shared_ptr<Executable> load(Engine& engine, std::string_view text, const std::string& name = "test") {
  auto program = msvm::testing::load(engine, text);
  if (program) debugger().add(program, name);
  return program;
}

/// A run in a thread of its own.
class RunThread {
 public:
  RunThread(Engine& engine, std::shared_ptr<Executable> program, const std::string& inputs, int32_t function = 0, RunControl* control = nullptr)
      : inputs_(*parse_values(engine, inputs)), thread_([this, program, function, control] { status = program->run(inputs_, results, function, control); }) {}
  ~RunThread() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::string text() {
    join();
    return status.ok() ? msvm::testing::to_text(results) : status.message();
  }
  Status status;
  std::vector<msvm::Value> results;

 private:
  std::vector<msvm::Value> inputs_;
  std::thread thread_;
};

/// Everything that can be asked of a thread that waits, once.
inline void look_at_everything(ThreadId t) {
  Debugger& d = debugger();
  auto frames = d.frames(t);
  ASSERT_TRUE(frames.ok()) << frames.status().message();
  auto registers = d.registers(t);
  ASSERT_TRUE(registers.ok()) << registers.status().message();
  for (const RegisterView& r : registers->registers) {
    const std::string name = "R" + std::to_string(r.reg);
    auto v = d.evaluate(t, name);
    EXPECT_EQ(v.ok(), r.state != "unset" && (r.kind == "TensorMeta" || r.readable)) << name << " " << r.state << " " << (v.ok() ? v->text : v.status().message());
    if (r.kind != "TensorMeta") continue;
    auto copy = d.tensor(t, name);
    // Work of a device may have failed without the run knowing yet.
    if (copy.ok() || r.device == "CPU(0)" || !r.readable) {
      EXPECT_EQ(copy.ok(), r.readable) << name << " " << r.state << " " << (copy.ok() ? "" : copy.status().message());
    }
  }
  EXPECT_TRUE(d.symbols(t).ok());
  EXPECT_TRUE(d.constants(t).ok());
  EXPECT_TRUE(d.buffers(t).ok());
  auto call = d.call(t);
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_EQ(call->has_value(), frames->at(0).opcode == "OP_CALL");
  EXPECT_FALSE(d.completions(t, "", 0).empty());
}

}  // namespace msvm::observe::debug::testing
