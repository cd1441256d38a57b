// initialize, launch, attach, and the ends of a session.
#include <fmt/format.h>

#include "observe/dap/capabilities.h"
#include "observe/dap/findings.h"
#include "observe/dap/requests.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

/// Takes as long wherever they differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned differs = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

void tell_programs(State& s) {
  for (const debug::ProgramInfo& p : s.debugger.programs()) {
    s.events.event("loadedSource", {{"reason", "new"}, {"source", listing_source(p.program, p.name)}});
    s.events.event("msvm/programLoaded", {{"program", p.program}, {"name", p.name}, {"uri", listing_uri(p.program, p.name)}});
  }
}

/// The program has ended by itself.
void ended(State& s, const Status& result) {
  if (!result.ok() && result.code() != StatusCode::kCancelled) s.output("stderr", fmt::format("error: {}\n", result.message()));
  s.events.event("exited", {{"exitCode", result.ok() ? 0 : 1}});
  s.events.event("terminated", Json::object());
}

}  // namespace

void State::output(std::string_view category, std::string_view text) { events.event("output", {{"category", category}, {"output", text}}); }

Status State::take_inspector(bool native_stays) {
  MSVM_RETURN_IF_ERROR(debugger.attach(listener));
  attached = true;
  debugger.set_native(native_stays ? debug::Native::kStay : debug::Native::kStepDown);
  debugger.set_stops({.failure = true});
  return {};
}

void State::let_go(bool terminate) {
  over = true;
  if (options.launcher && begun && terminate) options.launcher->stop();
  if (attached.exchange(false)) debugger.detach();
  stop_host_debugger(*this);  // once no thread waits in a run any more
}

Result<Json> initialize(State& s, const Arguments& a) {
  if (s.initialized) return invalid_argument("the session is initialised already");
  MSVM_ASSIGN_OR_RETURN(s.lines_from_1, a.flag("linesStartAt1", true));
  MSVM_ASSIGN_OR_RETURN(s.columns_from_1, a.flag("columnsStartAt1", true));
  MSVM_ASSIGN_OR_RETURN(const std::string format, a.text("pathFormat", "path"));
  if (format != "path") return a.wrong("pathFormat", "\"path\"");
  MSVM_ASSIGN_OR_RETURN(const std::string id, a.text("clientID", ""));
  MSVM_ASSIGN_OR_RETURN(const std::string name, a.text("clientName", id));
  MSVM_ASSIGN_OR_RETURN(const int64_t process, a.integer("processId", 0, std::numeric_limits<int32_t>::max(), 0));  // ours
  {
    std::lock_guard lock(s.mutex);
    s.client_name = process ? fmt::format("{} (process {})", name.empty() ? "a client" : name.substr(0, 100), process) : name.substr(0, 100);
  }
  s.initialized = true;
  return capabilities();
}

Result<Json> launch(State& s, const Arguments& a) {
  if (!s.options.launcher) return unsupported("this process runs already: attach to it");
  MSVM_ASSIGN_OR_RETURN(s.launch, read_launch(a));
  Diagnostics findings;
  const Status loaded = s.options.launcher->load(s.launch, findings);
  if (!loaded.ok()) {
    if (!findings.empty()) s.events.event_now("msvm/verificationFailed", verification_failed(s.launch.program, findings));
    s.events.event_now("output", {{"category", "stderr"}, {"output", loaded.message() + "\n"}, {"data", {{"launch", "failed"}}}});
    return loaded;
  }
  if (!s.launch.no_debug) {
    MSVM_RETURN_IF_ERROR(s.take_inspector(s.launch.native_stays));
    if (s.launch.stop_on_entry) s.debugger.stop_at_next_run();
  }
  s.begun = true;
  s.after.emplace_back([&s] {
    s.events.event("process", {{"name", s.launch.program}, {"startMethod", "launch"}, {"isLocalProcess", true}});
    tell_programs(s);
    s.events.event("initialized", Json::object());
  });
  return Json::object();
}

Result<Json> attach(State& s, const Arguments& a) {
  if (!s.options.may_attach) return unsupported("attach isn't possible here: expected launch");
  MSVM_ASSIGN_OR_RETURN(const std::string token, a.text("token", ""));
  if (!s.options.token.empty() && !same_secret(token, s.options.token)) return invalid_argument("token: expected that of the process's debug server (its file PID.debug.json has it)");
  MSVM_ASSIGN_OR_RETURN(const std::string native, a.text("native", "stepDown"));
  if (native != "stepDown" && native != "stay") return a.wrong("native", "\"stepDown\" or \"stay\"");
  MSVM_ASSIGN_OR_RETURN(const bool stop, a.flag("stopOnEntry", false));
  MSVM_RETURN_IF_ERROR(s.take_inspector(native == "stay"));
  if (stop) s.debugger.stop_at_next_run();
  s.begun = true;
  s.after.emplace_back([&s] {
    tell_programs(s);
    s.events.event("initialized", Json::object());
  });
  return Json::object();
}

Result<Json> configuration_done(State& s, const Arguments&) {
  if (s.configured) return invalid_argument("configuration was done already");
  s.configured = true;
  s.after.emplace_back([&s] {
    s.debugger.release_runs();
    if (s.options.launcher) s.options.launcher->start([&s](const Status& result) { ended(s, result); });
  });
  return Json::object();
}

Result<Json> terminate(State& s, const Arguments&) {
  if (s.options.launcher) {
    s.options.launcher->stop();
    if (!s.configured) s.after.emplace_back([&s] { s.events.event("terminated", Json::object()); });  // nothing has run
  } else {
    for (const debug::ThreadInfo& t : s.debugger.threads()) (void)s.debugger.cancel(t.thread);  // of one that has ended meanwhile: nothing
  }
  return Json::object();
}

Result<Json> disconnect(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const bool end, a.flag("terminateDebuggee", s.options.launcher != nullptr));
  if (!s.options.launcher && end && s.begun)
    for (const debug::ThreadInfo& t : s.debugger.threads()) (void)s.debugger.cancel(t.thread);
  s.let_go(end);
  s.after.emplace_back([&s] {
    if (s.options.on_over) s.options.on_over();
  });
  return Json::object();
}

}  // namespace msvm::observe::dap
