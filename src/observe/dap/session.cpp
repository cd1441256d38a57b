#include "observe/dap/session.h"

#include <fmt/format.h>

#include "observe/dap/requests.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

enum When : uint8_t { kAlways, kBefore, kSession };

struct Row {
  std::string_view command;
  Handler handler;
  When when;
};
constexpr Row kRequests[] = {
#define MSVM_REQUEST(command, handler, when) {command, handler, when},
#include "observe/dap/requests.def"
#undef MSVM_REQUEST
};

const Row* find_row(std::string_view command) {
  for (const Row& r : kRequests)
    if (r.command == command) return &r;
  return nullptr;
}

/// What is shown in a box; names that somebody gave may be of any length.
std::string clipped(std::string text) {
  constexpr size_t kMost = 10'000;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

const char* reason_name(debug::StopReason r) {
  switch (r) {
    case debug::StopReason::kEntry: return "entry";
    case debug::StopReason::kStep: return "step";
    case debug::StopReason::kBreakpoint: return "breakpoint";
    case debug::StopReason::kInstructionBreakpoint: return "instruction breakpoint";
    case debug::StopReason::kPause: return "pause";
    case debug::StopReason::kFailure:
    case debug::StopReason::kFallback:
    case debug::StopReason::kNan: return "exception";
  }
  return "pause";
}

const char* description(debug::StopReason r) {
  switch (r) {
    case debug::StopReason::kEntry: return "Paused at the first instruction";
    case debug::StopReason::kStep: return "Paused after a step";
    case debug::StopReason::kBreakpoint:
    case debug::StopReason::kInstructionBreakpoint: return "Paused at a breakpoint";
    case debug::StopReason::kPause: return "Paused";
    case debug::StopReason::kFailure: return "Paused before the run fails";
    case debug::StopReason::kFallback: return "Paused: the slow path was taken";
    case debug::StopReason::kNan: return "Paused: NaN or Inf in a result";
  }
  return "Paused";
}

}  // namespace

/// Tells the client what the inspector tells.
struct Session::Impl final : debug::Listener {
  Impl(Output& client, SessionOptions options) : state(client, std::move(options)) { state.listener = this; }

  Json with_host(debug::ThreadId thread, Json body) const {
    if (HostFrames* host = state.options.host)
      for (const debug::ThreadInfo& t : state.debugger.threads())
        if (t.thread == thread) body["hostThread"] = host->debugger_id(t.handle);
    return body;
  }
  void release(debug::ThreadId thread) const {
    if (HostFrames* host = state.options.host)
      for (const debug::ThreadInfo& t : state.debugger.threads())
        if (t.thread == thread) host->release(t.handle);
  }

  void stopped(const debug::Stop& stop) override {
    Json body = with_host(stop.thread, {{"reason", reason_name(stop.reason)}, {"description", description(stop.reason)}, {"threadId", stop.thread}, {"allThreadsStopped", false}});
    if (!stop.text.empty()) body["text"] = stop.text;
    if (!stop.breakpoints.empty()) body["hitBreakpointIds"] = stop.breakpoints;
    state.events.event("stopped", std::move(body));
    status(stop.thread);
  }
  void resumed(debug::ThreadId thread) override {
    state.handles.thread_goes_on(thread);
    release(thread);
    bool asked = false;
    {
      std::lock_guard lock(state.mutex);
      asked = state.resuming.erase(thread) > 0;
    }
    if (!asked) state.events.event("continued", with_host(thread, {{"threadId", thread}, {"allThreadsContinued", false}}));
    status(thread);
  }
  /// Of a launched program its next run tells, where the step ends, or its end.
  void step_ended(debug::ThreadId thread) override {
    if (state.options.launcher) (void)state.debugger.stop_at_next_run(thread);
    else state.events.event("msvm/stepEnded", with_host(thread, {{"threadId", thread}}));
  }
  void thread_began(debug::ThreadId thread) override { state.events.event("thread", with_host(thread, {{"reason", "started"}, {"threadId", thread}})); }
  void thread_ended(debug::ThreadId thread) override { state.events.event("thread", {{"reason", "exited"}, {"threadId", thread}}); }
  void program_loaded(const debug::ProgramInfo& p) override {
    state.events.event("loadedSource", {{"reason", "new"}, {"source", listing_source(p.program, p.name)}});
    state.events.event("msvm/programLoaded", {{"program", p.program}, {"name", p.name}, {"uri", listing_uri(p.program, p.name)}});
  }
  void program_unloaded(const debug::ProgramInfo& p) override { state.events.event("loadedSource", {{"reason", "removed"}, {"source", listing_source(p.program, p.name)}}); }
  void breakpoint_changed(const debug::Breakpoint& b) override { state.events.event("breakpoint", {{"reason", "changed"}, {"breakpoint", breakpoint_json(state, b)}}); }
  void patched(const debug::Patch& p) override {
    state.events.event("msvm/patched", {{"program", p.program}, {"function", p.function}, {"region", p.region}, {"signature", p.signature}, {"oldTier", p.old_tier}, {"newTier", p.new_tier}, {"address", hex(p.address)}, {"text", p.text}});
    state.events.event("msvm/listingChanged", {{"uri", listing_uri(p.program, p.name)}, {"version", state.debugger.listing_version(p.program)}});
    {
      std::lock_guard lock(state.mutex);
      state.last_patch = p;
    }
    status(debug::kAnyThread);
  }
  void output(std::string_view category, std::string_view text) override { state.output(category, text); }

