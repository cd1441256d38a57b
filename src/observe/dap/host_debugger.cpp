// msvm/startHostDebugger: the language's own debugger, in a process that is attached to. It may take long, as the language may calculate without anybody
// being able to speak to it: nothing here waits for that but threads of their own.
#include <condition_variable>
#include <thread>

#include "msvm/base/no_signals.h"
#include "observe/dap/requests.h"

namespace msvm::observe::dap {
namespace {

constexpr auto kTimeToReach = std::chrono::seconds(3);   // the language
constexpr auto kTimeToStart = std::chrono::seconds(20);  // from then on; threads that calculate make it long

}  // namespace

/// A start that is under way, or has ended.
struct HostStart {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  std::optional<Status> result;
  State* late = nullptr;  // who is told of a failure that came after the answer; the session is over: null
};

Result<Json> msvm_start_host_debugger(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t port, a.integer("port", 1, 65535));
  MSVM_ASSIGN_OR_RETURN(const std::string token, a.text("token"));
  HostFrames* host = s.options.host;
  if (!host) return unsupported("programs of this process are called by no language that has a debugger");
  if (s.host_start) return invalid_argument("it was started already");
  const auto start = s.host_start = std::make_shared<HostStart>();
  const NoSignals no_signals;
  std::thread([start, host, port, token] {
    (void)host->thread_name(0);
    {
      std::lock_guard lock(start->mutex);
      start->reached = true;
      start->changed.notify_all();
    }
    Status result = host->start_debugger(static_cast<uint16_t>(port), token);
    std::lock_guard lock(start->mutex);
    if (start->late && !result.ok()) start->late->output("console", result.message() + "\n");
    start->result = std::move(result);
    start->changed.notify_all();
  }).detach();
  std::unique_lock lock(start->mutex);
  const bool done = start->changed.wait_for(lock, kTimeToReach, [&] { return start->reached; }) && start->changed.wait_for(lock, kTimeToStart, [&] { return start->result.has_value(); });
  if (done && !start->result->ok()) {
    const Status failed = *start->result;
    lock.unlock();
    s.host_start = nullptr;  // another try may come
    return failed;
  }
  if (!done) start->late = &s;
  return Json{{"state", done ? "started" : "waiting"}, {"library", host->library()}};
}

void stop_host_debugger(State& s) {
  const auto start = std::exchange(s.host_start, nullptr);
  if (!start) return;
  {
    std::lock_guard lock(start->mutex);
    start->late = nullptr;
  }
  const auto stop = std::make_shared<HostStart>();
  const NoSignals no_signals;
  std::thread([stop, host = s.options.host] {
    host->stop_debugger();
    std::lock_guard lock(stop->mutex);
    stop->result = Status();
    stop->changed.notify_all();
  }).detach();
  std::unique_lock lock(stop->mutex);
  stop->changed.wait_for(lock, kTimeToReach, [&] { return stop->result.has_value(); });
}

}  // namespace msvm::observe::dap
