// What the console is besides its commands: the conversation with the adapter, and waiting.
#include "debug_console.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "common.h"

namespace msvm::cli {
namespace {

using observe::dap::Arguments;

constexpr auto kGlance = std::chrono::milliseconds(100);  // between looks at Ctrl-C
constexpr auto kTimeToBegin = std::chrono::seconds(120);  // Python programs import what they import

std::atomic<bool> interrupted{false};

/// Whether a terminal that commands came from is no longer there. (The end of a pipe is the end of its commands.)
bool terminal_is_gone() {
  static const bool terminal = ::isatty(STDIN_FILENO);
  pollfd p{STDIN_FILENO, 0, 0};
  return terminal && ::poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

}  // namespace

void DebugConsole::interrupt() { interrupted = true; }
void DebugConsole::forget_interrupt() { interrupted = false; }

std::string DebugConsole::prompt() {
  take_all();
  announce();
  return threads_.size() > 1 && stop_of(thread_) ? fmt::format("(msvm thread {}) ", number_of(thread_)) : "(msvm) ";
}

DebugConsole::DebugConsole(observe::dap::Output& adapter, bool colour) : client_(adapter, [this](const Json& message) { take(message); }), colour_(colour) {}

Result<Json> DebugConsole::call(const char* name, Json arguments) { return client_.call(name, std::move(arguments), kTimeToBegin); }

Result<Json> DebugConsole::call_of_thread(const char* name, Json arguments) {
  MSVM_RETURN_IF_ERROR(need_stop());
  arguments["threadId"] = thread_;
  return call(name, std::move(arguments));
}

Status DebugConsole::need_stop() {
  if (over_) return invalid_argument("the program has ended");
  if (stop_of(thread_)) return {};
  return stops_.empty() ? invalid_argument("the program runs: `pause` stops it") : invalid_argument(fmt::format("{} runs: `thread {}` looks at one that waits", thread_text(thread_), number_of(stops_.front().thread)));
}

void DebugConsole::take(const Json& event) {
  std::lock_guard lock(mutex_);
  events_.push_back(event);
  said_.notify_all();
}

/// What has been said so far, in its order.
void DebugConsole::take_all() {
  for (;;) {
    Json e;
    {
      std::lock_guard lock(mutex_);
      if (events_.empty()) return;
      e = std::move(events_.front());
      events_.pop_front();
    }
    const std::string name = e.value("event", "");
    const Json body = e.value("body", Json::object());
    if (name == "output") {
      if (body.value("category", "") == "telemetry" || body.contains("data")) continue;  // what a failed launch says, its response says again
      std::fflush(stdout);
      fmt::print(body.value("category", "") == "stderr" ? stderr : stdout, "{}", printable(body.value("output", "")));
    } else if (name == "initialized") {
      initialized_ = true;
    } else if (name == "stopped") {
      thread_stopped(body);
    } else if (name == "continued") {
      thread_goes_on(body.value("threadId", int64_t{0}));
    } else if (name == "msvm/stepEnded") {
      left_.insert(body.value("threadId", int64_t{0}));
    } else if (name == "thread" && body.value("reason", "") == "exited") {
      ended_.insert(body.value("threadId", int64_t{0}));
      thread_goes_on(body.value("threadId", int64_t{0}));
    } else if (name == "exited") {
      exit_code_ = body.value("exitCode", 0);
    } else if (name == "terminated") {
      over_ = true;
      stops_.clear();
    } else if (name == "msvm/listingChanged") {
      listings_.erase(body.value("uri", ""));
    } else if (name == "msvm/patched") {
      fmt::print("[{}]\n", printable(body.value("text", "")));
    } else if (name == "breakpoint") {
      const Json b = body.value("breakpoint", Json::object());
      for (Breakpoint& mine : breakpoints_)
        if (mine.id == b.value("id", int64_t{-1})) {
          const bool was_verified = std::exchange(mine.verified, b.value("verified", false));
          const std::string had = std::exchange(mine.message, b.value("message", ""));
          mine.was_bound |= mine.verified;
          // Of one that waits the reason may change with every program that comes.
          if (mine.verified != was_verified || (mine.verified && !mine.message.empty() && mine.message != had)) print_breakpoint(mine);
        }
    }
  }
}

Status DebugConsole::wait(int64_t thread) {
  bool asked = false;
  for (;;) {
    take_all();
    if (ThreadStop* s = unshown(thread)) return show_stop(*s);
    // Of a launched program something else is told sooner or later, but for what a thread that waits holds up.
    if (thread && !over_ && (attached_ || !stops_.empty()))
      for (const auto& [who, what] : {std::pair{&left_, kRunEnded}, {&ended_, kThreadEnded}})
        if (who->contains(thread)) return show_left(what);
    if (over_) {
      fmt::print("The program has ended{}.\n", exit_code_ ? fmt::format(" with exit code {}", exit_code_) : "");
      return {};
    }
    if (terminal_is_gone()) return Status(StatusCode::kCancelled, "the terminal is gone");
    if (interrupted.exchange(false)) {
      if (!stops_.empty()) return show_left("Interrupted");
      if (asked) return Status(StatusCode::kCancelled, "the program runs on, and doesn't come to an instruction: `quit` ends it");
      asked = true;
      // The current thread; all where that is gone, or there is none.
      if (ended_.contains(thread_) || !call("pause", {{"threadId", thread_}}).ok()) MSVM_RETURN_IF_ERROR(call("pause", {{"threadId", 0}}).status());
    }
    std::unique_lock lock(mutex_);
    if (events_.empty()) said_.wait_for(lock, kGlance);
  }
}

std::vector<std::pair<int, std::string>> DebugConsole::never_bound() const {
  std::vector<std::pair<int, std::string>> out;
  for (const Breakpoint& b : breakpoints_)
    if (!b.was_bound) out.emplace_back(b.number, b.message);
  return out;
}

Status DebugConsole::begin(const char* request, Json arguments, const std::function<Status()>& before) {
  (void)terminal_is_gone();  // learns that there is one
  program_ = text_in(arguments, "program");
  attached_ = std::string_view(request) == "attach";
  MSVM_RETURN_IF_ERROR(call("initialize", {{"clientID", "msvm debug"}, {"adapterID", "msvm"}, {"linesStartAt1", true}, {"columnsStartAt1", true}, {"pathFormat", "path"}}).status());
  // Some adapters answer this only when the configuration is done.
  Result<Json> answer = Json();
  bool answered = false;
  client_.request(request, std::move(arguments), [&](const Json& response) {
    std::lock_guard lock(mutex_);
    if (const Status how = observe::dap::status_of(response); !how.ok()) answer = how;
    answered = true;
    said_.notify_all();
  });
  const auto until = std::chrono::steady_clock::now() + kTimeToBegin;
  const auto wait_for = [&](const auto& holds) -> Status {
    for (;;) {
      take_all();
      std::unique_lock lock(mutex_);
      MSVM_RETURN_IF_ERROR(answer.ok() ? Status() : answer.status());
      if (holds()) return {};
      if (interrupted.exchange(false)) return Status(StatusCode::kCancelled, "interrupted");
      if (std::chrono::steady_clock::now() > until) return Status(StatusCode::kIo, fmt::format("{}: the program doesn't begin", request));
      if (events_.empty()) said_.wait_for(lock, kGlance);
    }
  };
  Status ready = wait_for([&] { return initialized_; });
  if (ready.ok()) ready = call("setExceptionBreakpoints", {{"filters", {"failure"}}}).status();
  if (ready.ok()) ready = before();
  if (ready.ok()) ready = call("configurationDone").status();
  if (ready.ok()) ready = wait_for([&] { return answered; });
  if (!answered) client_.closed();  // nobody writes to what is gone
  MSVM_RETURN_IF_ERROR(ready);
  take_all();
  return attached_ ? Status() : wait(0);
}

void DebugConsole::end() {
  if (!over_) (void)client_.call("disconnect", Json::object(), std::chrono::seconds(10));
  take_all();
}

}  // namespace msvm::cli
