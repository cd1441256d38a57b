// Threads: going on, steps, pauses, and why one waits.
#include <fmt/format.h>

#include "observe/dap/requests.h"

namespace msvm::observe::dap {
namespace {

std::optional<debug::ThreadInfo> find_thread(State& s, debug::ThreadId thread) {
  for (debug::ThreadInfo& t : s.debugger.threads())
    if (t.thread == thread) return std::move(t);
  return {};
}

Status none(debug::ThreadId thread) { return {StatusCode::kNotFound, fmt::format("threadId: there is no thread {}", thread)}; }

/// `go` lets the thread go on; the client needn't be told that it did.
template <class Go> Status let_go_on(State& s, debug::ThreadId thread, Go go) {
  {
    std::lock_guard lock(s.mutex);
    s.resuming.insert(thread);
  }
  s.handles.thread_goes_on(thread);
  Status done = go();
  if (!done.ok()) {
    std::lock_guard lock(s.mutex);
    s.resuming.erase(thread);
  }
  return done;
}

Result<Json> step(State& s, const Arguments& a, debug::Step kind) {
  MSVM_ASSIGN_OR_RETURN(const debug::ThreadId thread, thread_of(a));
  MSVM_ASSIGN_OR_RETURN(const std::string granularity, a.text("granularity", "statement"));
  if (granularity != "statement" && granularity != "line" && granularity != "instruction") return a.wrong("granularity", "\"statement\", \"line\" or \"instruction\"");
  MSVM_RETURN_IF_ERROR(let_go_on(s, thread, [&] { return s.debugger.step(thread, kind); }));
  return Json::object();
}

const char* exception_id(debug::StopReason r) {
  switch (r) {
    case debug::StopReason::kFailure: return "failure";
    case debug::StopReason::kFallback: return "fallback";
    case debug::StopReason::kNan: return "nan";
    case debug::StopReason::kEntry:
    case debug::StopReason::kStep:
    case debug::StopReason::kBreakpoint:
    case debug::StopReason::kInstructionBreakpoint:
    case debug::StopReason::kPause: return nullptr;
  }
  return nullptr;
}

}  // namespace

Result<debug::ThreadId> thread_of(const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("threadId", 1, std::numeric_limits<int32_t>::max()));
  return static_cast<debug::ThreadId>(id);
}

Result<debug::FrameRef> frame_of(State& s, const Arguments& a) {
  if (a.has("frameId")) {
    MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("frameId", 1, std::numeric_limits<int64_t>::max()));
    MSVM_ASSIGN_OR_RETURN(const Frame frame, s.handles.frame(id));
    return frame.at;
  }
  if (a.has("threadId")) {
    MSVM_ASSIGN_OR_RETURN(const debug::ThreadId thread, thread_of(a));
    return debug::FrameRef(thread);
  }
  debug::ThreadId waits = 0;
  for (const debug::ThreadInfo& t : s.debugger.threads())
    if (t.stop) waits = waits ? -1 : t.thread;
  if (waits > 0) return debug::FrameRef(waits);
  if (waits == 0) return invalid_argument("no thread waits: a frame is needed for this");
  return invalid_argument("threadId: expected an integer, found nothing, and several threads wait");
}

Result<Json> threads(State& s, const Arguments&) {
  Json rows = Json::array();
  for (const debug::ThreadInfo& t : s.debugger.threads()) {
    Json row{{"id", t.thread}, {"name", t.name.empty() ? fmt::format("thread {}", t.thread) : t.name}};
    if (HostFrames* host = s.options.host) {
      if (std::string name = host->thread_name(t.handle); !name.empty()) row["name"] = std::move(name);
      row["hostThread"] = host->debugger_id(t.handle);
    }
    rows.push_back(std::move(row));
  }
  return Json{{"threads", std::move(rows)}};
}

Result<Json> continue_(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const debug::ThreadId thread, thread_of(a));
  MSVM_RETURN_IF_ERROR(let_go_on(s, thread, [&] { return s.debugger.resume(thread); }));
  return Json{{"allThreadsContinued", false}};
}

Result<Json> next(State& s, const Arguments& a) { return step(s, a, debug::Step::kOver); }
Result<Json> step_in(State& s, const Arguments& a) { return step(s, a, debug::Step::kIn); }
Result<Json> step_out(State& s, const Arguments& a) { return step(s, a, debug::Step::kOut); }

Result<Json> pause(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t thread, a.integer("threadId", 0, std::numeric_limits<int32_t>::max()));  // 0: all
  MSVM_ASSIGN_OR_RETURN(const bool on, a.flag("on", true));  // ours: false takes it back
  MSVM_RETURN_IF_ERROR(s.debugger.pause(static_cast<debug::ThreadId>(thread), on));
  return Json::object();
}

Result<Json> exception_info(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const debug::ThreadId thread, thread_of(a));
  const auto t = find_thread(s, thread);
  if (!t) return none(thread);
  if (!t->stop) return invalid_argument(fmt::format("threadId: thread {} doesn't wait", thread));
  const char* id = exception_id(t->stop->reason);
  if (!id) return invalid_argument(fmt::format("threadId: thread {} doesn't wait for something that failed", thread));
  const debug::Stop& stop = *t->stop;
  Json details{{"message", stop.text}, {"typeName", id}};
  if (const auto frames = s.debugger.frames(thread); frames.ok()) {
    std::string stack;
    for (const debug::FrameInfo& f : *frames) stack += fmt::format("{} at {} offset 0x{:x}{}\n", f.call, f.opcode, f.offset, f.file.empty() ? "" : fmt::format(" ({}:{})", f.file, f.line));
    details["stackTrace"] = std::move(stack);
  }
  return Json{{"exceptionId", id}, {"description", stop.fix.empty() ? stop.text : fmt::format("{}\nfix: {}", stop.text, stop.fix)}, {"breakMode", "always"}, {"details", std::move(details)}, {"fix", stop.fix}};
}

}  // namespace msvm::observe::dap
