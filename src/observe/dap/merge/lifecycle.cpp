// How a session begins and ends.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "observe/dap/merge/state.h"
#include "observe/dap/server_file.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr auto kTimeToEnd = std::chrono::seconds(2);       // after SIGTERM
constexpr auto kTimeToConnect = std::chrono::seconds(5);

/// The last words of a session.
void finish(State& s) {
  if (s.over) return;
  s.over = true;
  s.event("terminated");
}

/// The answer to disconnect.
void leave(State& s, const Request& r) {
  s.respond(r);
  s.on_over();
}

void ended(State& s, int code, const std::string& how) {
  s.process_ended = true;
  answer_start(s, invalid_argument(fmt::format("{} {} before it had begun", s.python ? s.python->path : "python3", how)));
  if (code > 128 && !s.ending) s.output("console", fmt::format("The program {}.\n", how));
  if (!s.over) s.event("exited", {{"exitCode", code}});
  finish(s);
  if (s.ending) leave(s, *std::exchange(s.ending, {}));
}

Environment environment_of(State& s) {
  Environment env{{"PYTHONUNBUFFERED", "1"}, {"PYTHONIOENCODING", "utf-8"}, {"PYDEVD_DISABLE_FILE_VALIDATION", "1"}};
  struct stat socket {};
  if (s.their_socket >= 0 && ::fstat(s.their_socket, &socket) == 0) {
    env.emplace_back("MSVM_DEBUG", fmt::format("fd:{}:{}", Process::kInherited, socket.st_ino));
    env.emplace_back("MSVM_DEBUG_WAIT", "1");
  }
  env.insert(env.end(), s.launch.env.begin(), s.launch.env.end());
  return env;
}

Status spawn(State& s) {
  const uint16_t port = s.acceptor ? s.acceptor->port() : 0;
  MSVM_ASSIGN_OR_RETURN(s.process, Process::start(
                                       {.command = command_of(*s.python, s.program, s.launch.args, port, s.token), .cwd = s.launch.cwd, .env = environment_of(s), .inherited = s.their_socket},
                                       [&s](bool is_error, std::string text) { s.loop.post([&s, is_error, text] { s.output(is_error ? "stderr" : "stdout", text); }); },
                                       [&s](int code, const std::string& how) { s.loop.post([&s, code, how] { ended(s, code, how); }); }));
  if (s.their_socket >= 0) ::close(std::exchange(s.their_socket, -1));
  s.event("process", {{"name", s.program}, {"systemProcessId", s.process->pid()}, {"isLocalProcess", true}, {"startMethod", "launch"}});
  return {};
}

/// The process imports msvm some time or other; until then its socket keeps what is said here.
void greet_bytecode(State& s, const std::string& token) {
  Json attach{{"native", s.launch.native_stays ? "stay" : "stepDown"}, {"stopOnEntry", s.launch.stop_on_entry}};
  if (!token.empty()) attach["token"] = token;
  greet(
      s, Side::kBytecode, std::move(attach), [](const Json&) {},
      [&s](const Json& answer) {
        if (s.attached) return succeeded(answer) ? start_debugpy(s) : answer_start(s, invalid_argument(message_of(answer)));
        if (!succeeded(answer) && s.of(Side::kBytecode).open()) s.output("console", fmt::format("Bytecode can't be debugged: {}\n", message_of(answer)));
      });
}

Status launch(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(s.launch, read_launch(a));
  MSVM_ASSIGN_OR_RETURN(s.just_my_code, a.flag("justMyCode", true));
  MSVM_ASSIGN_OR_RETURN(s.wants_debugpy, a.flag("debugpy", true));
  MSVM_ASSIGN_OR_RETURN(s.program, program_path(s.launch));
  MSVM_ASSIGN_OR_RETURN(s.python, find_interpreter(s.launch));
  s.library = s.python->msvm;
  const bool has_debugpy = s.python->debugpy;
  if (s.launch.no_debug || !s.wants_debugpy) s.python->debugpy = false;
  if (!s.launch.no_debug) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return resource_limit(fmt::format("no sockets: {}", std::strerror(errno)));
    s.their_socket = ends[1];
    open_server(s, Side::kBytecode, std::make_unique<Connection>(ends[0], ends[0]));
    greet_bytecode(s, "");
  }
  if (s.python->debugpy) {
    MSVM_RETURN_IF_ERROR(await_debugpy(s));
    return spawn(s);
  }
  if (!s.launch.no_debug && !has_debugpy)
    tell_bytecode_only(s, fmt::format("{} has no debugpy: breakpoints, steps and variables of Python code aren't there, only those of bytecode. `{} -m pip install debugpy` adds them.", s.python->path, s.python->path),
                       s.python->path);
  answer_start(s, {});
  s.event("initialized");  // the program starts when the client is done
  return {};
}

