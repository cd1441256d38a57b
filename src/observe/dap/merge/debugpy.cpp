// How debugpy comes into the session. It always connects to us: what is debugged listens on nothing.
#include <fmt/format.h>
#include <unistd.h>

#include "observe/dap/capabilities.h"
#include "observe/dap/merge/state.h"
#include "observe/monitor/access.h"

namespace msvm::observe::dap::merge {
namespace {

/// What debugpy can do beside what both can, and its filters beside ours.
void tell_capabilities(State& s, const Json& python) {
  Json more = Json::object();
  for (const char* name : {"supportsGotoTargetsRequest", "supportsModulesRequest", "supportsExceptionOptions", "supportsSetExpression", "supportsStepInTargetsRequest", "supportsClipboardContext"})
    if (const auto has = python.find(name); has != python.end()) more[name] = *has;
  more["supportsSingleThreadExecutionRequests"] = true;
  Json filters = capabilities()["exceptionBreakpointFilters"];
  if (const auto theirs = python.find("exceptionBreakpointFilters"); theirs != python.end() && theirs->is_array())
    for (const Json& f : *theirs) filters.push_back(f);
  more["exceptionBreakpointFilters"] = std::move(filters);
  s.event("capabilities", {{"capabilities", std::move(more)}});
}

/// A launch has failed without it; what was attached to goes on as if it didn't have it.
void did_not_come(State& s, const std::string& why) {
  if (!s.attached) return answer_start(s, invalid_argument(why));
  s.acceptor.reset();
  tell_bytecode_only(s, fmt::format("Breakpoints, steps and variables of Python code aren't there, only those of bytecode: {}", why), "");
  begin_attached(s);
}

void connected(State& s, int fd) {
  if (s.of(Side::kPython).upstream || !s.acceptor) {
    ::close(fd);
    return;
  }
  if (s.attached && s.library.empty() && s.early_socket < 0) {  // the answer that has it is on its way
    s.early_socket = fd;
    return;
  }
  open_server(s, Side::kPython, std::make_unique<Connection>(fd, fd));
  const Json ours = s.attached ? Json(s.token) : Json(nullptr);  // a program that is launched has no port that others could have by now
  s.ask(Side::kPython, "pydevdAuthorize", {{"debugServerAccessToken", ours}}, [&s](const Json& answer) {
    const Json body = body_of(answer);
    if (!succeeded(answer) || body.value("clientAccessToken", Json()) != s.token) {
      s.of(Side::kPython).upstream->close();  // somebody else on this machine
      return did_not_come(s, "something else than debugpy has connected");
    }
    s.acceptor.reset();
    Json attach{{"justMyCode", s.just_my_code},
                {"stopAllThreadsOnSuspend", false},        // threads stop and go on one by one, as in bytecode
                {"steppingResumesAllThreads", false},
                {"redirectOutput", false},
                {"rules", Json::array({{{"path", s.library + "/**"}, {"include", false}}})}};  // nobody steps into what compiles a function
    // A condition that can't be evaluated stops, as in bytecode; by itself debugpy would pass it, and say nothing of names that aren't there.
    s.ask(Side::kPython, "setDebuggerProperty", {{"skipSuspendOnBreakpointException", Json::array()}, {"skipPrintBreakpointException", Json::array()}});
    greet(
        s, Side::kPython, std::move(attach), [&s](const Json& can) { tell_capabilities(s, can); },
        [&s](const Json& attached) {
          if (!succeeded(attached)) did_not_come(s, message_of(attached));
          else if (!s.attached) answer_start(s, {});
        });
  });
}

}  // namespace

void tell_bytecode_only(State& s, const std::string& text, const std::string& python) {
  s.output("console", text + "\n");
  s.event("msvm/bytecodeOnly", {{"text", text}, {"python", python}});
}

Status await_debugpy(State& s) {
  s.token = random_secret().substr(0, 32);
  MSVM_ASSIGN_OR_RETURN(s.acceptor, Acceptor::start([&s](int fd) { s.loop.post([&s, fd] { connected(s, fd); }); }));
  return {};
}

void start_debugpy(State& s) {
  if (!s.wants_debugpy) return begin_attached(s);
  if (const Status listens = await_debugpy(s); !listens.ok()) return did_not_come(s, listens.message());
  s.ask(Side::kBytecode, "msvm/startHostDebugger", {{"port", s.acceptor->port()}, {"token", s.token}}, [&s](const Json& answer) {
    if (!succeeded(answer)) return did_not_come(s, message_of(answer));
    const Json body = body_of(answer);
    s.library = text_in(body, "library");
    if (text_in(body, "state") == "waiting") {
      s.output("console", "The process calculates without letting Python run: breakpoints, steps and variables of Python code come as soon as it does.\n");
      begin_attached(s);
    }
    if (const int fd = std::exchange(s.early_socket, -1); fd >= 0) connected(s, fd);
  });
}

}  // namespace msvm::observe::dap::merge
