// Bytes of a connection to a debug adapter whose program waits at its first instruction: one answer to each request, whatever they are; then the program goes on, with the same result.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <set>
#include <string>

#include "msvm/bytecode/text_file.h"
#include "observe/dap/connection.h"
#include "observe/dap/session.h"
#include "observe/monitor/testing/fake_source.h"

using namespace msvm;
using namespace msvm::observe;

namespace {

constexpr const char* kSum = R"(module "sum" version 1
symbol N in [1, 64]

func @sum(n: i64, x: f32[N]) -> (i64, y: f32[N])
b0:
  R0 = SCALAR_INPUT 0
  R5 = TENSOR_CREATE input 1
  R6 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R5) -> R6
  JUMP b1
b1:
  R1: i64 = SCALAR_PHI [b0: 0, b2: R1 + 1]
  R2: i64 = SCALAR_PHI [b0: 0, b2: R3]
  R4 = SHAPE_CALC lt R1, R0
  BRANCH_IF R4, b2, b3
b2:
  R3 = SHAPE_CALC add R2, R1
  JUMP b1
b3:
  RETURN (R6; R2)
)";

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// Keeps what the adapter says, and looks at it.
class Client final : public dap::Output {
 public:
  void send(const dap::Json& message) override {
    require(dap::check_message(message).ok(), "what goes out isn't a message: " + dap::dump(message));
    std::lock_guard lock(mutex_);
    if (message["type"] != "response") return;
    ++answers_;
    require(message["success"] == true || !message["message"].get<std::string>().empty(), "a failure without a word");
    require(message.value("message", "").size() < 100'000, "a message without end");
  }
  size_t answers() {
    std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  std::mutex mutex_;
  size_t answers_ = 0;
};

/// Counts what the session is given, and keeps back what would write files.
class Counting final : public dap::Peer {
 public:
  explicit Counting(dap::Peer& to) : to_(to) {}
  void receive(const dap::Json& message) override {
    if (message["type"] == "request") {
      if (message["command"] == "msvm/saveTensor" || message["command"] == "msvm/loadCapabilityPatch") return;
      ++requests;
    }
    to_.receive(message);
  }
  size_t requests = 0;

 private:
  dap::Peer& to_;
};

std::shared_ptr<Executable> program() {
  auto module = assemble_module(kSum, "sum.msasm", TextLines::kAsDebugInfo);
  require(module.ok(), "the program isn't one");
  auto engine = Engine::create({.num_threads = 1, .jit = {.jit_level = 0}});
  auto loaded = (*engine)->load(std::move(*module));
  require(loaded.ok(), "the program can't be loaded");
  debug::Debugger::process().add(*loaded, "sum");
  return *loaded;
}

void give(dap::Peer& to, int seq, const char* command, dap::Json arguments) { to.receive({{"seq", seq}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}}); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto executable = program();
  static FakeSource source;
  auto& debugger = debug::Debugger::process();
  Client client;
  dap::Session session(client, {.debugger = debugger, .source = source, .may_attach = true});
  give(session, 1, "initialize", {{"adapterID", "msvm"}});
  give(session, 2, "attach", {{"stopOnEntry", true}});
  auto x = executable->engine().allocate(DType::kF32, std::vector<int64_t>{4});
  require(x.ok(), "no memory");
  for (int i = 0; i < 4; ++i) x->meta.as<float>()[i] = static_cast<float>(i) - 1;
  RunControl control;
  auto run = std::async(std::launch::async, [&] {
    std::vector<Value> results;
    const Status s = executable->run(std::vector<Value>{int64_t{5}, *x}, results, 0, &control);
    return s;
  });
  for (int i = 0; i < 1000 && run.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready; ++i) {
    bool waits = false;
    for (const auto& t : debugger.threads()) waits |= t.stop.has_value();
    if (waits) break;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  Counting counting(session);
  dap::FrameReader reader;
  reader.push({reinterpret_cast<const char*>(data), size});
  const size_t before = client.answers();
  (void)dap::deliver(reader, counting, client);
  require(client.answers() >= before + counting.requests, "a request without an answer");
  session.closed();
  if (run.wait_for(std::chrono::seconds(5)) != std::future_status::ready) require(false, "the program doesn't go on");
  (void)run.get();  // registers may have been changed, runs cancelled
  return 0;
}