Result<ServerPlace> place_of(const Arguments& a) {
  if (a.has("processId")) {
    MSVM_ASSIGN_OR_RETURN(const int64_t pid, a.integer("processId", 1, std::numeric_limits<int32_t>::max()));
    return find_server(static_cast<int>(pid));
  }
  ServerPlace place;
  MSVM_ASSIGN_OR_RETURN(const std::string address, a.text("address"));
  MSVM_ASSIGN_OR_RETURN(place.token, a.text("token", ""));
  const size_t colon = address.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : parse_address(std::string_view(address).substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return a.wrong("address", "an address with a port, such as \"127.0.0.1:40001\"");
  place.port = static_cast<uint16_t>(*port);
  place.address = address.substr(0, colon);
  if (place.address.starts_with('[') && place.address.ends_with(']')) place.address = place.address.substr(1, place.address.size() - 2);
  if (place.address == "localhost") place.address = "127.0.0.1";
  return place;
}

Status attach(State& s, const Arguments& a) {
  s.attached = true;
  MSVM_ASSIGN_OR_RETURN(const ServerPlace place, place_of(a));
  MSVM_ASSIGN_OR_RETURN(const std::string native, a.text("native", "stepDown"));
  if (native != "stepDown" && native != "stay") return a.wrong("native", "\"stepDown\" or \"stay\"");
  s.launch.native_stays = native == "stay";
  MSVM_ASSIGN_OR_RETURN(s.launch.stop_on_entry, a.flag("stopOnEntry", false));
  MSVM_ASSIGN_OR_RETURN(s.just_my_code, a.flag("justMyCode", true));
  MSVM_ASSIGN_OR_RETURN(s.wants_debugpy, a.flag("debugpy", true));
  MSVM_ASSIGN_OR_RETURN(auto connection, Connection::connect(place.address, place.port, kTimeToConnect));
  open_server(s, Side::kBytecode, std::move(connection));
  greet_bytecode(s, place.token);
  return {};
}

}  // namespace

void answer_start(State& s, const Status& how) {
  if (!s.starting) return;
  const Request r = *std::exchange(s.starting, {});
  if (how.ok()) s.respond(r);
  else s.fail(r, fmt::format("{}: {}", r.command, how.message()), how.code());
}

void open_server(State& s, Side side, std::unique_ptr<Connection> connection) {
  s.of(side).upstream = std::make_unique<Upstream>(
      std::move(connection), s.loop, [&s, side](const Json& m) { side == Side::kPython ? python_event(s, m) : bytecode_event(s, m); }, [&s, side] { server_closed(s, side); });
}

void greet(State& s, Side side, Json attach, std::function<void(const Json&)> initialized, std::function<void(const Json&)> attached) {
  s.ask(side, "initialize", s.initialize, [&s, side, attach = std::move(attach), initialized = std::move(initialized), attached = std::move(attached)](const Json& answer) {
    if (!succeeded(answer)) return attached(answer);
    initialized(body_of(answer));
    s.ask(side, "attach", attach, attached);
  });
}

void begin_launch(State& s, const Request& r) {
  s.starting = r;
  if (const Status begun = launch(s, Arguments(r.arguments)); !begun.ok()) answer_start(s, begun);
}

void begin_attach(State& s, const Request& r) {
  s.starting = r;
  if (const Status begun = attach(s, Arguments(r.arguments)); !begun.ok()) answer_start(s, begun);
}

void begin_attached(State& s) {
  if (std::exchange(s.begun, true)) return;
  answer_start(s, {});
  s.event("initialized");
  for (const Json& message : std::exchange(s.early, {})) bytecode_event(s, message);
}

void configuration_done(State& s, const Request& r) {
  if (s.configured) return s.fail(r, "configurationDone: configuration was done already");
  s.configured = true;
  if (!s.attached && !s.process) {  // without debugpy the program starts here
    if (const Status started = spawn(s); !started.ok()) {
      s.fail(r, started.message());
      s.output("stderr", started.message() + "\n");
      return finish(s);
    }
  }
  for (const Side side : kSides)
    if (s.of(side).ready && !std::exchange(s.of(side).configured, true)) s.ask(side, "configurationDone", Json::object());
  s.respond(r);
}

void configure(State& s, Side side) {
  Server& server = s.of(side);
  server.ready = true;
  replay_breakpoints(s, side);
  if (side == Side::kBytecode)
    for (auto& [id, t] : s.threads.all())
      if (t.armed && t.python >= 0) s.ask(side, "msvm/stopAtNextRun", {{"hostThread", t.python}, {"on", true}});
  if (s.configured && !std::exchange(server.configured, true)) s.ask(side, "configurationDone", Json::object());
}

void server_closed(State& s, Side side) {
  Server& server = s.of(side);
  server.ready = false;
  for (auto& [id, t] : s.threads.all())
    if (t.where == side) t.stopped = false;
  if (s.attached && side == Side::kBytecode) {
    answer_start(s, invalid_argument("the process is gone"));
    return finish(s);
  }
  if (s.attached && !s.over) begin_attached(s);  // without debugpy
}

void terminate(State& s, const Request& r) {
  s.respond(r);
  if (s.process) return s.process->terminate(kTimeToEnd);
  if (s.attached && s.of(Side::kBytecode).open()) return s.ask(Side::kBytecode, "terminate", Json::object());  // its runs
  finish(s);  // nothing has begun
}

void disconnect(State& s, const Request& r) {
  s.over = true;
  if (s.starting) answer_start(s, Status(StatusCode::kCancelled, "the client has left"));
  if (s.process && !s.process_ended) {  // it was started for this session, and its output goes here: it ends with it
    s.ending = r;
    s.process->kill();
    return;
  }
  // debugpy's answer isn't waited for: the end of its connection lets threads go, too, and the process may calculate without letting Python run.
  if (s.of(Side::kPython).open()) {
    s.ask(Side::kPython, "disconnect", {{"terminateDebuggee", false}});  // it would kill the process; the other server ends its runs
    s.of(Side::kPython).upstream->close();
  }
  if (!s.of(Side::kBytecode).open()) return leave(s, r);
  s.ask(Side::kBytecode, "disconnect", r.arguments, [&s, r](const Json&) { leave(s, r); });
}

}  // namespace msvm::observe::dap::merge