  /// Where it is another than the client knows of.
  void status(debug::ThreadId thread) {
    Json now = status_json(state, thread);
    std::lock_guard lock(status_mutex);
    if (now == last_status) return;
    last_status = now;
    state.events.event("msvm/status", std::move(now));
  }

  State state;
  std::mutex status_mutex;
  Json last_status;
};

Session::Session(Output& client, SessionOptions options) : impl_(std::make_unique<Impl>(client, std::move(options))) {}
Session::~Session() { impl_->state.let_go(true); }

bool Session::attached() const { return impl_->state.attached; }
std::string Session::client() const {
  std::lock_guard lock(impl_->state.mutex);
  return impl_->state.client_name;
}
bool Session::begun() const { return impl_->state.begun; }
void Session::output(std::string_view category, std::string_view text) { impl_->state.output(category, text); }
void Session::event(const std::string& name, Json body) { impl_->state.events.event(name, std::move(body)); }
void Session::closed() { impl_->state.let_go(true); }

void Session::receive(const Json& message) {
  State& s = impl_->state;
  const Arguments m(message);
  const auto type = m.text("type", ""), command = m.text("command", "");
  if (!type.ok() || *type != "request" || !command.ok()) return;  // a response to nothing, or an event: adapters get none
  const Json* given = m.find("arguments");
  static const Json none = Json::object();
  const Arguments a(given ? *given : none);
  const Row* row = find_row(*command);
  s.events.request_begins();
  const auto answer = [&]() -> Result<Json> {
    if (!row) return unsupported(fmt::format("there is no request \"{}\"", *command));
    MSVM_RETURN_IF_ERROR(a.check());
    if (s.over && row->when != kAlways) return invalid_argument(fmt::format("{}: the session has ended", *command));
    if (!s.initialized && row->when != kAlways) return invalid_argument(fmt::format("{}: expected initialize first", *command));
    if (row->when == kBefore && s.begun) return invalid_argument(fmt::format("{}: the session has a program already", *command));
    if (row->when == kSession && !s.begun) return invalid_argument(fmt::format("{}: expected launch or attach first", *command));
    return row->handler(s, a);
  }();
  Json response{{"type", "response"}, {"request_seq", message["seq"]}, {"command", *command}, {"success", answer.ok()}};
  if (answer.ok()) {
    response["body"] = *answer;
  } else {
    const std::string text = clipped(row ? fmt::format("{}: {}", *command, answer.status().message()) : answer.status().message());
    response["message"] = text;
    response["body"] = {{"error", {{"id", static_cast<int>(answer.status().code())}, {"format", "{text}"}, {"variables", {{"text", text}}}, {"showUser", false}}}};
  }
  s.events.respond(std::move(response));
  std::vector<std::function<void()>> after;
  after.swap(s.after);
  for (const auto& f : after) f();
}

}  // namespace msvm::observe::dap
